"""Blocks: the rows of a column in memory, walked in pieces that stay in the processor's cache.

A column is a list of chunks, one-dimensional numpy arrays of one number type. NaN is a missing row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 19
LARGEST_BLOCK = 1 << 17

Chunks = Sequence[NDArray[Any]]


def block_rows(dtype: np.dtype[Any]) -> int:
    """Rows in a full block of that type."""
    return min(LARGEST_BLOCK, BLOCK_BYTES // dtype.itemsize)


def walk_blocks(chunks: Chunks) -> Iterator[NDArray[Any]]:
    """Every row once, in contiguous blocks; a block is a view where the chunk is contiguous."""
    for chunk in chunks:
        step = block_rows(chunk.dtype)
        for start in range(0, chunk.size, step):
            yield np.ascontiguousarray(chunk[start : start + step])


def can_be_missing(dtype: np.dtype[Any]) -> bool:
    """Whether a type has NaN."""
    return dtype.kind == "f"


def stored_rows(chunks: Chunks) -> int:
    """Rows, missing or not."""
    return sum(chunk.size for chunk in chunks)


def present_rows(chunks: Chunks) -> int:
    """Rows that are not missing."""
    if not can_be_missing(chunks[0].dtype):
        return stored_rows(chunks)
    return sum(int(np.count_nonzero(block == block)) for block in walk_blocks(chunks))


def sort_present(chunks: Chunks) -> NDArray[Any]:
    """A sorted copy of the rows that are not missing."""
    dtype = chunks[0].dtype
    copy = np.empty(present_rows(chunks), dtype=dtype)
    end = 0
    for block in walk_blocks(chunks):
        kept = block[block == block] if can_be_missing(dtype) else block
        copy[end : end + kept.size] = kept
        end += kept.size
    copy.sort()
    return copy
