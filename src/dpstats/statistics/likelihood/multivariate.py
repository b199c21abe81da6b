"""Multivariate normal laws.

Means and covariances of blocks are unbiased: covariances are sums of products divided by one less than the number of rows. Rows
with an infinity are left out. Sums go over the rows of a block one after the other, and products are made row by row, because a
matrix product may round a row differently when there are other rows beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_groups import finite_rows, without_halves
from dpstats.statistics.likelihood.normal import Normal
from dpstats.statistics.likelihood.quartiles import LARGEST

LEAST_SHARE = 1e-9
"""An eigenvalue of a covariance matrix is at least this share of the largest."""


@dataclass(frozen=True)
class MultivariateNormal:
    """A normal law of several columns: their means, and the upper triangle of their covariance matrix row by row."""

    columns: int
    name = "multivariate_normal"
    bias_correction = "covariances divided by one less than the rows of the block: unbiased"

    @property
    def parameters(self) -> tuple[str, ...]:
        """mean_1, mean_2, ..., cov_1_1, cov_1_2, ..., cov_2_2, ..."""
        means = [f"mean_{column + 1}" for column in range(self.columns)]
        return (*means, *(f"cov_{one + 1}_{other + 1}" for one, other in self._pairs))

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """Variances are positive; that the whole matrix must be, ranges cannot say."""
        anything = (-np.inf, np.inf)
        return (*[anything] * self.columns, *((0.0, np.inf) if one == other else anything for one, other in self._pairs))

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Means and unbiased covariances; none where a block has no more rows than columns."""
        raw_finite = finite_rows(raw_blocks)
        raw_estimates = np.full((raw_blocks.blocks, len(self.parameters)), np.nan)
        with np.errstate(all="ignore"):
            raw_offs = []
            for column in range(self.columns):
                raw_means = raw_finite.means(raw_finite.raw_rows[:, column])
                raw_estimates[:, column] = raw_means
                raw_offs.append(raw_finite.raw_rows[:, column] - raw_finite.of_rows(raw_means))
            for place, (one, other) in enumerate(self._pairs, self.columns):
                raw_estimates[:, place] = raw_finite.sums(raw_offs[one] * raw_offs[other]) / (raw_finite.raw_counts - 1)
        raw_estimates[raw_finite.raw_counts <= self.columns] = np.nan
        return without_halves(raw_estimates)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The vector of means and the matrix of covariances."""
        return {"mean": values[: self.columns].copy(), "cov": self._covariance(values)}

    def matrix(self, triangle: Floats) -> Floats:
        """The symmetric matrix with this upper triangle."""
        full = np.zeros((self.columns, self.columns))
        for value, (one, other) in zip(triangle, self._pairs, strict=True):
            full[one, other] = full[other, one] = value
        return full

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """By a mean the standardised row, by a covariance its products less what they are on average."""
        precision = np.linalg.inv(self._covariance(theta))
        raw_scores = np.empty((len(raw_rows), len(self.parameters)))
        with np.errstate(all="ignore"):
            raw_offs = [raw_rows[:, column] - theta[column] for column in range(self.columns)]
            for column in range(self.columns):
                # row by row, whatever rows are beside
                raw_parts = [off * weight for off, weight in zip(raw_offs, precision[column], strict=True)]
                raw_scores[:, column] = reduce(np.add, raw_parts)
            for place, (one, other) in enumerate(self._pairs, self.columns):
                raw_products = raw_scores[:, one] * raw_scores[:, other] - precision[one, other]
                raw_scores[:, place] = raw_products * (0.5 if one == other else 1.0)
        raw_scores[~np.isfinite(raw_scores).all(axis=1)] = 0.0
        return raw_scores

    def information(self, theta: Floats) -> Floats:
        """The Fisher information in closed form; means and covariances are orthogonal."""
        precision = np.linalg.inv(self._covariance(theta))
        units = np.stack([self.matrix(unit) for unit in np.eye(len(self._pairs))]) @ precision
        information = np.zeros((len(self.parameters), len(self.parameters)))
        information[: self.columns, : self.columns] = precision
        information[self.columns :, self.columns :] = np.einsum("aij,bji->ab", units, units) / 2
        return information

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Normal rows, turned by a root of the covariance matrix."""
        root = np.linalg.cholesky(self._covariance(theta))
        return np.asarray(generator.standard_normal((count, self.columns)) @ root.T + theta[: self.columns], dtype=np.float64)

    def guess_columns(self, quantiles: Sequence[Mapping[float, float]]) -> Floats:
        """Columns that do not go together, each with the middle and the spread of its quartiles."""
        normals = [Normal().guess(each) for each in quantiles]
        variances = {(column, column): std**2 for column, (_, std) in enumerate(normals)}
        return np.array([*(mean for mean, _ in normals), *(variances.get(pair, 0.0) for pair in self._pairs)])

    def statistics(self, raw_rows: Floats) -> Floats:
        """The columns, and their products by pairs in the order of the covariances."""
        with np.errstate(all="ignore"):
            raw_products = [raw_rows[:, one] * raw_rows[:, other] for one, other in self._pairs]
        raw_statistics = np.column_stack([raw_rows, *raw_products]).astype(np.float64)
        raw_statistics[~np.isfinite(raw_rows).all(axis=1)] = np.nan
        return raw_statistics

    def solve(self, means: Floats) -> Floats:
        """Means, and the nearest covariance matrix that is one."""
        middle, covariance = self.solved(means)
        return np.array([*middle, *(covariance[pair] for pair in self._pairs)])

    def solved(self, means: Floats) -> tuple[Floats, Floats]:
        """Means, held so that their squares are numbers, and the covariance matrix."""
        middle = np.clip(means[: self.columns], -LARGEST, LARGEST)
        products = np.clip(means[self.columns :], -(LARGEST**2), LARGEST**2)
        return middle, nearest_covariance(self.matrix(products) - np.outer(middle, middle))

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(one, other) for one in range(self.columns) for other in range(one, self.columns)]

    def _covariance(self, theta: Floats) -> Floats:
        return nearest_covariance(self.matrix(theta[self.columns :]))


def nearest_covariance(matrix: Floats) -> Floats:
    """The symmetric matrix with its small and negative eigenvalues raised to a small share of the largest."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    largest = max(float(np.abs(eigenvalues).max()), float(np.finfo(np.float64).tiny) / LEAST_SHARE)
    raised = np.maximum(eigenvalues, LEAST_SHARE * largest)
    if np.array_equal(raised, eigenvalues):
        return np.asarray(matrix, dtype=np.float64)
    nearest = (vectors * raised) @ vectors.T
    return np.asarray((nearest + nearest.T) / 2, dtype=np.float64)
