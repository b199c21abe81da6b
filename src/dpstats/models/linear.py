"""Linear regression as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

from dpstats.models.private_regression import Numbers, PrivateRegression, RegressorMixin


class LinearRegression(RegressorMixin, PrivateRegression):  # type: ignore[misc]  # scikit-learn has no types
    """A private linear regression, `dpstats.linear_regression`, that fits and predicts like scikit-learn's.

    Parameters
      epsilon        the privacy that each fit spends; required, for example 0.5
      delta          for methods that need it, for example 1e-6; with method='auto' it is spent only if needed
      fit_intercept  whether there is an intercept
      method         the method by name
      neighbors      'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      interval       the confidence level of the intervals in `release_.intervals`, or None for none
      rng            dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    After `fit`: `coef_`, `intercept_`, `n_features_in_`, `feature_names_in_` where X has names, and `release_`, the answer with
    its cost and its card. Rows with a missing cell are left out. A refusal raises `dpstats.NoReplyError`, and costs the same.
    """

    _statistic = "linear_regression"

    def predict(self, X: Any) -> Numbers:
        """The predicted means for new rows."""
        return self._linear(X)
