"""Exact output laws of the mechanisms, by summation and apart from their samplers.

Everything is in whole grid units. Laws of `Fraction`s are right to a relative 2**-200 or so, which is far below what the
privacy tests look for; laws of floats to about 1e-11.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.rounding import exp_bounds

BELOW, ABOVE = "below the window", "above the window"

_BITS = 256
_REACH = 42  # noise beyond so many scales is left out: less than exp(-42) of the mass
_BLOCK = 1 << 17


def discrete_laplace_law(centre: int, scale: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """centre + noise inside the window low ... high around the centre, and the two tails as one outcome each."""
    ratio = exponential_of_minus(1 / scale)
    peak = (1 - ratio) / (1 + ratio)
    law: dict[Hashable, Fraction] = {z: peak * exponential_of_minus(abs(z - centre) / scale) for z in range(low, high + 1)}
    law[BELOW] = exponential_of_minus((centre - low + 1) / scale) / (1 + ratio)
    law[ABOVE] = exponential_of_minus((high - centre + 1) / scale) / (1 + ratio)
    return law


def discrete_gaussian_law(centre: int, variance: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """centre + noise inside the window low ... high around the centre, and the two tails as one outcome each."""
    reach = max(20 * math.isqrt(math.ceil(variance)) + 2, centre - low, high - centre)
    weights = [exponential_of_minus(z * z / (2 * variance)) for z in range(reach + 1)]
    total = weights[0] + 2 * sum(weights[1:])
    law: dict[Hashable, Fraction] = {z: weights[abs(z - centre)] / total for z in range(low, high + 1)}
    law[BELOW] = sum(weights[centre - low + 1 :], Fraction(0)) / total
    law[ABOVE] = sum(weights[high - centre + 1 :], Fraction(0)) / total
    return law


def noisy_max_law(scores: Sequence[int], scale: Fraction) -> dict[Hashable, Fraction]:
    """Which index wins with one-sided geometric noise, ties to the smallest: an alternating sum of geometric series.

    Candidate i with noise z beats j when the noise of j is below z + gap_j, which has probability 1 - r**(z + gap_j).
    """
    ratio = exponential_of_minus(1 / scale)
    law: dict[Hashable, Fraction] = {}
    for winner, score in enumerate(scores):
        gaps = [score - other + (winner < place) for place, other in enumerate(scores) if place != winner]
        start = max([0, *(-gap for gap in gaps)])
        total = Fraction(0)
        for size in range(len(gaps) + 1):
            for chosen in itertools.combinations(gaps, size):
                exponent = (start * (size + 1) + sum(chosen)) / scale
                series = 1 - exponential_of_minus((size + 1) / scale)
                total += (-1) ** size * (1 - ratio) * exponential_of_minus(exponent) / series
        law[winner] = total
    return law


def randomized_response_law(truth: int, epsilon: Fraction, categories: int) -> dict[Hashable, Fraction]:
    """The response of somebody in category `truth`, categories counted from 0."""
    weight = exponential_of_minus(epsilon)
    total = 1 + (categories - 1) * weight
    return {place: (Fraction(1) if place == truth else weight) / total for place in range(categories)}


def above_threshold_law(
    answers: Sequence[int], threshold: int, threshold_scale: Fraction, answer_scale: Fraction
) -> dict[Hashable, float]:
    """The index of the first answer above the threshold, None for a stream that ends without one."""
    law: dict[Hashable, float] = {}
    for stop in range(len(answers)):
        replies = [False] * stop + [True]
        law[stop] = replies_probability(answers[: stop + 1], replies, threshold, threshold_scale, answer_scale)
    law[None] = replies_probability(answers, [False] * len(answers), threshold, threshold_scale, answer_scale)
    return law


def replies_probability(
    answers: Sequence[int], replies: Sequence[bool], threshold: int, threshold_scale: Fraction, answer_scale: Fraction
) -> float:
    """The probability of these replies when every answer gets fresh noise and the threshold's noise is drawn once.

    A threshold scale of 0 stands for a threshold without noise.
    """
    if not threshold_scale:
        return float(_given_threshold(np.zeros(1), answers, replies, threshold, float(answer_scale))[0])
    scale = float(threshold_scale)
    reach = math.ceil(_REACH * scale)
    peak = -math.expm1(-1 / scale) / (1 + math.exp(-1 / scale))
    parts = []
    for start in range(-reach, reach + 1, _BLOCK):
        noise = np.arange(start, min(start + _BLOCK, reach + 1), dtype=np.float64)
        mass = peak * np.exp(-np.abs(noise) / scale)
        parts.append(float(np.sum(mass * _given_threshold(noise, answers, replies, threshold, float(answer_scale)))))
    return math.fsum(parts)


def exponential_of_minus(exponent: Fraction) -> Fraction:
    """exp(-exponent) for exponent >= 0, right to a relative 2**-250."""
    bits = _BITS + math.ceil(exponent) * 3 // 2
    return Fraction(exp_bounds(Fraction(exponent), bits)[0], 1 << bits)


def _given_threshold(
    noise: NDArray[np.float64], answers: Sequence[int], replies: Sequence[bool], threshold: int, answer_scale: float
) -> NDArray[np.float64]:
    product = np.ones_like(noise)
    for answer, reply in zip(answers, replies, strict=True):
        needed = threshold - answer + noise
        product *= _at_least(needed if reply else 1 - needed, answer_scale)
    return product


def _at_least(needed: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """P(Z >= needed) for discrete Laplace Z; by symmetry P(Z < m) is P(Z >= 1 - m)."""
    tail = np.exp(-np.where(needed > 0, needed, 1 - needed) / scale) / (1 + math.exp(-1 / scale))
    return np.where(needed > 0, tail, 1 - tail)
