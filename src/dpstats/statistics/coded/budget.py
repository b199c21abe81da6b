"""The budget of tables of counts: what each of them may spend, share by share, and the noise that a share buys.

Claim      All that is bought from one budget is together epsilon-DP (`PureTableBudget`) or rho-zCDP (`ConcentratedTableBudget`),
           for one row added or removed, if a row moves each table that is handed in by 1 in one cell
Why        Shares add up to at most 1, and a step may be chosen by what earlier steps released: epsilons add up, and so do rhos.
           Discrete Laplace noise of scale 1 / epsilon hides a move by 1 in one cell, discrete Gaussian noise of variance
           1 / (2 rho) one of Euclidean length 1; an exponential mechanism at epsilon costs epsilon, or epsilon**2 / 8 as rho
Numerics   Shares and scales are rationals, rounded against ourselves; noise is exact
Source     tables.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.allowance import Allowance, parts_of_one, row_allowance
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]


class NoiseLaw(Protocol):
    """The law of the noise in one cell, which is public."""

    @property
    def variance(self) -> float:
        """Its variance."""
        ...

    def characteristic(self, frequencies: Floats) -> Floats:
        """Its characteristic function, which is real."""
        ...

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON."""
        ...


@dataclass(frozen=True)
class LaplaceLaw:
    """Discrete Laplace noise: the whole number k with probability in proportion to exp(-|k| / scale)."""

    scale: float

    @property
    def variance(self) -> float:
        """2 r / (1 - r)**2 with r = exp(-1 / scale)."""
        return 1 / (2 * self._steepness)

    def characteristic(self, frequencies: Floats) -> Floats:
        """(1 - r)**2 / (1 - 2 r cos t + r**2), written without a difference of nearly equal numbers."""
        return np.asarray(self._steepness / (self._steepness + np.sin(frequencies / 2) ** 2))

    @property
    def _steepness(self) -> float:
        """(1 - r)**2 / (4 r)."""
        return math.sinh(min(0.5 / self.scale, 100.0)) ** 2

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON."""
        return {"laplace_scale": self.scale}

    def __str__(self) -> str:
        return f"discrete Laplace of scale {self.scale:.6g}"


@dataclass(frozen=True)
class GaussianLaw:
    """Discrete Gaussian noise."""

    variance: float

    def characteristic(self, frequencies: Floats) -> Floats:
        """That of the continuous law at frequencies folded into [-pi, pi]: from a variance of 1 on both agree to 8 digits."""
        folded = np.abs((frequencies + math.pi) % (2 * math.pi) - math.pi)
        return np.exp(-self.variance * folded**2 / 2)

    def to_dict(self) -> dict[str, float]:
        """Plain values for JSON."""
        return {"gaussian_variance": self.variance}

    def __str__(self) -> str:
        return f"discrete Gaussian of standard deviation {math.sqrt(self.variance):.6g}"


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts with noise, and its law."""

    noisy_counts: Whole
    law: NoiseLaw

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"counts": self.noisy_counts.tolist(), "noise": self.law.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NoisyTable:
        """The table that `to_dict` made plain."""
        noise = plain["noise"]
        law = LaplaceLaw(noise["laplace_scale"]) if "laplace_scale" in noise else GaussianLaw(noise["gaussian_variance"])
        return cls(np.array(plain["counts"], dtype=np.int64), law)


class TableBudget(Protocol):
    """What is left to spend, in shares of the whole."""

    left: Fraction
    is_concentrated: bool

    def noisy(self, raw_counts: Whole, share: Fraction) -> NoisyTable:
        """A table with noise in every cell."""
        ...

    def law(self, share: Fraction) -> NoiseLaw:
        """The noise that a share buys."""
        ...

    def draw_epsilon(self, share: Fraction) -> Fraction:
        """The epsilon at which an exponential mechanism may draw for a share."""
        ...

    def shares_for(self, weights: Floats) -> list[Fraction]:
        """Parts of 1 that make the sum of weight times variance least."""
        ...


class _TableAllowance(Allowance):
    """Shares that buy noise for tables."""

    def __init__(self, whole: Fraction, rng: RandomSource) -> None:
        super().__init__(whole)
        self._rng = rng


class PureTableBudget(_TableAllowance):
    """An epsilon to spend, without delta."""

    def noisy(self, raw_counts: Whole, share: Fraction) -> NoisyTable:
        """Discrete Laplace noise."""
        noise = sample_discrete_laplace(1 / self.take(share), raw_counts.size, self._rng)
        return NoisyTable(raw_counts + np.asarray(noise, dtype=np.int64).reshape(raw_counts.shape), self.law(share))

    def law(self, share: Fraction) -> LaplaceLaw:
        """Discrete Laplace noise that hides a move by 1."""
        return LaplaceLaw(float(1 / self.worth(share)))

    def shares_for(self, weights: Floats) -> list[Fraction]:
        """In proportion to the cube roots of the weights, because variances fall with the square of a share."""
        return parts_of_one([weight ** (1 / 3) for weight in weights.tolist()])


class ConcentratedTableBudget(_TableAllowance):
    """A rho of zero-concentrated privacy to spend."""

    is_concentrated = True

    def noisy(self, raw_counts: Whole, share: Fraction) -> NoisyTable:
        """Discrete Gaussian noise."""
        noise = sample_discrete_gaussian(self.variance_for(share), raw_counts.size, self._rng)
        return NoisyTable(raw_counts + np.asarray(noise, dtype=np.int64).reshape(raw_counts.shape), self.law(share))

    def variance_for(self, share: Fraction) -> Fraction:
        """The variance of discrete Gaussian noise that hides a move by 1, for whoever adds it himself."""
        return 1 / (2 * self.take(share))

    def law(self, share: Fraction) -> GaussianLaw:
        """Discrete Gaussian noise that hides a move by 1."""
        return GaussianLaw(float(1 / (2 * self.worth(share))))

    def shares_for(self, weights: Floats) -> list[Fraction]:
        """In proportion to the square roots of the weights, because variances fall with a share."""
        return parts_of_one([weight**0.5 for weight in weights.tolist()])


def table_budget(epsilon: Fraction, delta: Fraction, neighbors: Neighbors, rng: RandomSource) -> TableBudget:
    """The budget of an epsilon, or with delta of the rho that both allow; a changed row is one removed and one added."""
    kind = ConcentratedTableBudget if delta else PureTableBudget
    return kind(row_allowance(epsilon, delta, neighbors), rng)
