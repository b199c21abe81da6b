"""Brackets, piles and samples: whatever the sample, the window is exact, and what a pass holds stays small."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.engines import arrays
from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.exact import blocks
from dpstats.engines.exact.samples import random_positions
from dpstats.engines.exact.selection import windows_by_brackets
from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import WindowRequest

LARGE = 200_001
MIDDLE = WindowRequest(Fraction(1, 2), 50)
QUARTILES = [WindowRequest(Fraction(1, 4), 1000), WindowRequest(Fraction(3, 4), 1000)]


def _bad_positions(stored: int, count: int) -> NDArray[np.int64]:
    return np.arange(count) % stored


def test_a_sample_that_misses_twice_ends_in_a_sort_and_the_exact_window(monkeypatch: pytest.MonkeyPatch, oracle: Any) -> None:
    rows = np.arange(LARGE, dtype=np.float64)
    assert windows_by_brackets([rows], [MIDDLE], _bad_positions) is None
    monkeypatch.setattr(arrays, "windows_by_brackets", partial(windows_by_brackets, positions=_bad_positions))
    (window,) = ArrayColumn([rows]).order_windows([MIDDLE])
    oracle(rows.tolist()).check(window, MIDDLE)


def test_a_sample_that_misses_once_is_drawn_again(oracle: Any) -> None:
    rows = np.arange(LARGE, dtype=np.int64)
    draws = iter([_bad_positions, random_positions])
    windows = windows_by_brackets([rows], [MIDDLE], lambda stored, count: next(draws)(stored, count))
    assert windows is not None
    oracle(rows.tolist()).check(windows[0], MIDDLE)
    assert next(draws, None) is None


def test_random_positions_lie_within_the_rows_and_reach_both_ends() -> None:
    for stored in (1, 10, 10**6, 2**32 - 1, 2**40):
        positions = random_positions(stored, 20_000)
        assert positions.min() >= 0
        assert positions.max() < stored
        assert positions.min() <= stored / 1000
        assert positions.max() >= stored - 1 - stored / 1000


@pytest.mark.parametrize("asked", [[MIDDLE], QUARTILES])
def test_large_columns_are_answered_without_a_sort(monkeypatch: pytest.MonkeyPatch, asked: list[WindowRequest]) -> None:
    chance = np.random.default_rng(3)

    def refuse(*_: object) -> None:
        raise AssertionError("sorted a copy")

    monkeypatch.setattr(arrays, "sort_present", refuse)
    for rows in (chance.normal(size=LARGE), np.zeros(LARGE), np.arange(LARGE), chance.integers(0, 3, LARGE)):
        column = as_column(rows)
        assert len(column.order_windows(asked)) == len(asked)
        assert column.counts_below([0, 1]) == [int((rows < 0).sum()), int((rows < 1).sum())]


def test_a_recursive_algorithm_makes_one_sorted_copy(monkeypatch: pytest.MonkeyPatch, oracle: Any) -> None:
    rows = np.random.default_rng(5).normal(size=LARGE)
    truth = oracle(rows.tolist())
    sorts = []

    def sort_and_note(chunks: blocks.Chunks) -> NDArray[Any]:
        sorts.append(len(chunks))
        return blocks.sort_present(chunks)

    monkeypatch.setattr(arrays, "sort_present", sort_and_note)
    column = as_column(rows)
    for level in range(7):
        asked = [WindowRequest(Fraction(2 * node + 1, 2 ** (level + 1)), 20) for node in range(2**level)]
        for window, request in zip(column.order_windows(asked), asked, strict=True):
            truth.check(window, request)
        at = [float(node) / 10 for node in range(2**level)]
        assert column.counts_below(at) == [truth.count_below(cut) for cut in at]
    assert len(sorts) == 1


MEMORY_ROWS = 4_000_000
LARGE_SHAPES: dict[str, Callable[[np.random.Generator], NDArray[Any]]] = {
    "normal": lambda chance: chance.normal(size=MEMORY_ROWS),
    "constant": lambda chance: np.full(MEMORY_ROWS, 2.5),
    "three values": lambda chance: chance.integers(0, 3, MEMORY_ROWS).astype(np.float64),
    "hundred values": lambda chance: np.round(chance.normal(size=MEMORY_ROWS) * 15),
    "all missing": lambda chance: np.full(MEMORY_ROWS, np.nan),
    "half missing": lambda chance: np.where(np.arange(MEMORY_ROWS) % 2, np.nan, np.arange(MEMORY_ROWS)),
    "float32": lambda chance: chance.normal(size=MEMORY_ROWS).astype(np.float32),
}


@pytest.mark.parametrize("shape", LARGE_SHAPES)
def test_a_window_takes_little_memory(shape: str) -> None:
    rows = LARGE_SHAPES[shape](np.random.default_rng(11))
    tracemalloc.start()
    try:
        column = ArrayColumn([rows])
        column.order_windows([MIDDLE])
        column.order_windows(QUARTILES)
        column.counts_below([0.0, 1e9])
        column.count()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.12 * rows.nbytes


def test_many_ties_within_a_wide_window_are_counted_and_not_kept() -> None:
    rows = np.random.default_rng(13).integers(0, 50, MEMORY_ROWS)
    request = WindowRequest(Fraction(1, 2), MEMORY_ROWS // 5)
    tracemalloc.start()
    try:
        windows = windows_by_brackets([rows], [request])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert windows is not None
    assert windows[0].raw_counts.tolist() == [int((rows == value).sum()) for value in windows[0].raw_values]
    assert peak < 0.12 * rows.nbytes
