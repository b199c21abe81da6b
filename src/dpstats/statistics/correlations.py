"""Covariance and correlation without bounds.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon, except
           for rank correlations, which have a scale of their own for it
Why        Pearson's correlation: a rough one, and steps by noisy sums of scores (paired/scores.py). Covariance: a rough one, and
           a noisy sum of scores (paired/covariances.py). Covariance by "clipped", and Pearson's correlation by "cells": part of
           epsilon finds private limits of each column (universal/limits.py), the rest buys noisy product cells of the rows that
           are cut off there (paired/products.py).
           Kendall's tau and Spearman's rho: all of epsilon buys noisy votes of pairs and triples of rows (paired/votes.py)
Numerics   Exact from the rows to the noisy sums, cells and votes; floats after that
No reply   By scores, where the noisy number of rows is too small at this epsilon, where noise hides how much a column varies, or
           where rows far out decide it; costs the same as an answer
Source     correlations.proof.md, scores.proof.md, votes.proof.md, limits.proof.md
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.accepted import literal_of
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import one_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, method
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.foundations.text_tables import counted
from dpstats.statistics.cards import interval_for, public_line, register_number
from dpstats.statistics.clipped.clips import Cut
from dpstats.statistics.clipped.margins import Frame
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import CLIPPED_CLAIM, WHOLE_ERROR, held
from dpstats.statistics.paired.associations import Association, kendall_of, spearman_of
from dpstats.statistics.paired.covariances import CovarianceWalk
from dpstats.statistics.paired.cuts import cuts_for_products, lost_squares
from dpstats.statistics.paired.moments import SecondMoments, moments_of
from dpstats.statistics.paired.products import release_products
from dpstats.statistics.paired.scores import CorrelationWalk
from dpstats.statistics.paired.votes import KENDALL, SPEARMAN, release_votes
from dpstats.statistics.paired.walk import ROWS, PairWalk
from dpstats.statistics.regression.budget_split import PureBudgetSplit
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.statistics.universal.limits import MIDDLE, ROWS_SHARE, draw_limits

DEGREE = 2
"""Cells of higher degrees hold more moments for intervals, and have more noise, which weighs more (docs/correlations.md)."""
LIMITS_SHARE = Fraction(2, 5)
"""The limits of either column are found as if so much of epsilon were all there is; what they leave goes to the cells."""
KINDS = ("pearson", "spearman", "kendall")
RANKED = {"kendall": (KENDALL, kendall_of), "spearman": (SPEARMAN, spearman_of)}
RELIABLE_NATS = {"pearson": 1000, "spearman": 100, "kendall": 100}
NO_CUT = "sampling error and noise"
SCORED = "sampling error, noise, and what the cut of scores may leave out"
SCORES_FLOOR = Floor(nats=RELIABLE_NATS["pearson"])
CELLS, SCORES = "cells", "scores"
UNVARIED = Refusal(
    "Noise hides how much one of the columns varies: at this epsilon it cannot be told from one that is nearly constant.",
    "The cost is spent. More rows or a larger epsilon may show how it varies; rank correlations need fewer.",
)
HEAVY_TAILS = Refusal(
    "Rows far out decide this correlation, and there are too few of them to know by how much.",
    "The cost is spent. Ask for kind='spearman' or 'kendall', which rows far out do not move, or for the correlation of the "
    "columns' logarithms.",
)
HEAVY_PRODUCTS = Refusal(
    "Rows far out decide this covariance, and there are too few of them to know by how much.",
    "The cost is spent. Ask for correlation(kind='spearman'), which rows far out do not move, or for the covariance of the "
    "columns' logarithms.",
)
_LEAST_LIMITS = ROWS_SHARE + MIDDLE.least
COVARIANCE_LOSS = ((1 - _LEAST_LIMITS * 2 * LIMITS_SHARE) ** 2 + 2 * (_LEAST_LIMITS * LIMITS_SHARE) ** 2) / 2
"""rho / epsilon**2: limits that spend the least, and cells that spend the rest (correlations.proof.md)."""

_NUMBERS = (Reads.NUMBERS, Reads.NUMBERS)


def checked_kind(value: object) -> str:
    """One of the kinds of correlation."""
    if not isinstance(value, str) or value not in KINDS:
        raise InvalidParameterError(f"kind must be {', '.join(map(repr, KINDS[:-1]))} or {KINDS[-1]!r}, got {value!r}.")
    return str(value)


COVARIANCE = register_number("covariance", "The covariance of two columns of the same rows", reads=_NUMBERS)
CORRELATION = register_number(
    "correlation",
    "The correlation of two columns of the same rows, from -1 to 1",
    Parameter(
        "kind",
        "'pearson' (linear, the default), 'spearman' or 'kendall' (of ranks, tied ones included; less noise)",
        checked_kind,
        "pearson",
        one_of(KINDS),
        takes=literal_of(KINDS),
    ),
    reads=_NUMBERS,
    why_preferred="its error is the least for the correlation of the whole column, tails included",
)


@dataclass(frozen=True)
class Paired:
    """The moments of two columns whose rows were cut off at private limits."""

    cuts: tuple[Cut, Cut]
    frames: tuple[Frame, Frame]
    moments: SecondMoments

    @property
    def unit(self) -> float:
        """What u * v = 1 is as a product of numbers; the largest float where it is more."""
        return min(self.frames[0].radius * self.frames[1].radius, sys.float_info.max)

    def lost(self) -> tuple[float, float]:
        """About what the cuts may take from the variances of u and v."""
        x, y = (lost_squares(cut, frame.radius) for cut, frame in zip(self.cuts, self.frames, strict=True))
        return x / self.moments.rows, y / self.moments.rows


def read_paired(table: Table, epsilon: Fraction, rng: RandomSource) -> Paired | tuple[Cut, Cut]:
    """Spend epsilon, for one row added or removed, on limits and cells.

    Only the cuts where nearly all rows of a column are in one place.
    """
    limits = draw_limits(table.column(0), epsilon * LIMITS_SHARE, rng), draw_limits(table.column(1), epsilon * LIMITS_SHARE, rng)
    left = epsilon - sum(found.spent for found in limits)
    cuts = cuts_for_products(limits, epsilon)
    clips = cuts[0].clip, cuts[1].clip
    if clips[0] is None or clips[1] is None:
        return cuts
    cells = release_products(table, (clips[0], clips[1]), DEGREE, left, rng)
    return Paired(cuts, (Frame.of(clips[0]), Frame.of(clips[1])), moments_of(cells))


@method(
    COVARIANCE,
    SCORES,
    claim="pure epsilon-DP, no bounds asked, no delta: from noisy sums of scores that are cut off at a privately found place; "
    "may refuse",
    version=2,
)
def covariance_scores(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The covariance by scores; with too few rows, where a rough one is wanted, of the rows cut off at private limits."""
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    walk = CovarianceWalk(table, PureBudgetSplit(epsilon, rng), rng)
    rows = _rows_for_scores(walk, question)
    refusal = SCORES_FLOOR.refusal(question, rows)
    if refusal is not None:
        if not question.rough:
            return refusal
        return SCORES_FLOOR.judge(question, rows, _clipped_covariance(table, question, epsilon * (1 - ROWS), rng))
    found, notes = walk.arrive(), _scored_notes(question)
    if isinstance(found, float):
        return _unknown(walk, question, found)
    interval = None
    if question.interval is not None:
        low, high = (held(found.unit * end) for end in found.ends(float(question.interval)))
        interval = interval_for(question, low, high, SCORED)
    answer = Answer(held(found.unit * found.value), interval, notes)
    return answer if found.is_known else SCORES_FLOOR.refuse(question, answer, HEAVY_PRODUCTS, HEAVY_PRODUCTS.reason)


@method(COVARIANCE, "clipped", claim=CLIPPED_CLAIM, loss=COVARIANCE_LOSS, version=2)
def covariance_clipped(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The covariance of the rows, cut off at private limits."""
    return _clipped_covariance(table, question, row_epsilon(question.epsilon, question.neighbors), rng)


def _clipped_covariance(table: Table, question: Question, epsilon: Fraction, rng: RandomSource) -> Answer:
    """The covariance from product cells."""
    paired = read_paired(table, epsilon, rng)
    if not isinstance(paired, Paired):
        return Answer(0.0, interval_for(question, 0.0, 0.0, WHOLE_ERROR), _clipped_notes(question, paired))
    value = held(paired.unit * paired.moments.covariance)
    interval = None
    if question.interval is not None:
        below, above = (paired.unit * reach for reach in paired.moments.covariance_reach(float(question.interval), paired.lost()))
        interval = interval_for(question, held(value - below), held(value + above), WHOLE_ERROR)
    return Answer(value, interval, _clipped_notes(question, paired.cuts))


@method(
    CORRELATION,
    SCORES,
    claim="pure epsilon-DP, no bounds asked, no delta: pearson by steps along noisy sums of scores that are cut off at a "
    "privately found place, may refuse; kendall and spearman from noisy votes of pairs and triples of rows",
    version=5,
)
def correlation_scores(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """A correlation of the kind that the question names; with too few rows, where a rough Pearson's is wanted, from cells."""
    if question.arguments["kind"] in RANKED:
        return _rank_correlation(question.arguments["kind"], table, question, rng)
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    walk = CorrelationWalk(table, PureBudgetSplit(epsilon, rng), rng)
    rows = _rows_for_scores(walk, question)
    refusal = SCORES_FLOOR.refusal(question, rows)
    if refusal is not None:
        if not question.rough:
            return refusal
        return SCORES_FLOOR.judge(question, rows, _from_cells(table, question, epsilon * (1 - ROWS), rng))
    found, notes = walk.arrive(), _scored_notes(question)
    if found is None:
        return _unknown(walk, question, 1.0)
    interval = None
    if question.interval is not None:
        interval = interval_for(question, *found.ends(float(question.interval)), SCORED)
    answer = Answer(found.value, interval, notes)
    return answer if found.is_known else SCORES_FLOOR.refuse(question, answer, HEAVY_TAILS, HEAVY_TAILS.reason)


@method(
    CORRELATION,
    CELLS,
    claim="pure epsilon-DP, no bounds asked, no delta, no refusal: pearson from rows that are cut off at privately found limits, "
    "kendall and spearman from noisy votes of pairs and triples of rows",
    version=2,
)
def correlation_cells(table: Table, question: Question, rng: RandomSource) -> Answer:
    """A correlation of the kind that the question names."""
    kind = question.arguments["kind"]
    if kind in RANKED:
        return _rank_correlation(kind, table, question, rng)
    return _from_cells(table, question, row_epsilon(question.epsilon, question.neighbors), rng)


def _from_cells(table: Table, question: Question, epsilon: Fraction, rng: RandomSource) -> Answer:
    """Pearson's correlation from product cells."""
    paired = read_paired(table, epsilon, rng)
    if not isinstance(paired, Paired):
        return Answer(0.0, interval_for(question, -1.0, 1.0, WHOLE_ERROR), _clipped_notes(question, paired))
    value, interval = _value_and_interval(paired.moments.association(paired.lost()), question, WHOLE_ERROR)
    return Answer(value, interval, _clipped_notes(question, paired.cuts))


def _rows_for_scores(walk: PairWalk, question: Question) -> int:
    """The noisy number of rows; where it leaves too little for scores, fewer than those have to have."""
    if walk.has_enough_rows:
        return walk.noisy_rows
    return min(walk.noisy_rows, math.ceil(SCORES_FLOOR.rows_at(question)) - 1)


def _unknown(walk: PairWalk, question: Question, most: float) -> Outcome:
    """A refusal; where a rough answer is wanted, between -`most` and `most`."""
    refusal = TOO_LARGE if walk.is_too_large else UNVARIED
    interval = interval_for(question, -most, most, SCORED)
    return Answer(0.0, interval, _scored_notes(question), rough=refusal.reason) if question.rough else refusal


def _rank_correlation(kind: str, table: Table, question: Question, rng: RandomSource) -> Answer:
    count, read = RANKED[kind]
    raw_x, raw_y = table.pairs()
    votes = release_votes(count, raw_x, raw_y, question.epsilon, question.neighbors, rng)
    value, interval = _value_and_interval(read(votes), question, NO_CUT)
    notes = (
        ("ties", "rows that are tied share their mean rank" if kind == "spearman" else "tau-b: tied pairs are no votes"),
        ("memory", "all rows of both columns at once"),
    )
    return Answer(value, interval, (*notes, *_notes(question, kind)))


def _value_and_interval(association: Association, question: Question, covers: str) -> tuple[float, Interval | None]:
    if question.interval is None:
        return association.value, None
    return association.value, interval_for(question, *association.ends(float(question.interval)), covers)


def _clipped_notes(question: Question, cuts: tuple[Cut, Cut]) -> tuple[tuple[str, str], ...]:
    ranges = (f"{float(cut.low):.6g} to {float(cut.high):.6g}" for cut in cuts)
    constant = any(cut.clip is None for cut in cuts)
    said = "nearly all rows of one column are in one place, so the two have nothing to vary together"
    return (
        ("limits", f"rows beyond count as at them: {', '.join(ranges)}"),
        *((("constant", said),) if constant else ()),
        *_notes(question, "pearson"),
    )


def _scored_notes(question: Question) -> tuple[tuple[str, str], ...]:
    return SCORES_FLOOR.note(question), *_notes(question, "pearson")[1:]


def _notes(question: Question, kind: str) -> tuple[tuple[str, str], ...]:
    rows = math.ceil(RELIABLE_NATS[kind] / row_epsilon(question.epsilon, question.neighbors))
    return (
        ("reliable from", f"about {counted(rows, 'row')} at this epsilon"),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out of both"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
