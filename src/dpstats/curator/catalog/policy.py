"""The policy of a data set: what may be asked, how much at a time, and who sees whose answers; public, and in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpstats.accounting.accountants import read_exact
from dpstats.curator.documents.values import refuse_unknown, refuse_unknown_one
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.readers import policy_in
from dpstats.curator.scope import Scope
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import spendable_epsilon
from dpstats.foundations.registry import statistic_names
from dpstats.foundations.rounding import decimal_text, exact_rational

SHARED, BY_GROUP, OWN = "shared", "group", "own"
ROWS = 100_000
MOST_ROWS = 10**12
MOST_PACE = 1000
REGRESSION = "regression"


@dataclass(frozen=True)
class Policy:
    """What the owner of a data set allows."""

    columns: tuple[str, ...] | None = None
    """Those that may be named, also in conditions and groups; None for all of them."""
    statistics: tuple[str, ...] | None = None
    """Those that may be asked; None for all of them."""
    largest_epsilon: Fraction | None = None
    """Of one question."""
    archive: str = SHARED
    """Whose answers an identical question is answered with: everybody's, those of one's group, or only one's own."""
    rows: int = ROWS
    """How many rows the table is said to have, roughly: it decides when replies leave, and nothing else."""
    pace: Fraction = Fraction(1)
    """How slowly the table is read; 2 lets replies leave after twice the time."""
    frozen: bool = False
    """Whether no new question is answered."""

    def __post_init__(self) -> None:
        for name in ("columns", "statistics"):
            listed = getattr(self, name)
            if listed is not None:
                if isinstance(listed, str) or not all(isinstance(each, str) for each in listed):
                    raise InvalidParameterError(f"{name} must be a list of names.")
                object.__setattr__(self, name, tuple(dict.fromkeys(listed)))
        for each in self.statistics or ():
            if each not in (*statistic_names(), REGRESSION):
                refuse_unknown_one("statistic", each, [*statistic_names(), REGRESSION])
        if self.largest_epsilon is not None:
            object.__setattr__(self, "largest_epsilon", spendable_epsilon(self.largest_epsilon))
        if self.archive not in (SHARED, BY_GROUP, OWN):
            raise InvalidParameterError("archive must be 'shared', 'group' or 'own'.")
        if type(self.rows) is not int or not 1 <= self.rows <= MOST_ROWS:
            raise InvalidParameterError("rows must be a whole number: about how many rows the table has.")
        object.__setattr__(self, "pace", exact_rational(self.pace, "pace"))
        if not 0 < self.pace <= MOST_PACE:
            raise InvalidParameterError(
                f"pace must be above 0 and at most {MOST_PACE}: 2 lets replies leave after twice the time."
            )
        if type(self.frozen) is not bool:
            raise InvalidParameterError("frozen must be true or false.")

    def scope(self, scope: Scope) -> Scope:
        """Only the columns that may be named."""
        return scope if self.columns is None else scope.only(self.columns)

    def check(self, names: Sequence[str], epsilon: Fraction) -> None:
        """Raise where the policy does not allow a question, whether or not it was answered before.

        `names` are what its statistic is called: a regression by a formula has the name of its model, too.
        """
        if self.statistics is not None and not set(names) & set(self.statistics):
            raise InvalidParameterError(
                f"the owner of this data set does not allow {names[0]}: there are {', '.join(self.statistics)}."
            )
        if self.largest_epsilon is not None and epsilon > self.largest_epsilon:
            raise InvalidParameterError(
                f"the owner of this data set allows at most epsilon = {decimal_text(self.largest_epsilon)} for one question."
            )

    def changed(self, changes: Mapping[str, Any]) -> Policy:
        """The policy with some changes."""
        names = [each.name for each in fields(self)]
        for name in changes:
            if name not in names:
                refuse_unknown("a policy", name, names)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; amounts are exact texts."""
        return {
            "columns": None if self.columns is None else list(self.columns),
            "statistics": None if self.statistics is None else list(self.statistics),
            "largest_epsilon": None if self.largest_epsilon is None else str(self.largest_epsilon),
            "archive": self.archive,
            "rows": self.rows,
            "pace": str(self.pace),
            "frozen": self.frozen,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Policy:
        """The policy that `to_dict` wrote; what is left out has its default."""
        exact = {name: read_exact(plain[name]) for name in ("largest_epsilon", "pace") if plain.get(name) is not None}
        return cls().changed({**plain, **exact})


@lru_cache(maxsize=256)
def policy_of(amendment: Entry | None) -> Policy:
    """The policy that an entry of the ledger sets; what is in an entry never changes, so it is read once."""
    return Policy() if amendment is None else Policy.from_dict(policy_in(amendment))
