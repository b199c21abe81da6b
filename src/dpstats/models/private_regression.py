"""What regressions as estimators share: a fit is one question about features and an outcome, and predictions are linear in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpstats.foundations.results import NoReply, Release
from dpstats.models.given import given_outcome
from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.regression.predictions import linear_predictors


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegression(PrivateEstimator):
    """An estimator whose `fit` spends epsilon on one regression."""

    _learned = ("coef_", "intercept_")
    fit_intercept: bool = True
    coef_: Numbers = field(init=False)
    release_: Release[RegressionFit] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def fit(self, X: Any, y: Any) -> Self:
        """Ask for the regression of y on X, which spends epsilon. Raises `NoReplyError` where it is refused, at the same cost."""
        raw_features, source = self._begin(X, y)
        raw_outcome = self._outcome(given_outcome(y))
        self._keep(self._release(source, raw_features, raw_outcome, intercept=self.fit_intercept, **self._own_parameters()))
        return self

    def _own_parameters(self) -> dict[str, Any]:
        """What the regression takes besides what all take."""
        return {}

    def _outcome(self, raw_outcome: Any) -> Any:
        """The outcome as the regression reads it."""
        return raw_outcome

    def _keep(self, fit: RegressionFit) -> None:
        self.coef_ = np.array(fit.coefficients)
        self.intercept_: Any = fit.intercept

    def predict(self, X: Any) -> Numbers:
        """What the fit predicts for new rows: means, or the quantiles that it is for."""
        return self._linear(X)

    def _linear(self, X: Any) -> Numbers:
        """The intercept and the features times their coefficients, for each row."""
        raw_rows = self._new_rows(X)
        return linear_predictors(raw_rows, float(np.ravel(self.intercept_)[0]), np.ravel(self.coef_))
