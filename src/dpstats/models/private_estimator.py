"""What all estimators share: a fit asks one statistic of dpstats, and its answer is kept as scikit-learn keeps a fit.

A fit is one question. It reads rows only through that question; before it, names, types and shapes are looked at, which are
public. What an estimator makes of new rows is computed from what was released, so that it costs nothing; those rows are the
caller's, are not protected, and are checked by scikit-learn in its own words.

An estimator names its statistic (`_statistic`), writes `fit` as `_begin`, `_release` and what it keeps of the value, and lists
in `_learned` the attributes that a fit sets: they are forgotten when the next fit begins.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

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
from dpstats.models.given import UnsuitableDataError, given_features, shown_shape
from dpstats.models.scikit_learn import BaseEstimator, check_is_fitted, validate_data

Numbers = NDArray[np.float64]
NO_OUTCOME: Any = "no_validation"
"""What scikit-learn's `validate_data` takes for a fit without an outcome."""


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(BaseEstimator):
    """An estimator whose `fit` spends epsilon on one question. Its fields are what scikit-learn calls parameters."""

    _statistic: ClassVar[str]
    """The name of the statistic in the registry."""
    _learned: ClassVar[tuple[str, ...]] = ()
    """The attributes that a fit sets, besides `release_`."""
    _takes_missing: ClassVar[bool] = True
    """Whether new rows may have missing cells, which make their results NaN; where not, they are an error."""
    epsilon: Number | None = None
    delta: Number = 0.0
    neighbors: NeighborsName = "add_remove"
    method: str = "auto"
    interval: Number | None = 0.95
    rough: bool = False
    unit: str = "row"
    rng: RandomSource | None = None
    release_: Release[Any] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def _begin(self, X: Any, y: Any = NO_OUTCOME) -> tuple[Any, RandomSource]:
        """Check what is public about a fit, and forget the last one. Returns the features, and where noise is drawn from."""
        if self.epsilon is None:
            name = type(self).__name__
            raise MissingParameterError(f"{name} needs epsilon, the privacy that a fit spends: for example {name}(epsilon=0.5).")
        source = self._source()
        raw_features = given_features(X)
        # keeps how many features there are, and their names
        validate_data(self, shown_shape(raw_features), y, skip_check_array=True)
        for name in ("release_", *self._learned):  # what was fitted before is not what is fitted now
            self.__dict__.pop(name, None)
        return raw_features, source

    def _release(self, source: RandomSource, *raw_columns: Any, **parameters: Any) -> Any:
        """Ask the statistic about the columns, and return the released value. Raises `NoReplyError` where it is refused."""
        try:
            self.release_ = function_for(self._statistic)(
                *raw_columns,
                epsilon=self.epsilon,
                delta=self.delta,
                neighbors=self.neighbors,
                method=self.method,
                interval=self.interval,
                rough=self.rough,
                unit=self.unit,
                rng=source,
                **parameters,
            )
        except DataTypeError as complaint:
            raise UnsuitableDataError(str(complaint)) from None
        if isinstance(self.release_, NoReply):
            raise NoReplyError(f"{type(self).__name__} was not fitted. {self.release_}")
        return self.release_.value

    def _new_rows(self, X: Any) -> Numbers:
        """Rows that the caller gives to a fitted estimator, as scikit-learn checks them."""
        check_is_fitted(self)
        finite: Any = "allow-nan" if self._takes_missing else True
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=finite))

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
        return isinstance(getattr(self, "release_", None), Release)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        tags.non_deterministic = getattr(self.rng, "private", True)
        return tags
