"""Product cells: a soft histogram of two clipped columns of the same rows, from which their low mixed moments can be read.

A row at the places v and w of two clips gives the weight b_i(v) * b_j(w) to cell (i, j), where b_0 to b_d are Bernstein's
polynomials of degree d (clipped/cells.py). No weight is negative, and all of them add up to 1 * 1. So a row more or less moves
all cells together by exactly 1, and one epsilon buys the number of rows and the sums of all products of powers up to d each.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        The l1 sensitivity is 1; discrete Laplace noise of scale 1 / epsilon on every cell hides it
Numerics   In units of 1 / (steps of x * steps of y)**d the cells are whole numbers, made exactly from sums; noise is exact
Source     correlations.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Clip, Table
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.clipped.cells import raw_cells_of, weights_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ProductCells:
    """Noisy cells in rows, with the epsilon that they cost; u and v are the places of a row from -1 to 1."""

    noisy: Floats
    epsilon: float

    @property
    def degree(self) -> int:
        """The highest power of either column that can be read."""
        return len(self.noisy) - 1

    def total(self, weights: Floats) -> float:
        """The sum of the cells with these weights."""
        return float(np.sum(weights * self.noisy))

    def noise_variance(self, weights: Floats) -> float:
        """The variance that the noise gives to such a sum."""
        return 2 / self.epsilon**2 * float(np.sum(weights * weights))


def release_products(table: Table, clips: tuple[Clip, Clip], degree: int, epsilon: Fraction, rng: RandomSource) -> ProductCells:
    """The noisy cells of two columns, for one row added or removed."""
    raw_cells = raw_product_cells(table.product_sums(clips, degree), clips[0].steps, clips[1].steps)
    whole = (clips[0].steps * clips[1].steps) ** degree
    noise = sample_discrete_laplace(whole / epsilon, (degree + 1) ** 2, rng).tolist()
    noisy = [float(Fraction(raw + drawn, whole)) for raw, drawn in zip(raw_cells, noise, strict=True)]
    return ProductCells(np.array(noisy).reshape(degree + 1, degree + 1), float(epsilon))


def raw_product_cells(raw_sums: Sequence[Sequence[int]], x_steps: int, y_steps: int) -> list[int]:
    """The cells, row by row, in units of 1 / (x_steps * y_steps)**d, from the sums of products of powers of places."""
    raw_halfway = [raw_cells_of(column, x_steps) for column in zip(*raw_sums, strict=True)]
    return [cell for row in zip(*raw_halfway, strict=True) for cell in raw_cells_of(row, y_steps)]


def centred_weights(degree: int, power: int, centre: float) -> Floats:
    """The weights with which cells of one column add up to the sum of (u - centre)**power."""
    terms = [comb(power, i) * (-centre) ** (power - i) * weights_of(degree, i) for i in range(power + 1)]
    return np.asarray(np.sum(terms, axis=0), dtype=float)
