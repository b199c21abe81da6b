"""Blocks of rows as families read them: without rows that cannot be, and in groups of a few thousand rows.

A group fits into the processor's cache, for estimates that pass over their rows many times. Rows keep their order within a block,
and nothing is added up across blocks, so that what a block gets does not depend on the blocks that it is grouped with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks

Truths = NDArray[np.bool_]
GROUP_ROWS = 1 << 13


def kept_rows(raw_blocks: RowBlocks, raw_good: Truths) -> RowBlocks:
    """The same blocks without the rows that are not good."""
    if raw_good.all():
        return raw_blocks
    return RowBlocks(raw_blocks.raw_rows[raw_good], raw_blocks.raw_places[raw_good], raw_blocks.blocks)


def finite_rows(raw_blocks: RowBlocks) -> RowBlocks:
    """The same blocks without the rows that hold an infinity."""
    return kept_rows(raw_blocks, np.asarray(np.isfinite(raw_blocks.raw_rows).all(axis=1)))


def lowest(raw_blocks: RowBlocks, raw_values: Floats) -> Floats:
    """The smallest number in each block; inf where it has no rows."""
    raw_lows = np.full(raw_blocks.blocks, np.inf)
    np.minimum.at(raw_lows, raw_blocks.raw_places, raw_values)
    return raw_lows


def vary(raw_blocks: RowBlocks, raw_values: Floats) -> Truths:
    """Whether a block has two rows that differ."""
    return np.asarray(lowest(raw_blocks, raw_values) < -lowest(raw_blocks, -raw_values))


def fit_in_groups(raw_blocks: RowBlocks, parameters: int, fit: Callable[[RowBlocks], Floats]) -> Floats:
    """What `fit` makes of every group, one below the other; NaN in all parameters of a block where one is no finite number."""
    raw_estimates = np.full((raw_blocks.blocks, parameters), np.nan)
    with np.errstate(all="ignore"):
        for first, raw_group in _groups(raw_blocks):
            raw_estimates[first : first + raw_group.blocks] = fit(raw_group)
    return without_halves(raw_estimates)


def without_halves(raw_estimates: Floats) -> Floats:
    """The estimates, with NaN in all parameters of a block where one of them is no finite number."""
    raw_whole = np.asarray(np.isfinite(raw_estimates).all(axis=1))
    return np.where(raw_whole[:, None], raw_estimates, np.nan)


def _groups(raw_blocks: RowBlocks) -> Iterator[tuple[int, RowBlocks]]:
    """Blocks next to each other, with the number of the first."""
    order = np.argsort(raw_blocks.raw_places, kind="stable")
    raw_rows, raw_places = raw_blocks.raw_rows[order], raw_blocks.raw_places[order]
    ends = np.cumsum(raw_blocks.raw_counts).astype(np.int64)
    first, begin = 0, 0
    while first < raw_blocks.blocks:
        last = max(first + 1, int(np.searchsorted(ends, begin + GROUP_ROWS, side="right")))
        end = int(ends[last - 1])
        yield first, RowBlocks(raw_rows[begin:end], raw_places[begin:end] - first, last - first)
        first, begin = last, end
