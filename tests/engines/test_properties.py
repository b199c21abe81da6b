"""Properties of windows, ranks and piles on small rows, with every limit lowered so that all paths are taken."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines import arrays
from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.exact import blocks, selection
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.samples import Sample
from dpstats.engines.exact.selection import windows_by_brackets
from dpstats.foundations.summaries import WindowRequest

few_floats = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, float("inf"), -float("inf"), float("nan"), 5e-324])
any_rows = st.one_of(
    st.lists(few_floats, max_size=120).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(width=32), max_size=120).map(lambda rows: np.array(rows, dtype=np.float32)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=120).map(lambda rows: np.array(rows, dtype=np.int64)),
    st.lists(st.integers(0, 9), max_size=120).map(lambda rows: np.array(rows, dtype=np.uint8)),
)
requests = st.builds(WindowRequest, st.fractions(0, 1, max_denominator=40), st.integers(0, 30))
cuts = st.one_of(st.floats(), st.integers(), st.integers(-(2**70), 2**70))


@pytest.fixture(scope="module")
def _tiny_steps() -> Iterator[None]:
    """Blocks of 8 rows, ties counted from 4 rows on, and brackets whatever they are expected to collect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LARGEST_BLOCK", 8)
        patch.setattr(selection, "UNCOUNTED_ROWS", 4)
        patch.setattr(selection, "LARGEST_SHARE", 100.0)
        patch.setattr(arrays, "SMALL_ROWS", 0)
        patch.setattr(arrays, "PATIENCE", 10**9)
        yield


@settings(max_examples=400)
@pytest.mark.usefixtures("_tiny_steps")
@given(rows=any_rows, asked=st.lists(requests, min_size=1, max_size=4), seed=st.integers(0, 2**32), pieces=st.integers(1, 3))
def test_windows_by_brackets_are_exact_for_any_sample(
    oracle: Any, rows: NDArray[Any], asked: list[WindowRequest], seed: int, pieces: int
) -> None:
    chance = np.random.default_rng(seed)
    truth = oracle(rows.tolist())

    def positions(stored: int, count: int) -> NDArray[np.int64]:
        """From a random stretch of the rows only, so that many samples are bad ones."""
        start = chance.integers(0, stored)
        return chance.integers(start, chance.integers(start, stored) + 1, count)

    windows = windows_by_brackets(np.array_split(rows, pieces), asked, positions) if rows.size else None
    if windows is None:
        windows = ArrayColumn([rows]).order_windows(asked)
    for window, request in zip(windows, asked, strict=True):
        truth.check(window, request)


@settings(max_examples=200)
@pytest.mark.usefixtures("_tiny_steps")
@given(rows=any_rows, at=st.lists(cuts, max_size=6))
def test_rows_below_a_cut_are_counted_exactly_by_either_way(oracle: Any, rows: NDArray[Any], at: list[float | int]) -> None:
    truth = [oracle(rows.tolist()).count_below(cut) for cut in at]
    assert selection.counts_below([rows], at) == truth
    column = ArrayColumn([rows])
    column.order_windows([WindowRequest(Fraction(1, 2), 10**9)])
    assert selection.counts_below_of_sorted(blocks.sort_present([rows]), at) == truth == column.counts_below(at)


@settings(max_examples=200)
@given(
    parts=st.lists(st.lists(st.integers(0, 20), max_size=30), min_size=1, max_size=8),
    limit=st.integers(1, 40),
    ranks=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)
def test_a_pile_gives_whole_runs_whether_it_counted_ties_or_not(
    parts: list[list[int]], limit: int, ranks: tuple[int, int]
) -> None:
    ordered = sorted(row for part in parts for row in part)
    if not ordered:
        return
    pile = Pile(limit)
    for part in parts:
        pile.add(np.array(part, dtype=np.int64))
    first, last = sorted(1 + rank % len(ordered) for rank in ranks)
    runs = pile.runs(first, last)
    values = sorted(set(ordered[first - 1 : last]))
    assert runs.values.tolist() == values
    assert runs.counts.tolist() == [ordered.count(value) for value in values]
    assert runs.below == ordered.index(values[0])
    assert pile.size == len(ordered)


def test_every_bracket_on_every_small_column_is_exact_or_says_that_it_missed() -> None:
    answered = missed = 0
    for size in range(1, 6):
        edges = [(start, end) for start in range(-1, size) for end in range(max(start, 0), size + 1)]
        wanted = [(first, last) for first in range(1, size + 1) for last in range(first, size + 1)]
        for ordered in combinations_with_replacement((0.0, 1.0, 2.0, 3.0), size):
            rows = np.array(ordered[::-1])
            sample = Sample([rows], lambda stored, count: np.arange(stored))
            sample.order(set(range(size)))
            for start, end in edges:
                for first, last in wanted:
                    bracket = Bracket(sample, (start, end), Pile(1))
                    bracket.scan(rows, np.empty(size, np.bool_), np.empty(size, np.bool_))
                    window = bracket.window((first, last), size)
                    values = sorted(set(ordered[first - 1 : last]))
                    if window is None:
                        missed += 1
                        low = ordered[start] if start >= 0 else -np.inf
                        high = ordered[end] if end < size else np.inf
                        assert not all(low < value < high for value in values)
                        continue
                    answered += 1
                    assert window.raw_values.tolist() == values
                    assert window.raw_counts.tolist() == [ordered.count(value) for value in values]
                    assert window.raw_below == ordered.index(values[0])
    assert min(answered, missed) > 1000
