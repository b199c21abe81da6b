"""The exact law of a draw on a ladder, from its definition; outcomes beyond a window are left out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence


def ladder_law(value: int, widths: Sequence[int], rate: float, low: int, high: int) -> dict[int, float]:
    """The probability of every integer from `low` to `high`; so many widths that what lies beyond them weighs nothing."""
    total = 1 + 2 * math.fsum(width * math.exp(-rate * (place + 1)) for place, width in enumerate(widths))
    ends = [0]
    for width in widths:
        ends.append(ends[-1] + width)
    law = {}
    for outcome in range(low, high + 1):
        rung = bisect_left(ends, abs(outcome - value))
        if rung < len(ends):
            law[outcome] = math.exp(-rate * rung) / total
    return law
