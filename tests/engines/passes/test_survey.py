"""The first pass collects what is expected: answers stay exact in any order of rows, and rows in random order take one pass."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import ColumnType, Numbers
from dpstats.engines.exact import blocks, thinned
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.thinned import Room
from dpstats.engines.passes import columns as passes
from dpstats.engines.passes import survey
from dpstats.engines.passes.columns import PassColumn, open_column
from dpstats.engines.passes.survey import Survey
from dpstats.engines.views import TableView
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.summaries import Clip, WindowRequest, expect_power_sums, expect_windows
from dpstats.statistics.clipped.guesses import LikelyClip
from dpstats.statistics.means import clipped_for
from dpstats.statistics.universal.decimals import lowest_value_at, ordinal_of
from dpstats.statistics.universal.intervals import draw_bounded, draw_several_bounded
from tests.engines.cell_stores import CellStore, FarStore

LARGE = 200_000
EXPECTED = [WindowRequest(Fraction(place, 4), 60) for place in range(5)]
STORES = {"streamed": CellStore, "far": FarStore}
ORDERS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "ascending": np.sort,
    "descending": lambda rows: np.sort(rows)[::-1].copy(),
    "few at first": lambda rows: np.concatenate([rows[:9000], np.sort(rows[9000:])]),
    "then all between": lambda rows: np.concatenate([rows[:9000], rows[9000:] / 10**6]),
}


@pytest.fixture(autouse=True)
def _small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples small enough that columns have to be passed over; coins, which decide no result, repeat."""
    monkeypatch.setattr(thinned, "urandom", random.Random(11).randbytes)
    monkeypatch.setattr(passes, "STREAMED", Room(8000, 8000, around=1 << 17))
    monkeypatch.setattr(passes, "REMOTE", Room(800, 8000, around=1 << 17))
    monkeypatch.setattr(survey, "FEW_ROWS", 1 << 10)


def opened(rows: NDArray[Any], kind: str = "streamed") -> tuple[CellStore, PassColumn]:
    store = STORES[kind]({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, range(0, rows.size, max(1, rows.size // 25)))
    column = open_column(store, TableView(store.columns), "x", True)
    assert isinstance(column, PassColumn)
    return store, column


def normal_rows() -> NDArray[np.float64]:
    return np.random.default_rng(8).normal(size=LARGE)


@pytest.mark.parametrize("kind", list(STORES))
def test_expected_windows_and_cuts_within_them_of_rows_in_random_order_cost_one_pass(kind: str, oracle: Any) -> None:
    rows = normal_rows()
    truth = oracle(rows.tolist())
    store, column = opened(rows, kind)
    expect_windows(column, EXPECTED)
    assert store.runs == 0
    for request in EXPECTED:
        (window,) = column.order_windows([request])
        truth.check(window, request)
        cuts = [float(window.raw_values[10]), math.nextafter(window.raw_values[-10], math.inf)]
        assert column.counts_below(cuts) == [truth.count_below(cut) for cut in cuts]
    assert store.runs == 1


def test_windows_that_are_asked_first_are_collected_by_the_first_pass(oracle: Any) -> None:
    rows = normal_rows()
    store, column = opened(rows)
    for window, request in zip(column.order_windows(EXPECTED), EXPECTED, strict=True):
        oracle(rows.tolist()).check(window, request)
    assert store.runs == 1


@pytest.mark.parametrize("order", list(ORDERS))
def test_rows_in_a_bad_order_cost_a_second_pass_for_all_expected_windows(order: str, oracle: Any) -> None:
    rows = ORDERS[order](normal_rows())
    truth = oracle(rows.tolist())
    store, column = opened(rows)
    expect_windows(column, EXPECTED)
    for request in EXPECTED:
        truth.check(column.order_windows([request])[0], request)
    assert store.runs == 2


def test_extremes_are_collected_whatever_the_order_of_the_rows(oracle: Any) -> None:
    for order in ORDERS.values():
        rows = order(normal_rows())
        store, column = opened(rows)
        extremes = [EXPECTED[0], EXPECTED[-1]]
        for window, request in zip(column.order_windows(extremes), extremes, strict=True):
            oracle(rows.tolist()).check(window, request)
        assert store.runs == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_a_tie_is_known_to_be_all_of_its_decimal(dtype: str) -> None:
    rows = np.random.default_rng(3).integers(0, 4, LARGE).astype(dtype)
    store, column = opened(rows)
    (window,) = column.order_windows([WindowRequest(Fraction(3, 8), 60)])
    assert window.raw_values.tolist() == [1]
    cuts = [lowest_value_at(ordinal, rows.dtype) for ordinal in (ordinal_of(1), ordinal_of(1) + 1)]
    assert column.counts_below(cuts) == ArrayColumn([rows]).counts_below(cuts)
    assert store.runs == 1


def test_a_row_close_to_a_tie_is_counted() -> None:
    rows = np.random.default_rng(3).integers(0, 4, LARGE).astype(np.float64)
    for place in (100, LARGE - 100):
        rows[place] = math.nextafter(1.0, 2.0)
        rows[place + 1] = math.nextafter(1.0, 0.0)
        _, column = opened(rows)
        column.order_windows([WindowRequest(Fraction(3, 8), 60)])
        cuts = [lowest_value_at(ordinal, rows.dtype) for ordinal in (ordinal_of(1), ordinal_of(1) + 1)]
        assert column.counts_below(cuts) == ArrayColumn([rows]).counts_below(cuts)


def test_what_the_first_pass_holds_is_bounded() -> None:
    room = Room(3000, 3000, around=4 << 12)
    rows = normal_rows()
    for shown in (rows, *(order(rows) for order in ORDERS.values())):
        collector = Survey(room, EXPECTED[1:])
        for batch in np.array_split(shown, 40):
            collector.take(Numbers(batch), batch.size)
            assert all(bracket.collected <= 1 << 12 for bracket in collector.raw_brackets)
        assert collector.sample.present == LARGE
    assert Survey(room, [WindowRequest(Fraction(1, 2), 1 << 14)]).fresh().raw_brackets == []


few_floats = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 3.0 + 2**-51, math.inf, -math.inf, 5e-324, 1.7e308])
any_rows = st.one_of(
    st.lists(few_floats, max_size=150).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(width=32, allow_nan=False), max_size=150).map(lambda rows: np.array(rows, dtype=np.float32)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=150).map(lambda rows: np.array(rows, dtype=np.int64)),
    st.lists(st.sampled_from([0, 1, 2, 254, 255]), max_size=150).map(lambda rows: np.array(rows, dtype=np.uint8)),
)
windows = st.lists(st.builds(WindowRequest, st.fractions(0, 1, max_denominator=40), st.integers(0, 20)), max_size=4)


@settings(max_examples=400)
@given(
    rows=any_rows,
    expected=windows,
    asked=windows,
    cuts=st.lists(st.integers(0, 150), max_size=6),
    kind=st.sampled_from(list(STORES)),
    room=st.integers(1, 40),
    slack=st.floats(0, 5),
    few=st.integers(0, 12),
)
def test_whatever_is_expected_answers_are_exact(
    oracle: Any,
    rows: NDArray[Any],
    expected: list[WindowRequest],
    asked: list[WindowRequest],
    cuts: list[int],
    kind: str,
    room: int,
    slack: float,
    few: int,
) -> None:
    truth = oracle(rows.tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LARGEST_BLOCK", 8)
        patch.setattr(passes, "EXPECTED_SHARE", 2.0)
        patch.setattr(survey, "SLACK", slack)
        patch.setattr(survey, "FEW_ROWS", few)
        patch.setattr(passes, "STREAMED", Room(room, room, around=1000))
        patch.setattr(passes, "REMOTE", Room(room, 2 * room, around=1000))
        store = STORES[kind]({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, cuts)
        column = open_column(store, TableView(store.columns), "x", True)
        expect_windows(column, expected)
        values = sorted(set(rows.tolist()))
        near = [cut for value in values if math.isfinite(value) for cut in (value, value * (1 + 1e-15), value * (1 - 1e-15))]
        assert column.counts_below(near) == [truth.count_below(cut) for cut in near]
        for request in [*asked, *expected]:
            truth.check(column.order_windows([request])[0], request)
        assert column.counts_below(near) == [truth.count_below(cut) for cut in near]
        assert (column.count(), column.stored(), column.dtype) == (len(truth.ordered), rows.size, rows.dtype)


@pytest.mark.parametrize("kind", list(STORES))
def test_a_median_with_its_interval_takes_one_pass_and_a_mean_three(kind: str) -> None:
    rows = np.random.default_rng(9).lognormal(10, 1, LARGE)
    rng = seeded(5)
    store, column = opened(rows, kind)
    draw_bounded(column, Fraction(1, 2), Fraction(1), Neighbors.ADD_REMOVE, 0.95, rng)
    assert store.runs == 1
    store, column = opened(rows, kind)
    clipped_for(column, Fraction(1), rng, 2, 0.0)
    assert store.runs <= 3  # limits, rows in shells, cells
    store, column = opened(rows, kind)
    draw_several_bounded(column, [Fraction(place, 4) for place in (1, 2, 3)], Fraction(1), Neighbors.ADD_REMOVE, 0.95, rng)
    assert store.runs <= 2


class CountedStore(CellStore):
    """A store that knows how many rows it has."""

    def expected_rows(self) -> int:
        return len(self._table["x"])


@dataclass(frozen=True)
class Guess:
    """Clips that do not depend on rows."""

    guessed: tuple[Clip, ...]
    degree: int

    def clips(self, raw_some: NDArray[Any], raw_rows: int, units: int) -> tuple[Clip, ...]:
        assert units == 2
        assert 0 < raw_some.size <= raw_rows
        return self.guessed


some_clips = st.builds(
    Clip,
    st.integers(-40, 20),
    st.integers(1, 80),
    st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(2), Fraction(1, 2**60)]),
)


@settings(max_examples=400)
@given(
    rows=any_rows,
    beyond=st.integers(0, 12),
    guessed=st.lists(some_clips, max_size=3),
    degrees=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    wanted=st.lists(some_clips, min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, 150), max_size=6),
    room=st.integers(1, 40),
    few=st.integers(0, 12),
)
def test_whatever_clip_is_guessed_power_sums_are_exact(
    rows: NDArray[Any],
    beyond: int,
    guessed: list[Clip],
    degrees: tuple[int, int],
    wanted: list[Clip],
    cuts: list[int],
    room: int,
    few: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LARGEST_BLOCK", 8)
        patch.setattr(survey, "FEW_ROWS", few)
        patch.setattr(passes, "STREAMED", Room(room, room, around=1000))
        store = CountedStore({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, cuts)
        column = open_column(store, TableView(store.columns), "x", True)
        expect_windows(column, [WindowRequest(Fraction(0), beyond), WindowRequest(Fraction(1), beyond)])
        expect_power_sums(column, Guess(tuple(guessed), degrees[0]))
        for clip in [*wanted, *guessed]:
            assert column.power_sums(clip, degrees[1]) == ArrayColumn([rows]).power_sums(clip, degrees[1])


def test_power_sums_in_a_clip_of_the_unit_that_was_guessed_cost_no_pass_of_their_own() -> None:
    rows = normal_rows()
    truth = ArrayColumn([rows])
    store = CountedStore({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, range(0, LARGE, 9000))
    column = open_column(store, TableView(store.columns), "x", True)
    expect_windows(column, [EXPECTED[0], EXPECTED[-1]])
    unit = Fraction(1, 1 << 20)
    expect_power_sums(column, Guess((Clip(-(8 << 20), 16 << 20, unit),), 3))
    for low, high in ((-4, 4), (-6, 5), (-5, 7)):
        clip = Clip(low << 20, (high - low) << 20, unit)
        assert column.power_sums(clip, 3) == truth.power_sums(clip, 3)
        assert column.power_sums(clip, 1) == truth.power_sums(clip, 1)
    assert store.runs == 1
    narrow = Clip(-(1 << 20), 2 << 20, unit)
    assert column.power_sums(narrow, 2) == truth.power_sums(narrow, 2)
    assert store.runs == 2


def test_power_sums_are_exact_where_a_later_pass_counted_the_ties_of_a_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "UNCOUNTED_ROWS", 500)
    rows = np.random.default_rng(8).integers(-9, 10, LARGE).astype(np.float64)
    store = CountedStore({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, range(0, LARGE, 9000))
    column = open_column(store, TableView(store.columns), "x", True)
    expect_power_sums(column, Guess((Clip(-20, 40, Fraction(1)),), 4))
    column.power_sums(Clip(-2, 4, Fraction(2)), 1)  # the first pass, which expects no window
    column.order_windows([WindowRequest(Fraction(0), 30_000), WindowRequest(Fraction(1), 30_000)])
    clip = Clip(-6, 12, Fraction(1))
    assert column.power_sums(clip, 4) == ArrayColumn([rows]).power_sums(clip, 4)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_tail_of_nothing_but_the_largest_number_has_the_type_of_the_column(dtype: str) -> None:
    bracket = Bracket.whole(np.dtype(dtype))
    highest = np.iinfo(dtype).max if dtype == "int64" else np.inf
    rows = np.array([highest], dtype=dtype)
    bracket.scan(rows, *np.empty((2, 1), dtype=np.bool_))
    tail = bracket.tail(upward=True)
    assert tail is not None
    assert tail[1].dtype == rows.dtype
    assert tail[1].tolist() == rows.tolist()


def test_rows_of_several_places_stay_together_when_a_batch_without_rows_follows() -> None:
    rows = [np.arange(10.0), np.arange(10.0, 20.0)]
    whole, *parts = (Survey(Room(12, 100, around=100), [WindowRequest(Fraction(1, 2), 1)]) for _ in range(3))
    for part, held in zip(parts, rows, strict=True):
        part.take(Numbers(held), held.size)
        whole.absorb(part)
    whole.take(Numbers(np.empty(0)), 0)
    assert whole.sample.halvings == 0
    assert sorted(np.concatenate(whole.sample.chunks(np.dtype(np.float64)))) == list(range(20))


def test_a_mean_of_rows_in_random_order_takes_two_passes_where_their_number_is_known_beforehand() -> None:
    for rows in (
        normal_rows(),
        np.random.default_rng(9).lognormal(10, 1, LARGE),
        np.random.default_rng(4).exponential(size=LARGE),
    ):
        store = CountedStore({"x": Numbers(rows)}, {"x": ColumnType.NUMBER}, range(0, LARGE, 9000))
        column = open_column(store, TableView(store.columns), "x", True)
        clipped_for(column, Fraction(1), seeded(1), 2, 0.0)
        assert store.runs <= 2, "counts around the cut, beyond it and in outer cells are made together"


def test_a_clip_is_guessed_from_any_rows(ugly: Any) -> None:
    raw_rows = ArrayColumn([np.array(ugly.oracle.ordered, dtype=np.float64)])
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(50)):
        for rows in (1, 10**4, 10**9):
            for clip in LikelyClip(epsilon, 0.0, 2).clips(np.array(ugly.oracle.ordered, dtype=np.float64), rows, 6):
                raw_rows.power_sums(clip, 2)  # complains where float64 would not hold it
