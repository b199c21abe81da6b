"""Regressions as estimators of scikit-learn: `dp.models.LinearRegression(epsilon=1).fit(X, y)`.

They are loaded on first use, because scikit-learn is; it comes with `pip install 'dpstats[models]'`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.models.linear import LinearRegression
    from dpstats.models.logistic import LogisticRegression
    from dpstats.models.poisson import PoissonRegressor
    from dpstats.models.quantile import QuantileRegressor

__all__ = ["LinearRegression", "LogisticRegression", "PoissonRegressor", "QuantileRegressor"]

_HOMES = {
    "LinearRegression": "dpstats.models.linear",
    "LogisticRegression": "dpstats.models.logistic",
    "PoissonRegressor": "dpstats.models.poisson",
    "QuantileRegressor": "dpstats.models.quantile",
}


if not TYPE_CHECKING:  # a type checker is to know that there is nothing else

    def __getattr__(name: str) -> type:
        if name not in _HOMES:
            raise AttributeError(f"dpstats.models has no {name!r}; it has {', '.join(__all__)}.")
        return globals().setdefault(name, getattr(import_module(_HOMES[name]), name))


def __dir__() -> list[str]:
    return __all__
