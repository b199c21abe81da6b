"""Released quartiles, made fit for guesses of parameters however absurd they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

SMALLEST = 1e-100
LARGEST = 1e100
"""Guesses stay between these, so that their squares are numbers."""
_HALVINGS = 60
QUARTILES = (0.25, 0.5, 0.75)


def sorted_quartiles(quantiles: Mapping[float, float], low: float, high: float) -> tuple[float, float, float]:
    """The quartiles in ascending order and within [low, high]; what is no number is put at the lower end."""
    given = (quantiles[share] for share in QUARTILES)
    lower, middle, upper = sorted(low if math.isnan(each) else min(max(each, low), high) for each in given)
    return lower, middle, upper


def where_falls_to(target: float, falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function of a positive number reaches a target, or the nearer end of the range, by halvings of its log."""
    for _ in range(_HALVINGS):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (middle, high) if falling(middle) > target else (low, middle)
    return math.sqrt(low) * math.sqrt(high)
