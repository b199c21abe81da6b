"""Means of votes without a range: a private middle and spread say where votes lie; what is far from there counts as the end.

Claim      epsilon-DP
Neighbors  One row of votes changed in any way; the number of blocks is public
Why        The middle of each coordinate is a universal median under CHANGE_ONE; the spread a median of how far votes are from
           it, by octaves, for one vote removed and one added. Coordinates get equal parts. The range around the middle is
           released then, and the mean within it (bounded_means.py) gets the rest
Numerics   Exact draws, whole numbers up to the noise of the means, floats after that
Source     aggregators.proof.md; the robust average in place of T*'s own: Dwork & Smith 2009, section 3.1.3
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.aggregation.bounded_means import VoteCut, release_means
from dpstats.statistics.aggregation.ranges import LARGEST, Range
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.regression.octaves import count_cells, draw_magnitude
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.single import draw_quantile

MIDDLE = Fraction(1, 2)
MIDDLE_SHARE = Fraction(1, 2)
"""The middle's part of what is not for the mean; the rest is the spread's, a median of distances from it."""
NATS, LEAST_SHARE, MOST_SHARE = 160, Fraction(8, 100), Fraction(1, 2)
"""Middle and spread of one coordinate get so much over the number of blocks, within these shares of the whole."""
ROOM = 8.0
"""The range reaches this many spreads to either side: about five deviations of normal votes, as blocks' estimates are skewed."""
LIKELY_MOST = 2.0**300
"""Where few votes tell of the spread, it is drawn near the size of the middle, up to this: rather too large than too small."""
FINEST = 1e-9
"""A range is at least so wide in units of its middle, so that there is something to divide."""


def release_centred(
    raw_votes: Floats, epsilon: Fraction, level: Fraction | None, rng: RandomSource
) -> tuple[tuple[float, ...], tuple[Interval, ...]]:
    """The mean of each coordinate of the votes, and its interval; NaN votes count as the middle of the range that is found."""
    blocks, coordinates = raw_votes.shape
    share = centre_share(blocks, coordinates, epsilon)
    ranges = tuple(_range(raw_votes[:, place], epsilon * share / coordinates, rng) for place in range(coordinates))
    return release_means(raw_votes, ranges, VoteCut(), (None,) * coordinates, epsilon * (1 - share), level, rng)


def centre_share(blocks: int, coordinates: int, epsilon: Fraction) -> Fraction:
    """The part of epsilon for the middles and spreads of all coordinates together."""
    return min(max(NATS * coordinates / (blocks * epsilon), LEAST_SHARE), MOST_SHARE)


def fewest_blocks(coordinates: int, epsilon: Fraction) -> int:
    """How many blocks it takes for middles and spreads that can be relied on; with fewer they may be absurd, unnoticed."""
    return math.ceil(NATS * coordinates / (MOST_SHARE * epsilon))


def _range(raw_column: Floats, epsilon: Fraction, rng: RandomSource) -> Range:
    """A range around the private middle of one coordinate; votes without an answer are far up or down by their place."""
    raw_far = np.where(np.arange(len(raw_column)) % 2 == 0, -np.inf, np.inf)
    raw_full = np.where(np.isnan(raw_column), raw_far, raw_column)
    drawn = draw_quantile(VotesColumn(raw_full), MIDDLE, epsilon * MIDDLE_SHARE, Neighbors.CHANGE_ONE, rng)
    middle = max(-LARGEST, min(LARGEST, nearest_float(fraction_of(drawn))))
    raw_distances = np.abs(np.clip(raw_full, -LARGEST, LARGEST) - middle)
    one_vote = epsilon * (1 - MIDDLE_SHARE) / 2
    spread = draw_magnitude(count_cells(raw_distances).tolist(), one_vote, rng, likely=min(abs(middle), LIKELY_MOST) or 1.0)
    reach = max(ROOM * spread, FINEST * max(abs(middle), FINEST))
    return Range(max(-LARGEST, middle - reach), min(LARGEST, middle + reach))
