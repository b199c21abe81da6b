"""A split: the rows of many batches, group by group.

Rows of several batches are held until there are enough of them for every group, and then sorted by group: what a group costs
does not depend on how small the batches are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Labels, Moments, Numbers, Opaque, select_cells
from dpstats.engines.columns.distinct import joined_labels
from dpstats.engines.groups.lookups import Codes
from dpstats.engines.views import CountedCells

_DIGIT = 16  # bits; numpy sorts whole numbers of 16 bits by counting


class GroupRows(NamedTuple):
    """Rows of one group: the cells that are not missing, by part, and the number of rows with the missing ones."""

    group: int
    cells: list[Cells]
    stored: int


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
        self._raw_codes: defaultdict[int, list[NDArray[np.uint32]]] = defaultdict(list)
        self._raw_cells: defaultdict[int, list[Cells]] = defaultdict(list)

    def add(self, codes: Codes, parts: Sequence[CountedCells]) -> None:
        """Hold rows of a batch; those with the code -1 belong to no group."""
        self._raw_stored += np.bincount(codes[codes >= 0], minlength=self.groups)
        for index, (cells, raw_taken) in enumerate(parts):
            raw_here = codes >= 0 if raw_taken is None else (codes >= 0) & raw_taken
            raw_codes = codes[raw_here].astype(np.uint32)
            self.rows += raw_codes.size
            self._raw_codes[index].append(raw_codes)
            taken = select_cells(cells, raw_here)
            self._raw_cells[index].append(Numbers(taken.raw_values) if isinstance(taken, Numbers) else taken)

    def absorb(self, other: Split) -> None:
        """Hold another split's rows, too."""
        self.rows += other.rows
        self._raw_stored += other._raw_stored
        for index, codes in other._raw_codes.items():
            self._raw_codes[index] += codes
            self._raw_cells[index] += other._raw_cells[index]

    def empty(self) -> list[Cells]:
        """Cells of every part without rows, which tell their types."""
        return [select_cells(cells[0], slice(0, 0)) for cells in self._raw_cells.values() if cells]

    def by_group(self, *, all_groups: bool = False) -> Iterator[GroupRows]:
        """The rows of every group that has some, or of all groups; the split is used up by it."""
        raw_stored = self._raw_stored
        sorted_parts = []
        for codes, cells in zip(self._raw_codes.values(), self._raw_cells.values(), strict=True):
            raw_codes = np.concatenate(codes)
            raw_ends = np.cumsum(np.bincount(raw_codes, minlength=self.groups)).tolist()
            sorted_parts.append((_sorted_cells(_joined(cells), raw_codes, self.groups), raw_ends))
        self.clear()
        for group in range(self.groups) if all_groups else np.flatnonzero(raw_stored).tolist():
            slices = [(cells, slice(ends[group - 1] if group else 0, ends[group])) for cells, ends in sorted_parts]
            yield GroupRows(group, [select_cells(*rows) for rows in slices], int(raw_stored[group]))


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
        joined: Cells = joined_labels([piece for piece in pieces if isinstance(piece, Labels)])
    elif isinstance(first, Moments):
        joined = Moments(np.concatenate([piece.raw_values for piece in pieces if isinstance(piece, Moments)]), first.zoned)
    elif isinstance(first, Opaque):
        joined = Opaque(np.concatenate([piece.raw_present for piece in pieces if isinstance(piece, Opaque)]))
    else:
        joined = Numbers(np.concatenate([piece.raw_values for piece in pieces if isinstance(piece, Numbers)]))
    pieces.clear()
    return joined
