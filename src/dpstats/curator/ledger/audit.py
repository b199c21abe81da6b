"""An audit: entries taken in one after another, with everything that is wrong with each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from dpstats.curator.ledger.account_checks import AccountChecks
from dpstats.curator.ledger.audit_books import AuditBooks
from dpstats.curator.ledger.books import NoPast
from dpstats.curator.ledger.complaints import Complaint
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
)
from dpstats.curator.ledger.question_checks import DebitShare, QuestionChecks
from dpstats.foundations.errors import DpstatsError

_KINDS: dict[int, Collection[str]] = {
    FIRST_VERSION: (OPEN, DEBIT, ANSWER),
    WITH_LOSS: (DEBIT,),
    VERSION: KINDS,
}
WITHHELD = "withheld"
"""In place of the body of an answer that is not shown to whoever verifies a chain."""


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

    def __post_init__(self) -> None:
        self.count = self.past.sequence
        self.head = self.past.hash
        self._expected = self.past.sequence + 1
        self._books = AuditBooks(self.past)
        accounts, self._questions = AccountChecks(self._books), QuestionChecks(self._books)
        self._checks: dict[str, Callable[[Entry], list[str]]] = {
            OPEN: accounts.open_faults,
            DEBIT: self._questions.debit_faults,
            ANSWER: self._questions.answer_faults,
            AMEND: accounts.amend_faults,
            GRANT: accounts.grant_faults,
            REVOKE: accounts.revoke_faults,
            EDITION: accounts.edition_faults,
            PUBLISH: self._questions.publish_faults,
            HEAD: self._head_faults,
        }

    def check(self, entry: Entry) -> None:
        """Take in one entry, with everything that is wrong with it."""
        share = self._questions.due.popleft() if self._questions.due else None
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
        if self._questions.due:
            self._miss(self._questions.due[0])

    def _miss(self, share: DebitShare) -> None:
        self.complaints.append(
            Complaint(share.first.sequence, f"is charged to {share.name} too, but the debit there does not follow it")
        )
        self._questions.due.clear()

    def _chain_faults(self, entry: Entry) -> list[str]:
        faults = [fault] if not self._is_withheld(entry) and (fault := entry.fault()) else []
        if entry.sequence != self._expected:
            faults.append(f"the sequence has a gap: entry {self._expected} should be here")
        if entry.previous != (self.head or BEFORE_THE_FIRST):
            faults.append("is not chained to the entry before it: one was removed, added or moved")
        return faults

    def _content_faults(self, entry: Entry, share: DebitShare | None) -> list[str]:
        if entry.version not in _KINDS:
            self._books.open(entry.dataset)
            self._books.lose_total(entry.dataset)
            return []
        if entry.kind not in _KINDS[entry.version]:
            return [f"is of a kind that version {entry.version} does not have"]
        if entry.kind not in (OPEN, HEAD) and self._books.book(entry.dataset) is None:
            return ["belongs to a data set that was not opened before it"]
        if self._is_withheld(entry):
            self.withheld += 1
            self._questions.note_withheld(entry)
            return []
        try:
            if share is not None:
                return self._questions.share_faults(entry, share)
            return self._checks[entry.kind](entry)
        except (ValueError, KeyError, TypeError, AttributeError, DpstatsError):
            if entry.kind == DEBIT:
                self._books.lose_total(entry.dataset)
            return ["has a body that cannot be read"]

    def _is_withheld(self, entry: Entry) -> bool:
        return self.may_withhold and entry.kind == ANSWER and entry.body == WITHHELD

    def _head_faults(self, entry: Entry) -> list[str]:
        content = entry.content()
        if content.keys() != {"sequence", "hash", "key", "signature"} or entry.dataset:
            raise ValueError("not a head")
        self.heads.append(entry)
        named = (content["sequence"], content["hash"])
        return [] if named == (self.count, self.head or BEFORE_THE_FIRST) else ["signs another entry than the one before it"]
