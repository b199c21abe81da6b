"""Measured sets: noisy counts of sets of items, all with noise of one law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dpstats.statistics.coded.budget import NoiseLaw, NoisyTable, TableBudget
from dpstats.statistics.itemsets.candidates import Items, RawSetCounts


@dataclass(frozen=True, eq=False)
class MeasuredSets:
    """How many rows there are, and how many have the items of some sets, with noise."""

    rows: int
    counts: dict[Items, int]
    noise: NoiseLaw

    def kept(self, sets: Iterable[Items]) -> MeasuredSets:
        """Some of the sets, those of most rows first."""
        counts = {items: self.counts[items] for items in sets}
        ordered = sorted(counts, key=lambda items: (-counts[items], len(items), items))
        return MeasuredSets(self.rows, {items: counts[items] for items in ordered}, self.noise)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        sets = [[[list(item) for item in items], count] for items, count in self.counts.items()]
        return {"rows": self.rows, "sets": sets, "noise": self.noise.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> MeasuredSets:
        """The sets that `to_dict` made plain."""
        counts = {tuple((column, code) for column, code in items): count for items, count in plain["sets"]}
        law = NoisyTable.from_dict({"counts": [], "noise": plain["noise"]}).law
        return cls(plain["rows"], counts, law)


def measure_sets(raw: RawSetCounts, sets: Iterable[Items], budget: TableBudget) -> MeasuredSets:
    """Noisy counts of all sets, and of all rows, out of what is left of a budget.

    Sets of the same columns share one part of it, for a row has the items of one of them at most.
    """
    by_columns: dict[tuple[int, ...], list[Items]] = {(): [()]}
    for items in dict.fromkeys(sets):
        by_columns.setdefault(tuple(column for column, _ in items), []).append(items)
    share = budget.left / len(by_columns)
    counts: dict[Items, int] = {}
    for same in by_columns.values():
        noisy = budget.noisy(np.array([raw.count(items) for items in same], dtype=np.int64), share)
        counts.update(zip(same, noisy.noisy_counts.tolist(), strict=True))
    rows = counts.pop(())
    return MeasuredSets(rows, counts, budget.law(share))


def with_parts(sets: Iterable[Items]) -> list[Items]:
    """Sets and all their parts, smaller ones first, the empty one left out."""
    parts = {part for items in sets for size in range(1, len(items) + 1) for part in combinations(items, size)}
    return sorted(parts, key=lambda items: (len(items), items))
