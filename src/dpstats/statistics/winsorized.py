"""The Winsorized mean without bounds: the mean of the rows, those beyond two quantiles counted as if they were there.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        A noisy number of rows; the median; on either side of it, at once, a scale and the quantile; noisy cells of the rows
           that are cut off there (clipped/cells.py). The parts of epsilon add up; all else is read off what was released
Numerics   Exact from the rows to quantiles and noisy cells; floats after that
No reply   Below a floor of rows times epsilon, by released numbers of rows alone (floors.py); costs what an answer does
Source     winsorized.proof.md, cells.proof.md; the interval: Huber 1981, section 3.3, for the influence of the quantiles
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Refusal, method
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational, nearest_float
from dpstats.foundations.summaries import MISSING_POLICY, Column
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.by_unit import one_step, with_units
from dpstats.statistics.cards import public_line, register_number
from dpstats.statistics.clipped.cells import NoisyCells, release_cells
from dpstats.statistics.clipped.clips import clip_between
from dpstats.statistics.clipped.margins import Frame, critical_value, mean_of, spread_of
from dpstats.statistics.floors import Floor
from dpstats.statistics.universal.bands import digits_told
from dpstats.statistics.universal.beside import TIED_WEIGHT, flat_up_to, shells_around, shells_beside
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.draw import RankLoss, symmetric_slope
from dpstats.statistics.universal.intervals import draw_scales, has_few_digits, side_of
from dpstats.statistics.universal.limits import Share
from dpstats.statistics.universal.order import COINS, LINE, Order, Part, Place
from dpstats.statistics.universal.outward import OutwardDraw, draw_outward
from dpstats.statistics.universal.tails import draw_share

CUT_CLAIM = "pure epsilon-DP, no bounds asked, no delta: rows are cut off at private quantiles"
SAMPLED_ERROR = "sampling error and noise"
ROWS_SHARE = Fraction(2, 100)
MIDDLE = Share(60, Fraction(4, 100), Fraction(25, 100))
SCALE = Share(40, Fraction(3, 100), Fraction(15, 100))
QUANTILE = Share(60, Fraction(15, 100), Fraction(20, 100))
DEGREE, LEAST_DEGREE = 3, 1
"""The degree of the cells: with an interval, which needs the rows' powers, and without, with less noise in the mean."""
SPARE = Fraction(3, 2)
SAFE_NATS = 8
"""A quantile leaves rows worth at least this many nats beyond it."""
MOST_TRIM = Fraction(45, 100)
CAUTION = 1.5
"""The variance that noisy ranks add counts as this many times as much: their law has heavy tails, and so may the rows."""
STEEPER = 1.6
"""Quantile functions of skewed rows are steeper on the longer side than a logistic law's."""
STRETCHED, MOST_STRETCHED = 1.5, 4.0
"""So are those of heavy tails: distances from the middle grow like a power of a logistic law's, which scale and quantile tell."""
SMALLEST_TRIM = Fraction(5, 100)
"""A smaller trim takes no more rows than this one, and becomes a larger one where so few rows cannot be hidden."""
FEWEST_AT = 1 / 3
"""The mean of rows that are cut off is at least this part of what the rows beyond a quantile make it; less is noise, or a
quantile that is astray. With a larger part noise near the floor is taken for that."""
ASTRAY = "The noise of this answer hit a quantile: it lies where the other released numbers say that hardly a row is."
ASTRAY_ADVICE = "Ask again; a larger epsilon or a larger trim makes this rarer."
LEAST_KEPT = 1e-9
"""A trim so close to one half is taken as that which keeps this part of the rows."""
CUT_LOSS = max(
    (ROWS_SHARE**2 + (1 - ROWS_SHARE - middle - scale - quantile) ** 2) / 2 + (middle**2 + scale**2 + quantile**2) / 8
    for middle, scale, quantile in product(MIDDLE.ends(), SCALE.ends(), QUANTILE.ends())
)
"""rho / epsilon**2: two Laplace steps and three exponential ones. It is convex in the shares, so it is largest at their ends."""


def checked_trim(value: object) -> Fraction:
    """The part of the rows that is cut off at either end."""
    trim = exact_rational(value, "trim")
    if not 0 <= trim < Fraction(1, 2):
        raise InvalidParameterError(f"trim must be at least 0 and below 0.5, such as 0.1, got {value}.")
    return trim


WINSORIZED_MEAN = register_number(
    "winsorized_mean",
    "The mean of the rows, where a part of them at either end counts as the nearest row that is kept",
    Parameter("trim", "the part pulled in at either end, such as 0.1", checked_trim, 0.1, takes=Number),
)


@dataclass(frozen=True)
class Winsorized:
    """Rows cut off at two released quantiles, and what noisy cells say of them."""

    trim: Fraction
    """The part of the rows beyond either quantile: as asked, or more where so few rows could not be hidden."""
    low: float
    middle: float
    high: float
    cells: NoisyCells | None
    """Of the rows that are cut off; None where both quantiles are the same."""
    frame: Frame
    noisy_rows: float
    """As the cells count them; without cells, as the first and smallest part of epsilon does."""
    rank_variance: float
    """What the noise of its draw gives to the number of rows beyond a quantile."""
    scales: tuple[float, float] = (0.0, 0.0)
    """The distances from the middle to the medians of the rows below it and above it."""

    @property
    def mean(self) -> float:
        """The Winsorized mean."""
        return self.middle if self.cells is None else self.frame.centre + self.frame.radius * mean_of(self.cells)

    @property
    def trimmed_mean(self) -> float:
        """The mean of the rows between the quantiles: the Winsorized one without what the rows beyond count there."""
        mean = (self.mean - float(self.trim) * self.low - float(self.trim) * self.high) / self._kept
        return min(max(mean, self.low), self.high)

    @property
    def is_astray(self) -> bool:
        """Whether a quantile is much further out than noisy cells say that the rows beyond it are.

        At least the part `trim` of all rows counts as being at either quantile, so that the mean is not close to the other one.
        """
        if self.cells is None:
            return False
        least = float(self.trim) * FEWEST_AT * (self.high - self.low)
        return not self.low + least <= self.mean <= self.high - least

    def reach(self, level: float, *, trimmed: bool) -> float:
        """How far an interval reaches to either side of the Winsorized or the trimmed mean."""
        if self.cells is None:
            return 0.0
        spread = spread_of(self.cells)
        variance = spread.variance + self._of_ranks(trimmed) / spread.rows**2
        if not trimmed:
            variance += self._of_quantiles() / spread.rows * spread.stretch
        half = self.frame.radius * critical_value(level, spread.kurtosis, spread.rows) * math.sqrt(variance)
        return half / self._kept if trimmed else half

    def _of_ranks(self, trimmed: bool) -> float:
        """What the noise of the quantiles' ranks adds to the variance of the sum, in the frame."""
        if trimmed:
            moves = [_apart(end, self.trimmed_mean) / self.frame.radius for end in (self.low, self.high)]
        else:
            moves = self._slopes()
        return CAUTION * self.rank_variance * sum(move**2 for move in moves)

    def _slopes(self) -> list[float]:
        """What a move by one part of the rows does at either quantile, in the frame: a logistic law's slopes, and some more."""
        part = min(float(self.trim), (1 - LEAST_KEPT) / 2)
        odds = math.log((1 - part) / part)
        steeper = [
            max(STEEPER, STRETCHED * _power(_apart(end, self.middle), scale, odds / math.log(3)))
            for end, scale in zip((self.low, self.high), self.scales, strict=True)
        ]
        apart = [_apart(end, self.middle) / self.frame.radius for end in (self.low, self.high)]
        return [times * distance / odds / (1 - part) for times, distance in zip(steeper, apart, strict=True)]

    @property
    def _kept(self) -> float:
        """The part of the rows between the quantiles."""
        return max(float(1 - 2 * self.trim), LEAST_KEPT)

    def _of_quantiles(self) -> float:
        """What uncertain quantiles add to the variance of one row, in the frame."""
        part, radius = min(float(self.trim), (1 - LEAST_KEPT) / 2), self.frame.radius
        below, above = self._slopes()
        crossed = 2 * part * (below * (_apart(self.mean, self.low) / radius) + above * (_apart(self.high, self.mean) / radius))
        return abs(crossed) + part * (1 - part) * (below**2 + above**2) + 2 * part**2 * below * above


def _power(distance: float, scale: float, odds: float) -> float:
    """The power of the odds by which distances grow from a scale on, to odds that many times as large; 0 where it is unknown."""
    if not 0 < scale < distance or odds <= 1.2:
        return 0.0
    return min(MOST_STRETCHED, math.log(distance / scale) / math.log(odds))


def _apart(one: float, other: float) -> float:
    """The distance of two numbers, the largest float where it is more."""
    return min(abs(one - other), sys.float_info.max)


def winsorize(column: Column, question: Question, rng: RandomSource) -> Winsorized:
    """Spend the whole of a question on the quantiles of its `trim`, and on the cells of the rows between them."""
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    noisy_rows = max(1, noisy_count(column.count(), epsilon * ROWS_SHARE, rng))
    middle_epsilon, scale_epsilon, quantile_epsilon = (
        epsilon * share.of(noisy_rows * epsilon) for share in (MIDDLE, SCALE, QUANTILE)
    )
    trim = max(question.arguments["trim"], min(SAFE_NATS / quantile_epsilon / noisy_rows, MOST_TRIM))
    order = Order(column, rng, digits_told(noisy_rows * middle_epsilon / 2))
    middle = draw_share(order, Part(0, LINE, 0, order.raw_rows), Fraction(1, 2), middle_epsilon)
    scales = draw_scales(order, middle, (False, True), scale_epsilon)
    ends = [fraction_of(ordinal) for ordinal in _draw_beyond(order, middle, scales, trim, quantile_epsilon)]
    clip = clip_between(*ends)
    rank_variance = 2 / float(symmetric_slope(2 * trim, quantile_epsilon, Neighbors.ADD_REMOVE)) ** 2
    values = float(ends[0]), float(fraction_of(middle.ordinal)), float(ends[1])
    if clip is None:
        return Winsorized(trim, *values, None, Frame(values[1], 0.0), noisy_rows, rank_variance)
    spent = epsilon * ROWS_SHARE + middle_epsilon + scale_epsilon + quantile_epsilon
    degree = LEAST_DEGREE if question.interval is None else DEGREE
    cells = with_units(column, clip, release_cells(column, clip, degree, epsilon - spent, rng), rng)
    below, above = (nearest_float(scale) for scale in scales)
    return Winsorized(trim, *values, cells, Frame.of(clip), cells.total(0), rank_variance, (below, above))


def _draw_beyond(order: Order, middle: Place, scales: Sequence[Fraction], trim: Fraction, epsilon: Fraction) -> list[int]:
    """The quantiles of the rows below the middle, and of those above it, that leave `trim` of all rows beyond.

    They are drawn by distances from the middle. Where rows may be tied there, any distance is likely enough.
    """
    octaves = 1 + math.floor(1 / (8 * trim)).bit_length() // 2  # as far out as a heavy tail has its quantile
    home = order.bands.band(middle.ordinal)
    draws = []
    for upward, scale in zip((False, True), scales, strict=True):
        part = side_of(order, middle, upward)
        share = 1 - 2 * trim if upward else 2 * trim
        slope = symmetric_slope(share, epsilon, Neighbors.ADD_REMOVE)
        loss = RankLoss(part.raw_first + share * (part.raw_last - part.raw_first), slope, slope)
        place = home.last if upward else home.first
        shells = [shells_beside(part.low, part.high, COINS, place, scale, upward, flat_up_to(octaves))] if scale else []
        if has_few_digits(home, middle.ordinal) or not scale:
            shells.append(shells_around(part.low, part.high, place, upward, scale, COINS))
        draws.append(OutwardDraw(part, loss, home, upward, shells, {home.first: TIED_WEIGHT}))
    drawn = draw_outward(order, draws)
    return [middle.ordinal if home.first <= ordinal <= home.last else ordinal for ordinal in drawn]


def floor_of(question: Question) -> Floor:
    """What a trimmed or Winsorized mean takes: enough rows beyond its quantiles to hide any of them, and some to spare."""
    trim = max(question.arguments["trim"], SMALLEST_TRIM)
    return Floor(float(SPARE * SAFE_NATS / QUANTILE.least / trim), 50)


def winsorized_answer(question: Question, winsorized: Winsorized, *, trimmed: bool) -> Outcome:
    """The mean with its interval and its card."""
    value = winsorized.trimmed_mean if trimmed else winsorized.mean
    interval = None
    if question.interval is not None:
        level = float(question.interval)
        reach = winsorized.reach(level, trimmed=trimmed)
        interval = Interval(value - reach, value + reach, level, SAMPLED_ERROR)
    wider = f"{float(winsorized.trim):.3g} at either end: less cannot be hidden with about so many rows at this epsilon"
    answer = Answer(
        value,
        interval,
        (
            ("quantiles", f"{winsorized.low:.6g} and {winsorized.high:.6g}"),
            *((("trim", wider),) if winsorized.trim != question.arguments["trim"] else ()),
            ("missing values", MISSING_POLICY),
            public_line(question),
            ("numerics", "exact whole numbers up to quantiles and noise; then floats"),
        ),
    )
    floor = floor_of(question)
    if winsorized.is_astray and floor.refusal(question, winsorized.noisy_rows) is None:
        return floor.refuse(question, answer, Refusal(ASTRAY, ASTRAY_ADVICE), ASTRAY)
    return floor.judge(question, winsorized.noisy_rows, answer)


@method(WINSORIZED_MEAN, "universal", claim=CUT_CLAIM, loss=CUT_LOSS, version=4, by_unit=one_step)
def winsorized_mean_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The mean of rows that are cut off at private quantiles."""
    return winsorized_answer(question, winsorize(column, question, rng), trimmed=False)
