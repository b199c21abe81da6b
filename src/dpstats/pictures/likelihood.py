"""The panel of a fitted family of laws: each parameter around its estimate, in units of its error, with its own number beside it.

Parameters have different units, so that they share no axis. A thin line is the interval; a thick one is what privacy noise alone
would make of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.looks import COLORS, as_written

MOST_NAMED = 40
_ROW = 0.26
_LONGEST = 28
_LEVEL = 0.95


@dataclass(frozen=True)
class _ParameterLine:
    """A parameter as it is drawn."""

    name: str
    value: float
    ends: tuple[float, float] | None
    """Of the interval."""
    error: float | None
    """What distances from the estimate are divided by; None where it is not known."""
    noise: float | None
    """How far noise alone reaches, in the parameter's own units."""

    @property
    def words(self) -> str:
        return f"{self.value:.4g}{f' ({self.ends[0]:.4g} to {self.ends[1]:.4g})' if self.ends else ''}"


def likelihood_panel(fit: Any, intervals: Sequence[Interval]) -> tuple[float, Callable[[Any], None]]:
    """How high the panel of a fit should be, in inches, and what draws it on given axes."""
    level = intervals[0].level if len(intervals) == len(fit.values) else _LEVEL
    reach = NormalDist().inv_cdf((1 + level) / 2)
    lines = [_line(fit, place, intervals, reach) for place in range(len(fit.values))]
    words = f"{fit.family}: distance from the estimate, in errors"
    if any(line.noise for line in lines):
        words += "; thick: noise alone"
    return 1.1 + _ROW * min(len(lines), MOST_NAMED), lambda axes: _draw(axes, lines, words)


def _line(fit: Any, place: int, intervals: Sequence[Interval], reach: float) -> _ParameterLine:
    value = fit.values[place]
    error = None if fit.errors is None else float(fit.errors[place])
    ends = None if error is None else (value - reach * error, value + reach * error)
    if len(intervals) == len(fit.values):
        ends = (intervals[place].low, intervals[place].high)
        error = error or (ends[1] - ends[0]) / (2 * reach)
    is_known = error is not None and 0 < error < math.inf
    noise = None if fit.noise is None else reach * fit.noise[place]
    return _ParameterLine(_short(fit.names[place]), value, ends, error if is_known else None, noise)


def _draw(axes: Any, lines: Sequence[_ParameterLine], words: str) -> None:
    axes.axvline(0.0, color=COLORS[6], linewidth=0.8, zorder=1)
    for place, line in enumerate(lines):
        if math.isfinite(line.value):
            axes.plot([0.0], [place], "o", color=COLORS[0], markersize=5, zorder=4)
        if line.error is not None:
            _draw_reaches(axes, line, line.error, place)
        if len(lines) <= MOST_NAMED:
            beside = {"transform": axes.get_yaxis_transform(), "fontsize": 7, "verticalalignment": "center"}
            axes.text(1.01, place, as_written(line.words), **beside)
    named = len(lines) <= MOST_NAMED
    axes.set_yticks(list(range(len(lines))) if named else [], [as_written(line.name) for line in lines] if named else [])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_xlabel(as_written(words))


def _draw_reaches(axes: Any, line: _ParameterLine, error: float, place: int) -> None:
    """The interval and, thicker, the reach of noise."""
    ends = [(end - line.value) / error for end in line.ends or ()]
    if ends and all(map(math.isfinite, ends)):
        axes.hlines([place], ends[:1], ends[1:], color=COLORS[0], linewidth=1.5, zorder=2)
    if line.noise is not None and math.isfinite(line.noise):
        axes.hlines([place], [-line.noise / error], [line.noise / error], color=COLORS[0], linewidth=4, alpha=0.5, zorder=3)


def _short(name: str) -> str:
    return shortened(value_text(name), _LONGEST)
