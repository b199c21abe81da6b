"""Columns by passes give exactly what arrays in memory give, in as few passes as promised."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import Cells, ColumnType, Numbers
from dpstats.engines.exact import blocks, thinned
from dpstats.engines.exact.thinned import Room
from dpstats.engines.passes import collectors
from dpstats.engines.passes import columns as passes
from dpstats.engines.passes.columns import PassColumn, open_column
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import source_or_system
from dpstats.foundations.summaries import Clip, Column, WindowRequest
from tests.engines.cell_stores import CellStore, Computed, FarStore, moments, numbers, opaque, texts

NUMBER = ColumnType.NUMBER
REQUESTS = [
    [WindowRequest(Fraction(1, 2), 30)],
    [WindowRequest(Fraction(1, 4), 100), WindowRequest(Fraction(3, 4), 100), WindowRequest(Fraction(1, 3), 1)],
    [WindowRequest(Fraction(0), 3), WindowRequest(Fraction(1), 3)],
    [WindowRequest(Fraction(0), 0), WindowRequest(Fraction(1, 2), 0), WindowRequest(Fraction(1), 0)],
    [WindowRequest(Fraction(99, 100), 2000), WindowRequest(Fraction(1, 1000), 5)],
    [WindowRequest(Fraction(1, 2), 10**9)],
]
CUTS = [0, 0.5, 1, 7.25, 50.0, 2**53 + 1, 2**53 + 1.5e4, -math.inf, math.inf, math.nan, 10**400, -(10**400), 2**64, -(2**64)]
MEDIAN = WindowRequest(Fraction(1, 2), 50)
CLIP = Clip(-(2**20), 2**26, Fraction(1, 1024))
QUARTILES = [WindowRequest(Fraction(1, 4), 50), WindowRequest(Fraction(3, 4), 50)]
LARGE = 60_000
STORES: dict[str, Callable[..., CellStore]] = {
    "streamed": CellStore,
    "far": FarStore,
    "in memory": lambda *rest: CellStore(*rest, in_memory=True),
}

_cells: dict[str, Cells] = {}


@pytest.fixture(autouse=True)
def _repeatable_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins decide no result; repeating them makes a failure repeat."""
    monkeypatch.setattr(thinned, "urandom", random.Random(11).randbytes)


@pytest.fixture(params=list(STORES))
def store_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of store, with samples small enough that columns have to be passed over."""
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    monkeypatch.setattr(passes, "REMOTE", Room(400, 3000))
    return str(request.param)


def cells_of(ugly: Any) -> Cells:
    """The cells of an ugly column, made once."""
    if ugly.name not in _cells:
        _cells[ugly.name] = numbers(
            [float(row) if ugly.type == "decimal" and row is not None else row for row in ugly.rows], ugly.type
        )
    return _cells[ugly.name]


def opened(kind: str, cells: Cells, cuts: Sequence[int] = ()) -> tuple[CellStore, Column]:
    store = STORES[kind]({"x": cells}, {"x": NUMBER}, cuts)
    return store, open_column(store, TableView({"x": NUMBER}), "x", True)


def some_cuts(rows: int) -> list[int]:
    chance = random.Random(rows)
    return [chance.randrange(rows) for _ in range(12)] if rows else []


def in_memory(cells: Cells) -> ArrayColumn:
    """The same rows as an array."""
    assert isinstance(cells, Numbers)
    kept = cells.raw_values if cells.raw_present is None else cells.raw_values[cells.raw_present]
    return ArrayColumn([kept], len(cells))


def test_windows_are_those_of_the_sorted_list(ugly: Any, store_kind: str) -> None:
    cells = cells_of(ugly)
    for requests in REQUESTS:
        _, column = opened(store_kind, cells, some_cuts(len(cells)))
        for window, request in zip(column.order_windows(requests), requests, strict=True):
            ugly.oracle.check(window, request)
            assert window.raw_values.dtype == column.dtype == in_memory(cells).dtype


def test_everything_else_is_what_an_array_says(ugly: Any, store_kind: str) -> None:
    cells = cells_of(ugly)
    truth = in_memory(cells)
    _, column = opened(store_kind, cells, some_cuts(len(cells)))
    ordered = ugly.oracle.ordered or [0.0]
    bounds = ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]
    assert column.sum_between(*bounds, Fraction(1, 1024)) == truth.sum_between(*bounds, Fraction(1, 1024))
    assert column.power_sums(CLIP, 4) == truth.power_sums(CLIP, 4)
    cuts = [*CUTS, *ordered[:: max(1, len(ordered) // 5)]]
    assert column.counts_below(cuts) == [ugly.oracle.count_below(cut) for cut in cuts]
    column.order_windows(QUARTILES)  # what brackets tell about cuts must be the same
    assert column.counts_below(cuts) == [ugly.oracle.count_below(cut) for cut in cuts]
    assert (column.count(), column.stored()) == (truth.count(), truth.stored()) == (len(ugly.oracle.ordered), len(ugly.rows))
    assert repr(column.most_common(5)) == repr(truth.most_common(5))
    for found, expected in zip(column.tally(), truth.tally(), strict=True):
        assert (repr(found.tolist()), found.dtype) == (repr(expected.tolist()), expected.dtype)
    assert column.counts_below(cuts) == [ugly.oracle.count_below(cut) for cut in cuts]
    for requests in REQUESTS:
        for window, request in zip(column.order_windows(requests), requests, strict=True):
            ugly.oracle.check(window, request)


def normal_cells(rows: int = LARGE) -> Numbers:
    return Numbers(np.random.default_rng(5).normal(size=rows))


@pytest.mark.parametrize("kind", ["streamed", "far"])
def test_a_median_and_quartiles_cost_two_passes_each_and_three_together(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    monkeypatch.setattr(passes, "REMOTE", Room(800, 3000))
    cells = normal_cells()
    for requests in ([MEDIAN], QUARTILES):
        store, column = opened(kind, cells, range(0, LARGE, 9000))
        column.order_windows(requests)
        assert store.runs == 2
        assert column.order_windows(requests)[0].raw_rows == column.count() == column.stored() == LARGE
        assert store.runs == 2
    column.order_windows([MEDIAN])
    assert store.runs == 3
    column.sum_between(-1, 1, Fraction(1))
    assert store.runs == 4


def test_frequent_numbers_are_counted_without_holding_all_others(store_kind: str) -> None:
    chance = np.random.default_rng(6)
    rows = np.concatenate([chance.normal(size=9000), np.repeat([0.0, -0.0, 2.5, 7.0], [12, 13, 24, 30])])
    _, column = opened(store_kind, Numbers(chance.permutation(rows)), range(0, rows.size, 2000))
    runs = column.tally(25)
    assert list(zip(runs.raw_values.tolist(), runs.raw_counts.tolist(), strict=True)) == [(0.0, 25), (7.0, 30)]


def test_power_sums_of_all_degrees_cost_one_pass_beside_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    store, column = opened("streamed", normal_cells(), range(0, LARGE, 9000))
    column.power_sums(CLIP, 4)
    assert store.runs == 2
    column.power_sums(CLIP, 1)
    assert store.runs == 3


def test_cuts_within_what_was_collected_cost_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    cells = normal_cells()
    truth = in_memory(cells)
    store, column = opened("streamed", cells)
    (window,) = column.order_windows([MEDIAN])
    edges = [float(window.raw_values[0]), float(window.raw_values[-1]), math.nextafter(window.raw_values[-1], math.inf)]
    assert column.counts_below(edges) == truth.counts_below(edges)
    assert column.counts_below([math.inf, -math.inf, 10**400])[2] == LARGE
    passes_so_far = store.runs
    assert column.order_windows([WindowRequest(Fraction(1, 2), 10)])[0].raw_rows == LARGE
    assert column.counts_below([math.inf, 10**400, *edges]) == [LARGE, LARGE, *truth.counts_below(edges)]
    assert store.runs == passes_so_far <= 3
    assert column.counts_below([2.5, -2.5]) == truth.counts_below([2.5, -2.5])
    assert column.counts_below([2.5]) == truth.counts_below([2.5])
    assert store.runs == passes_so_far + 1


def test_a_small_column_costs_one_pass_for_everything() -> None:
    store, column = opened("streamed", normal_cells(5000), [100, 4000])
    assert store.runs == 0
    column.order_windows(QUARTILES)
    column.counts_below([0.0])
    column.sum_between(-1, 1, Fraction(1))
    column.most_common(3)
    assert (column.count(), column.stored(), column.dtype) == (5000, 5000, np.dtype(np.float64))
    assert store.runs == 1


def test_a_column_in_memory_is_held_and_not_copied() -> None:
    cells = normal_cells()
    store, column = opened("in memory", cells, [30_000])
    column.sum_between(-1, 1, Fraction(1))
    column.order_windows([MEDIAN])
    assert store.runs == 1
    assert isinstance(column, PassColumn)
    held = column._sample().chunks(np.dtype(np.float64))
    assert [chunk.size for chunk in held] == [30_000, 30_000]
    assert all(np.shares_memory(chunk, cells.raw_values) for chunk in held)


def test_opening_a_column_reads_nothing() -> None:
    for kind in STORES:
        store, _ = opened(kind, normal_cells(10))
        assert store.runs == 0


@pytest.mark.parametrize("misses", [1, 2])
def test_a_sample_that_misses_costs_passes_and_changes_nothing(monkeypatch: pytest.MonkeyPatch, oracle: Any, misses: int) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    if misses == 2:
        monkeypatch.setattr(passes, "SLACKS", (0.0, 0.0))
    else:
        monkeypatch.setattr(passes, "SLACKS", (0.0, 20.0))
    cells = Numbers(np.arange(LARGE, dtype=np.int64))
    store, column = opened("streamed", cells, [500])
    assert isinstance(column, PassColumn)
    raw_sample = column._sample()
    raw_sample._raw_pieces = [rows[rows < LARGE - 4000 * misses] for rows in raw_sample._raw_pieces]
    (window,) = column.order_windows([WindowRequest(Fraction(1, 2), 5)])
    oracle(cells.raw_values.tolist()).check(window, WindowRequest(Fraction(1, 2), 5))
    assert store.runs == 2 + misses
    column.counts_below([17])
    assert store.runs == 2 + misses + (misses == 1)


def test_a_request_for_most_of_the_column_is_answered_by_a_tally(monkeypatch: pytest.MonkeyPatch, oracle: Any) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    cells = normal_cells()
    store, column = opened("streamed", cells)
    request = WindowRequest(Fraction(1, 2), LARGE)
    (window,) = column.order_windows([request])
    oracle(cells.raw_values.tolist()).check(window, request)
    assert store.runs == 2
    assert column.counts_below([0.0]) == in_memory(cells).counts_below([0.0])
    assert store.runs == 2


def test_old_brackets_are_given_up_and_asked_for_again(monkeypatch: pytest.MonkeyPatch, oracle: Any) -> None:
    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    monkeypatch.setattr(passes, "KEPT_ROWS", 100)
    cells = normal_cells()
    store, column = opened("streamed", cells)
    for _ in range(2):
        (window,) = column.order_windows([MEDIAN])
        oracle(cells.raw_values.tolist()).check(window, MEDIAN)
    assert store.runs == 3


few_floats = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, math.inf, -math.inf, math.nan, 5e-324])
any_rows = st.one_of(
    st.lists(few_floats, max_size=120).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(width=32), max_size=120).map(lambda rows: np.array(rows, dtype=np.float32)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=120).map(lambda rows: np.array(rows, dtype=np.int64)),
    st.lists(st.integers(0, 9), max_size=120).map(lambda rows: np.array(rows, dtype=np.uint8)),
)
questions = st.lists(
    st.one_of(
        st.lists(st.builds(WindowRequest, st.fractions(0, 1, max_denominator=40), st.integers(0, 30)), min_size=1, max_size=4),
        st.lists(st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.sampled_from([0, 1, 2])), max_size=6).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=400)
@given(
    rows=any_rows,
    asked=questions,
    cuts=st.lists(st.integers(0, 120), max_size=6),
    kind=st.sampled_from(["streamed", "far"]),
    room=st.integers(1, 60),
    slack=st.floats(0, 5),
)
def test_any_sequence_of_questions_is_answered_exactly(
    oracle: Any, rows: NDArray[Any], asked: list[Any], cuts: list[int], kind: str, room: int, slack: float
) -> None:
    truth = oracle(rows.tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LARGEST_BLOCK", 8)
        patch.setattr(passes, "UNCOUNTED_ROWS", 4)
        patch.setattr(passes, "LARGEST_SHARE", 100.0)
        patch.setattr(passes, "SLACKS", (slack, 2 * slack))
        patch.setattr(collectors, "TALLY_LIMIT", 8)
        patch.setattr(collectors, "SCANNED_CUTS", 2)
        patch.setattr(passes, "STREAMED", Room(room, room))
        patch.setattr(passes, "REMOTE", Room(room, 2 * room))
        present = rows == rows
        _, column = opened(kind, Numbers(rows, None if present.all() else present), cuts)
        for question in asked:
            if isinstance(question, tuple):
                assert column.counts_below(question) == [truth.count_below(cut) for cut in question]
            else:
                for window, request in zip(column.order_windows(question), question, strict=True):
                    truth.check(window, request)
        assert (column.count(), column.stored(), column.dtype) == (len(truth.ordered), rows.size, rows.dtype)
        assert repr(column.most_common(4)) == repr(ArrayColumn([rows]).most_common(4))
        assert column.power_sums(CLIP, 3) == ArrayColumn([rows]).power_sums(CLIP, 3)
        for found, expected in zip(column.tally(), ArrayColumn([rows]).tally(), strict=True):
            assert repr(found.tolist()) == repr(expected.tolist())


def is_even(cells: Numbers) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = cells.raw_values % 2 == 0
    return mask


def halved(cells: Numbers) -> Numbers:
    return Numbers(cells.raw_values / 2)


@pytest.mark.parametrize("kind", list(STORES))
def test_filtered_and_derived_columns_are_those_of_the_kept_rows(kind: str, oracle: Any) -> None:
    store = STORES[kind](
        {"x": numbers(range(101), "int64"), "y": numbers([None] * 101)}, {"x": ColumnType.INTEGER, "y": NUMBER}, [7]
    )
    even = Computed((("x", NUMBER),), is_even, ColumnType.BOOLEAN)
    view = TableView(store.columns, {"half": Computed((("x", NUMBER),), halved)}, (even,))
    column = open_column(store, view, "half", True)
    request = WindowRequest(Fraction(1, 2), 100)
    oracle([row / 2 for row in range(0, 101, 2)]).check(column.order_windows([request])[0], request)
    assert store.last_columns == ["x"]
    missing = open_column(store, view, "y", True)
    assert (missing.count(), missing.stored(), missing.dtype) == (0, 51, np.dtype(np.float64))


@pytest.mark.parametrize(("declared", "dtype"), [("NUMBER", "float64"), ("INTEGER", "int64"), ("BOOLEAN", "uint8")])
def test_a_store_without_any_batch_has_an_empty_column_of_the_declared_type(declared: str, dtype: str) -> None:
    class NoBatches(CellStore):
        def batches(self, columns: Sequence[str]) -> Any:
            return iter(())

    store = NoBatches({"x": numbers([])}, {"x": ColumnType[declared]})
    column = open_column(store, TableView(store.columns), "x", True)
    assert (column.dtype, column.count(), column.stored()) == (np.dtype(dtype), 0, 0)
    assert column.order_windows([MEDIAN])[0].raw_values.dtype == dtype
    assert column.counts_below([1]) == [0]
    assert column.sum_between(0, 1, Fraction(1)) == 0
    assert column.most_common(1) == []


DAYS = ["2024-02-29", None, "1969-12-31", "2024-02-29"]
LABELLED: dict[str, tuple[ColumnType, Cells, list[Any], int]] = {
    "texts": (ColumnType.TEXT, texts(["b", "a", None, "b", "ä", "a"]), [("a", 2), ("b", 2), ("ä", 1)], 5),
    "days": (ColumnType.MOMENT, moments(DAYS, "D"), [("2024-02-29", 2), ("1969-12-31", 1)], 3),
    "times": (ColumnType.MOMENT, moments(DAYS), [("2024-02-29", 2), ("1969-12-31", 1)], 3),
    "zoned": (
        ColumnType.MOMENT,
        moments(DAYS, "ns", zoned=True),
        [("2024-02-29T00:00:00+00:00", 2), ("1969-12-31T00:00:00+00:00", 1)],
        3,
    ),
    "numbers": (NUMBER, numbers([7.0, -0.0, 0.0, None, 7.5, 7.5, 7.5]), [(7.5, 3), (0, 2), (7, 1)], 6),
    "float32": (NUMBER, numbers([12.99, 12.99, None], "float32"), [(12.99, 2)], 2),
    "wide": (ColumnType.INTEGER, numbers([2**60, 2**60 + 1, 5], "int64"), [(1.15292150460685e18, 2), (5, 1)], 3),
    "no rows": (ColumnType.TEXT, texts([]), [], 0),
    "no days": (ColumnType.MOMENT, moments([], "D"), [], 0),
}


@pytest.mark.parametrize("kind", list(STORES))
@pytest.mark.parametrize("name", list(LABELLED))
def test_labels_have_their_canonical_form_and_order(kind: str, name: str) -> None:
    declared, cells, expected, present = LABELLED[name]
    store = STORES[kind]({"x": cells}, {"x": declared}, [1, 3])
    column = open_column(store, TableView(store.columns), "x", False)
    assert repr(column.most_common(10)) == repr(expected)
    assert column.most_common(1) == expected[:1]
    assert (column.count(), column.stored(), column.dtype) == (present, len(cells), None)
    assert store.runs == 1


@pytest.mark.parametrize("kind", ["streamed", "far"])
def test_undeclared_labels_are_numbers_where_they_are_numbers(kind: str) -> None:
    rows = {"x": numbers([7, None, 7, None, None])}
    makers = {"streamed": CellStore, "far": FarStore}
    store = makers[kind](rows, {"x": ColumnType.UNDECLARED}, [2], texts={"x": texts(["7", "x", "7.0", None, "7 m"])})
    column = open_column(store, TableView(store.columns), "x", False)
    assert column.most_common(9) == [(7, 2), ("7 m", 1), ("x", 1)]
    assert (column.count(), column.stored()) == (4, 5)
    assert open_column(store, TableView(store.columns), "x", True).count() == 2


def test_the_number_of_rows_is_counted_without_reading_the_column() -> None:
    store = CellStore({"x": texts(["a", None])}, {"x": ColumnType.TEXT})
    column = open_column(store, TableView(store.columns), "x", False)
    assert (column.stored(), store.last_columns) == (2, [])
    assert (column.count(), store.last_columns) == (1, ["x"])


def test_columns_are_refused_by_their_declared_type_and_nothing_is_read() -> None:
    table: dict[str, Cells] = {"text": texts(["a"]), "day": moments(DAYS[:1], "D"), "other": opaque([1]), "x": numbers([1])}
    declared = {"text": ColumnType.TEXT, "day": ColumnType.MOMENT, "other": ColumnType.OTHER, "x": NUMBER}
    store = CellStore(table, declared)
    view = TableView(declared)
    for name, words in (("text", "got one of text"), ("day", "got one of dates"), ("other", "got one of another type")):
        with pytest.raises(DataTypeError, match=words):
            open_column(store, view, name, True)
    with pytest.raises(DataTypeError, match="numbers, text, dates or categories"):
        open_column(store, view, "other", False).most_common(1)
    with pytest.raises(DataTypeError, match="numeric=True"):
        open_column(store, view, "text", False).order_windows([MEDIAN])
    with pytest.raises(UnknownNameError):
        open_column(store, view, "wage", True)
    with pytest.raises(InvalidParameterError, match="power of two"):
        open_column(store, view, "x", True).sum_between(0, 1, Fraction(1, 3))
    assert store.runs == 0
    assert open_column(store, view, "other", False).count() == 1


def test_the_universal_quantiles_need_one_pass_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpstats.foundations.privacy import Neighbors
    from dpstats.statistics.universal.many import draw_quantiles

    monkeypatch.setattr(passes, "STREAMED", Room(3000, 3000))
    store, column = opened("streamed", Numbers(np.round(normal_cells().raw_values, 3)))
    quantiles = [Fraction(place, 8) for place in range(1, 8)]
    drawn = draw_quantiles(column, quantiles, Fraction(3), Neighbors.ADD_REMOVE, source_or_system(None))
    assert len(drawn) == 7
    assert store.runs <= 1 + 3 + 2
