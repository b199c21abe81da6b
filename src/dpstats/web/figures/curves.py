"""The curve of a distribution function, with the band of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpstats.foundations.results import Interval
from dpstats.web.figures.scales import AxisScale, draw_axis, number_text
from dpstats.web.figures.svg import Drawing

_TOP, _HEIGHT, _BELOW = 20.0, 200.0, 26.0


def distribution_curve(distribution: Any, intervals: Sequence[Interval], words: str) -> str:
    """Which part of the rows is up to each value."""
    values, shares = list(map(float, distribution.values)), list(map(float, distribution.probabilities))
    has_band = len(intervals) == len(values)
    ends = [end for each in intervals for end in each] if has_band else []
    drawing, scale, down = Drawing(), AxisScale.around([*values, *ends]), (_TOP, _TOP + _HEIGHT)
    draw_axis(drawing, scale, down)
    for part in (0.25, 0.5, 0.75, 1.0):
        place = _TOP + (1 - part) * _HEIGHT
        drawing.line("grid", (0, 100), (place, place))
        drawing.text(f"{number_text(100 * part)}%", 0, place - 4, look="quiet")
    if has_band:
        low = [(scale(each.low), 1 - share) for each, share in zip(intervals, shares, strict=True)]
        high = [(scale(each.high), 1 - share) for each, share in zip(intervals, shares, strict=True)]
        drawing.shape("polygon", "band", [*low, *reversed(high)], down)
    drawing.shape("polyline", "curve", [(scale(value), 1 - share) for value, share in zip(values, shares, strict=True)], down)
    return drawing.svg(_TOP + _HEIGHT + _BELOW, words)
