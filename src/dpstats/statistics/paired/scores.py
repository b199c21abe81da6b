"""Pearson's correlation by scores: a rough correlation, and then steps along what every row says of it.

With u and v, two columns in units of their standard deviations from their means, a row's score is u v - r (u^2 + v^2) / 2: how
much it pulls at a correlation r (the influence function). The mean score is about the correlation of the rows less r. So a rough
r moves by the mean score, and errors of means and deviations matter only as far as r was wrong. Where the columns go together
closely no row has a large score: cut off at a private reach, scores take little noise.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        What any walk along two columns buys (walk.py); noisy counts and a noisy sum of differences of squares, which balance
           the units; then, step by step, a private median of the scores' magnitudes, and the noisy sum of scores that are cut
           off. Shares add up. Rows far out in one column alone may be counted beside the last step, which then leaves them out
           (apart.py)
Numerics   As walk.py says
Source     scores.proof.md; the influence function: Devlin, Gnanadesikan & Kettenring 1975; one step: Bickel 1975
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.statistics.clipped.thinning import place_of
from dpstats.statistics.paired.apart import DEVIATIONS, EDGE, LIGHT_REACH, LOPSIDED, OtherScores, RowsApart
from dpstats.statistics.paired.apart import PLACE as APART_PLACE
from dpstats.statistics.paired.tails import BALANCED, Tails
from dpstats.statistics.paired.walk import (
    CLOSEST,
    ENOUGH,
    PLACE,
    PLACE_POWER,
    USUAL_LEVEL,
    Floats,
    PairUnits,
    PairWalk,
    RowScores,
    ScoreOctaves,
    interval_half,
)

POINTS, STEP = Fraction(25, 100), Fraction(7, 100)
BALANCE_COUNTS, BALANCE = Fraction(3, 100), Fraction(3, 100)
MOST_STEPS = 3
"""At most so many steps before the last one, and none unless ENOUGH of the budget is left."""
OPEN, UNITS_OFF = 0.7, 0.25
"""A step leaves about UNITS_OFF of what r was wrong by, because means and deviations are rough. Another one is taken first where
that is more than OPEN standard errors of normal rows."""
ENOUGH_TO_BALANCE = 1.25
"""Rows times epsilon, over NATS, from which both columns' variances are balanced. With less, what that takes from the last step
lengthened intervals of normal pairs by a quarter."""
BALANCE_PLACE, BALANCE_POWER = 4.0, 0.45
"""The place of the octaves of the balance, as PLACE is that of scores."""
LEAST_MEDIAN, CORNER = 0.2, 8.0
"""The place supposes a median of scores of at least LEAST_MEDIAN (1 - r**2), and lies at the score of rows at both reaches over
CORNER at least: where most rows of a column are equal, most scores are next to 0."""
UNBALANCED, LEAST_CORRELATION, UNLIKE_NATS = 3.0, 0.05, 130.0
"""Where columns were not balanced, one may vary more, by UNBALANCED times what scores may have lost over the correlation, and by
UNLIKE_NATS over rows times epsilon, because of noise. Without that, 91% held for a correlation of .95 at 3,000 rows and epsilon
.5, and 95% with it."""
WIDEST = 1.6
"""No correlation is known whose usual interval would be longer."""
CUT, MOST_CUT = 10.0, 10.0
"""Before the last step scores are cut off at CUT medians; at up to MOST_CUT times that where noise is less than BEARABLE sampling
errors."""
BEARABLE, SCORE_SPREAD = 0.5, 2.0
"""And the standard deviation of scores over their median magnitude."""
STILL_OFF = 0.35
"""The part of the last step that counts as doubt."""


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
        half = interval_half(level, self.rows, self.sampling, self.noise)
        return max(-1.0, self.value - half - self.lost[0]), min(1.0, self.value + half + self.lost[1])

    @property
    def is_known(self) -> bool:
        """Whether rows far out leave it known, at least roughly."""
        low, high = self.ends(USUAL_LEVEL)
        return self.tails_known and high - low <= WIDEST


class CorrelationWalk(PairWalk):
    """One correlation on its way."""

    def arrive(self) -> ScoredCorrelation | None:
        """Spend the rest of the budget; None where one column varies no more than noise, or is too large."""
        reaches = self._reaches()
        moments = self._moments(reaches, POINTS)
        if self.is_too_large or not self._vary(moments):
            return None
        units, correlation, still_off = moments.standardized(), moments.correlation, moments.doubt / (math.sqrt(2) * moments.norm)
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
        apart = self._rows_apart(reaches, units) if self._look_light(reaches, units) else None
        return self._last_step(PairScores(units, correlation), moments.units.scales, unlike, apart)

    def _look_light(self, reaches: PairUnits, units: PairUnits) -> bool:
        """Whether no row of its kind should lie far beyond the reaches."""
        columns = zip(reaches.middles, units.middles, units.scales, strict=True)
        lopsided = max(abs(mean - middle) / deviation for middle, mean, deviation in columns)
        return self._reaching <= LIGHT_REACH and lopsided <= LOPSIDED

    def _rows_apart(self, reaches: PairUnits, units: PairUnits) -> tuple[RowsApart, Tails]:
        """Noisy numbers of rows far out in one column alone, which have no scores from now on, at what is left of epsilon."""
        x, y = (max(EDGE * reach, DEVIATIONS * deviation) for reach, deviation in zip(reaches.scales, units.scales, strict=True))
        apart = RowsApart(PairUnits(reaches.middles, (x, y)))
        raw_counts = self._sums(ScoreOctaves(apart, APART_PLACE))
        return apart, self._release_tails(raw_counts, APART_PLACE, self._budget.epsilon_left)

    def _last_step(
        self, scores: PairScores, reaches: tuple[float, float], unlike: float | None, apart: tuple[RowsApart, Tails] | None
    ) -> ScoredCorrelation:
        """The last step, where columns may still vary differently by `unlike`; None where they were not balanced."""
        others: RowScores = scores if apart is None else OtherScores(scores, apart[0])
        median = max(self._median(others), LEAST_MEDIAN * (1 - scores.correlation**2))
        place = max(PLACE * self._ample**PLACE_POWER * median, scores.corner(reaches) / CORNER)
        tails = self._score_tails(others, place)
        likely, end = tails.cuts(self._rows, self._budget.deviation(self._last_share, 1))
        sums = self._last_sums(others, place * place_of(likely), place * place_of(end))
        value = max(-1.0, min(1.0, scores.correlation + sums.mean))
        noise = sums.deviation**2 + (STILL_OFF * sums.mean) ** 2
        below, above = (lost / self._rows for lost in tails.allowed(end, self._rows, self._reaching, balanced=unlike is not None))
        if unlike is None:
            far_out = math.sqrt(1 + 2 * UNBALANCED * max(below, above) / max(abs(value), LEAST_CORRELATION)) - 1
            unlike = math.hypot(far_out, UNLIKE_NATS / self._nats)
        nearer = value * min(unlike, 1.0) ** 2 / 2
        shrunk = 0.0 if apart is None else value * self._shrunk(apart, scores.units.scales)
        lost = (below - min(nearer, 0.0) + max(shrunk, 0.0), above + max(nearer, 0.0) - min(shrunk, 0.0))
        return ScoredCorrelation(value, self._rows, sums.sampling, noise, lost, tails.are_known(self._rows))

    def _shrunk(self, apart: tuple[RowsApart, Tails], scales: tuple[float, float]) -> float:
        """The part by which a correlation is nearer to 0 for rows apart."""
        return 1 - 1 / math.sqrt(1 + apart[0].squares(apart[1], scales) / self._rows)

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

    def _bearable(self, median: float, share: Fraction) -> float:
        """The cut at which the noise of a mean score is BEARABLE sampling errors."""
        return BEARABLE * SCORE_SPREAD * median * math.sqrt(self._rows) / self._budget.deviation(share, 1)
