"""Miniatures: what an answer looks like, small and without words, for lists of releases; the words stand beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats.curator.archive import Result
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply
from dpstats.pictures.dots import dots_of, dots_of_groups
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.contingency.tables import ContingencyTables
from dpstats.web.figures.answers import coefficient_dots, drawn
from dpstats.web.figures.dots import DrawnDot
from dpstats.web.figures.scales import AxisScale
from dpstats.web.figures.svg import Drawing

HEIGHT = 56.0
_MOST_ROWS, _MOST_BARS, _MOST_CELLS = 7, 40, 200


def miniature_of(answer: Result) -> str | None:
    """A small figure of an answer; None where there is none that says something."""
    if isinstance(answer, NoReply):
        return None
    if isinstance(answer, GroupedRelease):
        found = dots_of_groups(answer)
        return None if found is None else _dots([drawn(dot) for dot in found[0]], answer.question)
    value = answer.value
    if isinstance(value, Histogram):
        return _bars(value.counts, answer.question)
    if isinstance(value, ContingencyTables):
        return _cells(value, answer.question)
    if hasattr(value, "coefficients") and hasattr(value, "intercept"):
        return _dots(coefficient_dots(answer)[1], answer.question, zero=True)
    return _dots([drawn(dot) for dot in dots_of(answer)], answer.question)


def _dots(dots: Sequence[DrawnDot], words: str, *, zero: bool = False) -> str | None:
    """Dots with their intervals, one below the other."""
    shown = dots[:_MOST_ROWS]
    if not shown:
        return None
    ends = [end for dot in shown for end in (dot.value, dot.low, dot.high) if end is not None]
    drawing, scale = Drawing(), AxisScale.around([*ends, 0.0] if zero else ends, room=0.6 if len(shown) == 1 else 0.06)
    if zero:
        drawing.line("zero", (scale(0.0), scale(0.0)), (0, HEIGHT))
    for place, dot in enumerate(shown, 1):
        down = HEIGHT * place / (len(shown) + 1)
        if dot.low is not None and dot.high is not None:
            drawing.rectangle("bar", (scale(dot.low), scale(dot.high)), (down - 1.5, down + 1.5), round=1.5)
        drawing.dot(scale(dot.value), down, 5 if len(shown) == 1 else 3.5)
    return drawing.svg(HEIGHT, words)


def _bars(counts: Sequence[int], words: str) -> str | None:
    """Upright bars beside each other."""
    if not 0 < len(counts) <= _MOST_BARS:
        return None
    drawing, room, most = Drawing(), 100 / len(counts), max(*counts, 1)
    for place, count in enumerate(counts):
        across = ((place + 0.08) * room, (place + 0.92) * room)
        drawing.rectangle("bar", across, (HEIGHT * (1 - count / most), HEIGHT))
    return drawing.svg(HEIGHT, words)


def _cells(tables: ContingencyTables, words: str) -> str | None:
    """The cells of the last table, the darker the more rows they have."""
    counts = np.maximum(tables.tables[-1].counts, 0.0)
    if not 0 < counts.size <= _MOST_CELLS or counts.ndim == 0:
        return None
    grid = counts.reshape(-1, counts.shape[-1])
    drawing, most, (lines, columns) = Drawing(), float(grid.max()) or 1.0, grid.shape
    for (line, column), count in np.ndenumerate(grid):
        across = (100 * (column + 0.03) / columns, 100 * (column + 0.97) / columns)
        down = (HEIGHT * (line + 0.08) / lines, HEIGHT * (line + 0.92) / lines)
        drawing.rectangle("mark", across, down, shade=0.08 + 0.82 * float(count) / most)
    return drawing.svg(HEIGHT, words)
