"""Quantile regression as an estimator of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpstats.models.private_regression import Numbers, PrivateRegression
from dpstats.models.scikit_learn import RegressorMixin


@dataclass(kw_only=True, eq=False, repr=False)
class QuantileRegressor(RegressorMixin, PrivateRegression):
    """A private regression of a quantile, `dpstats.quantile_regression`, that fits and predicts like scikit-learn's.

    Parameters
      quantile       which quantile is predicted, between 0 and 1

    The other parameters, and what is there after `fit`, are those of `LinearRegression`.
    """

    _statistic = "quantile_regression"
    quantile: float = 0.5

    def predict(self, X: Any) -> Numbers:
        """The predicted quantiles for new rows."""
        return self._linear(X)

    def _own_parameters(self) -> dict[str, Any]:
        return {"quantile": self.quantile}
