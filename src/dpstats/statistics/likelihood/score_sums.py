"""Score sums: what else is summed up of the scores of rows at public parameters: their lengths, slopes and products.

Claim      Each is a `RowSum`. A row is counted in at most one cell of lengths and one of slopes; what it adds to slopes, or to
           products, has a Euclidean length of at most L2_UNITS
Why        Lengths go to public cells. Slopes are differences of the row's own scores at public parameters beside these; products
           are those of its shortened score. Both are shortened to a bound and rounded as scores are (bounded_scores.py)
Numerics   Floats up to the rounding, one coordinate after the other; whole numbers from there on
Source     score_steps.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, BoundedScores, Stand, lengths_of, whole_sums
from dpstats.statistics.regression.octaves import count_cells

ASIDE = 0.02
"""Slopes are differences of scores so far to either side, in turned coordinates."""
ACROSS = math.sqrt(2)
"""The weight of what stands beside the diagonal of a matrix, where it stands once for twice."""


@dataclass(frozen=True)
class ScoreSlopes:
    """How fast the scores of rows fall with the parameters: symmetric matrices, row by row of the upper triangle."""

    sides: tuple[tuple[BoundedScores, BoundedScores], ...]
    """For each turned coordinate the scores a little above, and below."""
    bound: float = math.inf
    """Longer triangles are shortened to it."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        return whole_sums(self.triangles(raw_rows), self.bound, self.unit).astype(np.int64)

    @property
    def unit(self) -> int:
        """The length of a triangle at the bound, in whole units."""
        return L2_UNITS - triangle_size(len(self.sides))

    def triangles(self, raw_rows: Floats) -> Floats:
        """Each row's triangle; 0 where one is no number."""
        with np.errstate(all="ignore"):
            raw_slopes = [(below.turned(raw_rows) - above.turned(raw_rows)) / (2 * ASIDE) for above, below in self.sides]
            raw_entries = [
                raw_slopes[one][:, one] if one == other else (raw_slopes[one][:, other] + raw_slopes[other][:, one]) / ACROSS
                for one, other in pairs_of(len(self.sides))
            ]
            raw_triangles = np.stack(raw_entries, axis=1)
            raw_finite = np.isfinite(lengths_of(raw_triangles))
        return np.where(raw_finite[:, None], raw_triangles, 0.0)


@dataclass(frozen=True)
class ScoreProducts:
    """Products of the coordinates of bounded scores: the upper triangle, in units of the squared bound."""

    scores: BoundedScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_turned = self.scores.turned(raw_rows)
        raw_held = raw_turned / np.maximum(lengths_of(raw_turned), self.scores.bound)[:, None]
        raw_entries = [
            raw_held[:, one] * raw_held[:, other] * (1.0 if one == other else ACROSS)
            for one, other in pairs_of(len(self.scores.theta))
        ]
        return whole_sums(np.stack(raw_entries, axis=1), 1.0, self.unit).astype(np.int64)

    @property
    def unit(self) -> int:
        """The length of the products of a score at the bound, in whole units."""
        return L2_UNITS - triangle_size(len(self.scores.theta))


@dataclass(frozen=True)
class LengthCells:
    """The cells of the lengths of scores, and then of slopes where these are wanted; those of length 0 are left out."""

    scores: BoundedScores
    slopes: ScoreSlopes | None

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        raw_lengths = count_cells(lengths_of(self.scores.turned(raw_rows)))
        if self.slopes is None:
            return raw_lengths
        return np.concatenate([raw_lengths, count_cells(lengths_of(self.slopes.triangles(raw_rows)))])


def slopes_at(stand: Stand) -> ScoreSlopes:
    """The slopes of scores there, without a bound."""
    free, size = stand.coordinates.free(stand.theta), len(stand.theta)

    def scores(step: Floats) -> BoundedScores:
        theta = stand.coordinates.held(free + np.linalg.solve(stand.root.T, step))
        turn = np.linalg.solve(stand.root, np.diag(stand.coordinates.slopes(theta)))
        return BoundedScores(stand.family, tuple(theta.tolist()), tuple(map(tuple, turn.tolist())), math.inf)

    steps = ASIDE * np.eye(size)
    return ScoreSlopes(tuple((scores(step), scores(-step)) for step in steps))


def pairs_of(size: int) -> list[tuple[int, int]]:
    """The places of an upper triangle, row by row."""
    return [(one, other) for one in range(size) for other in range(one, size)]


def triangle_size(size: int) -> int:
    """How many these are."""
    return size * (size + 1) // 2


def matrix_of_triangle(triangle: Floats, size: int) -> Floats:
    """The symmetric matrix of a triangle whose sides weigh ACROSS."""
    full = np.zeros((size, size))
    for value, (one, other) in zip(triangle, pairs_of(size), strict=True):
        full[one, other] = full[other, one] = value if one == other else value / ACROSS
    return full
