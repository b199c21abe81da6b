"""Classifiers of scikit-learn that take columns of numbers and of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Numbers as Cells
from dpstats.engines.cells import present_cells
from dpstats.engines.recoded import NumberColumn
from dpstats.engines.tables.features import features_of
from dpstats.foundations.accepted import Elements
from dpstats.foundations.results import NoReply, Release
from dpstats.models.given import given_features, given_outcome, shown_shape
from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.models.scikit_learn import ClassifierMixin, check_is_fitted, validate_data
from dpstats.statistics.classification.model import label_array


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """An estimator whose `fit` spends epsilon on one classifier."""

    _learned: ClassVar[tuple[str, ...]] = ("classes_",)
    classes: Elements | None = None
    levels: Mapping[str, Elements] | None = None
    classes_: NDArray[Any] = field(init=False)
    release_: Release[Any] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def fit(self, X: Any, y: Any) -> Self:
        """Ask for the classifier of y by X, which spends epsilon. Raises `NoReplyError` where it is refused, at the same cost."""
        raw_features, source = self._begin(X, y)
        if isinstance(raw_features, (list, tuple)):  # a list of rows declares nothing, and without this would have labels
            raw_features = [NumberColumn(feature.raw_values) for feature in features_of(raw_features)]
        classes = None if self.classes is None else _sorted(np.asarray(self.classes, dtype=object).ravel().tolist())
        model = self._release(source, raw_features, given_outcome(y), classes=classes, levels=self.levels)
        self.classes_ = label_array(model.classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class, for new rows."""
        return np.asarray(self._model().predict(self._new_columns(X)))

    def predict_proba(self, X: Any) -> Numbers:
        """The probabilities of all classes, in the order of `classes_`, for new rows."""
        return np.asarray(self._model().predict_proba(self._new_columns(X)))

    def _model(self) -> Any:
        check_is_fitted(self)
        assert isinstance(self.release_, Release)
        return self.release_.value

    def _new_columns(self, X: Any) -> dict[str, Any]:
        """The columns of new rows under the names that they were fitted by; as many as there were, and called the same."""
        rows = given_features(X)
        validate_data(self, shown_shape(rows), reset=False, skip_check_array=True)
        names = [feature.name for feature in self._model().features]
        columns = [feature.raw_values for feature in features_of(rows)]
        if isinstance(rows, (list, tuple)):
            columns = [_floats(NumberColumn(column).numbers()) for column in columns]
        return dict(zip(names, columns, strict=True))


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveClassifier(PrivateClassifier):
    """A private additive classifier, `dpstats.additive_classifier`: for each class a sum of effects of the values in all columns.

    It is the one to begin with. X may be a data frame with columns of text; a list of rows, or an array of numbers, has numbers.

    Parameters
      classes        the labels that y holds, for example ["no", "yes"]; left out, they are 0 and 1, or False and True, and of
                     labels they are found privately, which needs delta. A row with another one is left out
      levels         the labels of features, where they are public: {"region": ["north", "south"]}; other columns of labels have
                     theirs found privately, which needs delta

    The other parameters are those of `LinearRegression`. After `fit`: `classes_`, `n_features_in_`, `feature_names_in_` where X
    has names, and `release_`, the answer with its cost and its card; `release_.value` has the effects. A missing cell counts as a
    value. A refusal raises `dpstats.NoReplyError`, and costs the same.
    """

    _statistic = "additive_classifier"

    def decision_function(self, X: Any) -> Numbers:
        """Of two classes the log odds of the second, for new rows; of more the scores of all, rows by classes."""
        scores = self._model().scores(self._new_columns(X))
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(PrivateClassifier):
    """A private naive Bayes classifier, `dpstats.naive_bayes`: how often each class has each value of each column.

    Its parameters, and what is there after `fit`, are those of `AdditiveClassifier`.
    """

    _statistic = "naive_bayes"


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTree(PrivateClassifier):
    """A private decision tree, `dpstats.decision_tree`; method="id3" is the printed one, by noisy information gain.

    Its parameters, and what is there after `fit`, are those of `AdditiveClassifier`; `release_.value.text()` shows the tree.
    """

    _statistic = "decision_tree"


def _floats(cells: Cells) -> Numbers:
    """Numbers of new rows, NaN where they are missing."""
    return np.where(present_cells(cells), cells.raw_values, np.nan)


def _sorted(labels: list[Any]) -> list[Any]:
    """Labels in their order where they have one, as scikit-learn has them."""
    try:
        return sorted(labels)
    except TypeError:
        return labels
