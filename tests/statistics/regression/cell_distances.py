"""The paper's own distance for robust regression: how many rows come or go before a minimiser leaves its cell, by brute force.

A row that is added can pull by any vector up to the length of a UNIT, and one that is deleted pulls no more. So a place b becomes
a minimiser by as many rows as the shortest subgradient of f at b is UNITs long, rounded up; and A_2 is the least of these numbers
over all b outside the cell. Where more hyperplanes meet there are more subgradients, so that with two coefficients only lines and
the points where they cross are looked at. Exact, of the order of the cube of the rows: for tests alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dpstats.statistics.regression.ratios import UNIT

Vector = tuple[Fraction, Fraction]
Row = tuple[int, int, int]
"""A normal and an offset."""


def distance_by_ratios(rows: Sequence[tuple[int, int]], low: int, high: int) -> int:
    """A_2 with one coefficient, for the open cell between low and high; rows are a normal and an offset."""
    places = {Fraction(offset, normal) for normal, offset in rows if normal}
    outside = {Fraction(low), Fraction(high), *(place for place in places if not low < place < high)}
    return min(_rows_for(_shortest_on_line(rows, place) ** 2) for place in outside)


def _shortest_on_line(rows: Iterable[tuple[int, int]], place: Fraction) -> Fraction:
    gaps = [(normal, normal * place - offset) for normal, offset in rows]
    pull = sum((normal if gap > 0 else -normal for normal, gap in gaps if gap), start=0)
    return Fraction(max(0, abs(pull) - sum(abs(normal) for normal, gap in gaps if not gap)))


def distance_by_lines(rows: Sequence[Row], low: tuple[int, int], high: tuple[int, int]) -> int:
    """A_2 with two coefficients, for the open cell between two corners."""
    rows = [row for row in rows if row[:2] != (0, 0)]
    if not rows:
        return 0
    return min(_rows_for(_shortest_square(rows, place)) for row in rows for place in _places_outside(row, rows, low, high))


def _places_outside(row: Row, rows: Sequence[Row], low: tuple[int, int], high: tuple[int, int]) -> Iterator[Vector]:
    """On the line of a row: where others cross it outside the cell, and a place outside it between each two of these."""
    a, b, offset = row
    length = a * a + b * b
    foot = Fraction(a * offset, length), Fraction(b * offset, length)

    def at(along: Fraction) -> Vector:
        return foot[0] - b * along, foot[1] + a * along

    crossings = [_crossing(row, other) for other in rows]
    cuts = [_along(row, foot, crossing) for crossing in crossings if crossing is not None]
    edges = [Fraction(end - foot[0], -b) for end in (low[0], high[0]) if b]
    edges += [Fraction(end - foot[1], a) for end in (low[1], high[1]) if a]
    marks = sorted({*cuts, *edges})
    between = [(first + second) / 2 for first, second in itertools.pairwise(marks)]
    for along in (*marks, *between, marks[0] - 1, marks[-1] + 1):
        place = at(along)
        if not all(bottom < coordinate < top for bottom, coordinate, top in zip(low, place, high, strict=True)):
            yield place


def _crossing(row: Row, other: Row) -> Vector | None:
    (a, b, u), (c, d, v) = row, other
    determinant = a * d - b * c
    return (Fraction(u * d - b * v, determinant), Fraction(a * v - u * c, determinant)) if determinant else None


def _along(row: Row, foot: Vector, place: Vector) -> Fraction:
    a, b, _ = row
    return ((place[1] - foot[1]) * a - (place[0] - foot[0]) * b) / Fraction(a * a + b * b)


def _shortest_square(rows: Iterable[Row], place: Vector) -> Fraction:
    """The squared length of the shortest subgradient: of a sum of signed normals, and of segments for rows through the place."""
    pull, segments = [0, 0], []
    for a, b, offset in rows:
        gap = a * place[0] + b * place[1] - offset
        if gap:
            pull = [pull[0] + (a if gap > 0 else -a), pull[1] + (b if gap > 0 else -b)]
        else:
            segments.append((a, b) if (a, b) > (0, 0) else (-a, -b))
    if not segments:
        return Fraction(pull[0] ** 2 + pull[1] ** 2)
    segments.sort(key=lambda segment: math.atan2(segment[1], segment[0]))
    corner = [pull[0] - sum(a for a, _ in segments), pull[1] - sum(b for _, b in segments)]
    sides = [(a * sign, b * sign) for sign in (2, -2) for a, b in segments]
    squares, turns = [], []
    for a, b in sides:  # once around the polygon of all subgradients
        length, ahead = a * a + b * b, -(corner[0] * a + corner[1] * b)
        part = min(max(Fraction(ahead, length), Fraction(0)), Fraction(1))
        squares.append((corner[0] + part * a) ** 2 + (corner[1] + part * b) ** 2)
        turns.append(corner[0] * b - corner[1] * a)
        corner = [corner[0] + a, corner[1] + b]
    return Fraction(0) if any(turns) and min(turns) >= 0 else min(squares)


def _rows_for(square: Fraction) -> int:
    """The least whole number of UNITs that is as long as the root of a square."""
    exact = -(-square.numerator // (square.denominator * UNIT**2))
    root = math.isqrt(exact)
    return root if root * root == exact else root + 1
