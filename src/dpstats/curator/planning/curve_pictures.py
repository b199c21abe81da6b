"""The picture of a curve: the half-width to expect against epsilon, what is left without privacy, and where rows are too few."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dpstats.curator.planning.curves import CurveLine, EpsilonCurve
from dpstats.curator.planning.pictures import spread
from dpstats.foundations.errors import InvalidParameterError
from dpstats.pictures.looks import COLORS, as_written, checked_target, figure_for

_LABEL_GAP = 0.06
_GREY = "#999999"


def plot_curve(path: str | Path, curve: EpsilonCurve) -> None:
    """Draw a curve into an .svg or .png file; needs matplotlib: pip install 'dpstats[plots]'."""
    checked_target(path)
    drawn = [line for line in curve.lines if any(line.half_widths)]
    if not drawn:
        raise InvalidParameterError("there is nothing to draw: the stored tables know nothing at these epsilons.")
    with figure_for(path, 7, 4) as figure:
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_yscale("log")
        ends = [_draw_line(axes, curve, line, COLORS[place % len(COLORS)]) for place, line in enumerate(drawn)]
        axes.set_xlim(float(curve.epsilons[0]), float(curve.epsilons[-1]))
        _draw_floor(axes, max(line.floor for line in drawn))
        _label(axes, curve, drawn, ends)
        axes.set_xlabel("epsilon")
        axes.set_ylabel(f"half-width to expect ({f'share {curve.scale}' if curve.is_relative else 'in the unit of the answer'})")
        title = f"{curve.question} by {curve.method}; dashed: without privacy"
        figure.suptitle(as_written(title), fontsize=9, x=0.01, horizontalalignment="left")


def _draw_line(axes: Any, curve: EpsilonCurve, line: CurveLine, color: str) -> float:
    """Draw one line, and return the height at which it ends; a half-width of 0 has no place on a logarithmic axis."""
    widths = [curve.shown_width(line, width) for width in line.half_widths]
    heights = [width if width else math.nan for width in widths]
    axes.plot([float(each) for each in curve.epsilons], heights, color=color, linewidth=1.5)
    if bare := curve.shown_width(line, line.without_privacy):
        axes.axhline(bare, color=color, linewidth=0.8, linestyle="--")
    return next(height for height in reversed(heights) if not math.isnan(height))


def _draw_floor(axes: Any, floor: float) -> None:
    """Shade the epsilons at which rows are too few, on some line at least."""
    low, high = axes.get_xlim()
    if floor > low:
        axes.axvspan(low, min(floor, high), color=_GREY, alpha=0.2, linewidth=0)
        axes.text(low, 1, " too few rows", transform=axes.get_xaxis_transform(), fontsize=8, color=_GREY, verticalalignment="top")


def _label(axes: Any, curve: EpsilonCurve, drawn: list[CurveLine], ends: list[float]) -> None:
    """The name of each line at its right end."""
    low, high = map(math.log, axes.get_ylim())
    places = spread([(math.log(end) - low) / (high - low) for end in ends], _LABEL_GAP)
    several = len({line.n for line in curve.lines}) > 1
    for place, (line, height) in enumerate(zip(drawn, places, strict=True)):
        label = f"{line.shape}, {line.n:,} rows" if several else line.shape
        color = COLORS[place % len(COLORS)]
        axes.annotate(label, xy=(1.01, height), xycoords="axes fraction", color=color, verticalalignment="center")
