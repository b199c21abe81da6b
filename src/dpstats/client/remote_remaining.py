"""What is left of somebody's own budget at a service, also as a number of questions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

from dpstats.client.remote_tables import RemoteTable
from dpstats.curator.remaining import Remaining
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.foundations.arguments import column_words
from dpstats.foundations.errors import BudgetError, DpstatsError, InvalidParameterError
from dpstats.foundations.registry import Reads, Statistic, find_statistic, refuse_surplus


class RemoteRemaining(Remaining):
    """What is left. It asks the service when it is asked."""

    def __init__(self, table: RemoteTable, session: Session) -> None:
        self._table = table
        self._session = session

    @property
    def epsilon(self) -> Fraction:
        """The largest epsilon that one more question may have."""
        return self._amount("epsilon")

    @property
    def delta(self) -> Fraction:
        """The largest delta that one more question may have."""
        return self._amount("delta")

    def more(self, statistic: str, *parameters: object, epsilon: object = None, delta: object = 0, **keywords: Any) -> int:
        """How many more questions like this one fit: more("median", epsilon=0.1)."""
        asked = find_statistic(statistic)
        refuse_surplus(asked, parameters, "its name")
        named = dict(zip((each.name for each in asked.parameters), parameters, strict=False))
        words = {**_any_columns(self._session._scope, asked), **named, **keywords, "epsilon": epsilon, "delta": delta}
        priced = self._table.price("price", body={"document": self._session.document(statistic, **words)})
        if priced.more is None:
            raise self._no_budget()
        return priced.more + 1 if priced.fits else 0

    def __str__(self) -> str:
        return self._table.state()["remaining"] or "no budget of your own: what is left is the data holder's to know"

    def _amount(self, name: str) -> Fraction:
        left = self._table.state()["left"]
        if left is None:
            raise self._no_budget()
        return Fraction(left[name])

    def _no_budget(self) -> BudgetError:
        return BudgetError(f"you have no budget of your own on {self._table.name}: what is left is the data holder's to know.")


def _any_columns(scope: Scope, statistic: Statistic) -> Mapping[str, Any]:
    """Columns that a statistic can be asked about, by its words for them: what a question costs does not depend on them."""
    if statistic.only_counts or statistic.takes_tables:
        return {}
    words = column_words(statistic, "column")
    for names in permutations(scope.columns, len(words)):
        try:
            scope.check(statistic, names)
        except DpstatsError:
            continue
        several = [[name] if reads is Reads.FEATURES else name for name, reads in zip(names, statistic.reads, strict=True)]
        return dict(zip(words, several, strict=True))
    raise InvalidParameterError(f"no column of this table can be asked for its {statistic.name}.")
