"""Means and sums without bounds.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        Part of epsilon finds private limits of the rows (universal/limits.py), a little tells how many rows lie beyond them
           (clipped/shells.py), and the rest buys noisy cells of the rows that are cut off there (clipped/cells.py): their number,
           sum and squares at once. Mean, sum and interval are read off them. A column of zeros and ones is counted instead
           (clipped/zeros_and_ones.py)
Numerics   Exact from the rows to the noisy cells; floats after that
No reply   Below a floor of rows times epsilon, by released numbers of rows alone (floors.py); costs what an answer does
Source     limits.proof.md, cells.proof.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.portable import inner_product
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Refusal, SameQuestion, method
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import nearest_float, round_up
from dpstats.foundations.summaries import MISSING_POLICY, Column, expect_power_sums
from dpstats.foundations.text_tables import counted
from dpstats.statistics.by_unit import no_step, one_step, share_stretch, with_units
from dpstats.statistics.cards import public_line, register_number
from dpstats.statistics.clipped.cells import NO_EDGES, NoisyCells, release_cells
from dpstats.statistics.clipped.clips import ROOM, Cut, cut_at
from dpstats.statistics.clipped.guesses import LikelyClip
from dpstats.statistics.clipped.margins import FEWEST_ROWS, Frame, critical_value, laplace_kurtosis, mean_of, spread_of
from dpstats.statistics.clipped.outer import unseen_rows
from dpstats.statistics.clipped.shells import ALIKE_SHARE, SHELLS, hidden_rows, widen_cut
from dpstats.statistics.clipped.zeros_and_ones import (
    ONE,
    SURE_SCALES,
    ZERO,
    ZerosAndOnes,
    look_for_zeros_and_ones,
    release_zeros_and_ones,
    spent_by_looks,
)
from dpstats.statistics.floors import Floor
from dpstats.statistics.score_intervals import share_of_counts
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.limits import Limits, draw_middle, largest_loss, limits_around

CLIPPED_CLAIM = "pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits"
WHOLE_ERROR = "sampling error, noise, and what the cut at the limits may leave out"
CLIPPED_LOSS = largest_loss(between=spent_by_looks())
"""Of every statistic that is read off the limits and the cells alone."""
SUM_ERROR = "the sum of the rows in the table: noise, and what the cut at the limits may leave out"
DEGREE = 3
MEAN_DEGREE, SUM_DEGREE, SQUARES_DEGREE = 2, 1, 4
"""A mean needs the rows' squares for its interval, a variance their fourth powers. Without an interval, and for a sum, the rows
will do, with less noise."""
LARGEST = sys.float_info.max
MOST_LOST = 6.0
"""An interval is lengthened for tails beyond the clip by at most this many times its half; for suspected rows without a limit."""
MEAN_FLOOR, ALIKE_FLOOR = Floor(250, 30), Floor(600, 30)
"""Below these, means and sums are off by more than their intervals too often (docs/intervals.md)."""
ASTRAY = Refusal(
    "Rows lie far from the limits that were found.",
    "If they are codes, such as 999999 for a missing value, leave these out by a condition. Otherwise ask for a median or "
    "an interquartile range, or with a larger epsilon; rough=True takes a rough answer.",
)
SEEM_ZERO = Refusal(
    "Nearly all rows seem to be 0: noise hides how many are not, and how large those are.",
    "Ask for the share of rows that are not 0, such as proportion('x != 0'), or with a larger epsilon; rough=True takes a rough "
    "answer.",
)
"""Of 3,000 amounts of which 98.5% are 0 and the others 100, means at an epsilon of .5 were 0 with an interval that ended at .01,
in half of the samples; the mean is 1.5."""
FEW_ROWS = 400
"""With fewer, skewness shows in an interval, and the cells tell the rows' cubes, too."""
UNSEEN_ROWS = 3
"""Where all rows of a sample are alike, about this many of as many rows of the population may not be (the rule of three)."""

MEAN = register_number(
    "mean",
    "The mean of the rows",
    boolean_method="counts",  # proportions.py
    same_as=lambda arguments: SameQuestion("proportion"),  # by the method that both have
)
SUM = register_number("sum", "The sum of the rows")


@dataclass(frozen=True)
class Clipped:
    """Noisy cells of a column whose rows were cut off at private limits."""

    cut: Cut
    cells: NoisyCells | None
    """None where all rows but a few have the same value, which is the middle of the cut."""
    frame: Frame
    noisy_rows: float
    """Rows inside the cut, as the last and largest part of epsilon counts them; where all seem alike, those at the middle."""
    epsilon: Fraction
    """What was spent for one row."""
    unseen_rows: float = 0.0
    """About how many rows far beyond the cut would go unnoticed."""
    counted: ZerosAndOnes | None = None
    """The rows of a column of zeros and ones."""

    @property
    def astray(self) -> Refusal | None:
        """The refusal that is due where released numbers say that many rows lie elsewhere than in the cut."""
        if self.counted is not None:
            return self.counted.refusal
        return ASTRAY if self.cut.astray else None

    def hidden(self) -> float:
        """Where no side shows rows, about what those may add to the sum that are there all the same.

        Their number is one that counts as none; their distance is a guess.
        """
        return hidden_rows(self.epsilon) * self.step

    @property
    def step(self) -> float:
        """The distance at which rows may lie that no side shows: the size of the middle, or 1 where that is 0."""
        return abs(float(self.cut.middle)) or 1.0

    @property
    def floor(self) -> Floor:
        """What a mean takes; more where all rows seem alike, so that those that hide are few beside them."""
        alike = self.cells is None if self.counted is None else self.counted.seem_alike
        return ALIKE_FLOOR if alike else MEAN_FLOOR


def read_clipped(column: Column, question: Question, rng: RandomSource, degree: int = DEGREE, room: float = ROOM) -> Clipped:
    """Spend the whole of a question on the cells of a column."""
    return clipped_for(column, row_epsilon(question.epsilon, question.neighbors), rng, degree, room)


def clipped_for(
    column: Column,
    epsilon: Fraction,
    rng: RandomSource,
    degree: int,
    room: float,
    *,
    guess_cut: Callable[[Limits, float], Cut] = cut_at,
    shells: Fraction = SHELLS,
    reaches: bool = True,
) -> Clipped:
    """Cells of a column at limits of its own, with reaches or without, for one row added or removed.

    `widen_cut` gets the cut that `guess_cut` makes of the limits, and the part `shells` of epsilon.
    """
    expect_power_sums(column, LikelyClip(epsilon, room, degree))
    middle = draw_middle(column, epsilon, rng, reaches=reaches)
    is_counted, looked = look_for_zeros_and_ones(column, middle.place, epsilon, rng)
    if is_counted:
        left = epsilon - middle.spent - middle.spent_in_band - looked
        counted = _with_units(column, release_zeros_and_ones(column, left, rng), degree, rng)
        return _of_zeros_and_ones(counted, middle.place, degree, epsilon)
    limits = limits_around(middle, epsilon, looked, reaches=reaches)
    left = epsilon - limits.spent
    guess = guess_cut(limits, room)
    shells_epsilon = min(epsilon * (ALIKE_SHARE if guess.clip is None else shells), left / 3)
    left -= shells_epsilon
    power = 2 if degree >= SQUARES_DEGREE else 1
    cut, noisy_inside, spent_again, outer = widen_cut(column, guess, shells_epsilon, left, rng, power)
    clip, unseen = cut.clip, unseen_rows(shells_epsilon + left - spent_again)
    if clip is None and middle.place in (ZERO, ONE):  # no cells: there is epsilon left to count them
        counted = _with_units(column, release_zeros_and_ones(column, left - spent_again, rng), degree, rng)
        return _of_zeros_and_ones(counted, middle.place, degree, epsilon)
    if clip is None:
        return Clipped(cut, None, Frame(float(cut.middle), 0.0), noisy_inside, epsilon, unseen)
    if degree == MEAN_DEGREE and limits.noisy_rows < FEW_ROWS:
        degree = DEGREE
    cells = release_cells(column, clip, degree, left - spent_again, rng, outer.edges if outer else NO_EDGES)
    if outer is not None:
        cells, astray = outer.judged(cells, Frame.of(clip), power)
        cut = replace(cut, astray=cut.astray or astray)
    cells = with_units(column, clip, cells, rng)
    return Clipped(cut, cells, Frame.of(clip), cells.total(0), epsilon, unseen)


def _with_units(column: Column, zeros_and_ones: ZerosAndOnes, degree: int, rng: RandomSource) -> ZerosAndOnes:
    """The same with how alike the rows of a unit are, where cells of the degree tell variances."""
    if degree < MEAN_DEGREE:
        return zeros_and_ones
    share = share_of_counts(zeros_and_ones.ones, zeros_and_ones.zeros)
    return replace(zeros_and_ones, stretch=share_stretch(column, share, zeros_and_ones.noisy_rows, rng))


def _of_zeros_and_ones(counted: ZerosAndOnes, middle: int, degree: int, epsilon: Fraction) -> Clipped:
    """Cells of a column of zeros and ones, from noisy numbers of both."""
    cut = Cut(Fraction(0), Fraction(1), None, None, fraction_of(middle))
    unseen = SURE_SCALES / float(counted.epsilon)
    return Clipped(cut, counted.cells(degree), Frame(0.5, 0.5), counted.noisy_rows, epsilon, unseen, counted)


@method(MEAN, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS, version=5, by_unit=one_step)
def mean_clipped(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The mean of the rows, cut off at private limits."""
    clipped = read_clipped(column, question, rng, SUM_DEGREE if question.interval is None else MEAN_DEGREE)
    value, interval = mean_and_interval(clipped, question.interval)
    return judged_clip(question, clipped, Answer(value, interval, clipped_notes(question, clipped)))


@method(SUM, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS, version=4, by_unit=no_step)
def sum_clipped(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The sum of the rows, cut off at private limits; its interval is for the sum of these very rows."""
    clipped = read_clipped(column, question, rng, SUM_DEGREE)
    if clipped.cells is None:
        value, interval = _sum_of_alike(clipped, question.interval)
        return _judged_sum(question, clipped, value, interval)
    if clipped.counted is not None:
        value, interval = _sum_of_counted(clipped.counted, question.interval)
        return _judged_sum(question, clipped, value, interval)
    frame, cells = clipped.frame, clipped.cells
    size = max(abs(frame.centre), frame.radius)  # sums are made in units of it, so that no number leaves the floats
    weights = frame.centre / size + frame.radius / size * cells.weights(1)
    value = held(size * inner_product(weights, cells.noisy))
    interval = None
    if question.interval is not None:
        level = float(question.interval)
        half = size * critical_value(level, laplace_kurtosis(weights)) * math.sqrt(cells.noise_variance(weights))
        below, above = (lost + frame.radius * slack for lost, slack in zip(clipped.cut.lost, cells.slack(1), strict=True))
        low, high = value - half - below, value + half + above
        interval = Interval(held(low), held(high), level, SUM_ERROR)
    return _judged_sum(question, clipped, value, interval)


def _judged_sum(question: Question, clipped: Clipped, value: float, interval: Interval | None) -> Outcome:
    return judged_clip(question, clipped, Answer(value, interval, clipped_notes(question, clipped)))


def judged_clip(question: Question, clipped: Clipped, answer: Answer, floor: Floor | None = None) -> Outcome:
    """The answer; a refusal below the floor, or where the limits lay far from most rows."""
    astray = clipped.astray
    if astray is not None:
        return Floor.refuse(question, answer, astray, astray.reason)
    least = floor or MEAN_FLOOR
    is_enough = least.refusal(question, clipped.noisy_rows) is None
    if is_enough and clipped.counted is not None and clipped.counted.seem_zero:
        return Floor.refuse(question, answer, SEEM_ZERO, SEEM_ZERO.reason)
    due = floor or clipped.floor if is_enough else least
    return due.judge(question, clipped.noisy_rows, answer)


def held(number: float) -> float:
    """A number, or the largest float of its sign."""
    return max(-LARGEST, min(LARGEST, number))


def _sum_of_alike(clipped: Clipped, level: Fraction | None) -> tuple[float, Interval | None]:
    """The sum where all rows but a few have one value: that value times their noisy number."""
    size = abs(float(clipped.cut.middle))
    value = nearest_float(clipped.cut.middle * round(clipped.noisy_rows))
    if level is None:
        return value, None
    noise_rows = math.log(1 / (1 - level)) / float(clipped.epsilon * ALIKE_SHARE)
    half = min(size * noise_rows + clipped.hidden(), LARGEST)
    return value, Interval(max(value - half, -LARGEST), min(value + half, LARGEST), float(level), SUM_ERROR)


def _sum_of_counted(counted: ZerosAndOnes, level: Fraction | None) -> tuple[float, Interval | None]:
    """The sum of zeros and ones."""
    value = float(counted.total(1))
    if level is None:
        return value, None
    weights = [1.0, 2.0] if counted.noticed else [1.0]
    noise = counted.noise.variance * math.fsum(weight * weight for weight in weights)
    half = critical_value(float(level), laplace_kurtosis(weights)) * math.sqrt(noise)
    return value, Interval(value - half, value + half + 2 * counted.unnoticed, float(level), SUM_ERROR)


def mean_and_interval(clipped: Clipped, level: Fraction | None) -> tuple[float, Interval | None]:
    """The mean that noisy cells tell, and an interval for the population's."""
    if clipped.cells is None:
        value = float(clipped.cut.middle)
        half = min((clipped.hidden() + UNSEEN_ROWS * clipped.step) / max(clipped.noisy_rows, FEWEST_ROWS), LARGEST - abs(value))
        return value, None if level is None else Interval(value - half, value + half, float(level), WHOLE_ERROR)
    if clipped.counted is not None:
        return _share_and_interval(clipped.counted, level)
    frame = clipped.frame
    value = held(frame.centre + frame.radius * mean_of(clipped.cells))
    if level is None:
        return value, None
    spread = spread_of(clipped.cells)
    below, above = spread.reach(float(level))
    half = frame.radius * (below + above) / 2
    rows = max(spread.rows, FEWEST_ROWS)
    lost_below, lost_above = (
        min(lost / rows, MOST_LOST * half) + frame.radius * slack / rows
        for lost, slack in zip(clipped.cut.lost, clipped.cells.slack(1), strict=True)
    )
    low, high = value - frame.radius * below - lost_below, value + frame.radius * above + lost_above
    return value, Interval(held(low), held(high), float(level), WHOLE_ERROR)


def _share_and_interval(counted: ZerosAndOnes, level: Fraction | None) -> tuple[float, Interval | None]:
    """The mean of zeros and ones, with an interval that holds near 0 and 1."""
    value = counted.mean_of(1)
    if level is None:
        return value, None
    below, above = counted.mean_reach(float(level))
    return value, Interval(value - below, value + above, float(level), WHOLE_ERROR)


def clipped_notes(question: Question, clipped: Clipped) -> tuple[tuple[str, str], ...]:
    """The card's lines on where rows were cut off, and on what is public."""
    rows = round_up(MEAN_FLOOR.rows_at(question))
    return (
        ("limits", f"rows count as no less than {float(clipped.cut.low):.6g} and no more than {float(clipped.cut.high):.6g}"),
        ("reliable from", f"about {counted(rows, 'row')} at this epsilon; a few rows far out, whatever they hold, are cut off"),
        *_unseen_note(clipped),
        ("missing values", MISSING_POLICY),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )


def _unseen_note(clipped: Clipped) -> tuple[tuple[str, str], ...]:
    """The card's line on rows that released numbers do not show."""
    if clipped.unseen_rows <= 0:
        return ()
    rows = counted(round_up(math.ceil(clipped.unseen_rows)), "row")
    where = "neither 0 nor 1" if clipped.counted is not None else "far beyond the limits"
    return (("not seen", f"up to about {rows} {where} would go unnoticed: the interval is for the column without them"),)
