"""Every tested method on every ugly column: a release or a refusal at the stated cost, and nothing read that was not asked."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
import dpstats.statistics
from dpstats.engines.tables.given import as_column
from dpstats.foundations.registry import Question, Reads, ask, find_statistic
from dpstats.foundations.summaries import Clip, Column, LabelCounts, NumberRuns, OrderWindow, WindowRequest
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.testing import seeded
from tests.statistics.tables import ugly_columns

INF = math.inf
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "median": (),
    "quantile": ([0.1, 0.75],),
    "iqr": (),
    "interquantile_range": ([0.1, 0.6],),
    "trimmed_mean": (0.2,),
    "mode": (),
}
METHODS = [(name, method.name) for name in ARGUMENTS for method in find_statistic(name).methods.values() if method.needs_delta]
RELATIONS = ("add_remove", "change_one")
BUDGETS = [(1, 1e-6), (50, 0.4)]
"""The second one passes tests that the first one fails, and its proposals are wild on tables without rows."""


@functools.cache
def columns() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(8)
    return {
        **{f"{rows} rows": np.array([1.0, 2.5, 7.0])[:rows] for rows in range(4)},
        "all ties": np.full(400, 12.99),
        "constant zero": np.zeros(400),
        "range 0 with outliers": np.repeat([-1e6, 0.0, 1e6], [40, 320, 40]),
        "infinite rows": np.concatenate([generator.normal(0, 1, 300), [INF] * 9, [-INF] * 9]),
        "infinite for the most part": np.array([INF] * 200 + [-INF] * 200 + [1.0] * 10),
        "one infinity only": np.full(300, INF),
        "missing rows": np.where(generator.random(400) < 0.3, np.nan, generator.normal(0, 1, 400)),
        "missing rows only": np.full(30, np.nan),
        "huge": np.linspace(-1, 1, 500) * 1.79e308,
        "huge ties": np.full(300, 1e308),
        "tiny": np.array([5e-324, -5e-324, 0.0, 1e-320] * 100),
        "denormal steps": np.arange(500) * 5e-324,
        "whole numbers beyond 2**53": np.arange(2**62, 2**62 + 700),
        "unsigned": np.arange(2**64 - 400, 2**64 - 1, dtype=np.uint64),
        "booleans": np.array([True, False, True] * 150),
        "32 bits": np.round(generator.lognormal(3, 1, 700), 2).astype(np.float32),
    }


def asked(name: str, data: object, **options: Any) -> dp.Release | dp.NoReply:
    answer: dp.Release | dp.NoReply = getattr(dp, name)(data, *ARGUMENTS[name], **options)
    return answer


@pytest.mark.parametrize("neighbors", ["add_remove", pytest.param("change_one", marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_every_column_gets_a_release_or_a_refusal_at_the_stated_cost(name: str, method: str, neighbors: str) -> None:
    refusals = set()
    for data, (epsilon, delta) in itertools.product(columns().values(), BUDGETS):
        options = {"epsilon": epsilon, "delta": delta, "neighbors": neighbors, "method": method}
        outcome = asked(name, data, **options, rng=seeded(3))
        assert outcome.cost == dp.PrivacyCost(epsilon, delta, neighbors)
        assert outcome.method == method
        json.loads(outcome.to_json())
        if isinstance(outcome, dp.NoReply):
            refusals.add((outcome.reason, outcome.advice))
        else:
            assert outcome.claim.startswith("(epsilon, delta)-DP, may refuse: ")
            assert is_plain(outcome.value) or name == "mode"  # an infinity may be the most common label
    assert len(refusals) == 1


def is_plain(value: object) -> bool:
    """A number without NaN and infinity, or a tuple of them."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(type(part) in (int, float) and math.isfinite(part) for part in parts)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_the_columns_of_the_other_quantiles_are_answered_too(name: str, method: str) -> None:
    for data in ugly_columns().values():
        outcome = asked(name, data, epsilon=2, delta=1e-3, method=method, rng=seeded(5))
        assert isinstance(outcome, dp.Release | dp.NoReply)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_list_and_an_array_of_the_same_rows_get_the_same_answer(name: str, method: str) -> None:
    data = np.round(np.random.default_rng(4).normal(50, 10, 400))
    options: dict[str, Any] = {"epsilon": 5, "delta": 1e-2, "method": method}
    array, rows = (asked(name, held, **options, rng=seeded(2)) for held in (data, data.tolist()))
    assert array == rows


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_private_source_refuses_in_the_same_words_as_a_seeded_one(name: str, method: str) -> None:
    options: dict[str, Any] = {"epsilon": 1, "delta": 1e-9, "method": method}
    private, repeated = asked(name, [], **options), asked(name, [], **options, rng=seeded(1))
    assert isinstance(private, dp.NoReply)
    assert isinstance(repeated, dp.NoReply)
    assert (private.reason, private.advice) == (repeated.reason, repeated.advice)


# What must be exact.

RANGES = ("iqr", "interquantile_range")


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("tie", [12.99, 0.0, -7.0])
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_large_tie_is_returned_as_it_is_and_its_range_is_0(name: str, method: str, tie: float, neighbors: str) -> None:
    data = np.full(20_000, tie)
    value = asked(name, data, epsilon=1, delta=1e-6, method=method, neighbors=neighbors, rng=seeded(6)).value
    expected = 0.0 if name in RANGES else tie
    assert value == ((expected, expected) if name == "quantile" else expected)


@pytest.mark.parametrize("method", [method for name, method in METHODS if name == "iqr"])
def test_a_range_of_0_between_outliers_is_0(method: str) -> None:
    data = np.repeat([-1e6, 3.0, 1e6, INF], [2000, 16_000, 1900, 100])
    assert dp.iqr(data, epsilon=1, delta=1e-6, method=method, rng=seeded(1)).value == 0


# What is read.


class RecordingColumn:
    """A column that writes down what is asked of it."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.windows: list[list[WindowRequest]] = []
        self.others: list[str] = []

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return self._column.dtype

    def stored(self) -> int:
        self.others.append("stored")
        return self._column.stored()

    def count(self) -> int:
        self.others.append("count")
        return self._column.count()

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        self.windows.append(list(requests))
        return self._column.order_windows(requests)

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        self.others.append("counts_below")
        return self._column.counts_below(cuts)

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        self.others.append("sum_between")
        return self._column.sum_between(low, high, unit)

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        self.others.append("power_sums")
        return self._column.power_sums(clip, degree)

    def tally(self) -> NumberRuns:
        self.others.append("tally")
        return self._column.tally()

    def most_common(self, how_many: int) -> LabelCounts:
        self.others.append(f"most_common({how_many})")
        return self._column.most_common(how_many)


def question_of(name: str, method: str, neighbors: str) -> Question:
    return ask(name, *ARGUMENTS[name], epsilon=1, delta=1e-6, method=method, neighbors=neighbors)


def reading(question: Question, data: np.ndarray) -> RecordingColumn:
    column = RecordingColumn(as_column(data, numeric=question.statistic.reads[0] is Reads.NUMBERS))
    question.answer(column, seeded(9))
    return column


def tables() -> Iterator[np.ndarray]:
    """Tables of one size that differ in everything else."""
    generator = np.random.default_rng(3)
    yield generator.normal(0, 1, 3000)
    yield np.full(3000, 5.0)
    yield np.repeat([0.0, 1.0], 1500)
    yield generator.standard_cauchy(3000) * 1e100


WITH_UNIVERSAL_SCALE = [("median", "ptr"), ("quantile", "ptr")]
WINDOWED = [pair for pair in METHODS if pair not in WITH_UNIVERSAL_SCALE and pair[0] not in ("trimmed_mean", "mode")]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(("name", "method"), WINDOWED)
def test_windows_are_asked_for_once_and_the_same_whatever_the_rows(name: str, method: str, neighbors: str) -> None:
    question = question_of(name, method, neighbors)
    parts = 2 if name == "quantile" else 1
    read = [reading(question, data) for data in tables()]
    assert all(len(column.windows) == parts for column in read)
    assert all(column.windows == read[0].windows for column in read)
    assert all(set(column.others) <= {"stored" if neighbors == "change_one" else "count"} for column in read)


@pytest.mark.parametrize(("name", "method"), WITH_UNIVERSAL_SCALE)
def test_the_window_of_the_test_is_as_wide_whatever_the_rows(name: str, method: str) -> None:
    question = question_of(name, method, "change_one")
    margins = {reading(question, data).windows[-1][0].margin for data in tables()}
    assert len(margins) == 1


def test_margins_are_the_public_caps_of_the_tests() -> None:
    data, share, delta = next(tables()), Fraction(1, 2), Fraction(1, 10**6)
    caps = {
        ("iqr", "ptr"): BestTest(share, delta).cap,
        ("median", "stable"): BestTest(Fraction(1), delta).cap,
    }
    for (name, method), cap in caps.items():
        [requests] = reading(question_of(name, method, "change_one"), data).windows
        assert {request.margin for request in requests} == {cap + 1}


def test_the_mode_asks_for_two_labels_and_nothing_else() -> None:
    for data, neighbors in itertools.product(tables(), RELATIONS):
        column = reading(question_of("mode", "stable", neighbors), data)
        assert (column.windows, column.others) == ([], ["most_common(2)"])


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_trimmed_mean_by_the_printed_route_reads_windows_a_count_and_at_most_one_sum(neighbors: str) -> None:
    read = [reading(question_of("trimmed_mean", "dwork-lei", neighbors), data) for data in tables()]
    assert all(column.windows == read[0].windows and len(column.windows) == 1 for column in read)
    assert all(column.others in (["count"], ["count", "sum_between"]) for column in read)
