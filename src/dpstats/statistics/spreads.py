"""Variance and standard deviation without bounds.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        As the mean (means.py): cells of degree 4 tell the second moment, and the fourth, which says how certain it is. Limits
           leave more room than for a mean, because rows far out weigh more
Numerics   Exact from the rows to the noisy cells; floats after that
No reply   Below a floor of rows times epsilon, by released numbers of rows alone (floors.py); costs what an answer does
Source     limits.proof.md, cells.proof.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, method
from dpstats.foundations.summaries import Column
from dpstats.statistics.by_unit import one_step
from dpstats.statistics.cards import interval_for, register_number
from dpstats.statistics.clipped.cells import NoisyCells
from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value, laplace_kurtosis
from dpstats.statistics.clipped.zeros_and_ones import ZerosAndOnes
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import (
    CLIPPED_CLAIM,
    CLIPPED_LOSS,
    SQUARES_DEGREE,
    WHOLE_ERROR,
    Clipped,
    clipped_notes,
    judged_clip,
    read_clipped,
)

ROOM = 0.1
MOST_LOST = 12.0
"""An interval is lengthened for rows beyond the clip by at most this many times the variance."""
SPREAD_FLOOR = Floor(800, 50)
"""Below it, variances are off by more than their intervals too often (docs/intervals.md)."""

VARIANCE = register_number("variance", "The variance of the rows (with n - 1)")
STD = register_number("std", "The standard deviation of the rows (with n - 1)")


@dataclass(frozen=True)
class Variance:
    """A variance with an interval, in squares of the frame's radius; the square roots are those of the standard deviation."""

    value: float
    low: float
    high: float


@method(VARIANCE, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS, version=4, by_unit=one_step)
def variance_clipped(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The variance of the rows, cut off at private limits."""
    return _answer(column, question, rng, lambda variance, radius: variance * radius * radius)


@method(STD, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS, version=4, by_unit=one_step)
def std_clipped(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The square root of the variance."""
    return _answer(column, question, rng, lambda variance, radius: math.sqrt(variance) * radius)


def _answer(column: Column, question: Question, rng: RandomSource, scaled: Callable[[float, float], float]) -> Outcome:
    clipped = read_clipped(column, question, rng, SQUARES_DEGREE, ROOM)
    variance = variance_of(clipped, question.interval)
    value, low, high = (min(scaled(each, clipped.frame.radius), sys.float_info.max) for each in astuple(variance))
    answer = Answer(value, interval_for(question, low, high, WHOLE_ERROR), clipped_notes(question, clipped))
    if clipped.cells is None:
        answer = replace(answer, interval=None, unknown="all rows seem alike, and no number can tell how far others lie")
    return judged_clip(question, clipped, answer, SPREAD_FLOOR)


def variance_of(clipped: Clipped, level: Fraction | None) -> Variance:
    """The variance that noisy cells tell, with an interval for the population's."""
    if clipped.cells is None:
        return Variance(0.0, 0.0, 0.0)
    if clipped.counted is not None:
        return _of_share(clipped.counted, level)
    cells = clipped.cells
    rows = max(cells.total(0), FEWEST_ROWS)
    mean, second = (cells.total(power) / rows for power in (1, 2))
    least = math.sqrt(cells.noise_variance(cells.weights(2))) / rows / 4  # a noisy variance near 0 says no more
    value = max(second - mean**2, least) * rows / (rows - 1)
    spread = _spread_of_squares(cells, value)
    weights = cells.weights(2) - second - 2 * mean * (cells.weights(1) - mean)
    noise = cells.noise_variance(weights) / rows**2
    if level is None:
        return Variance(value, 0.0, math.inf)
    units_stretch = cells.stretch(_spread_of_squares(cells.inside, 0.0) * max(cells.inside.total(0), FEWEST_ROWS))
    total = spread / rows * units_stretch + noise
    kurtosis = laplace_kurtosis(weights) * (noise / total) ** 2
    reach = critical_value(float(level), kurtosis, rows) * math.sqrt(total) / value
    lost = clipped.cut.lost_squares(clipped.frame.radius) / rows
    stretch = min(math.exp(min(reach, 700.0)), 1 + 3 * reach)  # a variance is about lognormal while its error is small
    less, more = (slack / rows for slack in cells.slack(2))
    low = max(value * math.exp(-reach) - less, 0.0)
    return Variance(value, low, value * stretch + min(lost, MOST_LOST * value) + more)


def _spread_of_squares(cells: NoisyCells, variance: float) -> float:
    """The variance of the rows' squared distances from their mean, where the mean of these is at least a number."""
    rows = max(cells.total(0), FEWEST_ROWS)
    mean, second, third, fourth = (cells.total(power) / rows for power in range(1, 5))
    square = max(second - mean**2, variance)
    return max(fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4 - square**2, square**2 / 2)


def _of_share(counted: ZerosAndOnes, level: Fraction | None) -> Variance:
    """The variance of zeros and ones, with an interval that holds near 0 and 1; the frame's radius is 1/2."""
    rows = max(float(counted.noisy_rows), FEWEST_ROWS)
    value = 4 * max(counted.mean_of(2) - counted.mean_of(1) ** 2, 0.0) * rows / (rows - 1)
    if level is None:
        return Variance(value, 0.0, math.inf)
    below, above = counted.variance_reach(float(level))
    return Variance(value, max(value - 4 * below, 0.0), value + 4 * above)
