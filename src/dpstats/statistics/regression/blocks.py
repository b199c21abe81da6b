"""Random blocks of rows: a public number of slots, each with one row or none, in blocks of as many slots as a vote takes.

Claim      Given the number of slots, the slots of two neighbouring tables can be filled together, each by its own law, so that
           they differ in one slot at most; so one row changes one block
Neighbors  ADD_REMOVE and CHANGE_ONE alike, a row that becomes missing included
Why        Rows are put into slots uniformly at random, and those are left out for which there is no slot. A further row takes an
           empty slot, or where there is none it takes that of another row, or is left out itself: nobody else moves. Blocks by
           position, and a permutation of all rows in complete blocks, do not have this: see docs/errata.md#permutation-blocks
Numerics   Exactly uniform: slots are filled by the order of 64-bit words, which are drawn again where two of them are equal
Source     blocks.proof.md; Dwork & Lei 2009, section 5, for a public number of rows
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_words

EMPTY = -1
MOST_CELLS = 1 << 27
"""Numbers in all slots together: a gigabyte."""
MOST_SLOTS = 1 << 25
"""A noisy number of rows may be far too large where epsilon is tiny; beyond this many slots nothing is gained."""


def fill_blocks(raw_matrix: NDArray[np.float64], blocks: int, size: int, rng: RandomSource) -> NDArray[np.float64]:
    """The rows in `blocks` blocks of `size` slots, as (blocks, size, columns); a slot without a row has NaN in all columns."""
    raw_filled = np.full((blocks * size, raw_matrix.shape[1]), np.nan)
    raw_slots = fill_slots(len(raw_matrix), blocks * size, rng)
    raw_filled[raw_slots != EMPTY] = raw_matrix[raw_slots[raw_slots != EMPTY]]
    return raw_filled.reshape(blocks, size, raw_matrix.shape[1])


def fill_slots(raw_rows: int, slots: int, rng: RandomSource) -> NDArray[np.int64]:
    """For each slot the number of the row in it, or EMPTY: uniform over all ways to use as many slots and rows as can be."""
    raw_order = random_order(max(raw_rows, slots), rng)[:slots]
    return np.where(raw_order < raw_rows, raw_order, EMPTY)


def random_order(count: int, rng: RandomSource) -> NDArray[np.int64]:
    """A uniform permutation of the numbers from 0 to count - 1."""
    while True:
        words = random_words(rng, count)
        order = np.argsort(words)
        ascending = words[order]
        if (ascending[1:] != ascending[:-1]).all():
            return order.astype(np.int64, copy=False)
