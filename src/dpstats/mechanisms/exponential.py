"""The exponential mechanism, drawn exactly.

Claim      epsilon-DP (and epsilon**2/8 zCDP, because its privacy loss has range epsilon)
Neighbors  Whatever relation the scores' sensitivity was stated for
Why        Candidate i is released with probability proportional to exp(epsilon * score_i / (2 * sensitivity)). A neighbour
           moves every exponent by at most epsilon/2, hence each weight and their sum by at most exp(epsilon/2) either way.
           Monotonic scores (all move in one direction) need no factor 2.
Numerics   Stated error: none. Weights are bracketed between integers; a uniform real is revealed bit by bit until the
           brackets leave one candidate, so ties, huge score gaps and underflow cannot change the law. See `choose`.
Source     McSherry & Talwar 2007; the slides among the seeds
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, random_bits, source_or_system
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import cumulative, exact_rational, exp_bounds
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.grid import integer_ratio, refuse_container
from dpstats.mechanisms.noisy_max import CLAIM, MONOTONIC_CLAIM

WeightBounds = Callable[[int], tuple[Sequence[int], Sequence[int]]]
"""Maps a number of bits to integers below and above 2**bits times each weight; they close in as the bits grow."""

_FIRST_BITS, _WORD_BITS = 128, 64
_LOWEST_SCORE = Fraction(-(2**1024))


class QuickWeights(NamedTuple):
    """The weights as floats, each within `error` of the exact one, relatively; 0 is exact."""

    weights: NDArray[np.float64]
    error: float


def choose(weight_bounds: WeightBounds, rng: RandomSource, quick: QuickWeights | None = None) -> int:
    """An index drawn with probability exactly weight / total weight, for positive real weights known by their brackets.

    A uniform u in [0, 1) is known to lie in [word, word + 1) / 2**bits. The index is settled once the bracketed cumulative
    weights show that u * total falls inside one candidate for every u in that range; otherwise both get more bits. Quick weights
    settle the same index nearly always, and brackets are asked for only where they leave a doubt.
    """
    bits = _FIRST_BITS
    word = random_bits(rng, bits)
    if quick is not None:
        settled = settled_index(quick, word >> (bits - _WORD_BITS))
        if settled is not None:
            return settled
    while True:
        lows, highs = weight_bounds(bits)
        ends_low, ends_high = cumulative(lows), cumulative(highs)
        at_least = word * ends_low[-1]
        at_most = (word + 1) * ends_high[-1]
        index = bisect_left(ends_low, -(-at_most >> bits))
        if index < len(ends_low) and (index == 0 or ends_high[index - 1] << bits <= at_least):
            return index
        word = (word << bits) | random_bits(rng, bits)
        bits *= 2


def settled_index(quick: QuickWeights, word: int) -> int | None:
    """The index of all u in [word, word + 1) / 2**64; None where rounding leaves a doubt."""
    ends = np.cumsum(quick.weights)  # adds one by one, so that its error is at most one unit roundoff for each
    slack = 4 * (quick.error + (len(ends) + 8) * 2.0**-53)
    total = float(ends[-1])
    at_least = math.ldexp(word, -_WORD_BITS) * total * (1 - slack)
    at_most = math.ldexp(word + 1, -_WORD_BITS) * total * (1 + slack)
    index = int(np.searchsorted(ends, at_most, side="left"))
    return index if index < len(ends) and (index == 0 or float(ends[index - 1]) <= at_least) else None


def score_weights(scores: Sequence[Fraction], rate: Fraction) -> WeightBounds:
    """Brackets of exp(rate * score), relative to the best score."""
    best = max(scores)
    exponents = [rate * (best - score) for score in scores]

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        brackets = {exponent: exp_bounds(exponent, bits) for exponent in set(exponents)}
        return [brackets[exponent][0] for exponent in exponents], [brackets[exponent][1] for exponent in exponents]

    return bounds


def exponential(
    candidates: Sequence[object],
    scores: Sequence[object],
    *,
    sensitivity: object,
    epsilon: object,
    monotonic: bool = False,
    neighbors: object = "add_remove",
    rng: RandomSource | None = None,
) -> Release:
    """Release one of the public `candidates`, likelier the higher its private score.

    `sensitivity` bounds how far one unit can move any score. NaN and what is no number count as the lowest possible score;
    scores stop at +-2**1024, and Decimals below 1e-5000 are 0.
    """
    source = source_or_system(rng)
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
    bound = exact_rational(sensitivity, "sensitivity")
    if bound <= 0:
        raise InvalidParameterError(f"sensitivity must be positive, got {sensitivity}.")
    refuse_container(candidates, "candidates must be a list")
    refuse_container(scores, "scores must be a list of numbers")
    if not len(candidates) or len(candidates) != len(scores):
        raise InvalidParameterError("exponential needs at least one candidate and exactly one score for each.")
    rate = cost.epsilon / bound if monotonic else cost.epsilon / (2 * bound)
    index = choose(score_weights([_exact_score(score) for score in scores], rate), source)
    return Release(
        question=f"choose one of {counted(len(candidates), 'candidate')}",
        value=candidates[index],
        cost=cost,
        method="exponential",
        claim=MONOTONIC_CLAIM if monotonic else CLAIM,
        private=source.private,
        notes=(
            ("public", "the candidates, the sensitivity and the parameters"),
            ("numerics", "drawn exactly, no rounding error"),
        ),
    )


def _exact_score(score: object) -> Fraction:
    """The score as an exact rational within fixed limits; what is no number is the lowest score, never an error."""
    ratio = integer_ratio(score)
    if ratio is not None:
        return max(_LOWEST_SCORE, min(Fraction(*ratio), -_LOWEST_SCORE))
    try:
        return -_LOWEST_SCORE if float(score) == math.inf else _LOWEST_SCORE  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        return _LOWEST_SCORE
