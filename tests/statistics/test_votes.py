"""Votes of pairs and triples: exact counts, how far one row moves them, and the law of the noisy ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from dpstats.foundations.privacy import Neighbors
from dpstats.statistics.paired.inversions import count_inversions
from dpstats.statistics.paired.votes import KENDALL, SPEARMAN, Count, RawOrders, net_pairs, net_triples, release_votes
from dpstats.testing import seeded
from tests.laws.pairs import Rows, raw_classes_of, votes_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.pairs import SHORT_KENDALL, SHORT_SPEARMAN, law_with_public_rows

COUNTS = {"kendall": KENDALL, "spearman": SPEARMAN}
RELATIONS = list(Neighbors)
NUMBERS = st.sampled_from([-math.inf, -1e300, -1.0, -0.0, 0.0, 5e-324, 1.0, 2.0, 1e300, math.inf])


def bound(count: Count, rows: int) -> Fraction:
    """What one row more than `rows` may move, by the proof."""
    if rows == 0:
        return Fraction(0)
    return Fraction(3 * rows - 1, 2 * (rows + 1)) if count.rows_per_share == 2 else Fraction(5 * rows - 2, 12 * (rows + 2))


def move(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0))


def small_tables(rows: int) -> Iterator[list[tuple[float, float]]]:
    """Every table of so many rows up to the order of rows and of numbers; numbers are even, so that odd ones fit between."""
    ranks = [ranking for ranking in itertools.product(range(rows), repeat=rows) if set(ranking) == set(range(len(set(ranking))))]
    for x in ranks:
        if list(x) == sorted(x):
            for y in ranks:
                yield [(2.0 * a, 2.0 * b) for a, b in zip(x, y, strict=True)]


def correlation_of(classes: list[Fraction]) -> float:
    agree, against, only_x, only_y, _ = classes
    untied = agree + against
    return float(agree - against) / math.sqrt((untied + only_x) * (untied + only_y))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=25))
def test_the_classes_are_those_of_scipy(rows: list[tuple[float, float]]) -> None:
    columns = np.array(rows, dtype=float).reshape(-1, 2).T
    for count, peer in ((KENDALL, stats.kendalltau), (SPEARMAN, stats.spearmanr)):
        classes = raw_classes_of(count, rows)
        assert min(classes) >= 0
        assert sum(classes) == (Fraction(len(rows) - 1, count.rows_per_share) if rows else 0)
        if all(len(set(column.tolist())) > 1 for column in columns):
            ranks = [stats.rankdata(column) for column in columns]  # scipy takes no infinities
            assert correlation_of(classes) == pytest.approx(peer(*ranks).statistic, abs=1e-12)


@given(st.lists(st.integers(0, 9), max_size=150))
def test_inversions_are_the_pairs_in_descending_order(codes: list[int]) -> None:
    by_hand = sum(first > second for first, second in itertools.combinations(codes, 2))
    assert count_inversions(np.array(codes, dtype=np.int64)) == by_hand


def test_inversions_of_long_columns_and_large_codes_are_exact() -> None:
    rows = 100_003
    assert count_inversions(np.arange(rows)[::-1]) == rows * (rows - 1) // 2
    assert count_inversions(np.arange(rows)[::-1] << 40) == rows * (rows - 1) // 2
    assert count_inversions(np.arange(rows)) == 0


def test_products_of_ranks_are_exact_where_their_sum_leaves_64_bits() -> None:
    rows = 4_000_000
    column = np.arange(rows)
    assert net_triples(RawOrders.of(column, column)) == Fraction(rows * (rows * rows - 1), 12)
    assert rows**3 // 3 > 2**64


def test_whole_numbers_beyond_floats_are_told_apart() -> None:
    column = np.arange(2**62, 2**62 + 50)
    assert net_pairs(RawOrders.of(column, column[::-1])) == -50 * 49 // 2


def test_a_triple_has_at_most_its_weight_to_give_and_none_where_it_is_tied() -> None:
    """Lemma 1: of three rows, 4 T - 2 S is at most 2 in size, and 0 where all are tied in one column."""
    found = set()
    for rows in small_tables(3):
        columns = RawOrders.of(*np.array(rows).T)
        h = 4 * net_triples(columns) - 2 * net_pairs(columns)
        assert abs(h) <= 2
        if len(columns.x_ties) == 1 or len(columns.y_ties) == 1:
            assert h == 0
        found.add(h)
    assert {-2, 0, 2} <= found


@pytest.mark.parametrize("name", COUNTS)
def test_no_row_more_moves_the_classes_of_any_small_table_beyond_the_bound_and_some_reach_it(name: str) -> None:
    count = COUNTS[name]
    for size in range(1, 5):
        largest = Fraction(0)
        for rows in small_tables(size):
            whole = raw_classes_of(count, rows)
            largest = max(
                largest, *(move(whole, raw_classes_of(count, rows[:place] + rows[place + 1 :])) for place in range(size))
            )
        assert largest == bound(count, size - 1) < count.l1_sensitivity[Neighbors.ADD_REMOVE]


@pytest.mark.parametrize("name", COUNTS)
def test_no_changed_row_moves_the_classes_of_any_small_table_beyond_the_sensitivity(name: str) -> None:
    count = COUNTS[name]
    for size in range(3):
        largest = Fraction(0)
        places = [float(place) for place in range(-1, 2 * size)]
        for rest in small_tables(size):
            tables = [rest, *([*rest, row] for row in itertools.product(places, places))]  # without: the row became missing
            classes = [raw_classes_of(count, table) for table in tables]
            largest = max(largest, *(move(one, other) for one, other in itertools.combinations(classes, 2)))
        at_most = 2 * (count.weight(size + 1) - count.weight(size)) / count.size(size + 1)
        assert largest <= max(at_most, bound(count, size)) < count.l1_sensitivity[Neighbors.CHANGE_ONE]
        assert size == 0 or largest >= at_most


def opposite_rows(rows: int) -> list[tuple[float, float]]:
    return [(float(row), float(-row)) for row in range(rows)]


def hard_pair(rows: int, relation: Neighbors) -> tuple[Rows, Rows]:
    """Rows in opposite orders, and one more that is largest in both columns; changed: one that was largest and smallest."""
    table = opposite_rows(rows)
    more = [*table, (1e9, 1e9)]
    return (table, more) if relation is Neighbors.ADD_REMOVE else ([*table, (1e9, -1e9)], more)


@pytest.mark.parametrize("rows", [1, 7, 60, 1000])
@pytest.mark.parametrize("name", COUNTS)
def test_the_bound_is_reached_at_every_length(name: str, rows: int) -> None:
    count = COUNTS[name]
    table, more = hard_pair(rows, Neighbors.ADD_REMOVE)
    assert move(raw_classes_of(count, table), raw_classes_of(count, more)) == bound(count, rows)


def loss(count: Count, tables: tuple[Rows, Rows], epsilon: Fraction, relation: Neighbors) -> float:
    """The largest log ratio of the exact laws, seen through cuts outside of both tables' classes."""
    classes = [raw_classes_of(count, table) for table in tables]
    reach = 3 * count.l1_sensitivity[relation] / epsilon
    cuts = [(min(pair) - reach, max(pair) + reach) for pair in zip(*classes, strict=True)]
    return largest_log_ratio(*(votes_law(count, table, epsilon, relation, cuts) for table in tables))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", COUNTS)
def test_the_exact_law_keeps_the_claim_on_the_hardest_pair_and_leaves_little_unused(
    name: str, relation: Neighbors, epsilon: Fraction
) -> None:
    found = loss(COUNTS[name], hard_pair(100, relation), epsilon, relation)
    assert 0.95 * epsilon < found <= epsilon


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("twin", [SHORT_KENDALL, SHORT_SPEARMAN])
def test_a_sensitivity_that_forgets_the_old_votes_is_refuted(twin: Count, relation: Neighbors) -> None:
    assert loss(twin, hard_pair(30, relation), Fraction(1), relation) > 1.3


def test_noise_for_a_public_number_of_rows_is_refuted() -> None:
    epsilon = Fraction(1)
    tables = opposite_rows(20), opposite_rows(21)
    cuts = [Fraction(-15), Fraction(15)]
    assert largest_log_ratio(*(law_with_public_rows(table, epsilon, cuts) for table in tables)) > 2 * epsilon


def test_a_tie_broken_a_row_lost_and_tables_of_no_rows_keep_the_claim() -> None:
    ties: Rows = [(0.0, 0.0)] * 12
    pairs = [([], [(1.0, 1.0)]), ([(1.0, 1.0)], [(1.0, 1.0), (2.0, 0.0)]), (ties, [*ties, (math.inf, 1.0)])]
    for count in COUNTS.values():
        for tables in pairs:
            assert loss(count, tables, Fraction(1), Neighbors.ADD_REMOVE) <= 1


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", COUNTS)
def test_the_noise_has_the_declared_scale_and_not_one_a_tenth_off(name: str, relation: Neighbors) -> None:
    count, epsilon, rng = COUNTS[name], Fraction(1, 2), seeded(3)
    rows = np.array(opposite_rows(10))
    raw = np.array([float(weight) for weight in count.raw_classes(RawOrders.of(rows[:, 0], rows[:, 1]))])
    drawn: list[NDArray[np.float64]] = []
    for _ in range(1500):
        drawn.append(release_votes(count, rows[:, 0], rows[:, 1], epsilon, relation, rng).noisy - raw)
    scale = float(count.l1_sensitivity[relation] / epsilon)
    size = float(np.mean(np.abs(drawn))) / scale  # of Laplace noise the mean size is the scale; here within 1.2% mostly
    assert 0.95 < size < 1.05
    assert stats.kstest(np.ravel(drawn), stats.laplace(scale=scale).cdf).pvalue > 1e-3
    for wrong in (0.9, 1.1):
        assert stats.kstest(np.ravel(drawn), stats.laplace(scale=wrong * scale).cdf).pvalue < 1e-3
