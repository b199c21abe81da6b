"""A thinned sample: as many rows of a stream as fit, each kept with the same chance, beside the exact number of all rows.

It begins by keeping every row. Where the next rows would not fit, it halves its rate first, and lets half of what it holds go by
coin flips. While nothing was let go it holds the very column. What it holds guides a search for exact answers and decides none of
them, so its coins are numpy's, seeded by the operating system.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import urandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Numbers


@dataclass(frozen=True)
class Room:
    """How many rows a sample may hold."""

    taken: int
    """While it takes rows in, wherever they are."""
    merged: int
    """When samples of several places are put together."""
    views: bool = False
    """Whether to hold the arrays that come in, which then must not change, rather than copies."""
    around: int = 0
    """Rows around expected windows that may be held beside the sample while rows go by for the first time, all together."""


STREAMED = Room(taken=1 << 18, merged=1 << 18, around=1 << 21)
REMOTE = Room(taken=1 << 14, merged=1 << 18, around=1 << 18)
"""Where rows are in many places, each sends a small sample; together they make a large one."""
IN_MEMORY = Room(taken=1 << 62, merged=1 << 62, views=True)


class ThinnedSample:
    """A collector of numbers: the rows of one type that were kept, the rate they were kept at, and the rows that there were."""

    def __init__(self, room: Room = STREAMED) -> None:
        self._room = room
        self.halvings = 0
        """Each row was kept with a chance of one in 2**halvings."""
        self.size = 0
        self.present = 0
        self.stored = 0
        self.dtype: np.dtype[Any] | None = None
        self._raw_pieces: list[NDArray[Any]] = []
        self._chance: np.random.Generator | None = None

    def fresh(self) -> ThinnedSample:
        """An empty sample with the same room, and with coins of its own."""
        return ThinnedSample(self._room)

    def take(self, cells: Cells, stored: int) -> None:
        """Take rows in."""
        assert isinstance(cells, Numbers)
        raw_rows = cells.raw_values
        self.dtype = raw_rows.dtype
        self.stored += stored
        self.present += raw_rows.size
        while not self.has_room(raw_rows.size):
            self._halve()
        if self.halvings:
            self._hold(raw_rows[self._chosen(raw_rows.size)])
        else:
            self._hold(raw_rows if self._room.views else raw_rows.copy())

    def has_room(self, rows: int) -> bool:
        """Whether `rows` further rows fit in, kept at the present rate; none always do, also into a sample of several places."""
        return not rows or self.size + (rows >> self.halvings) <= self._room.taken

    def absorb(self, other: ThinnedSample) -> None:
        """Put another sample's rows to these, at the lower rate of the two; the other one is used up."""
        self.dtype = other.dtype if self.dtype is None else self.dtype
        self.stored += other.stored
        self.present += other.present
        while self.halvings < other.halvings:
            self._halve()
        while other.halvings < self.halvings:
            other._halve()
        for raw_rows in other._raw_pieces:
            self._hold(raw_rows)
        while self.size > self._room.merged:
            self._halve()

    def chunks(self, dtype: np.dtype[Any]) -> list[NDArray[Any]]:
        """The rows held, in pieces; at least one piece, of the given type where no rows ever came in."""
        return self._raw_pieces or [np.empty(0, dtype=self.dtype or dtype)]

    def _hold(self, raw_rows: NDArray[Any]) -> None:
        if raw_rows.size:
            self._raw_pieces.append(raw_rows)
            self.size += raw_rows.size

    def _halve(self) -> None:
        self.halvings += 1
        if self.size:
            raw_rows = np.concatenate(self._raw_pieces)
            self._raw_pieces = []
            self.size = 0
            self._hold(raw_rows[self._coins().integers(0, 2, raw_rows.size, dtype=np.bool_)])

    def _chosen(self, rows: int) -> NDArray[np.int64]:
        """The places of rows that are kept, by the gaps between them."""
        rate = 0.5**self.halvings
        expected = rows * rate
        gaps = self._coins().geometric(rate, int(expected + 4 * expected**0.5) + 8)
        places: NDArray[np.int64] = np.cumsum(gaps) - 1
        if places[-1] < rows:  # the last row that was reached comes early: go on from there
            places = np.concatenate([places, places[-1] + 1 + self._chosen(rows - int(places[-1]) - 1)])
        return places[: np.searchsorted(places, rows)]

    def _coins(self) -> np.random.Generator:
        if self._chance is None:
            self._chance = np.random.default_rng(int.from_bytes(urandom(16), "little"))
        return self._chance

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_chance": None}  # no two copies may flip the same coins
