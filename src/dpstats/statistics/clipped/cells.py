"""Cells: a soft histogram of clipped rows, from which all of their low moments can be read.

A row at the place v of a clip, 0 <= v <= 1, gives the weight C(d, j) v**j (1 - v)**(d - j) to cell j, for j = 0 to d. These are
Bernstein's polynomials: no weight is negative, and all of them add up to exactly 1. So a row more or less moves all cells
together by exactly 1, whatever the degree d, and one epsilon buys the number of rows, their sum, and the sums of their
powers up to d at once.

A row far beyond the clip may be counted in a shell of its own instead (outer.py): one in the shell, and nothing in the cells.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        The l1 sensitivity is 1; discrete Laplace noise of scale 1 / epsilon on every cell hides it
Numerics   In units of 1 / steps**d the cells are whole numbers, made exactly from sums of powers of whole numbers; noise is exact
Source     cells.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import inner_product
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Clip, Column
from dpstats.mechanisms.discrete_laplace import noisy_counts, sample_discrete_laplace
from dpstats.statistics.binned.edges import raw_counts_between
from dpstats.statistics.universal.decimals import lowest_value_at, ordinal_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyUnits:
    """What is known of a sum of scores by units that may have several rows (statistics/by_unit.py)."""

    squares: float
    """About the sum of the squares of all units' sums; infinite where nothing is known."""
    most_rows: float
    """Of a unit. The squares are at most that many times those of the rows, by Cauchy and Schwarz."""

    def stretch(self, row_squares: float) -> float:
        """By how much the sampling variance is larger than that of independent rows, whose scores have these squares."""
        if not row_squares > 0:
            return float(self.most_rows)
        return min(max(self.squares / row_squares, 1.0), float(self.most_rows))


@dataclass(frozen=True)
class OuterEdges:
    """The decimals at which shells beyond a clip begin, below and above, in ascending order; the outermost have no end.

    They must not depend on the rows but through what was released.
    """

    below: tuple[float, ...] = ()
    above: tuple[float, ...] = ()

    def beyond(self, clip: Clip, dtype: np.dtype[Any]) -> OuterEdges:
        """The edges beyond which every row is at an end of the clip; the others are left out."""

        def places(edges: tuple[float, ...]) -> list[tuple[float, int]]:
            return [(edge, clip.place(lowest_value_at(ordinal_of(edge), dtype))) for edge in edges]

        return OuterEdges(
            tuple(edge for edge, place in places(self.below) if place == 0),
            tuple(edge for edge, place in places(self.above) if place == clip.steps),
        )


NO_EDGES = OuterEdges()


@dataclass(frozen=True)
class NoisyCells:
    """Noisy cells in rows, with the epsilon that they cost; u = 2 v - 1 is the place from -1 to 1."""

    noisy: Floats
    epsilon: float
    units: NoisyUnits | None = None
    """Where units have several rows: of the distances of u from its mean, or, of degree 4, of their squares."""
    outer_below: tuple[int, ...] = ()
    """Noisy numbers of rows in shells below the clip, which are in none of its cells, in ascending order of the shells."""
    outer_above: tuple[int, ...] = ()
    near: Floats = field(default_factory=lambda: np.array([]))
    """Of the shells whose rows count: where they begin and where they end in u. Their noisy numbers are the last of `noisy`."""
    far: Floats = field(default_factory=lambda: np.array([]))
    roomy: tuple[tuple[float, float], ...] = ()
    """Rows in shells that may have some, and the far ends of these in u."""

    @property
    def inside(self) -> NoisyCells:
        """The cells of the clip alone."""
        return replace(self, noisy=self.noisy[: self.degree + 1], near=self.near[:0], far=self.far[:0], roomy=())

    def weights(self, power: int) -> Floats:
        """The weights with which cells and shells add up to the sum of u**power."""
        return np.concatenate([weights_of(self.degree, power), ((self.near + self.far) / 2) ** power])

    def slack(self, power: int) -> tuple[float, float]:
        """By how much the sum of u**power may be less and more, as rows may lie anywhere in their shells."""
        rows = np.maximum(self.noisy[self.degree + 1 :], 0.0)
        place = ((self.near + self.far) / 2) ** power
        least, most = (end(self.near**power, self.far**power) for end in (np.minimum, np.maximum))
        below, above = inner_product(rows, place - least), inner_product(rows, most - place)
        room = [count * place**power for count, place in self.roomy]
        return below - math.fsum(min(each, 0.0) for each in room), above + math.fsum(max(each, 0.0) for each in room)

    def stretch(self, row_squares: float) -> float:
        """By how much a sampling variance is larger than for independent rows, whose scores have these squares in all."""
        return 1.0 if self.units is None else self.units.stretch(row_squares)

    @property
    def degree(self) -> int:
        """The highest power that can be read."""
        return len(self.noisy) - 1 - len(self.near)

    def total(self, power: int) -> float:
        """The noisy sum of u**power over the rows; of power 0 their noisy number."""
        return inner_product(self.weights(power), self.noisy)

    def noise_variance(self, weights: Floats) -> float:
        """The variance that the noise gives to a sum of the cells with these weights."""
        return 2 / self.epsilon**2 * inner_product(weights, weights)


@dataclass(frozen=True)
class EndCells(NoisyCells):
    """Cells of rows that all lie at one end of a clip or at the other: those in between are 0, without noise."""

    def noise_variance(self, weights: Floats) -> float:
        """The variance that the noise of the first and the last cell gives to a sum of the cells with these weights."""
        return 2 / self.epsilon**2 * (float(weights[0]) ** 2 + float(weights[-1]) ** 2)

    @classmethod
    def of(cls, noisy_first: int, noisy_last: int, degree: int, epsilon: Fraction) -> EndCells:
        """The cells of a degree, from noisy numbers of rows at both ends."""
        return cls(np.array([noisy_first, *[0.0] * (degree - 1), noisy_last], dtype=np.float64), float(epsilon))


def release_cells(
    column: Column, clip: Clip, degree: int, epsilon: Fraction, rng: RandomSource, outer: OuterEdges = NO_EDGES
) -> NoisyCells:
    """The noisy cells of a column, for one row added or removed; rows in outer shells count there, and in no cell."""
    raw_cells = raw_cells_of(column.power_sums(clip, degree), clip.steps)
    whole = clip.steps**degree
    raw_below, raw_above = _raw_outer_counts(column, clip, outer)
    raw_cells[0] -= whole * sum(raw_below)
    raw_cells[-1] -= whole * sum(raw_above)
    noise = sample_discrete_laplace(whole / epsilon, degree + 1, rng).tolist()
    noisy = [float(Fraction(raw + drawn, whole)) for raw, drawn in zip(raw_cells, noise, strict=True)]
    noisy_outer = noisy_counts([*raw_below, *raw_above], epsilon, rng) if raw_below or raw_above else []
    below, above = noisy_outer[: len(raw_below)], noisy_outer[len(raw_below) :]
    return NoisyCells(np.array(noisy), float(epsilon), outer_below=tuple(below), outer_above=tuple(above))


def _raw_outer_counts(column: Column, clip: Clip, outer: OuterEdges) -> tuple[list[int], list[int]]:
    """The numbers of rows in the shells below a clip, and in those above it."""
    if not outer.below and not outer.above:
        return [], []
    assert column.dtype is not None
    shells = outer.beyond(clip, column.dtype)
    raw_counts = raw_counts_between(column, [*shells.below, *shells.above])
    return raw_counts[: len(shells.below)], raw_counts[len(shells.below) + 1 :]


def raw_cells_of(raw_sums: Sequence[int], steps: int) -> list[int]:
    """The cells, in units of 1 / steps**d of a row, from the sums of the powers 0 to d of the rows' places."""
    degree = len(raw_sums) - 1
    return [
        comb(degree, j)
        * sum(comb(degree - j, i) * (-1) ** i * steps ** (degree - j - i) * raw_sums[j + i] for i in range(degree - j + 1))
        for j in range(degree + 1)
    ]


@lru_cache
def weights_of(degree: int, power: int) -> Floats:
    """The weights with which cells of that degree add up to the sum of u**power."""
    weights = [
        sum(Fraction(comb(power, i) * 2**i * (-1) ** (power - i) * comb(j, i), comb(degree, i)) for i in range(min(power, j) + 1))
        for j in range(degree + 1)
    ]
    return np.array([float(weight) for weight in weights])
