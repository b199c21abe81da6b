"""Quantile regression as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

from dpstats.foundations.randomness import RandomSource
from dpstats.models.private_regression import Numbers, PrivateRegression, RegressorMixin


class QuantileRegressor(RegressorMixin, PrivateRegression):  # type: ignore[misc]  # scikit-learn has no types
    """A private regression of a quantile, `dpstats.quantile_regression`, that fits and predicts like scikit-learn's.

    Parameters
      quantile       which quantile is predicted, between 0 and 1

    The other parameters, and what is there after `fit`, are those of `LinearRegression`.
    """

    _statistic = "quantile_regression"

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        epsilon: Any = None,
        delta: Any = 0.0,
        fit_intercept: bool = True,
        method: str = "auto",
        neighbors: str = "add_remove",
        interval: float | None = 0.95,
        rng: RandomSource | None = None,
    ) -> None:
        self.quantile = quantile
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            fit_intercept=fit_intercept,
            method=method,
            neighbors=neighbors,
            interval=interval,
            rng=rng,
        )

    def predict(self, X: Any) -> Numbers:
        """The predicted quantiles for new rows."""
        return self._linear(X)

    def _own_parameters(self) -> dict[str, Any]:
        return {"quantile": self.quantile}
