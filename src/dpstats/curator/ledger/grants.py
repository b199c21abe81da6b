"""Grants: who may ask about a data set, with which caps, and who pays for a debit.

A data set always pays, and its population if it has one. On behalf of an actor there must be a grant that has not been revoked;
then the actor's own cap is charged too, where one was granted, and that of the actor's group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from dpstats.accounting.accountants import read_exact
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import GRANT, VERSION, Entry
from dpstats.curator.ledger.openings import ANALYST, GROUP, Opening, amounts, cap_name, holder_key, population_name
from dpstats.foundations.errors import AccessError

__all__ = ["Grant", "Granted", "grant_in", "last_of", "payers"]


@dataclass(frozen=True)
class Grant:
    """What an analyst or a group was granted on a data set."""

    budget: Budget | None = None
    """The cap of all their questions together; None where they have none of their own."""
    group: str | None = None
    """The group that an analyst belongs to."""

    def content(self, why: str) -> dict[str, object]:
        """The body of the entry."""
        budget = None if self.budget is None else {"epsilon": str(self.budget.epsilon), "delta": str(self.budget.delta)}
        return {"budget": budget, "group": self.group, "why": why}

    @classmethod
    def from_entry(cls, entry: Entry, accountant: str) -> Grant:
        """The grant that an entry has; raises `ValueError` where it cannot be read."""
        content = entry.content()
        said = content["budget"]
        budget = None
        if said is not None:
            budget = Budget(read_exact(amounts(said)["epsilon"]), read_exact(said["delta"]), accountant)
        grant = cls(budget, content["group"])
        if entry.version != VERSION or not isinstance(content["why"], str) or grant.content(content["why"]) != content:
            raise ValueError("not a grant")
        if not (grant.group is None or (isinstance(grant.group, str) and entry.key.startswith(f"{ANALYST} "))):
            raise ValueError("not a group")
        return grant


@lru_cache(maxsize=4096)
def grant_in(entry: Entry, accountant: str) -> Grant:
    """The grant that a sound entry has; what is in an entry never changes, so it is read once."""
    return entry.read(lambda _: Grant.from_entry(entry, accountant), "has no grant that can be read")


Granted = Callable[[str], Grant | None]
"""The grant of a holder (`holder_key`) on the data set, unless there is none or it was revoked."""


def payers(dataset: str, opening: Opening, actor: str, granted: Granted) -> list[str]:
    """The accounts that a debit of a data set is charged to, in order: the data set first. Raises `AccessError` where the actor
    may not ask.
    """
    names = [dataset]
    if opening.population is not None:
        names.append(population_name(opening.population))
    if not actor:
        return names
    grant = granted(holder_key(ANALYST, actor))
    if grant is None:
        raise AccessError(f"{actor} may not ask about {dataset}: nothing is granted. Ask the data holder.")
    if grant.group is not None:
        shared = granted(holder_key(GROUP, grant.group))
        if shared is None:
            raise AccessError(f"{actor} may not ask about {dataset}: nothing is granted to the group any more.")
        if shared.budget is not None:
            names.append(cap_name(dataset, GROUP, grant.group))
    if grant.budget is not None:
        names.append(cap_name(dataset, ANALYST, actor))
    return names


def last_of(entries: Iterable[Entry | None]) -> Entry | None:
    """The grant among the last grant and the last revocation of a holder, if it is the later one."""
    last = max((entry for entry in entries if entry is not None), key=lambda entry: entry.sequence, default=None)
    return last if last is not None and last.kind == GRANT else None
