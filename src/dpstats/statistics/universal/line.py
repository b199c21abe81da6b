"""The line of public mass, cut at the rows of a window: any piece of it exactly, and the masses of all of them as floats.

Positions on the line are integers of more than a hundred bits. A draw needs one piece exactly, and the others only well enough to
tell that they were not meant; so masses are floats, each within MASS_ERROR of its exact value.

Source     draw.proof.md, section on floats
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT_ROUNDOFF = 2.0**-53
MASS_ERROR = 10 * UNIT_ROUNDOFF
"""The most by which a float mass misses the exact one, relatively."""
PLACE_ERROR = 16 * UNIT_ROUNDOFF
"""Twice the most by which the float positions of marks miss the exact ones, as a part of the length of the whole line."""


class Piece(NamedTuple):
    """A stretch of the line on which the rank is constant; hidden ones lie outside the window and are clipped."""

    start: int
    length: int
    raw_below: int
    raw_up_to: int
    hidden: bool = False
    boost: int = 1
    """The public factor by which every place in the piece weighs more than the line's own measure says."""


class Stretch(NamedTuple):
    """A public stretch [start, end) of the line that gets further mass: `boost` times its length."""

    start: int
    end: int
    boost: int


@dataclass(frozen=True)
class Marks:
    """Stretches of the line that rows own, ascending and without overlap, and how many rows own each.

    Lengths and gaps are within MASS_ERROR less two roundings.
    """

    raw_counts: Integers
    span: Callable[[int], tuple[int, int]]
    """Where one of them starts and ends, exactly."""
    lengths: Floats
    gaps: Floats
    """From the end of each to the start of the next one: one fewer than there are marks."""
    starts: Floats
    ends: Floats
    """About where they start and end, ascending."""
    doubt: float
    """Twice the most by which `starts` and `ends` are wrong."""

    @classmethod
    def listed(cls, spans: Sequence[tuple[int, int]], raw_counts: Sequence[int]) -> Marks:
        """Stretches [start, end) that are listed one by one."""

        def floats(numbers: Iterable[int]) -> Floats:
            return np.array([float(number) for number in numbers])

        return cls(
            raw_counts=np.array(raw_counts, dtype=np.int64),
            span=spans.__getitem__,
            lengths=floats(end - start for start, end in spans),
            gaps=floats(after - before for (_, before), (after, _) in pairwise(spans)),
            starts=floats(start for start, _ in spans),
            ends=floats(end for _, end in spans),
            doubt=max((end for _, end in spans), default=0) * PLACE_ERROR,
        )

    def __len__(self) -> int:
        return len(self.raw_counts)

    def pieces_at(self, positions: Sequence[int]) -> list[int]:
        """For each position the number of marks that start at or before it, plus the number that end at or before it: 2 i in the
        gap before mark i, 2 i + 1 inside it."""
        about = np.array([float(position) for position in positions])
        totals = [0] * len(positions)
        for side, floats in enumerate((self.starts, self.ends)):
            lows = np.searchsorted(floats, about - self.doubt, side="left").tolist()
            highs = np.searchsorted(floats, about + self.doubt, side="right").tolist()
            for index, (low, high) in enumerate(zip(lows, highs, strict=True)):
                if low < high:
                    low = bisect_right(range(high), positions[index], low, key=lambda mark: self.span(mark)[side])
                totals[index] += low
        return totals


class CutLine(Sequence[Piece]):
    """The line [low, high) cut at marks, and once more those parts of it that lie in a stretch, with its boost.

    `raw_below` rows lie below the first mark. `hidden_below` says that rows of the data which are not among the marks lie left of
    them, `hidden_above` right of them. Pieces are gap, mark, gap, ..., mark, gap; then those of each stretch, cut to it. Pieces
    without length are among them, with mass 0.
    """

    def __init__(
        self, low: int, high: int, marks: Marks, raw_below: int, *, hidden_below: bool = False, hidden_above: bool = False
    ) -> None:
        self._low, self._high = low, high
        self._marks = marks
        count = len(marks)
        raw_ranks = np.repeat(np.cumsum(np.append(raw_below, marks.raw_counts)), 2)
        self.raw_below, self.raw_up_to = raw_ranks[:-1], raw_ranks[1:]
        self.hidden = np.zeros(2 * count + 1, dtype=bool)
        self.hidden[0] |= hidden_below
        self.hidden[-1] |= hidden_above
        self.masses = np.empty(2 * count + 1)
        self.masses[1::2] = marks.lengths
        self.masses[2:-1:2] = marks.gaps
        for place in {0, 2 * count}:
            self.masses[place] = float(self._stop(place) - self._start(place))
        self.places = np.arange(2 * count + 1)
        """Which of the pieces between marks each piece is a part of."""
        self._stretches: list[tuple[int, Stretch]] = []

    def boosted(self, stretches: Sequence[Stretch]) -> CutLine:
        """The same pieces with those of the stretches."""
        cut = [Stretch(max(self._low, start), min(self._high, end), boost) for start, end, boost in stretches]
        cut = [stretch for stretch in cut if stretch.start < stretch.end]
        if not cut:
            return self
        firsts = self._marks.pieces_at([stretch.start for stretch in cut])
        lasts = self._marks.pieces_at([stretch.end - 1 for stretch in cut])
        sizes = np.array(lasts, dtype=np.int64) - firsts + 1
        begins = np.cumsum(sizes) - sizes
        places = np.arange(begins[-1] + sizes[-1]) - np.repeat(begins - firsts, sizes)
        masses = self.masses[places] * np.repeat([float(stretch.boost) for stretch in cut], sizes)
        for stretch, first, last, begin in zip(cut, firsts, lasts, begins.tolist(), strict=True):
            if first == last:
                masses[begin] = float((stretch.end - stretch.start) * stretch.boost)
            else:
                masses[begin] = float((self._stop(first) - stretch.start) * stretch.boost)
                masses[begin + last - first] = float((stretch.end - self._start(last)) * stretch.boost)
        result = copy(self)
        result.masses, result.places = np.concatenate([self.masses, masses]), np.concatenate([self.places, places])
        result._stretches = [(len(self.masses) + begin, stretch) for begin, stretch in zip(begins.tolist(), cut, strict=True)]
        return result

    def __len__(self) -> int:
        return len(self.masses)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> list[Piece]: ...
    def __getitem__(self, index: int | slice) -> Piece | list[Piece]:
        """Pieces, exactly."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        place = int(self.places[index])
        start, stop, boost = self._start(place), self._stop(place), 1
        if index >= len(self.hidden):
            stretch = self._stretches[bisect_right(self._stretches, index, key=lambda known: known[0]) - 1][1]
            start, stop, boost = max(start, stretch.start), min(stop, stretch.end), stretch.boost
        raw_ranks = int(self.raw_below[place]), int(self.raw_up_to[place])
        return Piece(start, stop - start, *raw_ranks, bool(self.hidden[place]), boost)

    def _start(self, place: int) -> int:
        """Where a piece between marks starts, exactly."""
        return self._marks.span((place - 1) // 2)[place % 2 == 0] if place else self._low

    def _stop(self, place: int) -> int:
        """Where a piece between marks stops, exactly."""
        return self._marks.span(place // 2)[place % 2] if place < 2 * len(self._marks) else self._high
