"""Sums over rows whose outcomes belong to a family: some of every kind, how far one row may move each, and each by hand."""

from __future__ import annotations

import math

import numpy as np

from dpstats.foundations.summaries import RowSum
from dpstats.statistics.regression.families import ROOM, STEEPEST_PREDICTOR, LogisticOutcomes, OutcomeFamily, PoissonOutcomes
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
from dpstats.statistics.regression.points import FARTHEST, Points
from dpstats.statistics.regression.sums import ALONG, weights_of_triangle
from tests.statistics.regression.row_oracle import (
    Row,
    ball_by_hand,
    cell_by_hand,
    line_by_hand,
    point_by_hand,
    triangle_by_hand,
    weight_by_hand,
)
from tests.statistics.regression.step_rows import Claim, claims_of, some_line, some_points

LEVELS, CUTS = (1e-4 * 2.0**-400, 0.03, 1.0, 17.5, 2.0**400), (3.0, 4.7, 5 * 2.0**400)
"""From the smallest that a walk may come to, to the largest."""
LOG2, LOG2_HIGH = math.log(2), 0.693147180369123816490


def some_families(generator: np.random.Generator) -> list[OutcomeFamily]:
    """Both, counts with any level and cut."""
    return [LogisticOutcomes(), PoissonOutcomes(float(generator.choice(LEVELS)), float(generator.choice(CUTS)))]


def some_link_sums(generator: np.random.Generator, features: int, points: Points | None = None) -> dict[str, RowSum]:
    """One of every kind for every family, at one line."""
    points = some_points(generator, features) if points is None else points
    line = some_line(generator, points.coordinates)
    sums: dict[str, RowSum] = {"shares": ClippedOutcomes(), "counts": Counts()}
    for family in some_families(generator):
        outcomes = OutcomePoints(points, line, family)
        name = type(family).__name__
        sums[f"{name} scores"] = LinkScores(outcomes)
        sums[f"{name} scores and products"] = LinkScores(outcomes, products=True)
        sums[f"{name} products"] = LinkProducts(outcomes)
        if isinstance(family, PoissonOutcomes):
            sums["count sizes"] = CountSizes(points, line, family)
    return sums


def claims_of_any(row_sum: RowSum) -> list[Claim]:
    """What is claimed of each part of a sum, with a link or without."""
    if isinstance(row_sum, (Counts, CountSizes)):
        return [Claim(slice(None), None, 1)]
    if isinstance(row_sum, ClippedOutcomes):
        return [Claim(slice(None), None, PULL)]
    if isinstance(row_sum, LinkProducts):
        size = row_sum.outcomes.points.coordinates
        return [Claim(slice(None), weights_of_triangle(size), ALONG * row_sum.radius**2)]
    if isinstance(row_sum, LinkScores):
        points = row_sum.outcomes.points
        size = points.coordinates
        products = Claim(slice(size, None), weights_of_triangle(size), ALONG * points.radius**2)
        return [Claim(slice(size), None, row_sum.l2_units), *([products] if row_sum.products else [])]
    return claims_of(row_sum)


def exp_by_hand(exponent: float) -> float:
    """The exponential function in Python's floats, one number at a time."""
    held = max(-STEEPEST_PREDICTOR, min(exponent, STEEPEST_PREDICTOR))
    twos = round(held * (1 / LOG2))
    rest = (held - twos * LOG2_HIGH) - twos * (LOG2 - LOG2_HIGH)
    total = 1 / math.factorial(14)
    for power in range(13, -1, -1):
        total = total * rest + 1 / math.factorial(power)
    return math.ldexp(total, twos)


def family_by_hand(family: OutcomeFamily, predictor: float, outcome: float) -> tuple[float, float, float]:
    """A row's root, pull and curvature."""
    if isinstance(family, LogisticOutcomes):
        likelier = 1.0 / (1.0 + exp_by_hand(-abs(predictor)))
        mean = likelier if predictor >= 0 else 1.0 - likelier
        return 1.0, max(0.0, min(outcome, 1.0)) - mean, mean * (1.0 - mean)
    assert isinstance(family, PoissonOutcomes)
    mean = exp_by_hand(predictor) * family.level
    deviation = math.sqrt(mean + ROOM)
    pull = (max(outcome, 0.0) - mean) / (deviation * family.cut)
    return deviation / math.sqrt(family.level + ROOM), max(-1.0, min(pull, 1.0)), mean / (mean + ROOM)


def link_added_by_hand(row_sum: RowSum, row: Row) -> list[int]:
    """What one row adds."""
    if isinstance(row_sum, ClippedOutcomes):
        return [math.trunc(max(0.0, min(row[-1], 1.0)) * PULL)]
    if isinstance(row_sum, Counts):
        return _one_hot(cell_by_hand(max(row[-1], 0.0)))
    if isinstance(row_sum, CountSizes):
        predictor = line_by_hand(row_sum.line, point_by_hand(row_sum.points, row))
        mean = exp_by_hand(predictor) * row_sum.family.level
        return _one_hot(cell_by_hand(abs(max(row[-1], 0.0) - mean) / math.sqrt(mean + ROOM)))
    assert isinstance(row_sum, (LinkScores, LinkProducts))
    outcomes = row_sum.outcomes
    point = point_by_hand(outcomes.points, row)
    root, pull, curve = family_by_hand(outcomes.family, line_by_hand(outcomes.line, point), row[-1])
    stretched = [round(max(-FARTHEST, min(each * root, FARTHEST))) for each in point]
    ball = ball_by_hand(outcomes.points, stretched)
    if isinstance(row_sum, LinkProducts):
        return triangle_by_hand([math.trunc(each * math.sqrt(curve)) for each in ball])
    whole_pull = math.trunc(pull * weight_by_hand(outcomes.points, stretched) * PULL)
    small = [math.trunc(each * (whole_pull / PULL)) for each in ball]
    return [*(whole_pull * each for each in ball), *(triangle_by_hand(small) if row_sum.products else [])]


def _one_hot(cell: int | None) -> list[int]:
    return [int(place == cell) for place in range(CELLS)]
