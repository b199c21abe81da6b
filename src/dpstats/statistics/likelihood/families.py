"""Families by name: which there are, what rows they are of, and which options they take."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.statistics.likelihood.beta import Beta
from dpstats.statistics.likelihood.counts import Binomial, Poisson
from dpstats.statistics.likelihood.family import Family
from dpstats.statistics.likelihood.gamma import Exponential, Gamma
from dpstats.statistics.likelihood.mixtures import NormalMixture
from dpstats.statistics.likelihood.multivariate import MultivariateNormal
from dpstats.statistics.likelihood.normal import Lognormal, Normal
from dpstats.statistics.likelihood.overdispersed import NegativeBinomial
from dpstats.statistics.likelihood.pareto import Pareto
from dpstats.statistics.likelihood.regressions import Linear, Logistic, PoissonRegression
from dpstats.statistics.likelihood.scipy_family import scipy_family
from dpstats.statistics.likelihood.weibull import Weibull


class RowKind(enum.Enum):
    """What the rows of a family are."""

    LINE = "one column"
    SEVERAL = "one column or several"
    OUTCOME = "features, and after them their outcome"


@dataclass(frozen=True)
class Options:
    """What a family may need to know beside its name; all of it public."""

    columns: int = 1
    trials: int | None = None
    components: int | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class FamilySpec:
    """A family that can be asked for by name."""

    make: Callable[[Options], Family]
    rows: RowKind = RowKind.LINE
    option: str | None = None
    """The one option that it takes; it is required where it has no default."""


KNOWN: dict[str, FamilySpec] = {
    "normal": FamilySpec(lambda _: Normal()),
    "lognormal": FamilySpec(lambda _: Lognormal()),
    "exponential": FamilySpec(lambda _: Exponential()),
    "gamma": FamilySpec(lambda _: Gamma()),
    "weibull": FamilySpec(lambda _: Weibull()),
    "beta": FamilySpec(lambda _: Beta()),
    "pareto": FamilySpec(lambda _: Pareto()),
    "poisson": FamilySpec(lambda _: Poisson()),
    "binomial": FamilySpec(lambda options: Binomial(_needed_trials(options)), option="trials"),
    "negative_binomial": FamilySpec(lambda _: NegativeBinomial()),
    "normal_mixture": FamilySpec(lambda options: NormalMixture(options.components or 2), option="components"),
    "multivariate_normal": FamilySpec(lambda options: MultivariateNormal(options.columns), RowKind.SEVERAL),
    "linear": FamilySpec(lambda options: Linear(options.columns - 1), RowKind.OUTCOME),
    "logistic": FamilySpec(lambda options: Logistic(options.columns - 1), RowKind.OUTCOME),
    "poisson_regression": FamilySpec(lambda options: PoissonRegression(options.columns - 1), RowKind.OUTCOME),
}
OTHER_NAMES = {
    **dict.fromkeys(("gaussian", "norm"), "normal"),
    **dict.fromkeys(("lognorm", "log-normal", "log_normal"), "lognormal"),
    **dict.fromkeys(("expon", "exp"), "exponential"),
    "weibull_min": "weibull",
    "binom": "binomial",
    **dict.fromkeys(("nbinom", "negbin", "negative binomial"), "negative_binomial"),
    **dict.fromkeys(("mvn", "multivariate normal"), "multivariate_normal"),
    **dict.fromkeys(("mixture", "gaussian_mixture", "gmm"), "normal_mixture"),
    **dict.fromkeys(("linear_regression", "ols"), "linear"),
    "logistic_regression": "logistic",
}
"""What others call a family, for hints."""


def checked_family(value: object) -> Any:
    """A family by its name, or as an object that has what a family must have: a distribution of scipy, or a model."""
    if isinstance(value, str):
        if value not in KNOWN:
            _refuse_unknown(value)
    elif not hasattr(value, "fit_blocks"):
        try:
            scipy_family(value)
        except InvalidParameterError:
            if not hasattr(value, "rvs") or not hasattr(value, "shapes"):
                raise  # else it may do with parameters fixed
    return value


def family_for(family: Any, options: Options) -> Family:
    """The family of that name, for rows with the columns that `options` say."""
    if hasattr(family, "fit_blocks"):
        _refuse_options(family.name, None, options)
        return cast(Family, family)
    if not isinstance(family, str) or family not in KNOWN:
        _refuse_options(family if isinstance(family, str) else family.name, "fixed", options)
        return scipy_family(family, options.fixed)
    known = KNOWN[family]
    _refuse_options(family, known.option, options)
    return known.make(options)


def check_columns(family: Any, columns: int) -> None:
    """Raise unless a family takes rows of `columns` columns."""
    if hasattr(family, "fit_blocks"):
        return
    rows = KNOWN[family].rows if isinstance(family, str) and family in KNOWN else RowKind.LINE
    if rows is RowKind.LINE and columns != 1:
        name = family if isinstance(family, str) else family.name
        raise InvalidParameterError(f"{name} is a law of one column: give one column.")
    if rows is RowKind.OUTCOME and columns < 2:
        raise InvalidParameterError(f"{family} needs features and an outcome: mle({family!r}, X, y).")


def _refuse_options(name: str, taken: str | None, options: Options) -> None:
    for option in ("trials", "components", "fixed"):
        if option != taken and getattr(options, option):
            raise InvalidParameterError(f"{name} takes no {option}: leave it out.")


def _needed_trials(options: Options) -> int:
    if options.trials is None:
        raise InvalidParameterError("binomial needs trials, a public number: mle('binomial', x, trials=10).")
    return options.trials


def _refuse_unknown(name: str) -> None:
    """Raise about a name that is neither one of ours nor of scipy's."""
    if name in OTHER_NAMES and name not in ("weibull_min",):
        raise UnknownNameError(f"there is no family {name!r}; did you mean {OTHER_NAMES[name]!r}?")
    try:
        scipy_family(name)
    except UnknownNameError:
        near = get_close_matches(name, KNOWN, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(KNOWN)}, and the distributions of scipy.stats."
        raise UnknownNameError(f"there is no family {name!r}; {hint}") from None
    except InvalidParameterError:
        pass  # it may do with parameters fixed
