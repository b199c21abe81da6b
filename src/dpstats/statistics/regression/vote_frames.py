"""A private frame for the coefficients: where votes of blocks put them, and how far apart these votes are.

Claim      epsilon-DP, where epsilon is what is given for centres and votes together
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        A universal median of each feature, at equal parts of the centres' epsilon. Then blocks of as many rows as there are
           coefficients vote (ballots.py). One row changes one vote, so the quartiles of each coefficient's votes are universal
           quantiles under CHANGE_ONE, at equal parts of the votes' epsilon. The rest is made from released numbers
Numerics   As blocks.py, solves.py and universal/single.py
Source     robust_regression.proof.md; scales from votes: Dwork & Lei 2009, Algorithm R_u
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.regression.ballots import raw_votes_of
from dpstats.statistics.regression.blocks import MOST_SLOTS, fill_blocks
from dpstats.statistics.regression.ratios import CoefficientFrame, Floats
from dpstats.statistics.universal.decimals import float_of
from dpstats.statistics.universal.single import draw_quantile

QUARTILES = (Fraction(1, 4), Fraction(3, 4))
MIDDLE = Fraction(1, 2)
LEAST_SCALE = 2.0**-20
"""Votes that agree have a scale of so much of their size, so that a fit without errors has cells too."""
CENTRE_DIGITS = 4
"""Centres are rounded to this many digits: with a plain number taken off, votes that are plain numbers stay so, and tied."""
LARGEST_NUMBER = 2.0**500


def draw_frame(
    raw_matrix: Floats,
    public_rows: int,
    *,
    intercept: bool,
    centres_epsilon: Fraction,
    votes_epsilon: Fraction,
    neighbors: Neighbors,
    rng: RandomSource,
) -> CoefficientFrame:
    """A frame for rows whose last column is the outcome; `public_rows` is a public or noisy number of them."""
    features = raw_matrix.shape[1] - 1
    size = features + intercept
    centres = (0.0,) * features
    if intercept:
        columns = (VotesColumn(raw_matrix[:, place]) for place in range(features))
        medians = (_drawn(column, MIDDLE, centres_epsilon / features, neighbors, rng) for column in columns)
        centres = tuple(float(f"{median:.{CENTRE_DIGITS - 1}e}") for median in medians)
    with np.errstate(all="ignore"):
        raw_centred = raw_matrix - np.array([*centres, 0.0])
    blocks = max(1, min(public_rows, MOST_SLOTS) // size)
    raw_votes = raw_votes_of(fill_blocks(raw_centred, blocks, size, rng), intercept)
    middles, scales = [], []
    for place in range(size):
        column = VotesColumn(raw_votes[:, place])
        ends = [_drawn(column, q, votes_epsilon / (2 * size), Neighbors.CHANGE_ONE, rng) for q in QUARTILES]
        low, high = min(ends), max(ends)
        middles.append(low / 2 + high / 2)
        scales.append((high / 2 - low / 2) or max(LEAST_SCALE * abs(middles[-1]), LEAST_SCALE))
    return CoefficientFrame(centres, tuple(middles), tuple(scales))


def _drawn(column: VotesColumn, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource) -> float:
    value = float_of(draw_quantile(column, quantile, epsilon, neighbors, rng))
    return max(-LARGEST_NUMBER, min(LARGEST_NUMBER, value))
