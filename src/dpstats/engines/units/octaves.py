"""How many units have 1 row, 2, 3 to 4, 5 to 8 and so on, in any store.

What is returned is exact and private. Units are told apart by the same 128-bit marks that bound their rows (contributions.py), so
that what counts as one unit there is one unit here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.units import contributions
from dpstats.engines.units.contributions import Bound, MissingUnit, competing, unit_marks
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.siphash import Words
from dpstats.foundations.errors import DataFileError

_BYTES = 48  # two words and a count of each unit, and once more while they are put in order
_END_OF_MARKS = 1 << 64


@dataclass(frozen=True)
class UnitSizes:
    """The rows of each unit whose first word lies below `end`, from some first word on."""

    end: int
    raw_firsts: Words
    raw_seconds: Words
    raw_sizes: NDArray[np.int64]
    raw_alone: int
    """Rows without an id that are a unit each."""
    raw_rows: int
    """All rows of the table, whosever they are."""


@dataclass(frozen=True)
class SizesOfUnits:
    """A job that counts the rows of each unit whose first word is at least `start`; of as many units as there is room for."""

    bound: Bound
    start: int
    room: int

    def scan(self, batches: Iterable[Batch]) -> UnitSizes:
        """Count in some batches. Where the units are too many, those with larger words are left to the next pass."""
        found = _no_units()
        held, waiting = [found], 0
        for batch in batches:
            held.append(self._of(batch, found.end))
            waiting += held[-1].raw_sizes.size
            if waiting > self.room:
                found = self._fitting(held)
                held, waiting = [found], 0
        return self._fitting(held)

    def merge(self, parts: Sequence[UnitSizes]) -> UnitSizes:
        """The units of several scans, up to the lowest end of any of them."""
        return self._fitting(parts)

    def _of(self, batch: Batch, end: int) -> UnitSizes:
        ids = UnitIds.of(batch, self.bound.unit, self.bound.unit_kind)
        raw_firsts, raw_seconds = unit_marks(ids, self.bound)
        raw_chosen = competing(ids, self.bound) & (raw_firsts >= np.uint64(self.start)) & (raw_firsts <= np.uint64(end - 1))
        is_alone = self.bound.missing is MissingUnit.EACH
        raw_alone = int(np.count_nonzero(ids.raw_without & ~ids.raw_unreadable)) if is_alone else 0
        raw_ones = np.ones(int(np.count_nonzero(raw_chosen)), dtype=np.int64)
        own = UnitSizes(end, raw_firsts[raw_chosen], raw_seconds[raw_chosen], raw_ones, raw_alone, batch.rows)
        return _together([own], end)

    def _fitting(self, parts: Sequence[UnitSizes]) -> UnitSizes:
        """All parts as one, with fewer units where there is no room for all of them."""
        found = _together(parts, min(part.end for part in parts))
        while found.raw_sizes.size > self.room and found.end - self.start > 1:
            found = _together([found], self.start + (found.end - self.start) // 2)
        return found


def count_octaves(store: Store, bound: Bound, ends: Sequence[int]) -> NDArray[np.int64]:
    """How many units have up to `ends[0]` rows, more than that and up to `ends[1]`, and so on; the last number is of those with
    more than `ends[-1]`.

    Rows that no unit can be said to have are not counted, as they are never kept. `bound.rows` does not matter.
    """
    raw_counts = np.zeros(len(ends) + 1, dtype=np.int64)
    start, raw_rows = 0, -1
    while start < _END_OF_MARKS:
        found = store.run(SizesOfUnits(bound, start, max(1, contributions.ROOM_BYTES // _BYTES)), [bound.unit])
        if raw_rows not in (-1, found.raw_rows):
            raise DataFileError("the table changed while it was being read: open it again.")
        if start == 0:
            raw_counts[0] += found.raw_alone
        raw_octaves = np.searchsorted(np.array(ends, dtype=np.int64), found.raw_sizes, side="left")
        raw_counts += np.bincount(raw_octaves, minlength=len(ends) + 1)
        start, raw_rows = found.end, found.raw_rows
    return raw_counts


def _no_units() -> UnitSizes:
    raw_none = np.zeros(0, dtype=np.uint64)
    return UnitSizes(_END_OF_MARKS, raw_none, raw_none, np.zeros(0, dtype=np.int64), 0, 0)


def _together(parts: Sequence[UnitSizes], end: int) -> UnitSizes:
    """Units whose first word lies below `end`, each once, with the sum of its rows."""
    raw_firsts = np.concatenate([part.raw_firsts for part in parts])
    raw_seconds = np.concatenate([part.raw_seconds for part in parts])
    raw_sizes = np.concatenate([part.raw_sizes for part in parts])
    raw_below = raw_firsts <= np.uint64(end - 1)
    raw_firsts, raw_seconds, raw_sizes = raw_firsts[raw_below], raw_seconds[raw_below], raw_sizes[raw_below]
    raw_order = np.lexsort((raw_seconds, raw_firsts))
    raw_firsts, raw_seconds, raw_sizes = raw_firsts[raw_order], raw_seconds[raw_order], raw_sizes[raw_order]
    raw_opens = np.ones(raw_firsts.size, dtype=np.bool_)
    raw_opens[1:] = (raw_firsts[1:] != raw_firsts[:-1]) | (raw_seconds[1:] != raw_seconds[:-1])
    raw_starts = np.flatnonzero(raw_opens)
    raw_summed = np.add.reduceat(raw_sizes, raw_starts) if raw_starts.size else raw_sizes
    raw_alone, raw_rows = sum(part.raw_alone for part in parts), sum(part.raw_rows for part in parts)
    return UnitSizes(end, raw_firsts[raw_starts], raw_seconds[raw_starts], raw_summed, raw_alone, raw_rows)
