"""What the estimators share: they ask a regression of dpstats, and keep its answer as scikit-learn keeps a fit.

A fit is one question. It reads rows only through that question; before it, names, types and shapes are looked at, which are
public. What an estimator predicts is computed from what was released, so that it costs nothing; the rows to predict for are the
caller's, are not protected, and are checked by scikit-learn in its own words.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dpstats.direct import function_for
from dpstats.foundations.accepted import NeighborsName, Number
from dpstats.foundations.errors import (
    DataTypeError,
    InvalidParameterError,
    MissingParameterError,
    NoReplyError,
)
from dpstats.foundations.randomness import RandomSource, SystemSource, source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.models.given import UnsuitableDataError, given_features, given_outcome
from dpstats.models.scikit_learn import BaseEstimator, check_is_fitted, validate_data
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.regression.predictions import linear_predictors

Numbers = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegression(BaseEstimator):
    """An estimator whose `fit` spends epsilon on one regression. Its fields are what scikit-learn calls parameters."""

    _statistic: ClassVar[str]
    """The name of the regression in the registry."""
    _predicts_missing: ClassVar[bool] = True
    """Whether a row with a missing cell has a prediction, NaN; where not, it is an error."""
    fit_intercept: bool = True
    epsilon: Number | None = None
    delta: Number = 0.0
    neighbors: NeighborsName = "add_remove"
    method: str = "auto"
    interval: Number | None = 0.95
    rough: bool = False
    unit: str = "row"
    rng: RandomSource | None = None
    coef_: Numbers = field(init=False)
    release_: Release[RegressionFit] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def fit(self, X: Any, y: Any) -> Self:
        """Ask for the regression of y on X, which spends epsilon. Raises `NoReplyError` where it is refused, at the same cost."""
        if self.epsilon is None:
            name = type(self).__name__
            raise MissingParameterError(f"{name} needs epsilon, the privacy that a fit spends: for example {name}(epsilon=0.5).")
        source = self._source()
        raw_features = given_features(X)
        validate_data(self, raw_features, y, skip_check_array=True)  # keeps how many features there are, and their names
        self.__dict__.pop("coef_", None)  # what was fitted before is not what is fitted now
        self.release_ = self._ask(raw_features, self._outcome(given_outcome(y)), source)
        if isinstance(self.release_, NoReply):
            raise NoReplyError(f"{type(self).__name__} was not fitted. {self.release_}")
        self._keep(self.release_.value)
        return self

    def _ask(self, raw_features: Any, raw_outcome: Any, source: RandomSource) -> Release | NoReply:
        try:
            return function_for(self._statistic)(
                raw_features,
                raw_outcome,
                intercept=self.fit_intercept,
                epsilon=self.epsilon,
                delta=self.delta,
                neighbors=self.neighbors,
                method=self.method,
                interval=self.interval,
                rough=self.rough,
                unit=self.unit,
                rng=source,
                **self._own_parameters(),
            )
        except DataTypeError as complaint:
            raise UnsuitableDataError(str(complaint)) from None

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
        check_is_fitted(self)
        raw_rows = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan" if self._predicts_missing else True
        )
        return linear_predictors(raw_rows, float(np.ravel(self.intercept_)[0]), np.ravel(self.coef_))

    def _source(self) -> RandomSource:
        """Where a fit draws from. scikit-learn copies estimators with all that they hold, and a copied source repeats itself.

        A seeded one may: every fit begins at its start, as with a whole `random_state`. A private one must not.
        """
        source = source_or_system(self.rng)
        if not source.private:
            return deepcopy(source)
        if type(source) is not SystemSource:
            raise InvalidParameterError(
                "an estimator's rng must come from dpstats.testing.seeded, or be left out: copies repeat it."
            )
        return source

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._predicts_missing
        tags.non_deterministic = getattr(self.rng, "private", True)
        return tags
