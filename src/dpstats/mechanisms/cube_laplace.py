"""Cube Laplace noise: one noise for a whole vector, falling with its largest coordinate.

Claim      epsilon-DP for a vector of which no coordinate moves by more than linf_sensitivity between neighbours
Neighbors  Whichever relation the caller's linf_sensitivity is true for
Why        The value becomes whole grid units (see grid.py for what rounding does to the sensitivity) and gets noise Z with
           P(Z = z) proportional to exp(-max|z_i| / scale), scale = sensitivity in units / epsilon. Moving every coordinate by at
           most m changes the largest one by at most m, and any output's probability by a factor of at most exp(m / scale).
Numerics   A cube is drawn that holds the noise, by rejection from a geometric variable with exact coins, and then each
           coordinate uniformly in it: integers and rationals only
Source     Hardt & Talwar 2010 (the K-norm mechanism, here on whole units); the cubes: cube_laplace.proof.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, random_below, random_bits
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text, exp_bounds
from dpstats.mechanisms.coins import Bounds, settle, uniform_indices
from dpstats.mechanisms.discrete_laplace import l1_units, sample_geometric
from dpstats.mechanisms.grid import Drawn, grid_for, positive_rational, release_on_grid

METHOD = "cube laplace"
CLAIM = "epsilon-DP if no coordinate of the value, after the policy below, moves by more than linf_sensitivity"

MOST_COORDINATES = 4096
_FIRST_BITS = 64
_GUARD = 16
_LARGEST_UNIFORM = 1 << 61


def cube_laplace(
    value: object,
    *,
    linf_sensitivity: object,
    epsilon: object,
    neighbors: object = Neighbors.ADD_REMOVE,
    grid: object = None,
    integers: bool = False,
    rng: RandomSource | None = None,
) -> Release:
    """A list or array of numbers (or one number) with noise that falls with its largest coordinate: epsilon-DP.

    `linf_sensitivity` is how far one unit can move any coordinate, where it may move all of them. Each of p coordinates gets a
    standard deviation of about sqrt((p + 1) (p + 2) / 3) linf_sensitivity / epsilon, less than half of what p Laplace noises
    at epsilon / p each would have. The grid, `integers` and what becomes of NaN and infinities are as in `laplace`. At most
    4096 coordinates.
    """
    sensitivity = positive_rational(linf_sensitivity, "linf_sensitivity")
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
    chosen = grid_for(sensitivity / cost.epsilon, grid, integers)

    def draw(coordinates: int, source: RandomSource) -> Drawn:
        scale = l1_units(sensitivity, chosen, 1) / cost.epsilon  # of any one coordinate
        return sample_cube_laplace(scale, coordinates, source), f"cube Laplace of scale {decimal_text(scale * chosen.spacing)}"

    question = f"cube_laplace(linf_sensitivity={decimal_text(sensitivity)})"
    return release_on_grid(value, chosen, draw, question, cost, METHOD, CLAIM, rng)


def cube_spread(coordinates: int) -> tuple[float, float]:
    """The variance of one of `coordinates` coordinates, in squared scales, and its excess kurtosis; both for wide noise."""
    variance = (coordinates + 1) * (coordinates + 2) / 3
    return variance, 3 / 5 * (coordinates + 3) * (coordinates + 4) / variance - 3


def sample_cube_laplace(scale: Fraction, coordinates: int, rng: RandomSource) -> NDArray[np.int64]:
    """A vector of integers with P(Z = z) proportional to exp(-max|z_i| / scale), exactly.

    An int64 array; of Python integers (dtype object) when a value might not fit.
    """
    if scale <= 0:
        raise InvalidParameterError("the scale of noise must be positive.")
    if not 0 <= coordinates <= MOST_COORDINATES:
        raise InvalidParameterError(f"cube Laplace noise is for at most {MOST_COORDINATES} coordinates: give fewer.")
    if not coordinates:
        return np.empty(0, dtype=np.int64)
    half = sample_half_side(scale, coordinates, rng)
    side = 2 * half + 1
    if side <= _LARGEST_UNIFORM:
        return uniform_indices(side, coordinates, rng) - half
    return np.array([random_below(rng, side) - half for _ in range(coordinates)], dtype=object)


def sample_half_side(scale: Fraction, coordinates: int, rng: RandomSource) -> int:
    """An integer S >= 0 with P(S = s) proportional to (2 s + 1)**coordinates exp(-s / scale), exactly.

    Geometric candidates of another scale, each kept with probability (u exp(1 - u))**coordinates, u = (2 s + 1) / (2 middle).
    """
    middle = max((coordinates + 1) * scale, Fraction(1, 2))
    candidate_scale = 1 / (1 / scale - coordinates / middle)
    while True:
        candidate = int(sample_geometric(candidate_scale, 1, rng)[0])
        ratio = Fraction(2 * candidate + 1) / (2 * middle)
        if settle(_acceptance(ratio, coordinates), random_bits(rng, _FIRST_BITS), _FIRST_BITS, rng):
            return candidate


def _acceptance(ratio: Fraction, power: int) -> Bounds:
    """(u exp(1 - u))**power for u = ratio > 0; never above 1."""
    nats = power * abs(ratio - 1)
    above, below = ratio.numerator**power, ratio.denominator**power

    def bounds(bits: int) -> tuple[int, int]:
        if ratio >= 1:
            guard = bits + _GUARD + above.bit_length() - below.bit_length() + 1
            low, high = exp_bounds(nats, guard)
            least, most = above * low // (below << guard - bits), -(-above * high // (below << guard - bits))
        else:
            guard = bits + _GUARD + 3 * (nats.numerator // nats.denominator + 1) // 2
            low, high = exp_bounds(nats, guard)
            least, most = (above << guard + bits) // (below * high), -(-(above << guard + bits) // (below * low))
        return least, min(1 << bits, most)

    return bounds
