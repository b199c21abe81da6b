"""The rows of a column in order of (decimal, coin), and a draw among some of them.

Every row carries a coin, drawn for this release alone and independent of everything else. Rows are ordered by their decimal
and, where these tie, by their coin, so that a heavy tie can be split: which part a row belongs to depends on that row, its
coin and released places only. The line of the base measure is stretched by the number of coins to hold all pairs.

Numerics   Exact: a pair (decimal, coin) owns an integer stretch of the line, its *cell*
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, OrderWindow
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, LatticeGroup, lattice_groups, lowest_value_at
from dpstats.statistics.universal.draw import Mark, RankLoss, Stretch, boosted, draw_piece, pieces_between
from dpstats.statistics.universal.measure import MIXED, TOTAL

COINS = 1 << 16
"""Values that a row's coin can take."""
LINE = TOTAL * COINS
"""Length of the stretched line."""
_COINS_AT_A_TIME = 1 << 20


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


class Cell(NamedTuple):
    """Rows with the same decimal and the same coin."""

    coin: int
    raw_below: int
    raw_count: int


class Order:
    """The rows in order of (decimal, coin): what one release knows of it, drawn and computed once."""

    def __init__(self, column: Column, rng: RandomSource) -> None:
        self.column = column
        self.rng = rng
        self.raw_rows = column.count()
        self._spans: dict[int, tuple[int, int]] = {}
        self._coins: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]] | int] = {}

    def groups(self, window: OrderWindow) -> list[LatticeGroup]:
        """The window's rows by decimal."""
        return lattice_groups(window)

    def span(self, ordinal: int) -> tuple[int, int]:
        """Where a decimal's cells start on the stretched line, and how wide each of them is."""
        if ordinal not in self._spans:
            start, mass = MIXED.span(ordinal)
            self._spans[ordinal] = (start * COINS, mass)
        return self._spans[ordinal]

    def meet(self, groups: Iterable[LatticeGroup]) -> None:
        """Find the spans of many decimals at once, and draw the coins of those that a single row has."""
        new = [group for group in groups if group.ordinal not in self._spans]
        for group, (start, mass) in zip(new, MIXED.spans([group.ordinal for group in new]), strict=True):
            self._spans[group.ordinal] = (start * COINS, mass)
        single = [group.ordinal for group in new if group.raw_count == 1 and group.ordinal not in self._coins]
        coins = np.frombuffer(self.rng.octets(2 * len(single)), dtype="<u2").tolist() if single else []
        self._coins.update(zip(single, coins, strict=True))

    def count_group(self, ordinal: int) -> tuple[LatticeGroup, int]:
        """All rows of one decimal, and the number of rows below it."""
        assert self.column.dtype is not None
        cuts = [lowest_value_at(ordinal, self.column.dtype), lowest_value_at(ordinal + 1, self.column.dtype)]
        below, up_to = self.column.counts_below(cuts)
        if ordinal == HIGHEST_ORDINAL:  # infinite rows count as the highest decimal
            up_to = self.raw_rows
        return LatticeGroup(ordinal, up_to - below), below

    def cells(self, group: LatticeGroup, raw_below: int, first: int, last: int) -> list[Cell]:
        """The group's cells with rows of rank first + 1 to last; `raw_below` rows are below the whole group."""
        if group.ordinal not in self._coins:
            self._coins[group.ordinal] = self._draw_coins(group)
        drawn = self._coins[group.ordinal]
        if isinstance(drawn, int):
            return [Cell(drawn, raw_below, 1)] if first <= raw_below < last else []
        coins, ends = drawn
        begin = int(np.searchsorted(ends, first - raw_below, side="right"))
        stop = int(np.searchsorted(ends, last - raw_below, side="left")) + 1 if last > raw_below else 0
        cells: list[Cell] = []
        start = int(ends[begin - 1]) if begin else 0
        for coin, end in zip(coins[begin:stop].tolist(), ends[begin:stop].tolist(), strict=True):
            cells.append(Cell(coin, raw_below + start, end - start))
            start = end
        return cells

    def raw_below_cell(self, position: int) -> int:
        """The number of rows below the cell that owns a position of the line, by counting."""
        group, raw_below = self.count_group(MIXED.ordinal_at(position // COINS))
        start, width = self.span(group.ordinal)
        coin = (position - start) // width
        cells = self.cells(group, raw_below, 0, self.raw_rows)
        return raw_below + sum(cell.raw_count for cell in cells if cell.coin < coin)

    def _draw_coins(self, group: LatticeGroup) -> tuple[NDArray[np.int64], NDArray[np.int64]] | int:
        """Distinct coins, ascending, and the running number of rows up to each; for a single row just its coin."""
        raw_count = group.raw_count
        if raw_count == 1:
            return int.from_bytes(self.rng.octets(2), "little")
        totals = np.zeros(COINS, dtype=np.int64)
        for start in range(0, raw_count, _COINS_AT_A_TIME):
            octets = self.rng.octets(2 * min(_COINS_AT_A_TIME, raw_count - start))
            totals += np.bincount(np.frombuffer(octets, dtype="<u2"), minlength=COINS)
        filled = np.flatnonzero(totals)
        return filled, np.cumsum(totals[filled])


def draw_in_part(order: Order, part: Part, loss: RankLoss, window: OrderWindow, stretches: Iterable[Stretch] = ()) -> Place:
    """Draw a place from the rows of a part, with further public mass on the stretches."""
    return _draw_among(order, part, loss, _whole_groups(order, loss, window), stretches)


def draw_in_group(order: Order, ordinal: int, target: Fraction, slope: Fraction) -> Place:
    """Draw a place among the cells of one decimal, whose rows are told apart by their coins alone."""
    group, raw_below = order.count_group(ordinal)
    start, width = order.span(ordinal)
    part = Part(start, start + COINS * width, raw_below, raw_below + group.raw_count)
    return _draw_among(order, part, RankLoss(target, slope, slope), [(group, raw_below)] if group.raw_count else [])


def _draw_among(
    order: Order,
    part: Part,
    loss: RankLoss,
    groups: Iterable[tuple[LatticeGroup, int]],
    stretches: Iterable[Stretch] = (),
) -> Place:
    """Draw a place from a part, given those of its decimals that are not all clipped, each with the rows below it."""
    if part.low == part.high:
        return Place(part.low, MIXED.ordinal_at(min(part.low, LINE - 1) // COINS), part.raw_first)
    first = max(part.raw_first, math.ceil(loss.target) - loss.margin())
    last = min(part.raw_last, math.floor(loss.target) + loss.margin())
    marks: list[Mark] = []
    raw_below = raw_up_to = part.raw_first
    groups = list(groups)
    order.meet(group for group, _ in groups)
    for group, raw_below_group in groups:
        start, width = order.span(group.ordinal)
        for cell in order.cells(group, raw_below_group, first, last):
            if not marks:
                raw_below = cell.raw_below
            marks.append(Mark(start + cell.coin * width, start + (cell.coin + 1) * width, cell.raw_count))
            raw_up_to = cell.raw_below + cell.raw_count
    pieces = pieces_between(
        part.low,
        part.high,
        marks,
        raw_below,
        hidden_below=raw_below > part.raw_first,
        hidden_above=raw_up_to < part.raw_last,
    )
    piece, position = draw_piece(boosted(pieces, stretches), loss, order.rng)
    ordinal = MIXED.ordinal_at(position // COINS)
    start, width = order.span(ordinal)
    cell_start = start + (position - start) // width * width
    return Place(cell_start, ordinal, order.raw_below_cell(position) if piece.hidden else piece.raw_below)


def _whole_groups(order: Order, loss: RankLoss, window: OrderWindow) -> list[tuple[LatticeGroup, int]]:
    """The lattice groups of a window with the rows below each, every one complete.

    The outermost groups may have rows outside the window that round to the same decimal. Such a group is left out where all
    of it is clipped, and counted in full where it is not.
    """
    groups = order.groups(window)
    raw_below = window.raw_below
    whole: list[tuple[LatticeGroup, int]] = []
    for index, group in enumerate(groups):
        raw_up_to = raw_below + group.raw_count
        at_low_edge = index == 0 and window.raw_below > 0
        at_high_edge = index == len(groups) - 1 and window.raw_above > 0
        if (at_low_edge and raw_up_to <= loss.last_clipped) or (at_high_edge and raw_below >= loss.first_clipped):
            pass
        elif at_low_edge or at_high_edge:
            whole.append(order.count_group(group.ordinal))
        else:
            whole.append((group, raw_below))
        raw_below = raw_up_to
    return whole
