"""Pairs: jobs that show two columns of numbers, row by row, to what gathers them.

A row counts if it belongs to the view and is missing in neither column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Numbers
from dpstats.engines.exact.powers import product_sums
from dpstats.engines.passes.collectors import Gatherer, merged
from dpstats.engines.stores.store import Batch
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import Clip

P = TypeVar("P", bound="PairCollector")


class PairCollector(Gatherer, Protocol):
    """What a pass gathers of pairs. Stores may pickle it."""

    def take(self, raw_x: NDArray[Any], raw_y: NDArray[Any]) -> None:
        """Take in numbers of the same rows, none of them missing; the arrays may change afterwards."""
        ...


class PairList:
    """All pairs."""

    def __init__(self) -> None:
        self._raw_pieces: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def fresh(self) -> PairList:
        """An empty list."""
        return PairList()

    def take(self, raw_x: NDArray[Any], raw_y: NDArray[Any]) -> None:
        """Keep copies."""
        self._raw_pieces.append((raw_x.copy(), raw_y.copy()))

    def absorb(self, other: PairList) -> None:
        """Put other pairs to these."""
        self._raw_pieces += other._raw_pieces

    def arrays(self, empty_types: Sequence[np.dtype[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both columns, each in its own type; of the given types where no rows ever came in."""
        if not self._raw_pieces:
            return np.empty(0, dtype=empty_types[0]), np.empty(0, dtype=empty_types[1])
        if len(self._raw_pieces) > 1:
            raw_x, raw_y = zip(*self._raw_pieces, strict=True)
            self._raw_pieces = [(np.concatenate(raw_x), np.concatenate(raw_y))]
        return self._raw_pieces[0]


class ProductSums:
    """The exact sums of products of powers of where two numbers lie in their clips."""

    def __init__(self, clips: tuple[Clip, Clip], degree: int) -> None:
        self._clips = clips
        self._degree = degree
        self.totals = tuple((0,) * (degree + 1) for _ in range(degree + 1))

    def fresh(self) -> ProductSums:
        """The same clips, and no rows."""
        return ProductSums(self._clips, self._degree)

    def take(self, raw_x: NDArray[Any], raw_y: NDArray[Any]) -> None:
        """Add rows up."""
        self._add(product_sums(raw_x, raw_y, self._clips, self._degree))

    def absorb(self, other: ProductSums) -> None:
        """Add other sums."""
        self._add(other.totals)

    def _add(self, more: Sequence[Sequence[int]]) -> None:
        self.totals = tuple(tuple(map(int.__add__, *rows)) for rows in zip(self.totals, more, strict=True))


@dataclass(frozen=True)
class PairScan(Generic[P]):
    """A job: one collector, and the two columns of numbers in which the rows of a view are complete."""

    view: TableView
    collector: P

    def scan(self, batches: Iterable[Batch]) -> P:
        """Show every batch to a fresh collector."""
        filled = self.collector.fresh()
        for batch in batches:
            viewed = self.view.on(batch)
            raw_x, raw_y = (_values(viewed.present(*column)) for column in self.view.complete)
            filled.take(raw_x, raw_y)
        return filled

    def merge(self, parts: Sequence[P]) -> P:
        """All parts in one."""
        return merged(self.collector, parts)


def _values(parts: Sequence[Any]) -> NDArray[Any]:
    """The numbers of a column of numbers, which is in one part."""
    (cells,) = parts
    assert isinstance(cells, Numbers)
    return cells.raw_values
