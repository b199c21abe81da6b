"""Numbers beyond the largest scale that a statistic can draw are refused, and smaller ones of the same shape are answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.testing import seeded

ROWS = 4000
CHANCE = np.random.default_rng(3)
X = CHANCE.normal(size=(ROWS, 2)) + 8 * CHANCE.integers(0, 2, (ROWS, 1))
Y = X @ [1.0, 2.0] + CHANCE.normal(size=ROWS)
LARGE, USABLE = 1e150, 1e100


def ask(function: Callable[..., Any], *columns: Any, **words: Any) -> Any:
    return function(*columns, epsilon=20, rng=seeded(1), **words)


ASKED: dict[str, Callable[[float], Any]] = {
    "clusters": lambda unit: ask(dp.kmeans, X * unit, clusters=2),
    "clusters of one large column": lambda unit: ask(dp.kmeans, X * [1.0, unit], clusters=2),
    "mixture": lambda unit: ask(dp.gaussian_mixture, X * unit, components=2),
    "components": lambda unit: ask(dp.pca, X * unit),
    "density": lambda unit: ask(dp.density, X[:, 0] * unit),
    "neighbors": lambda unit: ask(dp.nearest_neighbors, X * unit, np.where(Y > 12, "a", "b"), classes=["a", "b"]),
    "least squares, features": lambda unit: ask(dp.linear_regression, X * unit, Y),
    "least squares, outcome": lambda unit: ask(dp.linear_regression, X, Y * unit),
    "least squares, outcome around 0": lambda unit: ask(dp.linear_regression, X, (Y - 12) * unit, intercept=False),
    "robust, outcome": lambda unit: ask(dp.linear_regression, X, Y * unit, method="huber"),
    "quantiles, outcome": lambda unit: ask(dp.quantile_regression, X, Y * unit),
    "logistic, features": lambda unit: ask(dp.logistic_regression, X * unit, Y + 4 * np.sin(np.arange(ROWS)) > 12),
}


@pytest.mark.parametrize("asked", ASKED)
def test_numbers_beyond_all_scales_are_refused_and_say_why(asked: str) -> None:
    refused = ASKED[asked](LARGE)
    assert isinstance(refused, dp.NoReply)
    assert refused.reason == TOO_LARGE.reason


@pytest.mark.parametrize("asked", ASKED)
def test_large_numbers_of_a_known_scale_are_answered(asked: str) -> None:
    assert isinstance(ASKED[asked](USABLE), dp.Release)
