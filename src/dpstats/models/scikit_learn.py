"""What our estimators are made from: classes of scikit-learn, which has no types, so that type checkers read them here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from dpstats.foundations.errors import MissingExtraError

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "validate_data",
]

try:
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError(
        "models need scikit-learn 1.6 or newer: pip install 'dpstats[models]', or in a clone of dpstats "
        "pip install -e '.[models]'."
    ) from None

if TYPE_CHECKING:

    class BaseEstimator:
        """An estimator, whose parameters can be read and set."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name."""
            ...

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class _Scored:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """How well predictions for rows fit their outcomes."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin(_Scored):
        """A regressor; its score is R^2."""

    class ClassifierMixin(_Scored):
        """A classifier; its score is the accuracy."""

    class TransformerMixin:
        """A transformer of rows."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fit, and transform the same rows."""
            ...

    class ClassNamePrefixFeaturesOutMixin:
        """A transformer whose columns are named by its class and their places."""

        def get_feature_names_out(self, input_features: Any = None) -> Any:
            """The names of the columns that it makes."""
            ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
    )
