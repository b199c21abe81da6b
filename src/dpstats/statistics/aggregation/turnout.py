"""Turnout: whether enough blocks gave an answer, by a noisy count of them.

Claim      epsilon-DP, where epsilon is what is given for it
Neighbors  At most `overlap` votes changed; the number of blocks is public
Why        The number of blocks that answered moves by at most `overlap`, and discrete Laplace noise of that scale hides it. The
           verdict is read off the noisy number
Numerics   Whole numbers
Source     aggregators.proof.md, Lemma 1
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.distance_tests import noise_quantile
from dpstats.statistics.aggregation.row_blocks import Floats

TURNOUT_SHARE, TURNOUT_NATS = Fraction(1, 10), 20
"""The count of answers gets this part of epsilon at most, and this much over the number of blocks."""
WRONGLY = Fraction(1, 50)
"""Where half of the blocks or more gave an answer, they are found to be too few with at most this chance."""
TOO_FEW_ANSWERS = Refusal(
    "Fewer than half of the blocks gave an answer of the declared shape, by a noisy count of them.",
    "Try the function on made-up rows of the same form; larger blocks (fewer of them), or a larger epsilon, help too.",
)


def answered(raw_votes: Floats) -> NDArray[np.bool_]:
    """Which blocks gave an answer: those whose row of votes has no NaN."""
    return np.asarray(~np.isnan(raw_votes).any(axis=1))


def turnout_epsilon(blocks: int, epsilon: Fraction, overlap: int = 1) -> Fraction:
    """What the count of answers gets of a whole epsilon; by public things alone."""
    return min(epsilon * TURNOUT_SHARE, Fraction(TURNOUT_NATS * overlap, max(1, blocks)))


def too_few_answered(raw_answered: int, blocks: int, epsilon: Fraction, rng: RandomSource, overlap: int = 1) -> bool:
    """Whether the number of blocks that answered is below half of all, as surely as its noise allows."""
    scale = overlap / epsilon
    noisy_answered = raw_answered + int(sample_discrete_laplace(scale, 1, rng)[0])
    return 2 * (noisy_answered + noise_quantile(scale, WRONGLY)) < blocks
