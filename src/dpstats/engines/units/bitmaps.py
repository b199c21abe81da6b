"""A bitmap: one bit for each row of a table whose length is not known beforehand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 20  # rows in a block


class Bitmap:
    """Marked places among the natural numbers, none at first. Blocks without a marked place take no room."""

    def __init__(self) -> None:
        self._raw_blocks: dict[int, NDArray[np.uint8]] = {}

    @property
    def raw_empty(self) -> bool:
        """Whether no place is marked."""
        return not self._raw_blocks

    def mark(self, raw_places: NDArray[np.int64]) -> None:
        """Mark some places; those that are marked stay so."""
        if not raw_places.size:
            return
        raw_ordered = np.sort(raw_places, kind="stable")  # which takes little where they are in order already
        raw_numbers = range(int(raw_ordered[0]) // _BLOCK, int(raw_ordered[-1]) // _BLOCK + 1)
        raw_starts = np.searchsorted(raw_ordered, np.array([*raw_numbers, raw_numbers.stop]) * _BLOCK)
        for number, start, end in zip(raw_numbers, raw_starts[:-1], raw_starts[1:], strict=True):
            if start < end:
                raw_flags = np.zeros(_BLOCK, dtype=np.bool_)
                raw_flags[raw_ordered[start:end] - number * _BLOCK] = True
                raw_bits = np.packbits(raw_flags)
                self._raw_blocks[number] = raw_bits | self._raw_blocks[number] if number in self._raw_blocks else raw_bits

    def marked(self, start: int, end: int) -> NDArray[np.bool_] | None:
        """Which of the places from `start` to before `end` are marked; None where none is."""
        found = np.zeros(end - start, dtype=np.bool_)
        for number in range(start // _BLOCK, -(-end // _BLOCK)):
            if number in self._raw_blocks:
                offset = number * _BLOCK
                first, last = max(start, offset), min(end, offset + _BLOCK)
                whole_bytes = self._raw_blocks[number][(first - offset) // 8 : -(-(last - offset) // 8)]
                bits = np.unpackbits(whole_bytes)[(first - offset) % 8 :][: last - first]
                found[first - start : last - start] = bits
        return found if found.any() else None
