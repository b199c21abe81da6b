"""Half-widths of released intervals: how wide one is, whether it covers a value, and how wide somebody wants it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.yardsticks import Scale, fitted_numbers, plain_numbers
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.results import Interval, Release
from dpstats.foundations.rounding import exact_rational

_EXAMPLES = 'half_width=0.5 in the unit of the answer, or half_width="5%"'


def intervals_of(release: Release) -> tuple[Interval, ...]:
    """The intervals of a release: one for each of its values, or a single one; of a regression those of its coefficients."""
    if fitted_numbers(release.value):
        return release.intervals
    if (coefficients := getattr(release.value, "coef", None)) is not None:
        return release.intervals[max(0, len(release.intervals) - len(coefficients)) :]  # the intercept comes first
    return release.intervals or ((release.interval,) if release.interval else ())


def half_width(release: Release) -> float | None:
    """Half of the width of a release's interval, of the widest where there are several; None without one."""
    widths = [0.0 if each.low == each.high else (each.high - each.low) / 2 for each in intervals_of(release)]
    return max(widths, default=None)


def covered_share(release: Release, truth: Any, slack: float) -> float | None:
    """The share of a release's intervals that hold the true value, to within some slack; None where that cannot be told."""
    intervals, values = intervals_of(release), plain_numbers(truth)
    if not intervals or values is None or len(values) != len(intervals):
        return None
    covered = [each.low - slack <= value <= each.high + slack for each, value in zip(intervals, values, strict=True)]
    return sum(covered) / len(covered)


@dataclass(frozen=True)
class WantedWidth:
    """A half-width that somebody wants: in the unit of the answer, or as a share of a shape's scale."""

    amount: float
    is_share: bool

    def on(self, scale: Scale, shape: Shape, truth: Any) -> float:
        """The half-width in the unit of the answer, on one shape."""
        if not self.is_share:
            return self.amount
        whole = scale.amount(shape, truth)
        if whole is None:
            raise InvalidParameterError(
                f"the shape {shape.name} has no scale to take {100 * self.amount:g}% of: give half_width as a number."
            )
        return self.amount * whole

    def text(self, scale: Scale) -> str:
        """In words."""
        return f"{100 * self.amount:g}% {scale}" if self.is_share else f"{self.amount:g}"


def checked_width(given: object) -> WantedWidth:
    """What was given as `half_width=`: a number above 0, or a percentage as text."""
    is_share = isinstance(given, str) and given.strip().endswith("%")
    text = str(given).strip().removesuffix("%").strip() if is_share else given
    number = exact_rational(text, "half_width")
    if number <= 0:
        raise InvalidParameterError(f"half_width must be above 0, such as {_EXAMPLES}; got {given}.")
    amount = float(number / 100 if is_share else number) if number < 10**300 else math.inf
    if not 0 < amount < math.inf:
        raise InvalidParameterError(f"half_width must be a number of ordinary size, such as {_EXAMPLES}.")
    return WantedWidth(amount, is_share)
