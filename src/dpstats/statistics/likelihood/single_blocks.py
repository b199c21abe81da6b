"""Estimates of blocks one by one, in worker processes: for estimates that cannot be made of all blocks at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation.evaluation import MadePieces, evaluate
from dpstats.statistics.aggregation.replies import NumbersForm
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks

BlockFit = Callable[[Floats], Sequence[float]]
"""From the rows of a block, flat where they have one column, to a number for each parameter."""


def fit_single_blocks(fit: BlockFit, raw_blocks: RowBlocks, parameters: int, *, seconds: float, workers: int | None) -> Floats:
    """The estimate of each block; NaN in all parameters where it has none, or took too long."""
    raw_rows = raw_blocks.raw_rows[:, 0] if raw_blocks.raw_rows.shape[1] == 1 else raw_blocks.raw_rows
    pieces = MadePieces(raw_blocks.blocks, lambda place: (raw_rows[raw_blocks.raw_pieces[place]],))
    with Progress(raw_blocks.blocks, work="fitting", pieces="blocks") as progress:
        replies = evaluate([fit], pieces, NumbersForm(parameters), seconds=seconds, workers=workers, progress=progress)
    return np.array([(np.nan,) * parameters if reply is None else reply for reply in replies], dtype=np.float64)
