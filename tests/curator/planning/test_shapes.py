"""Shapes: named ones are proper quantile functions, and a caller's own is checked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import dpstats as dp
from dpstats.curator.planning.shapes import DEFAULT_SHAPES, SHAPES, Shape, checked_shapes

PLACES = np.linspace(0.001, 0.999, 999)


@pytest.mark.parametrize("name", SHAPES)
def test_every_named_shape_passes_its_own_check_and_says_what_it_is(name: str) -> None:
    shape = SHAPES[name].checked()
    assert shape.name == name
    assert shape.summary


def test_named_shapes_are_the_distributions_that_they_say() -> None:
    np.testing.assert_allclose(SHAPES["normal"].values_at(PLACES), stats.norm(math.pi).ppf(PLACES))
    np.testing.assert_allclose(SHAPES["heavy_tailed"].values_at(PLACES), stats.t(2, math.e).ppf(PLACES), atol=1e-9)
    np.testing.assert_allclose(np.log(SHAPES["lognormal"].values_at(PLACES)), stats.norm(10, 0.75).ppf(PLACES))
    delays, ratings = (SHAPES[name].values_at((np.arange(10_000) + 0.5) / 10_000) for name in ("delays", "ratings"))
    assert np.mean(delays == 0) == pytest.approx(1 - np.exp(-5.5 / 20), abs=1e-4)
    assert (np.rint(delays) == delays).all()
    assert [np.mean(ratings == value) for value in range(1, 6)] == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.25])
    assert SHAPES["normal"].iqr == pytest.approx(1.34898)
    assert SHAPES["constant"].iqr == 0


@pytest.mark.parametrize("name", ["normal", "lognormal", "heavy_tailed", "uniform"])
def test_no_continuous_shape_has_a_round_middle(name: str) -> None:
    middle = float(SHAPES[name].values_at(np.array([0.5]))[0])
    assert float(f"{middle:.8g}") != middle


def test_left_out_a_few_shapes_that_differ_are_taken() -> None:
    assert tuple(shape.name for shape in checked_shapes(None)) == DEFAULT_SHAPES


def incomes(q: object) -> object:
    return np.exp(np.asarray(q))


def test_own_shapes_get_names_that_tell_them_apart() -> None:
    shapes = checked_shapes(["normal", incomes, lambda q: q, lambda q: 2 * q, Shape("mine", "as I say", lambda q: q)])
    assert [shape.name for shape in shapes] == ["normal", "incomes", "own", "own 2", "mine"]


@pytest.mark.parametrize(
    ("shape", "error", "words"),
    [
        ("norml", dp.UnknownNameError, "there is no shape 'norml'; there are normal, lognormal"),
        ([], dp.InvalidParameterError, "at least one shape"),
        (7, dp.InvalidParameterError, "got int"),
        (["normal", None], dp.InvalidParameterError, "got NoneType"),
        (lambda q: -q, dp.InvalidParameterError, "falls"),
        (lambda q: q * np.nan, dp.InvalidParameterError, "NaN"),
        (lambda q: 1 / 0, dp.InvalidParameterError, "ZeroDivisionError"),
        (lambda q: 3.0, dp.InvalidParameterError, "array of shape"),
        (lambda q: q[:5], dp.InvalidParameterError, "array of shape"),
        (lambda q: ["text"] * len(q), dp.InvalidParameterError, "ValueError"),
        (lambda q: np.where(q > 0.7, np.inf, q), dp.InvalidParameterError, "infinite quartiles"),
        (lambda q: np.where(q < 0.5, q, q - 0.01), dp.InvalidParameterError, "falls"),
    ],
)
def test_a_shape_that_cannot_be_used_is_refused_in_words(shape: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        checked_shapes(shape)
