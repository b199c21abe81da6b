"""A synthetic table of two columns of a public shape, whose rows go together as in a Gaussian copula of correlation 0.5.

Either column alone has the shape; a column of labels has a few equally likely ones, in the order of the same copula, so that
numbers and labels go together too. All rows are drawn, and a table of more than MOST_DRAWN rows is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.uniforms import in_unit_interval, refuse_too_many
from dpstats.engines.tables.given import GivenStore
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.registry import Reads

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


class PairTable(StoreTable):
    """Two columns of the same rows; none is missing. A column that may be either holds numbers."""

    def __init__(self, shape: Shape, places: tuple[Floats, Floats], reads: Sequence[Reads], labels: Sequence[Any]) -> None:
        if len(reads) != len(places):
            raise ValueError("a planned table has two columns.")
        numeric = [kind is not Reads.LABELS for kind in reads]
        store = GivenStore(
            [
                shape_values(shape, each) if is_numeric else _labels_at(each, labels)
                for each, is_numeric in zip(places, numeric, strict=True)
            ]
        )
        super().__init__(store, TableView(store.columns), store.names, numeric)


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
