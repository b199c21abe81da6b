"""Readings: what a table says of one of its files beside what is in it, where names and rows of both differ."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class FileReading:
    """How the columns of a file are called in its table, and which of its rows were deleted."""

    names: Mapping[str, str]
    """From columns of the table to those of the file; others are not in the file, or not the table's."""
    raw_deleted: NDArray[np.int64]
    """The places of deleted rows in the file, in order, each once."""

    def ours(self, names: Collection[str]) -> list[str]:
        """The table's names of some columns of the file."""
        return [ours for ours, theirs in self.names.items() if theirs in names]

    def schema(self, stored: pyarrow.Schema) -> pyarrow.Schema:
        """The file's columns under the table's names."""
        import pyarrow

        return pyarrow.schema([stored.field(theirs).with_name(ours) for ours, theirs in self.names.items()])

    def kept(self, raw_rows: Any, start: int, rows: int) -> tuple[Any, int]:
        """Those of some rows of the file, from the one at `start` on, that are in the table, and how many they are."""
        import pyarrow

        first, last = np.searchsorted(self.raw_deleted, [start, start + rows])
        raw_left = int(rows - (last - first))
        if raw_rows is None or raw_left == rows:
            return raw_rows, raw_left
        raw_mask = np.ones(rows, dtype=np.bool_)
        raw_mask[self.raw_deleted[first:last] - start] = False
        return raw_rows.filter(pyarrow.array(raw_mask)), raw_left

    def digest(self) -> str:
        """Tells readings apart."""
        names = "\n".join(f"{ours!r} {theirs!r}" for ours, theirs in sorted(self.names.items()))
        return hashlib.sha256(names.encode("utf-8", "surrogatepass") + b"\0" + self.raw_deleted.tobytes()).hexdigest()
