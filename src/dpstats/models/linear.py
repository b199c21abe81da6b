"""Linear regression as an estimator of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpstats.models.private_regression import Numbers, PrivateRegression
from dpstats.models.scikit_learn import RegressorMixin


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(RegressorMixin, PrivateRegression):
    """A private linear regression, `dpstats.linear_regression`, that fits and predicts like scikit-learn's.

    Parameters
      fit_intercept  whether there is an intercept
      epsilon        the privacy that each fit spends; required, for example 0.5
      delta          for methods that need it, for example 1e-6; with method='auto' it is spent only if needed
      neighbors      'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method         the method by name
      interval       the confidence level of the intervals in `release_.intervals`, or None for none
      unit           what one row stands for, in words, for the card
      rng            dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    After `fit`: `coef_`, `intercept_`, `n_features_in_`, `feature_names_in_` where X has names, and `release_`, the answer with
    its cost and its card. Rows with a missing cell are left out. A refusal raises `dpstats.NoReplyError`, and costs the same.
    """

    _statistic = "linear_regression"

    def predict(self, X: Any) -> Numbers:
        """The predicted means for new rows."""
        return self._linear(X)
