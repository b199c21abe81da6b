"""What a question is put to in a simulation: a column of a shape, a table of pairs, or one of features and an outcome."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.planning.feature_tables import drawn_features
from dpstats.curator.planning.pairs import PairTable, drawn_places, even_places
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.tables import ShapeColumn
from dpstats.curator.planning.uniforms import DrawnUniforms, EvenUniforms
from dpstats.foundations.registry import Question
from dpstats.foundations.summaries import Table

Sample = ShapeColumn | Table

LABELS = ("a", "b")
"""The labels of a simulated column of labels, where the question names none."""
_NAMES_LABELS = ("labels", "groups", "levels", "keys")
"""Parameters by which a question may name its labels."""


def drawn_sample(question: Question, shape: Shape, rows: int, generator: np.random.Generator) -> Sample:
    """A random table of so many rows."""
    if question.statistic.takes_features:
        return drawn_features(shape, feature_count(question), rows, generator, question.statistic.outcomes)
    if len(question.statistic.reads) == 1:
        return ShapeColumn(shape, DrawnUniforms(rows, generator))
    return PairTable(shape, drawn_places(rows, generator), question.statistic.reads, labels_of(question))


def even_sample(question: Question, shape: Shape, rows: int) -> Sample:
    """The most regular table of so many rows; there is none of features."""
    if len(question.statistic.reads) == 1:
        return ShapeColumn(shape, EvenUniforms(rows))
    return PairTable(shape, even_places(rows), question.statistic.reads, labels_of(question))


def feature_count(question: Question) -> int:
    """How many features a question names."""
    return len(question.columns) - 1


def labels_of(question: Question) -> tuple[Any, ...]:
    """The labels that a simulated column of labels has: those that the question names, or two."""
    for name in _NAMES_LABELS:
        named = question.arguments.get(name)
        if isinstance(named, (list, tuple)) and len(named) > 1:
            return tuple(named)
    return LABELS
