"""Scales: from numbers to places on a figure, and the round numbers at which an axis is marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpstats.web.figures.svg import Drawing

MOST_TICKS = 5
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class AxisScale:
    """Numbers from `low` to `high`, drawn from `left` to `right` per cent."""

    low: float
    high: float
    left: float = 2.0
    right: float = 98.0

    @classmethod
    def around(cls, numbers: Iterable[float], room: float = 0.06, *, from_zero: bool = False) -> AxisScale:
        """A scale with some numbers in it, of which infinite ones do not count; `room` at both ends is a part of their spread."""
        finite = [float(number) for number in numbers if math.isfinite(number)] or [0.0]
        low, high = min(finite), max(finite)
        if from_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        spread = (high - low) or abs(high) or 1.0
        return cls(low if from_zero and low == 0 else low - room * spread, high + room * spread)

    def __call__(self, number: float) -> float:
        """The place of a number; what is beyond an end is put there."""
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    def ticks(self) -> list[float]:
        """A few round numbers within the scale."""
        rough = (self.high - self.low) / MOST_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(each * power for each in _STEPS if each * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def draw_axis(drawing: Drawing, scale: AxisScale, down: tuple[float, float], *, zero: bool = False) -> None:
    """Upright lines at round numbers, which stand below them; 0 gets a line of its own if it is to be seen."""
    for tick in scale.ticks():
        place = scale(tick)
        drawing.line("zero" if zero and tick == 0 else "grid", (place, place), down)
        anchor = "start" if place < 6 else "end" if place > 94 else "middle"
        drawing.text(number_text(tick), place, down[1] + 16, look="quiet", anchor=anchor)


def number_text(number: float, digits: int = 6) -> str:
    """A number for people: with marks of thousands, and as many digits as say something."""
    if not math.isfinite(number):
        return "unknown"
    if number == 0:
        return "0"
    size = math.floor(math.log10(abs(number)))
    if not -5 <= size < 15:
        return f"{number:.{digits - 1}g}"
    text = f"{number:,.{max(0, digits - 1 - size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
