"""The robust regression of Dwork & Lei 2009, corrected: the least sum |y - x.b| / ||x||, after a private test that it is stable.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE (a noisy number of rows is bought first) or CHANGE_ONE (the number of rows is public)
Why        Votes of random blocks give a private frame (regression/vote_frames.py), in which grids of cells are public. A lower
           bound of how many rows must come or go before a minimiser can leave its cell (regression/cell_tests.py) is tested
           once, at its largest over all grids. Where it is above what one row moves it by, neighbours share a cell, and noise
           for a cell's sides is added to a minimiser that is cut off at the stable cells
Numerics   Rows become whole numbers, one by one; cells, tests, the cut and the noise are exact. The minimiser itself is found in
           floats, and no claim rests on it
No reply   Costs the same as an answer and says only that the test failed
Source     robust_regression.proof.md; Dwork & Lei 2009, Algorithm R_u; its claim fails: docs/errata.md#regression-claim
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.accounting.groups import steps_between
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal, method
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Table
from dpstats.mechanisms.discrete_laplace import noisy_count, sample_discrete_laplace
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.mechanisms.propose_test_release import distance_for
from dpstats.statistics.propose_test_release.answers import TESTED_NOTES, refusal
from dpstats.statistics.regression.cell_search import StableCell, cells_around, find_stable, shared_box
from dpstats.statistics.regression.cell_tests import MOST_COEFFICIENTS, SIDE
from dpstats.statistics.regression.fit import LINEAR, RegressionFit, fit_of
from dpstats.statistics.regression.least_ratios import minimiser
from dpstats.statistics.regression.ratios import CoefficientFrame, Floats, RawRatios, Wholes, raw_ratios
from dpstats.statistics.regression.vote_frames import draw_frame
from dpstats.statistics.step_regressions import LINEAR_REGRESSION

COUNT_SHARE, CENTRES_SHARE, VOTES_SHARE = Fraction(5, 100), Fraction(5, 100), Fraction(25, 100)
TEST_SHARE = Fraction(25, 100)
"""Of epsilon; the rest is for noise."""
SHIFTS = {1: 16, 2: 4, 3: 2}
"""Grids along each axis, by the number of coefficients."""
REACH = {1: 1 << 12, 2: 64, 3: 16}
"""Cells to either side of the votes' middle."""
ROOM = {1: 4.0, 2: 6.0, 3: 14.0}
"""A cell whose side is ROOM * steps / rows of the votes' scale is mostly `steps` steps wide, in ordinary tables; measured."""
FINER = 1 << 10
"""A minimiser is rounded to such a part of a step."""
CHANCE = 0.95


@dataclass(frozen=True)
class Proposal:
    """What is public before the test: the frame, the cells' side in scales of it, and the test."""

    frame: CoefficientFrame
    public_rows: int
    side: float
    test: BestTest
    release_epsilon: Fraction

    @property
    def step(self) -> float:
        """The length of a step, in scales of the frame."""
        return self.side / SIDE

    def fit(self, places: Sequence[Fraction], spreads: float, question: Question) -> RegressionFit:
        """The fit at a place in steps, of which each coordinate is off by `spreads` steps, as a standard deviation."""
        frame, units = self.frame, [scale * self.step for scale in self.frame.scales]
        moved = [middle + unit * float(place) for middle, unit, place in zip(frame.middles, units, places, strict=True)]
        errors = [unit * spreads for unit in units]
        slopes, slope_errors = moved[-len(frame.centres) :], errors[-len(frame.centres) :]
        if frame.has_intercept:
            moved[0] -= sum(slope * centre for slope, centre in zip(slopes, frame.centres, strict=True))
            errors[0] = math.hypot(errors[0], *(e * centre for e, centre in zip(slope_errors, frame.centres, strict=True)))
        noise = tuple(nearest_float(error) for error in errors)
        return fit_of(question, LINEAR, [nearest_float(value) for value in moved], noise=noise, rows=self.public_rows)

    def notes(self) -> tuple[tuple[str, str], ...]:
        """What the card says."""
        sides = ", ".join(f"{scale * self.side:.3g}" for scale in self.frame.scales)
        return (
            ("rows", f"about {self.public_rows:,}, a noisy number, or the stored one where that is public"),
            ("cells", f"sides of {sides}; features are centred at {', '.join(f'{c:.6g}' for c in self.frame.centres)}"),
            ("fitted", "the least sum of |y - x.b| / ||x||, each x and b in the scale of the votes of small random blocks"),
            *TESTED_NOTES[:-1],
            ("numerics", "rows become whole numbers; tests are exact, noise is drawn exactly on a grid"),
        )


def coefficients_of(question: Question) -> int:
    """Coefficients that a question asks for."""
    return len(question.columns) - 1 + int(question.arguments["intercept"])


def check_few_coefficients(question: Question) -> None:
    """Raise where there are more coefficients than cells are made for."""
    if coefficients_of(question) > MOST_COEFFICIENTS:
        raise InvalidParameterError(
            f"{question.statistic.name} by method '{question.method.name}' fits at most {MOST_COEFFICIENTS} coefficients, the "
            f"intercept among them; here are {coefficients_of(question)}. Leave features out, or take another method."
        )


@method(
    LINEAR_REGRESSION,
    "robust",
    claim="(epsilon, delta)-DP, may refuse: the least sum of |y - x.b| / ||x|| with noise, if no row can move it out of a cell",
    needs_delta=True,
    check=check_few_coefficients,
)
def regression_robust(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """A minimiser with noise for the sides of a cell, if a test passes."""
    size = coefficients_of(question)
    raw_matrix = table.matrix()
    proposal = propose(table, raw_matrix, question, rng)
    rows = raw_ratios(raw_matrix, proposal.frame, proposal.step)
    stable = find_stable(rows, cells_around(size, REACH[size], even_shifts(size)))
    if not proposal.test.passes(most_steps(stable), rng):
        return refusal(question)
    scale = Fraction(SIDE * FINER * size) / proposal.release_epsilon
    noise = sample_discrete_laplace(scale, size, rng).tolist()
    units = raw_units(rows, stable)
    places = [Fraction(unit + drawn, FINER) for unit, drawn in zip(units, noise, strict=True)]
    fit = proposal.fit(places, math.sqrt(2) * float(scale) / FINER, question)
    return Answer(fit, notes=proposal.notes())


def propose(table: Table, raw_matrix: Floats, question: Question, rng: RandomSource) -> Proposal:
    """Spend all but the test and the release, and say what is tested."""
    epsilon, neighbors = question.epsilon, question.neighbors
    left = 1 - CENTRES_SHARE - VOTES_SHARE - TEST_SHARE
    if neighbors is Neighbors.CHANGE_ONE:
        public_rows = table.column(0).stored()
    else:
        public_rows = noisy_count(len(raw_matrix), epsilon * COUNT_SHARE, rng)
        left -= COUNT_SHARE
    public_rows = max(public_rows, 1)
    frame = draw_frame(
        raw_matrix,
        public_rows,
        intercept=question.arguments["intercept"],
        centres_epsilon=epsilon * CENTRES_SHARE,
        votes_epsilon=epsilon * VOTES_SHARE,
        neighbors=neighbors,
        rng=rng,
    )
    moves = steps_between(neighbors, 1)
    test = BestTest(epsilon * TEST_SHARE, question.delta, unstable_at=moves, sensitivity=moves)
    size = len(frame.middles)
    side = ROOM[size] * (distance_for(test, CHANCE) + 1) / public_rows
    return Proposal(frame, public_rows, max(side, votes_reach(public_rows, size, epsilon) / REACH[size]), test, epsilon * left)


def votes_reach(public_rows: int, size: int, epsilon: Fraction) -> float:
    """How far from the votes' middle, in scales of it, the minimiser may lie: errors of the votes, and of their quartiles."""
    votes = max(1, public_rows // size)
    quartile_epsilon = float(epsilon * VOTES_SHARE) / (2 * size)
    return 8 / math.sqrt(votes) + 60 / (quartile_epsilon * votes)


def even_shifts(size: int) -> list[Wholes]:
    """Where the grids of cells begin: the same parts of a side along each axis, in all combinations."""
    parts = range(0, SIDE, SIDE // SHIFTS[size])
    return [np.array(shift) for shift in itertools.product(parts, repeat=size)]


def most_steps(stable: Sequence[StableCell]) -> int:
    """The largest number of steps; 0 where no cell has any."""
    return max((cell.raw_steps for cell in stable), default=0)


def raw_units(rows: RawRatios, stable: Sequence[StableCell]) -> list[int]:
    """A minimiser in parts of a step, cut off at what all stable cells have in common; 0 where there is none."""
    if not stable:
        return [0] * rows.dimensions
    low, high = shared_box(stable)
    middle = (low + high) / 2
    raw_found = minimiser(rows.normals, rows.offsets, middle)
    raw_place = np.where(np.isfinite(raw_found), raw_found, middle)
    return [
        min(max(round(place * FINER), least * FINER), most * FINER)
        for place, least, most in zip(raw_place.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
