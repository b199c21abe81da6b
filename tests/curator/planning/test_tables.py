"""A synthetic column keeps the contract of a column, and has the law of real rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpstats as dp
from dpstats.curator.planning.shapes import SHAPES, Shape
from dpstats.curator.planning.tables import ShapeColumn, first_place
from dpstats.curator.planning.uniforms import DrawnUniforms, EvenUniforms, Uniforms
from dpstats.engines.arrays import ArrayColumn
from dpstats.foundations.summaries import OrderWindow, WindowRequest

INFINITE = Shape("infinite", "a fifth at either infinity", lambda q: np.where(q < 0.2, -math.inf, np.where(q > 0.8, math.inf, q)))
SIGNED_ZERO = Shape("signed zero", "zeros of both signs", lambda q: np.where(q < 0.5, -0.0, 0.0))
ALL_SHAPES = [*SHAPES.values(), INFINITE, SIGNED_ZERO]
REQUESTS = [
    WindowRequest(Fraction(1, 2), 3),
    WindowRequest(Fraction(1, 4), 10),
    WindowRequest(Fraction(3, 4), 0),
    WindowRequest(Fraction(0), 2),
    WindowRequest(Fraction(1), 2),
    WindowRequest(Fraction(99, 100), 5),
    WindowRequest(Fraction(1, 3), 10**9),
]
CUTS = [0, 0.5, 1, 2.5, 9, 7.25, 22_000.0, -math.inf, math.inf, math.nan, 10**400, -(10**400)]


def column_of(shape: Shape, rows: int, seed: int = 1) -> ShapeColumn:
    return ShapeColumn(shape, DrawnUniforms(rows, np.random.default_rng(seed)))


def same(one: OrderWindow, other: OrderWindow) -> None:
    assert (one.raw_rows, one.raw_below, one.raw_above) == (other.raw_rows, other.raw_below, other.raw_above)
    assert [repr(value) for value in one.raw_values.tolist()] == [repr(value) for value in other.raw_values.tolist()]
    assert one.raw_counts.tolist() == other.raw_counts.tolist()
    assert one.raw_counts.dtype == np.int64


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("shape", ALL_SHAPES, ids=lambda shape: str(shape.name))
@pytest.mark.parametrize("backwards", [False, True])
def test_windows_and_counts_are_those_of_the_rows_that_are_drawn_in_the_end(shape: Shape, rows: int, backwards: bool) -> None:
    column = column_of(shape, rows)
    requests = REQUESTS[::-1] if backwards else REQUESTS
    cuts = CUTS[::-1] if backwards else CUTS
    early_counts = column.counts_below(cuts[:4])
    windows = column.order_windows(requests)
    counts = column.counts_below(cuts)
    real = ArrayColumn([column._values(1, rows)])
    assert early_counts == real.counts_below(cuts[:4])
    assert counts == real.counts_below(cuts)
    for window, expected in zip(windows, real.order_windows(requests), strict=True):
        same(window, expected)
    assert (column.count(), column.stored()) == (rows, rows)


def test_a_window_of_a_billion_rows_counts_its_ties_whole_and_agrees_with_the_counts() -> None:
    column = column_of(SHAPES["delays"], 10**9)
    for window in column.order_windows([WindowRequest(Fraction(part, 10), 1000) for part in range(11)]):
        assert window.raw_rows == 10**9
        first, last = float(window.raw_values[0]), float(window.raw_values[-1])
        assert column.counts_below([first, last + 0.5]) == [window.raw_below, 10**9 - window.raw_above]
        assert (np.diff(window.raw_values) > 0).all()
    share = column.counts_below([0.5])[0] / 10**9
    assert share == pytest.approx(1 - math.exp(-5.5 / 20), abs=6e-5)


LAWS = [("delays", 500), *(pytest.param(name, 4000, marks=pytest.mark.long) for name in ("normal", "delays", "ratings"))]


@pytest.mark.parametrize(("name", "repeats"), LAWS)
def test_windows_and_counts_have_the_law_of_real_rows(name: str, repeats: int) -> None:
    shape, rows = SHAPES[name], 101
    request = WindowRequest(Fraction(3, 10), 4)
    generator = np.random.default_rng(5)

    def facts(column: ShapeColumn | ArrayColumn) -> tuple[float, ...]:
        (below,) = column.counts_below([1])
        (window,) = column.order_windows([request])
        (middle,) = column.order_windows([WindowRequest(Fraction(1, 2), 1)])
        low, high = float(window.raw_values[0]), float(middle.raw_values[-1])
        return below, low, float(window.raw_counts[0]), window.raw_below, high, middle.raw_above, high - low + below / 7

    synthetic = np.array([facts(ShapeColumn(shape, DrawnUniforms(rows, generator))) for _ in range(repeats)])
    real = np.array([facts(ArrayColumn([shape.values_at(np.sort(generator.random(rows)))])) for _ in range(repeats)])
    for index in range(synthetic.shape[1]):
        assert stats.ks_2samp(synthetic[:, index], real[:, index], method="asymp").pvalue > 1e-4, index


@pytest.mark.parametrize("name", ["normal", "ratings"])
def test_sums_and_common_values_are_those_of_the_drawn_rows(name: str) -> None:
    column = column_of(SHAPES[name], 500)
    (window,) = column.order_windows([WindowRequest(Fraction(1, 2), 20)])
    real = ArrayColumn([column._values(1, 500)])
    assert column.sum_between(-1, 3.5, Fraction(1, 1024)) == real.sum_between(-1, 3.5, Fraction(1, 1024))
    assert column.most_common(3) == real.most_common(3)
    same(real.order_windows([WindowRequest(Fraction(1, 2), 20)])[0], window)


@pytest.mark.parametrize("uniforms", [EvenUniforms(10**8), DrawnUniforms(10**8, np.random.default_rng(1))])
def test_a_sum_over_too_many_rows_is_refused_in_words(uniforms: Uniforms) -> None:
    column = ShapeColumn(SHAPES["normal"], uniforms)
    with pytest.raises(dp.InvalidParameterError, match="n up to 2,000,000"):
        column.sum_between(-1, 1, Fraction(1))
    with pytest.raises(dp.InvalidParameterError, match="n up to 2,000,000"):
        column.most_common(2)


def test_the_first_place_that_reaches_a_cut_is_found_to_the_last_float() -> None:
    uniform = Shape("unit", "evenly spread from 0 to 1", lambda q: q)
    for cut in (1e-300, 0.1, 0.5, 0.3 + 1e-16, 1 - 2**-53):
        assert first_place(uniform, cut) == cut
    assert first_place(uniform, 2.0) == 1
    assert first_place(uniform, -1.0) <= 5e-324
    ratings = SHAPES["ratings"]
    place = first_place(ratings, 3.0)
    below, at = ratings.values_at(np.array([math.nextafter(place, 0), place]))
    assert (below, at) == (2.0, 3.0)
