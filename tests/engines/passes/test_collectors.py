"""Collectors: what they gather depends on the rows alone, however these are ordered, cut and spread over places."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import Cells, Labels, Numbers
from dpstats.engines.exact import thinned
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.samples import Sample
from dpstats.engines.exact.thinned import Room, ThinnedSample
from dpstats.engines.passes import collectors
from dpstats.engines.passes.collectors import (
    BracketScan,
    Collector,
    CutCount,
    LabelTally,
    NumberTally,
    RowCount,
    StoredCount,
    SumBetween,
)
from tests.engines.cell_stores import moments, texts


@pytest.fixture(autouse=True)
def _repeatable_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinned, "urandom", random.Random(17).randbytes)


def a_bracket_scan(edges: list[tuple[int, int]], rows: tuple[int, ...] = tuple(range(10))) -> BracketScan:
    sample = Sample.of_rows(np.array(rows, dtype=np.float64), 100)
    return BracketScan(Bracket(sample, ranks, Pile(3)) for ranks in edges)


def seen(collector: Any) -> Any:
    """What a collector found, in a form that compares."""
    if isinstance(collector, BracketScan):
        ranks = [(first, last) for first in range(1, 20, 3) for last in range(first, 21, 2)]
        windows = [bracket.window(pair, 20) for bracket in collector.brackets for pair in ranks]
        told = [[bracket.count_below(value, 20) for value in (-1.0, 0.0, 2.0, 2.5, 5.0, 99.0)] for bracket in collector.brackets]
        return [None if w is None else (w.raw_below, w.raw_values.tolist(), w.raw_counts.tolist()) for w in windows], told
    if isinstance(collector, NumberTally):
        runs = collector.runs()
        return repr(runs.values.tolist()), runs.counts.tolist()
    if isinstance(collector, LabelTally):
        return collector.most_common(100), collector.rows.stored, collector.rows.present
    if isinstance(collector, CutCount):
        return collector.below.tolist()
    if isinstance(collector, SumBetween):
        return collector.total
    return {name: value for name, value in vars(collector).items() if name in ("stored", "present")}


NUMERIC: dict[str, Callable[[], Collector]] = {
    "rows": RowCount,
    "stored": StoredCount,
    "sample": lambda: ThinnedSample(Room(7, 9)),
    "brackets": lambda: a_bracket_scan([(-1, 4), (2, 2), (0, 10), (3, 5)]),
    "brackets at ties": lambda: a_bracket_scan([(0, 3), (2, 5), (5, 7), (-1, 2)], (0, 0, 2, 2, 2, 3, 3, 7, 7, 9)),
    "few cuts": lambda: CutCount(np.array([0.0, 2.0])),
    "many cuts": lambda: CutCount(np.linspace(-1, 9, 60)),
    "sum": lambda: SumBetween(0.5, 8, Fraction(1, 8)),
    "numbers": NumberTally,
    "labels": LabelTally,
}


@pytest.mark.parametrize("name", list(NUMERIC))
@settings(max_examples=60)
@given(
    rows=st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 7.0, 9.0]), min_size=20, max_size=20),
    cuts=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    seed=st.integers(0, 9),
)
def test_what_is_gathered_does_not_depend_on_order_batches_or_places(
    name: str, rows: list[float], cuts: tuple[int, int], seed: int
) -> None:
    values = np.array(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collectors, "TALLY_LIMIT", 4)
        asked = NUMERIC[name]()
        at_once = asked.fresh()
        at_once.take(Numbers(values), 25)
        shuffled = np.random.default_rng(seed).permutation(values)
        whole = asked.fresh()
        for piece, stored in zip(np.split(shuffled, sorted(cuts)), (0, 20, 5), strict=True):
            part = pickle.loads(pickle.dumps(asked)).fresh()
            for batch in np.array_split(piece, 2):
                part.take(Numbers(batch), 0)
            part.take(Numbers(piece[:0]), stored)
            whole.absorb(pickle.loads(pickle.dumps(part)))
        whole.absorb(asked.fresh())
    assert seen(whole) == seen(at_once)
    assert seen(asked.fresh()) == seen(NUMERIC[name]())


def test_brackets_tell_the_rows_below_a_value_or_that_they_do_not_know() -> None:
    rows = np.random.default_rng(4).integers(0, 12, 200).astype(np.float64)
    told = 0
    for edges in [(start, end) for start in range(-1, 10) for end in range(max(start, 0), 11)]:
        (bracket,) = a_bracket_scan([edges]).brackets
        scan = BracketScan([bracket])
        scan.take(Numbers(rows), rows.size)
        for value in np.arange(-1, 13, 0.5):
            below = bracket.count_below(value, rows.size)
            inside = (edges[0] < 0 or value > edges[0]) and (edges[1] > 9 or value <= edges[1])
            assert below is not None or not inside
            if below is not None:
                told += 1
                assert below == np.count_nonzero(rows < value)
    assert told > 500


def test_a_collector_leaves_the_arrays_that_it_was_shown_alone() -> None:
    for make in NUMERIC.values():
        values = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 4.0])
        collector = make().fresh()
        collector.take(Numbers(values), 6)
        before = seen(collector)
        assert values.tolist() == [3.0, 1.0, 2.0, 2.0, 9.0, 4.0]
        values[:] = -5.0
        assert seen(collector) == before


def test_cuts_are_counted_alike_by_comparing_and_by_searching(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([-np.inf, -1.0, 0.0, -0.0, 2.0, 2.0, np.inf])
    edges = np.array([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf])
    for limit in (0, 100):
        monkeypatch.setattr(collectors, "SCANNED_CUTS", limit)
        count = CutCount(edges)
        count.take(Numbers(rows), 7)
        assert count.below.tolist() == [0, 1, 2, 4, 4, 6]


def test_texts_and_dates_are_tallied_together_by_their_text() -> None:
    tally = LabelTally()
    day = ["2024-01-01"]
    shown: list[Cells] = [texts(["a", "b", "a"]), moments(day, "D"), texts(list(day)), moments(day, "us")]
    for cells in shown:
        tally.take(cells, 2)
    assert tally.most_common(9) == [("2024-01-01", 3), ("a", 2), ("b", 1)]  # a day is a day, whatever type holds it
    assert (tally.rows.stored, tally.rows.present) == (8, 6)


def test_a_few_texts_out_of_many_labels_are_counted() -> None:
    labels = [f"label {place}" for place in range(1000)]
    tally = LabelTally()
    tally.take(Labels(np.array([999, 3, 999]), labels), 3)
    assert tally.most_common(5) == [("label 999", 2), ("label 3", 1)]


def held(sample: ThinnedSample) -> NDArray[Any]:
    return np.concatenate(sample.chunks(np.dtype(np.float64)))


def test_a_sample_with_enough_room_is_the_column() -> None:
    sample = ThinnedSample(Room(100, 100))
    for batch in (np.arange(60), np.arange(0), np.arange(40)):
        sample.take(Numbers(batch), batch.size + 1)
    assert (sample.halvings, sample.present, sample.stored, sample.dtype) == (0, 100, 103, np.dtype(np.int64))
    assert held(sample).tolist() == [*range(60), *range(40)]
    sample.take(Numbers(np.arange(1)), 1)
    assert (sample.halvings, sample.present) == (1, 101)
    assert sample.size < 101


def test_every_row_is_kept_with_the_same_chance_wherever_it_lies() -> None:
    rows, rounds = 4000, 200
    tally: Counter[int] = Counter()
    expected = 0.0
    for _ in range(rounds):
        parts = [ThinnedSample(Room(50, 400)) for _ in range(4)]
        for part, chunk in zip(parts, np.split(np.arange(rows), (100, 1000, 1700)), strict=True):
            for batch in np.array_split(chunk, 5):
                part.take(Numbers(batch), batch.size)
        whole = parts[0].fresh()
        for part in parts:
            whole.absorb(part)
        assert whole.present == rows
        assert np.unique(held(whole)).size == whole.size
        tally.update(held(whole).tolist())
        expected += 0.5**whole.halvings
    regions = [sum(tally[row] for row in range(start, start + 500)) for start in range(0, rows, 500)]
    for found in regions:
        assert abs(found - 500 * expected) < 5 * (500 * expected) ** 0.5


def test_samples_stay_within_their_room() -> None:
    sample = ThinnedSample(Room(1000, 1000))
    for _ in range(30):
        sample.take(Numbers(np.arange(50_000.0)), 50_000)
        assert 300 < sample.size < 1200
    assert (sample.present, sample.halvings) == (1_500_000, 11)


def test_no_two_samples_flip_the_same_coins() -> None:
    first = ThinnedSample(Room(100, 100))
    first.take(Numbers(np.arange(1000.0)), 1000)
    twin = pickle.loads(pickle.dumps(first))
    assert held(twin).tolist() == held(first).tolist()
    for sample in (first, twin):
        sample.take(Numbers(np.arange(5000.0)), 5000)
    assert held(twin).tolist() != held(first).tolist()


def test_a_tally_of_many_distinct_numbers_keeps_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collectors, "TALLY_LIMIT", 64)
    chance = np.random.default_rng(1)
    rows = np.concatenate([chance.integers(0, 40, 5000), chance.integers(0, 10**9, 5000), chance.integers(0, 40, 5000)])
    tally = NumberTally()
    for batch in np.array_split(rows, 37):
        tally.take(Numbers(batch), batch.size)
    values, counts = np.unique(rows, return_counts=True)
    assert tally.runs().values.tolist() == values.tolist()
    assert tally.runs().counts.tolist() == counts.tolist()
    labels = LabelTally()
    labels.take(Numbers(rows), rows.size)
    assert labels.most_common(5) == ArrayColumn([rows]).most_common(5)
