"""Proportions: the share of rows where something is true, from a noisy count of these rows and one of the others.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE in one step of its own
Why        A row counts as yes, as no or as another value. One row more moves one of three counts by 1, and discrete Laplace
           noise of scale 1 / epsilon on each hides it. A changed row moves the difference of yes and no by 2 and their sum by 0,
           or both by 1, and noise of scale 2 / epsilon on difference and sum hides either; a small part of epsilon counts the
           others
Numerics   Comparisons and counts are exact, and so is the noise; share and interval are floats made from noisy counts
No reply   Below a floor of rows times epsilon, or where other values than 0 and 1 are too many, by the noisy counts alone; costs
           what an answer does
Source     proportions.proof.md; intervals: score_intervals.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Refusal, method
from dpstats.foundations.summaries import Column
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_count, noisy_counts, sample_discrete_laplace
from dpstats.statistics.by_unit import one_step, share_stretch
from dpstats.statistics.cards import interval_for, public_line, register_number
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import MEAN
from dpstats.statistics.score_intervals import CountNoise, score_interval, share_of_counts, thinned

COUNTS_CLAIM = "pure epsilon-DP, no bounds asked, no delta: noisy counts of the true rows and of the false ones"
SHARE_COVERS = "sampling error and noise"
NOT_TOLD = (
    "rows that are neither true (1) nor false (0) are left out: the share is one of the rows where the condition can be told"
)
CHANGED_ROW = 2
"""How far a changed row moves the difference of the two counts."""
PROPORTION_FLOOR = Floor(20)
"""There, noise alone makes an interval 8 to 15 points wide to either side. Intervals keep their level at a fifth of these rows,
too (measured on drawn shares of 0 to 1, epsilon .01 to 3): a lower floor would give more answers that say little."""
NOT_COUNTED = "Rows that are neither true nor false do not count."
OTHERS_SHARE = Fraction(1, 20)
"""What counts rows with other values where a row may change. Where a row is added or removed, counting them costs nothing."""
OTHERS_SCALES = 8.0
"""Of 6,000 columns of zeros and ones, noise exceeds this number of scales in one."""

PROPORTION = register_number(
    "proportion",
    "The share of rows that are true, or that meet a condition",
    takes_conditions=True,
    is_share=True,
)


@dataclass(frozen=True)
class NoisyCounts:
    """How many rows are true and how many false, with noise. Either may be negative."""

    yes: float
    no: float
    noise: CountNoise
    others: int
    """Rows with another value than 0 and 1, true and false: a number, or a text."""
    others_scale: float
    """The scale of the noise in their number."""

    @property
    def other_rows(self) -> int:
        """The rows with another value, where noise does not explain them; otherwise 0."""
        return self.others if self.others > OTHERS_SCALES * self.others_scale else 0

    @property
    def refusal(self) -> Refusal | None:
        """The refusal where other values outnumber the zeros or the ones, as they do where codes are 1 and 2, or yes and no."""
        if self.other_rows <= max(min(self.yes, self.no), 0):
            return None
        return Refusal(
            f"The column has about {counted(self.other_rows, 'row')} with values other than 0 and 1, true and false.",
            "Ask for a condition instead, such as 'x == 1' or 'x == \"yes\"'. If they are no codes, ask for their mean.",
        )

    @property
    def rows(self) -> float:
        """Rows where it is known which they are."""
        return self.yes + self.no

    @property
    def share(self) -> float:
        """The share of those that are true."""
        return share_of_counts(self.yes, self.no)


@method(PROPORTION, "counts", claim=COUNTS_CLAIM, version=2, by_unit=one_step, tells_truths=True)
@method(MEAN, "counts", claim=COUNTS_CLAIM, version=2, by_unit=one_step, tells_truths=True)
def share_by_counts(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The share of true rows among those that are true or false."""
    counts = release_counts_of(*raw_counts_of(column), question.epsilon, question.neighbors, rng)
    low, high = 0.0, 1.0
    if question.interval:
        stretch = share_stretch(column, counts.share, counts.rows, rng)
        low, high = score_interval(*thinned(counts.yes, counts.no, counts.noise, stretch), float(question.interval))
    answer = Answer(counts.share, interval_for(question, low, high, SHARE_COVERS), _notes(question, counts))
    if counts.refusal is not None:  # also where a rough answer is wanted: a share of other rows is not rough, it is another one
        return counts.refusal
    outcome = PROPORTION_FLOOR.judge(question, counts.rows, answer)
    return replace(outcome, reason=f"{outcome.reason} {NOT_COUNTED}") if isinstance(outcome, Refusal) else outcome


def raw_counts_of(column: Column) -> tuple[int, int, int]:
    """How many rows are 1, how many 0, and how many another value."""
    assert column.dtype is not None
    cuts: list[int | float] = [0, 1, 2]
    if column.dtype.kind not in "iu":
        zero, one = column.dtype.type(0), column.dtype.type(1)
        cuts = [float(each) for number in (zero, one) for each in (number, np.nextafter(number, column.dtype.type(np.inf)))]
    raw_below = column.counts_below(cuts)
    raw_yes, raw_no = raw_below[-1] - raw_below[-2], raw_below[1] - raw_below[0]
    return raw_yes, raw_no, column.count() - raw_yes - raw_no


def release_counts_of(
    raw_yes: int, raw_no: int, raw_others: int, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource
) -> NoisyCounts:
    """The counts with the noise that hides a row: on each; where a row may change, on the difference and sum of yes and no."""
    if neighbors is Neighbors.ADD_REMOVE:
        yes, no, others = noisy_counts([raw_yes, raw_no, raw_others], epsilon, rng)
        return NoisyCounts(yes, no, CountNoise.laplace(float(epsilon)), others, float(1 / epsilon))
    epsilon, others_epsilon = epsilon * (1 - OTHERS_SHARE), epsilon * OTHERS_SHARE
    noise = sample_discrete_laplace(CHANGED_ROW / epsilon, 2, rng).tolist()
    noisy_others = noisy_count(raw_others, others_epsilon, rng)
    noisy_lead, noisy_rows = raw_yes - raw_no + noise[0], raw_yes + raw_no + noise[1]
    counts = CountNoise.laplace(float(epsilon) / CHANGED_ROW, turned=True)
    return NoisyCounts(
        (noisy_rows + noisy_lead) / 2, (noisy_rows - noisy_lead) / 2, counts, noisy_others, float(1 / others_epsilon)
    )


def _notes(question: Question, counts: NoisyCounts) -> tuple[tuple[str, str], ...]:
    """The card's lines."""
    yes, rows = (max(0, math.floor(each + 0.5)) for each in (counts.yes, counts.rows))
    return (
        ("counted", f"about {yes:,} of {rows:,} rows, both with noise"),
        *([("other values", f"about {counted(counts.other_rows, 'row')}, left out")] if counts.other_rows else []),
        ("missing values", NOT_TOLD),
        PROPORTION_FLOOR.note(question),
        public_line(question),
        ("numerics", "exact: whole numbers and an exact sampler; share and interval are floats made from noisy counts"),
    )
