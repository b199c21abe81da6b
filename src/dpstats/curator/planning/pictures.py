"""Pictures of plans: reply probability, and how exact an answer is or what it takes.

The same plans give the same bytes, in SVG with its texts as texts. A table of no rows has no place on a logarithmic axis and is
left out; an error of exactly 0 has none either and is drawn below all others, as an open circle. Lines of errors beyond 100
interquartile ranges leave the panel.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan_rows import Found, PlanRow
from dpstats.foundations.errors import InvalidParameterError
from dpstats.pictures.looks import COLORS, MARKERS, checked_target, figure_for

Read = Callable[[PlanRow], float | None]
"""What a panel reads off a row; None where there is nothing."""
_OFF_THE_CHART = 100
"""Relative errors beyond this are absurd and would flatten all others; their lines leave the panel at the top."""
_LABEL_GAP = 0.075
"""The least distance between two labels, as a share of a panel's height."""


class Height(enum.Enum):
    """What the second panel shows beside the probability of a reply."""

    ERROR = "error of 95% of replies"
    HALF_WIDTH = "half-width of the interval"
    EPSILON = "epsilon that it takes"

    def read(self, row: PlanRow, *, relative: bool) -> float | None:
        """What a row shows; None where there is nothing."""
        if self is Height.EPSILON:
            return None if row.found is Found.NONE else float(row.cost.epsilon)
        if self is Height.HALF_WIDTH:
            return row.relative_half_width if relative else row.half_width
        return row.relative_error_95 if relative else row.error_95


@dataclass(frozen=True)
class DrawnLine:
    """The rows of one plan for one shape, by ascending n, with the label and the looks of their line."""

    label: str
    rows: tuple[PlanRow, ...]
    color: str
    marker: str

    def points(self, read: Read) -> tuple[list[int], list[float]]:
        """Numbers of rows and heights along the line."""
        pairs = [(row.n, height) for row in self.rows if (height := read(row)) is not None and math.isfinite(height)]
        return [rows for rows, _ in pairs], [height for _, height in pairs]


def plot_plans(path: str | Path, plans: Mapping[str, Plan], height: Height = Height.ERROR) -> None:
    """Draw plans by their labels into one .svg or .png file: a line for each plan, and for each shape if it has several.

    Needs matplotlib: pip install 'dpstats[plots]'.
    """
    checked_target(path)
    lines = lines_of(plans)
    if not lines:
        raise InvalidParameterError("there is nothing to draw: plan at least one n above 0.")
    with figure_for(path, 10, 3.6) as figure:
        replies, heights = figure.subplots(1, 2)
        _draw_replies(replies, lines)
        _draw_heights(heights, lines, height, *_unit(plans.values(), height))
        figure.suptitle(_title(plans), fontsize=9, x=0.01, horizontalalignment="left")


def lines_of(plans: Mapping[str, Plan]) -> list[DrawnLine]:
    """The lines that plans make, without tables of no rows."""
    found: dict[str, tuple[PlanRow, ...]] = {}
    for label, plan in plans.items():
        for shape, _ in plan.shapes:
            rows = [row for row in plan.rows if row.shape == shape and row.n > 0]
            parts = [label, shape] if len(plan.shapes) > 1 else [label or shape]
            if rows:
                found[", ".join(part for part in parts if part)] = tuple(sorted(rows, key=lambda row: row.n))
    return [
        DrawnLine(label, rows, COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)])
        for index, (label, rows) in enumerate(found.items())
    ]


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Places for labels in [0, 1], in the order of their heights and at least a gap apart, near where they belong."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    gap = min(gap, 1 / max(1, len(heights) - 1))
    places = [0.0] * len(heights)
    lowest = 0.0
    for position, index in enumerate(order):
        highest = 1 - gap * (len(order) - 1 - position)
        places[index] = min(max(heights[index], lowest), highest)
        lowest = places[index] + gap
    return places


def _draw_replies(axes: Any, lines: Sequence[DrawnLine]) -> None:
    for line in lines:
        low, high = ([getattr(row.reply_interval, end) for row in line.rows] for end in ("low", "high"))
        axes.fill_between([row.n for row in line.rows], low, high, color=line.color, alpha=0.1, linewidth=0)
    axes.set_ylim(-0.02, 1.02)
    _draw_lines(axes, lines, lambda row: row.reply_probability, "probability of a reply", floor=0.0)


def _unit(plans: Iterable[Plan], height: Height) -> tuple[str, bool]:
    """What the second panel is counted in, and whether it is relative.

    These are shares of a common scale if every plan has them, or else the unit of the answers.
    """
    several = list(plans)
    if height is Height.EPSILON:
        return f"half-width {', '.join(dict.fromkeys(plan.wanted for plan in several))}", False
    rows = [row for plan in several for row in plan.rows]
    relative = all(height.read(row, relative=True) is not None for row in rows if height.read(row, relative=False) is not None)
    if not relative:
        return several[0].error_unit, False
    scales = ", ".join(dict.fromkeys(plan.scale for plan in several))
    return f"share {scales}" if height is Height.HALF_WIDTH else "interquartile ranges", True


def _draw_heights(axes: Any, lines: Sequence[DrawnLine], height: Height, unit: str, is_relative: bool) -> None:
    def read(row: PlanRow) -> float | None:
        return height.read(row, relative=is_relative)

    heights = [point for line in lines for point in line.points(read)[1]]
    if not heights:
        axes.set_axis_off()
        nothing = "no epsilon to show" if height is Height.EPSILON else "no reply with an error to show"
        axes.text(0, 0.5, nothing, transform=axes.transAxes)
        return
    floor = min((point for point in heights if point > 0), default=1.0) / 2
    top = max(*heights, floor) * 1.5
    if is_relative and floor < _OFF_THE_CHART < top:
        top = _OFF_THE_CHART
    axes.set_yscale("log")
    axes.set_ylim(floor / 1.5, top)
    if min(heights) == 0:
        nothing = "no error at all" if height is Height.ERROR else "no width at all"
        axes.set_title(f"open circles: {nothing}", fontsize=8, loc="left")
    _draw_lines(axes, lines, read, f"{height.value} ({unit})", floor)


def _draw_lines(axes: Any, lines: Sequence[DrawnLine], read: Read, title: str, floor: float) -> None:
    """Lines, their labels at the right end, and the axes' titles; what lies below the floor is drawn on it."""
    ends = []
    for line in lines:
        rows, heights = line.points(read)
        drawn = [max(height, floor) for height in heights]
        axes.plot(rows, drawn, color=line.color, linewidth=1.5, zorder=2)
        for size, height, place in zip(rows, heights, drawn, strict=True):
            looks = {"marker": "o", "markerfacecolor": "white"} if height < floor else {"marker": line.marker}
            axes.plot([size], [place], color=line.color, markersize=5, zorder=3, **looks)
        if rows:
            ends.append((line, rows[-1], min(drawn[-1], axes.get_ylim()[1])))
    axes.set_xscale("log")
    axes.set_xlabel("number of rows")
    axes.set_ylabel(title)
    places = spread([_share(axes, height) for _, _, height in ends], _LABEL_GAP)
    for (line, size, height), place in zip(ends, places, strict=True):
        axes.annotate(
            line.label,
            xy=(size, height),
            xytext=(1.05, place),
            textcoords="axes fraction",
            color=line.color,
            verticalalignment="center",
            arrowprops={"arrowstyle": "-", "color": line.color, "linewidth": 0.5, "relpos": (0, 0.5)},
            annotation_clip=False,
        )


def _share(axes: Any, height: float) -> float:
    """How high in its panel a height lies, from 0 to 1."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high, height = math.log(low), math.log(high), math.log(height)
    return float((height - low) / (high - low))


def _title(plans: Mapping[str, Plan]) -> str:
    if len(plans) == 1:
        return next(iter(plans.values())).title
    questions = dict.fromkeys(plan.question for plan in plans.values())
    shapes = dict.fromkeys(shape for plan in plans.values() for shape, _ in plan.shapes)
    return ", ".join(questions) + (f", shape: {next(iter(shapes))}" if len(shapes) == 1 else "")
