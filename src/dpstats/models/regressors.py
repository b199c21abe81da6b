"""Regressors of scikit-learn: private regressions of means, quantiles and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpstats.models.private_estimator import Numbers
from dpstats.models.private_regression import PrivateRegression
from dpstats.models.scikit_learn import RegressorMixin
from dpstats.statistics.regression.predictions import exponentials


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
      rough          whether a rough fit is wanted where rows times epsilon are too few for a good one
      unit           what one row stands for, in words, for the card
      rng            dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    After `fit`: `coef_`, `intercept_`, `n_features_in_`, `feature_names_in_` where X has names, and `release_`, the answer with
    its cost and its card. Rows with a missing cell are left out. A refusal raises `dpstats.NoReplyError`, and costs the same.
    """

    _statistic = "linear_regression"


@dataclass(kw_only=True, eq=False, repr=False)
class QuantileRegressor(RegressorMixin, PrivateRegression):
    """A private regression of a quantile, `dpstats.quantile_regression`, that fits and predicts like scikit-learn's.

    Parameters
      quantile       which quantile is predicted, between 0 and 1

    The other parameters, and what is there after `fit`, are those of `LinearRegression`.
    """

    _statistic = "quantile_regression"
    quantile: float = 0.5

    def _own_parameters(self) -> dict[str, Any]:
        return {"quantile": self.quantile}


@dataclass(kw_only=True, eq=False, repr=False)
class PoissonRegressor(RegressorMixin, PrivateRegression):
    """A private regression of counts, `dpstats.poisson_regression`, that fits and predicts like scikit-learn's with alpha=0.

    Its parameters, and what is there after `fit`, are those of `LinearRegression`. `coef_` and `intercept_` are those of the
    logarithm of the mean.
    """

    _statistic = "poisson_regression"

    def predict(self, X: Any) -> Numbers:
        """The predicted means for new rows."""
        return exponentials(self._linear(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the deviance that the predictions explain, as scikit-learn scores such a fit. A score is not private."""
        from sklearn.metrics import d2_tweedie_score

        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
