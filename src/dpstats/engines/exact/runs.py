"""Runs: ascending distinct values, each with the number of rows that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Runs:
    """Distinct values and their counts; `below` rows of the same collection are smaller than all of them."""

    below: int
    values: NDArray[Any]
    counts: NDArray[np.int64]


def runs_of_sorted(ordered: NDArray[Any], first: int, last: int) -> Runs:
    """The runs of a sorted array that touch the ranks `first` to `last`, counted from 1; whole runs, so no tie is cut."""
    wanted = ordered[first - 1 : last]
    if not wanted.size:
        return Runs(first - 1, wanted.copy(), np.zeros(0, dtype=np.int64))
    below = int(np.searchsorted(ordered, wanted[0], side="left"))
    end = int(np.searchsorted(ordered, wanted[-1], side="right"))
    return _runs_within(wanted, ties_before=first - 1 - below, ties_after=end - last, below=below)


def runs_of_unsorted(rows: NDArray[Any], first: int, last: int) -> Runs:
    """As `runs_of_sorted` for an array in any order, which is reordered in place."""
    rows.partition((first - 1, last - 1))
    wanted = rows[first - 1 : last]
    wanted.sort()
    ties_before = int(np.count_nonzero(rows[: first - 1] == wanted[0]))
    ties_after = int(np.count_nonzero(rows[last:] == wanted[-1]))
    return _runs_within(wanted, ties_before, ties_after, below=first - 1 - ties_before)


def merge_runs(pieces: Sequence[Runs]) -> Runs:
    """The runs of all pieces together."""
    values = np.concatenate([piece.values for piece in pieces])
    order = np.argsort(values)
    values, counts = values[order], np.concatenate([piece.counts for piece in pieces])[order]
    starts = _starts(values)
    return Runs(0, values[starts], np.add.reduceat(counts, starts))


def runs_between(runs: Runs, first: int, last: int) -> Runs:
    """The runs that touch the ranks `first` to `last`."""
    ends = np.cumsum(runs.counts)
    start, stop = np.searchsorted(ends, (first, last), side="left")
    return Runs(int(ends[start] - runs.counts[start]), runs.values[start : stop + 1], runs.counts[start : stop + 1])


def _runs_within(wanted: NDArray[Any], ties_before: int, ties_after: int, below: int) -> Runs:
    starts = _starts(wanted)
    bounds = np.empty(starts.size + 1, dtype=np.int64)
    bounds[:-1], bounds[-1] = starts, wanted.size
    counts = bounds[1:] - bounds[:-1]
    counts[0] += ties_before
    counts[-1] += ties_after
    return Runs(below, wanted[starts] + wanted.dtype.type(0), counts)  # + 0 turns -0.0 into 0.0


def _starts(ordered: NDArray[Any]) -> NDArray[np.int64]:
    changes = np.empty(ordered.size, dtype=np.bool_)
    changes[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return np.flatnonzero(changes)
