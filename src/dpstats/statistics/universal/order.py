"""The rows of a column in order of (decimal, coin), and a draw among some of them.

Every row carries a coin, drawn for this release alone and independent of everything else. Rows are ordered by their decimal
and, where these tie, by their coin, so that a heavy tie can be split: which part a row belongs to depends on that row, its
coin and released places only. The line of the base measure is stretched by the number of coins to hold all pairs.

Numerics   Exact: a pair (decimal, coin) owns an integer stretch of the line, its *cell*
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, OrderWindow, WindowRequest
from dpstats.statistics.universal.bands import DigitBands
from dpstats.statistics.universal.beside import Shells, stretches_of
from dpstats.statistics.universal.decimals import DIGITS, HIGHEST_ORDINAL, LatticeGroups, grouped, lattice_groups, lowest_value_at
from dpstats.statistics.universal.draw import RankLoss, draw_piece
from dpstats.statistics.universal.line import CutLine, Marks, Stretch
from dpstats.statistics.universal.measure import MIXED, TOTAL

COINS = 1 << 16
"""Values that a row's coin can take."""
LINE = TOTAL * COINS
"""Length of the stretched line."""
_COINS_AT_A_TIME = 1 << 20
_HEAVY = COINS // 4
"""A tie of more rows is counted coin by coin, fewer rows are sorted."""


class Part(NamedTuple):
    """A stretch [low, high) of the line between two places, and the ranks raw_first + 1 to raw_last of the rows in it."""

    low: int
    high: int
    raw_first: int
    raw_last: int


class Place(NamedTuple):
    """A drawn place: where its cell starts on the line, its decimal, and the number of all rows below the cell."""

    start: int
    ordinal: int
    raw_below: int


class WholeGroups(NamedTuple):
    """Decimals that follow one another among the rows, each with all its rows, and how many rows lie below the first of them."""

    ordinals: NDArray[np.int64]
    raw_counts: NDArray[np.int64]
    raw_below: int


class Cells(NamedTuple):
    """Rows by decimal and coin, ascending."""

    ordinals: NDArray[np.int64]
    coins: NDArray[np.int64]
    raw_counts: NDArray[np.int64]


class Draw(NamedTuple):
    """A draw to be made from the rows of a part, with further public mass on shells."""

    part: Part
    loss: RankLoss
    shells: Shells | None = None


class Order:
    """The rows in order of (decimal, coin): what one release knows of it, drawn and computed once.

    Decimals that are the same to a public number of digits count as one, which goes by the first of them.
    """

    def __init__(self, column: Column, rng: RandomSource, digits: int = DIGITS) -> None:
        self.column = column
        self.rng = rng
        self.raw_rows = column.count()
        self.bands = DigitBands(digits)
        self._cells = Cells(*(np.zeros(0, dtype=np.int64) for _ in Cells._fields))
        self._offsets = MIXED.offsets(self._cells.ordinals)
        self._marks: Marks | None = None

    def span(self, ordinal: int) -> tuple[int, int]:
        """Where a decimal's cells start on the stretched line, and how wide each of them is."""
        first, last = self.bands.band(ordinal)
        start, mass = MIXED.span(first)
        if first < last:
            mass = sum(MIXED.span(last)) - start
        return start * COINS, mass

    def merged(self, lattice: LatticeGroups) -> LatticeGroups:
        """Decimals that count as one together."""
        firsts, lasts = self.bands.around(lattice.ordinals)
        return lattice if firsts is lasts else grouped(firsts, lattice.raw_counts)

    def count_group(self, ordinal: int) -> WholeGroups:
        """One decimal."""
        assert self.column.dtype is not None
        first, last = self.bands.band(ordinal)
        cuts = [lowest_value_at(first, self.column.dtype), lowest_value_at(last + 1, self.column.dtype)]
        below, up_to = self.column.counts_below(cuts)
        if last == HIGHEST_ORDINAL:  # infinite rows count as the highest decimal
            up_to = self.raw_rows
        return WholeGroups(np.array([first]), np.array([up_to - below]), below)

    def ordinal_at(self, position: int) -> int:
        """The decimal that stands for those which own a position of the stretched line."""
        return self.bands.roundest(MIXED.ordinal_at(position // COINS))

    def rows_beyond(self, ordinal: int) -> dict[bool, Part]:
        """The rows above (True) and below (False) all rows of a decimal."""
        group = self.count_group(ordinal)
        start, width = self.span(ordinal)
        raw_up_to = group.raw_below + int(group.raw_counts[0])
        return {False: Part(0, start, 0, group.raw_below), True: Part(start + COINS * width, LINE, raw_up_to, self.raw_rows)}

    def toss(self, groups: Sequence[WholeGroups]) -> None:
        """Draw the coins of all rows of the groups that have none yet."""
        ordinals = np.concatenate([group.ordinals for group in groups])
        order = np.argsort(ordinals, kind="stable")  # quick, because each of them ascends
        ordinals = ordinals[order]
        known = self._cells.ordinals
        new = np.searchsorted(known, ordinals, side="left") == np.searchsorted(known, ordinals, side="right")
        new[1:] &= ordinals[1:] != ordinals[:-1]
        if new.any():
            raw_counts = np.concatenate([group.raw_counts for group in groups])[order]
            drawn = self._draw_coins(ordinals[new], raw_counts[new])
            offsets = self._offsets_of(drawn.ordinals)
            order = np.argsort(np.concatenate([known, drawn.ordinals]), kind="stable")
            self._cells = Cells(*(np.concatenate(both)[order] for both in zip(self._cells, drawn, strict=True)))
            self._offsets = np.stack([np.concatenate(both)[order] for both in zip(self._offsets, offsets, strict=True)])
            self._marks = None

    def _offsets_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the stretches of decimals start and end in their runs: of those that count as one from the first to the last."""
        firsts, lasts = self.bands.around(ordinals)
        offsets = MIXED.offsets(firsts)
        return offsets if firsts is lasts else np.stack([*offsets[:2], MIXED.offsets(lasts)[2]])

    def cells_of(self, groups: WholeGroups) -> tuple[int, Cells]:
        """The cells of groups that have their coins, and how many cells come before them."""
        known = self._cells.ordinals
        begin = int(np.searchsorted(known, groups.ordinals[:1], side="left").sum())
        end = int(np.searchsorted(known, groups.ordinals[-1:], side="right").sum())
        return begin, Cells(*(each[begin:end] for each in self._cells))

    def marks(self, begin: int, end: int) -> Marks:
        """Some of the cells as marks on the line."""
        if self._marks is None:
            self._marks = MIXED.marks(self._offsets, self._cells.raw_counts, self._cells.coins, COINS)
        return self._marks.between(begin, end)

    def raw_below_cell(self, position: int) -> int:
        """The number of rows below the cell that owns a position of the line, by counting."""
        group = self.count_group(MIXED.ordinal_at(position // COINS))
        start, width = self.span(int(group.ordinals[0]))
        self.toss([group])
        _, cells = self.cells_of(group)
        return group.raw_below + int(cells.raw_counts[cells.coins < (position - start) // width].sum())

    def _draw_coins(self, ordinals: NDArray[np.int64], raw_counts: NDArray[np.int64]) -> Cells:
        """The cells of decimals whose rows have no coins yet: first the single rows', then those of ties, one after the other."""
        single, heavy = raw_counts == 1, raw_counts > _HEAVY
        keys = [np.flatnonzero(single) * COINS + self._coins(int(single.sum()))]
        counts = [np.ones(len(keys[0]), dtype=np.int64)]
        tied, heavy_places = np.flatnonzero(raw_counts > 1), np.flatnonzero(heavy).tolist()
        for before, place in pairwise([-1, *heavy_places, len(ordinals)]):
            light = tied[(tied > before) & (tied < place)]
            if len(light):
                owners = np.repeat(light, raw_counts[light])
                found = np.unique(owners * COINS + self._coins(len(owners)), return_counts=True)
                keys.append(found[0])
                counts.append(found[1])
            if place < len(ordinals):
                totals = self._heavy_coins(int(raw_counts[place]))
                filled = np.flatnonzero(totals)
                keys.append(place * COINS + filled)
                counts.append(totals[filled])
        all_keys, all_counts = np.concatenate(keys), np.concatenate(counts)
        order = np.argsort(all_keys, kind="stable")
        places, coins = np.divmod(all_keys[order], COINS)
        return Cells(ordinals[places], coins, all_counts[order])

    def _coins(self, size: int) -> NDArray[np.int64]:
        """Uniform coins."""
        return np.frombuffer(self.rng.octets(2 * size), dtype="<u2").astype(np.int64)

    def _heavy_coins(self, raw_count: int) -> NDArray[np.int64]:
        """How many of the rows of a heavy tie have each coin."""
        totals = np.zeros(COINS, dtype=np.int64)
        for start in range(0, raw_count, _COINS_AT_A_TIME):
            totals += np.bincount(self._coins(min(_COINS_AT_A_TIME, raw_count - start)), minlength=COINS)
        return totals


class HiddenPlace(Place):
    """A place beyond the rows that were read: those below it are counted when somebody asks, which most draws do not."""

    _order: Order
    _position: int

    @classmethod
    def at(cls, order: Order, position: int, start: int, ordinal: int) -> HiddenPlace:
        """The place of a cell that owns a position."""
        place = cls(start, ordinal, -1)
        place._order, place._position = order, position
        return place

    @property
    def raw_below(self) -> int:
        """The number of all rows below the cell."""
        return self._order.raw_below_cell(self._position)


def draw_in_parts(order: Order, draws: Sequence[Draw]) -> list[Place]:
    """A place for each of the draws, which do not wait for one another: their rows are read and mapped at once."""
    if not draws:
        return []
    requests = [WindowRequest(loss.target / max(order.raw_rows, 1), loss.margin()) for _, loss, _ in draws]
    windows = order.column.order_windows(requests)
    lattices = [order.merged(lattice) for lattice in lattice_groups(windows)]
    groups = [_whole_groups(order, *each) for each in zip((draw.loss for draw in draws), windows, lattices, strict=True)]
    shelled = [draw.shells for draw in draws if draw.shells is not None]
    stretches = iter(stretches_of(shelled))
    order.toss(groups)
    return [
        _draw_among(order, draw.part, draw.loss, group, () if draw.shells is None else next(stretches))
        for draw, group in zip(draws, groups, strict=True)
    ]


def _draw_among(order: Order, part: Part, loss: RankLoss, groups: WholeGroups, stretches: Sequence[Stretch] = ()) -> Place:
    """Draw a place from a part, given those of its decimals that are not all clipped."""
    if part.low == part.high:
        return Place(part.low, order.ordinal_at(min(part.low, LINE - 1)), part.raw_first)
    first = max(part.raw_first, math.ceil(loss.target) - loss.margin())
    last = min(part.raw_last, math.floor(loss.target) + loss.margin())
    before, cells = order.cells_of(groups)
    raw_ends = groups.raw_below + np.cumsum(cells.raw_counts)
    begin = int(np.searchsorted(raw_ends, first, side="right"))
    end = max(begin, int(np.searchsorted(raw_ends - cells.raw_counts, last, side="left")))
    raw_below = raw_up_to = part.raw_first
    if begin < end:
        raw_below, raw_up_to = int(raw_ends[begin] - cells.raw_counts[begin]), int(raw_ends[end - 1])
    cut = CutLine(
        part.low,
        part.high,
        order.marks(before + begin, before + end),
        raw_below,
        hidden_below=raw_below > part.raw_first,
        hidden_above=raw_up_to < part.raw_last,
    )
    piece, position = draw_piece(cut.boosted(stretches), loss, order.rng)
    ordinal = order.ordinal_at(position)
    start, width = order.span(ordinal)
    cell_start = start + (position - start) // width * width
    return HiddenPlace.at(order, position, cell_start, ordinal) if piece.hidden else Place(cell_start, ordinal, piece.raw_below)


def _whole_groups(order: Order, loss: RankLoss, window: OrderWindow, lattice: LatticeGroups) -> WholeGroups:
    """The decimals of a window, every one complete.

    The outermost ones may have rows outside the window that round to the same decimal. Such a decimal is left out where all of it
    is clipped, and counted in full where it is not.
    """
    ordinals, raw_counts = lattice.ordinals, lattice.raw_counts.copy()
    raw_below = window.raw_below
    if len(ordinals) and window.raw_below:
        if raw_below + raw_counts[0] <= loss.last_clipped:
            raw_below += int(raw_counts[0])
            ordinals, raw_counts = ordinals[1:], raw_counts[1:]
        else:
            _, raw_counts[:1], raw_below = order.count_group(int(ordinals[0]))
    if len(ordinals) and window.raw_above:
        if raw_below + raw_counts[:-1].sum() >= loss.first_clipped:
            ordinals, raw_counts = ordinals[:-1], raw_counts[:-1]
        else:
            raw_counts[-1:] = order.count_group(int(ordinals[-1])).raw_counts
    return WholeGroups(ordinals, raw_counts, raw_below)
