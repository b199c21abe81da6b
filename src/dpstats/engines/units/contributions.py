"""Contributions: at most k rows of each unit, chosen by a keyed hash.

Claim      Two tables that differ by all rows of one unit differ after the bounding by at most `rows` rows, added or removed.
Why        Of each unit those rows stay that have the smallest marks, and a row's mark is a keyed hash of its own content. So what
           stays of a unit is a function of that unit's rows alone: no row of another unit can push it out or let it in. A row
           whose id cannot be read, so that it might be anybody's, never stays, which is a function of the row itself.
           Units are counted first, by the first word of their marks, for which their ids are all that is read. The rest is read
           only if some of them may have too many rows, and only the rows of such units are marked and compared.
Numerics   Unit marks have 128 bits. That two of n units share one, and with it a bound, has a probability of about n**2 / 2**129,
           which no printed delta contains.
Source     contributions.proof.md
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, select_cells
from dpstats.engines.stores.filtering import FiltersItself
from dpstats.engines.stores.store import Batch, LocalStore, Store
from dpstats.engines.units.bitmaps import Bitmap
from dpstats.engines.units.contenders import Contenders, Sieve, crowded, few_of_each, thinned
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.marks import combine_marks, mark_cells, mark_firsts, mark_pairs
from dpstats.engines.units.siphash import Words
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError

if TYPE_CHECKING:
    from dpstats.engines.expressions.language import Node

ROOM_BYTES = 1 << 28
"""Memory for the marks of units that are being counted, and of rows that are still in the running; more take more passes."""
_WORD_BYTES = 16  # the first word of a unit mark, and once more while they are put in order
_ROW_BYTES = 32  # two words of unit mark, a row mark, a position
_UNIT_SALT, _ROW_SALT, _FIRST_COLUMN_SALT = 0, 1, 2
_END_OF_MARKS = 1 << 64
_MOMENTS = 4  # of a table that changes between questions, for which the choice of rows is remembered


class MissingUnit(enum.Enum):
    """What rows without a unit id are. Those whose id cannot be read have one, and are left out whatever this says."""

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


def unit_marks(ids: UnitIds, bound: Bound) -> tuple[Words, Words]:
    """Each row's unit as two words, equal where the ids are. Rows without an id, or with an unreadable one, share theirs."""
    return mark_pairs(ids.cells, bound.key, _UNIT_SALT)


def unit_words(ids: UnitIds, bound: Bound) -> Words:
    """The first word of each row's unit, with no more work than that takes."""
    return mark_firsts(ids.cells, bound.key, _UNIT_SALT)


def row_marks(batch: Batch, bound: Bound) -> Words:
    """Each row's content as one word; rows of a unit with the smallest ones stay."""
    marks = [np.zeros(batch.rows, dtype=np.uint64)]
    for salt, (name, kind) in enumerate(sorted(bound.columns, key=lambda column: column[0]), start=_FIRST_COLUMN_SALT):
        marks.append(mark_cells(batch.cells(name, kind), bound.key, salt))
    return combine_marks(marks, bound.key, _ROW_SALT)


class BoundedStore(LocalStore):
    """A store with a bounded number of rows of each unit. Nothing is read before the first batch is asked for."""

    def __init__(self, store: LocalStore, bound: Bound) -> None:
        self._store = store
        self._bound = bound
        self._lock = threading.Lock()
        self._kept: dict[object, _KeptRows] = {}
        self.columns = store.columns
        self.in_memory = store.in_memory
        self.first_classes = store.first_classes

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The rows that stay, in the order of the table; the first call looks for them."""
        return self._find().batches(columns)

    def filtered(self, condition: Node) -> FilteredRows | None:
        """The rows that stay and of which the condition certainly holds; None where it is not for the table's store to check."""
        there = self._store.filtered(condition) if isinstance(self._store, FiltersItself) else None
        return None if there is None else FilteredRows(self, there, (condition,))

    def check_reachable(self) -> None:
        """Raise where the table's rows cannot be read now."""
        self._store.check_reachable()

    def raw_keeps_all(self) -> bool:
        """Whether every row of the table stays."""
        return self._find().raw_dropped.raw_empty

    def _find(self) -> _KeptRows:
        """The rows that stay of the table as it is at this moment: places of another moment mean other rows."""
        moment = self._store.moment()
        with self._lock:
            if moment not in self._kept:
                while len(self._kept) >= _MOMENTS:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[moment] = _find_rows(self._store.repeatable(), self._bound)
            return self._kept[moment]


class FilteredRows(LocalStore):
    """Those rows of a bounded store of which conditions certainly hold.

    Rows are chosen first, and conditions looked at afterwards. Only where every row of the table stays, so that the choice makes
    no difference, does the table's own store check the conditions; such stores read all passes of a question in one transaction.
    """

    def __init__(self, bounded: BoundedStore, there: Store, conditions: tuple[Node, ...]) -> None:
        """`there` is the whole table's store with the same conditions."""
        from dpstats.engines.expressions import Expression

        self._bounded = bounded
        self._there = there
        self._conditions = conditions
        self._view = TableView(bounded.columns, conditions=tuple(map(Expression, conditions)))
        self.columns = bounded.columns

    def filtered(self, condition: Node) -> FilteredRows | None:
        """The rows of which one more condition holds."""
        there = self._there.filtered(condition) if isinstance(self._there, FiltersItself) else None
        return None if there is None else FilteredRows(self._bounded, there, (*self._conditions, condition))

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The rows, in the order of the table."""
        if self._bounded.raw_keeps_all() and isinstance(self._there, LocalStore):
            return self._there.batches(columns)
        return map(self._meeting, self._bounded.batches(self._view.needs(columns)))

    def _meeting(self, batch: Batch) -> Batch:
        raw_kept = self._view.on(batch).raw_kept
        return batch if raw_kept is None else BoundedBatch(batch, raw_kept)


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

    def broken(self) -> NDArray[np.bool_]:
        """Which rows could not be taken apart into cells."""
        return self._batch.broken()[self._raw_kept]


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
    """Look for the rows that stay: count the rows of the units, and if some may have too many, let those compete."""
    raw_dropped, sieve = Bitmap(), Sieve()
    raw_rows = _in_passes(lambda start: _count(store, bound, start, sieve, raw_dropped))
    if not sieve.raw_closed and raw_rows != _in_passes(lambda start: _settle(store, bound, start, sieve, raw_dropped)):
        raise _changed()
    return _KeptRows(store, raw_dropped, raw_rows)


def _in_passes(one_pass: Callable[[int], tuple[int, int]]) -> int:
    """As many passes as the room asks for, each with the units from some first word up to another; how many rows there are."""
    start, raw_rows = 0, -1
    while start < _END_OF_MARKS:
        start, raw_seen = one_pass(start)
        if raw_rows not in (-1, raw_seen):
            raise _changed()
        raw_rows = raw_seen
    return raw_rows


def _count(store: LocalStore, bound: Bound, start: int, sieve: Sieve, raw_dropped: Bitmap) -> tuple[int, int]:
    """One pass over the ids of units whose first word is at least `start`: up to which word it came, how many rows there are.

    The sieve is opened for all of these units that have more rows than may stay. Of equal words only as many are kept as it takes
    to see this; where that does not make room, the units with larger words wait for the next pass.
    """
    room = max(1, ROOM_BYTES // _WORD_BYTES)
    held: list[Words] = []
    end, raw_rows, limit = _END_OF_MARKS, 0, room
    for batch in store.batches([bound.unit]):
        if sum(part.size for part in held) > limit:
            kept = few_of_each(held, bound.rows + 1)
            while kept.size > room // 2 and end - start > 1:
                end = start + (end - start) // 2
                kept = kept[_between(kept, start, end)]
            held, limit = [kept], max(room, 2 * kept.size)
        ids = UnitIds.of(batch, bound.unit, bound.unit_kind)
        raw_dropped.mark(raw_rows + np.flatnonzero(leaving(ids, bound)))
        raw_firsts = unit_words(ids, bound)
        raw_counted = competing(ids, bound) & _between(raw_firsts, start, end)
        held.append(raw_firsts if raw_counted.all() else raw_firsts[raw_counted])
        raw_rows += batch.rows
    sieve.open_for(crowded(few_of_each(held, bound.rows + 1), bound.rows))
    return end, raw_rows


def _settle(store: LocalStore, bound: Bound, start: int, sieve: Sieve, raw_dropped: Bitmap) -> tuple[int, int]:
    """One pass over the rows that the sieve lets through, of units whose first word is at least `start`; the same comes back.

    Where the rows in the running fill the room, those that cannot stay go at once: a row that is beaten by enough others of its
    unit stays beaten. Where that does not help, the units are too many, and those with larger words wait for the next pass.
    """
    room = max(1, ROOM_BYTES // _ROW_BYTES)
    held: list[Contenders] = []
    end, raw_rows, limit = _END_OF_MARKS, 0, room
    for batch in store.batches(bound.reads):
        if sum(map(len, held)) > limit:
            kept = thinned(held, bound.rows, raw_dropped)
            while len(kept) > room // 2 and end - start > 1:
                end = start + (end - start) // 2
                kept = kept.at(_between(kept.raw_units, start, end))
            held, limit = [kept], max(room, 2 * len(kept))
        held.append(_contenders(batch, bound, raw_rows, sieve, start, end))
        raw_rows += batch.rows
    thinned(held, bound.rows, raw_dropped)
    return end, raw_rows


def _contenders(batch: Batch, bound: Bound, first_place: int, sieve: Sieve, start: int, end: int) -> Contenders:
    """The rows of a batch that have to compete; no other rows are marked."""
    ids = UnitIds.of(batch, bound.unit, bound.unit_kind)
    raw_firsts = unit_words(ids, bound)
    raw_chosen = competing(ids, bound) & sieve.lets_through(raw_firsts) & _between(raw_firsts, start, end)
    raw_units, raw_seconds = mark_pairs(select_cells(ids.cells, raw_chosen), bound.key, _UNIT_SALT)
    raw_marks = row_marks(BoundedBatch(batch, raw_chosen), bound)
    return Contenders(raw_units, raw_seconds, raw_marks, first_place + np.flatnonzero(raw_chosen))


def competing(ids: UnitIds, bound: Bound) -> NDArray[np.bool_]:
    """Which rows count towards a bound: those with an id, and under TOGETHER also those without."""
    raw_not = ids.raw_unreadable if bound.missing is MissingUnit.TOGETHER else ids.raw_unreadable | ids.raw_without
    return ~raw_not


def crowding(ids: UnitIds, bound: Bound, sieve: Sieve) -> NDArray[np.bool_]:
    """Which rows compete, and may be of a unit that has too many."""
    return competing(ids, bound) & sieve.lets_through(unit_words(ids, bound))


def leaving(ids: UnitIds, bound: Bound) -> NDArray[np.bool_]:
    """Which rows do not stay, whatever the others are: those whose id cannot be read, and under DROP also those without one."""
    return ids.raw_unreadable | ids.raw_without if bound.missing is MissingUnit.DROP else ids.raw_unreadable


def _between(raw_words: Words, start: int, end: int) -> NDArray[np.bool_]:
    """Which words are at least `start` and below `end`, which may be one more than the largest word."""
    return (raw_words >= np.uint64(start)) & (raw_words <= np.uint64(end - 1))


def _changed() -> DataFileError:
    return DataFileError("the table changed while it was being read: open it again.")
