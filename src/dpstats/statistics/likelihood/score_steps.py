"""Score steps: from private quartiles to an efficient estimate, by noisy means of bounded scores.

Claim      What it takes from the budget, for one row added or removed
Neighbors  ADD_REMOVE; the budget pays for CHANGE_ONE
Why        Quartiles of every column are universal quantiles (universal/many.py): two levels of draws. They make public
           parameters. At these the bounded scores of all rows are summed up, in whole numbers of a bounded length, and get noise
           (bounded_scores.py); with the noisy number of rows that makes better public parameters, and once more. What scores are
           expected to be if rows follow the family is worked out without the rows, so that bounding them shifts nothing
Numerics   Exact from whole scores to noisy sums; floats after that
Source     score_steps.proof.md; one step from a rough estimate is efficient: Le Cam 1956; bounded scores: Hampel and others 1986
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.accounting.allowance import part
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, Expected, Stand
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.family import SmoothFamily
from dpstats.statistics.regression.walk import FitContext
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.many import draw_quantiles

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
LEVELS = 2
"""Levels of draws that three quantiles take."""
ROWS_SHARE = Fraction(2, 100)
START_NATS, START_MOST, START_LEAST = 150.0, 0.25, 0.05
"""The quartiles of one column get so much over the number of rows, within these shares of the whole."""
EARLY_NATS, EARLY_MOST, EARLY_LEAST = 60.0, 0.1, 0.02
"""The same for each of the steps before the last, times the number of parameters; half as much counts rows."""
MANY_LEVELS, MANY_SHARE = 5, Fraction(3, 10)
MANY = tuple(Fraction(place, 1 << MANY_LEVELS) for place in range(1, 1 << MANY_LEVELS))
"""Quantiles for a start where quartiles do not tell, the levels of draws that they take, and their share of the whole."""
PSEUDO_ROWS = 512
MOST_EARLY, LAST_LEAST = 12, Fraction(2, 5)
"""Steps before the last are taken until they are short, at most MOST_EARLY; the share LAST_LEAST is left for the last."""
NEAR, SURELY = 0.05, 2.0
"""A step is short if it is no longer than NEAR standard deviations of a row's score, or than SURELY of its own errors."""
FAR, TOO_FAR = 0.1, 4.0
"""If the last step is longer than FAR, and than TOO_FAR errors of itself and the step before, the steps led nowhere."""
BOUND_SHARE = Fraction(1, 2)
"""Scores are bounded in all steps as suits the noise that this share buys: where rows do not follow the family, another bound
leads somewhere else."""
OFF_ROUND = 1e-6
"""A start is moved by so much, because at a round one, such as a rate of 4, rows may have a score of 0 and look impossible."""
POSSIBLE = 0.5
"""At least so much of all rows must be such that the family can have made them."""
FEWEST_NATS = 60.0
"""Where rows times epsilon is below this there is no reply."""
LONGEST = 1.0
"""A step is no longer than this many standard deviations of a row's score."""
HALVINGS = 30
CURVED = 0.25
"""A last step may be off by about so much of its square."""


@dataclass(frozen=True)
class ScoreEstimate:
    """Where the steps led."""

    theta: Floats
    covariance: Floats
    """Of the free coordinates: sampling under the family, noise, and what the last step may have missed."""
    noise: Floats
    """Standard deviations of the last step's noise in the parameters."""
    noisy_rows: int
    clipping: Floats | None = None
    """What the allowance for scores that were cut off adds to each parameter's error, as a standard deviation."""


@dataclass(frozen=True)
class ScoreStep:
    """One step: where it led, and how far off that may be."""

    stand: Stand
    length: float
    """The length before the step was cut off at LONGEST."""
    error: float
    """How far off its end may be by sampling and noise, as lengths are measured."""
    covariance: Floats
    noise: Floats
    rows: float
    """The noisy number of rows that can come from the family."""

    @property
    def is_short(self) -> bool:
        """Whether one more would not change much."""
        return self.length <= max(NEAR, SURELY * self.error)


class ScoreWalk:
    """One estimate on its way."""

    def __init__(self, family: SmoothFamily, context: FitContext) -> None:
        """The family can guess from quartiles, or is one of a single column."""
        self.family = family
        self.table, self.budget, self.rng, self.progress = context.table, context.budget, context.rng, context.progress
        self.coordinates = Coordinates(family.space)
        self.noisy_rows = 0

    def walk(self, columns: int) -> ScoreEstimate | None:
        """All of it; None where there are too few rows, or too few that the family can have made, or the steps led nowhere, by
        released numbers."""
        nats = self._count_rows()
        if nats < FEWEST_NATS:
            return None
        stand = self._start(columns, nats)
        if stand is None or not stands(stand):
            return None
        early = part(min(EARLY_MOST, max(EARLY_LEAST, len(stand.theta) * EARLY_NATS / nats)))
        rows = float(self.noisy_rows)
        for _ in range(MOST_EARLY):
            step = self._step(stand, rows, early, counted=early / 2)
            stand, rows = step.stand, step.rows
            if step.is_short or self.budget.left < LAST_LEAST + early * Fraction(3, 2):
                break
        if rows < POSSIBLE * self.noisy_rows:
            return None
        last = self._step(stand, rows, self.budget.left, counted=None)
        if last.length > max(FAR, TOO_FAR * math.hypot(step.error, last.error)):
            return None
        return ScoreEstimate(last.stand.theta, last.covariance, last.noise, max(1, round(last.rows)))

    def _count_rows(self) -> float:
        """Buy the number of rows; what it is in deviations of the noise that the whole budget would buy."""
        (self.noisy_rows,), _ = self.budget.noisy([self.table.column(0).count()], 1, ROWS_SHARE)
        return self.noisy_rows / self.budget.deviation(Fraction(1), 1)

    def _start(self, columns: int, nats: float) -> Stand | None:
        """The first public parameters, inside the space: a guess from quartiles, or from more where these do not tell."""
        several, single = (getattr(self.family, name, None) for name in ("guess_columns", "guess"))
        if several is None and single is None:
            theta = self._fit_of_quantiles()
        else:
            share = part(min(START_MOST, max(START_LEAST, columns * START_NATS / nats)) / columns)
            quartiles = [self._quantiles(place, QUARTILES, LEVELS, share) for place in range(columns)]
            theta = several(quartiles) if several else single(quartiles[0])  # type: ignore[misc]
        if not np.isfinite(theta).all():
            return None
        return Stand(self.family, self.coordinates, self.coordinates.held(self.coordinates.free(theta) + OFF_ROUND))

    def _fit_of_quantiles(self) -> Floats:
        """The estimate of rows that lie evenly between many private quantiles of the one column."""
        drawn = self._quantiles(0, MANY, MANY_LEVELS, MANY_SHARE)
        shares = (np.arange(PSEUDO_ROWS) + 0.5) / PSEUDO_ROWS
        rows = np.interp(shares, list(drawn), sorted(drawn.values()))[:, None]
        estimates = self.family.fit_blocks(RowBlocks(rows, np.zeros(PSEUDO_ROWS, dtype=np.int64), 1))
        return np.asarray(estimates[0], dtype=np.float64)

    def _quantiles(self, place: int, shares: Sequence[Fraction], levels: int, share: Fraction) -> dict[float, float]:
        """Private quantiles of a column, drawn in `levels` levels."""
        epsilon = levels * self.budget.draw_epsilon(share / levels)
        places = draw_quantiles(self.table.column(place), shares, epsilon, Neighbors.ADD_REMOVE, self.rng)
        self.progress.step()
        return {float(q): nearest_float(fraction_of(ordinal)) for q, ordinal in places.items()}

    def _step(self, stand: Stand, rows: float, share: Fraction, *, counted: Fraction | None) -> ScoreStep:
        """One step for a share; the number of rows that follow the family is bought anew for `counted`."""
        size = len(stand.theta)
        noise = L2_UNITS / stand.scores(1.0).unit * self.budget.deviation(BOUND_SHARE, size) / rows
        totals = [float(np.trace(each.error(rows, each.bound * noise))) for each in stand.expected]
        place = totals.index(min(totals))
        chosen = stand.expected[place]
        scores = stand.scores(chosen.bound)
        *raw_sums, raw_possible = self.table.row_sums(scores)
        noisy_sums, deviation = self.budget.noisy(raw_sums, L2_UNITS, share)
        if counted is not None:
            rows = float(max(1, self.budget.noisy([raw_possible], 1, counted)[0][0]))
        unit = chosen.bound / scores.unit / rows
        step = chosen.inverse @ (np.array(noisy_sums, dtype=np.float64) * unit - chosen.mean)
        length = math.sqrt(float(step @ step))
        if length > LONGEST:
            step *= LONGEST / length
        self.progress.step()
        moved = self._moved(stand, step)
        error = math.sqrt(float(np.trace(chosen.error(rows, deviation * unit))))
        errors = self._errors(moved, moved.expected[place], rows, deviation * unit, min(length, LONGEST))
        return ScoreStep(moved, length, error, *errors, rows)

    def _errors(self, stand: Stand, chosen: Expected, rows: float, noise: float, length: float) -> tuple[Floats, Floats]:
        """The covariance of the free coordinates, and the deviations of the noise alone in the parameters."""
        back = np.linalg.inv(stand.root.T)
        turned = chosen.error(rows, noise) + (CURVED * length**2) ** 2 * np.eye(len(stand.theta))
        alone = back @ chosen.inverse * noise
        slopes = self.coordinates.slopes(stand.theta)
        return back @ turned @ back.T, slopes * np.sqrt(np.square(alone).sum(axis=1))

    def _moved(self, stand: Stand, step: Floats) -> Stand:
        """A step further; half of it, and again, while the family makes no sense there."""
        for halved in range(HALVINGS):
            moved = Stand(self.family, self.coordinates, stand.moved(step / 2**halved))
            if stands(moved):
                return moved
        return stand


def stands(stand: Stand) -> bool:
    """Whether a step can be taken from there: absurd parameters may have no information, or scores that never differ."""
    try:
        with np.errstate(all="ignore"):
            return all(np.isfinite(each).all() for each in (stand.root, *(bounded.inverse for bounded in stand.expected)))
    except (np.linalg.LinAlgError, ValueError):
        return False
