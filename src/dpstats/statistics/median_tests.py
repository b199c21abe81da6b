"""Mood's median test: whether the same share of every group lies above the common median.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon
Why        MEDIAN_SHARE of epsilon buys a universal median of all rows. A row is in one group at most, and there either above that
           median or not: it moves one count by 1, and whole-number Laplace noise for the rest of epsilon hides that
Numerics   Exact up to the noise; statistic and p-value are floats made from the noisy table
Source     testing/tables.proof.md; Mood 1950
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Reads, method
from dpstats.foundations.summaries import Column, Table, most_rows
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.chi_square import COUNTS_RETURNS, counts_result, simulation_notes
from dpstats.statistics.clipped.margins import critical_value
from dpstats.statistics.sign_tests import COUNTS_CLAIM, SHARE_COVERS, count_notes, share_of
from dpstats.statistics.testing.noise import Floats, laplace_variance, simulator
from dpstats.statistics.testing.parameters import labels_parameter, show_labels
from dpstats.statistics.testing.results import CountsResult, answer_of_test, register_test
from dpstats.statistics.testing.tables import independent, judge_alike
from dpstats.statistics.universal.decimals import float_of, lowest_value_at
from dpstats.statistics.universal.single import draw_quantile

MEDIAN_SHARE = Fraction(1, 8)
"""The part of epsilon for the median; where exactly it lies matters little."""
SIDES = ("up to the median", "above it")

MEDIAN_TEST = register_test(
    "median_test",
    "Whether groups of rows have the same median (Mood's test: the same share of each lies above the common one)",
    (labels_parameter("groups", "the labels whose rows are compared, such as ['a', 'b', 'c']"),),
    reads=(Reads.NUMBERS, Reads.LABELS),
    returns=COUNTS_RETURNS,
    value=CountsResult,
)


@method(MEDIAN_TEST, "laplace", claim=COUNTS_CLAIM, loss=Fraction(2, 5), version=2, by_unit=as_alike)
def median_test_laplace(table: Table, question: Question, rng: RandomSource) -> Answer:
    """A private median of all rows, and then the noisy counts of each group up to it and above it."""
    epsilon, groups = row_epsilon(question.epsilon, question.neighbors), question.arguments["groups"]
    median_epsilon = epsilon * MEDIAN_SHARE
    ordinal = draw_quantile(table.column(0), Fraction(1, 2), median_epsilon, Neighbors.ADD_REMOVE, rng)
    raw_counts = [count for column in table.columns_by_label(0, 1, groups) for count in raw_halves(column, ordinal)]
    table_epsilon = epsilon - median_epsilon
    noisy = np.array(noisy_counts(raw_counts, table_epsilon, rng), dtype=np.float64).reshape(len(groups), 2)
    alike = most_rows(table)
    judged = judge_alike(noisy, independent, float(table_epsilon), simulator(rng), alike)
    shares = [share_of(above, up_to + above) for up_to, above in noisy.tolist()]
    estimate, estimates = judged.effect, "Cramer's V"
    if len(groups) == 2:
        estimate = shares[0] - shares[1]
        estimates = f"the share of {show_labels(groups[:1])} above the median less that of {show_labels(groups[1:])}"
    rows = tuple(noisy.sum(axis=1).tolist())
    result = counts_result(noisy, judged, min(estimate, 1.0), estimates, len(groups) - 1, rows, (groups, SIDES))
    notes = (
        ("median", f"{float_of(ordinal):.15g}, a private one of all rows, at an eighth of epsilon"),
        *simulation_notes(judged),
        *count_notes(question),
    )

    def ends(level: float) -> tuple[float, float]:
        if len(groups) == 2:
            return difference_interval(noisy / alike, level, float(table_epsilon) * alike)
        low, high = judged.effect_interval(level, len(groups) - 1)
        return min(low, 1.0), min(high, 1.0)

    return answer_of_test(result, question, notes, ends, SHARE_COVERS)


def raw_halves(column: Column, ordinal: int) -> tuple[int, int]:
    """How many rows of a column lie up to a decimal, and how many above it."""
    assert column.dtype is not None
    (raw_up_to,) = column.counts_below([lowest_value_at(ordinal + 1, column.dtype)])
    return raw_up_to, column.count() - raw_up_to


def difference_interval(noisy: Floats, level: float, epsilon: float) -> tuple[float, float]:
    """An interval for the difference of two shares above: sampling error as of Agresti & Caffo (2000), and noise."""
    shares, variance = [], 0.0
    noise = laplace_variance(epsilon)
    for up_to, above in noisy.tolist():
        rows = max(up_to + above, 1.0)
        share = share_of(above, up_to + above)
        shares.append(share)
        smoothed = (share * rows + 1) / (rows + 2)
        variance += smoothed * (1 - smoothed) / (rows + 2) + noise * (share**2 + (1 - share) ** 2) / rows**2
    half = critical_value(level, 0.0) * math.sqrt(variance)
    middle = shares[0] - shares[1]
    return max(middle - half, -1.0), min(middle + half, 1.0)
