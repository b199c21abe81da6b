"""Recall or reserve: an identical question is paid for once, however many ask it at the same time.

Whoever asks looks into the archive. If the answer is not there, the claim of the question is held; then one transaction recalls
what was archived meanwhile, or debits. Only who debited computes, and writes down the answer or that there will be none, before
the claim is let go of. Who waited while another one failed is told the same, at no further cost; who asks later pays anew. So
does who waited for somebody whose process ended between debit and answer: nobody will ever know that answer, and whoever asks for
the first time then pays as well. Who has waited for a public number of seconds is told to ask again later, and pays nothing.

An actor's request names one question for good: the same request is never debited twice, and another question by that name is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.debits import DebitOrder, Receipt
from dpstats.curator.ledger.entries import DEBIT, Entry
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.readers import answers_in, archived_document, first_answer, is_failure
from dpstats.curator.ledger.stores import EntryTable
from dpstats.foundations.errors import DpstatsError, InvalidParameterError

T = TypeVar("T")

LONGEST_WAIT = 3600.0
"""Seconds to wait for an identical question, where nobody says when its reply must have left."""


@dataclass(frozen=True)
class Goods(Generic[T]):
    """What can be had for a debit."""

    check: Callable[[], None]
    """Raises where it must not be paid for now; called before the debit, and not for what the archive has."""
    compute: Callable[[], T]
    """Called once the debit is on the disk."""
    revive: Callable[[dict[str, Any]], T]
    """The same from an archived document."""
    refuse: Callable[[], T]
    """What is said where it could not be computed."""
    document: Callable[[T], Mapping[str, object] | None]
    """What the archive keeps; None for what could not be computed, which may be asked again."""
    patience: float = LONGEST_WAIT
    """Seconds to wait for somebody else who is at work on the same; a public number."""


@dataclass(frozen=True)
class Delivery(Generic[T]):
    """What was handed out, and the debit behind it."""

    value: T
    debit: int
    recalled: bool
    """Whether it was paid for before, so that nothing was spent."""
    archived: bool
    """Whether it can be had again at no cost."""
    paid: Receipt | None = None
    """The debit itself, where it was made for this."""


def recall_or_reserve(account: Account, order: DebitOrder, goods: Goods[T], seen: int | None = None) -> Delivery[T]:
    """What an order is about: from the archive, or paid for and computed.

    Whoever has looked into the archive just now, in vain, says with `seen` what there was (`last_number`). Nothing hangs on that
    look but a transaction: who may ask, and whether there is an answer by now, is settled where the debit is written.
    """
    if seen is None:
        found, seen = _look(account, order)
        if found is not None:
            return _recalled(found, goods)
    with account.claim(order.key, goods.patience) as claim:
        if claim.result is not None:
            left: Delivery[T] = claim.result
            return left
        if claim.waited and (found := _look(account, order)[0]) is not None:
            return _recalled(found, goods)
        try:
            goods.check()
        except DpstatsError:
            if (found := _look(account, order)[0]) is not None:  # another process was faster
                return _recalled(found, goods)
            raise
        paid = account.write(lambda page: _recall_or_debit(page, account, order, seen))
        if isinstance(paid, Entry):
            return _recalled(paid, goods)
        try:
            value = goods.compute()
        except BaseException:
            with suppress(Exception):
                account.record_failure(paid)
            raise
        archived = _kept(account, paid, value, goods)
        delivery = Delivery(value, paid.sequence, recalled=False, archived=archived, paid=paid)
        if not archived:
            claim.result = delivery  # for those who wait: they will not find it in the ledger
        return delivery


def _look(account: Account, order: DebitOrder) -> tuple[Entry | None, int]:
    """The archived answer, or None, and the number of the last entry that answers the question, or says that there is none."""

    def look(table: EntryTable) -> tuple[Entry | None, int]:
        account.check_access_in(table)
        if order.request:
            _refuse_another(table.with_request(order.actor, order.request), account.dataset, order)
        answers = answers_in(table, account.dataset, order.keys)
        return first_answer(answers), last_number(answers)

    return account.read(look)


def last_number(answers: Sequence[Entry]) -> int:
    """The number of the last of some entries about one question, 0 for none: what comes later has a higher one."""
    return answers[-1].sequence if answers else 0


def _recall_or_debit(page: Page, account: Account, order: DebitOrder, seen: int) -> Receipt | Entry:
    """The answer that there is by now, be it that there is none, or the receipt of a debit."""
    asked = page.with_request(order.actor, order.request) if order.request else None
    _refuse_another(asked, account.dataset, order)
    answers = answers_in(page, account.dataset, order.keys)
    if (answer := first_answer(answers)) is not None:
        return answer
    failed = [each for each in answers if each.sequence > seen or _is_of(each, asked)]
    if failed:
        return failed[-1]
    if asked is not None:
        return asked  # its process ended before there was an answer
    return account.spend(page, order)


def _is_of(answer: Entry, asked: Entry | None) -> bool:
    return asked is not None and (answer.actor, answer.request) == (asked.actor, asked.request)


def _refuse_another(asked: Entry | None, dataset: str, order: DebitOrder) -> None:
    if asked is not None and (asked.dataset != dataset or asked.key not in order.keys):
        raise InvalidParameterError(
            f"the request {order.request!r} has named another question already: give every question a name of its own."
        )


def _recalled(entry: Entry, goods: Goods[T]) -> Delivery[T]:
    """What an answer holds; the refusal where it says that there is none, or where a debit was never answered."""
    if entry.kind == DEBIT:
        return Delivery(goods.refuse(), entry.sequence, recalled=True, archived=False)
    debit = entry.read(lambda content: int(content["debit"]), "names no debit")
    if is_failure(entry):
        return Delivery(goods.refuse(), debit, recalled=True, archived=False)
    return Delivery(goods.revive(archived_document(entry)), debit, recalled=True, archived=True)


def _kept(account: Account, receipt: Receipt, value: T, goods: Goods[T]) -> bool:
    """Whether the archive has taken an answer. It was paid for, so it is handed out all the same, whatever goes wrong here."""
    try:
        document = goods.document(value)
        if document is not None:
            account.record(receipt, document)
            return True
    except Exception:
        document = None
    with suppress(Exception):
        account.record_failure(receipt)
    return False
