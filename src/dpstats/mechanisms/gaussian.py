"""Discrete Gaussian noise on a public grid.

Claim      (epsilon, delta)-DP for a value that moves by at most l2_sensitivity (Euclidean) between neighbours
Neighbors  Whichever relation the caller's l2_sensitivity is true for
Why        On whole units, discrete Gaussian noise of variance v is (S**2 / 2v)-zCDP for moves of length S, and rho-zCDP gives
           (epsilon, delta)-DP with delta = exp(a (alpha rho - epsilon)) (1 - 1/alpha)**alpha / a for any alpha = 1 + a > 1.
           For one good alpha that is solved for rho, every logarithm rounded so that rho comes out too small.
Numerics   Drawn by rejection from exact discrete Laplace. A float may decide to accept only where the random word is away
           from it by more than a relative 2**-40, which exceeds its error; every other case is settled by exact bounds
Source     Canonne, Kamath & Steinke 2020, Algorithm 3, Theorem 4 and Proposition 12
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text, exp_bounds, log_bounds, power_of_two_at_most, sqrt_bounds
from dpstats.mechanisms.coins import Bounds, settle
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.grid import Drawn, Grid, at_least_one, grid_for, positive_rational, release_on_grid

METHOD = "discrete gaussian"
CLAIM = "(epsilon, delta)-DP if the value, after the policy below, moves by at most l2_sensitivity (Euclidean length)"

SLACK = 2.0**-40
FAR = 64.0  # beyond this exponent a float says only that the probability is below 2**-80
_FLOATS_FROM, _FLOATS_TO = Fraction(1, 1 << 100), Fraction(1 << 88)  # variances for which SLACK exceeds the error of floats


def gaussian(
    value: object,
    *,
    l2_sensitivity: object,
    epsilon: object,
    delta: object,
    neighbors: object = Neighbors.ADD_REMOVE,
    grid: object = None,
    integers: bool = False,
    rng: RandomSource | None = None,
) -> Release:
    """A number, or a list or array of numbers, with discrete Gaussian noise: (epsilon, delta)-DP.

    `l2_sensitivity` is how far one unit can move the value in Euclidean distance. The grid, `integers` and what becomes of
    NaN and infinities are as in `laplace`.
    """
    sensitivity = positive_rational(l2_sensitivity, "l2_sensitivity")
    cost = PrivacyCost(spendable_epsilon(epsilon), spendable_delta(delta), neighbors)
    if not cost.delta:
        raise MissingParameterError("gaussian needs delta: for example delta=1e-6; without it use laplace.")
    rho = largest_rho(cost.epsilon, cost.delta)
    chosen = grid_for(_deviation(sensitivity**2 / (2 * rho)), grid, integers)

    def draw(coordinates: int, source: RandomSource) -> Drawn:
        variance = variance_in_units(sensitivity, chosen, coordinates, rho)
        deviation = decimal_text(_deviation(variance * chosen.spacing**2))
        return sample_discrete_gaussian(variance, coordinates, source), f"discrete Gaussian of standard deviation {deviation}"

    question, notes = f"gaussian(l2_sensitivity={decimal_text(sensitivity)})", (("zCDP", f"rho = {decimal_text(rho)}"),)
    return release_on_grid(value, chosen, draw, question, cost, METHOD, CLAIM, rng, notes)


@functools.lru_cache(maxsize=256)
def _deviation(variance: Fraction) -> Fraction:
    return sqrt_bounds(variance)[1]


@functools.lru_cache(maxsize=256)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A rho, rounded down, such that rho-zCDP implies (epsilon, delta)-DP; floats only choose which alpha proves it."""
    excess = Fraction(f"{_best_excess(epsilon, delta):.6g}")
    while (rho := _proven_rho(epsilon, delta, excess)) <= 0:
        excess *= 2  # from excess > log(1/delta) / epsilon on the bound is positive
    step = power_of_two_at_most(rho) / 2**40
    return rho // step * step


def _proven_rho(epsilon: Fraction, delta: Fraction, excess: Fraction) -> Fraction:
    """The rho that alpha = 1 + excess proves, from below."""
    log_delta, log_alpha, log_excess = log_bounds(delta)[0], log_bounds(1 + excess)[0], log_bounds(excess)[1]
    return (epsilon + (log_delta + (1 + excess) * log_alpha - excess * log_excess) / excess) / (1 + excess)


def _best_excess(epsilon: Fraction, delta: Fraction) -> float:
    """About the alpha - 1 that proves the largest rho, by golden section on its logarithm."""
    small, tail = float(epsilon), -float(log_bounds(delta)[0])

    def proven(log_excess: float) -> float:
        excess = math.exp(log_excess)
        return (small + ((1 + excess) * math.log1p(excess) - excess * log_excess - tail) / excess) / (1 + excess)

    start = math.log(tail + math.sqrt(tail * (tail + small))) - math.log(small)
    low, high = start - 5, start + 5
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if proven(left) > proven(right) else (left, high)
    return math.exp(low)


@functools.lru_cache(maxsize=256)
def variance_in_units(sensitivity: Fraction, grid: Grid, coordinates: int, rho: Fraction) -> Fraction:
    """The noise variance in squared grid units, rounded up, that makes the rounded value rho-zCDP."""
    variance = squared_units(sensitivity, grid, coordinates) / (2 * rho)
    step = power_of_two_at_most(variance) / 2**40
    return -(-variance // step) * step


def squared_units(sensitivity: Fraction, grid: Grid, coordinates: int) -> int:
    """The largest squared length, in grid units, of a move of the rounded coordinates."""
    if grid.integers:
        return at_least_one(sensitivity**2 // 1)
    ratio = sensitivity / grid.spacing
    if coordinates <= 1:
        return (-(-ratio // 1)) ** 2
    longest = ratio + sqrt_bounds(Fraction(coordinates))[1]
    return math.floor(longest**2)


def sample_discrete_gaussian(variance: Fraction, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` independent integers with P(Z = z) proportional to exp(-z**2 / (2 variance)), exactly.

    An int64 array; of Python integers (dtype object) when a value would not fit.
    """
    if variance <= 0:
        raise InvalidParameterError("the variance of noise must be positive.")
    scale = math.isqrt(variance.numerator // variance.denominator) + 1
    accepted: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        candidates = sample_discrete_laplace(Fraction(scale), min(missing + missing // 2 + 4, 1 << 16), rng)
        kept = candidates[_accept(candidates, variance, scale, rng)][:missing]
        accepted.append(kept)
        missing -= len(kept)
    return np.concatenate(accepted) if accepted else np.empty(0, dtype=np.int64)


def _accept(candidates: NDArray[Any], variance: Fraction, scale: int, rng: RandomSource) -> NDArray[np.bool_]:
    """Which candidates stay: each with probability exp(-(|y| - variance / scale)**2 / (2 variance)), exactly."""
    words = random_words(rng, -(-len(candidates) // 2)).view(np.uint32)[: len(candidates)]
    if candidates.dtype == np.int64 and _FLOATS_FROM <= variance <= _FLOATS_TO:
        exponent = (np.abs(candidates).astype(np.float64) - float(variance / scale)) ** 2 / float(2 * variance)
        expected = np.exp(-np.minimum(exponent, FAR)) * 2.0**32
        far = exponent > FAR
        accept = words + 1.0 <= np.where(far, 0.0, expected * (1 - SLACK))
        open_still = ~accept & (words < np.where(far, 1.0, expected * (1 + SLACK)))
    else:
        accept = np.zeros(len(candidates), dtype=np.bool_)
        open_still = ~accept
    for index in np.flatnonzero(open_still):
        accept[index] = settle(_acceptance(int(candidates[index]), variance, scale), int(words[index]), 32, rng)
    return accept


def _acceptance(candidate: int, variance: Fraction, scale: int) -> Bounds:
    exponent = (abs(candidate) - variance / scale) ** 2 / (2 * variance)
    return functools.partial(exp_bounds, exponent)
