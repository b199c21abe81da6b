"""Public ranges of votes, and votes as whole numbers of steps in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import exact_rational, nearest_float
from dpstats.statistics.aggregation.row_blocks import Floats

STEPS = 1 << 30
"""Whole steps from the lower end of a range to the upper one; squares of them fit into 62 bits."""
LARGEST = 1e150
"""Ends of ranges are no larger, so that no difference or square of them leaves the floats."""


@dataclass(frozen=True)
class Range:
    """Two public numbers between which an answer is known to lie; what lies beyond counts as the nearer one."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    def places(self, raw_votes: Floats, default: float | None = None) -> NDArray[np.int64]:
        """For each vote the step next to it, from 0 to STEPS; NaN is in the middle, or where the default is.

        A vote's step depends on that vote alone: each operation is one correctly rounded operation of its own numbers.
        """
        filled = self.low + self.width / 2 if default is None else default
        clamped = np.clip(np.where(np.isnan(raw_votes), filled, raw_votes), self.low, self.high)
        steps = np.rint((clamped - self.low) / self.width * STEPS)
        return np.clip(steps, 0, STEPS).astype(np.int64)

    def number(self, part: float) -> float:
        """The number at a part of the way from the lower end to the upper one; within the range."""
        return min(max(self.low + self.width * part, self.low), self.high)


def checked_ranges(value: object) -> tuple[Range, ...]:
    """One range, as in (0, 10), or a list of one for each coordinate."""
    if not isinstance(value, (list, tuple)) or not value:
        raise InvalidParameterError("range must be two numbers such as (0, 10), or a list of such pairs, one for each number.")
    if all(isinstance(item, (list, tuple)) for item in value):
        return tuple(_checked_range(item) for item in value)
    return (_checked_range(value),)


def _checked_range(value: Sequence[object]) -> Range:
    if len(value) != 2:
        raise InvalidParameterError(f"range must be two numbers such as (0, 10), got {len(value)}.")
    low, high = (nearest_float(exact_rational(end, "range")) for end in value)
    if not low < high or max(abs(low), abs(high)) > LARGEST:
        raise InvalidParameterError(f"range must begin below its end, with both within 1e150 of 0; got ({low:g}, {high:g}).")
    if low + (high - low) / 2 in (low, high):
        raise InvalidParameterError("range must be wide enough to have a middle: its ends are neighbouring floats.")
    return Range(low, high)
