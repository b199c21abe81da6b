"""Uniform order statistics, drawn only where they are asked for.

What is known of a table is kept as knots on the unit line: a knot is a drawn row, or a place at which the rows below have been
counted. Between two knots the number of rows is known; they are independent and uniform. So a rank between two knots is a Beta
variable, a run of ranks is its two ends and sorted uniforms between them, and a count below a place is binomial. In whatever
order, the answers have jointly the law of a sorted sample, up to the rounding of floats.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError

MOST_DRAWN = 2_000_000
"""Rows of one table that are drawn at most."""

_SMALLEST, _LARGEST = math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)


class DrawnUniforms:
    """A sorted random sample; each part of it is drawn when it is first asked for, and kept."""

    def __init__(self, rows: int, generator: np.random.Generator) -> None:
        self.rows = rows
        self._generator = generator
        self._places = np.array([0.0, 1.0])
        self._below = np.array([0, rows], dtype=np.int64)  # rows strictly below each knot
        self._up_to = np.array([0, rows], dtype=np.int64)  # rows below or at it: one more where the knot is a row

    @property
    def drawn(self) -> int:
        """How many rows have been drawn."""
        return int(np.count_nonzero(self._up_to > self._below))

    def between(self, first: int, last: int) -> NDArray[np.float64]:
        """The order statistics of rank `first` to `last`."""
        refuse_too_many(last - first + 1)
        gap_first, gap_last = np.maximum(self._up_to[:-1] + 1, first), np.minimum(self._below[1:], last)
        for gap in np.flatnonzero(gap_first <= gap_last)[::-1].tolist():  # from the right, so that positions stay true
            self._draw_rows(gap, int(gap_first[gap]), int(gap_last[gap]))
        is_row = self._up_to > self._below
        wanted = is_row & (self._up_to >= first) & (self._up_to <= last)
        return self._places[wanted]

    def below(self, place: float) -> int:
        """How many rows are strictly below a place."""
        if not 0 < place < 1:
            return self.rows if place >= 1 else 0
        right = int(np.searchsorted(self._places, place, side="left"))
        known, hidden = int(self._up_to[right - 1]), int(self._below[right] - self._up_to[right - 1])
        low, high = float(self._places[right - 1]), float(self._places[right])
        if not hidden or place == high:
            return known + hidden
        count = known + int(self._generator.binomial(hidden, (place - low) / (high - low)))
        self._insert(right, np.array([place]), np.array([count]), np.array([count]))
        return count

    def _draw_rows(self, gap: int, first: int, last: int) -> None:
        """Draw a run of ranks that all lie between the knots `gap` and `gap + 1`."""
        low, high = self._places[gap], self._places[gap + 1]
        before, end = int(self._up_to[gap]), int(self._below[gap + 1])
        start = low + (high - low) * self._generator.beta(first - before, end - first + 1)
        stop, inside = start, np.empty(0)
        if last > first:
            stop = start + (high - start) * self._generator.beta(last - first, end - last + 1)
            inside = start + (stop - start) * np.sort(self._generator.random(last - first - 1))
        run = np.concatenate([[start], inside, [stop][: last - first]])
        ranks = np.arange(first, last + 1, dtype=np.int64)
        self._insert(gap + 1, in_unit_interval(run), ranks - 1, ranks)

    def _insert(self, position: int, places: NDArray[np.float64], below: NDArray[np.int64], up_to: NDArray[np.int64]) -> None:
        self._places = np.concatenate([self._places[:position], places, self._places[position:]])
        self._below = np.concatenate([self._below[:position], below, self._below[position:]])
        self._up_to = np.concatenate([self._up_to[:position], up_to, self._up_to[position:]])


class EvenUniforms:
    """The most regular sample there is: rank k lies at (k - 1/2) / rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.drawn = 0

    def between(self, first: int, last: int) -> NDArray[np.float64]:
        """The order statistics of rank `first` to `last`."""
        refuse_too_many(last - first + 1)
        return (np.arange(first, last + 1) - 0.5) / self.rows

    def below(self, place: float) -> int:
        """How many are strictly below a place."""
        if not self.rows or not 0 < place < 1:
            return self.rows if place >= 1 else 0
        first = max(1, int(place * self.rows) - 1)  # the float product may be off by one
        return first - 1 + int(np.searchsorted(self.between(first, min(self.rows, first + 4)), place))


Uniforms = DrawnUniforms | EvenUniforms
"""A sorted sample of the unit interval."""


def in_unit_interval(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same places, none of them at an end."""
    return np.clip(places, _SMALLEST, _LARGEST)


def refuse_too_many(rows: int) -> None:
    """Raise where more rows of one table are asked for than are ever drawn."""
    if rows > MOST_DRAWN:
        raise InvalidParameterError(
            f"this question reads more than {MOST_DRAWN:,} rows of a table, and plan draws no more than that: "
            f"plan it with n up to {MOST_DRAWN:,}; where it is a quantile, a larger epsilon also helps."
        )
