"""Rows drawn from a model: near to it, in random order, the same for the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.statistics.synthetic.graphical_model import GraphicalModel, Measured
from dpstats.statistics.synthetic.rows import dealing_order, draw_rows, rounded_counts, shuffled, sorting_order

SIZES = (3, 2, 4, 1, 2)


@pytest.fixture(scope="module")
def model() -> GraphicalModel:
    rng = np.random.default_rng(1)
    cliques = [(0, 1), (1, 2), (0, 4), (3,)]
    tables = [Measured(columns, rng.normal(100, 60, [SIZES[column] for column in columns]), 1.0) for columns in cliques]
    return GraphicalModel(SIZES).fitted(tables, 1000.0, 100)


def test_rounded_counts_are_within_one_of_expected_counts_and_right_on_average() -> None:
    shares = np.array([[0.2, 0.3, 0.0, 0.5], [5.0, 1.0, 1.0, 0.5], [0.0, 0.0, 1e-300, 0.0], [0.0, 0.0, 0.0, 0.0]])
    totals = np.array([7, 10, 3, 2])
    expected = totals[:, None] * np.array([[0.2, 0.3, 0, 0.5], np.array([5, 1, 1, 0.5]) / 7.5, [0, 0, 1, 0], [0.25] * 4])
    rng = seeded(3)
    drawn = np.array([rounded_counts(shares, totals, rng) for _ in range(2000)])
    assert (drawn.sum(axis=2) == totals).all()
    assert np.abs(drawn - expected).max() < 1.0
    assert np.abs(drawn.mean(axis=0) - expected).max() < 0.06  # five standard errors
    assert (drawn[:, shares == 0.0][:, :3] == 0).all()


@pytest.mark.parametrize("total", [1, 3, 10**9, 2**40])
def test_counts_of_any_number_of_rows_sum_to_it(total: int) -> None:
    shares = np.random.default_rng(0).exponential(size=(20, 50))
    totals = np.full(20, total)
    counts = rounded_counts(shares, totals, seeded(1))
    expected = total * shares / shares.sum(axis=1, keepdims=True)
    assert (counts.sum(axis=1) == total).all()
    assert counts.min() >= 0
    assert np.abs(counts - expected).max() < 1.0 + 1e-12 * total


def test_conditional_counts_of_drawn_rows_are_within_one_of_their_expectation(model: GraphicalModel) -> None:
    rows = draw_rows(model, 5000, seeded(2))
    assert rows.shape == (5000, len(SIZES))
    for factor, separator in zip(model.clique_marginals(), model.tree.separators, strict=True):
        counts = np.zeros(factor.values.shape)
        np.add.at(counts, tuple(rows[:, column] for column in factor.axes), 1)
        new = tuple(place for place, column in enumerate(factor.axes) if column not in separator)
        conditional = factor.values / factor.values.sum(axis=new, keepdims=True)
        assert np.abs(counts - counts.sum(axis=new, keepdims=True) * conditional).max() < 1.0 + 1e-9


def test_every_row_of_a_group_is_as_likely_as_others_to_get_a_value() -> None:
    groups, members = np.array([1, 0, 1, 1, 3, 3]), np.array([1, 3, 0, 2])
    other = np.array([0, 0, 1, 2, 0, 1], dtype=np.uint8)
    rng, times = seeded(9), np.zeros((6, 6))
    for _ in range(3000):
        order = dealing_order(groups, members, [other], rng)
        assert groups[order].tolist() == [0, 1, 1, 1, 3, 3]
        times[order, np.arange(6)] += 1
    expected = (groups[:, None] == np.array([0, 1, 1, 1, 3, 3])) / members[groups][:, None]
    assert np.abs(times / 3000 - expected).max() < 0.045  # five standard errors


def test_rows_that_are_alike_share_out_values_nearly_in_proportion() -> None:
    groups = np.zeros(1000, dtype=np.int64)
    other = np.repeat(np.arange(4, dtype=np.uint8), [100, 200, 300, 400])
    values = np.repeat(np.arange(5), 200)
    order = dealing_order(groups, np.array([1000]), [other], seeded(1))
    table = np.zeros((4, 5))
    np.add.at(table, (other[order], values), 1)
    assert np.abs(table - np.array([[20], [40], [60], [80]])).max() <= 3


def test_rows_are_in_random_order(model: GraphicalModel) -> None:
    rows = draw_rows(model, 20_000, seeded(4))
    for column in (0, 1, 2, 4):
        halves = rows[:10_000, column].mean(), rows[10_000:, column].mean()
        assert abs(halves[0] - halves[1]) < 0.1
    pairs = np.corrcoef(rows[:-1, 2], rows[1:, 2])[0, 1]
    assert abs(pairs) < 0.05


def test_columns_that_are_independent_in_the_model_are_so_in_rows() -> None:
    model = GraphicalModel((4, 5))
    rows = draw_rows(model, 20_000, seeded(5))
    assert abs(np.corrcoef(rows.T)[0, 1]) < 0.05


def test_the_same_bits_draw_the_same_rows(model: GraphicalModel) -> None:
    assert np.array_equal(draw_rows(model, 300, seeded(6)), draw_rows(model, 300, seeded(6)))
    assert not np.array_equal(draw_rows(model, 300, seeded(6)), draw_rows(model, 300, seeded(7)))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_rows_are_drawn_too(model: GraphicalModel, count: int) -> None:
    rows = draw_rows(model, count, seeded(8))
    assert rows.shape == (count, len(SIZES))
    assert (rows < np.array(SIZES)).all()


def test_levels_take_as_few_bytes_as_they_can() -> None:
    assert draw_rows(GraphicalModel((256, 2)), 10, seeded(0)).dtype == np.uint8
    assert draw_rows(GraphicalModel((257, 2)), 10, seeded(0)).dtype == np.uint16


def test_a_shuffle_has_every_number_once() -> None:
    assert sorted(shuffled(1000, seeded(1)).tolist()) == list(range(1000))
    firsts = [int(shuffled(4, seeded(seed))[0]) for seed in range(400)]
    assert min(np.bincount(firsts, minlength=4)) > 60


def test_numbers_of_any_size_are_sorted_and_equal_ones_keep_their_order() -> None:
    for most in (1, 3, 2**16, 2**40, 2**64 - 1):
        keys = np.random.default_rng(3).integers(0, most, 500, dtype=np.uint64, endpoint=True)
        assert np.array_equal(sorting_order(keys), np.argsort(keys, kind="stable"))
    assert sorting_order(np.zeros(0, dtype=np.uint64)).tolist() == []


def test_a_negative_number_of_rows_is_refused(model: GraphicalModel) -> None:
    with pytest.raises(InvalidParameterError, match="between 0 and"):
        draw_rows(model, -1, seeded(1))
