"""Principal components as a transformer of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from dpstats.foundations.results import NoReply, Release
from dpstats.models.given import UnsuitableDataError, shown_shape
from dpstats.models.private_estimator import Numbers, PrivateEstimator
from dpstats.models.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin, check_array, check_is_fitted
from dpstats.statistics.principal.components import PrincipalComponents


@dataclass(kw_only=True, eq=False, repr=False)
class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """The private principal components of columns, `dpstats.pca`, as a transformer like scikit-learn's for standardised columns.

    Parameters
      n_components   how many components
      scale          whether columns are divided by their standard deviations (the default), which scikit-learn's does not do

    The other parameters are those of `LinearRegression`. After `fit`: `components_`, `explained_variance_`,
    `explained_variance_ratio_`, `mean_`, `scale_` (None without `scale`), `n_components_`, `n_features_in_`, `feature_names_in_`
    where X has names, and `release_`, the answer with its cost and its card. Rows with a missing cell are left out of a fit. A
    refusal raises `dpstats.NoReplyError`, and costs the same. `fit_transform`, and `transform` of the rows that were fitted, give
    functions of private rows, without noise of their own: do not release them.
    """

    _statistic = "pca"
    _learned = ("components_", "explained_variance_", "explained_variance_ratio_", "mean_", "scale_", "n_components_")
    n_components: int = 2
    scale: bool = True
    components_: Numbers = field(init=False)
    explained_variance_: Numbers = field(init=False)
    explained_variance_ratio_: Numbers = field(init=False)
    mean_: Numbers = field(init=False)
    scale_: Numbers | None = field(init=False)
    release_: Release[PrincipalComponents] | NoReply = field(init=False)
    """The answer to the last fit, with its cost and its card."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask for the components of X, which spends epsilon. Raises `NoReplyError` where it is refused, at the same cost."""
        raw_features, source = self._begin(X)
        features = shown_shape(raw_features).shape[1]
        if features < 2:
            raise UnsuitableDataError(f"PCA needs two features or more, and X has n_features = {features}.")
        found: PrincipalComponents = self._release(source, raw_features, components=self.n_components, scale=self.scale)
        self.components_ = np.array(found.components)
        self.explained_variance_ = np.array(found.explained_variance)
        self.explained_variance_ratio_ = np.array(found.explained_variance_ratio)
        self.mean_ = np.array(found.means)
        self.scale_ = None if found.scales is None else np.array(found.scales)
        self.n_components_ = len(found.components)
        return self

    def transform(self, X: Any) -> Numbers:
        """The scores of new rows: how far they lie along each component."""
        return self._found().scores(self._new_rows(X))

    def inverse_transform(self, X: Any) -> Numbers:
        """The rows in the plane of the components that have these scores."""
        return self._found().inverse_transform(check_array(X, dtype=np.float64))

    def _found(self) -> PrincipalComponents:
        check_is_fitted(self)
        assert isinstance(self.release_, Release)
        return self.release_.value

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
