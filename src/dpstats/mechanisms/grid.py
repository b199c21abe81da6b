"""The public grid: where values are put before noise is added.

Claim      A value that moves by at most S moves by a known whole number of grid units; see the three lemmas of the proof
Neighbors  None: rounding is a map of one value
Why        Adding noise to floats leaks through their low bits. On a grid the set of possible outputs is the same for every
           input, and the price is that rounding can lengthen a move, which is bounded here and paid for.
Numerics   Exact integer arithmetic from the value's own integer ratio; only the final unit count becomes a float again
Source     Mironov 2012 for the attack; Balcer & Vadhan 2018 for the grid
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text, exact_rational, power_of_two_at_most

POLICY = (
    "NaN, infinities, masked elements and what is no number are taken as 0; "
    "magnitudes stop at the largest float, and Decimals below 1e-5000 are 0"
)
LARGEST = Fraction(sys.float_info.max)
_SMALLEST_POWER, _LARGEST_POWER = -5000, 308
FINENESS = 40
"""By default the grid is 2**FINENESS times finer than the noise."""


@dataclass(frozen=True)
class Grid:
    """Multiples of `spacing`; with `integers` the whole numbers, on which nothing is rounded."""

    spacing: Fraction
    integers: bool = False

    def units(self, raw: object) -> int:
        """The value in grid units: the nearest one, halves upward. Anything that is no finite number is 0."""
        ratio = integer_ratio(raw)
        if ratio is None:
            return 0
        numerator, denominator = ratio
        if self.integers:
            return self.within(numerator) if denominator == 1 else 0
        step = self.spacing.numerator * denominator
        return self.within((2 * numerator * self.spacing.denominator + step) // (2 * step))

    def floor_units(self, raw: object) -> int:
        """The value in grid units, rounded down. NaN and what is no number are as low as a value can be."""
        ratio = integer_ratio(raw)
        if ratio is not None:
            numerator, denominator = ratio
            return self.within(numerator * self.spacing.denominator // (denominator * self.spacing.numerator))
        return self._limit if is_plus_infinity(raw) else -self._limit

    def number(self, units: int) -> int | float:
        """What is released for a number of units: an int on the whole numbers, otherwise the nearest float."""
        if self.integers:
            return units
        return self.within(units) * self.spacing.numerator / self.spacing.denominator

    def within(self, units: int) -> int:
        """The unit count, cut off where floats end."""
        return max(-self._limit, min(units, self._limit))

    @functools.cached_property
    def _limit(self) -> int:
        return LARGEST.numerator * self.spacing.denominator // self.spacing.numerator

    def __str__(self) -> str:
        if self.integers:
            return "whole numbers"
        numerator, denominator = self.spacing.numerator, self.spacing.denominator
        if numerator == 1 < denominator and denominator & (denominator - 1) == 0:
            return f"multiples of 2**-{denominator.bit_length() - 1}"
        return f"multiples of {decimal_text(self.spacing)}"


def grid_for(noise_scale: Fraction, spacing: object, integers: bool) -> Grid:
    """The grid that the caller asked for, or a power of two far below the noise; parameters alone decide."""
    if integers:
        if spacing is not None:
            raise InvalidParameterError("integers=True means the grid of whole numbers: leave grid out.")
        return Grid(Fraction(1), integers=True)
    chosen = power_of_two_at_most(noise_scale / 2**FINENESS) if spacing is None else positive_rational(spacing, "grid")
    if chosen > LARGEST:
        raise InvalidParameterError("the grid must be finer than the largest float.")
    return Grid(chosen)


Drawn = tuple[NDArray[np.int64], str]
"""Noise in whole grid units, one for each coordinate, and what it is in words."""


def release_on_grid(
    value: object,
    grid: Grid,
    draw: Callable[[int, RandomSource], Drawn],
    question: str,
    cost: PrivacyCost,
    method: str,
    claim: str,
    rng: RandomSource | None,
    notes: tuple[tuple[str, str], ...] = (),
) -> Release:
    """The value on the grid with the noise that `draw` makes for its number of coordinates."""
    source = source_or_system(rng)
    raw_coordinates, is_vector = take_coordinates(value)
    noise, words = draw(len(raw_coordinates), source)
    noisy = add_noise(raw_coordinates, noise, grid)
    notes = (("noise", f"{words}, drawn exactly"), *notes, ("grid", str(grid)), ("policy", POLICY))
    return Release(question, tuple(noisy) if is_vector else noisy[0], cost, method, claim, source.private, notes=notes)


def add_noise(raw_coordinates: Sequence[object], noise: NDArray[np.int64], grid: Grid) -> list[int | float]:
    """The coordinates in grid units with whole units of noise added, as numbers."""
    return [grid.number(grid.units(raw) + drawn) for raw, drawn in zip(raw_coordinates, noise.tolist(), strict=True)]


def take_coordinates(value: object) -> tuple[list[object], bool]:
    """The coordinates of a number or of a flat list or array of numbers, and whether it was a list or array.

    The type of the whole, its shape and the type of an array are public, and errors speak of them. What stands in a list is
    not: an element that is no number is left to the policy.
    """
    refuse_container(value, "give one number or a flat list of numbers")
    if hasattr(value, "__array__"):
        masked = np.ma.isMaskedArray(value)
        array = np.asarray(value.filled(0) if masked else value)  # type: ignore[attr-defined]
        if array.ndim > 1:
            raise DataTypeError(f"give one number or a flat list of numbers; this array has {array.ndim} dimensions.")
        if array.dtype.kind not in "biufO":
            raise DataTypeError(f"give one number or a flat list of numbers; this array is of type {array.dtype.name}.")
        if array.ndim:
            return array.tolist(), True
        refuse_container(array.item(), "give one number or a flat list of numbers")
        return [array.item()], False
    if isinstance(value, Sequence):
        if value and all(isinstance(item, (Sequence, Mapping, Set)) and not isinstance(item, str) for item in value):
            raise DataTypeError("give one number or a flat list of numbers; this is a list of lists.")
        return list(value), True
    if not hasattr(value, "__index__") and not hasattr(value, "as_integer_ratio") and not hasattr(value, "__float__"):
        raise DataTypeError(f"give one number or a flat list of numbers; got {type(value).__name__}.")
    return [value], False


def refuse_container(value: object, advice: str, *, iterators: bool = False) -> None:
    """Raise for what holds no numbers in a fixed order: None, text, a dict, a set and, unless allowed, an iterator."""
    if (
        value is None
        or isinstance(value, (str, bytes, bytearray, Mapping, Set))
        or (isinstance(value, Iterator) and not iterators)
    ):
        raise DataTypeError(f"{advice}; got {type(value).__name__}.")


def integer_ratio(raw: object) -> tuple[int, int] | None:
    """The value as an exact ratio in lowest terms; None for NaN, infinities and what is no number.

    A Decimal beyond the floats is 2**1024 in size, where every reader cuts it off; one below 1e-5000 is 0.
    """
    if isinstance(raw, Decimal) and raw.is_finite() and not _SMALLEST_POWER <= raw.adjusted() <= _LARGEST_POWER:
        if not raw or raw.adjusted() < 0:
            return 0, 1
        return (-1 if raw.is_signed() else 1) << 1024, 1  # written out it could fill the memory
    try:
        if hasattr(raw, "__index__"):
            return operator.index(cast(Any, raw)), 1
        numerator, denominator = (int(part) for part in cast(Any, raw).as_integer_ratio())
        return (numerator, denominator) if denominator > 0 else None
    except Exception:  # whatever an element's own methods raise, it is no number
        return None


def is_plus_infinity(raw: object) -> bool:
    """Whether the value is positive infinity, whatever its number type; text is none."""
    if isinstance(raw, (str, bytes, bytearray)):
        return False
    try:
        return float(cast(Any, raw)) == float("inf")
    except Exception:
        return False


def positive_rational(value: object, name: str) -> Fraction:
    """A public parameter that must be a positive number."""
    exact = exact_rational(value, name)
    if exact <= 0:
        raise InvalidParameterError(f"{name} must be a positive number, got {value}.")
    return exact


def at_least_one(units: int) -> int:
    """The sensitivity of whole numbers, which cannot move by less than 1."""
    if units < 1:
        raise InvalidParameterError(
            "whole numbers that move at all move by 1: with integers=True the sensitivity must be 1 or more."
        )
    return units
