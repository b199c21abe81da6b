"""The sign test: whether a given number is the median, from the rows above it and those below it.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon
Why        A row lies above the number, below it or at it: it moves one of two counts by 1, and whole-number Laplace noise of
           scale 1 / epsilon on both hides that
Numerics   Comparisons and counts are exact, and so is the noise; p-value and interval are floats made from noisy counts
Source     testing/tables.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.portable import OWN_DIGITS, inner_product, rounded
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, method
from dpstats.foundations.summaries import MISSING_POLICY, Column, most_rows
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.cards import public_line
from dpstats.statistics.clipped.margins import critical_value, laplace_kurtosis
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.testing.noise import difference_tail, laplace_variance
from dpstats.statistics.testing.parameters import null_parameter
from dpstats.statistics.testing.results import ALTERNATIVE, GREATER, LESS, TestResult, answer_of_test, register_test

COUNTS_CLAIM = "pure epsilon-DP, no bounds asked, no delta, no refusal: noisy counts"
SHARE_COVERS = "sampling error and noise"
_WINDOW = 9.0
"""Standard deviations of a binomial variable beyond which nothing counts."""


SIGN_TEST = register_test(
    "sign_test",
    "Whether the median of the rows is a given number, from how many rows lie above and below it",
    (null_parameter("median"), ALTERNATIVE),
    returns="a result with statistic (half of the rows above less those below), p_value, estimate and rows (noisy)",
)


@method(SIGN_TEST, "laplace", claim=COUNTS_CLAIM, version=2, by_unit=as_alike)
def sign_test_laplace(column: Column, question: Question, rng: RandomSource) -> Answer:
    """Noisy counts above and below a number."""
    epsilon, alternative = row_epsilon(question.epsilon, question.neighbors), question.arguments["alternative"]
    below, above = noisy_counts(raw_sides(column, question.arguments["median"]), epsilon, rng)
    rows = max(above + below, 0)
    alike = most_rows(column)
    p_value = sign_p_value(math.trunc((above - below) / alike), math.ceil(rows / alike), float(epsilon) * alike, alternative)
    result = TestResult(
        "M",
        (above - below) / 2,
        p_value,
        share_of(above, rows),
        "the share of rows above",
        None,
        (float(below), float(above)),
        alternative,
    )
    notes = (
        ("p-value", "from the binomial law and the law of the noise together, at the noisy number of rows"),
        ("rows at the median", "are left out"),
        *count_notes(question),
    )
    ends = partial(share_interval, above / alike, rows / alike, epsilon=float(epsilon) * alike)
    return answer_of_test(result, question, notes, ends, SHARE_COVERS)


def raw_sides(column: Column, middle: Fraction) -> tuple[int, int]:
    """How many rows lie strictly below a number, and how many strictly above."""
    assert column.dtype is not None
    if column.dtype.kind in "iu":
        cuts: list[int | float] = [math.ceil(middle), math.floor(middle) + 1]
    else:
        with np.errstate(all="ignore"):
            nearest = column.dtype.type(float(middle))  # as a row of this type holds it
            cuts = [float(nearest), float(np.nextafter(nearest, column.dtype.type(np.inf)))]
    raw_below, raw_up_to = column.counts_below(cuts)
    return raw_below, column.count() - raw_up_to


def sign_p_value(lead: int, rows: int, epsilon: float, alternative: str) -> float:
    """The chance of a noisy lead as large as this, or as small, where every row falls on either side with chance 1/2."""
    if alternative == GREATER:
        return _lead_tail(lead, rows, epsilon)
    if alternative == LESS:
        return _lead_tail(-lead, rows, epsilon)
    return min(1.0, 2 * _lead_tail(abs(lead), rows, epsilon))


def _lead_tail(lead: int, rows: int, epsilon: float) -> float:
    """P(rows above less rows below, with noise on both, >= lead), by a sum over the binomial law."""
    spread = math.ceil(_WINDOW * math.sqrt(rows)) / 2 + 1
    first, last = max(0, math.floor(rows / 2 - spread)), min(rows, math.ceil(rows / 2 + spread))
    raised = np.arange(first, last + 1, dtype=np.float64)
    ways = special.gammaln(rows + 1) - special.gammaln(raised + 1) - special.gammaln(rows - raised + 1)
    chances = np.exp(ways - rows * math.log(2))
    total = inner_product(chances, difference_tail(lead - (2 * raised - rows), epsilon))
    return min(1.0, rounded(total, total, OWN_DIGITS))


def share_interval(above: float, rows: float, level: float, epsilon: float) -> tuple[float, float]:
    """The shares that noisy counts do not contradict: Wilson's interval, with the noise of both counts in its variance."""
    noise = laplace_variance(epsilon)
    kurtosis = laplace_kurtosis([1.0, 1.0]) * (noise / (noise + rows / 2)) ** 2 if rows else 0.0
    square = critical_value(level, kurtosis) ** 2
    leading = rows * rows + square * rows - 2 * square * noise
    middle = above * rows + square * (rows / 2 - noise)
    last = above * above - square * noise
    inside = middle * middle - leading * last
    if leading <= 0 or inside < 0:  # nothing is known
        return 0.0, 1.0
    half, share = math.sqrt(inside), share_of(above, rows)
    return max(min((middle - half) / leading, share), 0.0), min(max((middle + half) / leading, share), 1.0)


def share_of(part: float, whole: float) -> float:
    """A noisy part of a noisy whole, from 0 to 1; one half where the whole is not positive."""
    return min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.5


def count_notes(question: Question) -> tuple[tuple[str, str], ...]:
    """The card's lines for tests on noisy counts."""
    return (
        ("missing values", MISSING_POLICY),
        public_line(question),
        ("numerics", "exact: whole numbers and an exact sampler; p-value and interval are floats made from noisy counts"),
    )
