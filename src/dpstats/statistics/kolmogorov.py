"""Kolmogorov and Smirnov's tests: whether rows follow a given distribution, and whether two groups follow the same.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon
Why        The largest gap is released in rows, not as a share of them: n D for one sample, n1 n2 / (n1 + n2) D for two. One row
           moves it by at most 1, while D itself moves by more the fewer rows there are. The numbers of rows are bought beside it
Numerics   Rows become whole numbers by a map of one row; gaps are exact ratios; noise is exact, on a grid. Floats after that
Source     testing/gaps.proof.md; Kolmogorov 1933; Smirnov 1939
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.accepted import Number
from dpstats.foundations.json_types import NUMBER
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, method
from dpstats.foundations.summaries import Column, Table, most_rows
from dpstats.mechanisms.discrete_laplace import add_laplace, noisy_counts
from dpstats.mechanisms.grid import grid_for
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.sign_tests import count_notes
from dpstats.statistics.testing.gaps import DISTRIBUTIONS, raw_gap_between, raw_gap_to, raw_places
from dpstats.statistics.testing.kolmogorov_law import NoisyGap
from dpstats.statistics.testing.parameters import TWO_GROUPS, checked_number, checked_scale, choice_parameter, show_labels
from dpstats.statistics.testing.results import TestResult, answer_of_test, register_test

GAP_CLAIM = "pure epsilon-DP, no bounds asked, no delta, no refusal: the largest gap in rows, with noise"
GAP_LOSS = Fraction(5, 16)
ROWS_SHARE = Fraction(1, 4)
"""The part of epsilon for the numbers of rows."""
GAP_SENSITIVITY = Fraction(1)
D_RETURNS = "a result with statistic (the largest gap D), p_value, estimate (D too) and rows (noisy)"


KS_TEST = register_test(
    "ks_test",
    "Whether the rows follow a given distribution (Kolmogorov's test)",
    (
        choice_parameter("distribution", f"its name: {', '.join(DISTRIBUTIONS)}", DISTRIBUTIONS, "normal"),
        Parameter(
            "loc",
            "its place, as scipy.stats has it: a normal one's mean, a uniform one's lower end",
            partial(checked_number, name="loc"),
            0,
            NUMBER,
            takes=Number,
        ),
        Parameter(
            "scale",
            "its scale, as scipy.stats has it: a normal one's standard deviation",
            checked_scale,
            1,
            NUMBER,
            takes=Number,
        ),
    ),
    returns=D_RETURNS,
)
TWO_SAMPLE_KS_TEST = register_test(
    "two_sample_ks_test",
    "Whether two groups of rows follow the same distribution (Smirnov's test)",
    (TWO_GROUPS,),
    reads=(Reads.NUMBERS, Reads.LABELS),
    returns=D_RETURNS,
)


@method(KS_TEST, "laplace", claim=GAP_CLAIM, loss=GAP_LOSS, version=2, by_unit=as_alike)
def ks_test_laplace(column: Column, question: Question, rng: RandomSource) -> Answer:
    """The largest gap between the rows and a distribution."""
    named = question.arguments
    raw_runs = raw_places(column.tally(), named["distribution"], named["loc"], named["scale"])
    gap = release_gap(raw_gap_to(raw_runs), [column.count()], row_epsilon(question.epsilon, question.neighbors), rng)
    return gap_answer(gap, question, "the largest gap to the distribution", most_rows(column))


@method(TWO_SAMPLE_KS_TEST, "laplace", claim=GAP_CLAIM, loss=GAP_LOSS, version=2, by_unit=as_alike)
def two_sample_ks_test_laplace(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The largest gap between the rows of two groups."""
    groups = question.arguments["groups"]
    columns = table.columns_by_label(0, 1, groups)
    raw_gap = raw_gap_between(columns[0].tally(), columns[1].tally())
    gap = release_gap(raw_gap, [column.count() for column in columns], row_epsilon(question.epsilon, question.neighbors), rng)
    return gap_answer(gap, question, f"the largest gap between {show_labels(groups)}", most_rows(table))


def release_gap(raw_gap: Fraction, raw_rows: list[int], epsilon: Fraction, rng: RandomSource) -> NoisyGap:
    """The gap and the numbers of rows, for one row added or removed."""
    rows_epsilon = epsilon * ROWS_SHARE
    gap_epsilon = epsilon - rows_epsilon
    noisy_rows = noisy_counts(raw_rows, rows_epsilon, rng)
    grid = grid_for(GAP_SENSITIVITY / gap_epsilon, None, False)
    (noisy_gap,) = add_laplace([raw_gap], GAP_SENSITIVITY, gap_epsilon, grid, rng)
    return NoisyGap(float(noisy_gap), tuple(map(float, noisy_rows)), float(gap_epsilon), float(rows_epsilon))


def gap_answer(gap: NoisyGap, question: Question, estimates: str, alike: int = 1) -> Answer:
    """What is released of a noisy gap; `alike` rows may be of one unit, and all the same."""
    share, judged = gap.share, gap.divided(alike)
    result = TestResult("D", share, judged.p_value(), share, estimates, None, gap.rows)
    notes = (
        ("p-value", "from Kolmogorov's law and the law of the noise together"),
        ("memory", "the different values of the column are held in memory"),
        *count_notes(question),
    )
    return answer_of_test(result, question, notes, judged.interval, "sampling error and noise, with room to spare")
