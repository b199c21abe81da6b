"""What one row adds to the sums of a regression, by hand: Python's floats for its cells, whole numbers for everything else."""

from __future__ import annotations

import math
from fractions import Fraction

from dpstats.foundations.summaries import RowSum
from dpstats.statistics.regression.octaves import CELLS, magnitude_of
from dpstats.statistics.regression.points import BALL_BITS, FARTHEST, POINT_BITS, TURN_BITS, Points, WholeLine
from dpstats.statistics.regression.quantile_sums import (
    PULL,
    Crossings,
    NearRows,
    RatioPlaces,
    ResidualMagnitudes,
    SignScores,
    Spreads,
)
from dpstats.statistics.regression.sums import (
    GRID,
    Distances,
    Products,
    ResidualLevels,
    Residuals,
    ResidualSizes,
    Scores,
)

Row = list[float]


def point_by_hand(points: Points, row: Row) -> list[int]:
    """A row's point in whole units."""
    standards = zip(row[:-1], points.middles, points.scales, strict=True)
    features = [(x - middle) / scale * 2**POINT_BITS for x, middle, scale in standards]
    plain = [2**POINT_BITS] * points.intercept + [round(_held(each)) for each in features]
    if points.turn is None:
        return plain
    products = [sum(a * b for a, b in zip(plain, column, strict=True)) for column in zip(*points.turn, strict=True)]
    farthest = Fraction(FARTHEST)
    return [round(max(-farthest, min(Fraction(product, 2**TURN_BITS), farthest))) for product in products]


def weight_by_hand(points: Points, point: list[int]) -> float:
    """By how much a point is drawn toward 0."""
    length = math.sqrt(sum(each**2 for each in point))
    return min(1.0, float(points.radius * 2 ** (POINT_BITS - BALL_BITS)) / max(length, 1.0))


def ball_by_hand(points: Points, point: list[int]) -> list[int]:
    """A point within the ball."""
    factor = weight_by_hand(points, point) / 2 ** (POINT_BITS - BALL_BITS)
    held = [math.trunc(each * factor) for each in point]
    return held if sum(each**2 for each in held) <= points.radius**2 else [0] * len(held)


def residual_by_hand(residuals: Residuals, row: Row) -> float:
    """An outcome less what the line says."""
    return row[-1] - residuals.centre - line_by_hand(residuals.line, point_by_hand(residuals.points, row))


def line_by_hand(line: WholeLine, point: list[int]) -> float:
    """What a line gives for a point: the float nearest to the exact number."""
    return float(sum(a * b for a, b in zip(line.steps, point, strict=True)) * Fraction(2) ** line.exponent)


def cell_by_hand(magnitude: float) -> int | None:
    """The last cell that does not begin above a magnitude; none for 0."""
    if magnitude == 0:
        return None
    low, high = 0, CELLS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude_of(middle) <= magnitude else (low, middle)
    return low


def added_by_hand(row_sum: RowSum, row: Row) -> list[int]:
    """What one row adds."""
    if isinstance(row_sum, Distances):
        pairs = zip(row[:-1], row_sum.middles, strict=True)
        distances = [abs(x - middle) if abs(x - middle) > GRID * abs(middle) else 0.0 for x, middle in pairs]
        return [entry for distance in distances for entry in _one_hot(cell_by_hand(distance), CELLS)]
    if isinstance(row_sum, ResidualSizes):
        size = abs(residual_by_hand(row_sum.residuals, row))
        return _one_hot(cell_by_hand(size if size > GRID * abs(row_sum.residuals.centre) else 0.0), CELLS)
    if isinstance(row_sum, Products):
        return triangle_by_hand(ball_by_hand(row_sum.points, point_by_hand(row_sum.points, row)))
    if isinstance(row_sum, (ResidualMagnitudes, RatioPlaces, NearRows, Crossings, SignScores)):
        return _by_spread(row_sum, row)
    assert isinstance(row_sum, (Scores, ResidualLevels))
    return _scores_by_hand(row_sum, row) if isinstance(row_sum, Scores) else _levels_by_hand(row_sum, row)


def _by_spread(row_sum: ResidualMagnitudes | RatioPlaces | NearRows | Crossings | SignScores, row: Row) -> list[int]:
    """What one row adds to a sum for quantile regressions."""
    if isinstance(row_sum, ResidualMagnitudes):
        points = row_sum.residuals.points
        point = point_by_hand(points, row)
        size = min(abs(scaled(residual_by_hand(row_sum.residuals, row), row_sum.exponent)), row_sum.cut)
        return [math.trunc(size * weight_by_hand(points, point)) * each for each in ball_by_hand(points, point)]
    if isinstance(row_sum, Crossings):
        return _crossings_by_hand(row_sum, row)
    spreads = row_sum.spreads
    point = point_by_hand(spreads.residuals.points, row)
    ratio = _ratio(spreads, row, point)
    if isinstance(row_sum, RatioPlaces):
        place = math.floor(max(-row_sum.cells, min(ratio, row_sum.cells)) * row_sum.per_one)
        return _one_hot(max(-row_sum.cells, min(place, row_sum.cells - 1)) + row_sum.cells, 2 * row_sum.cells)
    if isinstance(row_sum, NearRows):
        return [int(abs(ratio) <= row_sum.width)]
    ball = ball_by_hand(spreads.residuals.points, point)
    held = max(-row_sum.width, min(ratio, row_sum.width))
    pull = max(-PULL, min(math.trunc(held * (PULL / row_sum.width)), PULL)) + row_sum.offset
    small = [math.trunc(each * (pull * (1.0 / row_sum.strongest))) for each in ball]
    return [*(pull * each for each in ball), *(triangle_by_hand(small) if row_sum.products else [])]


def _ratio(spreads: Spreads, row: Row, point: list[int]) -> float:
    return residual_by_hand(spreads.residuals, row) / max(spreads.least, min(line_by_hand(spreads.line, point), spreads.most))


def _crossings_by_hand(crossings: Crossings, row: Row) -> list[int]:
    """The row's bounded point for each coordinate along which the line passes over it, with the coordinate's sign."""
    points = crossings.residuals.points
    point, away = point_by_hand(points, row), abs(residual_by_hand(crossings.residuals, row))
    ball = ball_by_hand(points, point)
    signs = [(each > 0) - (each < 0) if away < abs(each) * (crossings.by / 2**POINT_BITS) else 0 for each in point]
    return [sign * each for sign in signs for each in ball]


def _scores_by_hand(scores: Scores, row: Row) -> list[int]:
    points = scores.residuals.points
    point = point_by_hand(points, row)
    weight, ball = weight_by_hand(points, point), ball_by_hand(points, point)
    residual = scaled(residual_by_hand(scores.residuals, row), scores.exponent)
    pull = math.trunc(max(-scores.cut, min(residual, scores.cut)) * weight)
    inside = sum(each**2 for each in ball) if abs(residual) <= scores.cut else 0
    small = [math.trunc(each * (pull * (1.0 / scores.cut))) for each in ball]
    return [*(pull * each for each in ball), inside, *(triangle_by_hand(small) if scores.products else [])]


def _levels_by_hand(levels: ResidualLevels, row: Row) -> list[int]:
    points = levels.residuals.points
    square = weight_by_hand(points, point_by_hand(points, row)) ** 2
    residual = scaled(residual_by_hand(levels.residuals, row), levels.exponent)
    held, quarter = max(-levels.cut, min(residual, levels.cut)), square * (levels.cut / 4)
    error = (held * (1.0 / levels.cut)) ** 2 * quarter
    return [math.trunc(held * square), math.trunc(quarter), min(math.trunc(error), levels.cut // 4)]


def triangle_by_hand(vector: list[int]) -> list[int]:
    """The upper triangle of a vector's outer product."""
    return [vector[i] * vector[j] for i in range(len(vector)) for j in range(i, len(vector))]


def scaled(value: float, exponent: int) -> float:
    """A number in units of a power of two; infinite where no float is as large."""
    try:
        return math.ldexp(value, -exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _held(value: float) -> float:
    return max(-FARTHEST, min(value, FARTHEST))


def _one_hot(cell: int | None, cells: int) -> list[int]:
    return [int(place == cell) for place in range(cells)]
