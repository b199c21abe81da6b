"""Nearest neighbours as a classifier of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.results import NoReply, Release
from dpstats.models.given import given_outcome
from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.models.scikit_learn import ClassifierMixin
from dpstats.statistics.box_tree.neighbors import USUAL_NEIGHBORS, NeighborClasses


@dataclass(kw_only=True, eq=False, repr=False)
class KNeighborsClassifier(ClassifierMixin, PrivateEstimator):
    """A private classifier by nearest neighbours, `dpstats.nearest_neighbors`: the class that most rows around a point have.

    Parameters
      classes        the labels that y holds, for example ["no", "yes"]; left out, they are 0 and 1, or False and True. Which
                     labels are in the data is private, so they are never looked up there: a row with another one is left out
      n_neighbors    about how many rows around a point speak; it may be changed after a fit, at no cost

    The other parameters are those of `LinearRegression`. After `fit`: `classes_`, `n_features_in_`, `feature_names_in_` where X
    has names, and `release_`, the answer with its cost and its card. Features are numbers, at most 12, and need not be
    standardised. A refusal raises `dpstats.NoReplyError`, and costs the same.
    """

    _statistic = "nearest_neighbors"
    _learned = ("classes_",)
    _takes_missing = False  # there is no label to say so
    classes: Elements | None = None
    n_neighbors: float = USUAL_NEIGHBORS
    classes_: NDArray[Any] = field(init=False)
    release_: Release[NeighborClasses] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def fit(self, X: Any, y: Any) -> Self:
        """Ask for the rows of each class around all points, which spends epsilon. Raises `NoReplyError` where it is refused."""
        raw_features, source = self._begin(X, y)
        labels = [0, 1] if self.classes is None else np.asarray(self.classes, dtype=object).ravel().tolist()
        if len({type(label) for label in labels}) != 1:
            raise InvalidParameterError("classes must be labels of one type, such as ['no', 'yes'] or [1, 2].")
        classes = np.unique(np.array(labels))
        self._release(source, raw_features, given_outcome(y), classes=classes.tolist())
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that most rows around each new row have."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(shares, axis=1)])

    def predict_proba(self, X: Any) -> Numbers:
        """The part of the rows around each new row that each class has."""
        rows = self._new_rows(X)
        assert isinstance(self.release_, Release)
        return self.release_.value.predict_proba(rows, self.n_neighbors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.classes is not None  # else they are 0 and 1
        return tags
