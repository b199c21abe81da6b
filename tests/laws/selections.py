"""Exact output laws of selections, from definitions and apart from the code that draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from dpstats.statistics.selection.printed_samples import PrintedDesign
from tests.laws.mechanisms import exponential_of_minus

NO_REPLY = "no reply"
Marks = Sequence[Sequence[int]]
"""Blocks by features, each 0 or 1."""


def bounded_set_law(raw_marks: Marks, at_most: int, epsilon: Fraction) -> dict[Hashable, Fraction]:
    """Sets by their weights, where the steps of a set are counted by trying: so many blocks change until it is the majority's."""
    features = range(len(raw_marks[0]))
    sets = [chosen for size in range(at_most + 1) for chosen in itertools.combinations(features, size)]
    weights = {chosen: exponential_of_minus(epsilon / 2 * steps_by_trying(raw_marks, chosen)) for chosen in sets}
    total = sum(weights.values(), Fraction(0))
    return {chosen: weight / total for chosen, weight in weights.items()}


def steps_by_trying(raw_marks: Marks, chosen: Sequence[int]) -> int:
    """The least number of blocks after whose change the features with more than half of the marks are those chosen."""
    blocks, features = len(raw_marks), range(len(raw_marks[0]))
    wanted = [feature in chosen for feature in features]
    for changed in range(blocks + 1):
        for places in itertools.combinations(range(blocks), changed):
            counts = [
                sum(wanted[feature] if block in places else raw_marks[block][feature] for block in range(blocks))
                for feature in features
            ]
            if [2 * count > blocks for count in counts] == wanted:
                return changed
    raise AssertionError("all blocks together can mark any set")


def printed_law(raw_counts: Mapping[str, int], design: PrintedDesign, narrower: int = 1) -> dict[Hashable, float]:
    """The mode or no reply, by how many samples have each reply; `narrower` divides the scale of the noise."""
    (mode, first), (_, second) = (*Counter(raw_counts).most_common(2), ("", 0))[:2]
    ratio = math.exp(-narrower / float(design.scale))
    needed = math.floor(design.threshold) + 1 - (first - second)
    passes = ratio**needed / (1 + ratio) if needed > 0 else 1 - ratio ** (1 - needed) / (1 + ratio)
    return {mode: passes, NO_REPLY: 1 - passes}
