"""The account of a data set, to be written to: debits, answers, editions and publications."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeVar

from dpstats.curator.ledger.claims import Claim
from dpstats.curator.ledger.debits import DebitOrder, Receipt, grants_in, spend
from dpstats.curator.ledger.entries import ANSWER, DEBIT, EDITION, HEAD, PUBLISH, digest
from dpstats.curator.ledger.grants import payers
from dpstats.curator.ledger.openings import Opening, checked_name
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.readers import AccountReader, checked_key, found, is_failure
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import public_key
from dpstats.curator.ledger.signing import Signer
from dpstats.curator.ledger.stores import EntryTable
from dpstats.curator.ledger.writer import Writer
from dpstats.foundations.errors import InvalidParameterError, LedgerError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS

T = TypeVar("T")
Details = Mapping[str, object] | None


class Account(AccountReader):
    """One data set of a ledger, to be written to. Its total only ever grows: there is nothing here that gives back."""

    def __init__(self, writer: Writer, dataset: str, opening: Opening, actor: str = "", request: str = "") -> None:
        super().__init__(writer, dataset, opening)
        self.actor = actor
        self.request = request

    def reader(self) -> AccountReader:
        """The same data set, only to be looked at."""
        return AccountReader(self._writer, self.dataset, self.opened_with)

    def acting_for(self, actor: str, request: str = "") -> Account:
        """The same data set for somebody who asks: what is granted to them is checked, and their caps pay, too.

        `request` is what they call the question: the same words get the same reply, and pay once.
        """
        called = checked_key(request) if request else ""
        acting = Account(self._writer, self.dataset, self.opened_with, checked_name(actor, "actor"), called)
        acting._known = self._known
        return acting

    def recall(self, key: str, *former: str) -> dict[str, Any] | None:
        """The archived document of an identical question, at no cost, to whoever may ask."""
        self.check_access()
        return super().recall(key, *former)

    def check_access(self) -> None:
        """Raise `AccessError` unless the actor may ask about this data set."""
        if self.actor:
            self._writer.read(self.check_access_in)

    def check_access_in(self, table: EntryTable) -> None:
        """Raise `AccessError` unless the actor may ask, as one transaction sees it."""
        if self.actor:
            self._payers_in(table)

    def _payers_in(self, table: EntryTable) -> list[str]:
        granted = grants_in(table, self.dataset, self.opened_with.terms.budget.accountant)
        return payers(self.dataset, self.opened_with, self.actor, granted)

    def claim(self, key: str, patience: float) -> AbstractContextManager[Claim]:
        """Held by whoever works on a question: one thread of one process. Others wait so many seconds for it."""
        return self._writer.store.claims.held(f"{self.dataset}\n{key}", patience)

    def read(self, look: Callable[[EntryTable], T]) -> T:
        """What `look` finds in the ledger's entries."""
        return self._writer.read(look)

    def write(self, work: Callable[[Page], T]) -> T:
        """Run `work` in a transaction on the end of the chain; what it appended is durable when this returns."""
        return self._writer.write(work)

    def spend(self, page: Page, order: DebitOrder) -> Receipt:
        """Charge an order in a transaction."""
        return spend(page, self.dataset, self.opened_with, order, self._known)

    def debit(
        self,
        key: str,
        question: str,
        cost: PrivacyCost,
        details: Details = None,
        loss: Fraction = PURE_LOSS,
    ) -> Receipt:
        """Spend a cost; it is on the disk when this returns. Raises `BudgetError`, and spends nothing, where it does not fit.

        `key` names the question: the same for identical questions, such as a hash of everything that tells them apart.
        `details` are plain values for whoever reads the ledger: method, version, parameters. `loss` is rho / epsilon**2 of the
        method, for the unit.
        """
        order = self.order(key, question, cost, details, loss)
        return self.write(lambda page: self.spend(page, order))

    def receipt(self, debit: int) -> KeptReceipt:
        """What whoever paid keeps of a debit: signed, if the ledger is."""
        return self.read(lambda table: self.receipt_in(table, debit))

    def receipt_in(self, table: EntryTable, debit: int) -> KeptReceipt:
        """The receipt of a debit, as one transaction sees it."""
        return KeptReceipt.of(found(table.numbered(debit), debit), self._signer_in(table))

    def receipt_of(self, paid: Receipt) -> KeptReceipt:
        """As `receipt`, of a debit that was made here, whose entry need not be read again."""
        return KeptReceipt.of(paid, None if self._writer.key is None else self.read(self._signer_in))

    def _signer_in(self, table: EntryTable) -> Signer | None:
        key = self._writer.key
        return None if key is None else key.named(public_key(table.latest("", HEAD)))

    def record(self, receipt: Receipt, document: Mapping[str, object]) -> None:
        """Put the answer to a debit into the archive; that spends nothing and gives nothing back."""
        self.write(lambda page: self.answer(page, receipt, document))

    def record_failure(self, receipt: Receipt) -> None:
        """Close a debit to which there will be no answer; it stays paid, and nothing can be recalled."""
        self.write(lambda page: self.answer(page, receipt, None))

    def note_edition(self, content: str, label: str, sources: Sequence[str] = ()) -> None:
        """Write down that the rows are of another edition now: a fingerprint of their content, and its name for people."""
        body = {"content": content, "label": label, **({"sources": list(sources)} if sources else {})}
        self._writer.write(lambda page: page.append(self.dataset, EDITION, "", body, actor=self.actor))

    def note_publication(self, answer: int, title: str, facts: Mapping[str, object] | None = None) -> int:
        """Write down that the answer in an entry was published; the number of the entry that says so."""

        def publish(page: Page) -> int:
            entry = page.numbered(answer)
            if entry is None or (entry.dataset, entry.kind) != (self.dataset, ANSWER) or is_failure(entry):
                raise LedgerError(f"entry {answer} is not an answer about {self.dataset}, so it cannot be published.")
            content = {**(facts or {}), "answer": answer, "title": title}
            return page.append(self.dataset, PUBLISH, "", content, actor=self.actor).sequence

        return self._writer.write(publish)

    def order(
        self,
        key: str,
        question: str,
        cost: PrivacyCost,
        details: Details = None,
        loss: Fraction = PURE_LOSS,
        former: tuple[str, ...] = (),
    ) -> DebitOrder:
        """A question to be paid for, on behalf of whoever asks; see `debit`. `former` are its keys of earlier releases."""
        checked_key(key)
        return DebitOrder(key, question, self._own(cost), dict(details or {}), loss, self.actor, self.request, former)

    def answer(self, page: Page, receipt: Receipt, document: Mapping[str, object] | None) -> None:
        """Answer a debit in a transaction; None says that there will be no answer."""
        content: dict[str, object] = {"debit": receipt.sequence, "failed": True}
        if document is not None:
            text = _plain_text(document)
            content = {"debit": receipt.sequence, "digest": digest(text), "document": text}
        debits = page.with_key(self.dataset, DEBIT, receipt.key)
        if (receipt.sequence, receipt.hash) not in ((debit.sequence, debit.hash) for debit in debits):
            raise LedgerError("this receipt is not of this ledger and data set, so its answer is not archived here.")
        answered = (answer.content()["debit"] for answer in page.with_key(self.dataset, ANSWER, receipt.key))
        if receipt.sequence in answered:
            raise LedgerError("this debit has been answered already; an archived answer is never replaced.")
        page.append(self.dataset, ANSWER, receipt.key, content, actor=receipt.actor, request=receipt.request)


def _plain_text(document: Mapping[str, object]) -> str:
    try:
        return json.dumps(document, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidParameterError("a document for the archive must hold plain JSON values.") from None
