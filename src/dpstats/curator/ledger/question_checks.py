"""Checks of questions: debits and their running totals, answers and publications."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from dpstats.curator.ledger.audit_books import AuditBooks
from dpstats.curator.ledger.books import Paid
from dpstats.curator.ledger.entries import DEBIT, FIRST_VERSION, VERSION, WITH_LOSS, Entry, digest
from dpstats.curator.ledger.grants import payers
from dpstats.curator.ledger.openings import DATASET, Opening
from dpstats.foundations.errors import AccessError

_QUESTION = {"question", "cost", "total", "details"}
_AMOUNTS = {"epsilon", "delta"}
_COSTS = {FIRST_VERSION: [_AMOUNTS], WITH_LOSS: [_AMOUNTS | {"loss"}], VERSION: [_AMOUNTS, _AMOUNTS | {"loss"}]}


@dataclass(frozen=True)
class DebitShare:
    """A debit of another account that must come next, as part of one that was read."""

    name: str
    first: Entry
    cost: dict[str, Any]

    def matches(self, entry: Entry) -> bool:
        """Whether an entry is this debit."""
        ours = (self.name, DEBIT, VERSION, self.first.key, self.first.actor, self.first.request)
        if ours != (entry.dataset, entry.kind, entry.version, entry.key, entry.actor, entry.request):
            return False
        try:
            content = entry.content()
        except ValueError:
            return False
        return content.get("of") == self.first.sequence and content.get("cost") == self.cost


class QuestionChecks:
    """What is wrong with entries about questions; a body that cannot be read raises `ValueError` or the like."""

    def __init__(self, books: AuditBooks) -> None:
        self._books = books
        self.due: deque[DebitShare] = deque()
        """Debits of other accounts that must come next."""
        self._debits: dict[int, Paid] = {}
        self._answered: set[int] = set()
        self._answers: dict[int, str] = {}
        self._requests: set[tuple[str, str]] = set()

    def debit_faults(self, entry: Entry) -> list[str]:
        """What is wrong with the first entry of a debit."""
        paid = Paid(entry.dataset, entry.key, entry.actor, entry.request)
        self._debits[entry.sequence] = paid
        content = entry.content()
        also = content.get("also", [])
        book = self._books.book(entry.dataset)
        assert book is not None
        if book.opening is None:
            return ["cannot be added up, because the terms of its data set cannot be read"]
        fields = _QUESTION | {"also"} if also else _QUESTION
        faults = self._total_faults(entry, content["cost"], content, fields)
        faults += self._payer_faults(entry, book.opening, also)
        self.due.extend(DebitShare(name, entry, content["cost"]) for name in also)
        if entry.request:
            if (entry.actor, entry.request) in self._requests or self._books.past.has_request(entry.actor, entry.request):
                faults.append("pays a second time for the same request")
            self._requests.add((entry.actor, entry.request))
        return faults

    def share_faults(self, entry: Entry, share: DebitShare) -> list[str]:
        """What is wrong with the entry of another account that pays along."""
        return self._total_faults(entry, share.cost, entry.content(), {"of", "cost", "total"})

    def _payer_faults(self, entry: Entry, opening: Opening, also: list[str]) -> list[str]:
        if opening.account != DATASET:
            return ["asks a question of an account that is no data set"]
        if not (entry.actor or also or opening.population):
            return []
        try:
            due = payers(entry.dataset, opening, entry.actor, lambda holder: self._books.granted(entry.dataset, holder))
        except AccessError:
            return ["was asked by somebody to whom nothing was granted"]
        return [] if [entry.dataset, *also] == due else ["is not charged to those who have to pay for it"]

    def _total_faults(self, entry: Entry, cost: dict[str, Any], content: dict[str, Any], fields: Collection[str]) -> list[str]:
        """What is wrong with the cost and the running total of a debit."""
        if content.keys() != fields or cost.keys() not in _COSTS[entry.version]:
            raise ValueError("not a debit")
        book, opening = self._books.opened(entry.dataset)
        keeper, before = opening.terms.budget.keeper, book.total
        charge = book.charge(entry.version, cost)
        faults = []
        if before is None:
            book.total = keeper.from_dict(content["total"])
            faults.append("cannot be added up, because the total before it cannot be read")
        else:
            due = keeper.add(before, charge)
            if content["total"] == keeper.to_dict(due):
                book.total = due
            else:
                book.total = keeper.from_dict(content["total"])
                faults.append(f"says a total of {keeper.words(book.total)}, but its cost makes it {keeper.words(due)}")
        if not book.total <= book.limit:
            faults.append(f"spends more than the budget: {keeper.words(book.total)} of {keeper.words(book.limit)}")
        return faults

    def answer_faults(self, entry: Entry) -> list[str]:
        """What is wrong with an answer."""
        content = entry.content()
        failed = content.get("failed") is True and entry.version == VERSION
        if content.keys() != ({"debit", "failed"} if failed else {"debit", "digest", "document"}):
            raise ValueError("not an answer")
        debit, faults = content["debit"], []
        is_new = debit not in self._answered
        paid = self._debits.pop(debit, None) or (self._books.past.debit(debit) if isinstance(debit, int) and is_new else None)
        if not is_new or (paid is not None and self._books.past.is_answered(debit, paid)):
            faults.append("answers a debit that was answered before")
        elif paid != Paid(entry.dataset, entry.key, entry.actor, entry.request):
            faults.append("answers no debit of its data set and question")
        self._answered.add(debit)
        if not failed:
            self._answers[entry.sequence] = entry.dataset
            if digest(content["document"]) != content["digest"]:
                faults.append("holds a document that does not match its digest")
        return faults

    def note_withheld(self, entry: Entry) -> None:
        """There is an answer, whose body is not shown here."""
        self._answers[entry.sequence] = entry.dataset

    def publish_faults(self, entry: Entry) -> list[str]:
        """What is wrong with a publication."""
        content = entry.content()
        answer = content["answer"]
        if type(answer) is not int or not isinstance(content["title"], str):
            raise ValueError("not a publication")
        known = self._answers.get(answer) == entry.dataset or self._books.past.is_answer(answer, entry.dataset)
        return [] if known else ["publishes what is no answer about its data set"]
