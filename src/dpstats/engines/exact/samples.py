"""A sample: random rows of a column, which guide the search for a window and decide nothing.

Positions come from the operating system, so that nobody can lay out rows that make the sample miss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from os import urandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import Chunks, can_be_missing, stored_rows
from dpstats.foundations.summaries import WindowRequest

SIZE_FACTOR = 1.5
"""Rows drawn are this many times n^(2/3), where drawing them and sifting what they bracket cost about the same."""

Positions = Callable[[int, int], NDArray[np.int64]]


def random_positions(rows: int, count: int) -> NDArray[np.int64]:
    """`count` random positions below `rows`."""
    words = np.frombuffer(urandom(4 * count), dtype=np.uint32)
    return (words * (rows / 2.0**32)).astype(np.int64)


class Sample:
    """Random rows of a column without the missing ones, and the number of rows that they stand for."""

    def __init__(self, chunks: Chunks, positions: Positions = random_positions) -> None:
        stored = stored_rows(chunks)
        drawn = int(SIZE_FACTOR * stored ** (2 / 3)) + 1
        raw_rows = _rows_at(chunks, positions(stored, drawn))
        if can_be_missing(raw_rows.dtype):
            raw_rows = raw_rows[raw_rows == raw_rows]
        self.raw_rows = raw_rows
        self.size = raw_rows.size
        self._stands_for: float = stored * self.size / drawn

    @classmethod
    def of_rows(cls, raw_rows: NDArray[Any], stands_for: int) -> Sample:
        """A sample that was drawn elsewhere from `stands_for` rows; it owns the array, and none of it is missing."""
        sample = cls.__new__(cls)
        sample.raw_rows, sample.size, sample._stands_for = raw_rows, raw_rows.size, stands_for
        return sample

    def around(self, request: WindowRequest, slack: float) -> tuple[int, int]:
        """Ranks from 0 in the sample, `slack` standard deviations outside the request; beyond the sample if need be."""
        margin = (request.margin + 1) / self._stands_for
        start, end = (min(max(float(request.quantile) + side, 0.0), 1.0) for side in (-margin, margin))
        first = start * self.size - slack * self._deviation(start, margin)
        last = end * self.size + slack * self._deviation(end, margin)
        return math.floor(first), math.ceil(last)

    def _deviation(self, share: float, margin: float) -> float:
        """That of a rank, that of the row count as far as the margin depends on it, and one row for tiny shares."""
        return math.sqrt(self.size * share * (1 - share)) + margin * math.sqrt(self.size) + 1

    def order(self, ranks: set[int]) -> None:
        """Put the rows of those ranks in their places; ranks outside the sample are passed over."""
        inner = sorted(rank for rank in ranks if 0 <= rank < self.size)
        if inner:
            self.raw_rows.partition(inner)

    def share_between(self, low: Any, high: Any) -> float:
        """The share of the sample strictly between two values."""
        return float(np.count_nonzero((self.raw_rows > low) & (self.raw_rows < high)) / max(self.size, 1))

    def is_tied(self, value: Any) -> bool:
        """Whether the sample holds a value more than once."""
        return bool(np.count_nonzero(self.raw_rows == value) > 1)


def _rows_at(chunks: Chunks, positions: NDArray[np.int64]) -> NDArray[Any]:
    """The rows at those positions, in any order, as a copy."""
    if len(chunks) == 1:
        return chunks[0][positions]
    ends = np.cumsum([chunk.size for chunk in chunks])
    ordered = np.sort(positions)
    split = np.split(ordered, np.searchsorted(ordered, ends[:-1]))
    return np.concatenate([chunk[part - (end - chunk.size)] for chunk, part, end in zip(chunks, split, ends, strict=True)])
