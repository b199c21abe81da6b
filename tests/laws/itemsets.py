"""The law of drawing candidates without replacement, from its definition and apart from the code that draws."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from fractions import Fraction

from tests.laws.mechanisms import exponential_of_minus


def peeling_law(scores: Sequence[Fraction | int], rate: Fraction, how_many: int) -> dict[Hashable, Fraction]:
    """Orders of `how_many` candidates by their probabilities: each in proportion to exp(rate * score) among those left."""
    return {order: order_probability(scores, rate, order) for order in itertools.permutations(range(len(scores)), how_many)}


def order_probability(scores: Sequence[Fraction | int], rate: Fraction, order: Sequence[int]) -> Fraction:
    """The probability that these candidates are drawn in this order."""
    best = max(scores)
    weights = [exponential_of_minus(rate * Fraction(best - score)) for score in scores]
    left, probability = sum(weights, Fraction(0)), Fraction(1)
    for place in order:
        probability *= weights[place] / left
        left -= weights[place]
    return probability
