"""The table of a fit's parameters, as text and as HTML: each with its error, how much of that is noise, and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.text_tables import GAP, html_named_table, ruled_table, shortened

_LONGEST_NAME = 32
_ERROR_DIGITS = 3
_COARSEST = -300
"""Floats are rounded to no larger powers of 10, which might be beyond them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ParameterRow:
    """One parameter with what is known about its error."""

    name: str
    value: float
    level: float
    """Of the interval."""
    error: float | None = None
    """The standard deviation of the total error."""
    noise: float | None = None
    """The standard deviation of the privacy noise."""
    p_value: float | None = None
    ends: tuple[float, float] | None = None
    """Of the interval."""

    @property
    def short_name(self) -> str:
        """The name as it fits a table."""
        return shortened(value_text(self.name), _LONGEST_NAME)

    @property
    def shown_value(self) -> str:
        """The parameter without digits that its error drowns: down to the third digit of that."""
        value = self.value
        if self.error and math.isfinite(self.error):
            value = round(value, max(_ERROR_DIGITS - 1 - math.floor(math.log10(self.error)), _COARSEST)) + 0.0  # never -0
        return f"{value:.5g}"

    @property
    def z(self) -> float | None:
        """The parameter in units of its error; None where that says nothing."""
        return self.value / self.error if self.error and math.isfinite(self.error) else None

    @property
    def noise_share(self) -> float | None:
        """The part of the error's variance that is privacy noise."""
        if self.noise is None or not self.error or not math.isfinite(self.error):
            return None
        return min(1.0, (self.noise / self.error) ** 2)


class EstimatedParameters:
    """What a fit derives from its parameters and the covariance of their errors."""

    covariance: tuple[tuple[float, ...], ...] | None

    @property
    def params(self) -> Floats:
        """The parameters as an array that cannot be written to, as in statsmodels."""
        raise NotImplementedError

    @property
    def errors(self) -> Floats | None:
        """Standard deviations of the total error; None where they are not known."""
        if self.covariance is None:
            return None
        return self._of_all([math.sqrt(max(0.0, row[place])) for place, row in enumerate(self.covariance)])

    @property
    def bse(self) -> Floats | None:
        """`errors` by the name that statsmodels gives them."""
        return self.errors

    def conf_int(self, *, level: float = 0.95) -> Floats | None:
        """A row for each parameter, with the ends of its normal interval; None where the errors are not known."""
        ends = [pair for pair in self._ends(level) if pair is not None]
        return locked(ends) if ends else None

    def _of_all(self, known: Sequence[float]) -> Floats:
        """A number for each of `params`."""
        return locked(known)

    def _table_rows(
        self, names: Sequence[str], noise: Sequence[float] | None, intervals: Sequence[Interval], level: float, first: int = 0
    ) -> list[ParameterRow]:
        """The parameters from the `first` on, with the `intervals` of a release or else normal ones."""
        if intervals and len(intervals) != len(names) - first:
            raise InvalidParameterError("summary takes the intervals of the fit's own release: summary(release.intervals).")
        ends = [*(None,) * first, *((each.low, each.high) for each in intervals)] if intervals else self._ends(level)
        level, errors = intervals[0].level if intervals else level, self.errors
        noises = None if noise is None else self._of_all(noise)
        return [
            ParameterRow(
                name=names[place],
                value=float(self.params[place]),
                level=level,
                error=None if errors is None else float(errors[place]),
                noise=None if noises is None else float(noises[place]),
                p_value=None if errors is None else normal_p_value(float(self.params[place]), float(errors[place])),
                ends=ends[place],
            )
            for place in range(first, len(names))
        ]

    def _ends(self, level: float) -> list[tuple[float, float] | None]:
        """The ends of normal intervals, or None for each parameter where the errors are not known."""
        if not 0 < level < 1:
            raise InvalidParameterError(f"level must be between 0 and 1, such as 0.95, got {level}.")
        if self.errors is None:
            return [None] * len(self.params)
        reaches = NormalDist().inv_cdf((1 + level) / 2) * self.errors
        return [(float(value - reach), float(value + reach)) for value, reach in zip(self.params, reaches, strict=True)]


def locked(values: ArrayLike) -> Floats:
    """An array that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def nested_floats(value: Any) -> Any:
    """A float, or tuples of floats, from numbers, arrays or lists; None stays None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(map(nested_floats, value))
    return None if value is None else float(value)


def normal_p_value(value: float, error: float) -> float:
    """How likely an estimate as far from 0 as `value` is if the parameter is 0, by the normal law."""
    if not error:
        return float(not value)
    return 1.0 if math.isinf(error) else math.erfc(abs(value / error) / math.sqrt(2))


Columns = tuple[tuple[Callable[[float], str], Callable[[ParameterRow], str]], ...]
"""What stands above each column, by the level of intervals, and what stands in it."""

_NOISE: Columns = (
    (lambda level: "noise err", lambda row: _number(row.noise)),
    (lambda level: "noise share", lambda row: "" if row.noise_share is None else f"{100 * row.noise_share:.0f}%"),
)


def _ends(digits: int) -> Columns:
    return (
        (lambda level: f"[{(1 - level) / 2:.3g}", lambda row: _number(row.ends and row.ends[0], digits)),
        (lambda level: f"{(1 + level) / 2:.3g}]", lambda row: _number(row.ends and row.ends[1], digits)),
    )


COEFFICIENTS: Columns = (
    (lambda level: "coef", lambda row: row.shown_value),
    (lambda level: "total err", lambda row: _number(row.error)),
    *_NOISE,
    (lambda level: "z", lambda row: "" if row.z is None else f"{row.z:.3f}"),
    (lambda level: "P>|z|", lambda row: "" if row.p_value is None else f"{row.p_value:.3f}"),
    *_ends(digits=4),
)
"""Of a regression, laid out as statisticians know it."""

ESTIMATES: Columns = (
    (lambda level: "estimate", lambda row: row.shown_value),
    (lambda level: "std. error", lambda row: _number(row.error)),
    *_NOISE,
    *_ends(digits=5),
)
"""Of maximum likelihood."""


def coefficients_text(
    heading: str, facts: Sequence[tuple[str, str]], rows: Sequence[ParameterRow], below: Sequence[str] = ()
) -> str:
    """A heading, facts in two columns, a line for each coefficient, and the lines `below` as they are."""
    heads, cells = _known_columns(COEFFICIENTS, rows)
    table = [["", *heads], *([row.short_name, *texts] for row, texts in zip(rows, cells, strict=True))]
    above = _two_columns([(f"{name}:", value_text(text)) for name, text in facts])
    lines = ruled_table([heading, *above], table, below)
    return "\n".join([heading.center(len(lines[1])).rstrip(), *lines[1:]])


def estimates_text(heading: str, rows: Sequence[ParameterRow], below: Sequence[str] = ()) -> str:
    """A heading, a line for each parameter, and the lines `below` as they are."""
    heads, cells = _known_columns(ESTIMATES, rows)
    table = [["parameter", *heads], *([row.short_name, *texts] for row, texts in zip(rows, cells, strict=True))]
    return "\n".join(ruled_table([heading], table, below))


def parameters_html(columns: Columns, caption: str, rows: Sequence[ParameterRow]) -> str:
    """The parameters as a table for notebooks."""
    heads, cells = _known_columns(columns, rows)
    return html_named_table(caption, heads, [row.short_name for row in rows], cells)


def _known_columns(columns: Columns, rows: Sequence[ParameterRow]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns that hold anything, and for each row their texts."""
    filled = [(head(rows[0].level), [text(row) for row in rows]) for head, text in columns]
    shown = [(head, texts) for head, texts in filled if any(texts)]
    return [head for head, _ in shown], [list(texts) for texts in zip(*(texts for _, texts in shown), strict=True)]


def _two_columns(facts: Sequence[tuple[str, str]]) -> list[str]:
    """Facts in two columns, the first half on the left."""
    half = (len(facts) + 1) // 2
    sides = [_one_column(facts[:half]), _one_column(facts[half:])]
    return [f"{one}{GAP}{GAP}{other}".rstrip() for one, other in zip_longest(*sides, fillvalue="")]


def _one_column(facts: Sequence[tuple[str, str]]) -> list[str]:
    left = max((len(name) for name, _ in facts), default=0)
    right = max((len(text) for _, text in facts), default=0)
    return [f"{name.ljust(left)} {text.rjust(right)}" for name, text in facts]


def _number(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"
