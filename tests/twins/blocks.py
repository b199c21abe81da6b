"""Broken twins of blocks and ballots: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.statistics.regression.blocks import random_order

Floats = NDArray[np.float64]


def blocks_by_position(raw_matrix: Floats, size: int) -> Floats:
    """Complete blocks of rows as they stand. Mistake: if a row goes, all rows after it move, and many blocks change."""
    raw_blocks = len(raw_matrix) // size
    return raw_matrix[: raw_blocks * size].reshape(raw_blocks, size, -1)


def permuted_blocks(raw_matrix: Floats, size: int, rng: RandomSource) -> Floats:
    """Complete blocks of permuted rows. Mistake: how many there are is taken for a public number."""
    return blocks_by_position(raw_matrix[random_order(len(raw_matrix), rng)], size)


def blocks_with_leftover(raw_matrix: Floats, size: int, rng: RandomSource) -> Floats:
    """Blocks of permuted rows, where rows left over form a block with the first ones. Mistake: those are in two blocks."""
    raw_order = random_order(len(raw_matrix), rng)
    raw_blocks = -(-len(raw_matrix) // size)
    return raw_matrix[np.resize(raw_order, raw_blocks * size)].reshape(raw_blocks, size, -1)


def votes_without_singular(raw_votes: Floats) -> Floats:
    """The votes without those of blocks that determine nothing. Mistake: how many are left is taken for a public number."""
    return raw_votes[~np.isnan(raw_votes).any(axis=1)]
