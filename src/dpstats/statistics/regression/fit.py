"""A released regression: its coefficients, how far off they may be, and what they predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import DpstatsError, UnknownNameError
from dpstats.foundations.registry import Question
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.text_tables import counted
from dpstats.statistics.regression.parameter_table import (
    COEFFICIENTS,
    EstimatedParameters,
    ParameterRow,
    coefficients_text,
    locked,
    nested_floats,
    normal_p_value,
    parameters_html,
    parts_line,
)
from dpstats.statistics.regression.predictions import exponentials, linear_predictors, probabilities, rows_by_name

INTERCEPT = "Intercept"
UNNAMED_OUTCOME = "y"
LINEAR, QUANTILE, LOGISTIC, POISSON = "linear", "quantile", "logistic", "poisson"
_OF_PRIVATE_ROWS = ("resid", "fittedvalues", "rsquared", "rsquared_adj", "resid_pearson", "resid_response")
_LEFT_SIDES = {LINEAR: "{}", LOGISTIC: "logit P({})", POISSON: "log E({})"}
_INVERSE_LINKS = {LOGISTIC: probabilities, POISSON: exponentials}

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class RegressionFit(EstimatedParameters):
    """A regression as it was released. Everything in it comes from noisy numbers.

    `names`, `params`, errors, p-values and intervals have one entry for each parameter, as in statsmodels: the intercept first,
    where one was fitted, and then the features.
    """

    model: str
    """"linear", "quantile 0.5", "logistic" or "poisson"."""
    outcome: str
    features: tuple[str, ...]
    """The names of the features, or x1, x2, ... where they have none."""
    intercept: float
    """0.0 where none was fitted."""
    coefficients: tuple[float, ...]
    """One for each feature."""
    covariance: tuple[tuple[float, ...], ...] | None = None
    """Of the total error, which is sampling and noise together; None where it is not known, infinite on the diagonal where a
    coefficient is not identified."""
    noise: tuple[float, ...] | None = None
    """Standard deviations of the privacy noise alone."""
    rows: int | None = None
    """A noisy number of rows, where one was bought."""
    scale: float | None = None
    """A private scale of the residuals, where one was found."""
    has_intercept: bool = True
    weak: int = 0
    """Directions in which features hardly vary, or follow from others, as far as noise lets one see."""
    aim: str = ""
    """What the coefficients are: of least squares, say."""
    clipping: tuple[float, ...] | None = None
    """What the allowance for rows beyond a private clipping threshold adds to each error, as a standard deviation; None where
    there is no such threshold."""
    rows_of: Callable[[Any], Numbers] | None = field(default=None, compare=False, repr=False)
    """Makes features of new data, where a formula says how; public, and not a part of the release."""

    def __post_init__(self) -> None:
        """Lists that belong together are of one length."""
        sizes = [len(each) for each in (self.covariance, self.noise, self.clipping) if each is not None]
        if len(self.coefficients) != len(self.features) or any(size != len(self.names) for size in sizes):
            raise DpstatsError("a regression has a coefficient for each feature, and errors for them and the intercept.")

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the parameters, in the order of `params`."""
        return (INTERCEPT, *self.features) if self.has_intercept else self.features

    @property
    def coef(self) -> Numbers:
        """The coefficients as an array that cannot be written to; without the intercept, as in scikit-learn."""
        return locked(self.coefficients)

    @property
    def params(self) -> Numbers:
        """The intercept, where one was fitted, and then the coefficients, as in statsmodels; it cannot be written to."""
        return locked([value for _, value in self.named_values()])

    @property
    def tvalues(self) -> Numbers | None:
        """Each parameter in units of its error; None where the errors are not known."""
        if self.errors is None:
            return None
        with np.errstate(all="ignore"):
            return locked(self.params / self.errors)

    @property
    def pvalues(self) -> Numbers | None:
        """`p_values()` by the name that statsmodels gives them."""
        return self.p_values()

    @property
    def nobs(self) -> int | None:
        """The noisy number of rows; None where none was bought."""
        return self.rows

    def cov_params(self) -> Numbers | None:
        """`covariance` as an array with a row for each parameter."""
        return None if self.covariance is None else locked(self.covariance)

    def __getitem__(self, name: str) -> float:
        """A parameter by its name: fit["age"], fit["Intercept"]."""
        for known, value in self.named_values():
            if known == name:
                return value
        raise UnknownNameError(f"the fit has no such parameter: it has {', '.join(known for known, _ in self.named_values())}.")

    if not TYPE_CHECKING:  # a type checker is to know that these do not exist

        def __getattr__(self, name: str) -> Any:
            """Says why there is no such thing, where people look for it."""
            if name in _OF_PRIVATE_ROWS:
                raise AttributeError(f"a fit has no {name}: it is a function of private rows. predict works on public rows.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def named_values(self) -> tuple[tuple[str, float], ...]:
        """Each parameter with its name, the intercept first where one was fitted: in the order of a release's intervals."""
        values = (self.intercept, *self.coefficients) if self.has_intercept else self.coefficients
        return tuple(zip(self.names, values, strict=True))

    def p_values(self) -> Numbers | None:
        """For each parameter how likely one as far from 0 is if it were 0, by the normal law; None where unknown."""
        if self.errors is None:
            return None
        return locked([normal_p_value(*pair) for pair in zip(self.params, self.errors, strict=True)])

    def predict(self, data: Any) -> Numbers:
        """What the fit predicts for new rows: means, of a logistic fit probabilities, of a quantile fit quantiles.

        `data` is a two-dimensional array or a list of rows, with columns in the order of `features`; or a data frame or a dict
        of columns, which are taken by name. A fit of a formula takes the columns of the formula. Missing cells give NaN.
        """
        are_places = self.features == _places(len(self.features))
        raw_rows = rows_by_name(data, self.features, are_places=are_places) if self.rows_of is None else self.rows_of(data)
        raw_linear = linear_predictors(raw_rows, self.intercept, self.coefficients)
        inverse_link = _INVERSE_LINKS.get(self.model)
        return raw_linear if inverse_link is None else inverse_link(raw_linear)

    def summary(self, intervals: Sequence[Interval] = (), *, level: float = 0.95) -> str:
        """The fit as a table of text. `intervals` are those of the release, where it has some: summary(release.intervals)."""
        return coefficients_text(self._heading(), self._facts(), self._rows(intervals, level), self._below())

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"names": self.names, **{each.name: getattr(self, each.name) for each in fields(self) if each.name != "rows_of"}}

    def __str__(self) -> str:
        terms = [f"{self.intercept:.6g}"] if self.has_intercept else []
        for name, coefficient in zip(self.features, self.coefficients, strict=True):
            sign = "-" if coefficient < 0 else "+"
            lead = f" {sign} " if terms else sign.replace("+", "")
            terms.append(f"{lead}{abs(coefficient):.6g} * {name}")
        left = _LEFT_SIDES.get(self.model, f"{self.model} of {{}}").format(self.outcome)
        return f"{left} = {''.join(terms)}"

    def _repr_html_(self) -> str:
        return parameters_html(COEFFICIENTS, value_text(f"{self._heading()} of {self.outcome}"), self._rows((), 0.95))

    def _heading(self) -> str:
        return f"Private {self.model} regression"

    def _facts(self) -> list[tuple[str, str]]:
        """What stands above the coefficients, without what was not bought."""
        parameters = len(self.names)
        facts = [("Dep. Variable", self.outcome), ("Model", self.model), ("Df Model", str(len(self.features)))]
        if self.rows is not None:
            facts += [("No. Observations", f"about {self.rows:,}"), ("Df Residuals", f"about {max(0, self.rows - parameters):,}")]
        if self.scale is not None:
            facts.append(("Median Abs. Resid.", f"{self.scale:.4g}"))
        return facts

    def _below(self) -> list[str]:
        lines = [*([f"Coefficients: {self.aim}."] if self.aim else []), *parts_line(self.error_parts())]
        if self.weak:
            where = "features hardly vary there, or follow from others; errors are wide"
            lines.append(f"{counted(self.weak, 'weak direction')}: {where}. More rows, or a larger epsilon, help.")
        return lines

    def _rows(self, intervals: Sequence[Interval], level: float) -> list[ParameterRow]:
        return self._table_rows(intervals, level)


def named(question: Question) -> tuple[tuple[str, ...], str]:
    """The names of a question's features and of its outcome; x1, x2, ... and y where they have none."""
    *features, outcome = question.columns
    return tuple(name or place for name, place in zip(features, _places(len(features)), strict=True)), outcome or UNNAMED_OUTCOME


def fit_of(question: Question, model: str, values: Sequence[float], **known: Any) -> RegressionFit:
    """The fit of a question that has these values, the intercept first where one is fitted, and what else is `known`."""
    names, outcome = named(question)
    has_intercept = question.arguments["intercept"]
    intercept, coefficients = (values[0], values[1:]) if has_intercept else (0.0, values)
    return RegressionFit(model, outcome, names, intercept, tuple(coefficients), has_intercept=has_intercept, **known)


def revive_fit(plain: Mapping[str, Any]) -> RegressionFit:
    """The fit that `to_dict` made plain, or that was read back from JSON."""
    numbers = ("intercept", "scale", "coefficients", "noise", "covariance", "clipping")
    known = {name: value for name, value in plain.items() if name not in ("names", "features")}
    features = plain.get("features", plain["names"])  # an archive of an earlier version has the names of features alone
    return RegressionFit(**known | {name: nested_floats(plain.get(name)) for name in numbers} | {"features": tuple(features)})


def _places(how_many: int) -> tuple[str, ...]:
    return tuple(f"x{place + 1}" for place in range(how_many))
