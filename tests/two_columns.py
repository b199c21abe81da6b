"""Statistics for tests of questions about two columns, about either kind of column, and about levels of intervals.

They are not private: they say what they read.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import dpstats as dp
from dpstats.foundations import registry
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Statistic
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Clip, Column, Table

NUMBERS, LABELS, EITHER = Reads.NUMBERS, Reads.LABELS, Reads.EITHER
CLIP = Clip(-(2**20), 2**21, Fraction(1, 4))


def together(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The sum of products, each from the lower end of the clip."""
    return Answer(table.product_sums((CLIP, CLIP), 1)[1][1])


def sizes(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The rows of some labels."""
    return Answer(tuple(column.count() for column in table.columns_by_label(0, 1, question.arguments["labels"])))


def crossed(table: Table, question: Question, rng: RandomSource) -> Answer:
    """Every pair of labels with its count."""
    return Answer(tuple(sorted(f"{first}/{second}: {count}" for (first, second), count in table.label_pairs().items())))


def look(column: Column, question: Question, rng: RandomSource) -> Answer:
    """Whether a column came as numbers."""
    return Answer("labels" if column.dtype is None else "numbers")


def levels(column: Column, question: Question, rng: RandomSource) -> Answer:
    """Two values, each with an interval unless none is wanted."""
    wanted = () if question.interval is None else (float(question.interval),) * 2
    return Answer((1.0, 2.0), intervals=tuple(Interval(value, value + 1, level, "nothing") for value, level in enumerate(wanted)))


def _labels(value: Any) -> tuple[Any, ...]:
    return tuple(value)


STATISTICS: dict[str, tuple[Any, tuple[Reads, ...], tuple[Parameter, ...]]] = {
    "together": (together, (NUMBERS, NUMBERS), ()),
    "sizes": (sizes, (NUMBERS, LABELS), (Parameter("labels", "the labels", _labels, ("a", "b")),)),
    "crossed": (crossed, (LABELS, LABELS), ()),
    "look": (look, (EITHER,), ()),
    "look_at_both": (lambda table, question, rng: look(table.column(0), question, rng), (EITHER, NUMBERS), ()),
    "levels": (levels, (NUMBERS,), ()),
}


@pytest.fixture
def two_column_statistics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """They are on the list while a test runs."""
    for name, (run, reads, parameters) in STATISTICS.items():
        statistic = Statistic(name, f"Only for tests: {name}.", parameters=parameters, reads=reads)
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, name, statistic)
    yield
    for name in STATISTICS:
        vars(dp).pop(name, None)


def together_by_hand(pairs: list[tuple[Any, Any]]) -> int:
    """What `together` says of some rows."""
    return sum(CLIP.place(x) * CLIP.place(y) for x, y in pairs)
