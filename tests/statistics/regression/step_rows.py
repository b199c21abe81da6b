"""Ugly rows for regressions, every sum over them, and how far one row may move each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpstats.foundations.summaries import RowSum
from dpstats.statistics.regression.families import LogisticOutcomes, PoissonOutcomes
from dpstats.statistics.regression.link_sums import (
    PULL,
    ClippedOutcomes,
    Counts,
    CountSizes,
    LinkProducts,
    LinkScores,
    OutcomePoints,
)
from dpstats.statistics.regression.octaves import CELLS
from dpstats.statistics.regression.points import STEEPEST, TURN_BITS, Floats, Points, WholeLine, line_of
from dpstats.statistics.regression.quantile_sums import (
    PULL as SIGN_PULL,
)
from dpstats.statistics.regression.quantile_sums import (
    Crossings,
    NearRows,
    RatioPlaces,
    ResidualMagnitudes,
    SignScores,
    Spreads,
)
from dpstats.statistics.regression.reach_sums import (
    LENGTH,
    CurveLengths,
    CutCurves,
    CutScores,
    FarDirections,
    ScoreLengths,
)
from dpstats.statistics.regression.shares import MOST_RADIUS
from dpstats.statistics.regression.sums import (
    ALONG,
    Distances,
    Products,
    ResidualLevels,
    Residuals,
    ResidualSizes,
    Scores,
    weights_of_triangle,
)

MOST_COORDINATES = 41
LARGEST_RADIUS = math.floor(MOST_RADIUS * math.sqrt(MOST_COORDINATES) * 2**12)
UGLY = (0.0, 1.0, -1.0, 0.1, 5e-324, -2.2e-308, 1e-300, 1e154, 1e200, -1e308, 1.7976931348623157e308, math.inf, -math.inf, 40.0)
MagnitudeSum = (Distances, ResidualSizes, CountSizes, Counts, RatioPlaces, NearRows, ScoreLengths, CurveLengths)


def ugly_rows(generator: np.random.Generator, rows: int, columns: int) -> Floats:
    """Rows of every kind: extreme, ordinary, far out in one column, all zero, and twice the same."""
    table = generator.normal(size=(rows, columns))
    kinds = generator.integers(0, 6, rows)
    table[kinds == 0] = generator.choice(UGLY, (int(np.sum(kinds == 0)), columns))
    table[kinds == 1] = 0.0
    table[kinds == 2, generator.integers(columns)] = generator.choice(UGLY)
    table[kinds == 3] *= 10.0 ** generator.integers(-300, 300)
    if rows > 1:
        table[-1] = table[0]
    return table


def some_points(generator: np.random.Generator, features: int, kind: type[Points] = Points) -> Points:
    """A way to make points, with middles and scales from ordinary to absurd, turned or not."""
    intercept = bool(generator.integers(2)) or features == 0
    size = features + intercept
    middles = generator.choice([0.0, 1.0, -3.25, 1e6, 1e308, -1e-300], features)
    scales = generator.choice([1.0, 1.4826, 0.37, 2.0**-1000, 2.0**999, 1e6], features)
    turns = [generator.normal(size=(size, size)) * 2**TURN_BITS, np.full((size, size), STEEPEST), np.eye(size) * 2**TURN_BITS]
    turn = None
    if generator.integers(3):
        turn = tuple(tuple(int(entry) for entry in row) for row in np.rint(turns[generator.integers(3)]))
    radius = int(generator.choice([1, 2, 4096, 9270, LARGEST_RADIUS]))
    return kind(tuple(middles.tolist()), tuple(scales.tolist()), intercept, turn, radius)


def some_line(generator: np.random.Generator, size: int) -> WholeLine:
    """Coefficients from none to the largest."""
    return line_of(generator.normal(size=size) * generator.choice([0.0, 1.0, 1e-310, 1e100, 1e124]))


class SomeSums(NamedTuple):
    """One sum of each kind, over the same points."""

    points: Points
    sums: dict[str, RowSum]


def some_sums(generator: np.random.Generator, features: int, points: Points | None = None) -> SomeSums:
    """One of every kind, with cuts from one unit to the widest."""
    points = some_points(generator, features) if points is None else points
    residuals = Residuals(points, float(generator.choice([0.0, 2.5, 1e308])), some_line(generator, points.coordinates))
    cut = int(generator.choice([1, 3, 8192, 16383]))
    exponent = int(generator.choice([-1010, -14, -3, 10, 985]))
    poisson = PoissonOutcomes(float(generator.choice([1.0, 2.0**-400, 37.5, 2.0**399])), float(generator.choice([3.0, 1e100])))
    outcomes = OutcomePoints(points, residuals.line, LogisticOutcomes()), OutcomePoints(points, residuals.line, poisson)
    least, width = float(generator.choice([2.0**-400, 0.25, 2.0**390])), float(generator.choice([0.02, 0.3, 1.0]))
    spreads = Spreads(residuals, some_line(generator, points.coordinates), least, 32 * least)
    sums: dict[str, RowSum] = {
        "distances": Distances(points.middles),
        "sizes": ResidualSizes(residuals),
        "products": Products(points),
        "scores": Scores(residuals, cut, exponent),
        "scores and products": Scores(residuals, cut, exponent, products=True),
        "levels": ResidualLevels(residuals, cut, exponent),
        "scores of marks": LinkScores(outcomes[0], products=True),
        "scores of counts": LinkScores(outcomes[1], products=True),
        "curved products of marks": LinkProducts(outcomes[0]),
        "curved products of counts": LinkProducts(outcomes[1]),
        "sizes of counts": CountSizes(points, residuals.line, poisson),
        "shares": ClippedOutcomes(),
        "counts": Counts(),
        "magnitudes": ResidualMagnitudes(residuals, cut, exponent),
        "ratios": RatioPlaces(spreads, 8, 128),
        "near rows": NearRows(spreads, width),
        "crossings": Crossings(residuals, least),
        "signs": SignScores(spreads, width, int(generator.integers(-SIGN_PULL, SIGN_PULL + 1)), products=True),
    }
    return SomeSums(points, sums)


class Claim(NamedTuple):
    """Some of the sums, how they are weighted before noise is added, and the length by which one row may move them."""

    part: slice
    weights: list[int] | None
    l2_units: int

    def length_allows(self, raw_move: list[int]) -> bool:
        """Whether a move of all sums, in Python's whole numbers, is within the claim."""
        return self.squared_length(raw_move) <= self.l2_units**2

    def squared_length(self, raw_move: list[int]) -> int:
        """Of the move, weighted."""
        raw_part = raw_move[self.part]
        weights = self.weights or [1] * len(raw_part)
        return sum((weight * moved) ** 2 for weight, moved in zip(weights, raw_part, strict=True))


def claims_of(row_sum: RowSum, weights: Callable[[int], list[int]] = weights_of_triangle, along: int = ALONG) -> list[Claim]:
    """What is claimed of each part of a sum."""
    if isinstance(row_sum, Distances):
        return [Claim(slice(place * CELLS, (place + 1) * CELLS), None, 1) for place in range(len(row_sum.middles))]
    if isinstance(row_sum, MagnitudeSum):
        return [Claim(slice(None), None, 1)]
    if isinstance(row_sum, (ResidualLevels, ResidualMagnitudes, Crossings)):
        return [Claim(slice(None), None, row_sum.l2_units)]
    if isinstance(row_sum, SignScores):
        points = row_sum.spreads.residuals.points
        score = Claim(slice(points.coordinates), None, row_sum.l2_units)
        products = Claim(slice(points.coordinates, None), weights(points.coordinates), along * points.radius**2)
        return [score, products] if row_sum.products else [score]
    if isinstance(row_sum, Products):
        return [Claim(slice(None), weights(row_sum.points.coordinates), along * row_sum.points.radius**2)]
    if isinstance(row_sum, ClippedOutcomes):
        return [Claim(slice(None), None, PULL)]
    if isinstance(row_sum, LinkProducts):
        return [Claim(slice(None), weights(row_sum.outcomes.points.coordinates), along * row_sum.radius**2)]
    if isinstance(row_sum, LinkScores):
        points = row_sum.outcomes.points
        score = Claim(slice(points.coordinates), None, row_sum.l2_units)
        products = Claim(slice(points.coordinates, None), weights(points.coordinates), along * points.radius**2)
        return [score, products] if row_sum.products else [score]
    if isinstance(row_sum, (CutCurves, FarDirections)):
        return [Claim(slice(None), weights(row_sum.scores.points.coordinates), along * LENGTH**2)]
    if isinstance(row_sum, CutScores):
        size = row_sum.scores.points.coordinates
        within = Claim(slice(size, None), weights(size), along * LENGTH**2)
        return [Claim(slice(size), None, LENGTH), *([within] if row_sum.products else [])]
    assert isinstance(row_sum, Scores)
    points = row_sum.residuals.points
    size = points.coordinates
    claims = [Claim(slice(size), None, row_sum.l2_units), Claim(slice(size, size + 1), None, points.radius**2)]
    if row_sum.products:
        claims.append(Claim(slice(size + 1, None), weights(size), along * points.radius**2))
    return claims


def added_by(row_sum: RowSum, raw_rows: Floats) -> list[list[int]]:
    """What each row adds by itself."""
    return [row_sum(raw_rows[place : place + 1]).tolist() for place in range(len(raw_rows))]


def keeps_claims(row_sum: RowSum, raw_rows: Floats, claims: list[Claim] | None = None) -> bool:
    """Whether no row adds more than is claimed."""
    claims = claims_of(row_sum) if claims is None else claims
    return all(claim.length_allows(raw_added) for raw_added in added_by(row_sum, raw_rows) for claim in claims)


def adds_up(row_sum: RowSum, raw_rows: Floats) -> bool:
    """Whether the sum over all rows is the sum of what the rows add."""
    raw_added = np.array(added_by(row_sum, raw_rows), dtype=object)
    return bool(np.all(raw_added.sum(axis=0) == np.array(row_sum(raw_rows).tolist(), dtype=object)))
