"""Released degrees: a `DegreeDistribution`, or a `DegreeSequence`, with a band where there is one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpstats.foundations.text_tables import counted

Runs = tuple[tuple[int, int], ...]
"""Degrees, ascending, each with how many nodes have it."""


@dataclass(frozen=True)
class DegreeDistribution:
    """How many nodes have at most so many edges: `at_most[i]` of about `nodes` nodes have at most `degrees[i]` edges.

    Between listed degrees nothing changes: the numbers hold up to the next listed degree.
    """

    nodes: float
    degrees: tuple[int, ...]
    at_most: tuple[float, ...]
    low: tuple[float, ...] = ()
    """Lower ends of the band, where there is one; it holds all numbers at once."""
    high: tuple[float, ...] = ()
    limit: int | None = None
    """Degrees from here on were not told apart; None where all were."""

    def __call__(self, degree: float) -> float:
        """The part of the nodes that have at most `degree` edges."""
        place = bisect_right(self.degrees, degree)
        if place == 0 or not self.nodes:
            return 0.0
        return min(self.at_most[place - 1] / self.nodes, 1.0)

    def quantile(self, part: float) -> int:
        """The smallest listed degree that at least `part` of the nodes do not exceed; the last one where none is so large."""
        place = bisect_left(self.at_most, part * self.nodes)
        return self.degrees[min(place, len(self.degrees) - 1)]

    def __str__(self) -> str:
        if not self.degrees:
            return "no nodes"
        shown = ", ".join(f"{part:g} of nodes up to {self.quantile(part)}" for part in (0.25, 0.5, 0.75, 0.9))
        beyond = f"; degrees from {self.limit} on are not told apart" if self.limit is not None else ""
        return f"degrees of about {self.nodes:,.6g} nodes: {shown}{beyond}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        listed = {name: list(getattr(self, name)) for name in ("degrees", "at_most", "low", "high")}
        return {"nodes": self.nodes, **listed, "limit": self.limit}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DegreeDistribution:
        """What `to_dict` wrote."""
        listed = {name: tuple(plain[name]) for name in ("degrees", "at_most", "low", "high")}
        return cls(plain["nodes"], listed["degrees"], listed["at_most"], listed["low"], listed["high"], plain["limit"])


@dataclass(frozen=True)
class DegreeSequence:
    """The degrees of all nodes in order, as runs: each degree with how many nodes have it."""

    runs: Runs
    low: Runs = ()
    """The lowest sequence within the band, where there is one; it holds all places at once."""
    high: Runs = ()

    def sorted_degrees(self) -> NDArray[np.int64]:
        """One degree for each node, ascending."""
        return expanded(self.runs)

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    def __str__(self) -> str:
        total = sum(degree * count for degree, count in self.runs)
        ends = f"from {self.runs[0][0]} to {self.runs[-1][0]}, mean {total / len(self):.6g}" if self.runs else "none"
        return f"degrees of {counted(len(self), 'node')} {ends}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {name: [list(run) for run in getattr(self, name)] for name in ("runs", "low", "high")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DegreeSequence:
        """What `to_dict` wrote."""
        return cls(**{name: tuple((int(degree), int(count)) for degree, count in runs) for name, runs in plain.items()})


def expanded(runs: Runs) -> NDArray[np.int64]:
    """One degree for each node of some runs."""
    degrees = np.asarray([degree for degree, _ in runs], dtype=np.int64)
    return np.repeat(degrees, [count for _, count in runs])


def runs_of(at_most: NDArray[np.int64], nodes: int) -> Runs:
    """The runs of degrees 0, 1, ... given how many nodes have at most each of them; all others have the next degree."""
    counts = np.diff(np.concatenate([[0], at_most, [nodes]]))
    return tuple((int(degree), int(counts[degree])) for degree in np.flatnonzero(counts))


def changes_of(*columns: ArrayLike) -> NDArray[np.int64]:
    """The places at which one of several columns of the same length differs from the place before, and the first."""
    rows = np.column_stack([np.asarray(column) for column in columns])
    moved = np.any(rows[1:] != rows[:-1], axis=1)
    return np.flatnonzero(np.concatenate([[True], moved])) if len(rows) else np.empty(0, dtype=np.int64)
