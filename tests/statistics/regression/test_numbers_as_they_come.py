"""Columns as people derive them: two-valued floats, standardised counts, seventeen digits, tiny steps on large numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.regression.octaves import CELLS
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.sums import Distances
from dpstats.testing import seeded

ROWS = 4000
Maker = Callable[[np.random.Generator], Any]


def standardised(x: Floats) -> Floats:
    return np.asarray((x - x.mean()) / x.std())


FEATURES: dict[str, Maker] = {
    "log(2) and log(3)": lambda generator: np.where(generator.random(ROWS) < 0.8, np.log(2), np.log(3)),
    "a third and a seventh": lambda generator: np.where(generator.random(ROWS) < 0.5, 1 / 3, 1 / 7),
    "standardised counts": lambda generator: standardised(generator.poisson(1.0, ROWS)),
    "standardised marks": lambda generator: standardised(generator.random(ROWS) < 0.2),
    "logs of counts": lambda generator: np.log1p(generator.poisson(3.0, ROWS)),
    "seventeen digits": lambda generator: generator.normal(1000 / 7, np.pi, ROWS),
    "small steps far off": lambda generator: 1e6 + 1e-6 * generator.integers(0, 1000, ROWS),
    "marks": lambda generator: (generator.random(ROWS) < 0.3).astype(float),
    "one and two": lambda generator: 1.0 + (generator.random(ROWS) < 0.3),
    "years": lambda generator: 1990.0 + generator.integers(0, 30, ROWS),
    "seconds": lambda generator: 1.6e9 + generator.integers(0, 10**7, ROWS),
    "a part of the largest": lambda generator: generator.poisson(3.0, ROWS) / 12.0,
    "ranks": lambda generator: generator.permutation(ROWS) / ROWS,
}
METHODS = ("steps", "huber", "quantile", "logistic", "poisson")


def slope(method: str, x: Floats, generator: np.random.Generator, epsilon: float) -> float:
    """A fitted slope by a feature's standard deviations; it is 1, or a half with a link."""
    z = standardised(x)
    asked: dict[str, Any] = {"epsilon": epsilon, "rng": seeded(7)}
    if method == "logistic":
        fit = dp.logistic_regression(x[:, None], generator.random(ROWS) < 1 / (1 + np.exp(-z / 2)), **asked)
    elif method == "poisson":
        fit = dp.poisson_regression(x[:, None], generator.poisson(np.exp(z / 2)), **asked)
    else:
        y = z + generator.normal(size=ROWS)
        fit = dp.quantile_regression(x[:, None], y, **asked) if method == "quantile" else linear(x, y, method, asked)
    return float(fit.value.coef[0] * x.std())


def linear(x: Floats, y: Floats, method: str, asked: dict[str, Any]) -> Any:
    return dp.linear_regression(x[:, None], y, method=method, **asked)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [4, 100])
@pytest.mark.parametrize("name", FEATURES)
def test_a_slope_is_found_whatever_the_feature_is_made_from(name: str, epsilon: float, method: str) -> None:
    generator = np.random.default_rng(5)
    expected = 0.5 if method in ("logistic", "poisson") else 1.0
    assert slope(method, FEATURES[name](generator), generator, epsilon) == pytest.approx(expected, abs=0.25)


@pytest.mark.parametrize("x", [np.full(ROWS, 3.7), np.full(ROWS, 1 / 3), 1e6 + 1e-12 * np.arange(ROWS)])
@pytest.mark.parametrize("method", METHODS)
def test_a_feature_that_does_not_vary_moves_nothing(x: Floats, method: str) -> None:
    generator = np.random.default_rng(6)
    asked: dict[str, Any] = {"epsilon": 20, "rng": seeded(8)}
    y = generator.normal(5.0, 1.0, ROWS)
    fits = {
        "quantile": lambda: dp.quantile_regression(x[:, None], y, **asked),
        "logistic": lambda: dp.logistic_regression(x[:, None], y > 5, **asked),
        "poisson": lambda: dp.poisson_regression(x[:, None], np.floor(np.abs(y)), **asked),
    }
    fit = fits[method]() if method in fits else linear(x, y, method, asked)
    low, high = fit.intervals[1].low, fit.intervals[1].high
    assert low <= 0 <= high
    assert np.isfinite(fit.value.params).all()


def test_a_row_that_is_at_the_middle_to_15_digits_is_at_it() -> None:
    found = Distances((0.693147180559945,))(np.array([[np.log(2), 0.0], [np.log(3), 0.0], [0.693147180559945, 0.0]]))
    assert found.shape == (CELLS,)
    assert found.sum() == 1
