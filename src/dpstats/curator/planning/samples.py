"""What a question is put to in a simulation: a column of a shape, a table of pairs, one of features, or rows of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.planning.feature_tables import drawn_classes, drawn_codes, drawn_columns, drawn_features
from dpstats.curator.planning.pairs import PairTable, drawn_places, even_places
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.tables import ShapeColumn
from dpstats.curator.planning.uniforms import DrawnUniforms, EvenUniforms, in_unit_interval, refuse_too_many
from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.tables.given import as_table
from dpstats.foundations.registry import Question, Reads, Simulated
from dpstats.foundations.summaries import CodedTable, Column, Table
from dpstats.statistics.coded.parameters import levels_of

Sample = ShapeColumn | Column | Table | CodedTable

FEW_ROWS = 20_000
"""Rows of a column that are drawn all at once; of more only those that are asked for."""
FIRST_ROWS = 100
"""Rows of the table that shows what simulated rows are."""

LABELS = ("a", "b")
"""The labels of a simulated column of labels, where the question names none."""
_NAMES_LABELS = ("labels", "groups", "levels", "keys", "classes")
"""Parameters by which a question may name its labels."""
_NAMES_LABEL = "event"
"""A parameter by which it may name one of two."""


def drawn_sample(question: Question, shape: Shape, rows: int, generator: np.random.Generator) -> Sample:
    """A random table of `rows` rows."""
    if question.statistic.simulate is not None:
        columns = [np.ascontiguousarray(column) for column in simulated_by(question, rows, generator).rows.T]
        if question.statistic.reads[-1] is Reads.LABELS:  # simulated are the places of labels
            *numbers, places = columns
            raw_labels = np.array(labels_of(question), dtype=object)[places.astype(int)].tolist()
            return as_table([*numbers, raw_labels], [*[True] * len(numbers), False])
        is_column = len(columns) == 1 and not question.statistic.takes_features
        return ArrayColumn(columns) if is_column else as_table(columns)
    if question.statistic.takes_tables:
        return drawn_codes(shape, question.columns, levels_of(question), rows, generator)
    if question.statistic.takes_only_columns:
        return drawn_columns(shape, len(question.columns), rows, generator)
    if question.statistic.reads_codes:
        classes = question.arguments.get("classes") or (0, 1)
        return drawn_classes(shape, len(question.columns) - 1, rows, generator, classes)
    if question.statistic.takes_features:
        return drawn_features(shape, len(question.columns) - 1, rows, generator, question.statistic.outcomes)
    if len(question.statistic.reads) == 1 and rows <= FEW_ROWS:
        return ArrayColumn([shape.values_at(in_unit_interval(np.sort(generator.random(rows))))])
    if len(question.statistic.reads) == 1:
        return ShapeColumn(shape, DrawnUniforms(rows, generator))
    return PairTable(shape, drawn_places(rows, generator), question.statistic.reads, labels_of(question))


def even_sample(question: Question, shape: Shape, rows: int) -> Sample:
    """The most regular table of `rows` rows; there is none of features and an outcome, and of several columns a random one."""
    if question.statistic.takes_only_columns:
        return drawn_sample(question, shape, rows, np.random.default_rng(rows))
    if len(question.statistic.reads) == 1:
        return ShapeColumn(shape, EvenUniforms(rows))
    return PairTable(shape, even_places(rows), question.statistic.reads, labels_of(question))


def drawn_rows(sample: Sample, rows: int) -> int:
    """How many rows were drawn of a table that has `rows`."""
    return sample.drawn if isinstance(sample, ShapeColumn) else rows


def simulated_by(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """Rows that the statistic simulates for itself."""
    assert question.statistic.simulate is not None
    refuse_too_many(rows)
    return question.statistic.simulate(question, rows, generator)


def first_simulated(question: Question) -> Simulated:
    """A few of these rows, always the same, which tell what they are and what an answer should be."""
    return simulated_by(question, FIRST_ROWS, np.random.default_rng(FIRST_ROWS))


def labels_of(question: Question) -> tuple[Any, ...]:
    """The labels that a simulated column of labels has: those that the question names, or two, of which it may name one."""
    for name in _NAMES_LABELS:
        named = question.arguments.get(name)
        if isinstance(named, (list, tuple)) and len(named) > 1:
            return tuple(named)
    event = question.arguments.get(_NAMES_LABEL)
    return LABELS if event is None else (event, "none" if isinstance(event, str) else float(event == 0))
