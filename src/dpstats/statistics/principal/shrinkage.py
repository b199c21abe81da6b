"""What noise does to correlations, reckoned from released numbers: how far they are drawn toward 0, and what a plane is worth.

Claim      Nothing is spent here: only released numbers enter
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REDRAWS = 100
SUMMED = 12
"""Uniform numbers that are added up for a redrawn normal one."""
LOW = 0.05
"""The part of redraws that may be worth less than what is told as the low end."""
MOST_TOLD = 0.999
"""No share is told as larger than this: redraws do not know everything."""
STEPS = 60
LEAST_SPREAD = 1e-9


@dataclass(frozen=True)
class Quality:
    """The share of the largest variance that so many components can have which those of noisy correlations have."""

    share: float
    """On average over redraws."""
    low: float
    """What only the part LOW of redraws falls short of."""
    chance: float
    """Of random components."""

    @property
    def gain(self) -> float:
        """How far it is on the way from chance to the best."""
        return 1.0 if self.share >= MOST_TOLD else (self.share - self.chance) / max(1 - self.chance, 1e-3)


def shrunk(correlations: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Correlations drawn toward 0 as far as their noise asks for, and the factors of that.

    True ones are taken as normal around 0, with a variance that the noisy ones suggest.
    """
    places = np.triu_indices(len(correlations), 1)
    squares, variances = np.square(correlations[places]), noise[places]
    spread = max(LEAST_SPREAD, float(np.mean(squares - variances)))
    for _ in range(STEPS):
        weights = 1 / np.square(spread + variances)
        spread = max(LEAST_SPREAD, math.fsum((weights * (squares - variances)).tolist()) / math.fsum(weights.tolist()))
    factors = np.where(np.eye(len(correlations)) > 0, 1.0, spread / (spread + noise))
    return np.asarray(correlations * factors), np.asarray(factors)


def strength(correlations: Floats, noise: Floats) -> float:
    """By how many of its standard deviations the sum of squared correlations, over their noise, exceeds what noise makes."""
    places = np.triu_indices(len(correlations), 1)
    ratios = np.square(correlations[places]) / noise[places]
    return (math.fsum(ratios.tolist()) - len(ratios)) / math.sqrt(5 * len(ratios))


def quality_of(matrix: Floats, variances: Floats, factors: Floats, components: int) -> Quality:
    """What so many components of a matrix with such errors are worth, if `matrix` were the true one.

    `variances` are those of the errors of its entries, which are then drawn toward the diagonal by `factors`, as noisy ones are.
    """
    size = len(matrix)
    best = float(np.linalg.eigvalsh(matrix)[::-1][:components].sum())
    if best <= 0.0:
        return Quality(0.0, 0.0, 1.0)
    upper = np.triu(np.ones((size, size))) > 0
    errors = _normal_numbers(REDRAWS, size) * np.sqrt(variances)
    errors = np.where(upper, errors, np.swapaxes(errors, 1, 2))
    vectors = np.linalg.eigh(matrix + errors * factors)[1][:, :, ::-1][:, :, :components]
    shares = np.sort(np.einsum("rik,ij,rjk->r", vectors, matrix, vectors)) / best
    chance = components * float(np.trace(matrix)) / size / best
    share, low = (min(MOST_TOLD, round(float(each), 3)) for each in (shares.mean(), shares[int(LOW * REDRAWS)]))
    return Quality(share, low, round(chance, 3))


def _normal_numbers(redraws: int, size: int) -> Floats:
    """Nearly normal numbers that are the same everywhere: sums of the digits of a public sequence."""
    bits = np.random.PCG64(1).random_raw(redraws * size * size * SUMMED)
    uniform = (bits >> np.uint64(40)).astype(np.float64).reshape(redraws, size, size, SUMMED) * 2.0**-24
    return np.asarray(uniform.sum(axis=3) - SUMMED / 2)
