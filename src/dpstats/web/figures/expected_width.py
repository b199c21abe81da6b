"""The curve of a slider: the half-width to expect by epsilon, on logarithmic axes, and a cross where somebody stands.

`data` says where everything is drawn, so that a script can move the cross without asking again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpstats.web.asking.expectations import Expectation
from dpstats.web.figures.scales import number_text
from dpstats.web.figures.svg import Drawing
from dpstats.web.routes import Plain

LEFT, RIGHT = 8.0, 98.0
TOP, BOTTOM, HEIGHT = 26.0, 236.0, 272.0
_ROUND = (1, 2, 5)
_ROOM_BELOW, _ROOM_ABOVE = 1.7, 1.2
"""By which factors the axis goes on beyond the widths that are drawn; below them there is room for words."""


@dataclass(frozen=True)
class LogAxis:
    """Positive numbers from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, number: float) -> float:
        """The place of a number; what is beyond an end is put there."""
        inside = min(max(number, self.low), self.high)
        return self.start + math.log(inside / self.low) / math.log(self.high / self.low) * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """A few round numbers within the axis."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        every = [digit * 10.0**power for power in powers for digit in _ROUND if self.low <= digit * 10.0**power <= self.high]
        if len(every) <= most:
            return every
        tens = [each for each in every if math.log10(each).is_integer()]
        return tens if len(tens) > 1 else every[:: math.ceil(len(every) / most)]


def axes_of(expect: Expectation) -> tuple[LogAxis, LogAxis]:
    """The axes of epsilon and of the half-width."""
    widths = [expect.points[-1].low, expect.points[0].high, *([expect.without_privacy] if expect.without_privacy else [])]
    across = LogAxis(expect.points[0].epsilon, expect.most, LEFT, RIGHT)
    return across, LogAxis(min(widths) / _ROOM_BELOW, max(widths) * _ROOM_ABOVE, BOTTOM, TOP)


def expected_width(expect: Expectation, epsilon: float, words: str) -> str:
    """The curve with its band, the line without privacy, what is below the floor, and the cross at an epsilon."""
    across, up = axes_of(expect)
    drawing = Drawing()
    if expect.floor > across.low:
        drawing.rectangle("rest", (LEFT, across(expect.floor)), (TOP, BOTTOM), about="few rows for so small an epsilon")
    for tick in across.ticks(7):
        drawing.line("grid", (across(tick), across(tick)), (TOP, BOTTOM))
        drawing.text(number_text(tick), across(tick), BOTTOM + 17, look="quiet", anchor="middle")
    for tick in up.ticks(6):
        drawing.line("grid", (LEFT, RIGHT), (up(tick), up(tick)))
        drawing.text(number_text(tick), LEFT - 1, up(tick) + 4, look="quiet", anchor="end")
    drawing.text(f"half-width, {expect.unit or 'in the unit of the answer'}", 0, 12, look="quiet")
    drawing.text("epsilon", RIGHT, BOTTOM + 33, look="quiet", anchor="end")
    points = expect.points
    edge = [(each.epsilon, each.low) for each in points] + [(each.epsilon, each.high) for each in reversed(points)]
    drawing.shape("polygon", "band", _placed(edge, across, up), (TOP, BOTTOM))
    drawing.shape("polyline", "curve", _placed([(each.epsilon, each.middle) for each in points], across, up), (TOP, BOTTOM))
    if expect.without_privacy:
        down = up(expect.without_privacy)
        drawing.line("tick", (LEFT, RIGHT), (down, down))
        drawing.text("without privacy", RIGHT, down + 15, look="quiet", anchor="end")
    here = expect.at(epsilon)
    place = (across(epsilon), up(here.middle if here is not None else up.high))
    drawing.line("zero", (place[0], place[0]), (TOP, BOTTOM))
    drawing.line("zero", (LEFT, RIGHT), (place[1], place[1]))
    drawing.dot(*place, 7, about="where you stand")
    return drawing.svg(HEIGHT, words)


def data(expect: Expectation) -> Plain:
    """The curve, and where it is drawn."""
    across, up = axes_of(expect)
    return {**expect.to_dict(), "across": list(vars(across).values()), "up": list(vars(up).values())}


def _placed(points: Sequence[tuple[float, float]], across: LogAxis, up: LogAxis) -> list[tuple[float, float]]:
    """Per cent across, and as parts of 1 from the top down."""
    return [(across(epsilon), (up(width) - TOP) / (BOTTOM - TOP)) for epsilon, width in points]
