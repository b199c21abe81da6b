"""Bars of a histogram, each with the interval of its number of rows: upright between even edges, else one below the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from dpstats.statistics.binned.histogram import Histogram
from dpstats.web.figures.dots import MOST_ROWS, label_row
from dpstats.web.figures.scales import AxisScale, draw_axis, number_text
from dpstats.web.figures.svg import Drawing

_HEIGHT, _TOP, _BELOW, _ROW = 200.0, 22.0, 26.0, 42.0
_LABELS = 6
_SAME = 1e-6


def histogram_bars(histogram: Histogram, words: str) -> str:
    """The bars of a histogram."""
    if len(histogram.edges) > 1 and _are_even(histogram.edges):
        return _upright(histogram, words)
    return _listed(histogram, words)


def _are_even(edges: Sequence[float]) -> bool:
    widths = [after - before for before, after in pairwise(edges)]
    return math.isfinite(sum(widths)) and max(widths) - min(widths) <= _SAME * max(widths)


def _upright(histogram: Histogram, words: str) -> str:
    """Bars between the edges; the two open bins at the ends are fainter."""
    drawing, number = Drawing(), len(histogram.noisy)
    tops = histogram.counts if histogram.level is None else histogram.high
    scale = AxisScale(0.0, float(max(*tops, 1)) * 1.04, _TOP + _HEIGHT, _TOP)
    for tick in scale.ticks():
        drawing.line("grid", (0, 100), (scale(tick), scale(tick)))
        drawing.text(number_text(tick), 0, scale(tick) - 4, look="quiet")
    first, room = 9.0, 91.0 / number
    for place, count in enumerate(histogram.counts):
        left = first + place * room
        look = "edge-bar" if place in (0, number - 1) else "bar"
        about = f"{histogram.names[place]}: {count:,}"
        drawing.rectangle(look, (left + 0.06 * room, left + 0.94 * room), (scale(count), _TOP + _HEIGHT), about=about)
        if histogram.level is not None:
            middle = left + room / 2
            drawing.line("whisker", (middle, middle), (scale(histogram.low[place]), scale(histogram.high[place])))
    every = max(1, math.ceil(len(histogram.edges) / _LABELS))
    for place, edge in enumerate(histogram.edges):
        if place % every == 0:
            across = first + (place + 1) * room
            drawing.line("tick", (across, across), (_TOP + _HEIGHT, _TOP + _HEIGHT + 5))
            drawing.text(number_text(edge), across, _TOP + _HEIGHT + 19, look="quiet", anchor="middle")
    return drawing.svg(_TOP + _HEIGHT + _BELOW, words)


def _listed(histogram: Histogram, words: str) -> str:
    """A bar for each bin, by its name, from top to bottom."""
    drawing, number = Drawing(), min(len(histogram.noisy), MOST_ROWS)
    tops = histogram.counts if histogram.level is None else histogram.high
    scale = AxisScale.around([float(top) for top in tops[:number]] or [1.0], from_zero=True)
    bottom = 4 + _ROW * number
    draw_axis(drawing, scale, (4, bottom))
    for place in range(number):
        top, count = 4 + _ROW * place, histogram.counts[place]
        label_row(drawing, histogram.names[place], f"{count:,}", top)
        drawing.rectangle("bar", (scale(0.0), scale(count)), (top + 23, top + 36), about=f"{histogram.names[place]}: {count:,}")
        if histogram.level is not None:
            drawing.line("whisker", (scale(histogram.low[place]), scale(histogram.high[place])), (top + 29.5, top + 29.5))
    return drawing.svg(bottom + _BELOW, words)
