"""Collectors: what a pass over rows gathers.

A collector goes to the rows, takes in those that a view keeps, batch by batch, and comes back; collectors of several places
absorb each other. What they hold in the end depends on the rows alone: neither on their order, nor on batches, nor on places. All
number cells that a collector sees are of one type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Labels, Moments, Numbers
from dpstats.engines.exact.blocks import block_rows, walk_blocks
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.powers import power_sums
from dpstats.engines.exact.runs import Runs
from dpstats.engines.exact.sums import sum_between
from dpstats.engines.exact.tallies import common_runs, common_texts, merged_labels, tally_texts
from dpstats.engines.moments import label_texts
from dpstats.foundations.summaries import Clip, LabelCounts

TALLY_LIMIT = 1 << 17
"""Rows that a tally holds before it counts them."""
SCANNED_CUTS = 40
"""Cuts up to which rows are compared with one after the other; more of them are searched."""


class Gatherer(Protocol):
    """Whatever gathers something from rows, in several places at once."""

    def fresh(self) -> Self:
        """An empty one that asks for the same."""
        ...

    def absorb(self, other: Self) -> None:
        """Take in what another one gathered from other rows; the other one is used up."""
        ...


G = TypeVar("G", bound=Gatherer)


def merged(collector: G, parts: Iterable[G]) -> G:
    """All parts in one, which asks for the same as a collector."""
    whole = collector.fresh()
    for part in parts:
        whole.absorb(part)
    return whole


class Collector(Gatherer, Protocol):
    """What a pass gathers. Stores may pickle it."""

    def take(self, cells: Cells, stored: int) -> None:
        """Take in cells none of which is missing, and the number of rows that there were with the missing ones.

        The arrays may change afterwards.
        """
        ...


class RowCount:
    """The number of rows, and of those that are not missing."""

    def __init__(self) -> None:
        self.stored = 0
        self.present = 0

    def fresh(self) -> RowCount:
        """An empty count."""
        return RowCount()

    def take(self, cells: Cells, stored: int) -> None:
        """Count rows of any kind."""
        self.stored += stored
        self.present += len(cells)

    def absorb(self, other: RowCount) -> None:
        """Add another count."""
        self.stored += other.stored
        self.present += other.present


class StoredCount:
    """The number of rows, for which no cell of a column has to be read."""

    def __init__(self) -> None:
        self.stored = 0

    def fresh(self) -> StoredCount:
        """An empty count."""
        return StoredCount()

    def take(self, cells: Cells, stored: int) -> None:
        """Count rows, whatever they hold."""
        self.stored += stored

    def absorb(self, other: StoredCount) -> None:
        """Add another count."""
        self.stored += other.stored


class BracketScan:
    """Brackets around order statistics, any number of them in one pass."""

    def __init__(self, brackets: Iterable[Bracket]) -> None:
        self.brackets = list(brackets)

    def fresh(self) -> BracketScan:
        """The same brackets before any row was taken in."""
        return BracketScan(bracket.fresh() for bracket in self.brackets)

    def take(self, cells: Cells, stored: int) -> None:
        """Show rows to every bracket, block by block."""
        raw_rows = _numbers(cells)
        room = np.empty((2, min(raw_rows.size, block_rows(raw_rows.dtype))), dtype=np.bool_)
        for block in walk_blocks([raw_rows]):
            mask, other = room[:, : block.size]
            for bracket in self.brackets:
                bracket.scan(block, mask, other)

    def absorb(self, other: BracketScan) -> None:
        """Add what the same brackets found elsewhere."""
        for bracket, found in zip(self.brackets, other.brackets, strict=True):
            bracket.absorb(found)


class CutCount:
    """The rows strictly below each of some values of the column's own type."""

    def __init__(self, raw_edges: NDArray[Any]) -> None:
        """`raw_edges` ascend."""
        self._raw_edges = raw_edges
        self.below: NDArray[np.int64] = np.zeros(raw_edges.size, dtype=np.int64)

    def fresh(self) -> CutCount:
        """The same cuts, and no rows."""
        return CutCount(self._raw_edges)

    def take(self, cells: Cells, stored: int) -> None:
        """Count rows below each cut, block by block."""
        for block in walk_blocks([_numbers(cells)]):
            if self._raw_edges.size <= SCANNED_CUTS:
                self.below += [np.count_nonzero(block < edge) for edge in self._raw_edges]
            else:  # a row lies below all edges beyond it
                beyond = np.searchsorted(self._raw_edges, block, side="right")
                self.below += np.cumsum(np.bincount(beyond, minlength=self._raw_edges.size + 1)[:-1])

    def absorb(self, other: CutCount) -> None:
        """Add the rows below the same cuts elsewhere."""
        self.below += other.below


class SumBetween:
    """The exact sum of the rows strictly between two bounds, in units."""

    def __init__(self, low: float | int, high: float | int, unit: Fraction) -> None:
        self._bounds = low, high, unit
        self.total = 0

    def fresh(self) -> SumBetween:
        """The same bounds, and no rows."""
        return SumBetween(*self._bounds)

    def take(self, cells: Cells, stored: int) -> None:
        """Add rows up."""
        raw_rows = _numbers(cells)
        if raw_rows.size:
            self.total += sum_between([raw_rows], *self._bounds)

    def absorb(self, other: SumBetween) -> None:
        """Add another sum."""
        self.total += other.total


class PowerSums:
    """The exact sums of powers of where rows lie in a clip."""

    def __init__(self, clip: Clip, degree: int) -> None:
        self.clip = clip
        self.degree = degree
        self.totals = (0,) * (degree + 1)

    def fresh(self) -> PowerSums:
        """The same clip, and no rows."""
        return PowerSums(self.clip, self.degree)

    def take(self, cells: Cells, stored: int) -> None:
        """Add rows up."""
        self._add(power_sums([_numbers(cells)], self.clip, self.degree))

    def absorb(self, other: PowerSums) -> None:
        """Add other sums."""
        self._add(other.totals)

    def _add(self, more: Sequence[int]) -> None:
        self.totals = tuple(map(int.__add__, self.totals, more))


class NumberTally:
    """Every distinct number with its count."""

    def __init__(self) -> None:
        self._pile = Pile(TALLY_LIMIT)
        self._dtype: np.dtype[Any] | None = None

    def fresh(self) -> NumberTally:
        """An empty tally."""
        return NumberTally()

    def take(self, cells: Cells, stored: int) -> None:
        """Count numbers, block by block."""
        self.add(_numbers(cells))

    def add(self, raw_rows: NDArray[Any]) -> None:
        """Count the numbers of an array."""
        self._dtype = raw_rows.dtype
        for block in walk_blocks([raw_rows]):
            self._pile.add(block.copy())

    def absorb(self, other: NumberTally) -> None:
        """Add another tally."""
        self._dtype = other._dtype if self._dtype is None else self._dtype
        self._pile.absorb(other._pile)

    def runs(self) -> Runs:
        """The numbers, ascending, with their counts."""
        if not self._pile.size:
            return Runs(0, np.empty(0, dtype=self._dtype), np.zeros(0, dtype=np.int64))
        return self._pile.runs(1, self._pile.size)


class LabelTally:
    """Every distinct label with its count: numbers, texts, and dates by their text."""

    def __init__(self) -> None:
        self.rows = RowCount()
        self._numbers = NumberTally()
        self._texts: Counter[str] = Counter()
        self._moments: dict[tuple[np.dtype[Any], bool], NumberTally] = {}

    def fresh(self) -> LabelTally:
        """An empty tally."""
        return LabelTally()

    def take(self, cells: Cells, stored: int) -> None:
        """Count labels."""
        self.rows.take(cells, stored)
        if isinstance(cells, Numbers):
            self._numbers.take(cells, stored)
        elif isinstance(cells, Moments):
            key = (cells.raw_values.dtype, cells.zoned)
            self._moments.setdefault(key, NumberTally()).add(cells.raw_values.view(np.int64))
        elif isinstance(cells, Labels):
            self._texts.update(_counted_texts(cells))

    def absorb(self, other: LabelTally) -> None:
        """Add another tally."""
        self.rows.absorb(other.rows)
        self._numbers.absorb(other._numbers)
        self._texts.update(other._texts)
        for key, tally in other._moments.items():
            self._moments.setdefault(key, NumberTally()).absorb(tally)

    def most_common(self, how_many: int) -> LabelCounts:
        """The labels that most rows hold, by the rules of `tallies`."""
        raw_texts = Counter(self._texts)
        for (dtype, zoned), tally in self._moments.items():
            runs = tally.runs()
            raw_moments = label_texts(runs.values.view(dtype), zoned=zoned)
            raw_texts.update(tally_texts(zip(raw_moments, runs.counts.tolist(), strict=True)))
        return merged_labels([common_runs(self._numbers.runs(), how_many), common_texts(raw_texts, how_many)], how_many)


def _numbers(cells: Cells) -> NDArray[Any]:
    assert isinstance(cells, Numbers)
    return cells.raw_values


def _counted_texts(cells: Labels) -> dict[str, int]:
    """Every text of a batch with its count; what it costs depends on the shorter of rows and labels."""
    codes, counts = counted_codes(cells.raw_codes, len(cells.raw_labels))
    return {cells.raw_labels[code]: count for code, count in zip(codes, counts, strict=True)}


def counted_codes(raw_codes: NDArray[np.int64], limit: int) -> tuple[Sequence[int], Sequence[int]]:
    """The distinct codes from 0 to below `limit` among some, ascending, with their counts."""
    if limit > 4 * raw_codes.size:
        codes, counts = np.unique(raw_codes, return_counts=True)
    else:
        counts = np.bincount(raw_codes, minlength=1)
        codes = np.flatnonzero(counts)
        counts = counts[codes]
    return codes.tolist(), counts.tolist()
