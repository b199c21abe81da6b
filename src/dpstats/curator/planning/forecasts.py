"""A plan: what to expect of a question, line by line for each number of rows and each shape of data."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import Interval, plain_value

LEVEL = 0.95
_FAR_OFF = 10
"""Errors of so many interquartile ranges are all the same."""
_NORMAL_95 = 1.959963984540054
NOTHING_SPENT = "No data was read and nothing was spent."


@dataclass(frozen=True)
class PlanRow:
    """What to expect of one question on tables of n rows of one shape; None where there is nothing to measure."""

    n: int
    shape: str
    method: str
    cost: PrivacyCost
    repeats: int
    """Tables that were simulated."""
    reply_probability: float
    """The share of them that got a reply."""
    reply_interval: Interval
    """What that share says about the probability (Wilson's interval)."""
    shape_value: Any
    """What the statistic is on the shape itself: errors are distances from it."""
    error_median: float | None
    """Half of the replies are at most so far off, noise and sampling together."""
    error_95: float | None
    """95% of the replies are at most so far off."""
    relative_error_median: float | None
    """`error_median` over the shape's interquartile range."""
    relative_error_95: float | None
    sampling_error_median: float | None
    """`error_median` of the same tables with next to no noise: what is left without privacy."""

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; an infinite error becomes text, and a value that is no number too."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: plain_value(value) for name, value in named.items()}


@dataclass(frozen=True, repr=False)
class Plan:
    """What to expect of a question, for each number of rows and each shape. Made without reading data; nothing is spent."""

    question: str
    rows: tuple[PlanRow, ...]
    shapes: tuple[tuple[str, str], ...]
    """The shapes by name, and what they are."""
    error_unit: str
    """What errors are counted in."""

    def __str__(self) -> str:
        cells = [list(_COLUMNS), *([show(row) for show in _COLUMNS.values()] for row in self.rows)]
        widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
        table = ["  ".join(_aligned(index, text, widths[index]) for index, text in enumerate(line)).rstrip() for line in cells]
        name_width = max(len(name) for name, _ in self.shapes)
        legend = [f"{name:<{name_width}}  {summary}" for name, summary in self.shapes]
        return "\n".join(
            [self.title, "", *(f"  {line}" for line in table), "", *(f"  {line}" for line in legend), "", self.small_print]
        )

    def __repr__(self) -> str:
        return f"Plan({self.title}, {len(self.rows)} lines: print it)"

    @property
    def title(self) -> str:
        """The question with its cost and method, on one line."""
        first = self.rows[0]
        return f"{self.question} by {first.method}, {first.cost}, neighbours: {first.cost.neighbors.value}"

    @property
    def small_print(self) -> str:
        """How to read the table."""
        return (
            f"{NOTHING_SPENT} {self.rows[0].repeats:,} simulated tables for each line. Errors are {self.error_unit}, among "
            "replies,\nfrom the value of the shape itself, so they hold what sampling does; the last column is the typical "
            "error without privacy."
        )

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, ready for JSON."""
        return {
            "question": self.question,
            "error_unit": self.error_unit,
            "shapes": dict(self.shapes),
            "rows": [row.to_dict() for row in self.rows],
        }

    def plot(self, path: str | Path) -> None:
        """Draw reply probability and error against the number of rows into an .svg or .png file; needs `dpstats[plots]`."""
        from dpstats.curator.planning.pictures import plot_plans

        plot_plans(path, {"": self})

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="text-align:{_side(index)}">{html.escape(name)}</th>' for index, name in enumerate(_COLUMNS))
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{_side(index)}">{html.escape(show(row))}</td>'
                for index, show in enumerate(_COLUMNS.values())
            )
            + "</tr>"
            for row in self.rows
        )
        caption = f'<caption style="text-align:left;font-weight:bold">{html.escape(self.title)}</caption>'
        return (
            f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(self.small_print)}</p>"
        )


def wilson_interval(successes: int, trials: int) -> Interval:
    """Wilson's 95% interval for a probability after so many successes."""
    share, weight = successes / trials, _NORMAL_95**2 / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == trials else min(1.0, middle + reach)
    return Interval(low, high, LEVEL, "the probability of a reply on tables of this shape and size")


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%" if share < _FAR_OFF else f"over {100 * _FAR_OFF}%"


def _reply(row: PlanRow) -> str:
    return f"{_percent(row.reply_probability)} ({_percent(row.reply_interval.low)} to {_percent(row.reply_interval.high)})"


def _amount(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


_COLUMNS: dict[str, Callable[[PlanRow], str]] = {
    "rows": lambda row: f"{row.n:,}",
    "shape": lambda row: row.shape,
    "reply (95% interval)": _reply,
    "typical error": lambda row: _amount(row.error_median),
    "95% within": lambda row: _amount(row.error_95),
    "of the IQR": lambda row: "-" if row.relative_error_95 is None else _percent(row.relative_error_95),
    "without privacy": lambda row: _amount(row.sampling_error_median),
}
_LEFT = {1, 2}


def _aligned(index: int, text: str, width: int) -> str:
    return text.ljust(width) if index in _LEFT else text.rjust(width)


def _side(index: int) -> str:
    return "left" if index in _LEFT else "right"
