"""Losses of universal quantiles: at most rho / epsilon**2, where rho is their cost in zero-concentrated privacy.

A draw counts with an eighth of its squared share of epsilon and noise with half of it; steps on the same rows add up, and of
steps on different rows the largest counts. Shares that depend on a noisy number of rows enter at the ends of their ranges,
because the sums are convex in them. A changed row is served as one removed and one added at half of epsilon, and a group of two
costs four times as much: the same. The proof: ends.proof.md.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from dpstats.statistics.universal.grain import GRAIN_SHARE
from dpstats.statistics.universal.intervals import ENDS, ROWS_SHARE, SCALE
from dpstats.statistics.universal.tails import COUNT_SHARE, MEDIAN_SHARE, SCALE_SHARE, TAIL_SHARE

DRAW, NOISE = Fraction(1, 8), Fraction(1, 2)


def loss_of_one() -> Fraction:
    """rho / epsilon**2 of one quantile, in the middle or in a tail, with an interval or without, after its rows were counted.

    Ballots draw one without counting.
    """
    point = max(_single(), _in_tail())
    bounded = [
        ROWS_SHARE**2 * NOISE + (scale**2 + ends**2) * DRAW + (1 - ROWS_SHARE - scale - ends) ** 2 * point
        for scale, ends in product(SCALE.ends(), ENDS.ends())
    ]
    open_ended = ROWS_SHARE**2 * NOISE + (1 - ROWS_SHARE) ** 2 * point
    return max(point, open_ended, *bounded)


def loss_of_several(root_share: Fraction | None = None) -> Fraction:
    """rho / epsilon**2 of two quantiles or more by recursive halving, with intervals or without.

    Shares along a path of the tree add up to 1, and so their squares to 1 at most.
    """
    squares = Fraction(1) if root_share is None else root_share**2 + (1 - root_share) ** 2
    bounded = [ROWS_SHARE**2 * NOISE + ends**2 * DRAW + (1 - ROWS_SHARE - ends) ** 2 * squares * DRAW for ends in ENDS.ends()]
    open_ended = ROWS_SHARE**2 * NOISE + (1 - ROWS_SHARE) ** 2 * squares * DRAW
    return max(open_ended, *bounded)


def _single() -> Fraction:
    """rho / epsilon**2 of a look at the grain and one draw."""
    return GRAIN_SHARE**2 * NOISE + (1 - GRAIN_SHARE) ** 2 * DRAW


def _in_tail() -> Fraction:
    """rho / epsilon**2 of a noisy number of rows, and then of a single draw or three."""
    three = (MEDIAN_SHARE**2 + SCALE_SHARE**2 + TAIL_SHARE**2) * DRAW
    return COUNT_SHARE**2 * NOISE + (1 - COUNT_SHARE) ** 2 * max(_single(), three)
