"""Two columns on a walk: private middles and reaches of both, a rough correlation, and noisy sums of what every row says.

What a row says is its score. A statistic has scores of its own: scores.py those of Pearson's correlation, covariances.py those of
a covariance. They need means and deviations of both columns, which may be rough; few rows have a large score, and it is scores
that are cut off, not columns.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; a private median, scale and reach of either column; noisy moments of points that are drawn
           toward 0 to lie within a ball; private medians of scores' magnitudes, noisy counts of octaves of them, and noisy sums
           of scores that are cut off and of their squares. Each of these hides a row by itself and sees only what earlier ones
           released, so their shares add up
Numerics   What a row adds comes from that row and released numbers by IEEE arithmetic, and is cut off as whole numbers, whatever
           the row holds; sums are exact, and so is the noise. Floats after that
Source     scores.proof.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.allowance import part
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import RowSum, Table
from dpstats.statistics.clipped.clips import Tail
from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value, laplace_kurtosis
from dpstats.statistics.paired.tails import Tails, count_octaves, release_tails
from dpstats.statistics.regression.budget_split import PureBudgetSplit
from dpstats.statistics.regression.octaves import (
    CELLS,
    EVENLY,
    LARGEST,
    cells_of,
    count_cells,
    draw_cell,
    draw_magnitude,
    magnitude_of,
)
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
COLUMN_REACH, LAST_SQUARES = Fraction(5, 100), Fraction(5, 100)
SCORE_COUNTS, FEWER_COUNTS = Fraction(20, 100), Fraction(8, 100)
"""Counts of octaves of scores, which say where to cut and what is lost; fewer where medians and scales took much. With 8%
wherever columns reach no further than normal ones, errors and widths of covariances of normal pairs were a sixth larger, because
cuts went astray, and intervals of pairs with a few rows far out in one column held in half of the samples."""
ENOUGH = Fraction(38, 100)
"""Nothing but the last sums is bought unless that much of the budget is left."""
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
NATS, MOST_AMPLE = 2000.0, 100.0
"""Rows times epsilon from which octaves lie further out; and at most so many times that count."""
PLACE, PLACE_POWER = 10.0, 1 / 3
"""The place of the octaves of scores, in medians, times a power of rows times epsilon over NATS, because more rows and less noise
show more of a tail. At 25 medians throughout, normal pairs got intervals of 1.2 times the length at 3,000 rows and epsilon 1.7,
because noise looked like rows far out; at 10, heavy tails held less often at 10,000 rows and epsilon 4."""
BALL, MOST_BALL, QUIET = 1.2, 6.0, 0.003
"""The radius of the ball in units of the reaches; where noise is little it grows until noise is QUIET of the reach's square, or
less of it where columns reach many scales, and vary little in units of their reaches. Without that, half of the correlations
of schooling and wages (55,000 wage earners at epsilon 1, who reach 16 scales) were refused, and 1 of 30 is with it."""
MARKS_REACH, SELDOM, SELDOM_SQUARES = 1.2, 200.0, 300.0
"""The reach of columns of marks, for which the ball has all rows of a pair of them. Such a column hardly varies where the sums of
distances from the middle and of their squares, times epsilon, are less than these: with 2% of ones in 3,000 rows, noise hid the
rows of two ones at epsilon 1.7, and 13% of intervals held."""
LIKELY_SCORE = 0.3
CAUTION, HEAVIER = 0.7, 1.25
"""The mean square of scores is taken to be larger by so many deviations of its noise, and by this factor for what is cut off."""
LEAST_VARIANCE = 5.0
"""A column varies if its variance within the smallest ball is this many deviations of its noise; within larger balls noise is
less, and one will do. With 1, pairs of 0/1 columns with 2% of ones got correlations that were off by up to 7,700 times the
length of their interval, because no row lay beyond a reach."""
AGAIN, SURE = Fraction(10, 100), 3.0
"""The share of moments within a smaller ball, which are taken where a column seems not to vary, as long as ENOUGH is left after
them. A column that reaches 6 or more of its deviations, as counts with a few codes far out do, hardly varies within the first
ball. The smaller one supposes a variance that is larger by SURE deviations of its noise. Without it, half of the correlations
and of the covariances of light columns (half A of the real tables) that were refused were so for that."""
USUAL_LEVEL = 0.95
"""The level of the interval by whose length it is judged whether a statistic is known."""
CLOSEST = 0.99
"""A correlation that is still on its way is no closer to -1 or 1."""


class RowScores(Protocol):
    """What every row says of a statistic."""

    def of(self, raw_rows: Floats) -> Floats:
        """The scores of rows."""
        ...


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
class RoughMoments:
    """Noisy means, variances and covariance of points within a ball, in units of the columns' reaches."""

    units: PairUnits
    radius: float
    means: tuple[float, float]
    variances: tuple[float, float]
    covariance: float
    doubt: float
    """The deviation of the variances' noise."""

    @property
    def norm(self) -> float:
        """The product of both deviations."""
        return math.sqrt(self.variances[0] * self.variances[1])

    @property
    def correlation(self) -> float:
        """The rough correlation, not quite at -1 or 1."""
        return max(-CLOSEST, min(CLOSEST, self.covariance / self.norm))

    def standardized(self) -> PairUnits:
        """Units of both deviations from the means."""
        columns = list(zip(self.units.middles, self.units.scales, self.means, self.variances, strict=True))
        x_middle, y_middle = (_held(middle + reach * mean) for middle, reach, mean, _ in columns)
        x_scale, y_scale = (reach * math.sqrt(variance) for _, reach, _, variance in columns)
        return PairUnits((x_middle, y_middle), (x_scale, y_scale))


@dataclass(frozen=True)
class ScoreSizes:
    """The cells of the magnitudes of scores."""

    scores: RowScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(np.abs(self.scores.of(raw_rows)))


@dataclass(frozen=True)
class ScoreOctaves:
    """How many scores lie in octaves around a place, on either side of 0."""

    scores: RowScores
    place: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_octaves(self.scores.of(raw_rows), self.place)


@dataclass(frozen=True)
class ScoreSums:
    """The sum of scores that are cut off, and that of their squares over the cut; both in units of the cut over UNITS."""

    scores: RowScores
    cut: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; neither is more than UNITS for a row."""
        raw_held = np.rint(np.clip(self.scores.of(raw_rows) * (UNITS / self.cut), -UNITS, UNITS))
        return np.array([raw_held.sum(), np.rint(np.square(raw_held) * (1.0 / UNITS)).sum()], dtype=np.int64)


@dataclass(frozen=True)
class LastSums:
    """The noisy mean of scores, and what makes it differ from the truth."""

    mean: float
    sampling: float
    """The variance that drawing the rows gives, as scores that are cut off tell it."""
    deviation: float
    """Of its noise."""


def interval_half(level: float, rows: float, sampling: float, noise: float) -> float:
    """Half of an interval for something with two such variances, where one kind of noise decides."""
    variance = sampling + noise
    kurtosis = laplace_kurtosis([1.0]) * (noise / variance) ** 2 if variance > 0 else 0.0
    return critical_value(level, kurtosis, rows) * math.sqrt(variance)


class PairWalk:
    """A statistic of two columns on its way."""

    def __init__(self, table: Table, budget: PureBudgetSplit, rng: RandomSource) -> None:
        """Buy a noisy number of rows."""
        self._table, self._budget, self._rng = table, budget, rng
        self.noisy_rows = int(budget.noisy([table.column(0).count()], 1, ROWS)[0][0])
        self._rows = max(float(self.noisy_rows), FEWEST_ROWS)
        self._middle = self._for_draw(MIDDLE_NATS, LEAST_MIDDLE)
        self._scale = self._for_draw(SCALE_NATS, LEAST_SCALE)
        self._look = self._for_draw(LOOK_NATS, LEAST_LOOK)
        self._reaching = 0.0
        self._likely_reaches: list[float] = []
        self.is_too_large = False
        """Whether a column's numbers may be so large that their scale is not known."""

    @property
    def has_enough_rows(self) -> bool:
        """Whether medians and scales leave enough of the budget."""
        return 2 * (self._middle + self._scale) + self._look <= MOST_STANDARD

    @property
    def _nats(self) -> float:
        """Rows times epsilon."""
        return math.sqrt(2) * self._rows / self._budget.deviation(Fraction(1), 1)

    @property
    def _ample(self) -> float:
        """Rows times epsilon over NATS, from 1 to MOST_AMPLE."""
        return min(max(1.0, self._nats / NATS), MOST_AMPLE)

    def _reaches(self) -> PairUnits:
        """The middles of the columns, and how far they reach."""
        x, y = (self._middle_of(place) for place in (0, 1))
        raw_counts = self._sums(PairDistances((x, y)))
        ends = []
        for middle, raw_own in (x, raw_counts[: CELLS + 1]), (y, raw_counts[CELLS + 1 :]):
            epsilon, marks = self._budget.draw_epsilon(self._scale), middle in MARKS
            codes, under = middle.is_integer(), EVENLY if marks else 1 - MOST
            scale = draw_magnitude(raw_own[:CELLS], epsilon, self._rng, quantile=MOST, certain=marks, codes=codes, under=under)
            raw_all = [raw_own[0] + raw_own[CELLS], *raw_own[1:CELLS]]
            ends.append(self._reach(raw_all, LIKELY_REACH * scale, MEDIAN_OF_SCALE * scale, marks=marks and scale == 1))
            self._likely_reaches.append(MARKS_REACH if marks and scale == 1 else LIKELY_REACH * scale)
            self.is_too_large |= max(abs(middle), scale, ends[-1]) >= LARGEST
        return PairUnits((x, y), (ends[0], ends[1]))

    def _rough_moments(self, reaches: PairUnits, share: Fraction) -> RoughMoments:
        """Moments of points within a ball, which grows where noise is little."""
        quiet = (
            math.sqrt(QUIET * self._rows / self._budget.deviation(share, 5)) * LIKELY_REACH / max(self._reaching, LIKELY_REACH)
        )
        moments = PointMoments(reaches, min(MOST_BALL, max(BALL, quiet)))
        noisy, deviation = self._budget.noisy(self._table.row_sums(moments), moments.l2_units, share)
        unit = moments.radius / UNITS
        x, y = (2 * number / (5 * UNITS) * unit / self._rows for number in noisy[:2])
        square = unit**2 / self._rows
        variances = noisy[2] / 5 * square - x**2, noisy[3] / 5 * square - y**2
        return RoughMoments(reaches, moments.radius, (x, y), variances, noisy[4] / 7 * square - x * y, deviation / 5 * square)

    def _moments(self, reaches: PairUnits, share: Fraction) -> RoughMoments:
        """Rough moments; once more within a smaller ball, for AGAIN, where a column seems not to vary and ENOUGH is left."""
        moments = self._rough_moments(reaches, share)
        while not self.is_too_large and self._budget.left >= AGAIN + ENOUGH:
            ends = tuple(self._nearer(moments, place) for place in (0, 1))
            if ends == moments.units.scales:
                break
            moments = self._rough_moments(PairUnits(reaches.middles, (ends[0], ends[1])), AGAIN)
        return moments

    def _nearer(self, moments: RoughMoments, place: int) -> float:
        """How far a column is taken to reach: nearer than before where it seems not to vary."""
        reach, likely, variance = moments.units.scales[place], self._likely_reaches[place], moments.variances[place]
        if variance >= _least_variance(moments) or reach <= MARKS_REACH == likely:
            return reach
        if likely == MARKS_REACH:
            return likely
        most = min(reach, LIKELY_REACH * reach * math.sqrt(max(variance, 0.0) + SURE * moments.doubt))
        return math.sqrt(most * min(most, likely))

    def _vary(self, moments: RoughMoments) -> bool:
        """Whether both columns vary by more than noise."""
        if min(moments.variances) < _least_variance(moments):
            return False
        columns = zip(moments.units.scales, moments.means, moments.variances, strict=True)
        return not any(
            self._is_seldom(reach * abs(mean), reach**2 * variance) for reach, mean, variance in columns if reach == MARKS_REACH
        )

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

    def _median(self, scores: RowScores) -> float:
        """A private median of the scores' magnitudes."""
        epsilon = self._budget.draw_epsilon(self._look)
        return draw_magnitude(self._sums(ScoreSizes(scores)), epsilon, self._rng, likely=LIKELY_SCORE)

    def _score_tails(self, scores: RowScores, place: float) -> Tails:
        """The tails of scores before the last sums."""
        return self._tails(scores, place, SCORE_COUNTS if self._budget.left > ENOUGH else FEWER_COUNTS)

    def _tails(self, scores: RowScores, place: float, share: Fraction) -> Tails:
        """Noisy numbers of rows around a place."""
        raw_counts = self._sums(ScoreOctaves(scores, place))
        return self._release_tails(raw_counts, place, self._budget.draw_epsilon(share))

    def _release_tails(self, raw_counts: Sequence[int], place: float, epsilon: Fraction) -> Tails:
        return release_tails(raw_counts, place, epsilon, self._rng)

    def _last_sums(self, scores: RowScores, squares_cut: float, cut: float) -> LastSums:
        """The mean of scores and that of their squares, for the rest of the budget."""
        share = self._last_share
        square, doubt = self._mean(scores, 1, squares_cut, LAST_SQUARES)
        mean, deviation = self._mean(scores, 0, cut, share)
        return LastSums(mean, HEAVIER * (max(square, 0.0) + CAUTION * doubt) / self._rows, deviation)

    @property
    def _last_share(self) -> Fraction:
        """What the last sum of scores takes, if nothing but the last sums is bought from now on."""
        return self._budget.left - LAST_SQUARES

    def _mean(self, scores: RowScores, power: int, cut: float, share: Fraction) -> tuple[float, float]:
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


def _least_variance(moments: RoughMoments) -> float:
    """The variance from which on a column varies by more than noise."""
    return max(1.0, LEAST_VARIANCE * (BALL / moments.radius) ** 2) * moments.doubt


def _held(middle: float) -> float:
    """A middle that floats can be subtracted from."""
    return max(-FARTHEST_MIDDLE, min(FARTHEST_MIDDLE, middle))
