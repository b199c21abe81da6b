"""Predictions: what a released regression says of new rows, the same on every machine and in every layout of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats.statistics.regression.families import Floats, exp_of

_STEEPEST = 800.0  # beyond it the exponential function is 0 or infinite


def linear_predictors(rows: Floats, intercept: float, coefficients: Sequence[float] | Floats) -> Floats:
    """The intercept plus each feature times its coefficient, added feature by feature: BLAS would choose an order by itself."""
    predictors = np.full(len(rows), intercept, dtype=np.float64)
    with np.errstate(all="ignore"):
        for place, coefficient in enumerate(coefficients):
            predictors += rows[:, place] * float(coefficient)
    return predictors


def exponentials(predictors: Floats) -> Floats:
    """The exponential function of each predictor: infinite where it is too large for a float, NaN of NaN."""
    with np.errstate(all="ignore"):
        return exp_of(predictors, _STEEPEST)


def probabilities(predictors: Floats) -> Floats:
    """The inverse of the logit, for each predictor."""
    small = exponentials(-np.abs(predictors))
    with np.errstate(all="ignore"):
        return np.asarray(np.where(predictors >= 0, 1.0, small) / (1.0 + small))
