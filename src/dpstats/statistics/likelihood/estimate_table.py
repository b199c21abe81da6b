"""The table of a fit's parameters, as text and as HTML: each with its error, how much of that is noise, and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpstats.foundations.notebooks import html_of
from dpstats.foundations.results import value_text

_LONGEST_NAME = 32
_GAP = "  "


@dataclass(frozen=True)
class EstimateRow:
    """One parameter with what is known about its error."""

    name: str
    value: float
    level: float
    """Of the interval."""
    error: float | None = None
    """The standard deviation of the total error."""
    noise: float | None = None
    """The standard deviation of the privacy noise."""
    ends: tuple[float, float] | None = None
    """Of the interval."""

    @property
    def short_name(self) -> str:
        """The name as it fits a table."""
        text = value_text(self.name)
        return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."

    @property
    def noise_share(self) -> float | None:
        """The part of the error's variance that is privacy noise."""
        if self.noise is None or not self.error or not math.isfinite(self.error):
            return None
        return min(1.0, (self.noise / self.error) ** 2)


_COLUMNS: tuple[tuple[Callable[[float], str], Callable[[EstimateRow], str]], ...] = (
    (lambda level: "estimate", lambda row: f"{row.value:.5g}"),
    (lambda level: "std. error", lambda row: _number(row.error)),
    (lambda level: "noise err", lambda row: _number(row.noise)),
    (lambda level: "noise share", lambda row: "" if row.noise_share is None else f"{100 * row.noise_share:.0f}%"),
    (lambda level: f"[{(1 - level) / 2:.3g}", lambda row: "" if row.ends is None else f"{row.ends[0]:.5g}"),
    (lambda level: f"{(1 + level) / 2:.3g}]", lambda row: "" if row.ends is None else f"{row.ends[1]:.5g}"),
)
"""What stands above each column, by the level of intervals, and what stands in it."""


def text_table(heading: str, rows: Sequence[EstimateRow], below: Sequence[str] = ()) -> str:
    """A heading, a line for each parameter, and the lines `below` as they are. Columns of which nothing is known are left out."""
    heads, cells = _cells(rows)
    table = [["parameter", *heads], *([row.short_name, *texts] for row, texts in zip(rows, cells, strict=True))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [_GAP.join([each[0].ljust(widths[0]), *map(str.rjust, each[1:], widths[1:])]) for each in table]
    double = "=" * max(map(len, [*lines, heading]))
    return "\n".join([heading, double, lines[0], "-" * len(double), *lines[1:], double, *below])


def html_table(caption: str, rows: Sequence[EstimateRow]) -> str:
    """The parameters as a table for notebooks."""
    heads, cells = _cells(rows)
    return html_of(caption, heads, [row.short_name for row in rows], cells)


def _cells(rows: Sequence[EstimateRow]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns that hold anything, and for each row their texts."""
    columns = [(head(rows[0].level), [text(row) for row in rows]) for head, text in _COLUMNS]
    shown = [(head, texts) for head, texts in columns if any(texts)]
    return [head for head, _ in shown], [list(texts) for texts in zip(*(texts for _, texts in shown), strict=True)]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
