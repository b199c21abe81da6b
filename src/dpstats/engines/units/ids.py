"""Unit ids: whose row each row of a batch is, as far as that can be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, present_cells
from dpstats.engines.stores.store import Batch


@dataclass(frozen=True)
class UnitIds:
    """The ids of the units of some rows. What one of them is depends on its own row alone."""

    cells: Cells
    """Equal only where the ids are; missing where there is no id, and where it cannot be read."""
    raw_without: NDArray[np.bool_]
    """Which rows have no id: null, None, NaN, NaT, masked, an empty cell of a CSV file."""
    raw_unreadable: NDArray[np.bool_]
    """Which rows have one that the column's type has no place for, or that could not be told from others, or are broken."""

    @classmethod
    def of(cls, batch: Batch, name: str, kind: ColumnType) -> UnitIds:
        """The ids in a column, read as that type."""
        cells = batch.identities(name, kind)
        raw_known = present_cells(cells)
        if raw_known.all():
            return cls(cells, ~raw_known, ~raw_known)
        raw_there = present_cells(batch.cells(name, ColumnType.OTHER)) | batch.broken()
        return cls(cells, ~raw_known & ~raw_there, ~raw_known & raw_there)
