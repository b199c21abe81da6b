"""Shares: what the steps of a regression get of its budget, from a noisy number of rows and the number of coefficients.

Nothing here claims anything: whatever shares come out, the budget holds them to what there is. The numbers were found by
simulation (benchmarks/regressions.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpstats.accounting.allowance import FINEST, part
from dpstats.statistics.regression.budget_split import BudgetSplit

ROWS = Fraction(2, 100)
MIDDLE_NATS, SCALE_NATS, LOOK_NATS = 54, 30, 22
"""Rows times epsilon that a median of a column, a scale, and a look at the residuals need."""
SURE_MIDDLE_NATS, SURE_SCALE_NATS, SURE_LOOK_NATS = 110, 240, 90
"""The same where the last steps follow full scores: nothing that a wrong scale hides is found again there."""
LEAST_MIDDLES, LEAST_SCALES, LESS = 0.04, 0.12, 0.5
"""What middles and scales get at least: columns of marks may have few rows away from their middle. Half of it where more nats
are asked for them."""
LEAST_LOOK, LEAST_SEARCH = 0.005, Fraction(1, 100)
SEARCH, SHORT_SEARCH = Fraction(20, 100), Fraction(12, 100)
"""For the steps that come near: looks at the residuals included. Less will do where the last steps follow full scores."""
MOST_STANDARD = 0.46
"""A table that needs more than that for its columns has too few rows."""
MOST_STEPS, FEWEST_STEPS = 6, 2
REST = {"turn": 12, "matrix": 26, "close": 44, "products": 7, "inside": 2, "level": 10}
"""How the rest is divided."""
QUANTILE = {"turn": 4, "matrix": 5, "close": 66, "products": 4, "inside": 2, "level": 5, "curves": 10, "reaches": 4}
"""How it is divided for a quantile: `level` for how residuals spread, `curves` for how the score gives way."""
LINKED = {"turn": 12, "matrix": 12, "close": 42, "products": 7, "level": 27}
"""How it is divided where curved points must be measured too, for which `level` is."""
FULL = {"turn": 7, "matrix": 7, "close": 57, "products": 5, "reaches": 22, "curves": 10, "even": 5}
"""How it is divided where the last steps follow full scores within a reach."""
NONE = Fraction(0)
STILL = 0.25
"""The noise of a step that comes near, over where residuals are cut off: more would lead astray."""


@dataclass(frozen=True)
class Regime:
    """How boldly to cut, by how the noise of the last step compares with the error of sampling."""

    radius: float
    """The radius of the ball, over the root of the number of coordinates."""
    cut: float
    """Where residuals are cut off, over the median of their magnitudes."""

    @property
    def inside(self) -> float:
        """The part of normal residuals that is not cut off."""
        return math.erf(self.cut * NORMAL_MEDIAN / math.sqrt(2))


NORMAL_MEDIAN = 0.6745
"""The median magnitude of a standard normal."""
ROUGH, BREEZY, CALM = Regime(1.0, 1.5), Regime(1.3, 2.0), Regime(1.6, 2.5)
BREEZE, CALMNESS = 0.2, 0.03
"""The noise of the last step, of unit length, over the error of sampling, as variances, up to which the latter two hold."""
BEARABLE, WIDEST_CUT, WIDEST_BALL = 0.035, 3.2, 1.5
"""Where there is less noise still, residuals are cut off further out, up to where noise adds about a quarter to the variance:
what is cut off is missing from a mean. Balls grow too, more slowly. Both at most by these factors."""
MOST_RADIUS = CALM.radius * WIDEST_BALL


@dataclass(frozen=True)
class StepShares:
    """What each step gets."""

    middle: Fraction
    scale: Fraction
    first_look: Fraction
    look: Fraction
    turn: Fraction
    matrix: Fraction
    close: Fraction
    products: Fraction
    search: Fraction
    regime: Regime
    inside: Fraction = NONE
    level: Fraction = NONE
    reaches: Fraction = NONE
    curves: Fraction = NONE
    even: Fraction = NONE


def plan_shares(
    budget: BudgetSplit,
    noisy_rows: int,
    features: int,
    *,
    intercept: bool,
    interval: bool,
    mean: bool,
    linked: bool = False,
    full: bool = False,
) -> StepShares | None:
    """What each step gets; None where there are too few rows. What is not wanted goes to the others."""

    def for_draw(nats: int, least: float) -> Fraction:
        return max(budget.share_for_draw(nats / max(noisy_rows, 1)), part(least))

    middles = (features + 1) * intercept
    search, less = (SHORT_SEARCH, LESS) if full else (SEARCH, 1.0)
    middle_nats, scale_nats, look_nats = (
        (SURE_MIDDLE_NATS, SURE_SCALE_NATS, SURE_LOOK_NATS) if full else (MIDDLE_NATS, SCALE_NATS, SCALE_NATS)
    )
    middle = for_draw(middle_nats, less * LEAST_MIDDLES / (features + 1))
    scale = for_draw(scale_nats, less * LEAST_SCALES / features)
    first_look, look = for_draw(look_nats, LEAST_LOOK), for_draw(LOOK_NATS, LEAST_LOOK)
    standard = middle * middles + scale * features + first_look
    if standard > MOST_STANDARD or look * FEWEST_STEPS * 2 > search:
        return None
    rest = QUANTILE if not (mean or linked) else FULL if full else LINKED if linked else REST
    wanted = {**rest, "products": rest["products"] * interval}
    if mean and not intercept:
        wanted["level"] = 0
    left, total = 1 - ROWS - search - standard, sum(wanted.values())
    given = {name: Fraction(int(left * weight * FINEST) // total, FINEST) for name, weight in wanted.items()}
    regime = _regime(budget, noisy_rows, features + intercept)
    return StepShares(middle, scale, first_look, look, search=search, regime=regime, **given)


def _regime(budget: BudgetSplit, noisy_rows: int, coordinates: int) -> Regime:
    noise = coordinates * budget.deviation(Fraction(3, 10), coordinates) ** 2 / noisy_rows
    if noise > CALMNESS:
        return BREEZY if noise < BREEZE else ROUGH
    ball, cut = min(WIDEST_BALL, (CALMNESS / noise) ** 0.125), min(WIDEST_CUT, math.sqrt(BEARABLE / noise))
    return Regime(CALM.radius * ball, CALM.cut * cut)
