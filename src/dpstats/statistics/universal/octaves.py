"""Octaves: how far from the middle the rows of a side lie that has too few of them for a draw.

A draw by rank needs rows worth a dozen nats, or it lands anywhere on the line now and then. A noisy count does not: octaves of
distance are counted, some sixty below a likely distance and as many above it, and rows that lie together stand out of the noise.

Claim      Nothing is spent here: limits.py adds the noise. A row lies in one octave, whose ends depend on released numbers alone
Numerics   Exact counts by the rows' decimals
Source     limits.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dpstats.foundations.summaries import Column
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, float_of, fraction_of, lowest_value_at, ordinal_of

OCTAVES = 60
"""Octaves below the size of a likely distance that are told apart, and above it. What lies further in or out shares one count."""
TOGETHER = 4
"""Rows of a side are looked for in this many neighbouring octaves at once: a lognormal law of deviation 1 fills about four."""
SHOWN_TOGETHER = 12.0
"""Scales of the noise from which on neighbouring octaves show rows: of 120 empty ones some do once in 80 sides."""
INSIDE_SCALES, SHOWN_SCALES, SCALES_PER_OCTAVE = 3.0, 7.0, 0.5
"""The last octave has rows worth INSIDE_SCALES where it is one of these; further out more, as mistakes cost more."""
_FARTHEST = float_of(HIGHEST_ORDINAL)
_LARGEST_EXPONENT, _SMALLEST_EXPONENT = 1023, -1022


class Seen(NamedTuple):
    """The octaves, as places in a list of counts, of a side's median and of its last rows that stand out."""

    typical: int
    last: int


def octave_ends(middle: int, upward: bool, likely: Fraction, bounds: tuple[int, int]) -> list[int]:
    """The decimals at which octaves above (or below) a middle end, outward, within the first and last decimal of a side."""
    size = _octave_of(likely or abs(fraction_of(middle)) or Fraction(1))
    first, last = bounds
    here = float_of(middle)
    ends = []
    for exponent in range(size - OCTAVES, size + OCTAVES + 1):
        distance = math.ldexp(1.0, max(_SMALLEST_EXPONENT, min(_LARGEST_EXPONENT, exponent)))
        end = ordinal_of(max(-_FARTHEST, min(_FARTHEST, here + distance if upward else here - distance)))
        ends.append(max(first, min(end, last - 1)) if upward else min(last, max(end, first + 1)))
    return [*ends, last if upward else first]


def raw_counts_in_octaves(column: Column, ends: Sequence[int], upward: bool, raw_ranks: tuple[int, int]) -> list[int]:
    """The rows of a side up to the first end, from there to the next, and so on; the side has those of the ranks up to two."""
    assert column.dtype is not None
    raw_first, raw_last = raw_ranks
    cuts = [lowest_value_at(end + 1 if upward else end, column.dtype) for end in ends[:-1]]
    raw_below = column.counts_below(cuts)
    raw_within = [0, *(below - raw_first if upward else raw_last - below for below in raw_below), raw_last - raw_first]
    return [after - before for before, after in pairwise(raw_within)]


def seen_in(noisy: Sequence[int], scale: float) -> Seen | None:
    """Where noisy counts show the rows of a side; None where they show none. `scale` is that of the noise."""
    together = [sum(noisy[max(0, last - TOGETHER + 1) : last + 1]) for last in range(len(noisy))]
    fullest = max(range(len(noisy)), key=lambda last: together[last])
    if together[fullest] <= SHOWN_TOGETHER * scale:
        return None
    inside = range(max(0, fullest - TOGETHER + 1), fullest + 1)
    last = max((octave for octave in inside if noisy[octave] > INSIDE_SCALES * scale), default=fullest)
    for octave in range(fullest + 1, len(noisy)):
        if noisy[octave] > (SHOWN_SCALES + SCALES_PER_OCTAVE * (octave - fullest)) * scale:
            last = octave
    counted = [(octave, max(0, noisy[octave])) for octave in sorted({*inside, last})]
    half, passed = sum(rows for _, rows in counted) / 2, 0
    for octave, rows in counted:
        passed += rows
        if passed >= half:
            return Seen(min(octave, last), last)
    return Seen(last, last)


def _octave_of(size: Fraction) -> int:
    """The exponent of 2 of a positive number, or one more."""
    return size.numerator.bit_length() - size.denominator.bit_length()
