"""Short-cut regressions: medians of what random blocks of rows vote for.

Claim      "short_cut" and "theil_sen": epsilon-DP, no delta; "dwork-lei": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One row changes one vote (regression/ballots.py). Each coefficient is a median of its votes that is private for one
           changed vote: by a draw over all numbers (universal/intervals.py), or by Algorithm M
           (propose_test_release/locations.py); the parts of epsilon for them add up. "theil_sen" takes the median slope of
           pairs of rows, and for the intercept a median of what that released slope leaves of each row
Numerics   Votes are rounded once; from there on exact, as the medians are
No reply   Where too few blocks determine the coefficients, by a noisy count of them; "dwork-lei" where a test fails. Costs the
           same as an answer
Source     short_cut_regression.proof.md; Dwork & Lei 2009, section 4.1 and Example 21; Theil 1950, Sen 1968
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal, method
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Column, Table
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.propose_test_release import REASON, Refused
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.cards import public_line
from dpstats.statistics.propose_test_release.answers import for_each
from dpstats.statistics.propose_test_release.locations import QuantileStatistic
from dpstats.statistics.propose_test_release.quantile_methods import locate_dwork_lei
from dpstats.statistics.propose_test_release.setting import LEAST_ROWS, Setting
from dpstats.statistics.regression.ballots import ROWS_SHARE, VOTES_SHARE, Ballot, hold_ballot
from dpstats.statistics.regression.fit import LINEAR, fit_of
from dpstats.statistics.regression.solves import LARGEST
from dpstats.statistics.step_regressions import LINEAR_REGRESSION
from dpstats.statistics.universal.bounded import Bounded
from dpstats.statistics.universal.decimals import float_of
from dpstats.statistics.universal.intervals import draw_bounded
from dpstats.statistics.universal.losses import NOISE, loss_of_one
from dpstats.statistics.universal.single import draw_quantile

HALF = Fraction(1, 2)
REST = 1 - ROWS_SHARE - VOTES_SHARE
"""The part of epsilon for coefficients."""
BALLOT_LOSS = (ROWS_SHARE**2 + VOTES_SHARE**2) * NOISE + REST**2 * loss_of_one()
"""rho / epsilon**2 of a single coefficient; several share the same part of epsilon and lose less."""
SLOPE_SHARE, LEVER_SHARE = Fraction(6, 10), Fraction(1, 10)
"""Of the rest, for the slope of "theil_sen", and where an interval is wanted for the middle of its feature."""
LEAST_VOTES = 40
"""A median of fewer votes than this over its epsilon may be anything."""
VOTES_ERROR = (
    "sampling error and noise: the median of what blocks of rows determine, which is the coefficient where errors are symmetric"
)
SLOPE_ERROR = "sampling error and noise: the coefficient where errors have the same law for every row"
TOO_FEW = Refusal(
    "Too few blocks of rows determine the coefficients.",
    "More rows, a larger epsilon or fewer features help. Leave out features that hardly vary or that follow from others.",
)
UNTESTED = Refusal(REASON, "More rows, or fewer features, make a reply likelier. Or ask with method='short_cut', without delta.")


@method(
    LINEAR_REGRESSION,
    "short_cut",
    claim="pure epsilon-DP, no bounds asked, no delta: medians of the coefficients that random blocks of rows determine; refuses "
    "where too few of them do",
    loss=BALLOT_LOSS,
    version=3,
)
def short_cut_regression(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """A universal median of the votes for each coefficient."""
    ballot = hold_ballot(table.matrix(), question.arguments["intercept"], question.epsilon, rng)
    size = ballot.raw_votes.shape[1]
    each = question.epsilon * REST / size
    noisy_votes = ballot.count_votes(question.epsilon, rng)
    if noisy_votes * each < LEAST_VOTES:
        return TOO_FEW
    drawn = [draw_median(ballot.column(place), each, Neighbors.CHANGE_ONE, question, rng) for place in range(size)]
    fit = fit_of(question, LINEAR, [bounded.value for bounded in drawn], rows=ballot.noisy_rows)
    return Answer(fit, None, _notes(question, ballot, noisy_votes, each), intervals_of(question, drawn, [VOTES_ERROR] * size))


def check_one_feature(question: Question) -> None:
    """Raise where there are several features."""
    if len(question.columns) > 2:
        raise InvalidParameterError(
            f"{question.statistic.name} by method 'theil_sen' takes one feature, got {len(question.columns) - 1}: "
            "choose one, or ask with method='short_cut'."
        )


@method(
    LINEAR_REGRESSION,
    "theil_sen",
    claim="pure epsilon-DP, no bounds asked, no delta, one feature: the median slope of random pairs of rows, and a median "
    "intercept; refuses where too few pairs have a slope",
    loss=BALLOT_LOSS,
    version=3,
    check=check_one_feature,
)
def theil_sen_regression(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The median slope of pairs, and the median of what it leaves of the rows."""
    has_intercept, raw_matrix, rest = question.arguments["intercept"], table.matrix(), question.epsilon * REST
    ballot = hold_ballot(raw_matrix, has_intercept, question.epsilon, rng)
    slope_epsilon = rest * SLOPE_SHARE if has_intercept else rest
    noisy_votes = ballot.count_votes(question.epsilon, rng)
    if noisy_votes * slope_epsilon < LEAST_VOTES:
        return TOO_FEW
    drawn = [draw_median(ballot.column(-1), slope_epsilon, Neighbors.CHANGE_ONE, question, rng)]
    if has_intercept:
        drawn.insert(0, _draw_intercept(raw_matrix, drawn[0], rest - slope_epsilon, question, rng))
    fit = fit_of(question, LINEAR, [bounded.value for bounded in drawn], rows=ballot.noisy_rows)
    notes = _notes(question, ballot, noisy_votes, slope_epsilon)
    return Answer(fit, None, notes, intervals_of(question, drawn, [SLOPE_ERROR] * len(drawn)))


@method(
    LINEAR_REGRESSION,
    "dwork-lei",
    claim="(epsilon, delta)-DP, may refuse: the short-cut regression R_s, medians of blocks' coefficients by Algorithm M",
    needs_delta=True,
)
def dwork_lei_regression(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Algorithm M on the votes for each coefficient; a block that abstains votes 0."""
    ballot = hold_ballot(table.matrix(), question.arguments["intercept"], question.epsilon, rng)
    size = ballot.raw_votes.shape[1]
    epsilon, delta = question.epsilon * (1 - ROWS_SHARE) / size, question.delta / size
    rows = max(ballot.blocks, LEAST_ROWS)

    def locate(place: int) -> Any:
        setting = Setting(ballot.full_column(place), rows, epsilon, delta, Neighbors.CHANGE_ONE, rng)
        return locate_dwork_lei(QuantileStatistic(HALF), setting)

    outcome = for_each(tuple(range(size)), locate)
    if isinstance(outcome, Refused):
        return UNTESTED
    notes = (("no reply", "would have cost the same"), ("intervals", "none by this method"), *_common_notes(question, ballot))
    return Answer(fit_of(question, LINEAR, outcome, rows=ballot.noisy_rows), notes=notes)


def draw_median(column: Column, epsilon: Fraction, neighbors: Neighbors, question: Question, rng: RandomSource) -> Bounded:
    """A universal median, with an interval where the question wants one."""
    if question.interval is not None:
        return draw_bounded(column, HALF, epsilon, neighbors, float(question.interval), rng)
    return Bounded(float_of(draw_quantile(column, HALF, epsilon, neighbors, rng)), -math.inf, math.inf)


def intervals_of(question: Question, drawn: Sequence[Bounded], covers: Sequence[str]) -> tuple[Interval, ...]:
    """An interval for each value, where the question wants them."""
    if question.interval is None:
        return ()
    level = float(question.interval)
    return tuple(Interval(bounded.low, bounded.high, level, said) for bounded, said in zip(drawn, covers, strict=True))


def _draw_intercept(
    raw_matrix: NDArray[np.float64],
    slope: Bounded,
    epsilon: Fraction,
    question: Question,
    rng: RandomSource,
) -> Bounded:
    """The median of what a released slope leaves of the rows; its interval also has room for the error of the slope."""
    raw_x, raw_y = np.clip(raw_matrix, -LARGEST, LARGEST).T
    with np.errstate(all="ignore"):
        raw_left = VotesColumn(raw_y - slope.value * raw_x)
    if question.interval is None:
        return draw_median(raw_left, epsilon, question.neighbors, question, rng)
    lever_epsilon = epsilon * LEVER_SHARE / (1 - SLOPE_SHARE)
    lever = float_of(draw_quantile(VotesColumn(raw_x), HALF, lever_epsilon, question.neighbors, rng))
    left = draw_median(raw_left, epsilon - lever_epsilon, question.neighbors, question, rng)
    shifts = sorted((slope.value - end) * lever if lever else 0.0 for end in (slope.low, slope.high))
    below, above = math.hypot(left.value - left.low, shifts[0]), math.hypot(left.high - left.value, shifts[1])
    return Bounded(left.value, left.value - below, left.value + above)


def _notes(question: Question, ballot: Ballot, noisy_votes: int, epsilon: Fraction) -> tuple[tuple[str, str], ...]:
    size = ballot.raw_votes.shape[1]
    rows = 2 * size * math.ceil(LEAST_VOTES / epsilon)
    share = min(max(noisy_votes / max(ballot.blocks, 1), 0.0), 1.0)
    return (
        ("votes", f"about {100 * share:.0f}% of the blocks determine coefficients; the others abstain"),
        ("reliable from", f"about {counted(rows, 'row')} at this epsilon"),
        *_common_notes(question, ballot),
    )


def _common_notes(question: Question, ballot: Ballot) -> tuple[tuple[str, str], ...]:
    size = ballot.raw_votes.shape[1]
    return (
        ("blocks", f"{ballot.blocks:,} of {counted(size, 'row')} each, from a noisy number of rows"),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out of all"),
        ("memory", "all rows of all columns at once"),
        public_line(question),
        ("numerics", "votes are rounded to floats; from there on exact, released as decimals of 15 digits"),
    )
