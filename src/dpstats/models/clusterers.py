"""Clusters, and mixtures of normal laws, as estimators of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.results import Release
from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.models.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from dpstats.statistics.clusters.clusters import Clusters, distances_from
from dpstats.statistics.clusters.mixtures import MixtureFit, log_totals


@dataclass(kw_only=True, eq=False, repr=False)
class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """A private k-means, `dpstats.kmeans`, that fits, predicts and transforms like scikit-learn's.

    Parameters
      n_clusters     how many clusters there are
      standardize    whether each column counts in units of its own private spread; False: all in those of the widest

    The other parameters are those of `LinearRegression`. After `fit`: `cluster_centers_`, `cluster_sizes_` (noisy numbers of
    rows, the largest first), `scale_` (what distances are counted in), `n_features_in_`, `feature_names_in_` where X has names,
    and `release_`, the answer with its cost and its card. There is no `labels_`: which cluster a private row is in is private.
    `fit_transform`, and `predict` or `transform` of the rows that were fitted, give functions of private rows: release none.
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
        return np.asarray(np.argmin(self.transform(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Less the sum of squared distances of new rows from their nearest centres. A score is not private."""
        return -float(np.square(self.transform(X).min(axis=1)).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianMixture(PrivateEstimator):
    """A private mixture of normal laws, `dpstats.gaussian_mixture`: as scikit-learn's with covariance_type="diag".

    Parameters
      n_components   how many components there are

    The other parameters are those of `LinearRegression`. After `fit`: `weights_`, `means_`, `covariances_` (the variances of
    columns, components by columns), `n_features_in_`, `feature_names_in_` where X has names, and `release_`, the answer with its
    cost and its card.
    """

    _statistic = "gaussian_mixture"
    _learned = ("weights_", "means_", "covariances_")
    _takes_missing = False
    n_components: int = 3
    weights_: Numbers = field(init=False)
    means_: Numbers = field(init=False)
    covariances_: Numbers = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask for the mixture of X, which spends epsilon. Raises `NoReplyError` where that is refused, at the same cost."""
        raw_features, source = self._begin(X)
        mixture: MixtureFit = self._release(source, raw_features, components=self.n_components)
        self.weights_ = np.array(mixture.weights)
        self.means_ = np.array(mixture.means)
        self.covariances_ = np.array(mixture.variances)
        return self

    def score_samples(self, X: Any) -> Numbers:
        """The log of the density at each of new rows."""
        return log_totals(self._log_parts(X))[0]

    def predict_proba(self, X: Any) -> Numbers:
        """How likely each of new rows comes from each component, rows by components."""
        return log_totals(self._log_parts(X))[1]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The likeliest component of each of new rows."""
        return np.asarray(np.argmax(self._log_parts(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of new rows. A score is not private."""
        return float(self.score_samples(X).mean())

    def _log_parts(self, X: Any) -> Numbers:
        rows = self._new_rows(X)
        assert isinstance(self.release_, Release)
        mixture: MixtureFit = self.release_.value
        return mixture.log_parts(rows)
