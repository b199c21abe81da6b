"""A synthetic table of columns of a public shape: features and an outcome, or columns without one.

Each feature has the shape, and they go together as in a Gaussian copula of correlation 0.5. An outcome of any numbers is the
shape's median, plus each feature's distance from it, plus noise of the shape that varies as much as these together: every
coefficient is 1. Of outcomes of 0 or 1 the log odds are linear, and of counts the log of the mean; there all coefficients are
equal, and such that these change by about 3 from the middle to the ends of the shape. More than MOST_DRAWN rows are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpstats.curator.planning.pairs import CORRELATION, Floats, shape_values
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.uniforms import in_unit_interval, refuse_too_many
from dpstats.engines.tables.given import as_codes, as_table
from dpstats.foundations.registry import Outcomes
from dpstats.foundations.summaries import CodedTable, Table

COEFFICIENT = 1.0
COUNT = 3.0
"""The mean of counts in the middle of the shape."""
_REACH = 3.0
_ENDS = np.array([0.001, 0.5, 0.999])
_STEEPEST = 30.0
"""A log of a mean that no count is drawn beyond."""


def drawn_features(
    shape: Shape, features: int, rows: int, generator: np.random.Generator, outcomes: Outcomes = Outcomes.NUMBERS
) -> Table:
    """A random table of `features` features and an outcome."""
    return as_table(feature_columns(shape, features, rows, generator, outcomes))


def drawn_classes(shape: Shape, features: int, rows: int, generator: np.random.Generator, classes: Sequence[Any]) -> CodedTable:
    """A random table of `features` features and a column of two classes."""
    *columns, marks = feature_columns(shape, features, rows, generator, Outcomes.MARKS)
    return as_codes([*columns, np.array(classes[:2])[marks.astype(np.int64)]], [*[True] * features, False])


def feature_columns(shape: Shape, features: int, rows: int, generator: np.random.Generator, outcomes: Outcomes) -> list[Floats]:
    """The columns of a random table of `features` features, and last its outcome."""
    refuse_too_many(rows)
    middle = float(shape.values_at(np.array([0.5]))[0])
    columns = _together(shape, features, rows, generator)
    predictor = coefficient_of(shape, features, outcomes) * sum((column - middle for column in columns), np.zeros(rows))
    if outcomes is Outcomes.NUMBERS:
        noise = _values(shape, generator.standard_normal(rows)) - middle
        outcome = middle + predictor + _spread(features) * noise
    elif outcomes is Outcomes.COUNTS:
        outcome = generator.poisson(COUNT * np.exp(np.minimum(predictor, _STEEPEST))).astype(np.float64)
    else:
        outcome = (generator.logistic(size=rows) < predictor).astype(np.float64)
    return [*columns, outcome]


def drawn_columns(shape: Shape, columns: int, rows: int, generator: np.random.Generator) -> Table:
    """A random table of `columns` columns without an outcome, which go together as features do."""
    refuse_too_many(rows)
    return as_table(_together(shape, columns, rows, generator))


def drawn_codes(
    shape: Shape, names: Sequence[str], levels: Mapping[str, Sequence[Any]], rows: int, generator: np.random.Generator
) -> CodedTable:
    """A random table whose rows are counted by codes. Columns with listed levels have each of these equally often; the others are
    numbers of the shape. All go together as features do."""
    refuse_too_many(rows)
    columns: list[Any] = []
    for name, scores in zip(names, _scores(len(names), rows, generator), strict=True):
        listed = levels.get(name)
        columns.append(_values(shape, scores) if listed is None else _labels(listed, scores))
    return as_codes(columns, [name not in levels for name in names])


def coefficient_of(shape: Shape, features: int, outcomes: Outcomes) -> float:
    """What each coefficient is in tables of a shape."""
    if outcomes is Outcomes.NUMBERS:
        return COEFFICIENT
    low, middle, high = shape.values_at(_ENDS)
    farthest = float(max(middle - low, high - middle))
    return _REACH / (farthest * _spread(features)) if 0 < farthest < math.inf else COEFFICIENT


def _together(shape: Shape, columns: int, rows: int, generator: np.random.Generator) -> list[Floats]:
    """Columns of the shape that go together."""
    return [_values(shape, scores) for scores in _scores(columns, rows, generator)]


def _scores(columns: int, rows: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Normal scores of columns that go together, one column after another."""
    shared = math.sqrt(CORRELATION) * generator.standard_normal(rows)
    return (shared + math.sqrt(1 - CORRELATION) * generator.standard_normal(rows) for _ in range(columns))


def _spread(features: int) -> float:
    """The standard deviation of a sum of `features` features, in that of one."""
    return math.sqrt(features + features * (features - 1) * CORRELATION)


def _values(shape: Shape, scores: Floats) -> Floats:
    return shape_values(shape, _chances(scores))


def _labels(levels: Sequence[Any], scores: Floats) -> list[Any]:
    places = (_chances(scores) * len(levels)).astype(np.int64)
    return [levels[place] for place in places.tolist()]


def _chances(scores: Floats) -> Floats:
    from scipy.special import ndtr

    return in_unit_interval(ndtr(scores))
