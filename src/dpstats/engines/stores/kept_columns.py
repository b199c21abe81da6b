"""Kept columns: a table in Parquet files whose columns stay in memory, decoded, once they were read.

What comes out is the same as without: the same rows in the same order, of files that are looked at before every pass and have not
changed. Columns that would take more than a limit are read from the files every time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from dpstats.engines.cells import Cells, ColumnType, select_cells
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.engines.stores.store import Batch, LocalStore, Store
from dpstats.engines.units.contributions import Bound, BoundedStore

_FEWEST_BYTES = 1
_DECODED = 2
"""How many times the memory of a column as it was read it takes, once it is decoded too."""


class KeptColumns(LocalStore):
    """Parquet files of which columns are read once."""

    def __init__(self, store: ParquetStore, limit: int) -> None:
        """`limit` is the number of bytes for all columns together."""
        self._store = store
        self._left = limit
        self._kept: dict[str, _KeptColumn] = {}
        self._not_kept: set[str] = set()
        self.columns = store.columns

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit; raises where the files' own store would."""
        self._store.bounded(bound)
        return BoundedStore(self, bound)

    def check_reachable(self) -> None:
        """Raise where the files cannot be read now."""
        self._store.check_reachable()

    def expected_rows(self) -> int:
        """The number of rows that the files tell."""
        return self._store.expected_rows()

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in the order of the files; fails where a file has changed."""
        self._store.check_versions()
        names = list(dict.fromkeys(columns))
        if not all(self._keeps(name) for name in names) or not self._kept:
            yield from self._store.batches(columns)
            return
        ends = sorted({end for name in names or list(self._kept)[:1] for end in self._kept[name].ends})
        for start, end in pairwise([0, *ends]):
            yield _KeptBatch({name: self._kept[name].rows_between(start, end) for name in names}, end - start)

    def _keeps(self, name: str) -> bool:
        """Whether a column is in memory; it is read if there is room for it."""
        if name not in self._kept and name not in self._not_kept:
            column = self._read(name)
            if column is None:
                self._not_kept.add(name)
            else:
                self._kept[name] = column
        return name in self._kept

    def _read(self, name: str) -> _KeptColumn | None:
        """One column; None where it takes too much memory."""
        if self._store.expected_rows() * _FEWEST_BYTES > self._left:
            return None
        parts: list[_KeptPart] = []
        held = 0
        for batch in self._store.batches([name]):
            part = _KeptPart(batch)
            held += _DECODED * part.nbytes(name)
            if held > self._left:
                return None
            parts.append(part)
        self._left -= held
        return _KeptColumn(parts)


class _KeptPart(Batch):
    """A batch of one column, whose cells nobody can change."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch._raw_columns, batch.rows)

    def nbytes(self, name: str) -> int:
        """Bytes of the column as it was read."""
        return int(self._raw_columns[name].nbytes)

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """The column, read as that type once and for all."""
        cells = super().cells(name, kind)
        for part in vars(cells).values():
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return cells


class _KeptColumn:
    """All rows of a column, in the batches in which the files gave them, which need not be those of another column."""

    def __init__(self, parts: Sequence[_KeptPart]) -> None:
        self._parts = parts
        self.ends = list(accumulate(part.rows for part in parts))

    def rows_between(self, start: int, end: int) -> tuple[_KeptPart, slice]:
        """The part that holds some rows, which lie in one of them, and where it does."""
        place = min(bisect_right(self.ends, start), len(self.ends) - 1)
        first = self.ends[place] - self._parts[place].rows
        return self._parts[place], slice(start - first, end - first)


class _KeptBatch(Batch):
    """Some columns of the same rows, each from a part that is kept."""

    def __init__(self, parts: Mapping[str, tuple[_KeptPart, slice]], rows: int) -> None:
        super().__init__({}, rows)
        self._parts = parts

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column, read as that type."""
        part, rows = self._parts[name]
        return select_cells(part.cells(name, kind), rows)

    def identities(self, name: str, kind: ColumnType) -> Cells:
        """One column of ids, read as that type but never rounded."""
        part, rows = self._parts[name]
        return select_cells(part.identities(name, kind), rows)
