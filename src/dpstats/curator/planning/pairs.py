"""A synthetic table of two columns of a public shape, whose rows go together as in a Gaussian copula of correlation 0.5.

Either column alone has the shape; a column of labels has a few equally likely ones, in the order of the same copula, so that
numbers and labels go together too. All rows are drawn, and a table of more than MOST_DRAWN rows is refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.uniforms import in_unit_interval, refuse_too_many
from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.exact.powers import product_sums
from dpstats.engines.tables.given import as_column, as_table
from dpstats.foundations.registry import Reads
from dpstats.foundations.summaries import Clip, Column, RowSum, Table

Floats = NDArray[np.float64]

CORRELATION = 0.5
_GOLDEN = (math.sqrt(5) - 1) / 2


def drawn_places(rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Where the rows of two columns lie in the unit interval: a random sample of the copula."""
    refuse_too_many(rows)
    return _coupled(generator.standard_normal(rows), generator.standard_normal(rows))


def even_places(rows: int) -> tuple[Floats, Floats]:
    """A most regular sample of the copula: evenly spread one way, by the golden ratio the other (a Kronecker lattice)."""
    from scipy.special import ndtri

    refuse_too_many(rows)
    ranks = np.arange(rows) + 0.5
    return _coupled(ndtri(ranks / max(1, rows)), ndtri((ranks * _GOLDEN) % 1.0))


def _coupled(first: Floats, independent: Floats) -> tuple[Floats, Floats]:
    from scipy.special import ndtr

    second = CORRELATION * first + math.sqrt(1 - CORRELATION**2) * independent
    return in_unit_interval(ndtr(first)), in_unit_interval(ndtr(second))


class PairTable:
    """Two columns of the same rows; none is missing. A column that may be either holds numbers."""

    def __init__(self, shape: Shape, places: tuple[Floats, Floats], reads: Sequence[Reads], labels: Sequence[Any]) -> None:
        if len(reads) != len(places):
            raise ValueError("a planned table has two columns.")
        self._cells = [
            _labels_at(each, labels) if kind is Reads.LABELS else shape_values(shape, each)
            for each, kind in zip(places, reads, strict=True)
        ]

    def column(self, place: int) -> Column:
        """One column."""
        return _column_of(self._cells[place])

    def columns_by_label(self, place: int, by: int, labels: Sequence[Any]) -> list[Column]:
        """For each label the column at `place`, of the rows that have this label in the column at `by`."""
        cells, marks = self._cells[place], self._cells[by]
        return [_column_of(cells[marks == label]) for label in labels]

    def product_sums(self, clips: tuple[Clip, Clip], degree: int) -> tuple[tuple[int, ...], ...]:
        """The exact sums of first.place(x)**i * second.place(y)**j over the rows; [i][j], up to `degree` each."""
        return tuple(tuple(sums) for sums in product_sums(self._cells[0], self._cells[1], clips, degree))

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The two columns, row by row."""
        return self._cells[0], self._cells[1]

    def label_pairs(self) -> dict[tuple[Any, Any], int]:
        """Every pair of labels, with the number of rows that have it."""
        return dict(Counter(zip(self._cells[0].tolist(), self._cells[1].tolist(), strict=True)))

    def matrix(self) -> Floats:
        """The two columns, rows by columns."""
        return self._as_table().matrix()

    def row_sums(self, row_sum: RowSum) -> tuple[int, ...]:
        """The exact sums over all rows."""
        return self._as_table().row_sums(row_sum)

    def _as_table(self) -> Table:
        return as_table(self._cells, [cells.dtype != object for cells in self._cells])


def shape_values(shape: Shape, places: Floats) -> Floats:
    """The shape's values at places in any order."""
    order = np.argsort(places, kind="stable")
    values = np.empty_like(places)
    values[order] = shape.values_at(places[order])
    return values


def _labels_at(places: Floats, labels: Sequence[Any]) -> NDArray[Any]:
    """Equally likely labels in the order of the places."""
    cells = np.empty(len(labels), dtype=object)
    cells[:] = list(labels)
    return cells[np.minimum((places * len(labels)).astype(np.int64), len(labels) - 1)]


def _column_of(cells: NDArray[Any]) -> Column:
    return as_column(cells, numeric=False) if cells.dtype == object else ArrayColumn([cells])
