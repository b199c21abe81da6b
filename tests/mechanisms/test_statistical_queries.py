"""Statistical queries: a row counts for as many conditions as it may, whatever it holds, and noise hides all of these."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.foundations.privacy import GraphNeighbors
from dpstats.mechanisms import statistical_queries
from dpstats.mechanisms.statistical_queries import count_satisfied, noise_for
from dpstats.testing import seeded
from tests.laws.mechanisms import discrete_laplace_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.statistical_queries import counted_by_average, counted_in_full

CONDITIONS: list[Any] = [lambda row: row & 1, lambda row: row & 2 == 2, lambda row: row >= 4]
ROWS = list(range(8))


@cache
def noisy_law(count: int, scale: Fraction) -> Any:
    """The law of a count with its noise, in a window of outcomes."""
    return discrete_laplace_law(count, scale, -3, 15)


def loss(counted: Any, rows: list[int], more: list[int], most: int) -> float:
    """The exact loss of all counts with the noise for `most` of them at epsilon 1, in a window of outcomes."""
    (scale, _), total = noise_for(most, Fraction(1), Fraction(0)), 0.0
    for one, other in zip(counted(rows, CONDITIONS, most), counted(more, CONDITIONS, most), strict=True):
        total += largest_log_ratio(*(noisy_law(count, scale) for count in (one, other)))
    return total


@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_small_pair_of_tables_is_private(most: int) -> None:
    for rows in itertools.combinations(ROWS, 2):
        for row in ROWS:
            assert loss(count_satisfied, [*rows], [*rows, row], most) <= 1 + 1e-9


def test_the_twins_are_refuted() -> None:
    assert loss(counted_in_full, [1], [1, 7], 1) == pytest.approx(3)
    assert loss(counted_by_average, [0, 0, 0], [0, 0, 0, 7], 1) == pytest.approx(3)


@given(st.lists(st.integers(0, 7), max_size=6), st.integers(0, 7), st.integers(1, 3))
def test_one_row_moves_at_most_so_many_counts_by_one(rows: list[int], row: int, most: int) -> None:
    moved = np.subtract(count_satisfied([*rows, row], CONDITIONS, most), count_satisfied(rows, CONDITIONS, most))
    assert moved.min() >= 0
    assert moved.max() <= 1
    assert moved.sum() == min(most, sum(bool(condition(row)) for condition in CONDITIONS))


def test_counts_are_near_the_truth_and_named_as_they_were() -> None:
    rows = [{"age": age} for age in range(1_000)]
    queries = {"young": lambda row: row["age"] < 300, "old": lambda row: row["age"] > 700}
    release = statistical_queries(rows, queries, epsilon=2, most=1, rng=seeded(1))
    assert release.value["young"] == pytest.approx(300, abs=8)
    assert release.value["old"] == pytest.approx(299, abs=8)
    assert release.cost == dp.PrivacyCost(2)
    assert "discrete Laplace of scale 0.5" in str(release.card())
    listed = statistical_queries(rows, list(queries.values()), epsilon=2, most=1, rng=seeded(1))
    assert listed.value == tuple(release.value.values())


def test_a_condition_that_fails_or_gives_something_else_does_not_count() -> None:
    queries = [
        lambda row: row["b"],
        lambda row: 1 / 0,
        lambda row: "yes",
        lambda row: 2,
        lambda row: None,
        lambda row: np.bool_(True),
    ]
    rows = [{"a": 1}] * 50
    assert count_satisfied(rows, queries, 6) == [0, 0, 0, 0, 0, 50]
    assert max(statistical_queries(rows, queries, epsilon=50, rng=seeded(1)).value) == 50


class PanicError(BaseException):
    """As libraries in Rust raise it."""


def test_a_panic_in_a_condition_does_not_count() -> None:
    def panicking(row: int) -> bool:
        if row == 7:
            raise PanicError("row 7 is Ann's")
        return True

    assert count_satisfied(ROWS, [panicking], 1) == [7]

    def interrupted(row: int) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_satisfied(ROWS, [interrupted], 1)


@pytest.mark.parametrize("failure", [RuntimeError("row 7 is Ann's"), PanicError("row 7 is Ann's")])
def test_rows_that_cannot_be_gone_through_are_one_refusal_at_the_same_cost(failure: BaseException) -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise failure

    reply = statistical_queries(rows(), CONDITIONS, epsilon=1)
    assert isinstance(reply, dp.NoReply)
    assert reply.cost == dp.PrivacyCost(1)
    assert "Ann" not in f"{reply}{reply!r}{reply.card()}"
    with pytest.raises(type(failure)):
        statistical_queries(rows(), CONDITIONS, epsilon=1, rng=seeded(1))


@pytest.mark.parametrize("relation", ["edge", "node", GraphNeighbors.NODE, "rows"])
def test_rows_have_no_relation_of_graphs(relation: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="add_remove"):
        statistical_queries([1], CONDITIONS, epsilon=1, neighbors=relation)


def test_gaussian_noise_is_taken_where_it_is_less() -> None:
    few = statistical_queries([1], CONDITIONS, epsilon=1, delta=1e-6, rng=seeded(1))
    assert few.cost.delta == 0
    many = statistical_queries([1], CONDITIONS * 100, epsilon=1, delta=1e-6, rng=seeded(1))
    assert many.cost.delta == Fraction(1, 10**6)
    assert "discrete Gaussian" in str(many.card())
    scale, variance = noise_for(300, Fraction(1), Fraction(1, 10**6))
    assert variance is not None
    assert math.sqrt(variance) < float(scale) / 2


def test_a_changed_row_may_move_twice_as_many() -> None:
    release = statistical_queries([1], CONDITIONS, epsilon=1, most=1, neighbors="change_one", rng=seeded(1))
    assert "scale 2 in each" in str(release.card())
    all_of_them = statistical_queries([1], CONDITIONS, epsilon=1, neighbors="change_one", rng=seeded(1))
    assert "scale 3 in each" in str(all_of_them.card())


@pytest.mark.parametrize(
    ("queries", "most", "words"),
    [
        ([], None, "at least one"),
        (["age > 3"], None, "functions of a row"),
        (CONDITIONS, 4, "from 1 to 3"),
        (CONDITIONS, 0, "1 to 3"),
    ],
)
def test_what_cannot_be_asked_is_refused(queries: Any, most: Any, words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        statistical_queries([1], queries, epsilon=1, most=most)
