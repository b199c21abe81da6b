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

    def between(self, begin: int, end: int) -> Marks:
        """Those from number `begin` on and before number `end`."""
        return Marks(
            self.raw_counts[begin:end],
            lambda index: self.span(begin + index),
            self.lengths[begin:end],
            self.gaps[begin : max(begin, end - 1)],
            self.starts[begin:end],
            self.ends[begin:end],
            self.doubt,
        )

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
        self.hidden = ([0] if hidden_below else []) + ([2 * count] if hidden_above else [])
        """Which of the pieces between marks are hidden."""
        self.masses = np.empty(2 * count + 1)
        self.masses[1::2] = marks.lengths
        self.masses[2:-1:2] = marks.gaps
        for place in {0, 2 * count}:
            self.masses[place] = float(self._stop(place) - self._start(place))
        self.boosted_masses: Floats = np.zeros(0)
        self.boosted_places: Integers = np.zeros(0, dtype=np.int64)
        """Which of the pieces between marks the boosted ones are parts of."""
        self._stretches: list[tuple[int, Stretch]] = []

    def boosted(self, stretches: Sequence[Stretch]) -> CutLine:
        """The same pieces with those of the stretches."""
        low, high = self._low, self._high
        cut = list(stretches)
        if any(start < low or end > high or start >= end for start, end, _ in cut):
            cut = [Stretch(max(low, start), min(high, end), boost) for start, end, boost in cut]
            cut = [stretch for stretch in cut if stretch.start < stretch.end]
        if not cut:
            return self
        found = self._marks.pieces_at([start for start, _, _ in cut] + [end - 1 for _, end, _ in cut])
        firsts, lasts = found[: len(cut)], found[len(cut) :]
        sizes = np.array(lasts, dtype=np.int64) - np.array(firsts, dtype=np.int64) + 1
        begins = np.cumsum(sizes) - sizes
        places = np.arange(begins[-1] + sizes[-1]) - np.repeat(begins - firsts, sizes)
        masses = self.masses[places] * np.repeat([float(boost) for _, _, boost in cut], sizes)
        masses[begins] = [float((end - start) * boost) for start, end, boost in cut]
        for index in np.flatnonzero(sizes > 1).tolist():
            start, end, boost = cut[index]
            masses[begins[index]] = float((self._stop(firsts[index]) - start) * boost)
            masses[begins[index] + sizes[index] - 1] = float((end - self._start(lasts[index])) * boost)
        result = copy(self)
        result.boosted_masses, result.boosted_places = masses, places
        result._stretches = list(zip((len(self.masses) + begins).tolist(), cut, strict=True))
        return result

    def __len__(self) -> int:
        return len(self.masses) + len(self.boosted_masses)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> list[Piece]: ...
    def __getitem__(self, index: int | slice) -> Piece | list[Piece]:
        """Pieces, exactly."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        beyond = index - len(self.masses)
        place = index if beyond < 0 else int(self.boosted_places[beyond])
        start, stop, boost = self._start(place), self._stop(place), 1
        if beyond >= 0:
            stretch = self._stretches[bisect_right(self._stretches, index, key=lambda known: known[0]) - 1][1]
            start, stop, boost = max(start, stretch.start), min(stop, stretch.end), stretch.boost
        raw_ranks = int(self.raw_below[place]), int(self.raw_up_to[place])
        return Piece(start, stop - start, *raw_ranks, place in self.hidden, boost)

    def _start(self, place: int) -> int:
        """Where a piece between marks starts, exactly."""
        return self._marks.span((place - 1) // 2)[place % 2 == 0] if place else self._low

    def _stop(self, place: int) -> int:
        """Where a piece between marks stops, exactly."""
        return self._marks.span(place // 2)[place % 2] if place < 2 * len(self._marks) else self._high
