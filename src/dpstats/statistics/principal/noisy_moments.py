"""Noisy moments: what a release of principal components keeps, in whole numbers, and the matrix that follows from it.

Only released numbers enter. Everything is computed in a fixed order, so that it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.sums import matrix_of


@dataclass(frozen=True)
class NoisyMoments:
    """Sums of coordinates and of their products with noise, and what turns them into means and covariances."""

    middles: tuple[float, ...]
    scales: tuple[float, ...]
    noisy_rows: int
    sums: tuple[int, ...]
    """Of each coordinate times `one`, then of the products of all pairs of columns, in squared units; weighted."""
    weights: tuple[int, int]
    """Of squares, and of all other sums."""
    unit: int
    """Whole units of a scale."""
    one: int
    """The coordinate that every row has alike."""
    bound: float
    """How large a row may be, in squared scales, before it is drawn toward the middle."""
    larger: float
    """About the part of the rows that is larger."""
    deviation: float
    """The standard deviation of the noise on a weighted sum."""

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.middles)

    @property
    def means(self) -> Floats:
        """The means of the columns less their middles, in scales."""
        whole = np.array(self.sums[: self.columns], dtype=np.float64)
        return whole / (float(self.weights[1]) * self.one * self.unit * self.noisy_rows)

    @property
    def covariance(self) -> Floats:
        """The covariances of the columns, in scales."""
        triangle = np.array(self.sums[self.columns :], dtype=np.float64)
        products = matrix_of(triangle, self.columns) / (self._weights * float(self.unit**2) * self.noisy_rows)
        return np.asarray(products - self.means[:, None] * self.means)

    @property
    def noise(self) -> Floats:
        """The variance of the noise in each covariance."""
        in_products = self.deviation / (self._weights * float(self.unit**2) * self.noisy_rows)
        in_means = self.deviation / (float(self.weights[1]) * self.one * self.unit * self.noisy_rows)
        squares = np.square(self.means)
        twice = np.where(np.eye(self.columns) > 0, 2.0, 1.0)
        return np.asarray(np.square(in_products) + twice * (squares[:, None] + squares) * in_means**2)

    @property
    def _weights(self) -> Floats:
        return np.where(np.eye(self.columns) > 0, float(self.weights[0]), float(self.weights[1]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NoisyMoments:
        """The moments that `to_dict` made plain."""
        fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
        return cls(**fields)
