"""Statistics as estimators of scikit-learn: `dp.models.LinearRegression(epsilon=1).fit(X, y)`, `dp.models.PCA(epsilon=1).fit(X)`.

They are loaded on first use, because scikit-learn is; it comes with `pip install 'dpstats[models]'`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.models.classifiers import AdditiveClassifier, DecisionTree, NaiveBayes
    from dpstats.models.clusterers import GaussianMixture, KMeans
    from dpstats.models.components import PCA
    from dpstats.models.logistic import LogisticRegression
    from dpstats.models.neighbors import KNeighborsClassifier
    from dpstats.models.regressors import LinearRegression, PoissonRegressor, QuantileRegressor

__all__ = [
    "PCA",
    "AdditiveClassifier",
    "DecisionTree",
    "GaussianMixture",
    "KMeans",
    "KNeighborsClassifier",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "PoissonRegressor",
    "QuantileRegressor",
]
_HOMES = {
    "AdditiveClassifier": "classifiers",
    "DecisionTree": "classifiers",
    "GaussianMixture": "clusterers",
    "KMeans": "clusterers",
    "KNeighborsClassifier": "neighbors",
    "LogisticRegression": "logistic",
    "NaiveBayes": "classifiers",
    "PCA": "components",
}
"""The modules of estimators that are not regressors."""

if not TYPE_CHECKING:  # a type checker is to know that there is nothing else

    def __getattr__(name: str) -> type:
        if name not in __all__:
            raise AttributeError(f"dpstats.models has no {name!r}; it has {', '.join(__all__)}.")
        home = import_module(f"dpstats.models.{_HOMES.get(name, 'regressors')}")
        return globals().setdefault(name, getattr(home, name))


def __dir__() -> list[str]:
    return __all__
