"""Scans: jobs that show the rows of one column, as a view has them, to collectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from dpstats.engines.cells import Cells, ColumnType, Opaque
from dpstats.engines.passes.collectors import Collector, StoredCount, merged
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.views import TableView

C = TypeVar("C", bound=Collector)

UNITS = 2, 6
"""In how many units rows are added up before it is known which one is wanted: where passes are fast, and where they are slow."""
NOTHING = Opaque(np.zeros(0, dtype=np.bool_))
"""Cells in the place of those that nobody looks at."""


class RowPass(Protocol):
    """A pass over some rows: what it is given comes back filled, as a new object."""

    def __call__(self, collector: C, /) -> C:
        """Make the pass."""
        ...


@dataclass(frozen=True)
class ColumnScan(Generic[C]):
    """A job: one collector, and one column of the rows that a view keeps."""

    view: TableView
    name: str
    kind: ColumnType
    collector: C

    def scan(self, batches: Iterable[Batch]) -> C:
        """Show every batch to a fresh collector."""
        filled = self.collector.fresh()
        for batch in batches:
            viewed = self.view.on(batch)
            feed(filled, [NOTHING] if is_blind(filled) else viewed.present(self.name, self.kind), viewed.rows)
        return filled

    def merge(self, parts: Sequence[C]) -> C:
        """All parts in one."""
        return merged(self.collector, parts)


@dataclass(frozen=True)
class ColumnRun:
    """Passes over one column of a store, as a view has it."""

    store: Store
    view: TableView
    name: str
    kind: ColumnType

    def known_beforehand(self) -> tuple[int | None, int]:
        """About how many rows a pass will see, where that is known, and in how many units it pays to add them up."""
        tell = getattr(self.store, "expected_rows", None)
        rows = None if tell is None or self.view.conditions else tell()
        return rows, UNITS[bool(getattr(self.store, "slow", False))]

    def __call__(self, collector: C, /) -> C:
        """Make one pass."""
        columns = self.view.needs([] if is_blind(collector) else [self.name])
        return self.store.run(ColumnScan(self.view, self.name, self.kind, collector), columns)


def is_blind(collector: Collector) -> bool:
    """Whether a collector does not look at cells, so that their column need not be read."""
    return isinstance(collector, StoredCount)


def feed(collector: Collector, parts: Sequence[Cells], stored: int) -> None:
    """Show cells to a collector, the parts that the same rows are divided into; `stored` counts the missing ones, too."""
    for cells in parts:
        collector.take(cells, stored)
        stored = 0
