"""Pearson's correlation by scores: a rough correlation, and then steps along what every row says of it.

With u and v, two columns in units of their standard deviations from their means, a row's score is u v - r (u^2 + v^2) / 2: how
much it pulls at a correlation r (the influence function). The mean score is about the correlation of the rows less r. So a rough
r moves by the mean score, and errors of means and deviations matter only as far as r was wrong. Few rows have a large score, and
where the columns go together closely none has: cut off at a private reach, scores take little noise.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; a private median, scale and reach of either column; noisy moments of points that are drawn
           toward 0 to lie within a ball; noisy counts and a noisy sum of differences of squares, which balance the units; then,
           step by step, a private median of the scores' magnitudes, and the noisy sum of scores that are cut off. Before the
           last step noisy counts of octaves say where; the noisy sum of their squares is for the interval. Each of these hides
           a row by itself and sees only what earlier ones released, so their shares add up
Numerics   What a row adds comes from that row and released numbers by IEEE arithmetic, and is cut off as whole numbers, whatever
           the row holds; sums are exact, and so is the noise. Floats after that
Source     scores.proof.md; the influence function: Devlin, Gnanadesikan & Kettenring 1975; one step: Bickel 1975
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import RowSum, Table
from dpstats.statistics.clipped.clips import Tail
from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value, laplace_kurtosis
from dpstats.statistics.clipped.thinning import place_of
from dpstats.statistics.paired.tails import BALANCED, NORMAL_REACH, Tails, count_octaves, release_tails
from dpstats.statistics.regression.budget_split import PureBudgetSplit, part
from dpstats.statistics.regression.octaves import CELLS, cells_of, count_cells, draw_cell, draw_magnitude, magnitude_of
from dpstats.statistics.regression.sums import GRID
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.limits import Side
from dpstats.statistics.universal.single import draw_quantile

Floats = NDArray[np.float64]

FARTHEST = float(1 << 30)
"""No coordinate is larger."""
FARTHEST_MIDDLE = sys.float_info.max
UNITS = 1 << 12
"""Coordinates within the ball and scores within their cut are whole numbers of at most this size."""
ROWS = Fraction(2, 100)
MIDDLE_NATS, SCALE_NATS, LOOK_NATS = 60, 80, 22
"""Rows times epsilon that a median of a column, a scale, and a median of scores need."""
LEAST_MIDDLE, LEAST_SCALE, LEAST_LOOK = 0.02, 0.02, 0.01
MOST_STANDARD = 0.34
"""A table that needs more than that for medians and scales has too few rows."""
COLUMN_REACH, POINTS = Fraction(5, 100), Fraction(25, 100)
STEP, LAST_SQUARES = Fraction(7, 100), Fraction(5, 100)
SCORE_COUNTS, BALANCE_COUNTS, BALANCE = Fraction(8, 100), Fraction(3, 100), Fraction(3, 100)
"""Counts of octaves: those of the last step say where to cut and what is lost. With 6% of the budget, and 28% for points, errors
and widths were the same on normal pairs, and tails less certain."""
MOST_STEPS, ENOUGH = 3, Fraction(38, 100)
"""At most so many steps before the last one, and none unless that much of the budget is left."""
OPEN, UNITS_OFF = 0.7, 0.25
"""A step leaves about UNITS_OFF of what r was wrong by, because means and deviations are rough. Another one is taken first where
that is more than OPEN standard errors of normal rows."""
COLUMN_NATS = 14.0
"""A reach leaves rows worth this many nats beyond it."""
WINDOW, INWARD = 20, 4.0
"""A reach is looked for in that many quarters of an octave, from a likely one over INWARD on."""
REACH_UNDER = Fraction(3, 10)
"""The part of a draw's nats that keeps a reach from falling short. Few rows keep it from going too far, where a column would seem
not to vary: evenly divided, one normal column of 400 was drawn there, whatever the number of rows."""
MOST = Fraction(3, 4)
LIKELY_REACH, MEDIAN_OF_SCALE = 3.0, 0.6
"""Of a normal column: about the reach, and the median distance from the middle, over the scale (standard.py)."""
MARKS = (0.0, 1.0)
"""A column with its middle here is likely one of marks, whose scale is 1."""
NATS, ENOUGH_TO_BALANCE, MOST_AMPLE = 2000.0, 1.25, 100.0
"""Rows times epsilon from which octaves lie further out; and over these, those from which both columns' variances are balanced.
With less, what that takes from the last step lengthened intervals of normal pairs by a quarter."""
PLACE, PLACE_POWER = 10.0, 1 / 3
BALANCE_PLACE, BALANCE_POWER = 4.0, 0.45
"""The place of the octaves of scores in medians, and of those of the balance; both times a power of rows times epsilon over NATS,
because more rows and less noise show more of a tail. At 25 medians throughout, normal pairs got intervals of 1.2 times the
length at 3,000 rows and epsilon 1.7, because noise looked like rows far out; at 10, heavy tails held less often at 10,000
rows and epsilon 4."""
BALL, MOST_BALL, QUIET = 1.2, 6.0, 0.003
"""The radius of the ball in units of the reaches; where noise is little it grows until noise is QUIET of its square."""
MORE_COUNTS = Fraction(16, 100)
"""Columns that reach more scales than normal ones do get more exact counts of scores."""
MARKS_REACH, SELDOM, SELDOM_SQUARES = 1.2, 200.0, 300.0
"""The reach of columns of marks, for which the ball has all rows of a pair of them. Such a column hardly varies where the sums of
distances from the middle and of their squares, times epsilon, are less than these: with 2% of ones in 3,000 rows, noise hid the
rows of two ones at epsilon 1.7, and 13% of intervals held."""
LEAST_MEDIAN, CORNER = 0.2, 8.0
"""The place supposes a median of scores of at least LEAST_MEDIAN (1 - r**2), and lies at the score of rows at both reaches over
CORNER at least: where most rows of a column are equal, most scores are next to 0."""
UNBALANCED, LEAST_CORRELATION, UNLIKE_NATS = 3.0, 0.05, 130.0
"""Where columns were not balanced, one may vary more, by UNBALANCED times what scores may have lost over the correlation, and by
UNLIKE_NATS over rows times epsilon, because of noise. Without that, 91% held for a correlation of .95 at 3,000 rows and epsilon
.5, and 95% with it."""
USUAL_LEVEL, WIDEST = 0.95, 1.6
"""No correlation is known whose usual interval would be longer."""
CUT, MOST_CUT = 10.0, 10.0
"""Before the last step scores are cut off at CUT medians; at up to MOST_CUT times that where noise is less than BEARABLE sampling
errors."""
BEARABLE, SCORE_SPREAD = 0.5, 2.0
"""And the standard deviation of scores over their median magnitude."""
LIKELY_SCORE = 0.3
CAUTION, HEAVIER = 0.7, 1.25
"""The mean square of scores is taken to be larger by so many deviations of its noise, and by this factor for what is cut off."""
STILL_OFF = 0.35
"""The part of the last step that counts as doubt."""
LEAST_VARIANCE = 5.0
"""A column varies if its variance within the smallest ball is this many deviations of its noise; within larger balls noise is
less, and one will do. With 1, pairs of 0/1 columns with 2% of ones got correlations that were off by up to 7,700 times the
length of their interval, because no row lay beyond a reach."""
CLOSEST = 0.99
"""A correlation that is still on its way is no closer to -1 or 1."""


@dataclass(frozen=True)
class PairUnits:
    """A middle and a scale of either column."""

    middles: tuple[float, float]
    scales: tuple[float, float]

    def of(self, raw_rows: Floats) -> Floats:
        """Rows in these units, cut off far out."""
        with np.errstate(over="ignore"):
            raw_points = (raw_rows - self.middles) / self.scales
        return np.asarray(np.clip(raw_points, -FARTHEST, FARTHEST))


@dataclass(frozen=True)
class PairDistances:
    """For either column the cells of how far rows lie from its middle, and after them how many lie at it, to 15 digits."""

    middles: tuple[float, float]

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        with np.errstate(over="ignore"):
            raw_distances = np.abs(raw_rows - self.middles)
        raw_distances[raw_distances <= GRID * np.abs(self.middles)] = 0.0
        raw_at = np.count_nonzero(raw_distances == 0, axis=0)
        raw_cells = [count_cells(raw_distances[:, place]) for place in (0, 1)]
        return np.concatenate([raw_cells[0], raw_at[:1], raw_cells[1], raw_at[1:]]).astype(np.int64, copy=False)


@dataclass(frozen=True)
class PointMoments:
    """Sums over points drawn toward 0 to lie within a ball: coordinates, squares and the product."""

    units: PairUnits
    radius: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up: coordinates with weight 5/2 UNITS, squares with 5, the product with 7, which is below 5 sqrt(2)."""
        raw_points = self.units.of(raw_rows)
        raw_lengths = np.sqrt(np.square(raw_points[:, 0]) + np.square(raw_points[:, 1]))
        raw_ball = np.trunc(raw_points * (UNITS / np.maximum(raw_lengths, self.radius))[:, None])
        raw_ball[np.square(raw_ball).sum(axis=1) > UNITS**2] = 0.0
        raw_x, raw_y = raw_ball[:, 0], raw_ball[:, 1]
        raw_parts = [raw_x * (5 * UNITS // 2), raw_y * (5 * UNITS // 2), 5 * raw_x**2, 5 * raw_y**2, 7 * raw_x * raw_y]
        return np.array([raw_part.sum() for raw_part in raw_parts], dtype=np.int64)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity: 5 UNITS**2 sqrt(5/4), which is below 5.5902 UNITS**2."""
        return math.ceil(5.5902 * UNITS**2)


@dataclass(frozen=True)
class PairScores:
    """What every row says of a correlation."""

    units: PairUnits
    correlation: float

    def of(self, raw_rows: Floats) -> Floats:
        """The scores of rows."""
        raw_points = self.units.of(raw_rows)
        raw_x, raw_y = raw_points[:, 0], raw_points[:, 1]
        return np.asarray(raw_x * raw_y - (raw_x * raw_x + raw_y * raw_y) * (self.correlation / 2))

    def corner(self, reaches: tuple[float, float]) -> float:
        """The largest score of rows as far from the middles as the columns reach, either way, on the side of the correlation."""
        x, y = (reach / scale for reach, scale in zip(reaches, self.units.scales, strict=True))
        return max(x * y - abs(self.correlation) / 2 * (x * x + y * y), abs(self.correlation) / 2 * max(x, y) ** 2)


@dataclass(frozen=True)
class PairBalance:
    """By how much the square of the first column is larger than that of the second, for every row."""

    units: PairUnits

    def of(self, raw_rows: Floats) -> Floats:
        """Half of the differences of both squares."""
        raw_points = self.units.of(raw_rows)
        raw_x, raw_y = raw_points[:, 0], raw_points[:, 1]
        return np.asarray((raw_x * raw_x - raw_y * raw_y) / 2)


@dataclass(frozen=True)
class ScoreSizes:
    """The cells of the magnitudes of scores."""

    scores: PairScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(np.abs(self.scores.of(raw_rows)))


@dataclass(frozen=True)
class ScoreOctaves:
    """How many scores lie in octaves around a place, on either side of 0."""

    scores: PairScores | PairBalance
    place: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_octaves(self.scores.of(raw_rows), self.place)


@dataclass(frozen=True)
class ScoreSums:
    """The sum of scores that are cut off, and that of their squares over the cut; both in units of the cut over UNITS."""

    scores: PairScores | PairBalance
    cut: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; neither is more than UNITS for a row."""
        raw_held = np.rint(np.clip(self.scores.of(raw_rows) * (UNITS / self.cut), -UNITS, UNITS))
        return np.array([raw_held.sum(), np.rint(np.square(raw_held) * (1.0 / UNITS)).sum()], dtype=np.int64)


@dataclass(frozen=True)
class ScoredCorrelation:
    """A correlation with what makes it differ from the truth."""

    value: float
    rows: float
    sampling: float
    """The variance that drawing the rows gives."""
    noise: float
    """The variance that noise gives."""
    lost: tuple[float, float]
    """By how much it may be too high and too low, for scores that were cut off and units in which columns vary differently."""
    tails_known: bool
    """Whether scores far out get fewer fast enough (`Tails.are_known`)."""

    def ends(self, level: float) -> tuple[float, float]:
        """An interval that holds the true correlation with about the probability `level`."""
        half = self._half(level)
        return max(-1.0, self.value - half - self.lost[0]), min(1.0, self.value + half + self.lost[1])

    @property
    def is_known(self) -> bool:
        """Whether rows far out leave it known, at least roughly."""
        low, high = self.ends(USUAL_LEVEL)
        return self.tails_known and high - low <= WIDEST

    def _half(self, level: float) -> float:
        variance = self.sampling + self.noise
        kurtosis = laplace_kurtosis([1.0]) * (self.noise / variance) ** 2 if variance > 0 else 0.0
        return critical_value(level, kurtosis, self.rows) * math.sqrt(variance)


class CorrelationWalk:
    """One correlation on its way."""

    def __init__(self, table: Table, budget: PureBudgetSplit, rng: RandomSource) -> None:
        """Buy a noisy number of rows."""
        self._table, self._budget, self._rng = table, budget, rng
        self.noisy_rows = int(budget.noisy([table.column(0).count()], 1, ROWS)[0][0])
        self._rows = max(float(self.noisy_rows), FEWEST_ROWS)
        self._middle = self._for_draw(MIDDLE_NATS, LEAST_MIDDLE)
        self._scale = self._for_draw(SCALE_NATS, LEAST_SCALE)
        self._look = self._for_draw(LOOK_NATS, LEAST_LOOK)
        self._reaching = 0.0

    @property
    def has_enough_rows(self) -> bool:
        """Whether medians and scales leave enough of the budget."""
        return 2 * (self._middle + self._scale) + self._look <= MOST_STANDARD

    def arrive(self) -> ScoredCorrelation | None:
        """Spend the rest of the budget; None where one column varies no more than noise."""
        reaches = self._reaches()
        start = self._start(reaches)
        if start is None:
            return None
        units, correlation, still_off = start
        unlike: float | None = None
        if self._ample > ENOUGH_TO_BALANCE:
            units, unlike = self._balanced(units, correlation)
        for _ in range(MOST_STEPS):
            settled = still_off * UNITS_OFF <= OPEN * (1 - correlation**2) / math.sqrt(self._rows)
            if settled or self._budget.left <= ENOUGH:
                break
            scores = PairScores(units, correlation)
            median = self._median(scores)
            cut = CUT * median
            cut = max(cut, min(MOST_CUT * cut, self._bearable(median, STEP) / SCORE_SPREAD))
            step, deviation = self._mean(scores, 0, cut, STEP)
            correlation = max(-CLOSEST, min(CLOSEST, correlation + step))
            still_off = abs(step) / 2 + deviation
        return self._last_step(PairScores(units, correlation), reaches.scales, unlike)

    def _last_step(self, scores: PairScores, reaches: tuple[float, float], unlike: float | None) -> ScoredCorrelation:
        """The last step, where columns may still vary differently by `unlike`; None where they were not balanced."""
        median = max(self._median(scores), LEAST_MEDIAN * (1 - scores.correlation**2))
        place = max(PLACE * self._ample**PLACE_POWER * median, scores.corner(reaches) / CORNER)
        more = self._reaching > NORMAL_REACH and self._budget.left > ENOUGH
        tails = self._tails(scores, place, MORE_COUNTS if more else SCORE_COUNTS)
        share = self._budget.left - LAST_SQUARES
        likely, end = tails.cuts(self._rows, self._budget.deviation(share, 1))
        square, doubt = self._mean(scores, 1, place * place_of(likely), LAST_SQUARES)
        step, deviation = self._mean(scores, 0, place * place_of(end), share)
        value = max(-1.0, min(1.0, scores.correlation + step))
        sampling = HEAVIER * (max(square, 0.0) + CAUTION * doubt) / self._rows
        noise = deviation**2 + (STILL_OFF * step) ** 2
        below, above = (lost / self._rows for lost in tails.allowed(end, self._rows, self._reaching, balanced=unlike is not None))
        if unlike is None:
            far_out = math.sqrt(1 + 2 * UNBALANCED * max(below, above) / max(abs(value), LEAST_CORRELATION)) - 1
            unlike = math.hypot(far_out, UNLIKE_NATS / self._nats)
        nearer = value * min(unlike, 1.0) ** 2 / 2
        lost = (below - min(nearer, 0.0), above + max(nearer, 0.0))
        return ScoredCorrelation(value, self._rows, sampling, noise, lost, tails.are_known(self._rows))

    def _balanced(self, units: PairUnits, correlation: float) -> tuple[PairUnits, float]:
        """Units in which both columns vary alike, and by how much they may still not.

        Rows beyond the ball may add more to one column's variance than to the other's. The correlation is then too near to 0 by
        (a - b)**2 r / 2, where a and b are the columns' deviations in these units.
        """
        balance = PairBalance(units)
        place = BALANCE_PLACE * self._ample**BALANCE_POWER * math.sqrt(1 - correlation**2)
        tails = self._tails(balance, place, BALANCE_COUNTS)
        _, end = tails.cuts(self._rows, self._budget.deviation(BALANCE, 1))
        difference, deviation = self._mean(balance, 0, place * place_of(end), BALANCE)
        larger = 1 + 2 * abs(difference)
        x, y = units.scales
        scales = (x * math.sqrt(larger), y) if difference > 0 else (x, y * math.sqrt(larger))
        doubt = max(tails.lost(end, BALANCED.least)) / self._rows
        return PairUnits(units.middles, scales), math.hypot(doubt, deviation) / larger

    def _tails(self, scores: PairScores | PairBalance, place: float, share: Fraction) -> Tails:
        """Noisy numbers of rows around a place."""
        raw_counts = self._sums(ScoreOctaves(scores, place))
        return release_tails(raw_counts, place, self._budget.draw_epsilon(share), self._rng)

    @property
    def _ample(self) -> float:
        """Rows times epsilon over NATS, from 1 to MOST_AMPLE."""
        return min(max(1.0, self._nats / NATS), MOST_AMPLE)

    @property
    def _nats(self) -> float:
        """Rows times epsilon."""
        return math.sqrt(2) * self._rows / self._budget.deviation(Fraction(1), 1)

    def _reaches(self) -> PairUnits:
        """The middles of the columns, and how far they reach."""
        x, y = (self._middle_of(place) for place in (0, 1))
        raw_counts = self._sums(PairDistances((x, y)))
        ends = []
        for middle, raw_own in (x, raw_counts[: CELLS + 1]), (y, raw_counts[CELLS + 1 :]):
            epsilon, marks = self._budget.draw_epsilon(self._scale), middle in MARKS
            scale = draw_magnitude(raw_own[:CELLS], epsilon, self._rng, quantile=MOST, certain=marks)
            raw_all = [raw_own[0] + raw_own[CELLS], *raw_own[1:CELLS]]
            ends.append(self._reach(raw_all, LIKELY_REACH * scale, MEDIAN_OF_SCALE * scale, marks=marks and scale == 1))
        return PairUnits((x, y), (ends[0], ends[1]))

    def _start(self, units: PairUnits) -> tuple[PairUnits, float, float] | None:
        """Means and deviations as units, a rough correlation, and how rough it is; None where one deviation is mostly noise."""
        quiet = math.sqrt(QUIET * self._rows / self._budget.deviation(POINTS, 5))
        moments = PointMoments(units, min(MOST_BALL, max(BALL, quiet)))
        noisy, deviation = self._budget.noisy(self._table.row_sums(moments), moments.l2_units, POINTS)
        unit = moments.radius / UNITS
        x, y = (2 * number / (5 * UNITS) * unit / self._rows for number in noisy[:2])
        square = unit**2 / self._rows
        x_variance, y_variance = noisy[2] / 5 * square - x**2, noisy[3] / 5 * square - y**2
        doubt = deviation / 5 * square
        least = max(1.0, LEAST_VARIANCE * (BALL / moments.radius) ** 2)
        if min(x_variance, y_variance) < least * doubt:
            return None
        columns = zip(units.scales, (x, y), (x_variance, y_variance), strict=True)
        if any(
            self._is_seldom(reach * abs(mean), reach**2 * variance) for reach, mean, variance in columns if reach == MARKS_REACH
        ):
            return None
        norm = math.sqrt(x_variance * y_variance)
        correlation = max(-CLOSEST, min(CLOSEST, (noisy[4] / 7 * square - x * y) / norm))
        (x_middle, y_middle), (x_scale, y_scale) = units.middles, units.scales
        middles = _held(x_middle + x_scale * x), _held(y_middle + y_scale * y)
        scales = x_scale * math.sqrt(x_variance), y_scale * math.sqrt(y_variance)
        units = PairUnits(middles, scales)
        return units, correlation, doubt / (math.sqrt(2) * norm)

    def _is_seldom(self, mean: float, variance: float) -> bool:
        """Whether so few rows of a column of marks differ from the others that they may all be missed."""
        return mean * self._nats < SELDOM and variance * self._nats < SELDOM_SQUARES

    def _reach(self, raw_counts: Sequence[int], likely: float, median: float, *, marks: bool) -> float:
        """A private place with few of the counted distances beyond it, near a likely one; of `marks` MARKS_REACH at least."""
        epsilon = self._budget.draw_epsilon(COLUMN_REACH)
        beyond = min(COLUMN_NATS / float(epsilon), self._rows / 4)
        (likely_cell,) = cells_of(np.array([likely / INWARD])).tolist()
        first = min(likely_cell, CELLS - WINDOW)
        last = first + WINDOW - 1
        raw_window = [sum(raw_counts[: first + 1]), *raw_counts[first + 1 : last], sum(raw_counts[last:])]
        cell = first + draw_cell(raw_window, 1 - Fraction(beyond / self._rows), epsilon, self._rng, REACH_UNDER)
        if marks and magnitude_of(cell) <= 1:
            return MARKS_REACH
        tail = Tail.of(Side(int(self._rows), Fraction(median), Fraction(magnitude_of(cell)), Fraction(beyond)))
        assert tail is not None  # a magnitude is positive
        end = tail.end(0.0)
        self._reaching = max(self._reaching, end / likely * LIKELY_REACH)
        return end

    def _median(self, scores: PairScores) -> float:
        """A private median of the scores' magnitudes."""
        epsilon = self._budget.draw_epsilon(self._look)
        return draw_magnitude(self._sums(ScoreSizes(scores)), epsilon, self._rng, likely=LIKELY_SCORE)

    def _bearable(self, median: float, share: Fraction) -> float:
        """The cut at which the noise of a mean score is BEARABLE sampling errors."""
        return BEARABLE * SCORE_SPREAD * median * math.sqrt(self._rows) / self._budget.deviation(share, 1)

    def _mean(self, scores: PairScores | PairBalance, power: int, cut: float, share: Fraction) -> tuple[float, float]:
        """A noisy mean over the rows of scores or, for a `power` of 1, of their squares; and the deviation of its noise."""
        raw_sum = self._sums(ScoreSums(scores, cut))[power : power + 1]
        (noisy,), deviation = self._budget.noisy(raw_sum, UNITS, share)
        unit = cut ** (1 + power) / UNITS / self._rows
        return noisy * unit, deviation * unit

    def _middle_of(self, place: int) -> float:
        epsilon = self._budget.draw_epsilon(self._middle)
        ordinal = draw_quantile(self._table.column(place), Fraction(1, 2), epsilon, Neighbors.ADD_REMOVE, self._rng)
        return nearest_float(fraction_of(ordinal))

    def _sums(self, row_sum: RowSum) -> tuple[int, ...]:
        return self._table.row_sums(row_sum)

    def _for_draw(self, nats: int, least: float) -> Fraction:
        return max(self._budget.share_for_draw(nats / self._rows), part(least))


def _held(middle: float) -> float:
    """A middle that floats can be subtracted from."""
    return max(-FARTHEST_MIDDLE, min(FARTHEST_MIDDLE, middle))
