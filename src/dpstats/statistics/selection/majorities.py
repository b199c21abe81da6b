"""The features that more than half of the blocks took, where having an answer is one more feature.

Claim      epsilon-DP
Neighbors  One block's set changes, in any way; the numbers of blocks and features are public
Why        One changed block moves the count of every feature by at most 1. By counts: one noise for all of them, which falls
           with its largest coordinate (mechanisms/cube_laplace.py). By sets: a draw among sets of a bounded number
           (bounded_sets.py). Blocks with an answer are counted like the blocks that took a feature, in the same draw; where
           they are no majority there is no reply
Numerics   Counts are whole numbers, noise is in units of FINENESS to a vote; exact
Source     Dwork & Roth 2014, Example 7.2: feature by feature
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.mechanisms.cube_laplace import sample_cube_laplace
from dpstats.statistics.selection.bounded_sets import draw_bounded_set
from dpstats.statistics.selection.lasso_sets import FeatureSet

FINENESS = 1 << 20
NO_ANSWERS = Refusal(
    "Half of the blocks of rows or more have no answer, by noisy counts.",
    "More rows help, or fewer blocks, which have more rows each.",
)
ANSWERED = 0
"""The place of the mark that a block has an answer; features come after it."""


@dataclass(frozen=True)
class Majority:
    """The features that a majority took."""

    chosen: FeatureSet
    shares: tuple[float, ...] | None = None
    """For each of all features the noisy share of blocks that took it, where there are noisy counts."""


def raw_marks_of(raw_sets: Sequence[FeatureSet | None], features: int) -> NDArray[np.bool_]:
    """Blocks by marks: whether it has an answer, and then for each feature whether it took it."""
    raw_marks = np.zeros((len(raw_sets), features + 1), dtype=np.bool_)
    for place, raw_set in enumerate(raw_sets):
        if raw_set is not None:
            raw_marks[place, [ANSWERED, *(feature + 1 for feature in raw_set)]] = True
    return raw_marks


def majority_by_counts(
    raw_sets: Sequence[FeatureSet | None], features: int, epsilon: Fraction, rng: RandomSource
) -> Majority | Refusal:
    """The features whose noisy counts are above half of the blocks."""
    blocks = len(raw_sets)
    noise = sample_cube_laplace(FINENESS / epsilon, features + 1, rng)
    raw_counts = raw_marks_of(raw_sets, features).sum(axis=0).tolist()
    noisy_counts = [raw_count * FINENESS + int(drawn) for raw_count, drawn in zip(raw_counts, noise, strict=True)]
    chosen = tuple(place for place, noisy_count in enumerate(noisy_counts) if 2 * noisy_count > blocks * FINENESS)
    shares = tuple(min(max(noisy_count / (blocks * FINENESS), 0.0), 1.0) for noisy_count in noisy_counts[1:])
    return _of_answers(chosen, shares)


def majority_by_sets(
    raw_sets: Sequence[FeatureSet | None], features: int, at_most: int, epsilon: Fraction, rng: RandomSource
) -> Majority | Refusal:
    """A set of at most `at_most` features, near to those of the majority."""
    return _of_answers(draw_bounded_set(raw_marks_of(raw_sets, features), at_most + 1, epsilon, rng))


def _of_answers(chosen: FeatureSet, shares: tuple[float, ...] | None = None) -> Majority | Refusal:
    if ANSWERED not in chosen:
        return NO_ANSWERS
    return Majority(tuple(place - 1 for place in chosen if place != ANSWERED), shares)
