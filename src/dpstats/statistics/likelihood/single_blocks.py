"""Estimates of single blocks, for any estimate at all: each in a worker process, freed of its bias of first order by a jackknife.

Why        Let t rows be given, and let an estimate of any t of them have the mean theta + b/t + c/t^2 + O(1/t^3), as a smooth
           estimate of maximum likelihood has (Cox & Snell 1968). With g groups of t/g rows, an estimate without one of them sees
           t (g-1)/g rows. So g times the whole less (g-1) times the mean of those has the mean
               theta (g - (g-1)) + b (g - g)/t + c (g - g^2/(g-1))/t^2 + O(1/t^3)  =  theta - c g/((g-1) t^2) + O(1/t^3):
           the term in 1/t is gone, and that in 1/t^2 has changed its sign and grown by g/(g-1), which is 2 for two groups and 4/3
           for four. Groups whose sizes differ by one move this by O(b/t^3), for the first order of their differences cancels in
           the mean. The variance is the same to first order. Nothing here is true of an estimate whose bias is no such series: an
           end of the support, in most laws, or a parameter near a limit of its space
Privacy    A function of the block's rows alone
Source     Quenouille 1956, Biometrika 43; Miller 1974, Biometrika 61
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation.evaluation import MadePieces, evaluate
from dpstats.statistics.aggregation.replies import NumbersForm
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks

GROUPS = 4

Estimate = Callable[[Floats], Floats]
"""From rows to one number for each parameter; NaN, or any exception, where it has none."""
BlockFit = Callable[[Floats], Sequence[float]]
"""From the rows of a block, flat where they have one column, to a number for each parameter."""


def fit_single_blocks(fit: BlockFit, raw_blocks: RowBlocks, parameters: int, *, seconds: float, workers: int | None) -> Floats:
    """The estimate of each block; NaN in all parameters where it has none, or took too long."""
    raw_rows = raw_blocks.raw_rows[:, 0] if raw_blocks.raw_rows.shape[1] == 1 else raw_blocks.raw_rows
    pieces = MadePieces(raw_blocks.blocks, lambda place: (raw_rows[raw_blocks.raw_pieces[place]],))
    with Progress(raw_blocks.blocks, work="fitting", pieces="blocks") as progress:
        replies = evaluate([fit], pieces, NumbersForm(parameters), seconds=seconds, workers=workers, progress=progress)
    return np.array([(np.nan,) * parameters if reply is None else reply for reply in replies], dtype=np.float64)


def jackknifed(estimate: Estimate, raw_rows: Floats, space: Sequence[tuple[float, float]], groups: int = GROUPS) -> Floats:
    """The estimate of the rows freed of bias; as it is where an estimate without a group fails, or it would leave the space.

    Rows go round the groups by their place, so that rows in some order are spread over all of them. Where there are fewer rows
    than groups, each is a group of its own. It makes groups + 1 estimates.
    """
    raw_whole = np.asarray(estimate(raw_rows), dtype=np.float64)
    groups = min(groups, len(raw_rows))
    if groups < 2 or not np.isfinite(raw_whole).all():
        return raw_whole
    raw_places = np.arange(len(raw_rows)) % groups
    raw_parts = [_or_nothing(estimate, raw_rows[raw_places != place], len(raw_whole)) for place in range(groups)]
    raw_freed: Floats = groups * raw_whole - (groups - 1) * np.mean(raw_parts, axis=0)
    return raw_freed if is_inside(raw_freed, space) else raw_whole


def is_inside(raw_estimate: Floats, space: Sequence[tuple[float, float]]) -> bool:
    """Whether all parameters are finite and strictly between their limits."""
    low, high = np.array(space).T
    return bool((np.isfinite(raw_estimate) & (raw_estimate > low) & (raw_estimate < high)).all())


def _or_nothing(estimate: Estimate, raw_rows: Floats, parameters: int) -> Floats:
    """An estimate, or NaN where it fails."""
    try:
        raw_part = np.asarray(estimate(raw_rows), dtype=np.float64)
    except Exception:  # whatever an analyst's function does; the block has its plain estimate
        return np.full(parameters, np.nan)
    return raw_part if raw_part.shape == (parameters,) else np.full(parameters, np.nan)
