"""Looking for the rows of a column of numbers: codes that become finer where noisy counts find rows, and wider where not.

A first look goes by powers of ten, by private cuts and by values that many rows share. A code that holds many rows is divided at
round numbers before the next look; neighbours that hold hardly more than noise become one. Nothing here sees rows: it is
arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.synthetic.fine_codes import FineColumn, grain_of, next_value, number_column, on_grain

Integers = NDArray[np.int64]

_EXPONENTS = (-100, -30, -12, -6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 30, 100)
POWERS = tuple(Fraction(10) ** exponent for exponent in _EXPONENTS)
PIECES = 10
"""Into how many pieces a code of many rows is divided at most."""
FINEST_PART = 64
"""Codes of fewer rows than this part of all are not divided."""
MANY = 3.0
"""Standard deviations of noise from which on a code has enough rows to be divided."""
SNAP = 20
"""Parts of the distance between the outer cuts to which cuts are rounded where the grain is not known."""
ON_GRAIN = 0.8
"""The part of the rows on single values from which on their decimals are taken for the grain of the column."""
_NICE = (Fraction(1), Fraction(2), Fraction(5), Fraction(10))


def first_look(name: str, whole: bool, cuts: Sequence[Fraction], shared: Sequence[Fraction]) -> FineColumn:
    """The codes of a first look: between powers of ten, cuts and shared values, of which each has a code of its own."""
    grain = Fraction(1) if whole else grain_of(shared)
    width = max(cuts) - min(cuts) if cuts else Fraction(0)
    step = max(grain, _nice_above(width / SNAP) / 10 if width and not grain else grain)
    own = {Fraction(0), *shared, *(cut for cut in cuts if list(cuts).count(cut) > 1)}
    powers = {sign * power for power in POWERS for sign in (1, -1) if not grain or power >= grain}
    edges = {*powers, *(on_grain(cut, step) for cut in cuts), *own, *(next_value(value, grain) for value in own)}
    return number_column(name, edges, grain, whole=whole)


def looked_closer(column: FineColumn, noisy_counts: Integers, deviation: float, rows: float, *, singles: bool) -> FineColumn:
    """The codes of the next look, by noisy counts of this one. With `singles` round numbers get codes of their own."""
    enough = max(rows / FINEST_PART, MANY * deviation, 1.0)
    spans, edges = column.spans(), column.edges
    counts = noisy_counts[: len(spans)].tolist()
    alone = [column.is_single(*span) for span in spans]
    outer = {0, len(spans) - 1}
    kept: set[Fraction] = set()
    gathered = 0.0
    for place, (low, high) in enumerate(spans):
        if counts[place] >= enough:
            gathered = 0.0
            kept |= {edge for edge in edges[max(place - 1, 0) : place + 1]}
            if not alone[place] and place not in outer:
                kept |= _pieces(column, low, high, counts[place] / enough, singles=singles)
            continue
        gathered += counts[place]
        if gathered >= enough and place < len(edges):
            kept.add(edges[place])
            gathered = 0.0
    if len(kept) < 2:
        kept |= {Fraction(0), next_value(Fraction(0), column.grain), edges[0], edges[-1]}
    return number_column(column.name, kept, column.grain, whole=column.whole)


def _pieces(column: FineColumn, low: Fraction, high: Fraction, times: float, *, singles: bool) -> set[Fraction]:
    """Round numbers between two others, and what comes right after them where single values are looked for."""
    if column.grain or not singles:
        step = max(_nice_above((high - low) / min(max(2, int(times)), PIECES)), column.grain)
        singles = False
    else:
        step = _ten_above((high - low) / PIECES)
    first = math.floor(low / step) + 1
    inside = {step * place for place in range(first, math.ceil(high / step))}
    if column.grain:
        inside = {on_grain(edge, column.grain) for edge in inside} - {low, high}
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
