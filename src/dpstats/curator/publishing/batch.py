"""A batch: several questions about one table, priced before anything is read and paid for by one entry of the ledger.

Claim      (epsilon, delta)-DP for the unit, for all answers together: the sums of theirs, and of what was tried again
Neighbors  Those of the session
Why        Answers that follow each other on the same rows are together as private as the sum of their costs; their rho add up,
           too, so that all of them lose sum(rho) / epsilon**2 of the whole epsilon
No reply   What goes wrong because of the data in one question is that question's `NoReply`; the others are answered. What could
           not be computed at all is not kept for good, here as in a session: when the batch is asked again, those questions
           are a batch of their own, which is paid for, and nothing is given back

Nothing about a question is known here but its price, how to compute it, and what is handed out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from dpstats.curator.archive import Result, document_of, result_of
from dpstats.curator.desk import Desk, Priced, form_of, has_failed, loss_of
from dpstats.curator.documents.document import QuestionDocument
from dpstats.curator.documents.values import named
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.reservations import Delivery, Goods, recall_or_reserve
from dpstats.curator.question_forms import QuestionForm, form_together
from dpstats.curator.session import Session
from dpstats.foundations.errors import BudgetError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import COULD_NOT, find_statistic
from dpstats.foundations.working import one_question

BATCH = 1
"""The form of an archived batch."""


@dataclass(frozen=True)
class PricedBatch:
    """Questions that were checked and priced; nothing has been read but names and types, and nothing spent."""

    session: Session
    documents: tuple[QuestionDocument, ...]
    priced: tuple[Priced, ...]

    def part(self, places: Sequence[int]) -> PricedBatch:
        """Some of the questions, as a batch of their own."""
        return PricedBatch(
            self.session, tuple(self.documents[each] for each in places), tuple(self.priced[each] for each in places)
        )

    @property
    def desk(self) -> Desk:
        """Where the table is."""
        return self.session._table

    @property
    def costs(self) -> list[PrivacyCost]:
        """What each question costs."""
        return [each.request.cost for each in self.priced]

    @property
    def cost(self) -> PrivacyCost:
        """What all of them cost together."""
        first, *others = self.costs
        return sum(others, start=first)

    @property
    def loss(self) -> Fraction:
        """rho / epsilon**2 of all of them together."""
        rho = sum(loss_of(self.desk, each.request) * each.request.cost.epsilon**2 for each in self.priced)
        return Fraction(rho) / self.cost.epsilon**2

    @property
    def text(self) -> str:
        """What the ledger calls it for people; the details have each question."""
        number = len(self.priced)
        done = "asked" if self.desk.account is not None and self.desk.account.actor else "published"
        return f"{number:,} questions {done} together" if number > 1 else f"{self.priced[0].request.text}, {done}"

    def form(self) -> QuestionForm:
        """Everything that tells one batch from another, and what the ledger calls it."""
        return form_together({"batch": BATCH}, [form_of(self.desk, each.request) for each in self.priced])


@dataclass(frozen=True)
class Payment:
    """An entry of the ledger that paid for answers of a batch."""

    debit: Entry
    places: tuple[int, ...]
    """Of the questions that it paid for, from 0."""
    archived: bool
    """Whether the ledger keeps the answers, so that they can be had again."""
    is_new: bool
    """Whether it was made now, and not when the answers were asked for before."""


@dataclass(frozen=True)
class AnsweredBatch:
    """The answers to a batch, and the entries of the ledger that paid for them."""

    answers: tuple[Result, ...]
    cost: PrivacyCost
    """What all payments come to."""
    payments: tuple[Payment, ...]
    """The first one is for all questions, each other one for those that could not be computed before it."""
    repeated: bool
    """Whether the answers came from the archive, so that nothing was spent."""


def price_batch(session: Session, documents: Sequence[QuestionDocument], rng: Any = None) -> PricedBatch:
    """Check and price questions; every complaint about any of them is raised here."""
    priced = []
    for number, document in enumerate(documents, 1):
        with named(f"question {number}"):
            priced.append(session._price_document(document, rng))
    return PricedBatch(session, tuple(documents), tuple(priced))


def answer_batch(batch: PricedBatch, rng: Any = None) -> AnsweredBatch:
    """Recall the answers of a batch, or debit all of it at once and compute them; what could not be computed is tried again."""
    account = batch.desk.account
    assert account is not None
    results, payments = _answered(batch, account, batch.desk.source_of_noise(rng))
    cost = sum((batch.part(each.places).cost for each in payments[1:]), start=batch.cost)
    return AnsweredBatch(_handed_out(batch, results), cost, tuple(payments), repeated=not any(each.is_new for each in payments))


def _answered(batch: PricedBatch, account: Account, source: RandomSource) -> tuple[list[Result], list[Payment]]:
    everything = tuple(range(len(batch.priced)))
    with _in_words_of_batches(batch, account):
        found = _delivered(batch, account, source)
    results = list(found.value)
    payments = [Payment(account.entry(found.debit), everything, found.archived, is_new=not found.recalled)]
    tries_again = found.recalled and found.archived and not account.request  # a request has one reply, for good
    failed = [place for place in everything if tries_again and has_failed(results[place])]
    rest = batch.part(failed)
    if failed and _can_be_had(rest, account):
        again, more = _answered(rest, account, source)
        for place, result in zip(failed, again, strict=True):
            results[place] = result
        payments += [replace(each, places=tuple(failed[place] for place in each.places)) for each in more]
    return results, payments


def _can_be_had(batch: PricedBatch, account: Account) -> bool:
    return account.recall(*batch.form().keys) is not None or account.fits(batch.cost, batch.loss)


def _delivered(batch: PricedBatch, account: Account, source: RandomSource) -> Delivery[list[Result]]:
    """The answers from the archive, or paid for and computed; they are archived, unless not one of them could be computed."""
    form = batch.form()
    order = account.order(form.keys[0], batch.text, batch.cost, form.details, batch.loss, form.keys[1:])

    def answers() -> list[Result]:
        with one_question():  # all of it sees one state of the rows
            return [each.computed() for each in batch.priced]

    if not source.private:
        batch.desk.check_before_debit()
        receipt = account.write(partial(account.spend, order=order))
        return Delivery(answers(), receipt.sequence, recalled=False, archived=False)
    return recall_or_reserve(
        account,
        order,
        Goods(
            check=batch.desk.check_before_debit,
            compute=answers,
            revive=archived_answers,
            refuse=lambda: [each.request.or_refusal(COULD_NOT, source) for each in batch.priced],
            document=lambda results: None if all(map(has_failed, results)) else _archive_form(batch, results),
            patience=batch.desk.longest_wait([each.request for each in batch.priced]),
        ),
    )


@contextmanager
def _in_words_of_batches(batch: PricedBatch, account: Account) -> Iterator[None]:
    """Where all questions together do not fit, it is said so, to the data holder's own program."""
    try:
        yield
    except BudgetError:
        short = None if account.actor else account.short_of(batch.cost, batch.loss)
        if short is None:
            raise
        complaint = (
            f"all of it costs {batch.cost}, and of the budget of {short.name}, {short.budget}, there is "
            f"{short.remaining} left. Nothing was spent. Leave questions out, or ask them with less."
        )
    else:
        return
    raise BudgetError(complaint)


def archived_answers(document: dict[str, Any]) -> list[Result]:
    """The answers that an archived batch holds."""
    return [result_of(each["reply"], find_statistic(each["statistic"])) for each in document["answers"]]


def _archive_form(batch: PricedBatch, results: Sequence[Result]) -> dict[str, Any]:
    answers = [
        {"statistic": each.request.question.statistic.name, "reply": document_of(result)}
        for each, result in zip(batch.priced, results, strict=True)
    ]
    return {"batch": BATCH, "answers": answers}


def _handed_out(batch: PricedBatch, results: Sequence[Result]) -> tuple[Result, ...]:
    """Answers as the methods of a session return them: a fit by a formula knows its formula."""
    return tuple(each.finish(result) for each, result in zip(batch.priced, results, strict=True))
