"""Pearson's correlation by scores: a rough correlation, and then steps along what every row says of it.

With u and v, two columns in units of their standard deviations from their means, a row's score is u v - r (u^2 + v^2) / 2: how
much it pulls at a correlation r (the influence function). The mean score is about the correlation of the rows less r. So a rough
r moves by the mean score, and errors of means and deviations matter only as far as r was wrong. Few rows have a large score, and
where the columns go together closely none has: cut off at a private reach, scores take little noise.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; a private median, scale and reach of either column; noisy moments of points that are drawn
           toward 0 to lie within a ball; then, step by step, a private median of the scores' magnitudes, and the noisy sum of
           scores that are cut off. Before the last step a private reach says where; the noisy sum of their squares is for the
           interval. Each of these hides a row by itself and sees only what earlier ones released, so their shares add up
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
from dpstats.statistics.regression.budget_split import BudgetSplit, part
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
COLUMN_REACH, POINTS = Fraction(5, 100), Fraction(28, 100)
STEP, LAST_REACH, LAST_SQUARES = Fraction(7, 100), Fraction(8, 100), Fraction(5, 100)
MOST_STEPS, ENOUGH = 3, Fraction(38, 100)
"""At most so many steps before the last one, and none unless that much of the budget is left."""
OPEN, UNITS_OFF = 0.7, 0.25
"""A step leaves about UNITS_OFF of what r was wrong by, because means and deviations are rough. Another one is taken first where
that is more than OPEN standard errors of normal rows."""
COLUMN_NATS, SCORE_NATS = 14.0, 10.0
"""A reach leaves rows worth this many nats beyond it. A column's must not be drawn too far out; for scores that costs noise."""
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
BALL, MOST_BALL, QUIET = 1.2, 6.0, 0.003
"""The radius of the ball in units of the reaches; where noise is little it grows until noise is QUIET of its square."""
CUT, MOST_CUT, LAST_CUT = 10.0, 10.0, 3.0
"""Scores are cut off at CUT medians. Where noise is less than BEARABLE sampling errors, later: up to MOST_CUT times that; in the
last step up to LAST_CUT times where the reach suggests."""
BEARABLE, SCORE_SPREAD = 0.5, 2.0
"""And the standard deviation of scores over their median magnitude."""
LIKELY_SCORE = 0.3
CAUTION, HEAVIER = 0.7, 1.25
"""The mean square of scores is taken to be larger by so many deviations of its noise, and by this factor for what is cut off."""
LOST, STILL_OFF = 0.4, 0.35
"""Of what a cut at the reach may take (`Tail.lost`), which has both signs, the part that lengthens an interval; it falls as one
over the cut where that lies further out. And the part of the last step that counts as doubt."""
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


@dataclass(frozen=True)
class ScoreSizes:
    """The cells of the magnitudes of scores."""

    scores: PairScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(np.abs(self.scores.of(raw_rows)))


@dataclass(frozen=True)
class ScoreSums:
    """The sum of scores that are cut off, and that of their squares over the cut; both in units of the cut over UNITS."""

    scores: PairScores
    cut: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; neither is more than UNITS for a row."""
        raw_held = np.trunc(np.clip(self.scores.of(raw_rows) * (UNITS / self.cut), -UNITS, UNITS))
        return np.array([raw_held.sum(), np.trunc(np.square(raw_held) * (1.0 / UNITS)).sum()], dtype=np.int64)


@dataclass(frozen=True)
class ScoredCorrelation:
    """A correlation with what makes it differ from the truth."""

    value: float
    rows: float
    sampling: float
    """The variance that drawing the rows gives."""
    noise: float
    """The variance that noise gives."""
    off: float
    """By how much it may be off for scores that were cut off, and for rough units."""

    def ends(self, level: float) -> tuple[float, float]:
        """An interval that holds the true correlation with about the probability `level`."""
        variance = self.sampling + self.noise
        kurtosis = laplace_kurtosis([1.0]) * (self.noise / variance) ** 2 if variance > 0 else 0.0
        half = critical_value(level, kurtosis, self.rows) * math.sqrt(variance) + self.off
        return max(-1.0, self.value - half), min(1.0, self.value + half)


@dataclass(frozen=True)
class _Reach:
    """Where scores or distances end but for a few."""

    tail: Tail

    @property
    def end(self) -> float:
        """A place with few rows beyond it."""
        return self.tail.end(0.0)


class CorrelationWalk:
    """One correlation on its way."""

    def __init__(self, table: Table, budget: BudgetSplit, rng: RandomSource) -> None:
        """Buy a noisy number of rows."""
        self._table, self._budget, self._rng = table, budget, rng
        self.noisy_rows = int(budget.noisy([table.column(0).count()], 1, ROWS)[0][0])
        self._rows = max(float(self.noisy_rows), FEWEST_ROWS)
        self._middle = self._for_draw(MIDDLE_NATS, LEAST_MIDDLE)
        self._scale = self._for_draw(SCALE_NATS, LEAST_SCALE)
        self._look = self._for_draw(LOOK_NATS, LEAST_LOOK)

    @property
    def has_enough_rows(self) -> bool:
        """Whether medians and scales leave enough of the budget."""
        return 2 * (self._middle + self._scale) + self._look <= MOST_STANDARD

    def arrive(self) -> ScoredCorrelation | None:
        """Spend the rest of the budget; None where one column varies no more than noise."""
        start = self._start(self._reaches())
        if start is None:
            return None
        units, correlation, still_off = start
        for _ in range(MOST_STEPS):
            settled = still_off * UNITS_OFF <= OPEN * (1 - correlation**2) / math.sqrt(self._rows)
            if settled or self._budget.left <= ENOUGH:
                break
            scores = PairScores(units, correlation)
            median = self._median(scores)
            cut = CUT * median
            cut = max(cut, min(MOST_CUT * cut, self._bearable(median, STEP) / SCORE_SPREAD))
            raw_sum = self._table.row_sums(ScoreSums(scores, cut))[:1]
            step, deviation = self._mean(raw_sum, cut, STEP)
            correlation = max(-CLOSEST, min(CLOSEST, correlation + step))
            still_off = abs(step) / 2 + deviation
        return self._last_step(PairScores(units, correlation))

    def _last_step(self, scores: PairScores) -> ScoredCorrelation:
        median = self._median(scores)
        reach = self._reach(self._sums(ScoreSizes(scores)), CUT * median, median, LAST_REACH, SCORE_NATS)
        share = self._budget.left - LAST_SQUARES
        cut = max(reach.end, min(LAST_CUT * reach.end, self._bearable(median, share)))
        raw_sums = self._table.row_sums(ScoreSums(scores, cut))
        square, doubt = self._mean(raw_sums[1:], cut, LAST_SQUARES)
        step, deviation = self._mean(raw_sums[:1], cut, share)
        value = max(-1.0, min(1.0, scores.correlation + step))
        sampling = HEAVIER * (max(square, 0.0) + CAUTION * doubt) * cut / self._rows
        lost = LOST * reach.tail.lost(reach.end) * reach.end / cut / self._rows
        return ScoredCorrelation(value, self._rows, sampling, deviation**2 + (STILL_OFF * step) ** 2, lost)

    def _reaches(self) -> PairUnits:
        """The middles of the columns, and how far they reach."""
        x, y = (self._middle_of(place) for place in (0, 1))
        raw_counts = self._sums(PairDistances((x, y)))
        ends = []
        for middle, raw_own in (x, raw_counts[: CELLS + 1]), (y, raw_counts[CELLS + 1 :]):
            epsilon, marks = self._budget.draw_epsilon(self._scale), middle in MARKS
            scale = draw_magnitude(raw_own[:CELLS], epsilon, self._rng, quantile=MOST, certain=marks)
            raw_all = [raw_own[0] + raw_own[CELLS], *raw_own[1:CELLS]]
            reach = self._reach(raw_all, LIKELY_REACH * scale, MEDIAN_OF_SCALE * scale, COLUMN_REACH, COLUMN_NATS)
            ends.append(reach.end)
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
        if min(x_variance, y_variance) < doubt:
            return None
        norm = math.sqrt(x_variance * y_variance)
        correlation = max(-CLOSEST, min(CLOSEST, (noisy[4] / 7 * square - x * y) / norm))
        (x_middle, y_middle), (x_scale, y_scale) = units.middles, units.scales
        middles = _held(x_middle + x_scale * x), _held(y_middle + y_scale * y)
        scales = x_scale * math.sqrt(x_variance), y_scale * math.sqrt(y_variance)
        return PairUnits(middles, scales), correlation, doubt / (math.sqrt(2) * norm)

    def _reach(self, raw_counts: Sequence[int], likely: float, median: float, share: Fraction, nats: float) -> _Reach:
        """A private place with few of the counted rows beyond it, near a likely one, and the tail that it suggests."""
        epsilon = self._budget.draw_epsilon(share)
        beyond = min(nats / float(epsilon), self._rows / 4)
        (likely_cell,) = cells_of(np.array([likely / INWARD])).tolist()
        first = min(likely_cell, CELLS - WINDOW)
        last = first + WINDOW - 1
        raw_window = [sum(raw_counts[: first + 1]), *raw_counts[first + 1 : last], sum(raw_counts[last:])]
        cell = first + draw_cell(raw_window, 1 - Fraction(beyond / self._rows), epsilon, self._rng, REACH_UNDER)
        tail = Tail.of(Side(int(self._rows), Fraction(median), Fraction(magnitude_of(cell)), Fraction(beyond)))
        assert tail is not None  # a magnitude is positive
        return _Reach(tail)

    def _median(self, scores: PairScores) -> float:
        """A private median of the scores' magnitudes."""
        epsilon = self._budget.draw_epsilon(self._look)
        return draw_magnitude(self._sums(ScoreSizes(scores)), epsilon, self._rng, likely=LIKELY_SCORE)

    def _bearable(self, median: float, share: Fraction) -> float:
        """The cut at which the noise of a mean score is BEARABLE sampling errors."""
        return BEARABLE * SCORE_SPREAD * median * math.sqrt(self._rows) / self._budget.deviation(share, 1)

    def _mean(self, raw_sum: Sequence[int], cut: float, share: Fraction) -> tuple[float, float]:
        """A noisy mean over the rows, and the deviation of its noise."""
        (noisy,), deviation = self._budget.noisy(raw_sum, UNITS, share)
        unit = cut / UNITS / self._rows
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
