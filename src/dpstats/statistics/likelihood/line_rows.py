"""Rows of one column in blocks, as the families of laws on the line read them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks

Truths = NDArray[np.bool_]


def column_of(raw_rows: Floats) -> Floats:
    """The one number of each row."""
    return np.ascontiguousarray(raw_rows if raw_rows.ndim == 1 else raw_rows[:, 0])


def keep_rows(raw_blocks: RowBlocks, raw_kept: Truths) -> RowBlocks:
    """The same blocks with some of their rows, in their order."""
    if raw_kept.all():
        return raw_blocks
    return RowBlocks(raw_blocks.raw_rows[raw_kept], raw_blocks.raw_places[raw_kept], raw_blocks.blocks)


def lowest(raw_blocks: RowBlocks, raw_values: Floats) -> Floats:
    """The smallest number in each block; inf where it has no rows."""
    raw_lows = np.full(raw_blocks.blocks, np.inf)
    np.minimum.at(raw_lows, raw_blocks.raw_places, raw_values)
    return raw_lows


def vary(raw_blocks: RowBlocks, raw_values: Floats) -> Truths:
    """Whether a block has two rows that differ."""
    raw_varied: Truths = lowest(raw_blocks, raw_values) < -lowest(raw_blocks, -raw_values)
    return raw_varied


def estimates(space: tuple[tuple[float, float], ...], raw_has_one: Truths, *raw_parameters: Floats) -> Floats:
    """Blocks by parameters: NaN in all where a block has no estimate, or has one that is not inside the space."""
    raw_estimates = np.stack(raw_parameters, axis=1)
    lows, highs = np.array(space).T
    with np.errstate(invalid="ignore"):
        raw_good = np.all((raw_estimates > lows) & (raw_estimates < highs), axis=1) & raw_has_one
    return np.where(raw_good[:, None], raw_estimates, np.nan)


def counted_scores(raw_inside: Truths, *raw_gradients: Floats) -> Floats:
    """Rows by parameters: 0 in all for a row that cannot come from the family, or whose gradient is no number."""
    raw_scores = np.stack(raw_gradients, axis=1)
    raw_good = np.isfinite(raw_scores).all(axis=1) & raw_inside
    return np.where(raw_good[:, None], raw_scores, 0.0)


def row_statistics(raw_inside: Truths, *raw_numbers: Floats) -> Floats:
    """Rows by statistics: NaN in all for a row that cannot come from the family."""
    return np.where(raw_inside[:, None], np.stack(raw_numbers, axis=1), np.nan)


def by_name(parameters: tuple[str, ...], values: Floats) -> Mapping[str, float]:
    """Each parameter under its name."""
    return dict(zip(parameters, np.asarray(values, dtype=np.float64).tolist(), strict=True))
