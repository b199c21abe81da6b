"""The trimmed mean: the mean of the rows between two quantiles, without bounds or by a test of how far one row can move it.

Claim      "universal": epsilon-DP; the tested methods: (epsilon, delta)-DP
Neighbors  ADD_REMOVE or CHANGE_ONE; a noisy number of rows is bought under ADD_REMOVE, and by "dwork-lei" always
Why        "universal": read off the Winsorized mean and its two private quantiles (winsorized.py).
           "ptr": the distance to a table where one row can move the mean by more than the proposed bound moves by at most 1
           (steps_to_sensitive_mean). "dwork-lei": one row moves the mean of the kept rows by at most the range around them over
           their number; Algorithm S released that range with noise of a known tail, so that a public multiple of it is wide
           enough except with a probability that is part of delta (trimmed_means.proof.md)
Numerics   Every row is rounded by itself to a public power of two far below the bound; sums are exact; noise is drawn on a grid
No reply   Costs the same as an answer and says only that a test failed
Source     Dwork & Lei 2009, section 3, which states no claim; errors and corrections: docs/errata.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations import accepted
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Refusal, method
from dpstats.foundations.rounding import decimal_text, exact_rational, power_of_two_at_most
from dpstats.foundations.summaries import Column
from dpstats.foundations.units import in_units
from dpstats.mechanisms.discrete_laplace import l1_units, noisy_count
from dpstats.mechanisms.distance_tests import BestTest, noise_quantile
from dpstats.mechanisms.grid import LARGEST, grid_for
from dpstats.mechanisms.pipelines.pipeline import Allocation, Run
from dpstats.mechanisms.propose_test_release import REFUSED, Refused, release_if_stable, release_with_noise
from dpstats.statistics.by_unit import one_step
from dpstats.statistics.cards import register_number
from dpstats.statistics.propose_test_release.answers import refusal, tested_answer, tested_method
from dpstats.statistics.propose_test_release.distances import steps_to_sensitive_mean
from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.proposals import buy_scale
from dpstats.statistics.propose_test_release.ranks import interquantile_ranks
from dpstats.statistics.propose_test_release.scales import RangeStatistic, printed_grid, printed_threshold, scale_cascade
from dpstats.statistics.propose_test_release.setting import COUNT_SHARE, LEAST_ROWS, Setting, TestedRows, take_setting
from dpstats.statistics.universal.decimals import Number
from dpstats.statistics.winsorized import CUT_CLAIM, CUT_LOSS, checked_trim, winsorize, winsorized_answer

FINEST = Fraction(1, 1 << 1074)
"""Every float is a whole number of these units: in them nothing is rounded."""
UNITS_OF_BOUND = 1 << 20
"""Where a bound is known before the rows are read, rows are rounded to units this much smaller, which sum up fast."""
TEST_SHARE = Fraction(1, 2)
RELEASE_SHARE = Fraction(1, 3)
_ROOM = Fraction(3, 2)
"""The proposed bound is this many times what one row can do in the middle of the rows as they are."""
_ROUNDING = Fraction(1, 10**6)
"""Relative room for the floating-point arithmetic on a released scale."""
LARGEST_SCALE = 1e307
"""A released scale above this may have been cut off where floats end, and bounds nothing."""
LARGEST_WIDENING = 1e250
"""The same for the factor by which it is widened: at such an epsilon the noise would drown any answer."""
_SMALLEST_TRIM = Fraction(1, 1000)
"""Below this a tested method refuses: one row can move the mean by any amount, or nearly so."""


TRIMMED_MEAN = register_number(
    "trimmed_mean",
    "The mean of the rows that are left when a part of them is cut off at either end",
    Parameter("trim", "the part cut off at either end, such as 0.1", checked_trim, 0.1, takes=accepted.Number),
    why_preferred="it needs no delta; its error shrinks as fast as that of any tested method",
)


@method(TRIMMED_MEAN, "universal", claim=CUT_CLAIM, loss=CUT_LOSS, version=4, by_unit=one_step)
def trimmed_mean_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The Winsorized mean without what the rows beyond its quantiles count there."""
    return winsorized_answer(question, winsorize(column, question, rng), trimmed=True)


@dataclass(frozen=True)
class Kept:
    """Which rows are kept: the ranks from low + 1 up to high - inset, for the pair of ranks of trim and 1 - trim."""

    trim: Fraction
    inset: int
    unit: Fraction = FINEST
    """The public power of two that every row is rounded to by itself."""

    def row(self, value: Number) -> Fraction:
        """A row as it counts: rounded to the unit, infinities as the largest float."""
        return exact_row(value, self.unit)

    def ranks(self, raw_rows: int) -> tuple[int, int]:
        """First and last kept rank; the last is below the first where no row is kept."""
        low, high = interquantile_ranks(self.trim, 1 - self.trim, raw_rows)
        return low + 1, high - self.inset

    def rows(self, raw_rows: int) -> int:
        """How many rows are kept."""
        first, last = self.ranks(raw_rows)
        return max(0, last - first + 1)

    def raw_mean(self, setting: Setting, rows: TestedRows) -> Fraction:
        """The exact mean of the kept rows; 0 where there are none, which no test lets pass more often than delta."""
        first, last = self.ranks(rows.raw.raw_rows)
        if last < first:
            return Fraction(0)
        low, high = rows.spans((first, last))
        if low.raw_value == high.raw_value:
            return self.row(low.raw_value)
        raw_between = setting.column.sum_between(low.raw_value, high.raw_value, self.unit)
        raw_low = (low.last - first + 1) * self.row(low.raw_value)
        raw_high = (last - high.first + 1) * self.row(high.raw_value)
        return (raw_between * self.unit + raw_low + raw_high) / (last - first + 1)


def exact_row(value: Number, unit: Fraction = FINEST) -> Fraction:
    """A row as an exact rational, rounded to a unit; infinities as the largest float."""
    finite = float(math.copysign(LARGEST, value)) if isinstance(value, (float, np.floating)) and np.isinf(value) else value
    return in_units(finite, unit) * unit


@tested_method("ptr", "one test of how far a row can move the mean", TRIMMED_MEAN)
def trimmed_mean_ptr(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """One test of the distance to a table where a row can move the mean by more than a bound proposed from a private range."""
    if question.arguments["trim"] < _SMALLEST_TRIM:
        return refusal(question)
    setting = take_setting(column, question, rng, counted=True)
    trim = question.arguments["trim"]
    scale, rest = buy_scale(setting, trim)
    if scale is None:
        return tested_answer(REFUSED, question, setting)
    bound = _ROOM * scale / max(1, Kept(trim, 0).rows(setting.rows))
    unit = max(FINEST, power_of_two_at_most(bound / UNITS_OF_BOUND)) if bound else FINEST
    kept = Kept(trim, 0, unit)
    test = BestTest(rest.epsilon * TEST_SHARE, setting.delta)
    rows = setting.ranked((trim, 1 - trim), test.cap + 1, kept.row)
    outcome = release_if_stable(
        lambda: kept.raw_mean(setting, rows),
        _distance(kept, rows, bound),
        bound,
        test,
        rest.epsilon * (1 - TEST_SHARE),
        rng,
        float,
    )
    return tested_answer(outcome, question, setting, ("proposed bound", decimal_text(bound)))


def _distance(kept: Kept, rows: TestedRows, bound: Fraction) -> int:
    """Steps before one more can move the mean by more than the bound, or leave no row to keep."""
    first, last = kept.ranks(rows.raw.raw_rows)
    if last <= first:
        return 0
    return min(last - first, steps_to_sensitive_mean(rows.raw.at, first, last, bound / rows.raw.unit, rows.cap))


@tested_method("dwork-lei", "the range of the kept rows by Algorithm S, then noise for a multiple of it", TRIMMED_MEAN)
def trimmed_mean_dwork_lei(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The printed route: the range of the kept rows by Algorithm S, then noise for a multiple of it that is wide enough."""
    if question.arguments["trim"] < _SMALLEST_TRIM:
        return refusal(question)
    setting = take_setting(column, question, rng, counted=False)
    trim, kept = question.arguments["trim"], Kept(question.arguments["trim"], 1)
    part = setting.delta / 3
    count_epsilon = setting.epsilon * COUNT_SHARE
    noisy_total = noisy_count(column.count(), count_epsilon, rng)
    fewest_kept = kept.rows(fewest_rows(noisy_total, count_epsilon, part))
    noisy_rows = max(LEAST_ROWS, noisy_total)
    rest = setting.epsilon - count_epsilon
    release_epsilon = rest * RELEASE_SHARE

    measured, grid = RangeStatistic(trim, 1 - trim), printed_grid(noisy_rows)
    pipeline = scale_cascade(measured, grid, printed_threshold(noisy_rows))
    allocation = pipeline.allocate(epsilon=rest - release_epsilon, delta=part)
    cap = max(allocation.test(step).cap for step in pipeline.steps())
    rows = setting.ranked((trim, 1 - trim), cap, kept.row)
    scale = pipeline.reply(rows, None, Run(allocation, setting.neighbors, rng))
    widening = _widening(grid, allocation, part)
    if isinstance(scale, Refused) or fewest_kept < 1 or scale > LARGEST_SCALE or widening > LARGEST_WIDENING:
        return tested_answer(REFUSED, question, setting)
    bound = exact_rational(scale, "the scale") * exact_rational(widening, "the widening") / fewest_kept
    outcome: Any = release_with_noise(kept.raw_mean(setting, rows), bound, release_epsilon, rng, float)
    counted = replace(setting, notes=(("rows", f"about {noisy_rows:,}: a noisy count"),))
    return tested_answer(outcome, question, counted, ("range widened by", f"{widening:.4g}"))


def fewest_rows(noisy_count: int, count_epsilon: Fraction, delta: Fraction) -> int:
    """A number that the table and all its neighbours have rows for, except with probability delta over the count's noise."""
    return noisy_count - noise_quantile(1 / count_epsilon, delta) - 1


def _widening(grid: LogGrid, allocation: Allocation, delta: Fraction) -> float:
    """By what factor a released range must be widened to cover the true one except with probability delta."""
    step = next(allocation.pipeline.steps())
    epsilon = allocation.budget(step).release_epsilon
    spacing = grid_for(CELLS / epsilon, None, False)
    cells = noise_quantile(l1_units(Fraction(CELLS), spacing, 1) / epsilon, delta) * spacing.spacing + 1
    return grid.number(float(cells)) * float(1 + _ROUNDING)
