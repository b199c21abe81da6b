"""Contributions: at most k rows of each unit, chosen by a keyed hash.

Claim      Two tables that differ by all rows of one unit differ after the bounding by at most `rows` rows, added or removed.
Why        Of each unit those rows stay that have the smallest marks, and a row's mark is a keyed hash of its own content. So what
           stays of a unit is a function of that unit's rows alone: no row of another unit can push it out or let it in.
Numerics   Unit marks have 128 bits. That two of n units share one, and with it a bound, has a probability of about n**2 / 2**129,
           which no printed delta contains.
Source     contributions.proof.md
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.bitmaps import Bitmap
from dpstats.engines.cells import Cells, ColumnType, present_cells, select_cells
from dpstats.engines.contenders import Contenders, thinned
from dpstats.engines.marks import combine_marks, mark_cells, mark_pairs
from dpstats.engines.siphash import Words
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError

ROOM_BYTES = 1 << 28
"""Memory for the marks of rows that are still in the running; more rows take more passes."""
_ROW_BYTES = 32  # two words of unit mark, a row mark, a position
_UNIT_SALT, _ROW_SALT, _FIRST_COLUMN_SALT = 0, 1, 2
_END_OF_MARKS = 1 << 64


class MissingUnit(enum.Enum):
    """What rows without a unit id are."""

    DROP = "drop"
    """They are left out."""
    EACH = "each"
    """Each of them is a unit of its own, and stays."""
    TOGETHER = "together"
    """All of them are one unit."""


@dataclass(frozen=True)
class Bound:
    """How many rows of a unit stay, and how they are chosen."""

    unit: str
    """The column with the ids of the units."""
    unit_kind: ColumnType
    rows: int
    """The most rows that stay of a unit."""
    columns: tuple[tuple[str, ColumnType], ...]
    """The columns that make up the content of a row, each with the type that it is read as."""
    missing: MissingUnit
    key: bytes = field(repr=False)
    """Up to 64 secret random bytes, drawn without looking at the table; the same for all questions to it."""

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InvalidParameterError(f"at least one row of each unit must stay, got {self.rows}.")
        if not 16 <= len(self.key) <= 64:
            raise InvalidParameterError(f"the key must have 16 to 64 bytes, got {len(self.key)}.")
        if self.unit_kind is ColumnType.OTHER:
            raise DataTypeError(f"the units in column {self.unit} have a type without values: use a column of text or numbers.")

    @property
    def reads(self) -> list[str]:
        """The columns that the choice of rows needs."""
        return sorted({self.unit, *(name for name, _ in self.columns)})


def unit_marks(batch: Batch, bound: Bound) -> tuple[Words, Words, NDArray[np.bool_]]:
    """Each row's unit as two words, equal where the ids are, and which rows have no unit id (their words are equal too)."""
    cells = batch.identities(bound.unit, bound.unit_kind)
    return *mark_pairs(cells, bound.key, _UNIT_SALT), ~present_cells(cells)


def row_marks(batch: Batch, bound: Bound) -> Words:
    """Each row's content as one word; rows of a unit with the smallest ones stay."""
    marks = [np.zeros(batch.rows, dtype=np.uint64)]
    for salt, (name, kind) in enumerate(sorted(bound.columns, key=lambda column: column[0]), start=_FIRST_COLUMN_SALT):
        marks.append(mark_cells(batch.cells(name, kind), bound.key, salt))
    return combine_marks(marks, bound.key, _ROW_SALT)


class BoundedStore(LocalStore):
    """A store with at most so many rows of each unit. Nothing is read before the first batch is asked for."""

    def __init__(self, store: LocalStore, bound: Bound) -> None:
        self._store = store
        self._bound = bound
        self._lock = threading.Lock()
        self._kept: _KeptRows | None = None
        self.columns = store.columns
        self.in_memory = store.in_memory

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The rows that stay, in the order of the table; the first call looks for them."""
        with self._lock:
            if self._kept is None:
                self._kept = _find_rows(self._store.repeatable(), self._bound)
        return self._kept.batches(columns)


class BoundedBatch(Batch):
    """The rows of a batch that stay."""

    def __init__(self, batch: Batch, raw_kept: NDArray[np.bool_]) -> None:
        super().__init__({}, int(np.count_nonzero(raw_kept)))
        self._batch = batch
        self._raw_kept = raw_kept

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column, read as that type."""
        if (name, kind) not in self._read:
            self._read[name, kind] = select_cells(self._batch.cells(name, kind), self._raw_kept)
        return self._read[name, kind]

    def identities(self, name: str, kind: ColumnType) -> Cells:
        """One column, read so that different ids stay different."""
        return select_cells(self._batch.identities(name, kind), self._raw_kept)


@dataclass(frozen=True)
class _KeptRows:
    """A store whose rows come in one order, with the places that do not stay."""

    store: LocalStore
    raw_dropped: Bitmap
    raw_rows: int

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        end = 0
        for batch in self.store.batches(columns):
            start, end = end, end + batch.rows
            raw_dropped = self.raw_dropped.marked(start, end)
            yield batch if raw_dropped is None else BoundedBatch(batch, ~raw_dropped)
        if end != self.raw_rows:
            raise _changed()


def _find_rows(store: LocalStore, bound: Bound) -> _KeptRows:
    """Look for the rows that stay, in as many passes as the room asks for: each settles the units up to some mark."""
    raw_dropped = Bitmap()
    start, raw_rows = 0, -1
    while start < _END_OF_MARKS:
        start, raw_seen = _settle(store, bound, start, raw_dropped)
        if raw_rows not in (-1, raw_seen):
            raise _changed()
        raw_rows = raw_seen
    return _KeptRows(store, raw_dropped, raw_rows)


def _settle(store: LocalStore, bound: Bound, start: int, raw_dropped: Bitmap) -> tuple[int, int]:
    """One pass over the units whose first word is at least `start`: up to which word it came, and how many rows there are.

    Where the rows in the running fill the room, those that cannot stay go at once: a row that is beaten by enough others of its
    unit stays beaten. Where that does not help, the units are too many, and those with larger marks wait for the next pass.
    """
    room = max(1, ROOM_BYTES // _ROW_BYTES)
    held: list[Contenders] = []
    end, raw_rows, limit = _END_OF_MARKS, 0, room
    for batch in store.batches(bound.reads):
        found = _contenders(batch, bound, raw_rows, raw_dropped)
        raw_rows += batch.rows
        held.append(found.at(_between(found.raw_units, start, end)))
        if sum(map(len, held)) > limit:
            kept = thinned(held, bound.rows, raw_dropped)
            while len(kept) > room // 2 and end - start > 1:
                end = start + (end - start) // 2
                kept = kept.at(_between(kept.raw_units, start, end))
            held, limit = [kept], max(room, 2 * len(kept))
    thinned(held, bound.rows, raw_dropped)
    return end, raw_rows


def _contenders(batch: Batch, bound: Bound, first_place: int, raw_dropped: Bitmap) -> Contenders:
    """The rows of a batch that have to compete; those without a unit id go, stay or compete as the bound says."""
    raw_units, raw_seconds, raw_without = unit_marks(batch, bound)
    raw_places = np.arange(first_place, first_place + batch.rows)
    found = Contenders(raw_units, raw_seconds, row_marks(batch, bound), raw_places)
    if bound.missing is MissingUnit.TOGETHER or not raw_without.any():
        return found
    if bound.missing is MissingUnit.DROP:
        raw_dropped.mark(raw_places[raw_without])
    return found.at(~raw_without)


def _between(raw_words: Words, start: int, end: int) -> NDArray[np.bool_]:
    """Which words are at least `start` and below `end`, which may be one more than the largest word."""
    return (raw_words >= np.uint64(start)) & (raw_words <= np.uint64(end - 1))


def _changed() -> DataFileError:
    return DataFileError("the table changed while it was being read: open it again.")
