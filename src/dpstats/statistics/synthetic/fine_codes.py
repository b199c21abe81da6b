"""Fine codes: how each column becomes many codes for tables of one column, and fewer for tables of several.

Numbers are cut at private quantiles, and the stretches between them into equal pieces. A value that many rows share, by a noisy
count of it, has a code of its own. When the fine codes have been counted, with noise, neighbouring ones are merged until each
has a fair part of the rows: these are the codes of tables of several columns. All but the cuts and the shared values is
arithmetic on what was released.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Coding, CutCoding, LabelCoding
from dpstats.statistics.universal.decimals import float_of, fraction_of, lowest_value_at, ordinal_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Label = int | float | str

MOST_DECIMALS = 6
LARGEST = Fraction(10) ** 307
FEWEST_SHARED = 3
"""Shared values from which on their decimals tell the grain of a column."""
THERE = 1.5
"""Standard deviations of noise from which on a code has rows."""
SURELY_THERE = 4.0
"""The same for cells without a value and for labels that are not listed: most columns have none."""
OWN_PART = 0.7
"""The part of a fair number of rows from which on a single value has a coarse code of its own."""


@dataclass(frozen=True)
class FineColumn:
    """A column in fine codes. The last code is for missing cells; of labels the one before it for labels that are not listed."""

    name: str
    labels: tuple[Label, ...] = ()
    edges: tuple[Fraction, ...] = ()
    """Of numbers: where codes meet; a code goes from an edge up to, but not including, the next one."""
    grain: Fraction = Fraction(0)
    """Of numbers: the step that they are multiples of, by the column's type or by shared values; 0 where it is not known."""
    whole: bool = False
    """Of numbers: whether the column's type is one of whole numbers."""
    empty: tuple[int, ...] = ()
    """Of numbers: codes that hold no rows as far as counts show (see `support`). No values are drawn in them."""

    @property
    def is_labels(self) -> bool:
        """Whether it is a column of labels; of numbers there are always edges."""
        return not self.edges

    @property
    def size(self) -> int:
        """How many fine codes there are."""
        return len(self.edges or self.labels) + 2

    @property
    def missing(self) -> int:
        """The code of missing cells."""
        return self.size - 1

    @property
    def may_hold(self) -> NDArray[np.bool_]:
        """For each code whether values may be drawn in it: not in empty ones, nor in that of missing cells."""
        held = np.ones(self.size, dtype=np.bool_)
        held[[*self.empty, self.missing]] = False
        return held

    def coding(self, dtype: np.dtype[np.generic] | None) -> Coding:
        """How rows get their codes; numbers of a column of this type."""
        if self.is_labels:
            return LabelCoding(self.labels, other=len(self.labels), missing=self.missing)
        assert dtype is not None
        cuts = tuple(lowest_value_at(ordinal_of(float(edge)), dtype) for edge in self.edges)
        return CutCoding(cuts, missing=self.missing)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        if self.is_labels:
            return {"name": self.name, "labels": list(self.labels)}
        edges = [decimal_of(edge) for edge in self.edges]
        empty = {"empty": list(self.empty)} if self.empty else {}
        return {"name": self.name, "edges": edges, "grain": str(self.grain), "whole": self.whole, **empty}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> FineColumn:
        """The column that `to_dict` made plain."""
        if "labels" in plain:
            return cls(plain["name"], labels=tuple(plain["labels"]))
        edges = tuple(fraction_of(ordinal_of(edge)) for edge in plain["edges"])
        empty = tuple(plain.get("empty", ()))
        return cls(plain["name"], edges=edges, grain=Fraction(plain["grain"]), whole=plain["whole"], empty=empty)

    def is_single(self, low: Fraction, high: Fraction) -> bool:
        """Whether a code from one number to another holds one value only."""
        return (self.whole and high - low <= 1) or ordinal_of(float(high)) - ordinal_of(float(low)) <= 1

    def spans(self) -> list[tuple[Fraction, Fraction]]:
        """From where to where each code of numbers goes; the outer ones as far as those next to them."""
        first, second, *_ = self.edges
        *_, before, last = self.edges
        return [(max(2 * first - second, -LARGEST), first), *pairwise(self.edges), (last, min(2 * last - before, LARGEST))]


def label_column(name: str, labels: Sequence[Label]) -> FineColumn:
    """A column of labels."""
    return FineColumn(name, labels=tuple(labels))


def number_column(name: str, edges: Iterable[Fraction], grain: Fraction, *, whole: bool) -> FineColumn:
    """A column of numbers whose codes meet at these edges, in any order."""
    return FineColumn(name, edges=tuple(_apart(edges)), grain=grain, whole=whole)


def settled_counts(noisy_counts: Integers | Floats, rows: float) -> Floats:
    """The counts nearest to noisy ones that are not negative and add up to `rows`: all less by the same, those below 0 are 0."""
    descending = -np.sort(-noisy_counts.astype(np.float64))
    surplus = (np.add.accumulate(descending) - rows) / np.arange(1, descending.size + 1)
    kept = int(np.flatnonzero(descending > surplus)[-1]) if (descending > surplus).any() else 0
    return np.asarray(np.maximum(noisy_counts - surplus[kept], 0.0))


def merge_numbers(column: FineColumn, counts: Floats, deviation: float, most: int) -> tuple[Integers, Floats]:
    """For each fine code its coarse one: neighbours together until they have a fair part of the rows; and the counts to draw by.

    A single value of many rows stays alone. What lies between two of them and has no more rows than noise would give it goes with
    one of them, and is never drawn.
    """
    fair = max(float(counts[:-1].sum()) / most, deviation, 1.0)
    spans, counts = column.spans(), _without_strays(counts, deviation)
    alone = [counts[place] >= fair * OWN_PART and column.is_single(*span) for place, span in enumerate(spans)]
    merged = np.full(column.size, -1, dtype=np.int64)
    code, place = 0, 0
    while place < len(spans):
        end = place + 1
        if not alone[place]:
            while end < len(spans) and not alone[end]:
                end += 1
            if any(alone) and counts[place:end].sum() <= THERE * deviation * math.sqrt(end - place):
                counts[place:end] = 0.0
                merged[place:end] = max(code - 1, 0)
                place = end
                continue
        code = _fill(merged[place:end], counts[place:end], fair, code)
        place = end
    if counts[-1] > SURELY_THERE * deviation:
        merged[-1] = code
    else:
        counts[-1], merged[-1] = 0.0, merged[int(np.argmax(counts[:-1]))]
    return merged, counts


def _without_strays(counts: Floats, deviation: float) -> Floats:
    """Counts whose ends are drawn in: beyond the last code that, with all farther out, has more rows than noise gives, are none.

    What is taken away there goes to the nearest code that stays.
    """
    counts, missing = counts[:-1].copy(), counts[-1:]
    for line in (counts, counts[::-1]):
        sums = np.add.accumulate(line)
        there = np.flatnonzero(sums > THERE * deviation * np.sqrt(np.arange(1, line.size + 1)))
        if there.size:
            end = int(there[0])
            line[end], line[:end] = sums[end], 0.0
    return np.concatenate([counts, missing])


def _fill(merged: Integers, counts: Floats, fair: float, code: int) -> int:
    """Give neighbouring fine codes coarse ones, from `code` on, each of about a fair number of rows; the next free code."""
    pieces = max(1, round(float(counts.sum()) / fair))
    total, part = float(counts.sum()), 0.0
    for place, count in enumerate(counts.tolist()):
        middle = (part + count / 2) / total if total else 0.0
        merged[place] = code + min(int(middle * pieces), pieces - 1)
        part += count
    used = np.unique(merged)
    merged[:] = code + np.searchsorted(used, merged)
    return code + used.size


def merge_labels(column: FineColumn, counts: Floats, deviation: float) -> tuple[Integers, Floats]:
    """For each label its coarse code: those of hardly more rows than noise share one; and the counts to draw by.

    Cells without a label, or with one that is not listed, are never drawn where there are no more of them than noise.
    """
    counts = counts.copy()
    counts[-2:][counts[-2:] <= SURELY_THERE * deviation] = 0.0
    own = [place for place in range(column.size) if counts[place] > THERE * deviation] or [int(np.argmax(counts))]
    merged = np.full(column.size, len(own), dtype=np.int64)
    merged[own] = np.arange(len(own))
    rest = merged == len(own)
    if float(counts[rest].sum()) <= THERE * deviation:
        merged[rest] = int(merged[own[0]])
    return merged, counts


def grain_of(shared: Sequence[Fraction]) -> Fraction:
    """The power of ten of which all shared values are multiples; 0 where they are few, or have many decimals."""
    if len(shared) < FEWEST_SHARED:
        return Fraction(0)
    for decimals in range(MOST_DECIMALS + 1):
        if all((value * 10**decimals).denominator == 1 for value in shared):
            return Fraction(1, 10**decimals)
    return Fraction(0)


def on_grain(value: Fraction, grain: Fraction) -> Fraction:
    """The first multiple of the grain that is not below a value; without a grain the value's own decimal."""
    value = max(-LARGEST, min(value, LARGEST))
    return math.ceil(value / grain) * grain if grain else fraction_of(ordinal_of(float(value)))


def next_value(value: Fraction, grain: Fraction) -> Fraction:
    """The next value that a column can have."""
    return value + grain if grain else fraction_of(ordinal_of(float(value)) + 1)


def _apart(edges: Iterable[Fraction]) -> list[Fraction]:
    """Two edges or more that differ as decimals of 15 digits, each as such a decimal; beside a single one the next towards 0."""
    ordinals = sorted({ordinal_of(float(max(-LARGEST, min(edge, LARGEST)))) for edge in edges})
    if len(ordinals) == 1:
        ordinals = sorted([ordinals[0], ordinals[0] - 1 if ordinals[0] > 0 else ordinals[0] + 1])
    return [fraction_of(ordinal) for ordinal in ordinals]


def decimal_of(value: Fraction) -> float:
    """The float that prints as the decimal."""
    return float_of(ordinal_of(float(value)))
