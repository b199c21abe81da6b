"""Short-cut regressions: medians of what random blocks of rows vote for.

Claim      "short_cut": epsilon-DP, no delta; "dwork-lei": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One row changes one vote (regression/ballots.py). Each coefficient is a median of its votes that is private for one
           changed vote: by a draw over all numbers (universal/intervals.py), or by Algorithm M
           (propose_test_release/locations.py); the parts of epsilon for them add up
Numerics   Votes are rounded once; from there on exact, as the medians are
No reply   Where too few blocks determine the coefficients, by a noisy count of them; "dwork-lei" where a test fails. Costs the
           same as an answer
Source     short_cut_regression.proof.md; Dwork & Lei 2009, section 4.1 and Example 21
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal, method
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Table
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
LEAST_VOTES = 40
"""A median of fewer votes than this over its epsilon may be anything."""
VOTES_ERROR = (
    "sampling error and noise: the median of what blocks of rows determine, which is the coefficient where errors are symmetric"
)
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
    drawn = [draw_median(ballot.column(place), each, question, rng) for place in range(size)]
    fit = fit_of(question, LINEAR, [bounded.value for bounded in drawn], rows=ballot.noisy_rows)
    return Answer(fit, None, _notes(question, ballot, noisy_votes, each), intervals_of(question, drawn))


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


def draw_median(votes: VotesColumn, epsilon: Fraction, question: Question, rng: RandomSource) -> Bounded:
    """A universal median for one changed vote, with an interval where the question wants one."""
    if question.interval is not None:
        return draw_bounded(votes, HALF, epsilon, Neighbors.CHANGE_ONE, float(question.interval), rng)
    return Bounded(float_of(draw_quantile(votes, HALF, epsilon, Neighbors.CHANGE_ONE, rng)), -math.inf, math.inf)


def intervals_of(question: Question, drawn: Sequence[Bounded]) -> tuple[Interval, ...]:
    """An interval for each value, where the question wants them."""
    if question.interval is None:
        return ()
    level = float(question.interval)
    return tuple(Interval(bounded.low, bounded.high, level, VOTES_ERROR) for bounded in drawn)


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
