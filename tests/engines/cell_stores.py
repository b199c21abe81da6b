"""Stores for tests: tables of cells, handed out in batches of any size, in one stream or as parts that come from afar."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque, select_cells
from dpstats.engines.columns.native import number_array
from dpstats.engines.expressions import Expression
from dpstats.engines.expressions.language import Nothing
from dpstats.engines.stores.store import Batch, Job, LocalStore, Summary

Table = Mapping[str, Cells]


class CellBatch(Batch):
    """A batch that holds cells already, each of the kinds that it may be read as."""

    def __init__(self, cells: Mapping[str, Cells], rows: int, texts: Mapping[str, Cells] | None = None) -> None:
        super().__init__({}, rows)
        self._cells = cells
        self._texts = texts or {}

    def cells(self, name: str, kind: ColumnType) -> Cells:
        if kind is ColumnType.TEXT and name in self._texts:
            return self._texts[name]
        return self._cells[name]


class CellStore(LocalStore):
    """A table of cells, cut at some rows; `runs` counts the passes, `last_columns` says what the last one asked for."""

    def __init__(
        self,
        table: Table,
        columns: Mapping[str, ColumnType],
        cuts: Sequence[int] = (),
        *,
        in_memory: bool = False,
        texts: Table | None = None,
    ) -> None:
        """`texts` are undeclared columns as texts, where `table` has them as numbers."""
        self.columns = columns
        self.in_memory = in_memory
        self.runs = 0
        self.last_columns: list[str] = []
        self._table = table
        self._texts = texts or {}
        rows = len(next(iter(table.values())))
        self._edges = sorted({0, rows, *(cut for cut in cuts if cut < rows)}) if rows else [0, 0]

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows; only the columns asked for are there."""
        for start, end in zip(self._edges[:-1], self._edges[1:], strict=True):
            rows = slice(start, end)
            cells = {name: select_cells(self._table[name], rows) for name in columns}
            texts = {name: select_cells(self._texts[name], rows) for name in columns if name in self._texts}
            yield CellBatch(cells, end - start, texts)

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job over one stream, and count it."""
        self.runs += 1
        self.last_columns = list(columns)
        return super().run(job, columns)


class FarStore(CellStore):
    """A table of cells whose batches are scanned each in its own place: what goes there and comes back is pickled."""

    remote = True

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Scan each batch as a part, and one part without batches."""
        self.runs += 1
        self.last_columns = list(columns)
        places: list[Iterable[Batch]] = [[batch] for batch in self.batches(columns)]
        parts = [pickle.dumps(pickle.loads(pickle.dumps(job)).scan(place)) for place in [*places[::-1], []]]
        return job.merge([pickle.loads(part) for part in parts])


class Computed(Expression):
    """A derived column, or a condition, by a function of cells that pickles."""

    def __init__(
        self, columns: tuple[tuple[str, ColumnType], ...], compute: Callable[..., Any], type: ColumnType = ColumnType.NUMBER
    ) -> None:
        super().__init__(Nothing(type))
        self.__dict__.update(read_columns=columns, compute=compute)

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        columns: tuple[tuple[str, ColumnType], ...] = self.__dict__["read_columns"]
        return columns

    def cells(self, read: Callable[[str, ColumnType], Cells]) -> Cells:
        cells: Cells = self.__dict__["compute"](*(read(*column) for column in self.columns))
        return cells

    def mask(self, read: Callable[[str, ColumnType], Cells]) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.__dict__["compute"](*(read(*column) for column in self.columns))
        return mask


def numbers(rows: Sequence[Any], dtype: str = "float64") -> Numbers:
    """Cells of numbers; None and NaN are missing."""
    raw_present = np.array([row is not None and row == row for row in rows], dtype=np.bool_)
    filled = [row if here else 0 for row, here in zip(rows, raw_present.tolist(), strict=True)]
    raw_values = number_array(np.array(filled, dtype="float64" if dtype == "decimal" else dtype))
    return Numbers(raw_values, None if raw_present.all() else raw_present)


def texts(rows: Sequence[str | None]) -> Labels:
    """Cells of texts; None is missing."""
    labels = sorted({row for row in rows if row is not None}, reverse=True)
    return Labels(np.array([-1 if row is None else labels.index(row) for row in rows], dtype=np.int64), labels)


def moments(rows: Sequence[str | None], unit: str = "us", *, zoned: bool = False) -> Moments:
    """Cells of dates or times; None is missing."""
    return Moments(np.array(["NaT" if row is None else row for row in rows], dtype=f"datetime64[{unit}]"), zoned)


def opaque(rows: Sequence[Any]) -> Opaque:
    """Cells of which only the presence is known."""
    return Opaque(np.array([row is not None for row in rows], dtype=np.bool_))
