"""Inversions: how many pairs of places hold numbers in descending order, exactly and in O(n log n) comparisons.

As in sorting by merging: places are put into blocks, counted and sorted within, and then two blocks at a time become one. In two
sorted blocks that are sorted together, equal numbers from the left first, the places that the left numbers have gained are the
numbers from the right that stand before them now and stood behind them before: the inversions between the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDEST = 32
"""The first blocks are at most so wide; within them all pairs are compared."""


def count_inversions(raw_codes: NDArray[Any]) -> int:
    """The pairs i < j with raw_codes[i] > raw_codes[j], for whole numbers that are not negative and below 2**62."""
    rows = len(raw_codes)
    if rows < 2:
        return 0
    blocks = 1
    while rows > blocks * _WIDEST:
        blocks *= 2
    width = -(-rows // blocks)
    largest = int(raw_codes.max())  # fills up the end, where it adds no inversion
    raw_keys = np.full(blocks * width, 2 * largest, dtype=np.int32 if largest < 1 << 30 else np.int64)
    raw_keys[:rows] = 2 * raw_codes  # the last bit tells left from right
    return _within(raw_keys.reshape(blocks, width)) + _between(raw_keys, width)


def _within(raw_blocks: NDArray[Any]) -> int:
    """The inversions within blocks, every pair of places compared."""
    width = raw_blocks.shape[1]
    raw_columns = np.ascontiguousarray(raw_blocks.T)
    return sum(int(np.count_nonzero(raw_columns[i] > raw_columns[i + 1 :])) for i in range(width - 1))


def _between(raw_keys: NDArray[Any], width: int) -> int:
    """The inversions between blocks; sorts the keys on the way."""
    total = 0
    raw_keys.reshape(-1, width).sort(axis=1)
    while width < len(raw_keys):
        raw_pairs = raw_keys.reshape(-1, 2 * width)
        raw_pairs[:, width:] += 1
        raw_pairs.sort(axis=1)
        left = np.flatnonzero(raw_keys & 1 == 0)
        pairs = len(raw_pairs)
        total += int(left.sum()) - width * width * pairs * (pairs - 1) - pairs * (width * (width - 1) // 2)
        raw_keys &= -2
        width *= 2
    return total
