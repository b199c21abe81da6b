"""Selection: exact windows of order statistics, and exact ranks, of rows in memory.

Sample, bracket, one pass: a sample of about n^(2/3) rows gives two values a few standard deviations outside the wanted
ranks; one pass over cache-sized blocks counts the rows outside and collects the few strictly between. The sample decides
how long this takes, never what comes out: the counts of the pass are exact, and when they show that a wanted rank escaped,
the bracket is widened once, and after that the rows are sorted.

Windows are trimmed to the values that touch the requested ranks. Where a request names no rank at all, because its margin
is 0 and its target falls between two rows, the window covers the rows on either side of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import Chunks, block_rows, can_be_missing, present_rows, stored_rows, walk_blocks
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.runs import runs_of_sorted
from dpstats.engines.exact.samples import Positions, Sample, random_positions
from dpstats.foundations.summaries import OrderWindow, WindowRequest

SLACKS = (3.5, 14.0)
"""Standard deviations of room outside the wanted ranks: at first, and after a miss."""
LARGEST_SHARE = 0.5
"""Share of the rows to collect from which on sorting all is as good."""
EXPECTED_SHARE = 1 / 8
"""Share of the rows that are not collected for a window that is only expected."""
UNCOUNTED_ROWS = 1 << 17
"""Rows that a pass may collect, or a 32nd of all rows if that is more, before it tries to count ties instead."""


def covered_ranks(request: WindowRequest, raw_rows: int) -> tuple[int, int]:
    """First and last rank that a window covers, counted from 1; (1, 0) when there are no rows."""
    first, last = request.ranks(raw_rows)
    if first <= last or not raw_rows:
        return first, last
    return max(1, min(last, raw_rows)), min(raw_rows, max(first, 1))


def windows_by_brackets(
    chunks: Chunks,
    requests: Sequence[WindowRequest],
    positions: Positions = random_positions,
    expected: Sequence[WindowRequest] = (),
    kept: list[Bracket] | None = None,
) -> list[OrderWindow] | None:
    """One exact window per request from one pass over the rows, or None where sorting them is the better way.

    The pass collects narrow windows that are only expected, too; `kept` is a list to which all its brackets are added.
    """
    for slack in SLACKS:
        sample = Sample(chunks, positions)
        if not sample.size:
            return None
        around = [sample.around(request, slack) for request in [*requests, *expected]]
        sample.order({rank for ranks in around for rank in ranks})
        limit = max(UNCOUNTED_ROWS, stored_rows(chunks) >> 5)
        brackets = [Bracket(sample, ranks, Pile(limit)) for ranks in around]
        wanted, further = brackets[: len(requests)], brackets[len(requests) :]
        if sum(bracket.expected_share for bracket in wanted) > LARGEST_SHARE:
            return None
        brackets = wanted + [bracket for bracket in further if bracket.expected_share < EXPECTED_SHARE]
        raw_rows = _scan(chunks, brackets)
        windows = []
        for bracket, request in zip(wanted, requests, strict=True):
            window = bracket.window(covered_ranks(request, raw_rows), raw_rows)
            if window is None:
                break
            windows.append(window)
        else:
            if kept is not None:
                kept += brackets
            return windows
    return None


def windows_of_sorted(raw_sorted: NDArray[Any], requests: Sequence[WindowRequest]) -> list[OrderWindow]:
    """One window per request from sorted rows."""
    rows = raw_sorted.size
    found = [runs_of_sorted(raw_sorted, *covered_ranks(request, rows)) for request in requests]
    return [OrderWindow(rows, runs.below, runs.values, runs.counts) for runs in found]


def counts_below(chunks: Chunks, cuts: Sequence[float | int]) -> list[int]:
    """For each cut the number of rows strictly below it, by exact comparison, in one pass over the rows."""
    dtype = chunks[0].dtype
    edges = [edge_at(cut, dtype) for cut in cuts]
    room = np.empty(block_rows(dtype), dtype=np.bool_)
    below = [0] * len(edges)
    for block in walk_blocks(chunks):
        mask = room[: block.size]
        for index, edge in enumerate(edges):
            if edge is not None:
                below[index] += int(np.count_nonzero(np.less(block, edge, out=mask)))
    return [present_rows(chunks) if edge is None else count for edge, count in zip(edges, below, strict=True)]


def counts_below_of_sorted(raw_sorted: NDArray[Any], cuts: Sequence[float | int]) -> list[int]:
    """For each cut the number of sorted rows strictly below it."""
    edges = [edge_at(cut, raw_sorted.dtype) for cut in cuts]
    return [raw_sorted.size if edge is None else int(np.searchsorted(raw_sorted, edge)) for edge in edges]


def _scan(chunks: Chunks, brackets: Sequence[Bracket]) -> int:
    """Show every block to every bracket; the number of rows that are not missing."""
    dtype = chunks[0].dtype
    mask, other = np.empty((2, block_rows(dtype)), dtype=np.bool_)
    raw_rows = 0
    for block in walk_blocks(chunks):
        size = block.size
        raw_rows += int(np.count_nonzero(np.equal(block, block, out=mask[:size]))) if can_be_missing(dtype) else size
        for bracket in brackets:
            bracket.scan(block, mask[:size], other[:size])
    return raw_rows
