"""Statistics for tests of questions about columns without an outcome. They are not private: they say what they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations import registry
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Simulated, Statistic
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Table

LAWS = ("gamma", "normal", "linear")
NAMES = ("fitted", "listed", "drawn")


@dataclass(frozen=True)
class Law:
    """What a first parameter becomes."""

    name: str


class Fitted:
    """The rows that were read, and by which law."""

    def __init__(self, law: str, rows: Sequence[Sequence[float]]) -> None:
        self.law = law
        self.rows = tuple(map(tuple, rows))

    def to_dict(self) -> dict[str, Any]:
        return {"law": self.law, "rows": self.rows}

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        return f"law   {self.law}\nrows  {len(self.rows)} of {len(self.rows[0])}"


def revived(plain: Mapping[str, Any]) -> Fitted:
    return Fitted(plain["law"], plain["rows"])


def checked_law(value: object) -> Law:
    if isinstance(value, Law):
        return value
    if callable(value):
        return Law(str(getattr(value, "__name__", "own")))
    if value not in LAWS:
        raise UnknownNameError(f"there is no law {value!r}.")
    return Law(str(value))


def checked_blocks(value: object) -> int:
    if type(value) is not int:
        raise InvalidParameterError("blocks must be a whole number.")
    return value


def checked_bounds(value: object) -> object:
    return value


def fitted(table: Table, question: Question, rng: RandomSource) -> Answer:
    """All rows, by matrix and by sums alike."""
    rows = sorted(table.matrix().tolist())
    assert table.row_sums(counted)[0] == len(rows)
    assert table.column(0).count() == len(rows)
    return Answer(Fitted(question.arguments["law"].name, rows))


def counted(raw_rows: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([len(raw_rows)], dtype=np.int64)


def listed(table: Table, question: Question, rng: RandomSource) -> Answer:
    """All rows."""
    return Answer(tuple(sorted(map(tuple, table.matrix().tolist()))))


def middle(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The means of all columns, with intervals of a fixed reach."""
    means = table.matrix().mean(axis=0)
    return Answer(tuple(means.tolist()), intervals=tuple(Interval(mean - 0.5, mean + 0.5, 0.95, "it") for mean in means.tolist()))


def simulated(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """Normal rows around 3."""
    columns = len(question.columns)
    return Simulated(generator.normal(3.0, 1.0, (rows, columns)), (3.0,) * columns, "normal rows around 3")


@pytest.fixture
def column_statistics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """They are on the list while a test runs: `fitted` takes a law first, `listed` and `drawn` only columns."""
    law = Parameter("law", "the law by name", checked_law)
    blocks = Parameter("blocks", "how many blocks", checked_blocks, 100)
    bounds = Parameter("bounds", "bounds by name", checked_bounds, None)
    alone = (Reads.FEATURES,)
    statistics = {
        "fitted": (
            Statistic("fitted", "Only for tests.", (law, blocks, bounds), alone, parameter_first=True, revive=revived),
            fitted,
        ),
        "listed": (Statistic("listed", "Only for tests.", (blocks,), alone, most_features=4), listed),
        "drawn": (Statistic("drawn", "Only for tests.", (law,), alone, parameter_first=True, simulate=simulated), middle),
    }
    for name, (statistic, run) in statistics.items():
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, name, statistic)
    yield
    for name in NAMES:
        vars(dp).pop(name, None)
