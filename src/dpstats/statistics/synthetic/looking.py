"""Looking for the rows of a column of numbers: codes that become finer where noisy counts find rows, and wider where not.

A first look goes by 1, 2 and 5 times powers of ten, by private cuts, if any, and by values that many rows share. A code that
holds many rows is divided at round numbers before the next look; neighbours that hold hardly more than noise become one. Nothing
here sees rows: it is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpstats.statistics.coded.budget import LaplaceLaw, NoisyTable
from dpstats.statistics.synthetic.fine_codes import FineColumn, grain_of, next_value, number_column, on_grain

_EXPONENTS = (-100, -30, -12, -6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 18, 19, 30, 100)
POWERS = tuple(Fraction(10) ** exponent for exponent in _EXPONENTS)
STEPS = (1, 2, 5)
"""The multiples of powers of ten at which a first look has edges."""
SINGLE_TIMES = 4
"""How many times as many rows as are enough a code must have to be searched for single values."""
PIECES = 10
"""Into how many pieces a code of many rows is divided at most."""
FINEST_PART = 64
"""Codes of fewer rows than this part of all are not divided."""
SNAP = 20
"""Parts of the distance between the outer cuts to which cuts are rounded where the grain is not known."""
SMALL = tuple(map(Fraction, range(3)))
"""Small whole numbers, each of which has a code of its own in a first look: flags hold these. With all up to 10 the rows of
counts are spread over more codes than noise lets see: a column of ages from 0 on lost those below 11."""
BEYOND = (1, 4, 16, 64, 256)
"""How far beyond the outer cuts a first look has edges, in distances of these cuts."""
_NICE = (Fraction(1), Fraction(2), Fraction(5), Fraction(10))


def first_look(
    name: str, cuts: Sequence[Fraction], shared: Sequence[Fraction], *, whole: bool, small: Sequence[Fraction] = SMALL
) -> FineColumn:
    """The codes of a first look: between round numbers, cuts, shared and `small` values, of which each has a code of its own."""
    grain = Fraction(1) if whole else grain_of(shared)
    least = Fraction(1) if whole else Fraction(0)
    own = {Fraction(0), *small, *shared, *(cut for cut in cuts if list(cuts).count(cut) > 1)}
    powers = {sign * power * step for power in POWERS for step in STEPS for sign in (1, -1) if power * step >= least}
    edges = {*powers, *_rounded(cuts, grain), *_around(cuts, grain), *own, *(next_value(value, least) for value in own)}
    return number_column(name, {edge for edge in edges if not whole or abs(edge) <= 1 << 64}, grain, whole=whole)


def _rounded(cuts: Sequence[Fraction], grain: Fraction) -> list[Fraction]:
    """Cuts on the grain; where it is not known at round numbers, multiples of a small part of the distance of the outer ones."""
    width = max(cuts, default=Fraction(0)) - min(cuts, default=Fraction(0))
    return [on_grain(cut, grain or (_nice_above(width / SNAP) / 10 if width else grain)) for cut in cuts]


def _around(cuts: Sequence[Fraction], grain: Fraction) -> list[Fraction]:
    """Edges beyond the outer cuts at some multiples of their distance."""
    if not cuts:
        return []
    width = max(cuts) - min(cuts)
    far = [(min(cuts) - width * times, max(cuts) + width * times) for times in BEYOND] if width else []
    return _rounded([min(cuts), max(cuts), *(edge for both in far for edge in both)], grain)[2:]


def looked_closer(
    column: FineColumn,
    look: NoisyTable,
    rows: float,
    cuts: Sequence[Fraction],
    *,
    singles: bool,
    small: Sequence[Fraction] = SMALL,
) -> FineColumn:
    """The codes of the next look, by noisy counts of this one. With `singles` round numbers get codes of their own.

    Where nothing is found the codes are those between `cuts`.
    """
    enough = max(rows / FINEST_PART, largest_noise(look), 1.0)
    spans, edges = column.spans(), column.edges
    outer = {0, len(spans) - 1}
    kept: set[Fraction] = set()
    gathered, codes = 0.0, 0
    for place, ((low, high), count) in enumerate(zip(spans, look.noisy_counts.tolist(), strict=False)):
        if count >= enough:
            gathered, codes = 0.0, 0
            kept |= set(edges[max(place - 1, 0) : place + 1])
            if low in small and column.is_single(low, high):
                kept |= _beside(column, low, small)
            if place not in outer and not column.is_single(low, high):
                kept |= _pieces(column, low, high, count / enough, singles=singles)
            continue
        gathered, codes = gathered + count, codes + 1
        if gathered >= enough * math.sqrt(codes) and place < len(edges):
            kept.add(edges[place])
            gathered, codes = 0.0, 0
    if len(kept) < 2:
        first = min(_rounded(cuts, column.grain), default=Fraction(0))
        kept |= {*_rounded(cuts, column.grain), first, next_value(first, column.grain)}
    return number_column(column.name, kept, column.grain, whole=column.whole)


def _beside(column: FineColumn, value: Fraction, small: Sequence[Fraction]) -> set[Fraction]:
    """Edges that give the small whole numbers next to one of many rows codes of their own: a rare 1 beside a frequent 0."""
    least = Fraction(int(column.whole))
    near = [each for each in (value - 1, value + 1) if each in small]
    return {edge for each in near for edge in (each, next_value(each, least))}


def largest_noise(look: NoisyTable) -> float:
    """About the largest noise in all codes of a look: a code that has more rows is not empty."""
    codes = max(look.noisy_counts.size, 10)
    if isinstance(look.law, LaplaceLaw):
        return look.law.scale * math.log(codes / 2)
    return math.sqrt(2 * look.law.variance * math.log(codes))


def _pieces(column: FineColumn, low: Fraction, high: Fraction, times: float, *, singles: bool) -> set[Fraction]:
    """Round numbers between two others, and what comes right after them where single values are looked for."""
    singles = singles and not column.whole and times >= SINGLE_TIMES
    width = high - low
    step = _ten_above(width / PIECES) if singles else _nice_above(width / min(max(2, int(times)), PIECES))
    step = max(step, Fraction(1)) if column.whole else step
    inside = {step * place for place in range(math.floor(low / step) + 1, math.ceil(high / step))}
    if singles:
        inside |= {next_value(edge, Fraction(0)) for edge in (low, *inside)}
    return {edge for edge in inside if low < edge < high}


def _ten_above(value: Fraction) -> Fraction:
    """The least power of ten that is not below a positive number."""
    power = Fraction(10) ** (len(str(math.floor(value))) - 2 if value >= 1 else -len(str(math.floor(1 / value))) - 1)
    while power < value:
        power *= 10
    return power


def _nice_above(value: Fraction) -> Fraction:
    """The least of 1, 2 and 5 times powers of ten that is not below a positive number."""
    ten = _ten_above(value) / 10
    return next(ten * nice for nice in _NICE if ten * nice >= value)
