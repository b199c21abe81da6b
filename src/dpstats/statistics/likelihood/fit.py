"""A released fit of a family of laws: its parameters, how far off they may be, and the law that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from dpstats.foundations.errors import DpstatsError, UnknownNameError
from dpstats.foundations.portable import rounded_covariance, rounded_errors, rounded_values
from dpstats.foundations.results import Interval, value_text
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.family import Family
from dpstats.statistics.likelihood.frozen_laws import frozen_law, taken_apart
from dpstats.statistics.regression.parameter_table import (
    ESTIMATES,
    EstimatedParameters,
    ParameterRow,
    estimates_text,
    locked,
    nested_floats,
    parameters_html,
    parts_line,
)

_MOST_SHOWN = 8
_OF_PRIVATE_ROWS = ("llf", "loglikelihood", "log_likelihood", "aic", "bic", "resid")


@dataclass(frozen=True)
class LikelihoodFit(EstimatedParameters):
    """A fit as it was released. Everything in it comes from noisy numbers.

    Parameters are attributes: fit.shape, or fit["shape"]; so are vectors and matrices of them, as fit.cov. They come in the order
    of `names`: shape, scale = fit. A parameter that is named like a field of this class is found by fit["..."] alone.
    """

    family: str
    """As the family calls itself: "gamma", "binomial(trials=10)"."""
    names: tuple[str, ...]
    """The names of the parameters, one for each number."""
    values: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...] | None = None
    """Of the total error, which is sampling and noise together; None where it is not known."""
    noise: tuple[float, ...] | None = None
    """Standard deviations of the privacy noise alone."""
    noisy_rows: int | None = None
    """A noisy number of rows, where one was bought."""
    shapes: tuple[tuple[str, Any], ...] = ()
    """Vectors and matrices that the parameters make, by name, as tuples: ("mean", (1.0, 2.0))."""
    estimates: str = ""
    """What the parameters are, in one line."""
    clipping: tuple[float, ...] | None = None
    """What the allowance for scores that were cut off adds to each error, as a standard deviation; None where there is none."""

    def __post_init__(self) -> None:
        """Lists that belong together are of one length."""
        sizes = [len(each) for each in (self.values, self.covariance, self.noise, self.clipping) if each is not None]
        if not self.names or any(size != len(self.names) for size in sizes):
            raise DpstatsError("a fit has a value for each parameter, and an error for each where errors are known.")

    @property
    def parameters(self) -> dict[str, float]:
        """Each parameter by its name."""
        return dict(zip(self.names, self.values, strict=True))

    @property
    def params(self) -> Floats:
        """The parameters as an array that cannot be written to, as in statsmodels."""
        return locked(self.values)

    @property
    def nobs(self) -> int | None:
        """The noisy number of rows; None where none was bought."""
        return self.noisy_rows

    def cov_params(self) -> Floats | None:
        """`covariance` as an array."""
        return None if self.covariance is None else locked(self.covariance)

    def distribution(self) -> Any:
        """The fitted law as a frozen distribution of scipy.stats: fit.distribution().pdf(x).

        Families that have none there, such as regressions, raise an error that says so.
        """
        return frozen_law(self.family, self.parameters, dict(self.shapes))

    def summary(self, intervals: Sequence[Interval] = (), *, level: float = 0.95) -> str:
        """The fit as a table of text. `intervals` are those of the release, where it has some: summary(release.intervals)."""
        facts = [] if self.noisy_rows is None else [f"rows: about {self.noisy_rows:,}"]
        facts += [f"parameters: {self.estimates}"] if self.estimates else []
        facts += parts_line(self.error_parts())
        return estimates_text(self._heading(), self._rows(intervals, level), facts)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __getitem__(self, name: str) -> Any:
        """A parameter by its name, or a vector or matrix of parameters by theirs: fit["shape"], fit["cov"]."""
        if name in self.names:
            return self.values[self.names.index(name)]
        shapes = dict(self.shapes)
        if name in shapes:
            return locked(shapes[name]) if isinstance(shapes[name], tuple) else shapes[name]
        raise UnknownNameError(f"the fit has no such parameter: it has {', '.join((*self.names, *shapes))}.")

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in dict(self.shapes)

    def __iter__(self) -> Iterator[float]:
        """The values of the parameters, in their order: shape, scale = fit."""
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __float__(self) -> float:
        """The parameter of a family that has one alone."""
        if len(self) > 1:
            raise TypeError(f"this fit has {len(self)} parameters: take one by its name, as fit[{self.names[0]!r}].")
        return self.values[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype or np.float64)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names, *dict(self.shapes)})

    if not TYPE_CHECKING:  # which parameters there are depends on the family

        def __getattr__(self, name: str) -> Any:
            """A parameter, or a vector or matrix of parameters."""
            if name in _OF_PRIVATE_ROWS:
                raise AttributeError(f"a fit has no {name}: it is a function of private rows.")
            if name.startswith("__") or "names" not in self.__dict__ or name not in self:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self[name]

    def __str__(self) -> str:
        stem, options = taken_apart(self.family)
        shown = [f"{name}={value:.6g}" for name, value in list(self.parameters.items())[:_MOST_SHOWN]]
        more = [f"... {len(self)} parameters in all"] if len(self) > _MOST_SHOWN else []
        return f"{stem}({', '.join([*shown, *more, *(f'{name}={value:g}' for name, value in options.items())])})"

    def _repr_html_(self) -> str:
        return parameters_html(ESTIMATES, self._heading(), self._rows((), 0.95))

    def _heading(self) -> str:
        return f"Private maximum likelihood: {value_text(self.family)}"

    def _rows(self, intervals: Sequence[Interval], level: float) -> list[ParameterRow]:
        return self._table_rows(intervals, level)


def fit_of(
    family: Family,
    values: ArrayLike,
    *,
    covariance: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    clipping: ArrayLike | None = None,
    noisy_rows: int | None = None,
    estimates: str = "",
) -> LikelihoodFit:
    """The fit of a family at released parameters, rounded to digits that mean something and that every machine agrees on."""
    errors = None if covariance is None else np.sqrt(np.maximum(np.diag(np.array(covariance, dtype=np.float64)), 0.0))
    numbers = _inside(rounded_values(values, errors), np.array(values, dtype=np.float64), family.space)
    shaped = family.shaped(numbers)
    return LikelihoodFit(
        family=family.name,
        names=tuple(family.parameters),
        values=nested_floats(numbers),
        covariance=None if covariance is None else rounded_covariance(covariance),
        noise=None if noise is None else rounded_errors(noise),
        clipping=None if clipping is None else rounded_errors(clipping),
        noisy_rows=None if noisy_rows is None else int(noisy_rows),
        shapes=tuple((name, nested_floats(value)) for name, value in shaped.items() if name not in family.parameters),
        estimates=estimates,
    )


def _inside(rounded: Sequence[float], values: Floats, space: Sequence[tuple[float, float]]) -> Floats:
    """The rounded values; the value itself where rounding would leave the space, as on its way to a limit."""
    triples = zip(rounded, values.tolist(), space, strict=True)
    return np.array([near if low < near < high else value for near, value, (low, high) in triples], dtype=np.float64)


def revive_fit(plain: Mapping[str, Any]) -> LikelihoodFit:
    """The fit that `to_dict` made plain, or that was read back from JSON."""
    return LikelihoodFit(
        family=plain["family"],
        names=tuple(plain["names"]),
        values=nested_floats(plain["values"]),
        covariance=nested_floats(plain["covariance"]),
        noise=nested_floats(plain["noise"]),
        noisy_rows=plain["noisy_rows"],
        shapes=tuple((name, nested_floats(value)) for name, value in plain["shapes"]),
        estimates=plain.get("estimates", ""),
        clipping=nested_floats(plain.get("clipping")),
    )
