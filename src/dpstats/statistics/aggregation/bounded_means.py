"""Means of votes within public ranges: plain, trimmed and Winsorized, with one noise for all coordinates.

Claim      epsilon-DP
Neighbors  One row of votes changed in any way; the number of blocks is public
Why        Votes become whole steps within their range. One changed vote moves the sum of the steps, or of those that trimming
           keeps, by at most the whole range, and a Winsorized sum by at most (cut + 1) ranges, in every coordinate at once: cube
           Laplace noise hides it. SPREAD_SHARE of epsilon buys sums of squares in the same way, where an interval is wanted
Numerics   Whole numbers up to the noise, floats after it
Source     bounded_means.proof.md; Smith 2008, whose T* is the mean of estimates in their range
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import Interval
from dpstats.mechanisms.cube_laplace import cube_spread, sample_cube_laplace
from dpstats.statistics.aggregation.ranges import STEPS, Range
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.clipped.margins import CAUTION, critical_value

SPREAD_SHARE = Fraction(1, 20)
"""The part of epsilon for sums of squares, where an interval is wanted."""
MEAN_ERROR = "sampling of the blocks and noise: the mean of what the function gives for such blocks of rows, within the range"
LARGEST_VARIANCE = 0.25
"""Of anything that lies within a range, in squared ranges."""
Steps = NDArray[np.int64]


@dataclass(frozen=True)
class VoteCut:
    """How votes at either end are treated: dropped, or counted as the nearest one that is kept."""

    trim: Fraction = Fraction(0)
    """The part of the votes at either end; below one half."""
    winsorized: bool = False

    def votes(self, blocks: int) -> int:
        """The number of votes that are cut at either end."""
        return math.floor(self.trim * blocks)

    def counted(self, blocks: int) -> int:
        """Over how many votes the mean is taken."""
        return blocks if self.winsorized else blocks - 2 * self.votes(blocks)

    def sensitivity(self, blocks: int) -> int:
        """The sensitivity of the sum in whole ranges: how far one changed vote can move it."""
        cut = self.votes(blocks)
        if not self.winsorized:
            return 1
        return 2 * cut + 1 if blocks == 2 * cut + 1 else cut + 1

    @property
    def inflation(self) -> float:
        """About how many times the variance of a kept vote the mean has, per vote that it counts; rather too large.

        The ends of what is kept are taken to lie sqrt(5) standard deviations of a kept vote from the middle.
        """
        trim = float(self.trim)
        return 1.0 if self.winsorized else (1 + 8 * trim) / (1 - 2 * trim)

    def kept(self, raw_places: Steps) -> Steps:
        """The votes that are added up, in order: of blocks by coordinates, each coordinate by itself."""
        blocks = len(raw_places)
        cut = self.votes(blocks)
        raw_kept = np.sort(raw_places, axis=0)[cut : blocks - cut]
        if not self.winsorized or not cut:
            return raw_kept
        raw_low, raw_high = (np.repeat(raw_end, cut, axis=0) for raw_end in (raw_kept[:1], raw_kept[-1:]))
        return np.concatenate([raw_low, raw_kept, raw_high])


def release_means(
    raw_votes: Floats,
    ranges: Sequence[Range],
    cut: VoteCut,
    defaults: Sequence[float | None],
    epsilon: Fraction,
    level: Fraction | None,
    rng: RandomSource,
) -> tuple[tuple[float, ...], tuple[Interval, ...]]:
    """The mean of each coordinate of the votes, blocks by coordinates, and its interval where a level is given."""
    blocks = len(raw_votes)
    raw_columns = [each.places(raw_votes[:, place], defaults[place]) for place, each in enumerate(ranges)]
    raw_kept = cut.kept(np.column_stack(raw_columns))
    moved, counted = cut.sensitivity(blocks), cut.counted(blocks)
    spread_epsilon = Fraction(0) if level is None or cut.winsorized else epsilon * SPREAD_SHARE
    mean_epsilon = epsilon - spread_epsilon
    noisy_sums = _noisy_sums(raw_kept, moved * STEPS, mean_epsilon, rng)
    means = [min(max(noisy / (counted * STEPS), 0.0), 1.0) for noisy in noisy_sums]
    values = tuple(each.number(mean) for each, mean in zip(ranges, means, strict=True))
    if level is None:
        return values, ()
    variances = [LARGEST_VARIANCE] * len(means)
    if spread_epsilon:
        noisy_squares = _noisy_sums((2 * raw_kept - STEPS) ** 2, STEPS**2, spread_epsilon, rng)
        variances = _variances(means, noisy_squares, counted, spread_epsilon)
    intervals, scale = [], moved / counted / float(mean_epsilon)
    for each, mean, variance in zip(ranges, means, variances, strict=True):
        reach = _reach(variance * cut.inflation / counted, len(means), scale, counted, float(level))
        intervals.append(Interval(each.number(mean - reach), each.number(mean + reach), float(level), MEAN_ERROR))
    return values, tuple(intervals)


def _noisy_sums(raw_numbers: Steps, sensitivity: int, epsilon: Fraction, rng: RandomSource) -> list[int]:
    """The sum of each coordinate, with noise for sums of which each moves by at most `sensitivity`."""
    noise = sample_cube_laplace(sensitivity / epsilon, raw_numbers.shape[1], rng).tolist()
    raw_sums = raw_numbers.astype(object).sum(axis=0).tolist() if len(raw_numbers) else [0] * len(noise)
    return [int(raw) + int(drawn) for raw, drawn in zip(raw_sums, noise, strict=True)]


def _variances(means: Sequence[float], noisy_squares: Sequence[int], counted: int, epsilon: Fraction) -> list[float]:
    """The variance of the kept votes of each coordinate, in squared ranges: rather too large, by the doubt that noise leaves."""
    doubt = math.sqrt(cube_spread(len(means))[0]) / (4 * counted * float(epsilon))
    around_middle = [noisy / (4 * counted * STEPS**2) for noisy in noisy_squares]
    found = [square - (mean - 0.5) ** 2 for square, mean in zip(around_middle, means, strict=True)]
    return [min(max(variance, 0.0) + CAUTION * doubt, LARGEST_VARIANCE) for variance in found]


def _reach(sampling: float, coordinates: int, scale: float, votes: int, level: float) -> float:
    """How far an interval reaches to either side, in ranges: for a sampling variance, and cube noise of a scale."""
    variance, kurtosis = cube_spread(coordinates)
    noise = variance * scale**2
    return critical_value(level, kurtosis * (noise / (noise + sampling)) ** 2, votes) * math.sqrt(noise + sampling)
