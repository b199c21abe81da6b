"""When a survival curve comes down to a share: the time of a step, as Kaplan and Meier's curve has it.

A curve is released at some times. Between them events may lie anywhere, and the curve is taken to be straight, but for two things
that released numbers tell: rows of a column of whole numbers (or of tenths, or hundredths) have whole times, and where several
private quantiles fell on one time most of the events before it are at that time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_DECIMALS, SOME_TIMES, PART_OF_TIMES = 2, 3, 0.25
"""Times are on a grain if so many of the drawn ones, and this part of all, have so many decimals at most. Without a grain one in
seven has 2 decimals or fewer, by the prior over decimals alone: 5 of 7 or 11 of 31 in fewer than one of 200 curves. With a
grain half of them have it, or more; the others fell between two times."""


@dataclass(frozen=True)
class Steps:
    """Released times, what part of the events up to each of them may lie before it, and the grain of all times."""

    times: Sequence[float]
    before: Sequence[float]
    per_unit: int | None
    """Times are multiples of 1 over this; None where nothing says so."""

    @classmethod
    def between(cls, times: Sequence[float], ties: Sequence[int], per_unit: int | None) -> Steps:
        """From how many private quantiles fell on each time."""
        return cls(times, [1 / count for count in ties[: len(times)]] or [1.0] * len(times), per_unit)

    def first_at(self, shares: Sequence[float], share: float) -> float | None:
        """The first time at which a curve has come down to a share; None where it does not."""
        found = self._place(shares, share)
        if found is None:
            return None
        place, part = found
        time = self._time(place, part / self.before[place]) if part <= self.before[place] else self.times[place]
        return min(self._on_grain(time, math.ceil), self.times[place])

    def earliest_at(self, shares: Sequence[float], share: float) -> float | None:
        """The same, no later than if events were spread evenly."""
        found = self._place(shares, share)
        return None if found is None else self._on_grain(self._time(*found), math.floor)

    def _place(self, shares: Sequence[float], share: float) -> tuple[int, float] | None:
        """Before which of the times a curve comes down to a share, and after which part of its fall up to that time."""
        before = 1.0
        for place, after in enumerate(shares):
            if after <= share:
                return place, 1.0 if after == before else (before - share) / (before - after)
            before = after
        return None

    def _time(self, place: int, part: float) -> float:
        start = self.times[place - 1] if place else 0.0
        return start + (self.times[place] - start) * part

    def _on_grain(self, time: float, rounded: Callable[[float], int]) -> float:
        return time if self.per_unit is None else rounded(round(time * self.per_unit, 9)) / self.per_unit


def per_unit_of(times: Sequence[float]) -> int | None:
    """The power of ten, 100 at most, by the inverse of which most of some times can be divided; None for none."""
    for decimals in range(MOST_DECIMALS + 1):
        on_grain = sum(round(time, decimals) == time for time in times)
        if on_grain >= SOME_TIMES + PART_OF_TIMES * len(times):
            return int(10**decimals)
    return None
