"""The table of a regression's coefficients, as text and as HTML, laid out as statisticians know it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dpstats.foundations.notebooks import html_of
from dpstats.foundations.results import value_text

_LONGEST_NAME = 32
_GAP = "  "


@dataclass(frozen=True)
class CoefficientRow:
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
    def z(self) -> float | None:
        """The parameter in units of its error; None where that says nothing."""
        return self.value / self.error if self.error and math.isfinite(self.error) else None

    @property
    def noise_share(self) -> float | None:
        """The part of the error's variance that is privacy noise."""
        if self.noise is None or not self.error or not math.isfinite(self.error):
            return None
        return min(1.0, (self.noise / self.error) ** 2)


_COLUMNS: tuple[tuple[Callable[[float], str], Callable[[CoefficientRow], str]], ...] = (
    (lambda level: "coef", lambda row: f"{row.value:.5g}"),
    (lambda level: "total err", lambda row: _number(row.error)),
    (lambda level: "noise err", lambda row: _number(row.noise)),
    (lambda level: "noise share", lambda row: "" if row.noise_share is None else f"{100 * row.noise_share:.0f}%"),
    (lambda level: "z", lambda row: "" if row.z is None else f"{row.z:.3f}"),
    (lambda level: "P>|z|", lambda row: "" if row.p_value is None else f"{row.p_value:.3f}"),
    (lambda level: f"[{(1 - level) / 2:.3g}", lambda row: "" if row.ends is None else _number(row.ends[0])),
    (lambda level: f"{(1 + level) / 2:.3g}]", lambda row: "" if row.ends is None else _number(row.ends[1])),
)
"""What stands above each column, by the level of intervals, and what stands in it."""


def text_table(heading: str, facts: Sequence[tuple[str, str]], rows: Sequence[CoefficientRow], below: Sequence[str] = ()) -> str:
    """A heading, facts in two columns, a line for each parameter, and the lines `below` as they are.

    Columns of which nothing is known are left out.
    """
    heads, cells = _cells(rows)
    widths = [max(len(head), *map(len, column)) for head, column in zip(heads, zip(*cells, strict=True), strict=True)]
    names = [_name(row.name) for row in rows]
    left = max(map(len, names))
    lines = [_GAP.join([" " * left, *map(str.rjust, heads, widths)])]
    lines += [_GAP.join([name.ljust(left), *map(str.rjust, each, widths)]) for name, each in zip(names, cells, strict=True)]
    above = _two_columns([(f"{name}:", value_text(text)) for name, text in facts])
    width = max(map(len, [*lines, *above, heading]))
    double = "=" * width
    top = [heading.center(width).rstrip(), double, *above, double]
    return "\n".join([*top, lines[0], "-" * width, *lines[1:], double, *below])


def html_table(caption: str, rows: Sequence[CoefficientRow]) -> str:
    """The parameters as a table for notebooks."""
    heads, cells = _cells(rows)
    return html_of(value_text(caption), heads, [_name(row.name) for row in rows], cells)


def _cells(rows: Sequence[CoefficientRow]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns that hold anything, and for each row their texts."""
    columns = [(head(rows[0].level), [text(row) for row in rows]) for head, text in _COLUMNS]
    shown = [(head, texts) for head, texts in columns if any(texts)]
    return [head for head, _ in shown], [list(texts) for texts in zip(*(texts for _, texts in shown), strict=True)]


def _two_columns(facts: Sequence[tuple[str, str]]) -> list[str]:
    """Facts in two columns, the first half on the left."""
    half = (len(facts) + 1) // 2
    sides = [_one_column(facts[:half]), _one_column(facts[half:])]
    return [f"{one}{_GAP}{_GAP}{other}".rstrip() for one, other in zip_longest(*sides, fillvalue="")]


def _one_column(facts: Sequence[tuple[str, str]]) -> list[str]:
    left = max((len(name) for name, _ in facts), default=0)
    right = max((len(text) for _, text in facts), default=0)
    return [f"{name.ljust(left)} {text.rjust(right)}" for name, text in facts]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _name(name: str) -> str:
    text = value_text(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."
