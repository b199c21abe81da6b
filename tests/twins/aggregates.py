"""Broken twins of what is made of votes: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from dpstats.mechanisms.distance_tests import BestTest
from dpstats.statistics.aggregation.ranges import STEPS, Range
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.testing.noise import difference_tail
from tests.laws.mechanisms import discrete_laplace_law, exponential_of_minus
from tests.laws.spherical import Point


def bare_half_side(noise: Point, scale: Fraction) -> Fraction:
    """Mistake: the half side of the cube is geometric, as if all cubes held equally many points; small noise is too likely."""
    return _cubes_from(max(abs(part) for part in noise), len(noise), scale)


@functools.lru_cache(maxsize=256)
def _cubes_from(largest: int, coordinates: int, scale: Fraction) -> Fraction:
    last = largest + math.ceil(60 * scale)
    return sum((exponential_of_minus(half / scale) / (2 * half + 1) ** coordinates for half in range(largest, last)), Fraction(0))


def unshared_scale(noise: Point, scale: Fraction) -> Fraction:
    """Mistake: every coordinate gets Laplace noise of its own, and each is given the whole of epsilon."""
    return exponential_of_minus(sum(abs(part) for part in noise) / scale)


def printed_argmax_law(first: int, second: int, epsilon: float) -> dict[Hashable, float]:
    """Which of two labels wins by their counts with Laplace noise of scale 1 / epsilon, ties to the first, as it is printed.

    Mistake: a row moves a vote from one label to the other, and the gap by 2.
    """
    second_wins = float(difference_tail(np.array([first - second + 1.0]), epsilon)[0])
    return {0: 1 - second_wins, 1: second_wins}


def chance_by_single_votes(lead: int, overlap: int, epsilon: Fraction, delta: Fraction) -> float:
    """The chance of a pass of the stability test. Mistake: a changed vote is taken to move a lead by 1; it moves it by 2."""
    return BestTest(epsilon, delta, unstable_at=1).pass_probability(-(-lead // overlap))


def unprojected_steps(raw_votes: Floats, within: Range) -> list[int]:
    """Votes as whole steps. Mistake: a vote beyond the range stays there, while the noise is that of the range."""
    return [round((vote - within.low) / within.width * STEPS) for vote in raw_votes.tolist()]


def mean_of_answers_law(raw_votes: Floats, epsilon: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Whole units of the mean of votes from 0 to 10, of the blocks that answered, with noise for so many.

    Mistake: blocks without an answer are dropped, and the number of those that are left is taken for public.
    """
    raw_answers = raw_votes[~np.isnan(raw_votes)]
    return discrete_laplace_law(round(float(raw_answers.mean())), 10 / (len(raw_answers) * epsilon), low, high)


def contiguous_blocks(raw_rows: Floats, blocks: int) -> RowBlocks:
    """Blocks of neighbouring rows, as equal in size as can be. Mistake: one row more moves rows from each block to the next."""
    return RowBlocks(raw_rows, np.arange(len(raw_rows)) * blocks // max(len(raw_rows), 1), blocks)
