"""Small tables of normals and offsets that bite: parallel, repeated and empty rows, and rows through corners of cells."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.cell_tests import SIDE
from dpstats.statistics.regression.ratios import UNIT, RawRatios

Rows = list[tuple[int, ...]]
_DIRECTIONS = ((1, 0), (0, 1), (3, 4), (4, 3), (3, -4), (5, 12), (12, -5), (1, 1), (0, 0))


def normal(a: int, b: int) -> tuple[int, int]:
    """A direction as a normal, not longer than UNIT."""
    length = (a * a + b * b) ** 0.5 or 1.0
    return int(a / length * UNIT), int(b / length * UNIT)


def random_row(chooser: random.Random, dimensions: int) -> tuple[int, ...]:
    """A row through a place on the lattice of corners and middles of cells, or near one."""
    if dimensions == 1:
        weights: tuple[int, ...] = (chooser.choice([UNIT, UNIT, -UNIT, UNIT // 3, 0]),)
    else:
        weights = normal(*chooser.choice(_DIRECTIONS)) + (0,) * (dimensions - 2)
        weights = tuple(chooser.sample(weights, dimensions)) if dimensions > 2 else weights
    place = [chooser.randint(-2, 4) * SIDE // 2 + chooser.choice([0, 0, 0, 1, -1]) for _ in weights]
    return (*weights, sum(w * p for w, p in zip(weights, place, strict=True)) if any(weights) else 0)


def random_rows(chooser: random.Random, dimensions: int, most: int = 9) -> Rows:
    """A table in which rows repeat now and then; half of them have as many rows along each axis, through one place."""
    rows: Rows = []
    if chooser.random() < 0.5:
        for axis in range(dimensions):
            along = tuple(UNIT if place == axis else 0 for place in range(dimensions))
            rows += [(*along, UNIT * chooser.choice([0, 5, SIDE // 4, SIDE // 2]))] * chooser.randint(2, 7)
    for _ in range(chooser.randint(0, most)):
        rows += [random_row(chooser, dimensions)] * chooser.choice([1, 1, 1, 2, 3])
    return rows


def added_rows(seed: int, count: int, dimensions: int) -> Iterator[tuple[Rows, Rows]]:
    """Pairs of tables of which the second has a row more."""
    chooser = random.Random(seed)
    for _ in range(count):
        rows = random_rows(chooser, dimensions)
        yield rows, [*rows, chooser.choice([*rows, random_row(chooser, dimensions)])]


def ratios(rows: Rows, dimensions: int) -> RawRatios:
    """The table as the cell tests take it."""
    table = np.array(rows, dtype=np.float64).reshape(len(rows), dimensions + 1)
    return RawRatios(table[:, :-1], table[:, -1])


def total(rows: Rows, place: tuple[Fraction, ...]) -> Fraction:
    """f at a place, exactly, in UNITs."""
    distances = (sum(w * p for w, p in zip(row, place, strict=False)) - row[-1] for row in rows)
    return sum((abs(Fraction(each)) for each in distances), Fraction(0))
