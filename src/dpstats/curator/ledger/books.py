"""Books: what an auditor knows of each account, from the entries that were read so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpstats.accounting.accountants import Total, read_exact
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.debits import read_loss
from dpstats.curator.ledger.entries import ANSWER, DEBIT, GRANT, REVOKE, Entry
from dpstats.curator.ledger.grants import Grant, last_of
from dpstats.curator.ledger.openings import Opening
from dpstats.curator.ledger.readers import is_failure
from dpstats.curator.ledger.standing import sought_for, standing
from dpstats.curator.ledger.stores import EntryTable
from dpstats.foundations.errors import LedgerError

_MOST_KEPT = 10_000


@dataclass
class Book:
    """One account."""

    opening: Opening | None = None
    """None where the terms cannot be read."""
    budget: Budget | None = None
    closed: bool = False
    total: Total | None = field(default_factory=Total)
    """None after a debit whose total could not be read: what follows it cannot be checked."""
    grants: dict[str, Grant | None] = field(default_factory=dict)
    _charges: dict[tuple[object, ...], Total] = field(default_factory=dict)

    def charge(self, version: int, cost: Mapping[str, Any]) -> Total:
        """What a cost adds to the total; few costs are all different, so they are kept."""
        assert self.opening is not None
        named = (version, len(cost), cost["epsilon"], cost["delta"], cost.get("loss"))
        if named not in self._charges:
            amount = self.opening.terms.cost(read_exact(cost["epsilon"]), read_exact(cost["delta"]))
            if len(self._charges) >= _MOST_KEPT:
                self._charges.clear()
            self._charges[named] = self.opening.terms.budget.keeper.charge(amount, read_loss(version, cost))
        return self._charges[named]

    @property
    def limit(self) -> Total:
        """The largest total that is allowed."""
        return Total() if self.closed or self.budget is None else self.budget.limit


@dataclass(frozen=True)
class Paid:
    """A debit, as its answer must name it."""

    dataset: str
    key: str
    actor: str
    request: str


class NoPast:
    """Nothing was read before the first entry."""

    sequence = 0
    hash: str | None = None

    def book(self, name: str) -> Book | None:
        """How an account stood; None where it was not opened."""

    def grant(self, dataset: str, holder: str, accountant: str) -> Grant | None:
        """What was granted to a holder."""

    def debit(self, sequence: int) -> Paid | None:
        """A debit that was read before."""

    def is_answered(self, debit: int, paid: Paid) -> bool:
        """Whether a debit had its answer."""
        return False

    def is_answer(self, sequence: int, dataset: str) -> bool:
        """Whether there is such an answer about a data set."""
        return False

    def has_request(self, actor: str, request: str) -> bool:
        """Whether an actor's request was paid for."""
        return False


class Past(NoPast):
    """The entries up to one that was verified before, looked up in the store where later ones refer to them."""

    def __init__(self, read: Callable[[Callable[[EntryTable], Any]], Any], sequence: int, hash: str) -> None:
        self._read = read
        self.sequence = sequence
        self.hash = hash

    def book(self, name: str) -> Book | None:
        """How an account stood."""
        found = self._read(lambda table: table.latest_of(sought_for(name), self.sequence))
        opened, amendment, debit = found.values()
        if opened is None:
            return None
        try:
            now = standing(name, opened, amendment, debit)
        except LedgerError:
            return Book(total=None)
        return Book(now.opening, now.budget, now.closed, now.total)

    def grant(self, dataset: str, holder: str, accountant: str) -> Grant | None:
        """What was granted to a holder."""
        sought = [(dataset, GRANT, holder), (dataset, REVOKE, holder)]
        entry = last_of(self._read(lambda table: table.latest_of(sought, self.sequence)).values())
        return None if entry is None else Grant.from_entry(entry, accountant)

    def debit(self, sequence: int) -> Paid | None:
        """A debit that was read before."""
        entry = self._before(sequence)
        if entry is None or entry.kind != DEBIT or "of" in entry.content():
            return None
        return Paid(entry.dataset, entry.key, entry.actor, entry.request)

    def is_answered(self, debit: int, paid: Paid) -> bool:
        """Whether a debit had its answer."""
        answers: list[Entry] = self._read(lambda table: table.with_key(paid.dataset, ANSWER, paid.key))
        return any(each.sequence <= self.sequence and each.content()["debit"] == debit for each in answers)

    def is_answer(self, sequence: int, dataset: str) -> bool:
        """Whether there is such an answer about a data set."""
        entry = self._before(sequence)
        return entry is not None and (entry.kind, entry.dataset) == (ANSWER, dataset) and not is_failure(entry)

    def has_request(self, actor: str, request: str) -> bool:
        """Whether an actor's request was paid for."""
        entry: Entry | None = self._read(lambda table: table.with_request(actor, request))
        return entry is not None and entry.sequence <= self.sequence

    def _before(self, sequence: int) -> Entry | None:
        if sequence > self.sequence:
            return None
        found: Entry | None = self._read(lambda table: table.numbered(sequence))
        return found
