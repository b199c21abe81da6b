"""A statistic for tests of questions about features and an outcome. It is not private: it says what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import dpstats as dp
from dpstats.foundations import registry
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Statistic
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Table


@dataclass(frozen=True)
class Told:
    """The rows that were read, with a summary as fits have one."""

    rows: tuple[tuple[float, ...], ...]

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        return f"name    rows\n{len(self.rows[0])} columns  {len(self.rows)}, {len(intervals)} intervals"


def told(table: Table, question: Question, rng: RandomSource) -> Answer:
    """All rows."""
    return Answer(tuple(sorted(map(tuple, table.matrix().tolist()))))


def summed(table: Table, question: Question, rng: RandomSource) -> Answer:
    """All rows, in a value that has a summary."""
    rows = tuple(sorted(map(tuple, table.matrix().tolist())))
    return Answer(Told(rows), intervals=(Interval(0.0, 1.0, 0.9, "nothing"),))


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise InvalidParameterError("power must be a whole number.")
    return value


@pytest.fixture
def feature_statistics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It is on the list while a test runs: `told`, and `summed` for a value with a summary."""
    for name, run in (("told", told), ("summed", summed)):
        statistic = Statistic(
            name,
            f"Only for tests: {name}.",
            parameters=(Parameter("power", "a whole number", _whole, 1),),
            reads=(Reads.FEATURES, Reads.NUMBERS),
        )
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, name, statistic)
    yield
    for name in ("told", "summed"):
        vars(dp).pop(name, None)
