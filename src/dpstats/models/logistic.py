"""Logistic regression as an estimator of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.native import NativeColumn
from dpstats.engines.kinds import not_labels
from dpstats.engines.reading import native_column
from dpstats.engines.recoded import PlaceColumn
from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import InvalidParameterError
from dpstats.models.given import UnsuitableDataError
from dpstats.models.private_estimator import Numbers
from dpstats.models.private_regression import PrivateRegression
from dpstats.models.scikit_learn import ClassifierMixin
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.regression.predictions import exponentials, probabilities

_SORTABLE = "biufSU"


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(ClassifierMixin, PrivateRegression):
    """A private logistic regression, `dpstats.logistic_regression`: a classifier of two classes, without a penalty.

    Parameters
      classes        the two labels that y holds, for example ["no", "yes"]; left out, they are 0 and 1, or False and True. Which
                     labels are in the data is private, so they are never looked up there: a row with another one is left out

    The other parameters, and what is there after `fit`, are those of `LinearRegression`; `classes_` has the labels in their
    order, and `coef_` has one row, as in scikit-learn.
    """

    _statistic = "logistic_regression"
    _takes_missing = False  # there is no label to say so
    classes: Elements | None = None

    def decision_function(self, X: Any) -> Numbers:
        """The logarithm of the odds of the second class, for new rows."""
        return self._linear(X)

    def predict_proba(self, X: Any) -> Numbers:
        """The probabilities of both classes, for new rows."""
        log_odds = self._linear(X)
        return np.column_stack([probabilities(-log_odds), probabilities(log_odds)])

    def predict_log_proba(self, X: Any) -> Numbers:
        """The logarithms of the probabilities of both classes, for new rows."""
        log_odds = self._linear(X)
        return np.column_stack([_log_probabilities(-log_odds), _log_probabilities(log_odds)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class, for new rows."""
        log_odds = self._linear(X)
        return np.asarray(self.classes_[(log_odds > 0).astype(int)])

    def _outcome(self, raw_outcome: Any) -> PlaceColumn:
        """0 and 1 for the two labels, row by row; missing for all others."""
        self.classes_ = _checked_classes(self.classes)
        _check_type(native_column(raw_outcome), has_classes=self.classes is not None)
        return PlaceColumn(raw_outcome, self.classes_.tolist())

    def _keep(self, fit: RegressionFit) -> None:
        self.coef_ = np.array([fit.coefficients])
        self.intercept_ = np.array([fit.intercept])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _log_probabilities(log_odds: Numbers) -> Numbers:
    """The logarithm of each probability: that of 1 / (1 + exp(-x)), in the form that loses no digits far out."""
    small = exponentials(-np.abs(log_odds))
    whole = 1.0 + small
    with np.errstate(all="ignore"):  # log(1 + s) is log(whole) s / (whole - 1), whatever was lost in the sum
        logs = np.where(whole == 1.0, small, log_of(whole) * (small / (whole - 1.0)))
    return np.asarray(np.minimum(log_odds, 0.0) - logs)


def _checked_classes(classes: Any) -> NDArray[Any]:
    """Two labels of one type, sorted as scikit-learn has them."""
    labels = [0, 1] if classes is None else np.asarray(classes, dtype=object).ravel().tolist()
    known = np.array(labels)
    if len({type(label) for label in labels}) != 1 or known.dtype.kind not in _SORTABLE or len(np.unique(known)) != 2:
        raise InvalidParameterError("classes must be two different labels of one type, such as ['no', 'yes'] or [1, 2].")
    return np.unique(known)


def _check_type(column: NativeColumn, *, has_classes: bool) -> None:
    """Raise where no row of the outcome's declared type, which is public, could have one of the labels."""
    if column.type is ColumnType.OTHER:
        raise UnsuitableDataError(str(not_labels(column.holds)))
    if not has_classes and not column.type.is_numeric and column.type is not ColumnType.UNDECLARED:
        raise UnsuitableDataError(f"y is one of {column.holds.value}: list its two labels, such as classes=['no', 'yes'].")
