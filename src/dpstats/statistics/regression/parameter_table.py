"""The table of a fit's parameters, as text and as HTML: each with its error, the parts of that, and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import GAP, html_named_table, ruled_table, shortened

_LONGEST_NAME = 32
_ERROR_DIGITS = 3
_LEAST_P = 0.001
_MOST_LISTED = 5
"""Parameters whose errors' parts a card lists; the summary has all of them."""
_PART_NAMES = "sampling", "noise", "cut off"
_COARSEST = -300
"""Floats are rounded to no larger powers of 10, which might be beyond them."""

Floats = NDArray[np.float64]


class ErrorParts(NamedTuple):
    """The parts of the variance of a parameter's total error, which add up to 1."""

    sampling: float
    """Sampling, and what the steps of the fit may have missed."""
    noise: float
    """Privacy noise."""
    clipping: float | None
    """The allowance for rows that were cut off at a private clipping threshold; None where nothing was cut off."""

    @property
    def percents(self) -> tuple[int, ...]:
        """Whole per cent, which add up to 100: those with the largest remainders are rounded up."""
        exact = [100 * part for part in self if part is not None]
        whole = [math.floor(part) for part in exact]
        by_remainder = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])
        for place in by_remainder[: 100 - sum(whole)]:
            whole[place] += 1
        return tuple(whole)


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
    parts: ErrorParts | None = None
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


class EstimatedParameters(Tabular):
    """What a fit derives from its parameters and the covariance of their errors."""

    names: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...] | None
    noise: tuple[float, ...] | None
    clipping: tuple[float, ...] | None

    @property
    def params(self) -> Floats:
        """The parameters as an array that cannot be written to, as in statsmodels."""
        raise NotImplementedError

    @property
    def errors(self) -> Floats | None:
        """Standard deviations of the total error; None where they are not known."""
        if self.covariance is None:
            return None
        return locked([math.sqrt(max(0.0, row[place])) for place, row in enumerate(self.covariance)])

    @property
    def bse(self) -> Floats | None:
        """`errors` by the name that statsmodels gives them."""
        return self.errors

    def conf_int(self, *, level: float = 0.95) -> Floats | None:
        """A row for each parameter, with the ends of its normal interval; None where the errors are not known."""
        ends = [pair for pair in self._ends(level) if pair is not None]
        return locked(ends) if ends else None

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each parameter, with its total error where that is known."""
        known = {} if self.errors is None else {"error": self.errors.tolist()}
        return {"name": list(self.names), "value": self.params.tolist(), **known}

    def error_parts(self) -> tuple[ErrorParts | None, ...]:
        """The parts of each parameter's total error; None where they are not known."""
        if self.errors is None or self.noise is None:
            return (None,) * len(self.names)
        known = zip(self.errors.tolist(), self.noise, self.clipping or [None] * len(self.names), strict=True)
        return tuple(_error_parts(*each) if each[0] and math.isfinite(each[0]) else None for each in known)

    def _table_rows(self, intervals: Sequence[Interval], level: float) -> list[ParameterRow]:
        """The parameters, with the `intervals` of a release or else normal ones."""
        if intervals and len(intervals) != len(self.names):
            raise InvalidParameterError("summary takes the intervals of the fit's own release: summary(release.intervals).")
        ends = [(each.low, each.high) for each in intervals] if intervals else self._ends(level)
        level, errors, parts = intervals[0].level if intervals else level, self.errors, self.error_parts()
        return [
            ParameterRow(
                name=name,
                value=float(self.params[place]),
                level=level,
                error=None if errors is None else float(errors[place]),
                noise=None if self.noise is None else self.noise[place],
                parts=parts[place],
                p_value=None if errors is None else normal_p_value(float(self.params[place]), float(errors[place])),
                ends=ends[place],
            )
            for place, name in enumerate(self.names)
        ]

    def _ends(self, level: float) -> list[tuple[float, float] | None]:
        """The ends of normal intervals, or None for each parameter where the errors are not known."""
        if not 0 < level < 1:
            raise InvalidParameterError(f"level must be between 0 and 1, such as 0.95, got {level}.")
        if self.errors is None:
            return [None] * len(self.params)
        reaches = NormalDist().inv_cdf((1 + level) / 2) * self.errors
        return [(float(value - reach), float(value + reach)) for value, reach in zip(self.params, reaches, strict=True)]


def _error_parts(error: float, noise: float, clipping: float | None) -> ErrorParts:
    allowed = 0.0 if clipping is None else min(1.0, (clipping / error) ** 2)
    noisy = min(1 - allowed, (noise / error) ** 2)
    return ErrorParts(1 - allowed - noisy, noisy, None if clipping is None else allowed)


def error_notes(fit: EstimatedParameters) -> tuple[tuple[str, str], ...]:
    """The card's line on the parts of the first parameters' errors."""
    known = [(name, parts) for name, parts in zip(fit.names, fit.error_parts(), strict=True) if parts is not None]
    listed = [f"{value_text(name)} {_parts_text(parts)}" for name, parts in known[:_MOST_LISTED]]
    more = [f"... {len(known)} in all: see the summary"] if len(known) > _MOST_LISTED else []
    return (("error", f"parts of its variance: {'; '.join([*listed, *more])}"),) if known else ()


def parts_line(parts: Sequence[ErrorParts | None]) -> list[str]:
    """What stands below a table whose columns say the parts of errors."""
    known = [each for each in parts if each is not None]
    if not known:
        return []
    clipped = any(each.clipping is not None for each in known)
    cut = ", privacy noise, and the allowance for rows that were cut off" if clipped else " and privacy noise"
    return [f"Parts of the squared total error: sampling{cut}."]


def _parts_text(parts: ErrorParts) -> str:
    return ", ".join(f"{name} {percent}%" for name, percent in zip(_PART_NAMES, parts.percents, strict=False))


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


def _part(place: int) -> Callable[[ParameterRow], str]:
    def text(row: ParameterRow) -> str:
        percents = () if row.parts is None else row.parts.percents
        return f"{percents[place]}%" if place < len(percents) else ""

    return text


_PARTS: Columns = (
    (lambda level: "noise err", lambda row: _number(row.noise) if row.error is None else ""),
    (lambda level: "sampling", _part(0)),
    (lambda level: "noise", _part(1)),
    (lambda level: "cut off", _part(2)),
)


def _ends(digits: int) -> Columns:
    return (
        (lambda level: f"[{(1 - level) / 2:.3g}", lambda row: _number(row.ends and row.ends[0], digits)),
        (lambda level: f"{(1 + level) / 2:.3g}]", lambda row: _number(row.ends and row.ends[1], digits)),
    )


COEFFICIENTS: Columns = (
    (lambda level: "coef", lambda row: row.shown_value),
    (lambda level: "total err", lambda row: _number(row.error)),
    *_PARTS,
    (lambda level: "z", lambda row: "" if row.z is None else f"{row.z:.3f}"),
    (lambda level: "P>|z|", lambda row: "" if row.p_value is None else _p_text(row.p_value)),
    *_ends(digits=4),
)
"""Of a regression, laid out as statisticians know it."""

ESTIMATES: Columns = (
    (lambda level: "estimate", lambda row: row.shown_value),
    (lambda level: "std. error", lambda row: _number(row.error)),
    *_PARTS,
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


def _p_text(p_value: float) -> str:
    """A p-value to three digits; one that these would show as 0 is only known to be below them."""
    return f"{p_value:.3f}" if p_value >= _LEAST_P else f"<{_LEAST_P:.3f}"


def _number(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}g}"
