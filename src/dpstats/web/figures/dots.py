"""Dots with intervals: one number on an axis, or a row for each of several, such as groups or coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpstats.web.figures.scales import AxisScale, draw_axis
from dpstats.web.figures.svg import Drawing

MOST_ROWS = 60
"""Rows that are drawn; a table beside the figure has all of them."""
_ROW, _BELOW, _TOP = 44, 26, 4
_LONGEST = 40
"""Letters beside each other that a telephone has room for."""


@dataclass(frozen=True)
class DrawnDot:
    """A number where it is drawn."""

    name: str
    value: float
    low: float | None
    """The lower end of the interval; None where there is no interval, infinite where it is unknown."""
    high: float | None
    words: str
    """The number for people."""


def single_dot(dot: DrawnDot, words: str, ends_in_words: tuple[str, str] = ("", "")) -> str:
    """One number with its interval, whose ends are named, on an axis around it."""
    ends = [end for end in (dot.low, dot.high) if end is not None]
    drawing, scale = Drawing(), AxisScale.around([dot.value, *ends], room=0.55)
    middle, bottom = 34, 62
    draw_axis(drawing, scale, (_TOP, bottom))
    _draw_interval(drawing, scale, dot, middle, thick=True)
    if dot.low is not None and math.isfinite(dot.low):
        drawing.text(ends_in_words[0], scale(dot.low) - 1.2, middle + 4, anchor="end")
    if dot.high is not None and math.isfinite(dot.high):
        drawing.text(ends_in_words[1], scale(dot.high) + 1.2, middle + 4)
    return drawing.svg(bottom + _BELOW, words)


def rows_of_dots(dots: Sequence[DrawnDot], words: str, *, zero: bool = False) -> str:
    """A row for each number: its name and the number in words, and below them the dot with its interval, on one axis for all."""
    shown = dots[:MOST_ROWS]
    ends = [end for dot in shown for end in (dot.value, dot.low, dot.high) if end is not None]
    drawing, scale = Drawing(), AxisScale.around([*ends, 0.0] if zero else ends)
    bottom = _TOP + _ROW * len(shown)
    draw_axis(drawing, scale, (_TOP, bottom), zero=zero)
    for place, dot in enumerate(shown):
        top = _TOP + _ROW * place
        label_row(drawing, dot.name, dot.words, top)
        _draw_interval(drawing, scale, dot, top + 31)
    return drawing.svg(bottom + _BELOW, words)


def label_row(drawing: Drawing, name: str, words: str, top: float) -> None:
    """The name of a row at its left end, and its number at the right."""
    drawing.text(shortened_inside(name, max(8, _LONGEST - len(words))), 0.5, top + 16, look="strong")
    drawing.text(words, 99.5, top + 16, look="quiet", anchor="end")


def shortened_inside(name: str, longest: int) -> str:
    """The name; where it is too long, without its middle, because several rows may differ at their ends alone."""
    if len(name) <= longest:
        return name
    end = (longest - 3) // 2
    return f"{name[: longest - 3 - end]}...{name[len(name) - end :]}"


def _draw_interval(drawing: Drawing, scale: AxisScale, dot: DrawnDot, down: float, *, thick: bool = False) -> None:
    """A line from end to end, with a stop at each end that is known, and the dot upon it."""
    about = f"{dot.name}: {dot.words}" if dot.name else dot.words
    if dot.low is not None and dot.high is not None:
        across = (scale(dot.low), scale(dot.high))
        if thick:
            drawing.rectangle("bar", across, (down - 5, down + 5), round=5)
        else:
            drawing.line("whisker", across, (down, down))
        for end, place in zip((dot.low, dot.high), across, strict=True):
            if math.isfinite(end):
                drawing.line("whisker", (place, place), (down - (9 if thick else 4), down + (9 if thick else 4)))
    drawing.dot(scale(dot.value), down, 7 if thick else 5, about=about)
