"""The table of a fit's parameters, as text and as HTML: each with its error, how much of that is noise, and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import GAP, html_named_table, ruled_table, shortened

_LONGEST_NAME = 32


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
    def z(self) -> float | None:
        """The parameter in units of its error; None where that says nothing."""
        return self.value / self.error if self.error and math.isfinite(self.error) else None

    @property
    def noise_share(self) -> float | None:
        """The part of the error's variance that is privacy noise."""
        if self.noise is None or not self.error or not math.isfinite(self.error):
            return None
        return min(1.0, (self.noise / self.error) ** 2)


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
    (lambda level: "coef", lambda row: f"{row.value:.5g}"),
    (lambda level: "total err", lambda row: _number(row.error)),
    *_NOISE,
    (lambda level: "z", lambda row: "" if row.z is None else f"{row.z:.3f}"),
    (lambda level: "P>|z|", lambda row: "" if row.p_value is None else f"{row.p_value:.3f}"),
    *_ends(digits=4),
)
"""Of a regression, laid out as statisticians know it."""

ESTIMATES: Columns = (
    (lambda level: "estimate", lambda row: f"{row.value:.5g}"),
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
