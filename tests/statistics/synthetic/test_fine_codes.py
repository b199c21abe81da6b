"""Fine codes and looks: how numbers and labels get codes, all of it arithmetic on released numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpstats.foundations.summaries import CutCoding, LabelCoding
from dpstats.statistics.coded.budget import GaussianLaw, NoisyTable
from dpstats.statistics.synthetic.columns import MeasuredColumn, orders_of, rows_of
from dpstats.statistics.synthetic.decoding import OTHER, decoded
from dpstats.statistics.synthetic.fine_codes import (
    FineColumn,
    grain_of,
    label_column,
    merge_labels,
    merge_numbers,
    number_column,
    settled_counts,
)
from dpstats.statistics.synthetic.looking import first_look, looked_closer
from dpstats.testing import seeded

QUARTILES = [Fraction(20), Fraction(30), Fraction(40)]


def noisy(counts: list[int] | np.ndarray, deviation: float = 1.0) -> NoisyTable:
    return NoisyTable(np.array(counts, dtype=np.int64), GaussianLaw(deviation**2))


def counted(column: FineColumn, values: np.ndarray) -> np.ndarray:
    """How many values each code has, missing ones last."""
    codes = np.searchsorted([float(edge) for edge in column.edges], values, "right")
    return np.bincount(np.where(np.isnan(values), column.missing, codes), minlength=column.size)


def looked(values: np.ndarray, shared: list[Fraction], *, singles: bool = False, whole: bool = False) -> FineColumn:
    column = first_look("x", QUARTILES, shared, whole=whole)
    for _ in range(2):
        look = noisy(counted(column, values), 3.0)
        column = looked_closer(column, look, values.size, QUARTILES, singles=singles)
    return column


def test_looks_become_finer_where_rows_are_and_wider_where_not() -> None:
    column = looked(np.random.default_rng(1).normal(30, 8, 5000), [])
    edges = [float(edge) for edge in column.edges]
    assert 30 <= len(edges) <= 90
    assert min(edges) > -20
    assert max(edges) < 200
    assert np.diff([edge for edge in edges if 20 <= edge <= 40]).max() <= 1


def test_looks_alone_find_single_values() -> None:
    column = looked(np.random.default_rng(1).choice([22.0, 27.0, 32.5], 3000), [], singles=True)
    single = [float(low) for low, high in column.spans() if column.is_single(low, high)]
    assert {22.0, 27.0, 32.5} <= set(single)


def test_whole_numbers_have_whole_edges() -> None:
    column = looked(np.random.default_rng(1).integers(20, 40, 3000).astype(float), [], whole=True)
    assert all(edge.denominator == 1 for edge in column.edges)
    assert all(column.is_single(low, high) for low, high in column.spans() if low >= 21 and high <= 39)


def test_where_nothing_is_found_codes_are_those_between_cuts() -> None:
    column = first_look("x", QUARTILES, [], whole=False)
    closer = looked_closer(column, noisy(np.zeros(column.size), 50.0), 10.0, QUARTILES, singles=False)
    assert {Fraction(20), Fraction(30), Fraction(40)} <= set(closer.edges)
    assert closer.size < 8


def test_shared_values_tell_the_grain() -> None:
    assert grain_of([Fraction(5, 2), Fraction(3), Fraction(7)]) == Fraction(1, 10)
    assert grain_of([Fraction(1), Fraction(3), Fraction(7)]) == 1
    assert grain_of([Fraction(1), Fraction(3)]) == 0
    assert grain_of([Fraction(1, 3), Fraction(3), Fraction(7)]) == 0


def test_settled_counts_are_not_negative_and_add_up() -> None:
    counts = settled_counts(np.array([100, -30, 20, 5, -4]), 90.0)
    assert counts.sum() == pytest.approx(90)
    assert counts.min() == 0
    assert counts[0] > counts[2] > counts[3]


def test_ends_that_noise_made_are_drawn_in_and_lose_no_rows() -> None:
    column = number_column("x", [Fraction(edge) for edge in range(10)], Fraction(0), whole=False)
    counts = np.array([5.0, 0, 7, 400, 300, 0, 200, 8, 0, 3, 4, 0])
    merged, drawn = merge_numbers(column, counts, 10.0, 5)
    assert drawn.sum() == pytest.approx(counts.sum())
    assert np.flatnonzero(drawn).tolist() == [3, 4, 6]
    assert (np.diff(merged[:-1]) >= 0).all()


def test_a_value_of_many_rows_stays_alone_but_for_codes_of_none() -> None:
    column = number_column("x", [Fraction(0), Fraction(1), Fraction(5), Fraction(9)], Fraction(1), whole=True)
    merged, counts = merge_numbers(column, np.array([0.0, 700, 100, 100, 100, 0]), 2.0, 4)
    assert counts[merged == merged[1]].tolist() == [0, 700, 0]


def test_labels_of_few_rows_share_a_code() -> None:
    column = label_column("x", ["a", "b", "c", "d"])
    merged, counts = merge_labels(column, np.array([500.0, 300, 10, 9, 3, 2]), 10.0)
    assert merged[2] == merged[3] == merged.max()
    assert merged[0] != merged[1]
    assert counts[-2:].tolist() == [0, 0]


def test_columns_are_made_again_from_plain_values() -> None:
    for column in (label_column("x", ["a", 3]), first_look("x", QUARTILES, [Fraction(1, 2)] * 3, whole=False)):
        assert FineColumn.from_dict(column.to_dict()) == column


def test_codings_have_a_code_for_everything() -> None:
    labels = label_column("x", ["a", "b"]).coding(None)
    assert labels == LabelCoding(("a", "b"), other=2, missing=3)
    numbers = number_column("x", [Fraction(1, 2), Fraction(2)], Fraction(0), whole=False).coding(np.dtype(np.float64))
    assert isinstance(numbers, CutCoding)
    assert numbers.missing == 3
    assert numbers.cuts == pytest.approx((0.5, 2.0), rel=1e-14)  # the lowest floats that are these decimals


def test_values_lie_in_their_codes_and_on_the_grain() -> None:
    column = number_column("x", [Fraction(1), Fraction(2), Fraction(7)], Fraction(1, 4), whole=False)
    values = decoded(column, np.array([0, 1, 2, 2, 2, 3, 4]), seeded(1))
    assert np.isnan(values[-1])
    assert (values[:-1] * 4 == np.rint(values[:-1] * 4)).all()
    assert 1 <= values[1] < 2
    assert ((values[2:5] >= 2) & (values[2:5] < 7)).all()
    assert decoded(label_column("x", ["a"]), np.array([0, 1, 2]), seeded(1)).tolist() == ["a", OTHER, None]


def test_rows_are_counted_by_all_columns_and_missing_codes_stand_apart() -> None:
    tables = [noisy([50, 50, 0], 1.0), noisy([100, 20], 100.0)]
    assert rows_of(tables) == pytest.approx(100, abs=0.1)
    assert rows_of([noisy([-5])]) == 1
    numbers = number_column("x", [Fraction(1), Fraction(2)], Fraction(0), whole=False)
    columns = [
        MeasuredColumn.of(numbers, noisy([300, 300, 300, 200]), 1100.0),
        MeasuredColumn.of(label_column("y", ["a"]), noisy([900, 0, 0]), 1100.0),
    ]
    assert orders_of(columns) == {0: 3}
    assert columns[0].size == 4
    assert columns[0].measured(0).noisy_counts.tolist() == [300, 300, 300, 200]


@pytest.mark.parametrize("edge", [Fraction(0), Fraction(10**20), Fraction(-(10**20)), Fraction(10**400)])
def test_a_column_of_numbers_has_two_edges_however_near_they_are_asked_for(edge: Fraction) -> None:
    column = number_column("x", [edge, edge], Fraction(1), whole=True)
    assert column.edges[0] < column.edges[1]
    assert all(low <= high for low, high in column.spans())
    assert counted(column, np.array([float(min(edge, Fraction(10**300)))])).sum() == 1
