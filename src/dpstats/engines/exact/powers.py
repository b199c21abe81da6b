"""Power sums: exact sums over rows of powers of where each row lies in a clip, and of products of two such powers.

Numerics   A block of rows becomes float64, which changes no number but whole ones beyond 2**53: those are rounded to 15 digits.
           Scaling by a power of two is exact, or leaves so little or so much that rounding and cutting off end at the same
           place; the places are whole numbers up to 2**26. Products are sums of products of shorter whole numbers, cut off
           binary digits at a time, such that no sum over a block leaves the whole numbers that float64 holds: whatever the
           order in which they are added, every one is exact. Blocks add up as Python integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import Chunks
from dpstats.engines.exact.wholes import are_exact, floats_of_wholes
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.summaries import Clip
from dpstats.foundations.units import exponent_of

Floats = NDArray[np.float64]
Power = list[tuple[int, "Wholes"]]
"""A power of whole numbers in parts: each part times two to its shift, and all of them added up."""

BLOCK_ROWS = 1 << 13
MOST_DEGREE = 4
MOST_STEPS = 1 << 26
FARTHEST_END = 1 << 52
_EXACT = 1 << 53  # float64 holds the whole numbers up to here
_LARGEST_SCALE = 1000  # powers of two up to here scale in one step
_FARTHEST = 1200  # a unit beyond 2 to this, up or down, sees no number but 0, or each other one beyond every clip


def power_sums(chunks: Chunks, clip: Clip, degree: int) -> tuple[int, ...]:
    """The sums over the rows that are not missing of clip.place(row)**k, for k from 0 to `degree`, at most 4."""
    _check([clip], degree)
    sums = [0] * (degree + 1)
    for chunk in chunks:
        for block in short_blocks(chunk):
            places = places_in(block, clip)
            sums[0] += places.size
            if degree:
                for power, total in enumerate(_sums_of(Wholes(places, clip.steps), degree), start=1):
                    sums[power] += total
    return tuple(sums)


def moved_powers(totals: Sequence[int], clip: Clip, to: Clip, raw_tails: Chunks, degree: int) -> tuple[int, ...]:
    """Power sums over all rows in a clip of the same unit, from those in another; both hold all rows but those in `raw_tails`."""
    old, new = power_sums(raw_tails, clip, degree), power_sums(raw_tails, to, degree)
    inner = [total - part for total, part in zip(totals, old, strict=False)]
    shift = clip.low - to.low
    return tuple(
        new[power] + sum(comb(power, k) * shift ** (power - k) * inner[k] for k in range(power + 1))
        for power in range(degree + 1)
    )


def product_sums(raw_x: NDArray[Any], raw_y: NDArray[Any], clips: tuple[Clip, Clip], degree: int) -> list[list[int]]:
    """The sums over rows, none of them missing, of first.place(x)**i * second.place(y)**j; [i][j], each up to `degree` <= 4."""
    _check(clips, degree)
    sums = [[0] * (degree + 1) for _ in range(degree + 1)]
    for block_x, block_y in zip(short_blocks(raw_x), short_blocks(raw_y), strict=True):
        first = _powers(Wholes(places_in(block_x, clips[0]), clips[0].steps), degree)
        second = _powers(Wholes(places_in(block_y, clips[1]), clips[1].steps), degree)
        for i, power in enumerate(first):
            for j, other in enumerate(second):
                sums[i][j] += _sum_of_products(power, other)
    return sums


def _check(clips: Iterable[Clip], degree: int) -> None:
    """Complain where float64 would not hold what is added up."""
    if not 0 <= degree <= MOST_DEGREE:
        raise InvalidParameterError(f"power sums go up to a degree of {MOST_DEGREE}, got {degree}.")
    for clip in clips:
        if not 0 <= clip.steps <= MOST_STEPS or max(abs(clip.low), abs(clip.low + clip.steps)) > FARTHEST_END:
            raise InvalidParameterError("a clip has at most 2**26 steps, and its ends are at most 2**52 units from zero.")


def short_blocks(chunk: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The rows of a chunk in blocks that are short enough for exact sums of products."""
    for start in range(0, chunk.size, BLOCK_ROWS):
        yield chunk[start : start + BLOCK_ROWS]


def places_in(block: NDArray[Any], clip: Clip) -> Floats:
    """`clip.place` of every row of a block that is not missing, in order."""
    exponent = max(-_FARTHEST, min(_FARTHEST, -exponent_of(clip.unit)))  # rows are multiplied by 2 to this
    floats = block if block.dtype.kind == "f" or are_exact(block) else floats_of_wholes(block)
    with np.errstate(all="ignore"):  # overflow to infinity and to nothing; signalling NaN
        half = exponent // 2 if abs(exponent) > _LARGEST_SCALE else 0
        places: Floats = np.multiply(floats, 2.0 ** (exponent - half), dtype=np.float64)
        if half:
            places *= 2.0**half
        np.rint(places, out=places)
        places -= clip.low
        np.maximum(places, 0, out=places)
        np.minimum(places, clip.steps, out=places)
    if block.dtype.kind == "f" and np.isnan(places.sum()):
        places = places[places == places]
    return places


class Wholes:
    """Whole numbers from 0 to `most`, as float64 that hold them exactly."""

    def __init__(self, raw_values: Floats, most: int) -> None:
        """`raw_values` are at most BLOCK_ROWS, and `most` is at most 2**53."""
        self.raw_values = raw_values
        self.most = most

    @cached_property
    def parts(self) -> tuple[int, Wholes, Wholes]:
        """k, and the numbers in two parts: x // 2**k and x % 2**k."""
        digits = self.most.bit_length() // 2
        upper = self.raw_values * 2.0**-digits
        np.floor(upper, out=upper)
        lower = upper * -(2.0**digits)
        lower += self.raw_values
        return digits, Wholes(upper, self.most >> digits), Wholes(lower, min(self.most, (1 << digits) - 1))

    @cached_property
    def square(self) -> Wholes:
        """The square of each, where `most` is at most 2**26."""
        return Wholes(self.raw_values * self.raw_values, self.most**2)

    def sum(self) -> int:
        """Their sum."""
        if self.most * self.raw_values.size <= _EXACT:
            return int(self.raw_values.sum())
        digits, upper, lower = self.parts
        return (upper.sum() << digits) + lower.sum()

    def dot(self, other: Wholes) -> int:
        """The sum of their products with others, row by row."""
        if self.most * other.most * self.raw_values.size <= _EXACT:
            return int(np.dot(self.raw_values, other.raw_values))
        longer, shorter = (self, other) if self.most > other.most else (other, self)
        digits, upper, lower = longer.parts
        return (upper.dot(shorter) << digits) + lower.dot(shorter)


def _sums_of(places: Wholes, degree: int) -> Iterator[int]:
    """The sums of the first to the last power."""
    yield places.sum()
    if degree > 1:
        yield places.dot(places)
    if degree > 2:
        yield places.square.dot(places)
    if degree > 3:
        yield places.square.dot(places.square)


def _powers(places: Wholes, degree: int) -> list[Power]:
    """Powers 0 to `degree` in parts that are exact; a part is a product of two numbers of at most 26 digits, or one such."""
    powers: list[Power] = [[(0, Wholes(np.ones(places.raw_values.size), 1))], [(0, places)]]
    if degree > 1:
        powers.append([(0, places.square)])
    if degree > 2:
        digits, upper, lower = places.square.parts
        powers.append([(digits, _product(upper, places)), (0, _product(lower, places))])
    if degree > 3:
        crossed = _product(upper, lower)
        powers.append([(2 * digits, upper.square), (digits + 1, crossed), (0, lower.square)])
    return powers[: degree + 1]


def _product(one: Wholes, other: Wholes) -> Wholes:
    return Wholes(one.raw_values * other.raw_values, one.most * other.most)


def _sum_of_products(power: Power, other: Power) -> int:
    return sum(one.dot(two) << (shift + further) for shift, one in power for further, two in other)
