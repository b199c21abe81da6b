"""Verification: what an auditor can check of a ledger from its entries alone, without the data and without trust.

Every hash, the chain, the sequence, every running total by the data set's accountant, that no total exceeds its budget, and that
every answer belongs to a debit and is the document that was archived. A tail that was cut off leaves a sound, shorter chain: only
somebody who remembers an earlier head can notice, and so a head may be given. Nothing stops at the first complaint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dpstats.accounting.accountants import Total, read_exact
from dpstats.curator.ledger.accounts import loss_of
from dpstats.curator.ledger.entries import ANSWER, BEFORE_THE_FIRST, DEBIT, OPEN, VERSION, WITH_LOSS, Entry, digest
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.errors import DpstatsError

_KINDS = {VERSION: (OPEN, DEBIT, ANSWER), WITH_LOSS: (DEBIT,)}
_AMOUNTS = {VERSION: {"epsilon", "delta"}, WITH_LOSS: {"epsilon", "delta", "loss"}}


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong, and in which entry."""

    sequence: int | None
    """The number of the entry; None where the ledger as a whole is at fault."""
    text: str

    def __str__(self) -> str:
        return f"entry {self.sequence}: {self.text}" if self.sequence is not None else self.text


@dataclass(frozen=True)
class Verification:
    """What was found: sound, or every complaint."""

    entries: int
    head: str | None
    complaints: tuple[Complaint, ...]

    @property
    def sound(self) -> bool:
        """Whether there is no complaint."""
        return not self.complaints


def verify_entries(entries: Iterable[Entry], *, head: str | None = None, damages: Sequence[str] = ()) -> Verification:
    """Check entries in the order in which they are stored; `head` is a hash that was once seen at the end of this ledger."""
    audit = _Audit()
    for entry in entries:
        audit.check(entry)
    complaints = [*(Complaint(None, damage) for damage in damages), *audit.complaints]
    if head is not None and head not in audit.hashes:
        complaints.append(Complaint(None, "the remembered head is not in the ledger: entries were removed or written anew since"))
    return Verification(audit.count, audit.head, tuple(complaints))


@dataclass
class _Book:
    """What is known of one data set so far."""

    terms: Terms | None
    total: Total | None = field(default_factory=Total)
    """None after a debit whose total could not be read: what follows it cannot be checked."""


@dataclass
class _Audit:
    count: int = 0
    head: str | None = None
    complaints: list[Complaint] = field(default_factory=list)
    hashes: set[str] = field(default_factory=set)
    _expected: int = 1
    _books: dict[str, _Book] = field(default_factory=dict)
    _debits: dict[int, tuple[str, str]] = field(default_factory=dict)
    _answered: set[int] = field(default_factory=set)

    def check(self, entry: Entry) -> None:
        """Take in one entry, with everything that is wrong with it."""
        faults = [*self._chain_faults(entry), *self._content_faults(entry)]
        self.complaints += [Complaint(entry.sequence, fault) for fault in faults]
        self.count += 1
        self.head = entry.hash
        self.hashes.add(entry.hash)
        self._expected = entry.sequence + 1 if isinstance(entry.sequence, int) else self._expected + 1

    def _chain_faults(self, entry: Entry) -> list[str]:
        faults = [fault] if (fault := entry.fault()) else []
        if entry.sequence != self._expected:
            faults.append(f"the sequence has a gap: entry {self._expected} should be here")
        if entry.previous != (self.head or BEFORE_THE_FIRST):
            faults.append("is not chained to the entry before it: one was removed, added or moved")
        return faults

    def _content_faults(self, entry: Entry) -> list[str]:
        if entry.version not in _KINDS:
            self._books.setdefault(entry.dataset, _Book(None)).total = None
            return []
        checks = {OPEN: self._open_faults, DEBIT: self._debit_faults, ANSWER: self._answer_faults}
        if entry.kind not in _KINDS[entry.version]:
            return [f"is of a kind that version {entry.version} does not have"]
        if entry.kind != OPEN and entry.dataset not in self._books:
            return ["belongs to a data set that was not opened before it"]
        try:
            return checks[entry.kind](entry)
        except (ValueError, KeyError, TypeError, DpstatsError):
            if entry.kind == DEBIT:
                self._books[entry.dataset].total = None
            return ["has a body that cannot be read"]

    def _open_faults(self, entry: Entry) -> list[str]:
        if entry.dataset in self._books:
            return ["opens a data set a second time"]
        self._books[entry.dataset] = _Book(None)
        self._books[entry.dataset].terms = Terms.from_content(entry.content())
        return ["has a key, which only questions have"] if entry.key else []

    def _debit_faults(self, entry: Entry) -> list[str]:
        self._debits[entry.sequence] = (entry.dataset, entry.key)
        book, content = self._books[entry.dataset], entry.content()
        if set(content) != {"question", "cost", "total", "details"} or set(content["cost"]) != _AMOUNTS[entry.version]:
            raise ValueError("not a debit")
        if book.terms is None:
            return ["cannot be added up, because the terms of its data set cannot be read"]
        budget, before = book.terms.budget, book.total
        cost = book.terms.cost(read_exact(content["cost"]["epsilon"]), read_exact(content["cost"]["delta"]))
        book.total = said = budget.keeper.from_dict(content["total"])
        faults = []
        if before is None:
            faults.append("cannot be added up, because the total before it cannot be read")
        elif said != (due := budget.keeper.add(before, budget.keeper.charge(cost, loss_of(entry)))):
            faults.append(f"says a total of {budget.keeper.words(said)}, but its cost makes it {budget.keeper.words(due)}")
        if not said <= budget.limit:
            faults.append(f"spends more than the budget: {budget.keeper.words(said)} of {budget.keeper.words(budget.limit)}")
        return faults

    def _answer_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        if set(content) != {"debit", "digest", "document"}:
            raise ValueError("not an answer")
        faults = []
        if self._debits.get(content["debit"]) != (entry.dataset, entry.key):
            faults.append("answers no debit of its data set and question")
        elif content["debit"] in self._answered:
            faults.append("answers a debit that was answered before")
        self._answered.add(content["debit"])
        if digest(content["document"]) != content["digest"]:
            faults.append("holds a document that does not match its digest")
        return faults
