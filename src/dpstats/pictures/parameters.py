"""The panels of fitted parameters: each in units of its error, with its interval, and its own number beside it.

Parameters have different units, so that they share no axis. Coefficients of a regression are drawn by how many errors they lie
from 0, which is the same for all; the parameters of a family of laws around their estimates, with a thick line for what privacy
noise alone would make of their intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.looks import COLORS, Panel, as_written

MOST_NAMED = 40
"""Dots or bars that have room for a name each."""
MOST_COMPONENTS = 4
_ROW = 0.26
LONGEST_NAME = 28
_LEVEL = 0.95
_NEAR, _FARTHEST = 12.0, 60.0
"""Errors from 0 that the axis reaches where it ends in an arrow, and beyond which an arrow stands for a dot."""


@dataclass(frozen=True)
class ParameterLine:
    """A parameter as it is drawn."""

    name: str
    value: float
    ends: tuple[float, float] | None
    """Of the interval."""
    scale: float | None
    """What it is divided by: its error, or 1; None where neither will do."""
    noise: float | None = None
    """How far noise alone reaches, in the parameter's own units."""

    @property
    def place(self) -> float:
        """Where it lies, in units of its scale."""
        return self.value / (self.scale or 1.0)

    @property
    def words(self) -> str:
        """The number for people, with its interval."""
        return f"{self.value:.4g}{f' ({self.ends[0]:.4g} to {self.ends[1]:.4g})' if self.ends else ''}"


def coefficient_panel(fit: Any, intervals: Sequence[Interval]) -> Panel:
    """The panel of a regression: its intercept, which may lie far away, is written below; what is not identified has no dot."""
    is_scaled, (intercept, *lines) = coefficient_lines(fit, intervals)
    unit = "coefficients in units of their errors" if is_scaled else "coefficients"
    words = f"{unit}; intercept {intercept.words}" if fit.has_intercept else f"{unit}; no intercept"
    farthest = _FARTHEST if is_scaled else math.inf
    if any(farthest < abs(line.place) < math.inf for line in lines):
        words += "\narrows: beyond the axis"
    edge = max([_NEAR, *(1.2 * abs(line.place) for line in lines if abs(line.place) <= farthest)])

    def draw_dot(axes: Any, line: ParameterLine, place: int) -> None:
        if farthest < abs(line.place) < math.inf:
            axes.plot([math.copysign(edge, line.place)], [place], ">" if line.place > 0 else "<", color=COLORS[0], zorder=3)
        elif line.scale is not None and math.isfinite(line.scale):
            axes.plot([line.place], [place], "o", color=COLORS[0], markersize=5, zorder=3)
            _draw_whisker(axes, place, [end / line.scale for end in line.ends or ()])

    height = 1.1 + _ROW * (len(lines) + words.count("\n"))
    margin = name_margin([line.name for line in lines])
    return Panel(height, lambda axes: _draw(axes, lines, words, draw_dot, most_written=len(lines)), margin)


def likelihood_panel(fit: Any, intervals: Sequence[Interval]) -> Panel:
    """The panel of a fitted family of laws."""
    level = intervals[0].level if len(intervals) == len(fit.values) else _LEVEL
    reach = NormalDist().inv_cdf((1 + level) / 2)
    lines = [_likelihood_line(fit, place, intervals, reach) for place in range(len(fit.values))]
    words = f"{fit.family}: distance from the estimate, in errors"
    if any(line.noise for line in lines):
        words += "; thick: noise alone"

    def draw_dot(axes: Any, line: ParameterLine, place: int) -> None:
        if math.isfinite(line.value):
            axes.plot([0.0], [place], "o", color=COLORS[0], markersize=5, zorder=4)
        if line.scale is None:
            return
        _draw_whisker(axes, place, [(end - line.value) / line.scale for end in line.ends or ()])
        if line.noise is not None:
            noise = line.noise / line.scale
            _draw_whisker(axes, place, [-noise, noise], linewidth=4, alpha=0.5, zorder=3)

    height = 1.1 + _ROW * min(len(lines), MOST_NAMED)
    margin = name_margin([line.name for line in lines])
    return Panel(height, lambda axes: _draw(axes, lines, words, draw_dot, most_written=MOST_NAMED), margin)


def loadings_panel(found: Any) -> Panel:
    """The panel of principal components: the loadings of every column, a color for each of the first few components."""
    names = [_short(name) for name in found.column_names]
    shown = list(zip(found.components, found.explained_variance_ratio, COLORS[:MOST_COMPONENTS], strict=False))

    def draw(axes: Any) -> None:
        axes.axvline(0.0, color=COLORS[6], linewidth=0.8, zorder=1)
        for place, (loadings, share, color) in enumerate(shown, 1):
            label = f"component {place}: {share:.2f} of the variance"
            axes.plot(loadings, range(len(names)), "o", color=color, markersize=5, zorder=3, label=label)
        axes.set_yticks(list(range(len(names))), [as_written(name) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(-1.05, 1.05)
        axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        axes.grid(axis="x", linewidth=0.4, alpha=0.5)
        axes.set_xlabel("loadings of columns")
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)

    return Panel(1.1 + _ROW * len(names), draw, name_margin(names))


def name_margin(names: Sequence[str]) -> int:
    """How many letters the names of lines take before the axes; none where they are too many to be written."""
    return min(max(map(len, names), default=0), LONGEST_NAME) if len(names) <= MOST_NAMED else 0


def coefficient_lines(fit: Any, intervals: Sequence[Interval]) -> tuple[bool, list[ParameterLine]]:
    """Whether all coefficients are drawn in units of their errors, and the intercept and the coefficients."""
    values = (fit.intercept, *fit.coefficients)
    first: list[Any] = [] if fit.has_intercept else [None]
    own: list[Interval | None] = [*first, *intervals]
    if len(own) != len(values):
        own = [None] * len(values)
    known = [None] * len(values) if fit.errors is None else [*first, *fit.errors]
    errors = [_error(error, interval) for error, interval in zip(known, own, strict=True)]
    is_scaled = all(error is not None for error in errors[1:])
    return is_scaled, [
        ParameterLine(_short(name), value, _ends(value, error, interval), error if is_scaled and error is not None else 1.0)
        for name, value, error, interval in zip(("Intercept", *fit.features), values, errors, own, strict=True)
    ]


def _error(known: float | None, interval: Interval | None) -> float | None:
    """The error of a parameter, as it is known or from its interval; infinite where it is not identified."""
    if known is not None and known > 0:
        return float(known)
    if interval is None or not interval.high > interval.low:
        return None
    return (interval.high - interval.low) / (2 * NormalDist().inv_cdf((1 + interval.level) / 2))


def _ends(value: float, error: float | None, interval: Interval | None) -> tuple[float, float] | None:
    """The ends of the interval, or of the normal one of a parameter that came without."""
    if interval is not None:
        return interval.low, interval.high
    reach = NormalDist().inv_cdf((1 + _LEVEL) / 2)
    return None if error is None else (value - reach * error, value + reach * error)


def _likelihood_line(fit: Any, place: int, intervals: Sequence[Interval], reach: float) -> ParameterLine:
    value = fit.values[place]
    error = None if fit.errors is None else float(fit.errors[place])
    ends = None if error is None else (value - reach * error, value + reach * error)
    if len(intervals) == len(fit.values):
        ends = (intervals[place].low, intervals[place].high)
        error = error or (ends[1] - ends[0]) / (2 * reach)
    is_known = error is not None and 0 < error < math.inf
    noise = None if fit.noise is None else reach * fit.noise[place]
    return ParameterLine(_short(fit.names[place]), value, ends, error if is_known else None, noise)


def _draw(
    axes: Any,
    lines: Sequence[ParameterLine],
    words: str,
    draw_dot: Callable[[Any, ParameterLine, int], None],
    most_written: int,
) -> None:
    """A dot for each line; its number beside it, up to `most_written` of them, and its name, where there is room for all."""
    axes.axvline(0.0, color=COLORS[6], linewidth=0.8, zorder=1)
    beside = {"transform": axes.get_yaxis_transform(), "fontsize": 7, "verticalalignment": "center"}
    for place, line in enumerate(lines):
        draw_dot(axes, line, place)
        if len(lines) <= most_written:
            axes.text(1.01, place, as_written(line.words), **beside)
    named = len(lines) <= MOST_NAMED
    axes.set_yticks(list(range(len(lines))) if named else [], [as_written(line.name) for line in lines] if named else [])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_xlabel(as_written(words))


def _draw_whisker(axes: Any, place: int, ends: Sequence[float], linewidth: float = 1.5, zorder: int = 2, **looks: Any) -> None:
    if ends and all(map(math.isfinite, ends)):
        axes.hlines([place], ends[:1], ends[1:], color=COLORS[0], linewidth=linewidth, zorder=zorder, **looks)


def _short(name: str) -> str:
    return shortened(value_text(name), LONGEST_NAME)
