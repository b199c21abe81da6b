"""Cells: a soft histogram of clipped rows, from which all of their low moments can be read.

A row at the place v of a clip, 0 <= v <= 1, gives the weight C(d, j) v**j (1 - v)**(d - j) to cell j, for j = 0 to d. These are
Bernstein's polynomials: no weight is negative, and all of them add up to exactly 1. So a row more or less moves all cells
together by exactly 1, whatever the degree d, and one epsilon buys the number of rows, their sum, and the sums of their
powers up to d at once.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        The l1 sensitivity is 1; discrete Laplace noise of scale 1 / epsilon on every cell hides it
Numerics   In units of 1 / steps**d the cells are whole numbers, made exactly from sums of powers of whole numbers; noise is exact
Source     cells.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import inner_product
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Clip, Column
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace

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
class NoisyCells:
    """Noisy cells in rows, with the epsilon that they cost; u = 2 v - 1 is the place from -1 to 1."""

    noisy: Floats
    epsilon: float
    units: NoisyUnits | None = None
    """Where units have several rows: of the distances of u from its mean, or, of degree 4, of their squares."""

    def stretch(self, row_squares: float) -> float:
        """By how much a sampling variance is larger than for independent rows, whose scores have these squares in all."""
        return 1.0 if self.units is None else self.units.stretch(row_squares)

    @property
    def degree(self) -> int:
        """The highest power that can be read."""
        return len(self.noisy) - 1

    def total(self, power: int) -> float:
        """The noisy sum of u**power over the rows; of power 0 their noisy number."""
        return inner_product(weights_of(self.degree, power), self.noisy)

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


def release_cells(column: Column, clip: Clip, degree: int, epsilon: Fraction, rng: RandomSource) -> NoisyCells:
    """The noisy cells of a column, for one row added or removed."""
    raw_cells = raw_cells_of(column.power_sums(clip, degree), clip.steps)
    whole = clip.steps**degree
    noise = sample_discrete_laplace(whole / epsilon, degree + 1, rng).tolist()
    noisy = [float(Fraction(raw + drawn, whole)) for raw, drawn in zip(raw_cells, noise, strict=True)]
    return NoisyCells(np.array(noisy), float(epsilon))


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
