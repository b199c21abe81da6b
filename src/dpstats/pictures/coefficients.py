"""The panel of a regression: each coefficient in units of its error, with its interval, and its own number beside it.

Coefficients have different units, so that they share no axis; how many errors they lie from 0 is the same for all.
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
_NEAR, _FARTHEST = 12.0, 60.0
"""Errors from 0 that the axis reaches where it ends in an arrow, and beyond which an arrow stands for a dot."""


@dataclass(frozen=True)
class _CoefficientLine:
    """A coefficient as it is drawn."""

    name: str
    value: float
    scale: float
    """What it is divided by: its error, or 1 where that is not known."""
    interval: Interval | None

    @property
    def place(self) -> float:
        return self.value / self.scale

    @property
    def words(self) -> str:
        return f"{self.value:.4g}{f' ({self.interval.low:.4g} to {self.interval.high:.4g})' if self.interval else ''}"


def coefficient_panel(fit: Any, intervals: Sequence[Interval]) -> tuple[float, Callable[[Any], None]]:
    """How high the panel of a fit should be, in inches, and what draws it on given axes.

    The intercept is written below, because it may lie far from all else. A coefficient that is not identified has no dot.
    """
    is_scaled, (intercept, *lines) = _lines(fit, intervals)
    unit = "coefficients in units of their errors" if is_scaled else "coefficients"
    words = f"{unit}; intercept {intercept.words}" if fit.has_intercept else f"{unit}; no intercept"
    farthest = _FARTHEST if is_scaled else math.inf
    if any(farthest < abs(line.place) < math.inf for line in lines):
        words += "\narrows: beyond the axis"
    edge = max([_NEAR, *(1.2 * abs(line.place) for line in lines if abs(line.place) <= farthest)])
    return 1.1 + _ROW * (len(lines) + words.count("\n")), lambda axes: _draw(axes, lines, farthest, edge, words)


def _lines(fit: Any, intervals: Sequence[Interval]) -> tuple[bool, list[_CoefficientLine]]:
    """Whether all coefficients are drawn in units of their errors, and the intercept and the coefficients."""
    values = (fit.intercept, *fit.coefficients)
    own: list[Interval | None] = list(intervals) if fit.has_intercept else [None, *intervals]
    if len(own) != len(values):
        own = [None] * len(values)
    errors = [_error(fit.errors, place, own[place]) for place in range(len(values))]
    is_scaled = all(error is not None for error in errors[1:])
    return is_scaled, [
        _CoefficientLine(
            _short(name), value, error if is_scaled and error is not None else 1.0, interval or _around(value, error)
        )
        for name, value, error, interval in zip(("Intercept", *fit.names), values, errors, own, strict=True)
    ]


def _error(errors: Any, place: int, interval: Interval | None) -> float | None:
    """The error of a parameter, as it is known or from its interval; infinite where it is not identified."""
    if errors is not None and errors[place] > 0:
        return float(errors[place])
    if interval is None or not interval.high > interval.low:
        return None
    return (interval.high - interval.low) / (2 * NormalDist().inv_cdf((1 + interval.level) / 2))


def _around(value: float, error: float | None) -> Interval | None:
    """The normal interval of a parameter that came without one."""
    reach = None if error is None else NormalDist().inv_cdf((1 + _LEVEL) / 2) * error
    return None if reach is None else Interval(value - reach, value + reach, _LEVEL, "the error")


def _draw(axes: Any, lines: Sequence[_CoefficientLine], farthest: float, edge: float, words: str) -> None:
    axes.axvline(0.0, color=COLORS[6], linewidth=0.8, zorder=1)
    for place, line in enumerate(lines):
        if farthest < abs(line.place) < math.inf:
            axes.plot([math.copysign(edge, line.place)], [place], ">" if line.place > 0 else "<", color=COLORS[0], zorder=3)
        elif math.isfinite(line.scale):
            axes.plot([line.place], [place], "o", color=COLORS[0], markersize=5, zorder=3)
            _draw_whisker(axes, line, place)
        axes.text(
            1.01, place, as_written(line.words), transform=axes.get_yaxis_transform(), fontsize=7, verticalalignment="center"
        )
    named = len(lines) <= MOST_NAMED
    axes.set_yticks(list(range(len(lines))) if named else [], [as_written(line.name) for line in lines] if named else [])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_xlabel(as_written(words))


def _draw_whisker(axes: Any, line: _CoefficientLine, place: int) -> None:
    if line.interval is None:
        return
    low, high = line.interval.low / line.scale, line.interval.high / line.scale
    if math.isfinite(low) and math.isfinite(high):
        axes.hlines([place], [low], [high], color=COLORS[0], linewidth=1.5, zorder=2)


def _short(name: str) -> str:
    return shortened(value_text(name), _LONGEST)
