"""Spherical Laplace noise: one noise for a whole vector, falling with its Euclidean length.

Claim      epsilon-DP for a vector that moves by at most l2_sensitivity (Euclidean) between neighbours
Neighbors  Whichever relation the caller's l2_sensitivity is true for
Why        The value becomes whole grid units (see grid.py for what rounding does to the sensitivity) and gets noise Z with
           P(Z = z) proportional to exp(-||z|| / scale), scale = sensitivity in units / epsilon. By the triangle inequality
           a move by d changes any output's probability by a factor of at most exp(||d|| / scale).
Numerics   A vector is drawn as two halves, each spherical Laplace itself, kept together with a probability that makes the
           law exact; a half of one coordinate is exact discrete Laplace. Floats decide only where the random word is away
           from the probability by more than a relative SLACK, which exceeds their error; the rest is settled by exact bounds
Source     Hardt & Talwar 2010 (the K-norm mechanism, here on whole units); the halving: spherical_laplace.proof.md
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text, exp_bounds, sqrt_bounds
from dpstats.mechanisms.coins import Bounds, settle
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import FAR, squared_units
from dpstats.mechanisms.grid import Drawn, Grid, grid_for, positive_rational, release_on_grid

METHOD = "spherical laplace"
CLAIM = "epsilon-DP if the value, after the policy below, moves by at most l2_sensitivity (Euclidean length)"

MOST_COORDINATES = 1024
SLACK = 2.0**-28
_LONGEST = 4096.0  # lengths beyond this many scales are settled exactly: there SLACK need not exceed the error of floats
_FLOATS_FROM, _FLOATS_TO = Fraction(1, 1 << 100), Fraction(1 << 100)  # scales that floats hold with room to spare
_ROOT_BITS = 30
_UNIT_BITS = 40
_BATCH = 1 << 16


def spherical_laplace(
    value: object,
    *,
    l2_sensitivity: object,
    epsilon: object,
    neighbors: object = Neighbors.ADD_REMOVE,
    grid: object = None,
    integers: bool = False,
    rng: RandomSource | None = None,
) -> Release:
    """A list or array of numbers (or one number) with noise that falls with its Euclidean length: epsilon-DP.

    `l2_sensitivity` is how far one unit can move the value in Euclidean distance. Of the pure epsilon-DP noises it is the one
    for sums of bounded vectors: each of k coordinates gets a standard deviation of sqrt(k + 1) l2_sensitivity / epsilon.
    The grid, `integers` and what becomes of NaN and infinities are as in `laplace`. At most 1024 coordinates.
    """
    sensitivity = positive_rational(l2_sensitivity, "l2_sensitivity")
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
    chosen = grid_for(sensitivity / cost.epsilon, grid, integers)

    def draw(coordinates: int, source: RandomSource) -> Drawn:
        scale = l2_units(sensitivity, chosen, coordinates) / cost.epsilon
        return sample_spherical_laplace(
            scale, coordinates, source
        ), f"spherical Laplace of scale {decimal_text(scale * chosen.spacing)}"

    question = f"spherical_laplace(l2_sensitivity={decimal_text(sensitivity)})"
    return release_on_grid(value, chosen, draw, question, cost, METHOD, CLAIM, rng)


def l2_units(sensitivity: Fraction, grid: Grid, coordinates: int) -> Fraction:
    """The greatest length, in grid units, of a move of the rounded coordinates; rounded up."""
    return sqrt_bounds(Fraction(squared_units(sensitivity, grid, coordinates)), _UNIT_BITS)[1]


def sample_spherical_laplace(scale: Fraction, coordinates: int, rng: RandomSource) -> NDArray[np.int64]:
    """A vector of integers with P(Z = z) proportional to exp(-||z|| / scale), ||z|| the Euclidean length, exactly.

    An int64 array; of Python integers (dtype object) when a value would not fit.
    """
    vector: NDArray[np.int64] = sample_spherical_laplaces(scale, coordinates, 1, rng)[0]
    return vector


def sample_spherical_laplaces(scale: Fraction, coordinates: int, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` independent vectors of that law, one in each row."""
    if scale <= 0:
        raise InvalidParameterError("the scale of noise must be positive.")
    if not 0 <= coordinates <= MOST_COORDINATES:
        raise InvalidParameterError(
            f"spherical Laplace noise is for at most {MOST_COORDINATES} coordinates: give fewer, or use gaussian with a delta."
        )
    if not coordinates:
        return np.empty((size, 0), dtype=np.int64)
    return _vectors(coordinates, size, scale * _root(coordinates), rng)


def _vectors(length: int, size: int, measure: Fraction, rng: RandomSource) -> NDArray[np.int64]:
    """Rows with P(z) proportional to exp(-_root(length) ||z|| / measure): pairs of halves, about 7 in 10 of which stay."""
    if length == 1:
        return sample_discrete_laplace(measure / _root(1), size, rng)[:, None]
    left, right = _halves(length)
    accepted = [np.empty((0, length), dtype=np.int64)]
    missing = size
    while missing > 0:
        tries = min(missing + missing // 2 + 2, _BATCH)
        if left == right:
            candidates = _vectors(left, 2 * tries, measure, rng).reshape(tries, length)
        else:
            halves = [_vectors(left, tries, measure, rng), _vectors(right, tries, measure, rng)]
            candidates = np.concatenate(halves, axis=1)
        kept = candidates[_accept(candidates, measure, rng)][:missing]
        accepted.append(kept)
        missing -= len(kept)
    return np.concatenate(accepted)


def _halves(length: int) -> tuple[int, int]:
    return length - length // 2, length // 2


@functools.cache
def _root(length: int) -> int:
    """About 2**30 sqrt(length), such that _root(length)**2 is at least the sum of those of its halves, squared."""
    if length == 1:
        return 1 << _ROOT_BITS
    left, right = _halves(length)
    return math.isqrt(_root(left) ** 2 + _root(right) ** 2 - 1) + 1


def _accept(candidates: NDArray[Any], measure: Fraction, rng: RandomSource) -> NDArray[np.bool_]:
    """Which pairs of halves stay: each with probability exp(-g), g >= 0 as in `_acceptance`, exactly."""
    count, length = candidates.shape
    words = random_words(rng, -(-count // 2)).view(np.uint32)[:count]
    if candidates.dtype == np.int64 and _FLOATS_FROM <= measure / _root(length) <= _FLOATS_TO:
        exponent, longest = _float_exponents(candidates, measure)
        expected = np.exp(-np.clip(exponent, 0.0, FAR)) * 2.0**32
        near, far = longest <= _LONGEST, exponent > FAR
        accept = near & (words + 1.0 <= np.where(far, 0.0, expected * (1 - SLACK)))
        open_still = ~near | (~accept & (words < np.where(far, 1.0, expected * (1 + SLACK))))
    else:
        accept = np.zeros(count, dtype=np.bool_)
        open_still = ~accept
    for index in np.flatnonzero(open_still):
        accept[index] = settle(_acceptance(candidates[index].tolist(), measure), int(words[index]), 32, rng)
    return accept


def _float_exponents(candidates: NDArray[np.int64], measure: Fraction) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """About g for every candidate, and about the larger of the two terms whose difference it is."""
    length = candidates.shape[1]
    left, right = _halves(length)
    squares = candidates.astype(np.float64) ** 2
    left_square, right_square = squares[:, :left].sum(axis=1), squares[:, left:].sum(axis=1)
    longest = _root(length) * np.sqrt(left_square + right_square)
    shorter = _root(left) * np.sqrt(left_square) + _root(right) * np.sqrt(right_square)
    return (longest - shorter) / float(measure), longest / float(measure)


def _acceptance(candidate: Sequence[int], measure: Fraction) -> Bounds:
    """exp(-g), g = (_root(length) ||z|| - _root(left) ||a|| - _root(right) ||b||) / measure for z = (a, b)."""
    length = len(candidate)
    left, right = _halves(length)
    left_square, right_square = (sum(part * part for part in half) for half in (candidate[:left], candidate[left:]))
    guard = math.ceil(3 * _root(length) / measure).bit_length()

    def bounds(bits: int) -> tuple[int, int]:
        whole = sqrt_bounds(Fraction(left_square + right_square), bits + guard)
        first = sqrt_bounds(Fraction(left_square), bits + guard)
        second = sqrt_bounds(Fraction(right_square), bits + guard)
        least = (_root(length) * whole[0] - _root(left) * first[1] - _root(right) * second[1]) / measure
        most = (_root(length) * whole[1] - _root(left) * first[0] - _root(right) * second[0]) / measure
        return exp_bounds(most, bits)[0], exp_bounds(max(least, Fraction(0)), bits)[1]

    return bounds
