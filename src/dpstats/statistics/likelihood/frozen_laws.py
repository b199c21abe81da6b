"""Frozen distributions of scipy.stats for released parameters, by the name of their family."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.lazy_scipy import stats

SCIPY = "scipy."
"""How the name of a family begins that scipy.stats has: "scipy.weibull_min(floc=0)"."""
_NAME = re.compile(r"([^(]+)(?:\((.*)\))?")

_LARGEST_LOG = 709.0

_Arguments = Mapping[str, Any]
_ON_THE_LINE: dict[str, tuple[str, Callable[[_Arguments], dict[str, float]]]] = {
    "normal": ("norm", lambda own: {"loc": own["mean"], "scale": own["std"]}),
    "lognormal": ("lognorm", lambda own: {"s": own["sigma"], "scale": math.exp(min(own["mu"], _LARGEST_LOG))}),
    "exponential": ("expon", lambda own: {"scale": own["scale"]}),
    "gamma": ("gamma", lambda own: {"a": own["shape"], "scale": own["scale"]}),
    "weibull": ("weibull_min", lambda own: {"c": own["shape"], "scale": own["scale"]}),
    "beta": ("beta", lambda own: {"a": own["alpha"], "b": own["beta"]}),
    "pareto": ("pareto", lambda own: {"b": own["shape"], "scale": own["scale"]}),
    "poisson": ("poisson", lambda own: {"mu": own["rate"]}),
    "binomial": ("binom", lambda own: {"n": own["trials"], "p": own["p"]}),
    "negative_binomial": (
        "nbinom",
        lambda own: {"n": 1 / own["dispersion"], "p": 1 / (1 + own["dispersion"] * own["mean"])},
    ),
}
"""For each family what scipy calls it, and its parameters and options as scipy takes them."""


def frozen_law(family: str, parameters: Mapping[str, float], shapes: Mapping[str, Any]) -> Any:
    """The law of a family, with its options in its name, at these parameters; `shapes` are vectors and matrices of them."""
    stem, options = taken_apart(family)
    if stem.startswith(SCIPY):
        fixed = {name.removeprefix("f"): value for name, value in options.items()}
        return getattr(stats, stem.removeprefix(SCIPY))(**parameters, **fixed)
    if stem == "multivariate_normal":
        try:
            return stats.multivariate_normal(np.array(shapes["mean"]), np.array(shapes["cov"]), allow_singular=True)
        except ValueError:
            raise InvalidParameterError("the released matrix is no covariance, for all its noise: more epsilon helps.") from None
    if stem not in _ON_THE_LINE:
        raise InvalidParameterError(f"scipy.stats has no distribution for the family {stem}: take its parameters one by one.")
    theirs, arguments = _ON_THE_LINE[stem]
    return getattr(stats, theirs)(**arguments({**options, **shapes, **parameters}))


def taken_apart(family: str) -> tuple[str, dict[str, float]]:
    """The name of a family and its options: "binomial(trials=10)" is ("binomial", {"trials": 10.0})."""
    match = _NAME.fullmatch(family)
    if match is None or match[2] is None:
        return family, {}
    pairs = [option.partition("=") for option in match[2].split(",")]
    try:
        return match[1], {name.strip(): float(text) for name, _, text in pairs}
    except ValueError:
        return family, {}
