"""An audit: entries taken in one after another, with everything that is wrong with each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from dpstats.curator.ledger.books import Book, NoPast, Paid
from dpstats.curator.ledger.entries import (
    AMEND,
    ANSWER,
    BEFORE_THE_FIRST,
    DEBIT,
    EDITION,
    FIRST_VERSION,
    GRANT,
    HEAD,
    KINDS,
    OPEN,
    PUBLISH,
    REVOKE,
    VERSION,
    WITH_LOSS,
    Entry,
    digest,
)
from dpstats.curator.ledger.grants import Grant, payers
from dpstats.curator.ledger.openings import ANALYST, DATASET, GROUP, Opening, cap_name, holder_key, population_name
from dpstats.curator.ledger.standing import BUDGET, POLICY, amended
from dpstats.foundations.errors import AccessError, DpstatsError

_KINDS: dict[int, Collection[str]] = {
    FIRST_VERSION: (OPEN, DEBIT, ANSWER),
    WITH_LOSS: (DEBIT,),
    VERSION: KINDS,
}
WITHHELD = "withheld"
"""In place of the body of an answer that is not shown to whoever verifies a chain."""
_QUESTION = {"question", "cost", "total", "details"}
_AMOUNTS = {"epsilon", "delta"}
_COSTS = {FIRST_VERSION: [_AMOUNTS], WITH_LOSS: [_AMOUNTS | {"loss"}], VERSION: [_AMOUNTS, _AMOUNTS | {"loss"}]}


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong, and in which entry."""

    sequence: int | None
    """The number of the entry; None where the ledger as a whole is at fault."""
    text: str

    def __str__(self) -> str:
        return f"entry {self.sequence}: {self.text}" if self.sequence is not None else self.text


@dataclass(frozen=True)
class _DebitShare:
    """A debit of another account that must come next, as part of one that was read."""

    name: str
    first: Entry
    cost: dict[str, Any]

    def matches(self, entry: Entry) -> bool:
        ours = (self.name, DEBIT, VERSION, self.first.key, self.first.actor, self.first.request)
        if ours != (entry.dataset, entry.kind, entry.version, entry.key, entry.actor, entry.request):
            return False
        try:
            content = entry.content()
        except ValueError:
            return False
        return content.get("of") == self.first.sequence and content.get("cost") == self.cost


@dataclass
class Audit:
    """What was found so far. `past` is what was verified before, where an audit does not begin with the first entry."""

    past: NoPast = field(default_factory=NoPast)
    complaints: list[Complaint] = field(default_factory=list)
    heads: list[Entry] = field(default_factory=list)
    """Entries that sign what is before them."""
    may_withhold: bool = False
    """Whether answers may be without their bodies; then their hashes are taken as they are."""
    withheld: int = 0
    """How many answers were without."""
    _books: dict[str, Book | None] = field(default_factory=dict)
    _debits: dict[int, Paid] = field(default_factory=dict)
    _answered: set[int] = field(default_factory=set)
    _answers: dict[int, str] = field(default_factory=dict)
    _requests: set[tuple[str, str]] = field(default_factory=set)
    _due: deque[_DebitShare] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.count = self.past.sequence
        self.head = self.past.hash
        self._expected = self.past.sequence + 1
        self._checks: dict[str, Callable[[Entry], list[str]]] = {
            OPEN: self._open_faults,
            DEBIT: self._debit_faults,
            ANSWER: self._answer_faults,
            AMEND: self._amend_faults,
            GRANT: self._grant_faults,
            REVOKE: self._revoke_faults,
            EDITION: self._edition_faults,
            PUBLISH: self._publish_faults,
            HEAD: self._head_faults,
        }

    def check(self, entry: Entry) -> None:
        """Take in one entry, with everything that is wrong with it."""
        share = self._due.popleft() if self._due else None
        if share is not None and not share.matches(entry):
            self._miss(share)
            share = None
        faults = [*self._chain_faults(entry), *self._content_faults(entry, share)]
        self.complaints += [Complaint(entry.sequence, fault) for fault in faults]
        self.count += 1
        self.head = entry.hash
        self._expected = entry.sequence + 1 if isinstance(entry.sequence, int) else self._expected + 1

    def finish(self) -> None:
        """Nothing more will come."""
        if self._due:
            self._miss(self._due[0])

    def _miss(self, share: _DebitShare) -> None:
        self.complaints.append(
            Complaint(share.first.sequence, f"is charged to {share.name} too, but the debit there does not follow it")
        )
        self._due.clear()

    def _chain_faults(self, entry: Entry) -> list[str]:
        faults = [fault] if not self._is_withheld(entry) and (fault := entry.fault()) else []
        if entry.sequence != self._expected:
            faults.append(f"the sequence has a gap: entry {self._expected} should be here")
        if entry.previous != (self.head or BEFORE_THE_FIRST):
            faults.append("is not chained to the entry before it: one was removed, added or moved")
        return faults

    def _content_faults(self, entry: Entry, share: _DebitShare | None) -> list[str]:
        if entry.version not in _KINDS:
            self._books.setdefault(entry.dataset, Book())
            self._lose_total(entry.dataset)
            return []
        if entry.kind not in _KINDS[entry.version]:
            return [f"is of a kind that version {entry.version} does not have"]
        if entry.kind not in (OPEN, HEAD) and self._book(entry.dataset) is None:
            return ["belongs to a data set that was not opened before it"]
        if self._is_withheld(entry):
            self.withheld += 1
            self._answers[entry.sequence] = entry.dataset
            return []
        try:
            if share is not None:
                return self._total_faults(entry, share.cost, entry.content(), {"of", "cost", "total"})
            return self._checks[entry.kind](entry)
        except (ValueError, KeyError, TypeError, AttributeError, DpstatsError):
            if entry.kind == DEBIT:
                self._lose_total(entry.dataset)
            return ["has a body that cannot be read"]

    def _is_withheld(self, entry: Entry) -> bool:
        return self.may_withhold and entry.kind == ANSWER and entry.body == WITHHELD

    def _book(self, name: str) -> Book | None:
        if name not in self._books:
            self._books[name] = self.past.book(name)
        return self._books[name]

    def _opened(self, name: str) -> tuple[Book, Opening]:
        """The book of an account whose terms could be read; raises `ValueError` for any other."""
        book = self._book(name)
        if book is None or book.opening is None:
            raise ValueError("no such account")
        return book, book.opening

    def _lose_total(self, name: str) -> None:
        book = self._book(name)
        if book is not None:
            book.total = None

    def _granted(self, dataset: str, holder: str) -> Grant | None:
        book, opening = self._opened(dataset)
        if holder not in book.grants:
            book.grants[holder] = self.past.grant(dataset, holder, opening.terms.budget.accountant)
        return book.grants[holder]

    def _open_faults(self, entry: Entry) -> list[str]:
        if self._book(entry.dataset) is not None:
            return ["opens a data set a second time"]
        self._books[entry.dataset] = book = Book()
        opening = Opening.from_entry(entry)
        if opening.population is not None:
            paying = self._opened(population_name(opening.population))[1]
            if opening.complaint_about(paying.terms):
                raise ValueError("another kind of population")
        if opening.account in (GROUP, ANALYST):
            of = self._opened(str(opening.dataset))[1]
            if of.account != DATASET or of.terms.budget.accountant != opening.terms.budget.accountant:
                raise ValueError("a cap on something else")
        book.opening, book.budget = opening, opening.terms.budget
        return ["has a key, which only questions have"] if entry.key else []

    def _debit_faults(self, entry: Entry) -> list[str]:
        paid = Paid(entry.dataset, entry.key, entry.actor, entry.request)
        self._debits[entry.sequence] = paid
        content = entry.content()
        also = content.get("also", [])
        book = self._book(entry.dataset)
        assert book is not None
        if book.opening is None:
            return ["cannot be added up, because the terms of its data set cannot be read"]
        fields = _QUESTION | {"also"} if also else _QUESTION
        faults = self._total_faults(entry, content["cost"], content, fields)
        faults += self._payer_faults(entry, book.opening, also)
        self._due.extend(_DebitShare(name, entry, content["cost"]) for name in also)
        if entry.request:
            if (entry.actor, entry.request) in self._requests or self.past.has_request(entry.actor, entry.request):
                faults.append("pays a second time for the same request")
            self._requests.add((entry.actor, entry.request))
        return faults

    def _payer_faults(self, entry: Entry, opening: Opening, also: list[str]) -> list[str]:
        if opening.account != DATASET:
            return ["asks a question of an account that is no data set"]
        if not (entry.actor or also or opening.population):
            return []
        try:
            due = payers(entry.dataset, opening, entry.actor, lambda holder: self._granted(entry.dataset, holder))
        except AccessError:
            return ["was asked by somebody to whom nothing was granted"]
        return [] if [entry.dataset, *also] == due else ["is not charged to those who have to pay for it"]

    def _total_faults(self, entry: Entry, cost: dict[str, Any], content: dict[str, Any], fields: Collection[str]) -> list[str]:
        """What is wrong with the cost and the running total of a debit."""
        if content.keys() != fields or cost.keys() not in _COSTS[entry.version]:
            raise ValueError("not a debit")
        book, opening = self._opened(entry.dataset)
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

    def _answer_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        failed = content.get("failed") is True and entry.version == VERSION
        if content.keys() != ({"debit", "failed"} if failed else {"debit", "digest", "document"}):
            raise ValueError("not an answer")
        debit, faults = content["debit"], []
        is_new = debit not in self._answered
        paid = self._debits.pop(debit, None) or (self.past.debit(debit) if isinstance(debit, int) and is_new else None)
        if not is_new or (paid is not None and self.past.is_answered(debit, paid)):
            faults.append("answers a debit that was answered before")
        elif paid != Paid(entry.dataset, entry.key, entry.actor, entry.request):
            faults.append("answers no debit of its data set and question")
        self._answered.add(debit)
        if not failed:
            self._answers[entry.sequence] = entry.dataset
            if digest(content["document"]) != content["digest"]:
                faults.append("holds a document that does not match its digest")
        return faults

    def _amend_faults(self, entry: Entry) -> list[str]:
        content = _with_reason(entry, {entry.key, "why"})
        book, opening = self._opened(entry.dataset)
        if entry.key == BUDGET:
            said = amended(opening.terms.budget, content)
            book.closed, book.budget = said is None, said or opening.terms.budget
        elif entry.key != POLICY or opening.account != DATASET or not isinstance(content[POLICY], dict):
            raise ValueError("not an amendment")
        return []

    def _grant_faults(self, entry: Entry) -> list[str]:
        _with_reason(entry, {"budget", "group", "why"})
        book, opening = self._opened(entry.dataset)
        grant = Grant.from_entry(entry, opening.terms.budget.accountant)
        kind, _, holder = entry.key.partition(" ")
        if opening.account != DATASET or kind not in (ANALYST, GROUP) or not holder:
            raise ValueError("not a grant")
        faults = []
        if grant.group is not None and self._granted(entry.dataset, holder_key(GROUP, grant.group)) is None:
            faults.append("names a group to which nothing was granted")
        if grant.budget is not None:
            cap = self._book(cap_name(entry.dataset, kind, holder))
            if cap is None or cap.closed or cap.budget != grant.budget:
                faults.append("grants a budget that its account does not have")
        book.grants[entry.key] = grant
        return faults

    def _revoke_faults(self, entry: Entry) -> list[str]:
        _with_reason(entry, {"why"})
        faults = [] if self._granted(entry.dataset, entry.key) else ["revokes what was not granted"]
        self._opened(entry.dataset)[0].grants[entry.key] = None
        return faults

    def _edition_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        sources = content.pop("sources", ["none"])
        texts = [entry.content()["content"], content["label"], *sources]
        if content.keys() != {"content", "label"} or not sources or not all(isinstance(text, str) for text in texts):
            raise ValueError("not an edition")
        return []

    def _publish_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        answer = content["answer"]
        if type(answer) is not int or not isinstance(content["title"], str):
            raise ValueError("not a publication")
        known = self._answers.get(answer) == entry.dataset or self.past.is_answer(answer, entry.dataset)
        return [] if known else ["publishes what is no answer about its data set"]

    def _head_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        if content.keys() != {"sequence", "hash", "key", "signature"} or entry.dataset:
            raise ValueError("not a head")
        self.heads.append(entry)
        named = (content["sequence"], content["hash"])
        return [] if named == (self.count, self.head or BEFORE_THE_FIRST) else ["signs another entry than the one before it"]


def _with_reason(entry: Entry, fields: Collection[str]) -> dict[str, Any]:
    """The content of a change of what is allowed, which says who and why."""
    content = entry.content()
    if content.keys() != fields or not entry.actor or not isinstance(content["why"], str) or not content["why"].strip():
        raise ValueError("not a change")
    return content
