"""Poisson regression as an estimator of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpstats.models.private_regression import Numbers, PrivateRegression
from dpstats.models.scikit_learn import RegressorMixin
from dpstats.statistics.regression.predictions import exponentials


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
