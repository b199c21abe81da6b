"""Interquantile ranges with a private test first: the methods of scales.py by name.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        scales.py; "quartiles" runs a test of both quantiles after a coarse scale (scales.proof.md, Located)
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.distance_tests import LaplaceTest
from dpstats.mechanisms.pipelines.together import Levels
from dpstats.mechanisms.propose_test_release import distance_for
from dpstats.statistics.propose_test_release.answers import tested_answer, tested_method
from dpstats.statistics.propose_test_release.locations import QuantileStatistic, fitting_bound, located_range
from dpstats.statistics.propose_test_release.log_grid import LogGrid
from dpstats.statistics.propose_test_release.scales import (
    RangeStatistic,
    centre_cascade,
    fitting_grid,
    printed_grid,
    printed_threshold,
    range_by_jumps,
    scale_cascade,
)
from dpstats.statistics.propose_test_release.setting import take_setting
from dpstats.statistics.scale import INTERQUANTILE_RANGE, IQR, range_of

BASE_TWO = LogGrid(Fraction(2))
COARSE_GRID, COARSE_WEIGHT = LogGrid(Fraction(3, 2)), Fraction(1, 2)
COARSE = Fraction(5, 4)
"""The centre of a coarse bin may be too small by a factor of 1.23, which bounds proposed from it must allow for."""


def _base_note(grid: LogGrid) -> tuple[str, str]:
    return ("bins", f"a factor of {decimal_text(grid.base)} wide on the logarithmic scale")


@tested_method("dwork-lei", "Algorithm S, bins a factor 1 + 1/ln n wide", IQR, INTERQUANTILE_RANGE)
def range_dwork_lei(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Algorithm S: base 1 + 1 / ln n, two discretisations, and a threshold not below the printed (ln n)**2 + 1."""
    setting = take_setting(column, question, rng, counted=True)
    measured, grid = RangeStatistic(*range_of(question)), printed_grid(setting.rows)
    pipeline = scale_cascade(measured, grid, printed_threshold(setting.rows))
    return tested_answer(setting.run(pipeline, range_of(question)), question, setting, _base_note(grid))


@tested_method("dwork-roth", "Algorithm 12 with its threshold corrected, bins a factor 2 wide", IQR, INTERQUANTILE_RANGE)
def range_dwork_roth(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Algorithm 12 with its threshold corrected: base 2, two discretisations."""
    setting = take_setting(column, question, rng, counted=False)
    measured = RangeStatistic(*range_of(question))
    outcome = setting.run(scale_cascade(measured, BASE_TWO), range_of(question))
    return tested_answer(outcome, question, setting, _base_note(BASE_TWO))


@tested_method("ptr", "one test of how far a row can move the logarithm, no bins", IQR, INTERQUANTILE_RANGE)
def range_ptr(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """One test of the distance to a table where a row can move the range by more than a proposed factor; no bins."""
    setting = take_setting(column, question, rng, counted=True)
    grid = fitting_grid(setting)
    outcome = range_by_jumps(RangeStatistic(*range_of(question)), grid, setting)
    return tested_answer(outcome, question, setting, ("proposed factor", decimal_text(grid.base)))


@tested_method("quartiles", "a coarse scale, then both quantiles located by one test", IQR, INTERQUANTILE_RANGE)
def range_quartiles(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Dwork & Lei's better range: a coarse scale first, then one test that both quantiles are located within a bound of it."""
    setting = take_setting(column, question, rng, counted=True)
    lower, upper = range_of(question)
    needed = distance_for(LaplaceTest(setting.epsilon / 3, setting.delta / 3), 0.95)

    def propose(scale: float) -> Fraction:
        return COARSE * max(
            fitting_bound(QuantileStatistic(quantile), scale, needed, setting.rows) for quantile in (lower, upper)
        )

    measured = RangeStatistic(lower, upper)
    pipeline = Levels(centre_cascade(measured, COARSE_GRID, COARSE_WEIGHT), located_range(measured, propose))
    return tested_answer(setting.run(pipeline, (lower, upper)), question, setting)
