"""An allowance: one budget, an epsilon or the rho of zero-concentrated privacy, of which steps take shares.

Claim      Steps that each cost no more than their share is worth cost together no more than the whole, although every step and
           every share may be chosen by what earlier steps released
Neighbors  Whichever relation the steps' own claims are for; `row_allowance` gives the whole for one row added or removed
Why        Shares add up to at most 1: what is not left cannot be taken. Epsilons add up, and so do rhos
Numerics   Shares are rationals, and nothing is rounded; the epsilon of a draw is rounded down
Source     allowance.proof.md; Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpstats.accounting.concentration import zcdp_within
from dpstats.accounting.groups import steps_between
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.rounding import sqrt_bounds

FINEST = 10**6
"""`part` gives whole multiples of 1 / FINEST: a change here moves the noise of regressions, correlations and clusters."""
FINEST_OF_MANY = 10**9
"""`parts_of_one` gives whole multiples of 1 / FINEST_OF_MANY, because a thousand tables may share one budget."""


class Allowance:
    """One budget to spend, in shares of the whole."""

    is_concentrated = False
    """Whether the whole is a rho, and not an epsilon."""

    def __init__(self, whole: Fraction) -> None:
        self.whole = whole
        self.left = Fraction(1)

    def worth(self, share: Fraction) -> Fraction:
        """The epsilon or the rho that a share stands for."""
        return self.whole * share

    def take(self, share: Fraction) -> Fraction:
        """Take a share of what is left, and say what it is worth; an error if there is less."""
        if not 0 < share <= self.left:
            raise DpstatsError("a question cannot spend more than it was given.")
        self.left -= share
        return self.worth(share)

    def draw_epsilon(self, share: Fraction) -> Fraction:
        """Take a share for one draw of an exponential mechanism, and give its epsilon, of which a rho is epsilon**2 / 8."""
        worth = self.take(share)
        return sqrt_bounds(8 * worth)[0] if self.is_concentrated else worth


def row_allowance(epsilon: Fraction, delta: Fraction, neighbors: Neighbors) -> Fraction:
    """The epsilon, or with a delta the rho, that steps may spend on one row added or removed; a changed row is one of each."""
    moves = steps_between(neighbors, 1)
    return zcdp_within(epsilon, delta) / moves**2 if delta else epsilon / moves


def part(share: float) -> Fraction:
    """A share as a rational, rounded down to the finest, and at least that."""
    return Fraction(max(1, math.floor(min(1.0, share) * FINEST)), FINEST)


def parts_of_one(sizes: list[float]) -> list[Fraction]:
    """Positive fractions in about these proportions that add up to at most 1."""
    total, fine = math.fsum(sizes), FINEST_OF_MANY - len(sizes)
    return [Fraction(1 + math.floor(fine * size / total * (1 - 1e-12)), FINEST_OF_MANY) for size in sizes]
