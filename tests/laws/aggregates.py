"""Exact output laws of what is made of votes, from definitions and apart from the code that draws.

Cube Laplace noise is in whole grid units. Odds are `Fraction`s, right to a relative 2**-200 or so; laws of floats to about 1e-11.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

from dpstats.mechanisms.noisy_max import UNITS
from tests.laws.mechanisms import ABOVE, exponential_of_minus, noisy_max_law
from tests.laws.spherical import Point, box

FAILED = "the test failed"

_REACH = 60  # noise with a coordinate beyond so many scales is left out


def cube_weight(noise: Point, scale: Fraction) -> Fraction:
    """exp(-largest coordinate / scale)."""
    return exponential_of_minus(Fraction(max((abs(part) for part in noise), default=0)) / scale)


def largest_part_law(coordinates: int, scale: Fraction, high: int) -> dict[Hashable, float]:
    """The largest size of a coordinate of cube Laplace noise: 0 ... high one by one, and all above as one outcome."""
    last = max(high, math.ceil((_REACH + 3 * coordinates) * scale)) + 1
    weights = [_shell(part, coordinates) * exponential_of_minus(part / scale) for part in range(last + 1)]
    total = sum(weights)
    law: dict[Hashable, float] = {part: float(weights[part] / total) for part in range(high + 1)}
    law[ABOVE] = float(sum(weights[high + 1 :], Fraction(0)) / total)
    return law


def cube_point_law(coordinates: int, scale: Fraction, reach: int) -> dict[Hashable, float]:
    """The noise itself inside the box, and all outside it as one outcome."""
    largest = largest_part_law(coordinates, scale, reach)
    law: dict[Hashable, float] = {}
    for point in box(coordinates, reach):
        part = max(abs(each) for each in point)
        law[point] = largest[part] / _shell(part, coordinates)
    law[ABOVE] = largest[ABOVE]
    return law


def _shell(part: int, coordinates: int) -> int:
    """How many points have this largest size of a coordinate."""
    return (2 * part + 1) ** coordinates - (2 * part - 1) ** coordinates if part else 1


def argmax_law(
    raw_labels: Sequence[Hashable], options: Sequence[Hashable], epsilon: Fraction, moved: int = 2
) -> dict[Hashable, Fraction]:
    """Which option, or none of them, wins report noisy max of the votes, with noise for a gap that moves by `moved`."""
    raw_counts = Counter(raw_labels)
    raw_listed = [raw_counts[option] for option in options]
    raw_scores = [*raw_listed, len(raw_labels) - sum(raw_listed)]
    law = noisy_max_law([score * UNITS for score in raw_scores], moved * UNITS / epsilon)
    return {option: law[place] for place, option in enumerate((*options, FAILED))}


def stable_law(
    raw_labels: Sequence[Hashable], chance: Callable[[int], float], order: Callable[[Hashable], object]
) -> dict[Hashable, float]:
    """The mode, ties to the first in the order, with the chance that the test gives to its lead; the rest fails.

    The lead is counted by brute force: the fewest votes that must leave the mode, or join another label, before that is the mode.
    """
    raw_counts = Counter(raw_labels)
    mode = min(raw_counts, key=lambda label: (-raw_counts[label], order(label)))
    leads = [raw_counts[mode] - raw_counts[other] + (order(other) > order(mode)) for other in raw_counts if other != mode]  # type: ignore[operator]
    passed = chance(min([raw_counts[mode], *leads]))
    return {mode: passed, FAILED: 1 - passed}
