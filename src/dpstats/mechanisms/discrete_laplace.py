"""Discrete Laplace noise on a public grid.

Claim      epsilon-DP for a value whose coordinates together move by at most l1_sensitivity between neighbours
Neighbors  Whichever relation the caller's l1_sensitivity is true for
Why        The value becomes whole grid units (see grid.py for what rounding does to the sensitivity) and every coordinate
           gets independent noise with P(Z = z) proportional to exp(-|z| / scale), scale = sensitivity in units / epsilon;
           moving the value by k units in total changes any output's probability by a factor of at most exp(k / scale).
           Counts of disjoint sets of rows are the case without a grid: one row more or less moves one of them by 1
Numerics   No float is drawn. |Z| - 1 is geometric, the binary digits of a geometric variable are independent coins, and
           each coin is exact (see coins.py). Outputs are grid points, the same ones for every input
Source     Dwork, McSherry, Nissim & Smith 2006; Ghosh, Roughgarden & Sundararajan 2009; digits: discrete_laplace.proof.md
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text, exp_bounds
from dpstats.mechanisms.coins import Bounds, CoinTable, biased_coins, half
from dpstats.mechanisms.grid import Drawn, Grid, add_noise, at_least_one, grid_for, positive_rational, release_on_grid

METHOD = "discrete laplace"
CLAIM = "epsilon-DP if the value, after the policy below, moves by at most l1_sensitivity (sum over coordinates)"

_TAIL = 45  # digits are drawn until what lies above them has probability below exp(-45)
_PART = 48  # digits held in one int64 while a large number is put together
_TABLE = 1 << 17  # coins tossed at once: small enough for the processor's cache


def laplace(
    value: object,
    *,
    l1_sensitivity: object,
    epsilon: object,
    neighbors: object = Neighbors.ADD_REMOVE,
    grid: object = None,
    integers: bool = False,
    rng: RandomSource | None = None,
) -> Release:
    """A number, or a list or array of numbers, with discrete Laplace noise: epsilon-DP.

    `l1_sensitivity` is how far one unit can move the value, summed over coordinates. Values are rounded to multiples of
    `grid`, by default a power of two of about l1_sensitivity / epsilon / 2**40; the rounding is paid for by a slightly
    larger scale. With `integers=True` the value counts as whole numbers, nothing is rounded and ints come back.
    NaN, infinities and what is no number at all (with `integers=True` also what is not whole) are taken as 0, and the
    largest float bounds the rest: never an error because of a value. The sensitivity is that of the value after this.
    """
    sensitivity = positive_rational(l1_sensitivity, "l1_sensitivity")
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
    chosen = grid_for(sensitivity / cost.epsilon, grid, integers)

    def draw(coordinates: int, source: RandomSource) -> Drawn:
        scale = l1_units(sensitivity, chosen, coordinates) / cost.epsilon
        return sample_discrete_laplace(
            scale, coordinates, source
        ), f"discrete Laplace of scale {decimal_text(scale * chosen.spacing)}"

    question = f"laplace(l1_sensitivity={decimal_text(sensitivity)})"
    return release_on_grid(value, chosen, draw, question, cost, METHOD, CLAIM, rng)


def add_laplace(
    raw_coordinates: Sequence[object], sensitivity: Fraction, epsilon: Fraction, grid: Grid, rng: RandomSource
) -> list[int | float]:
    """The coordinates on the grid, with the noise that hides a move by `sensitivity` of all of them together."""
    scale = l1_units(sensitivity, grid, len(raw_coordinates)) / epsilon
    return add_noise(raw_coordinates, sample_discrete_laplace(scale, len(raw_coordinates), rng), grid)


def noisy_count(raw_count: int, epsilon: Fraction, rng: RandomSource) -> int:
    """A whole number that moves by at most 1 between neighbours, with noise; it may fall below 0."""
    return noisy_counts([raw_count], epsilon, rng)[0]


def noisy_counts(raw_counts: Sequence[int], epsilon: Fraction, rng: RandomSource) -> list[int]:
    """The sizes of disjoint sets of rows, of which one moves by at most 1 between neighbours, with noise."""
    noise = sample_discrete_laplace(1 / epsilon, len(raw_counts), rng).tolist()
    return [raw + drawn for raw, drawn in zip(raw_counts, noise, strict=True)]


def l1_units(sensitivity: Fraction, grid: Grid, coordinates: int) -> Fraction:
    """How many whole grid units the rounded coordinates can move together when the value moves by `sensitivity`."""
    if grid.integers:
        return Fraction(at_least_one(sensitivity.numerator // sensitivity.denominator))
    ratio = sensitivity / grid.spacing
    return Fraction(-(-ratio.numerator // ratio.denominator) + max(coordinates, 1) - 1)


def sample_discrete_laplace(scale: Fraction, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` independent integers with P(Z = z) proportional to exp(-|z| / scale), exactly.

    An int64 array; of Python integers (dtype object) when a value would not fit.
    """
    digits, table = _laplace_table(scale)
    blocks = []
    for count in _block_sizes(size, digits + 3):
        coins = table.toss(count, rng)
        magnitude = _number(coins[2:-1], coins[-1], scale, rng) + 1
        signed = np.where(coins[1], magnitude, -magnitude)
        blocks.append(np.where(coins[0], signed, 0))
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def sample_geometric(scale: Fraction, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` independent integers with P(G = k) = (1 - r) r**k for k >= 0, r = exp(-1 / scale), exactly; dtypes as above."""
    digits, table = _geometric_table(scale)
    blocks = []
    for count in _block_sizes(size, digits + 1):
        coins = table.toss(count, rng)
        blocks.append(_number(coins[:-1], coins[-1], scale, rng))
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)


def _number(digits: NDArray[np.bool_], carries: NDArray[np.bool_], scale: Fraction, rng: RandomSource) -> NDArray[np.int64]:
    """Geometric numbers from tossed digits (lowest first) and the first toss for what lies above them."""
    count = len(digits)
    low = _packed(digits[:_PART])
    if count <= _PART and not carries.any():
        return low
    number = low.astype(object)
    for start in range(_PART, count, _PART):
        number = number + (_packed(digits[start : start + _PART]).astype(object) << start)
    for index in np.flatnonzero(carries):
        above = 1
        while biased_coins(_power(scale, count, count), 1, rng)[0]:
            above += 1
        number[index] += above << count
    fits = len(number) == 0 or max(number) < 1 << 62
    return number.astype(np.int64) if fits else number


def _packed(digits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Columns of at most 56 binary digits, lowest first, as numbers."""
    octets = np.zeros((digits.shape[1], 8), dtype=np.uint8)
    packed = np.packbits(digits, axis=0, bitorder="little")
    octets[:, : len(packed)] = packed.T
    return octets.view("<i8")[:, 0].astype(np.int64, copy=False)


def _block_sizes(size: int, coins: int) -> list[int]:
    block = max(1, _TABLE // coins)
    return [min(block, size - start) for start in range(0, size, block)]


@functools.lru_cache(maxsize=64)
def _laplace_table(scale: Fraction) -> tuple[int, CoinTable]:
    digits = _digit_count(scale)
    rows = [_nonzero(scale, digits), half, *(_digit(scale, digits, k) for k in range(digits)), _power(scale, digits, digits)]
    return digits, CoinTable(rows)


@functools.lru_cache(maxsize=64)
def _geometric_table(scale: Fraction) -> tuple[int, CoinTable]:
    digits = _digit_count(scale)
    return digits, CoinTable([*(_digit(scale, digits, k) for k in range(digits)), _power(scale, digits, digits)])


def _digit_count(scale: Fraction) -> int:
    """The number of digits below which nearly everything lies: 2**digits / scale >= _TAIL."""
    if scale <= 0:
        raise InvalidParameterError("the scale of noise must be positive.")
    needed = _TAIL * scale
    return max(0, (-(-needed.numerator // needed.denominator) - 1).bit_length())


def _digit(scale: Fraction, digits: int, k: int) -> Bounds:
    """Digit k of a geometric variable is 1 with probability q / (1 + q), q = r**(2**k)."""

    def bounds(bits: int) -> tuple[int, int]:
        low, high, guard = _powers(scale, digits, bits)[k]
        one = 1 << guard
        return (low << bits) // (one + low), -((-high << bits) // (one + high))

    return bounds


def _nonzero(scale: Fraction, digits: int) -> Bounds:
    """A discrete Laplace variable is not zero with probability 2r / (1 + r)."""

    def bounds(bits: int) -> tuple[int, int]:
        low, high, guard = _powers(scale, digits, bits)[0]
        one = 1 << guard
        return (low << bits + 1) // (one + low), -((-high << bits + 1) // (one + high))

    return bounds


def _power(scale: Fraction, digits: int, k: int) -> Bounds:
    """A coin that shows heads with probability r**(2**k)."""

    def bounds(bits: int) -> tuple[int, int]:
        low, high, guard = _powers(scale, digits, bits)[k]
        return low >> (guard - bits), -(-high >> (guard - bits))

    return bounds


@functools.lru_cache(maxsize=256)
def _powers(scale: Fraction, digits: int, bits: int) -> tuple[tuple[int, int, int], ...]:
    """For k = 0 ... digits the bounds (low, high, guard) of r**(2**k) * 2**guard, r = exp(-1 / scale), by squaring outwards."""
    guard = bits + digits + 8
    low, high = exp_bounds(1 / scale, guard)
    powers = [(low, high, guard)]
    for _ in range(digits):
        low = (low * low) >> guard
        high = -(-(high * high) >> guard)
        powers.append((low, high, guard))
    return tuple(powers)
