"""A split: the rows of many batches, group by group.

Rows of several batches are held until there are enough of them for every group, and then sorted by group, while they fit into a
processor's cache: what a group costs does not depend on how small the batches are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Labels, Moments, Numbers, Opaque, both_present, select_cells
from dpstats.engines.columns.distinct import joined_labels
from dpstats.engines.groups.lookups import Codes
from dpstats.engines.views import CountedCells

SORTED_ROWS = 1 << 19
"""Rows that are sorted at once, at least."""
ROWS_PER_GROUP = 1 << 6
"""And at least so many for each group: a group is put together from what it has in each of these lots."""
_DIGIT = 16  # bits; numpy sorts whole numbers of 16 bits by counting


class GroupRows(NamedTuple):
    """Rows of one group: the cells that are not missing, by part, and the number of rows with the missing ones."""

    group: int
    cells: list[Cells]
    stored: int


class Lot(NamedTuple):
    """Cells sorted by group, and where each group ends among them."""

    raw_cells: Cells
    raw_ends: NDArray[np.int64]


class _SplitPart:
    """One part of the rows: those that wait, with the numbers of their groups, and those that have been sorted by them."""

    def __init__(self) -> None:
        self.raw_codes: list[NDArray[np.uint32]] = []
        self.raw_cells: list[Cells] = []
        self.lots: list[Lot] = []

    def sort(self, groups: int, least: int) -> None:
        """Sort the rows that wait, if they are at least so many."""
        if self.raw_codes and sum(codes.size for codes in self.raw_codes) >= least:
            raw_codes = np.concatenate(self.raw_codes)
            self.raw_codes.clear()
            raw_ends = np.cumsum(np.bincount(raw_codes, minlength=groups))
            self.lots.append(Lot(_sorted_cells(_joined(self.raw_cells), raw_codes, groups), raw_ends))


@dataclass
class Split:
    """Rows with the number of their group, held until they are asked for group by group."""

    groups: int

    def __post_init__(self) -> None:
        """No rows yet."""
        self.clear()

    def clear(self) -> None:
        """Let all rows go."""
        self.rows = 0
        self._raw_stored = np.zeros(self.groups, dtype=np.int64)
        self._parts: defaultdict[int, _SplitPart] = defaultdict(_SplitPart)

    def add(self, codes: Codes, parts: Sequence[CountedCells]) -> None:
        """Hold rows of a batch; those with the code -1 belong to no group."""
        raw_grouped = codes >= 0
        raw_kept = None if raw_grouped.all() else raw_grouped
        self._raw_stored += np.bincount(codes if raw_kept is None else codes[raw_kept], minlength=self.groups)
        for index, (cells, raw_taken) in enumerate(parts):
            raw_here = both_present(raw_kept, raw_taken)
            raw_codes = (codes if raw_here is None else codes[raw_here]).astype(np.uint32)
            self.rows += raw_codes.size
            part = self._parts[index]
            part.raw_codes.append(raw_codes)
            taken = select_cells(cells, slice(None) if raw_here is None else raw_here)
            part.raw_cells.append(Numbers(taken.raw_values) if isinstance(taken, Numbers) else taken)
            part.sort(self.groups, max(SORTED_ROWS, ROWS_PER_GROUP * self.groups))

    def absorb(self, other: Split) -> None:
        """Hold another split's rows, too."""
        self.rows += other.rows
        self._raw_stored += other._raw_stored
        for index, part in other._parts.items():
            self._parts[index].raw_codes += part.raw_codes
            self._parts[index].raw_cells += part.raw_cells
            self._parts[index].lots += part.lots

    def empty(self) -> list[Cells]:
        """Cells of every part without rows, which tell their types."""
        firsts = [[*part.raw_cells[:1], *(lot.raw_cells for lot in part.lots[:1])] for part in self._parts.values()]
        return [select_cells(cells[0], slice(0, 0)) for cells in firsts if cells]

    def by_group(self, *, all_groups: bool = False) -> Iterator[GroupRows]:
        """The rows of every group that has some, or of all groups; the split is used up by it."""
        raw_stored = self._raw_stored
        sorted_parts = []
        for part in self._parts.values():
            part.sort(self.groups, 0)
            sorted_parts.append([(cells, [0, *ends.tolist()]) for cells, ends in _alike(part.lots)])
        self.clear()
        for group in range(self.groups) if all_groups else np.flatnonzero(raw_stored).tolist():
            pieces = [[select_cells(cells, slice(*ends[group : group + 2])) for cells, ends in lots] for lots in sorted_parts]
            yield GroupRows(group, [_joined(cells) for cells in pieces], int(raw_stored[group]))


def _alike(lots: list[Lot]) -> list[Lot]:
    """The same lots, whose texts are places in one list of labels."""
    raw_labels = [lot.raw_cells for lot in lots if isinstance(lot.raw_cells, Labels)]
    if len(raw_labels) < 2:
        return lots
    joined = joined_labels(raw_labels)
    raw_codes = np.split(joined.raw_codes, np.cumsum([len(cells) for cells in raw_labels])[:-1])
    return [Lot(Labels(codes, joined.raw_labels), lot.raw_ends) for codes, lot in zip(raw_codes, lots, strict=True)]


def _sorted_cells(cells: Cells, raw_codes: NDArray[np.uint32], groups: int) -> Cells:
    """Cells by group; within a group in the order they came in."""
    order = np.argsort(raw_codes.astype(np.uint16), kind="stable")
    if groups > 1 << _DIGIT:
        order = order[np.argsort((raw_codes[order] >> np.uint32(_DIGIT)).astype(np.uint16), kind="stable")]
    return select_cells(cells, order)


def _joined(pieces: list[Cells]) -> Cells:
    """Cells of several batches as one; `pieces` is used up."""
    if len(pieces) == 1:
        return pieces.pop()
    first = pieces[0]
    if isinstance(first, Labels):
        raw_labels = [piece for piece in pieces if isinstance(piece, Labels)]
        one_list = all(piece.raw_labels is first.raw_labels for piece in raw_labels)
        raw_codes = np.concatenate([piece.raw_codes for piece in raw_labels])
        joined: Cells = Labels(raw_codes, first.raw_labels) if one_list else joined_labels(raw_labels)
    elif isinstance(first, Moments):
        joined = Moments(np.concatenate([piece.raw_values for piece in pieces if isinstance(piece, Moments)]), first.zoned)
    elif isinstance(first, Opaque):
        joined = Opaque(np.concatenate([piece.raw_present for piece in pieces if isinstance(piece, Opaque)]))
    else:
        joined = Numbers(np.concatenate([piece.raw_values for piece in pieces if isinstance(piece, Numbers)]))
    pieces.clear()
    return joined
