"""Clusters as estimators of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.models.scikit_learn import TransformerMixin
from dpstats.statistics.clusters.clusters import Clusters, distances_from


@dataclass(kw_only=True, eq=False, repr=False)
class KMeans(TransformerMixin, PrivateEstimator):
    """Private clusters by k-means, `dpstats.kmeans`, that fit, predict and transform like scikit-learn's.

    Parameters
      n_clusters     how many clusters there are
      standardize    whether each column counts in units of its own private spread; False: all in those of the widest

    The other parameters are those of `LinearRegression`. After `fit`: `cluster_centers_`, `cluster_sizes_` (noisy numbers of
    rows, the largest first), `scale_` (what distances are counted in), `n_features_in_`, `feature_names_in_` where X has names,
    and `release_`, the answer with its cost and its card. There is no `labels_`: which cluster a private row is in is private.
    """

    _statistic = "kmeans"
    _learned = ("cluster_centers_", "cluster_sizes_", "scale_")
    _takes_missing = False
    n_clusters: int = 5
    standardize: bool = True
    cluster_centers_: Numbers = field(init=False)
    cluster_sizes_: Numbers = field(init=False)
    scale_: Numbers = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask for the clusters of X, which spends epsilon. Raises `NoReplyError` where that is refused, at the same cost."""
        raw_features, source = self._begin(X)
        clusters: Clusters = self._release(source, raw_features, clusters=self.n_clusters, standardize=self.standardize)
        self.cluster_centers_ = np.array(clusters.centers)
        self.cluster_sizes_ = np.array(clusters.sizes)
        self.scale_ = np.array(clusters.scales)
        return self

    def transform(self, X: Any) -> Numbers:
        """How far new rows lie from each centre, rows by clusters, in units of `scale_`."""
        return distances_from(self._new_rows(X), self.cluster_centers_.tolist(), self.scale_.tolist())

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster whose centre is nearest, for new rows."""
        return np.argmin(self.transform(X), axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Less the sum of squared distances of new rows from their nearest centres. A score is not private."""
        return -float(np.square(self.transform(X).min(axis=1)).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
