"""Blocks of rows by coins: every row picks one of a public number of blocks, whatever the other rows do.

Claim      Given its coins, a row added, removed or changed touches the rows of one block, and no other block changes at all
Neighbors  ADD_REMOVE and CHANGE_ONE alike; the number of rows may be private, the number of blocks is public
Why        A row's coin looks at no row, so two neighbouring tables can be given the same coins for the rows that they share. Rows
           keep their order within a block. Blocks by position, or of a fixed size, do not have this: one row more moves others
Numerics   Exact coins. `sums` adds up the rows of a block one after the other, so that a block's sum is the same number whatever
           the other blocks hold
Source     Dwork & Roth 2014, section 7.1, with coins in place of equal parts: docs/errata.md#estimator-blocks
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.coins import uniform_indices

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowBlocks:
    """Rows by columns, and the block that each row is in; blocks may be empty."""

    raw_rows: Floats
    raw_places: NDArray[np.int64]
    """For each row the number of its block, from 0."""
    blocks: int
    """How many blocks there are; public."""

    @cached_property
    def raw_counts(self) -> Floats:
        """The number of rows in each block."""
        return np.bincount(self.raw_places, minlength=self.blocks).astype(np.float64)

    def sums(self, raw_values: Floats) -> Floats:
        """The sum of a number of each row over every block; 0 where a block has no rows."""
        return np.asarray(np.bincount(self.raw_places, raw_values, self.blocks), dtype=np.float64)

    def means(self, raw_values: Floats) -> Floats:
        """The mean of a number of each row over every block; NaN where a block has no rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums(raw_values) / self.raw_counts

    def of_rows(self, raw_by_block: Floats) -> Floats:
        """For each row what its block has."""
        return raw_by_block[self.raw_places]

    @cached_property
    def raw_pieces(self) -> list[NDArray[np.int64]]:
        """For each block the numbers of its rows, in their order."""
        order = np.argsort(self.raw_places, kind="stable")
        ends = np.searchsorted(self.raw_places[order], np.arange(1, self.blocks))
        return np.split(order, ends)


def toss_blocks(raw_rows: Floats, blocks: int, rng: RandomSource) -> RowBlocks:
    """The rows, each in the block that its own coin picked."""
    return RowBlocks(raw_rows, uniform_indices(blocks, len(raw_rows), rng), blocks)
