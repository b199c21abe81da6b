"""Turnout: whether enough blocks gave an answer, by a noisy count of them.

Claim      epsilon-DP, where epsilon is what is given for it
Neighbors  At most `overlap` votes changed; the number of blocks is public
Why        The number of blocks that answered moves by at most `overlap`, and discrete Laplace noise of that scale hides it. The
           verdict is read off the noisy number
Numerics   Whole numbers
Source     aggregators.proof.md, Lemma 1
"""

from __future__ import annotations

from dataclasses import dataclass
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
    "Try the function on made-up rows of the same form. If it returns several numbers, say how many by outputs=; if it returns "
    "labels, take aggregate='stable' or 'argmax'. Larger blocks (fewer of them), or a larger epsilon, help too.",
)


def answered(raw_votes: Floats) -> NDArray[np.bool_]:
    """Which blocks gave an answer: those whose row of votes has no NaN."""
    return np.asarray(~np.isnan(raw_votes).any(axis=1))


def turnout_epsilon(blocks: int, epsilon: Fraction, overlap: int = 1) -> Fraction:
    """What the count of answers gets of a whole epsilon; by public things alone."""
    return min(epsilon * TURNOUT_SHARE, Fraction(TURNOUT_NATS * overlap, max(1, blocks)))


@dataclass(frozen=True)
class Turnout:
    """A noisy number of blocks that gave an answer."""

    noisy_answered: int
    blocks: int
    reach: int
    """With a chance of at most WRONGLY noise takes this many away, and with the same chance adds as many."""

    @property
    def is_too_small(self) -> bool:
        """Whether it is below half of all, as surely as the noise allows."""
        return 2 * (self.noisy_answered + self.reach) < self.blocks

    @property
    def missing(self) -> float:
        """The share of blocks without an answer, as far as that is sure."""
        return min(1.0, max(0, self.blocks - self.noisy_answered - self.reach) / self.blocks)


def count_answers(raw_answered: int, blocks: int, epsilon: Fraction, rng: RandomSource, overlap: int = 1) -> Turnout:
    """Count the blocks that answered, with noise for one row that is in `overlap` of them."""
    scale = overlap / epsilon
    noisy_answered = raw_answered + int(sample_discrete_laplace(scale, 1, rng)[0])
    return Turnout(noisy_answered, blocks, noise_quantile(scale, WRONGLY))
