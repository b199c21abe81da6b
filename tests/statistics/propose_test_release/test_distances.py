"""Distances equal brute force on every small table, and one row moves them by at most 1."""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.statistics.propose_test_release.distances import (
    Rows,
    steps_to_another_mode,
    steps_to_jump,
    steps_to_leave_bin,
    steps_to_leave_range,
    steps_to_narrow,
    steps_to_sensitive,
    steps_to_sensitive_mean,
    steps_to_widen,
)
from dpstats.statistics.propose_test_release.ranks import BEYOND, interquantile_ranks, quantile_rank

Table = tuple[int, ...]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

FAR = 10**6
"""Stands for any magnitude in the enumerated tables."""
UNCAPPED = 40
SMALL = [(4, (0, 1, 2, 3, 5)), (5, (0, 1, 2, 4)), (6, (0, 1, 3, 7)), (7, (0, 2, 5)), (8, (0, 1, 3))]
EDGES = [(0, 1, 2, 4, 8), (0, 1, 3, 6), (0, 3, 5)]
"""Edges of bins for a range; the last bin has no end."""
FACTORS = [Fraction(1), Fraction(13, 10), Fraction(2), Fraction(7, 2), Fraction(10)]
QUANTILES = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]
PAIRS = [(Fraction(a, 20), Fraction(b, 20)) for a, b in [(5, 15), (2, 18), (6, 10), (1, 19)]]


def rows_of(table: Sequence[int]) -> Rows:
    ordered = sorted(table)
    return lambda rank: -BEYOND if rank < 1 else BEYOND if rank > len(ordered) else ordered[rank - 1]


def bin_of(value: int, edges: Sequence[int]) -> tuple[int, int]:
    """The bin [least, beyond) that holds a value."""
    index = bisect_right(edges, value)
    return edges[index - 1], edges[index] if index < len(edges) else 4 * BEYOND


def spread(rows: Rows, low: int, high: int) -> int:
    return rows(high) - rows(low)


# Brute force: every table of one size over a few values and +-FAR.


class Tables:
    """Every table of one size, with the changes from each to each. Tables without +-FAR are the sources."""

    def __init__(self, size: int, values: Sequence[int]) -> None:
        self.size = size
        self.rows: Integers = np.array(list(itertools.combinations_with_replacement([-FAR, *values, FAR], size)))
        counts = np.stack([(self.rows == value).sum(axis=1) for value in [-FAR, *values, FAR]], axis=1)
        self.changes: Integers = np.abs(counts[:, None, :] - counts[None, :, :]).sum(axis=2) // 2
        self.sources: Integers = np.flatnonzero((np.abs(self.rows) < FAR).all(axis=1))

    def at(self, rank: int) -> Integers:
        """The row of a rank in every table."""
        ends = np.full(len(self.rows), -FAR if rank < 1 else FAR)
        return self.rows[:, rank - 1] if 1 <= rank <= self.size else ends

    def nearest(self, wanted: Flags) -> list[int]:
        """For every source the changes to the nearest wanted table."""
        return [int(distance) for distance in self.changes[np.ix_(self.sources, wanted)].min(axis=1, initial=UNCAPPED)]

    def moved(self, statistic: Integers) -> tuple[Integers, Integers]:
        """The least and the most that one change can make of a statistic."""
        adjacent = self.changes <= 1
        least = np.where(adjacent, statistic, statistic.max()).min(axis=1)
        return least, np.where(adjacent, statistic, statistic.min()).max(axis=1)

    def distances(self, function: Callable[..., int], *arguments: object) -> list[int]:
        """What a function gives for every source."""
        return [function(rows_of(self.rows[source].tolist()), *arguments, UNCAPPED) for source in self.sources]

    def ranks(self) -> Iterator[tuple[int, int]]:
        """Every pair of ranks low < high."""
        return itertools.combinations(range(1, self.size + 1), 2)


@pytest.fixture(params=SMALL, ids=lambda small: f"{small[0]} rows")
def tables(request: pytest.FixtureRequest) -> Tables:
    return every_table(*request.param)


@functools.cache
def every_table(size: int, values: tuple[int, ...]) -> Tables:
    return Tables(size, values)


def test_a_range_widens_and_narrows_in_as_many_changes_as_brute_force_finds(tables: Tables) -> None:
    for low, high in tables.ranks():
        ranges = tables.at(high) - tables.at(low)
        for width in (0, 1, 2, 3, 6):
            assert tables.distances(steps_to_widen, low, high, width) == tables.nearest(ranges > width)
            assert tables.distances(steps_to_narrow, low, high, width) == tables.nearest(ranges < width)


def test_a_range_leaves_its_bin_in_as_many_changes_as_brute_force_finds(tables: Tables) -> None:
    for low, high in tables.ranks():
        ranges = tables.at(high) - tables.at(low)
        for edges in EDGES:
            for least, beyond in itertools.pairwise((*edges, 2 * FAR + 1)):
                outside = (ranges < least) | (ranges >= beyond)
                end = beyond if beyond <= FAR else 4 * BEYOND
                assert tables.distances(steps_to_leave_range, low, high, least, end) == tables.nearest(outside)


def test_a_row_leaves_its_bin_in_as_many_changes_as_brute_force_finds(tables: Tables) -> None:
    for rank in range(1, tables.size + 1):
        row = tables.at(rank)
        for least, beyond in [(0, 1), (0, 2), (1, 4), (-3, 3), (2, 100), (-10, 10)]:
            outside = (row < least) | (row >= beyond)
            assert tables.distances(steps_to_leave_bin, rank, least, beyond) == tables.nearest(outside)


def test_the_sum_of_some_rows_becomes_sensitive_in_as_many_changes_as_brute_force_finds(tables: Tables) -> None:
    quantiles = [(rank, rank) for rank in range(1, tables.size + 1)]
    for low, high in [*quantiles, *tables.ranks()]:
        total = tables.rows[:, low - 1 : high].sum(axis=1)
        least, most = tables.moved(total)
        for width in (0, 1, 2, 4, 6):
            sensitive = np.maximum(most - total, total - least) > width
            assert tables.distances(steps_to_sensitive, low, high, width) == tables.nearest(sensitive)


def test_the_range_can_jump_after_as_many_changes_as_brute_force_finds(tables: Tables) -> None:
    for low, high in tables.ranks():
        ranges = tables.at(high) - tables.at(low)
        least, most = tables.moved(ranges)
        for factor in FACTORS:
            times, over = factor.as_integer_ratio()
            jumps = (over * most > times * ranges) | (over * ranges > times * least)
            assert tables.distances(steps_to_jump, low, high, factor) == tables.nearest(jumps)


def test_where_both_ranks_are_one_the_jump_is_to_a_row_that_differs_from_the_next(tables: Tables) -> None:
    for rank in range(1, tables.size + 1):
        differs = (tables.at(rank + 1) > tables.at(rank)) | (tables.at(rank) > tables.at(rank - 1))
        assert tables.distances(steps_to_jump, rank, rank, Fraction(2)) == tables.nearest(differs)


def test_the_bound_for_a_mean_never_exceeds_the_distance_where_no_row_is_lost(tables: Tables) -> None:
    for low, high in tables.ranks():
        kept = high - low + 1
        for bound in (Fraction(1, 2), Fraction(4, 3)):
            exact = tables.distances(steps_to_sensitive, low, high, int(kept * bound // 1))
            lower = tables.distances(steps_to_sensitive_mean, low, high, bound)
            assert all(a <= b for a, b in zip(lower, exact, strict=True))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_bound_for_a_mean_is_its_formula(sign: int) -> None:
    rows, low, high, kept = rows_of([sign * row for row in EXAMPLE]), 3, 9, 7
    steps = list(itertools.product(range(12), repeat=2))
    for bound in (Fraction(index, 7) for index in range(60)):
        enough = [i + j for i, j in steps if rows(high + i) - rows(low - j) > (kept - i - j) * bound]
        assert steps_to_sensitive_mean(rows, low, high, bound, UNCAPPED) == max(0, min(enough) - 1)


def mode_of(table: Sequence[int]) -> int:
    return min(table, key=lambda label: (-table.count(label), label))


def steps_to_leave_mode(table: Sequence[int], neighbors: Neighbors) -> int:
    counts = Counter(table)
    mode = mode_of(table)
    first = counts.pop(mode)
    second = max(counts.values(), default=0)
    is_larger = all(label > mode for label, count in counts.items() if count == second)
    return steps_to_another_mode(first, second, is_larger, neighbors)


@pytest.mark.parametrize("neighbors", Neighbors)
def test_the_mode_switches_after_as_many_changes_as_brute_force_finds(neighbors: Neighbors) -> None:
    labels = range(5)  # 0 and 4 are seen by nobody at first
    everything = [table for size in range(1, 11) for table in itertools.combinations_with_replacement(labels, size)]
    counts = np.array([[table.count(label) for label in labels] for table in everything])
    modes = np.array([mode_of(table) for table in everything])
    for table, own in zip(everything, counts, strict=True):
        if len(table) <= 5 and not {0, 4} & set(table):
            apart = np.abs(counts - own).sum(axis=1)
            if neighbors is Neighbors.CHANGE_ONE:
                apart = np.where(counts.sum(axis=1) == len(table), apart // 2, UNCAPPED)
            assert steps_to_leave_mode(table, neighbors) == apart[modes != mode_of(table)].min()


# The lemma that the tests of propose-test-release rest on.


class Statistic:
    """A statistic with its test: a distance, and whether two values are too far apart for it."""

    def __init__(
        self,
        value: Callable[[Table], object],
        distance: Callable[[Table], int],
        apart: Callable[[object, object], bool],
        near: int,
    ) -> None:
        self.value = functools.cache(value)
        self.distance = functools.cache(distance)
        self.apart = apart
        self.near = near
        """The most that the distance may be where one row can take the value too far."""

    def refutes(self, table: Table, neighbour: Table) -> bool:
        """Do two neighbours break the lemma?"""
        distances = self.distance(table), self.distance(neighbour)
        leaves = self.apart(self.value(table), self.value(neighbour))
        return abs(distances[0] - distances[1]) > 1 or (leaves and max(distances) > self.near)


def row_statistics(cap: int = UNCAPPED) -> Iterator[Statistic]:
    """Bins and sensitivity of single quantiles. Without rows a quantile is in no bin, and far from everything."""

    def bin_distance(table: Table, quantile: Fraction, width: int) -> int:
        rank, rows = quantile_rank(quantile, len(table)), rows_of(table)
        least = rows(rank) // width * width if table else 0
        return steps_to_leave_bin(rows, rank, least, least + width, cap)

    def row(table: Table, quantile: Fraction) -> int | None:
        return sorted(table)[quantile_rank(quantile, len(table)) - 1] if table else None

    def gamma(table: Table, quantile: Fraction, bound: int) -> int:
        rank = quantile_rank(quantile, len(table))
        return steps_to_sensitive(rows_of(table), rank, rank, bound, cap)

    for quantile, width in itertools.product(QUANTILES, (1, 2, 4)):
        value = functools.partial(row, quantile=quantile)
        moves_bin = functools.partial(in_other_bins, width=width)
        yield Statistic(value, functools.partial(bin_distance, quantile=quantile, width=width), moves_bin, 1)
        moves_far = functools.partial(differ_by_more, bound=Fraction(width - 1))
        yield Statistic(value, functools.partial(gamma, quantile=quantile, bound=width - 1), moves_far, 0)


def in_other_bins(first: int | None, second: int | None, width: int) -> bool:
    return first is None or second is None or first // width != second // width


def differ_by_more(first: Fraction | None, second: Fraction | None, bound: Fraction) -> bool:
    return first is None or second is None or abs(first - second) > bound


def range_statistics(ranks: Callable[[int], tuple[int, int]], cap: int = UNCAPPED) -> Iterator[Statistic]:
    """Bins and jumps of a range between two ranks, which is 0 without rows."""

    def width_of(table: Table) -> int:
        return spread(rows_of(table), *ranks(len(table)))

    def bin_distance(table: Table, edges: Sequence[int]) -> int:
        return steps_to_leave_range(rows_of(table), *ranks(len(table)), *bin_of(width_of(table), edges), cap)

    def gamma(table: Table, factor: Fraction) -> int:
        return steps_to_jump(rows_of(table), *ranks(len(table)), factor, cap)

    for edges in EDGES:
        moves_bin = functools.partial(lambda first, second, edges: bin_of(first, edges) != bin_of(second, edges), edges=edges)
        yield Statistic(width_of, functools.partial(bin_distance, edges=edges), moves_bin, 1)
    for factor in (Fraction(1), Fraction(3, 2), Fraction(4)):
        jumps = functools.partial(lambda first, second, factor: max(first, second) > factor * min(first, second), factor=factor)
        yield Statistic(width_of, functools.partial(gamma, factor=factor), jumps, 0)


def mean_statistics(ranks: Callable[[int], tuple[int, int]], cap: int = UNCAPPED) -> Iterator[Statistic]:
    """The mean of the rows between two ranks."""

    def mean(table: Table) -> Fraction | None:
        low, high = ranks(len(table))
        return Fraction(sum(sorted(table)[low - 1 : high]), high - low + 1) if table else None

    def gamma(table: Table, bound: Fraction) -> int:
        return steps_to_sensitive_mean(rows_of(table), *ranks(len(table)), bound, cap)

    for bound in (Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(2, 3), Fraction(2)):
        yield Statistic(mean, functools.partial(gamma, bound=bound), functools.partial(differ_by_more, bound=bound), 0)


def all_statistics(cap: int = UNCAPPED) -> Iterator[Statistic]:
    yield from row_statistics(cap)
    for lower, upper in PAIRS:
        ranks = functools.partial(interquantile_ranks, lower, upper)
        yield from range_statistics(ranks, cap)
        yield from mean_statistics(ranks, cap)


def with_one_more(most_rows: int, values: Sequence[int]) -> Iterator[tuple[Table, Table]]:
    """Every small table, and every table with one row more."""
    for size in range(most_rows + 1):
        for table in itertools.combinations_with_replacement(values, size):
            yield from ((table, tuple(sorted((*table, added)))) for added in values)


@pytest.mark.parametrize(("most_rows", "values"), [(6, (0, 1, 3, 7)), (11, (0, 1, 3))])
def test_one_row_more_or_less_moves_every_distance_by_at_most_1(most_rows: int, values: tuple[int, ...]) -> None:
    for statistic in all_statistics():
        found = [pair for pair in with_one_more(most_rows, values) if statistic.refutes(*pair)]
        assert found == []


def quarters_rounded_down(raw_rows: int) -> tuple[int, int]:
    """The broken twin: at 4k - 1 rows one row more moves the low rank alone."""
    return raw_rows // 4, raw_rows - raw_rows // 4


def test_quarters_rounded_down_are_refuted() -> None:
    _, bins, *_ = range_statistics(quarters_rounded_down)
    pairs = [pair for pair in with_one_more(11, (0, 1, 2)) if len(pair[0]) == 11]
    refuted = [table for table, neighbour in pairs if bins.refutes(table, neighbour)]
    table = (0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2)  # the range is 2, two changes from 0; a row at 1 makes it 0
    assert table in refuted
    assert (bins.value(table), bins.distance(table), bins.value((*table, 1))) == (2, 2, 0)


def test_a_mean_that_can_lose_rows_needs_its_own_distance() -> None:
    low, high = interquantile_ranks(*PAIRS[0], 10)
    more_low, more_high = interquantile_ranks(*PAIRS[0], 11)
    assert (low, high, more_low, more_high) == (3, 8, 3, 9)
    table = rows_of([0] * 5 + [13] * 5)
    with_a_row_more = rows_of([0] * 5 + [13] * 6)
    naive = [steps_to_sensitive(table, 3, 8, 12, UNCAPPED), steps_to_sensitive(with_a_row_more, 3, 9, 14, UNCAPPED)]
    assert naive == [0, 2]  # the bound is 2, and 6 or 7 rows are kept
    own = [steps_to_sensitive_mean(table, 3, 8, Fraction(2), UNCAPPED)]
    own += [steps_to_sensitive_mean(with_a_row_more, 3, 9, Fraction(2), UNCAPPED)]
    assert own == [0, 0]


@pytest.mark.parametrize("neighbors", Neighbors)
def test_one_row_moves_the_distance_to_another_mode_by_at_most_1(neighbors: Neighbors) -> None:
    mode = Statistic(mode_of, lambda table: steps_to_leave_mode(table, neighbors), lambda first, second: first != second, 1)
    for table, more in with_one_more(7, range(4)):
        if table:
            assert not mode.refutes(table, more)
        for added in range(4) if neighbors is Neighbors.CHANGE_ONE else ():
            assert not mode.refutes(more, tuple(sorted((*more[1:], added))))


big_tables = st.lists(st.one_of(st.integers(-3, 12), st.integers(-(10**9), 10**9)), max_size=60)
CAPPED = list(all_statistics(cap=9))


@given(big_tables, st.integers(-5, 14), st.data())
def test_one_row_moves_the_distances_of_larger_tables_by_at_most_1(table: list[int], row: int, data: st.DataObject) -> None:
    statistic = data.draw(st.sampled_from(CAPPED))
    smaller, larger = tuple(sorted(table)), tuple(sorted([*table, row]))
    assert not statistic.refutes(smaller, larger)
    removed = data.draw(st.integers(0, len(table)))
    assert not statistic.refutes(larger, larger[:removed] + larger[removed + 1 :])
    changed = tuple(sorted((*larger[:removed], data.draw(st.integers(-5, 14)), *larger[removed + 1 :])))
    assert not statistic.refutes(larger, changed)


# Numbers worked out by hand, caps, and what is read.

EXAMPLE = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 40)
LONG = tuple(index * index % 1009 + index for index in range(2000))


def test_the_range_of_the_example_grows_and_shrinks_as_by_hand() -> None:
    rows = rows_of(EXAMPLE)
    assert [steps_to_widen(rows, 3, 9, width, UNCAPPED) for width in (13, 14, 21, 22, 37, 38, 10**9)] == [0, 1, 1, 2, 2, 3, 3]
    assert [steps_to_narrow(rows, 3, 9, width, UNCAPPED) for width in (15, 14, 11, 10, 6, 4, 2, 1)] == [0, 1, 1, 2, 3, 4, 5, 6]
    assert steps_to_leave_range(rows, 3, 9, 8, 16, UNCAPPED) == 1
    thousandths = rows_of([1000 * row for row in EXAMPLE])
    assert steps_to_leave_range(thousandths, 3, 9, 11314, 22628, UNCAPPED) == 1  # from 2**3.5 to 2**4.5


def test_the_sensitivity_of_the_example_is_as_by_hand() -> None:
    rows = rows_of(EXAMPLE)
    median = [steps_to_sensitive(rows, 6, 6, bound, UNCAPPED) for bound in (0, 1, 2, 4, 6, 10, 15, 30)]
    assert median == [0, 0, 1, 1, 2, 3, 3, 4]
    assert [steps_to_sensitive(rows, 3, 9, width, UNCAPPED) for width in (14, 20, 25, 38, 50)] == [0, 0, 1, 2, 2]
    factors = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(5)]
    assert [steps_to_jump(rows, 3, 9, factor, UNCAPPED) for factor in factors] == [0, 0, 1, 2, 2]


Capped = Callable[[Rows, int], int]
ON_LONG: dict[str, Capped] = {
    "widen": lambda rows, cap: steps_to_widen(rows, 500, 1500, 1200, cap),
    "narrow": lambda rows, cap: steps_to_narrow(rows, 500, 1500, 900, cap),
    "leave range": lambda rows, cap: steps_to_leave_range(rows, 500, 1500, 950, 1200, cap),
    "leave bin": lambda rows, cap: steps_to_leave_bin(rows, 1000, 1400, 1600, cap),
    "sensitive": lambda rows, cap: steps_to_sensitive(rows, 1000, 1000, 90, cap),
    "sensitive sum": lambda rows, cap: steps_to_sensitive(rows, 500, 1500, 1200, cap),
    "sensitive mean": lambda rows, cap: steps_to_sensitive_mean(rows, 500, 1500, Fraction(5, 4), cap),
    "jump": lambda rows, cap: steps_to_jump(rows, 990, 1010, Fraction(5), cap),
    "jump of ranks far apart": lambda rows, cap: steps_to_jump(rows, 500, 1500, Fraction(21, 20), cap),
    "jump of one rank": lambda rows, cap: steps_to_jump(rows_of([0] * 900 + [1] * 1100), 1000, 1000, Fraction(2), cap),
}
RANKS = {500, 990, 1000, 1010, 1500}


@pytest.mark.parametrize("name", ON_LONG)
def test_a_cap_cuts_the_distance_and_changes_nothing_else(name: str) -> None:
    rows = rows_of(LONG)
    uncapped = ON_LONG[name](rows, 700)
    assert 10 < uncapped < 700
    for cap in (0, 1, 2, 9, uncapped - 1, uncapped, uncapped + 1, 300):
        assert ON_LONG[name](rows, cap) == min(uncapped, cap)


@pytest.mark.parametrize("name", ON_LONG)
@pytest.mark.parametrize("cap", [0, 1, 5, 60, 240])
def test_only_rows_within_the_cap_are_read_and_few_of_them(name: str, cap: int) -> None:
    read: list[int] = []
    rows = rows_of(LONG)

    def watched(rank: int) -> int:
        read.append(rank)
        return rows(rank)

    ON_LONG[name](watched, cap)
    assert all(min(abs(rank - given_rank) for given_rank in RANKS) <= cap for rank in read)
    assert len(read) <= 20 * cap + 8
