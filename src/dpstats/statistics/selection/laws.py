"""Which law a few numbers follow: the one with the best Akaike information criterion among those asked for.

A law that could not have made one of the numbers is out. Where two are equal the one that was named first wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import optimize, stats
from dpstats.statistics.likelihood.beta import roots
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.weibull import likeliest

LEAST_ROWS = 8
_EQUAL = 1e-6


@dataclass(frozen=True)
class Law:
    """A family of laws as scipy knows it."""

    scipy_name: str
    held: tuple[tuple[str, float], ...] = ()
    """Parameters of scipy that are no parameters of the family."""
    parameters: int = 2
    above: float = -math.inf
    """Its numbers are larger than this."""
    below: float = math.inf
    """Its numbers are less than this."""
    discrete: bool = False
    densities: Callable[[Floats], Floats] | None = None
    """Log densities of numbers at their largest likelihood; None where scipy fits the law."""

    def criterion(self, raw_values: Floats) -> float:
        """Akaike's information criterion, the less the better; infinite where the law could not have made these."""
        outside = self.above >= raw_values.min() or self.below <= raw_values.max()
        if outside or (self.discrete and (raw_values != np.floor(raw_values)).any()):
            return math.inf
        try:
            score = 2 * self.parameters - 2 * float(self._log_density(raw_values).sum())
        except (ArithmeticError, ValueError, RuntimeError):  # a fit that did not end is no fit
            return math.inf
        return score if math.isfinite(score) else math.inf

    def _log_density(self, raw_values: Floats) -> Floats:
        if self.densities is not None:
            return self.densities(raw_values)
        law: Any = getattr(stats, self.scipy_name)
        return np.asarray(law.logpdf(raw_values, *law.fit(raw_values, **dict(self.held))))


def _weibull(raw_values: Floats) -> Floats:
    """By Newton's steps, which are faster than the search of scipy."""
    raw_block = RowBlocks(raw_values[:, None], np.zeros(len(raw_values), dtype=np.int64), 1)
    with np.errstate(all="ignore"):
        raw_shapes, raw_places = likeliest(raw_block, log_of(raw_values))
        return np.asarray(stats.weibull_min.logpdf(raw_values, raw_shapes[0], scale=np.exp(raw_places[0])))


def _beta(raw_values: Floats) -> Floats:
    """Alpha and beta are the roots of two equations in the means of log(x) and log(1-x)."""
    raw_ups, raw_downs = log_of(raw_values).mean(keepdims=True), log_of(1.0 - raw_values).mean(keepdims=True)
    with np.errstate(all="ignore"):
        raw_alphas, raw_betas = roots(raw_ups, raw_downs)
        return np.asarray(stats.beta.logpdf(raw_values, raw_alphas[0], raw_betas[0]))


def _pareto(raw_values: Floats) -> Floats:
    """The scale is the least number."""
    raw_logs = log_of(raw_values)
    raw_low = raw_logs.min()
    with np.errstate(all="ignore"):
        raw_shape = 1.0 / (raw_logs - raw_low).mean()
        return np.asarray(np.log(raw_shape) + raw_shape * raw_low - (raw_shape + 1.0) * raw_logs)


def _negative_binomial(raw_values: Floats) -> Floats:
    """The size by a search over its logarithm; the mean is the mean of the numbers."""
    mean = raw_values.mean()

    def log_mass(log_size: float) -> Floats:
        size = math.exp(log_size)
        return np.asarray(stats.nbinom.logpmf(raw_values, size, size / (size + mean)))

    found = optimize.minimize_scalar(lambda log_size: -log_mass(log_size).sum(), bounds=(-7.0, 12.0), method="bounded")
    return log_mass(float(found.x))


_FROM_ZERO = (("floc", 0.0),)
_COUNTS: dict[str, Any] = {"above": -1.0, "discrete": True}
LAWS: dict[str, Law] = {
    "normal": Law("norm"),
    "lognormal": Law("lognorm", _FROM_ZERO, above=0.0),
    "gamma": Law("gamma", _FROM_ZERO, above=0.0),
    "weibull": Law("weibull_min", above=0.0, densities=_weibull),
    "exponential": Law("expon", _FROM_ZERO, parameters=1, above=0.0),
    "inverse_gaussian": Law("invgauss", _FROM_ZERO, above=0.0),
    "pareto": Law("pareto", above=0.0, densities=_pareto),
    "beta": Law("beta", above=0.0, below=1.0, densities=_beta),
    "laplace": Law("laplace"),
    "logistic": Law("logistic"),
    "cauchy": Law("cauchy"),
    "student": Law("t", parameters=3),
    "gumbel": Law("gumbel_r"),
    "uniform": Law("uniform"),
    "poisson": Law("poisson", parameters=1, densities=lambda raw: stats.poisson.logpmf(raw, raw.mean()), **_COUNTS),
    "geometric": Law("geom", parameters=1, densities=lambda raw: stats.geom.logpmf(raw + 1, 1 / (1 + raw.mean())), **_COUNTS),
    "negative_binomial": Law("nbinom", densities=_negative_binomial, **_COUNTS),
}
OTHER_NAMES = {"norm": "normal", "gaussian": "normal", "t": "student", "gumbel_r": "gumbel", "nbinom": "negative_binomial"}
"""What scipy, and with it mle, calls the same law. Its weibull_min and others have a shift; its geom begins at 1, and
ours counts the failures before the first success."""


def checked_laws(value: object) -> tuple[str, ...]:
    """Two or more names, all of laws with densities or all of laws of counts."""
    names = checked_names(value, "families", LAWS, OTHER_NAMES)
    if len({LAWS[name].discrete for name in names}) > 1:
        raise InvalidParameterError(
            "families must be all laws of counts (poisson, geometric, negative_binomial) or all others: "
            "the likelihoods of the two kinds cannot be compared."
        )
    return names


def checked_names(
    value: object, word: str, known: Sequence[str] | dict[str, Any], other_names: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Two or more different names of a public list, also by what others call them."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        first, second, *_ = known
        raise InvalidParameterError(f"{word} must be a list of two names or more, such as [{first!r}, {second!r}].")
    names = tuple((other_names or {}).get(name, name) if isinstance(name, str) else name for name in value)
    for name in names:
        if not isinstance(name, str) or name not in known:
            near = get_close_matches(name.lower(), known, n=1) if isinstance(name, str) else []
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
            raise UnknownNameError(f"{word} has no {name!r}; {hint}")
    if len(set(names)) < len(names):
        raise InvalidParameterError(f"{word} names something twice: name each once.")
    return names


def best_law(raw_values: Floats, names: Sequence[str]) -> str | None:
    """The name of the law that fits best, or None where the numbers are too few or fit none."""
    if len(raw_values) < LEAST_ROWS or not np.isfinite(raw_values).all():
        return None
    criteria = [LAWS[name].criterion(raw_values) for name in names]
    best = min(criteria)
    return None if best == math.inf else names[next(place for place, each in enumerate(criteria) if each <= best + _EQUAL)]
