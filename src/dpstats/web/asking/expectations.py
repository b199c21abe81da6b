"""Expectations: the half-width to expect of a question by epsilon, for a slider that turns both ways. No data is read.

A plan's curve has a line for each shape of data. The band is from the least to the largest of them, the line is their geometric
mean; between the points of the curve both are straight on logarithmic axes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpstats.curator.planning.curves import CurveLine, EpsilonCurve
from dpstats.web.routes import Plain

IN_PARTS = "%"
"""Half-widths are percentages of something; else they are in the unit of the answer."""


@dataclass(frozen=True)
class ExpectedPoint:
    """What to expect at one epsilon, over all shapes."""

    epsilon: float
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Expectation:
    """The half-width by epsilon, for one number of rows."""

    n: int
    points: tuple[ExpectedPoint, ...]
    """By ascending epsilon; those that the plan knows."""
    without_privacy: float | None
    """The half-width that sampling alone leaves."""
    floor: float
    """The epsilon below which so many rows are few."""
    unit: str
    """What half-widths are in: "% of the IQR", or "" for the unit of the answer."""
    most: float
    """The largest epsilon of the slider."""

    @classmethod
    def of(cls, curve: EpsilonCurve, n: int) -> Expectation | None:
        """What a curve says about n rows; None where it knows too little."""
        lines = [line for line in curve.lines if line.n == n]
        by_share = all(line.whole for line in lines)
        points = []
        for place, epsilon in enumerate(curve.epsilons):
            widths = [width for line in lines if (width := _width(line, line.half_widths[place], by_share))]
            if len(widths) == len(lines):
                points.append(ExpectedPoint(float(epsilon), min(widths), _geometric_mean(widths), max(widths)))
        if len(points) < 2:
            return None
        without = [width for line in lines if (width := _width(line, line.without_privacy, by_share))]
        return cls(
            n,
            tuple(points),
            _geometric_mean(without) if without else None,
            max(line.floor for line in lines),
            f"{IN_PARTS} {curve.scale}" if by_share else "",
            float(curve.epsilons[-1]),
        )

    def at(self, epsilon: float) -> ExpectedPoint | None:
        """What to expect at an epsilon; None where the plan does not reach."""
        places = [each.epsilon for each in self.points]
        if not places[0] <= epsilon <= places[-1]:
            return None
        found = [_between(places, [getattr(each, name) for each in self.points], epsilon) for name in ("low", "middle", "high")]
        return ExpectedPoint(epsilon, *found)

    def epsilon_for(self, width: float) -> float | None:
        """The smallest epsilon of the line that reaches a half-width; None where none does."""
        for before, after in zip(self.points, self.points[1:], strict=False):
            if before.middle <= width:
                return before.epsilon
            if after.middle <= width:
                return _between([after.middle, before.middle], [after.epsilon, before.epsilon], width)
        return None

    def to_dict(self) -> Plain:
        """Plain values for a page."""
        return {
            "n": self.n,
            "points": [[each.epsilon, each.low, each.middle, each.high] for each in self.points],
            "without_privacy": self.without_privacy,
            "floor": self.floor,
            "unit": self.unit,
            "most": self.most,
        }


def rounded_up(epsilon: float) -> Fraction:
    """An epsilon that was searched for, with three digits and not below."""
    unit = _third_digit(epsilon)
    return math.ceil(Fraction(epsilon) / unit - Fraction(1, 1000)) * unit


def rounded_down(epsilon: Fraction) -> Fraction:
    """An epsilon with three digits, and not above: what is left may have no end of them."""
    return epsilon // _third_digit(epsilon) * _third_digit(epsilon)


def _third_digit(number: float | Fraction) -> Fraction:
    """What one more in the third digit of a number amounts to."""
    return Fraction(10) ** (math.floor(math.log10(number)) - 2)


def _width(line: CurveLine, width: float | None, by_share: bool) -> float | None:
    if width is None or not by_share:
        return width
    assert line.whole is not None
    return 100 * width / line.whole


def _geometric_mean(widths: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, widths)) / len(widths))


def _between(places: Sequence[float], heights: Sequence[float], place: float) -> float:
    """The height at a place among ascending ones, straight on logarithmic axes."""
    after = min(max(bisect_left(places, place), 1), len(places) - 1)
    x, x0, x1 = (math.log(each) for each in (place, places[after - 1], places[after]))
    y0, y1 = (math.log(each) for each in (heights[after - 1], heights[after]))
    return math.exp(y0 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0))
