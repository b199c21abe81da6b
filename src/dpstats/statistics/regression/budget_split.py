"""The budget of a regression: what its steps may spend, share by share, and the noise that a share buys.

Claim      All that is bought from one budget is together epsilon-DP (`PureBudgetSplit`) or (epsilon, delta)-DP
           (`ConcentratedBudgetSplit`), for one row added or removed, if the sums that are handed in move by no more than they
           are said to
Why        Shares add up to at most 1, and a step may be chosen by what earlier steps released: epsilons add up, and so do the
           rhos of zero-concentrated privacy. A pure share buys spherical Laplace noise, or a draw of the exponential
           mechanism; a concentrated one discrete Gaussian noise, or a draw at the epsilon with epsilon**2 / 8 = rho
Numerics   Shares and scales are rationals, rounded against ourselves; noise is exact. Deviations are floats, for planning only
Source     steps.proof.md; adaptive shares: Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from dpstats.accounting.allowance import Allowance, part, row_allowance
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question
from dpstats.mechanisms.gaussian import sample_discrete_gaussian
from dpstats.mechanisms.spherical_laplace import sample_spherical_laplace


class BudgetSplit(Protocol):
    """What is left to spend, in shares of the whole."""

    left: Fraction

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        """Sums with noise that hides a row, which moves them by at most so much in Euclidean length; and its deviation."""
        ...

    def draw_epsilon(self, share: Fraction) -> Fraction:
        """The epsilon at which an exponential mechanism may draw for a share."""
        ...

    def deviation(self, share: Fraction, coordinates: int) -> float:
        """About the standard deviation of noise on that many sums, where a row moves them by 1 in Euclidean norm."""
        ...

    def share_for_draw(self, epsilon: float) -> Fraction:
        """The share at which `draw_epsilon` is about this."""
        ...

    def share_for_deviation(self, deviation: float, coordinates: int) -> Fraction:
        """The share at which `deviation` is about this."""
        ...


class _Split(Allowance):
    """Shares that buy noise."""

    def __init__(self, whole: Fraction, rng: RandomSource) -> None:
        super().__init__(whole)
        self.rng = rng


class PureBudgetSplit(_Split):
    """An epsilon to spend, without delta."""

    @property
    def epsilon_left(self) -> Fraction:
        """What is left to spend; what rows may cost besides that take part in nothing that is bought from now on."""
        return self.worth(self.left)

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        """Spherical Laplace noise."""
        noise = sample_spherical_laplace(l2_units / self.take(share), len(raw_sums), self.rng)
        return _sums(raw_sums, noise.tolist()), l2_units * self.deviation(share, len(raw_sums))

    def deviation(self, share: Fraction, coordinates: int) -> float:
        """The standard deviation of the noise that a share buys, which grows with the root of the number of coordinates."""
        return math.sqrt(coordinates + 1) / float(self.worth(share))

    def share_for_draw(self, epsilon: float) -> Fraction:
        """The share for a draw at `epsilon`, in proportion to it."""
        return part(epsilon / float(self.whole))

    def share_for_deviation(self, deviation: float, coordinates: int) -> Fraction:
        """The share for noise of a `deviation`, in proportion to one over it."""
        return part(self.deviation(Fraction(1), coordinates) / deviation)


class ConcentratedBudgetSplit(_Split):
    """A rho of zero-concentrated privacy to spend."""

    is_concentrated = True

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        """Discrete Gaussian noise."""
        variance = l2_units**2 / (2 * self.take(share))
        noise = sample_discrete_gaussian(variance, len(raw_sums), self.rng)
        return _sums(raw_sums, noise.tolist()), math.sqrt(variance)

    def deviation(self, share: Fraction, coordinates: int) -> float:
        """The same for any number of coordinates."""
        return 1 / math.sqrt(2 * self.worth(share))

    def share_for_draw(self, epsilon: float) -> Fraction:
        """The share for a draw at `epsilon`, which grows with its square."""
        return part(epsilon**2 / float(8 * self.whole))

    def share_for_deviation(self, deviation: float, coordinates: int) -> Fraction:
        """The share for noise of a `deviation`, which falls with its square."""
        return part(1 / (2 * float(self.whole) * deviation**2))


def budget_split_for(question: Question, rng: RandomSource) -> BudgetSplit:
    """The budget of a question; under CHANGE_ONE a row is removed and one added, which every step must hide."""
    kind = ConcentratedBudgetSplit if question.delta else PureBudgetSplit
    return kind(row_allowance(question.epsilon, question.delta, question.neighbors), rng)


def _sums(raw_sums: Sequence[int], noise: Sequence[int]) -> list[int]:
    return [raw + drawn for raw, drawn in zip(raw_sums, noise, strict=True)]
