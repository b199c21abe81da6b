"""Fine codes: how each column becomes many codes for tables of one column, and fewer for tables of several.

Numbers are cut at private quantiles, and the stretches between them into equal pieces. A value that many rows share, by a noisy
count of it, has a code of its own. When the fine codes have been counted, with noise, neighbouring ones are merged until each
has a fair part of the rows: these are the codes of tables of several columns. All but the cuts and the shared values is
arithmetic on what was released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Coding, Column, CutCoding, LabelCoding
from dpstats.statistics.universal.decimals import float_of, fraction_of, lowest_value_at, ordinal_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Label = int | float | str

PIECES = 4
"""Equal pieces that a stretch between two cuts is divided into."""
MOST_DECIMALS = 6
FEWEST_SHARED = 3
"""Shared values from which on their decimals tell the grain of a column."""
OUTER_GAPS = 2
"""How far the first and the last code reach, in stretches between the cuts next to them."""


@dataclass(frozen=True)
class FineColumn:
    """A column in fine codes. The last code is for missing cells; of labels the one before it for labels that are not listed."""

    name: str
    labels: tuple[Label, ...] = ()
    edges: tuple[Fraction, ...] = ()
    """Of numbers: where codes meet; a code goes from an edge up to, but not including, the next one."""
    grain: Fraction = Fraction(0)
    """Of numbers: the step that they are multiples of, by the column's type or by shared values; 0 where it is not known."""

    @property
    def is_labels(self) -> bool:
        """Whether it is a column of labels."""
        return bool(self.labels)

    @property
    def size(self) -> int:
        """How many fine codes there are."""
        return len(self.labels) + 2 if self.labels else len(self.edges) + 2

    @property
    def missing(self) -> int:
        """The code of missing cells."""
        return self.size - 1

    def coding(self, dtype: np.dtype[np.generic] | None) -> Coding:
        """How rows get their codes; numbers of a column of this type."""
        if self.labels:
            return LabelCoding(self.labels, other=len(self.labels), missing=self.missing)
        assert dtype is not None
        cuts = tuple(lowest_value_at(ordinal_of(float(edge)), dtype) for edge in self.edges)
        return CutCoding(cuts, missing=self.missing)

    def spans(self) -> list[tuple[Fraction, Fraction]]:
        """From where to where each code of numbers goes; the outer ones as far as stretches of cuts next to them suggest."""
        first, last = self.edges[0], self.edges[-1]
        inner = [(low, high) for low, high in zip(self.edges, self.edges[1:], strict=False)]
        step = self.grain or Fraction(1)
        low = OUTER_GAPS * (self.edges[min(PIECES, len(self.edges) - 1)] - first) + step
        high = OUTER_GAPS * (last - self.edges[max(-1 - PIECES, -len(self.edges))]) + step
        return [(first - low, first), *inner, (last, last + high)]


def label_column(name: str, labels: Sequence[Label]) -> FineColumn:
    """A column of labels."""
    return FineColumn(name, labels=tuple(labels))


def number_column(name: str, column: Column, cuts: Sequence[int], shared: Sequence[Fraction]) -> FineColumn:
    """A column of numbers, cut at ordinals that were drawn and beside values that many rows share."""
    assert column.dtype is not None
    grain = Fraction(1) if column.dtype.kind in "iu" else _grain_of(shared)
    drawn = sorted({_on_grain(fraction_of(ordinal), grain) for ordinal in cuts})
    met_twice = {_on_grain(fraction_of(ordinal), grain) for ordinal in cuts if list(cuts).count(ordinal) > 1}
    own = {*shared, *met_twice}
    pieces = {_on_grain(low + (high - low) * Fraction(k, PIECES), grain) for low, high in zip(drawn, drawn[1:], strict=False) for k in range(PIECES)}
    edges = sorted({*drawn, *pieces, *own, *(_after(value, grain) for value in own)})
    return FineColumn(name, edges=tuple(_apart(edges)) or (Fraction(0),), grain=grain)


def merge_numbers(column: FineColumn, noisy_counts: Integers, deviation: float, most: int) -> Integers:
    """For each fine code its coarse one: neighbours together until they have a fair part of the rows."""
    rows = max(float(np.maximum(noisy_counts[:-1], 0).sum()), 1.0)
    fair = max(rows / most, deviation)
    spans = column.spans()
    merged = np.zeros(column.size, dtype=np.int64)
    code, held = 0, 0.0
    for place, (low, high) in enumerate(spans):
        count = max(float(noisy_counts[place]), 0.0)
        single = count >= fair * 0.7 and high - low <= (column.grain or _TINY * max(abs(low), abs(high)))
        if held and (held + count / 2 >= fair or single):
            code, held = code + 1, 0.0
        merged[place] = code
        held += count if not single else fair * 2
    merged[-1] = code + 1 if _is_there(noisy_counts[-1], deviation) else merged[int(np.argmax(noisy_counts[:-1]))]
    return merged


_TINY = Fraction(1, 10**12)


def merge_labels(column: FineColumn, noisy_counts: Integers, deviation: float) -> Integers:
    """For each label its coarse code: those of hardly more rows than noise share one."""
    merged = np.zeros(column.size, dtype=np.int64)
    own = [place for place in range(column.size) if _is_there(noisy_counts[place], deviation)]
    own = own or [int(np.argmax(noisy_counts))]
    for code, place in enumerate(own):
        merged[place] = code
    rest = [place for place in range(column.size) if place not in own]
    shared = len(own) if sum(max(int(noisy_counts[place]), 0) for place in rest) > 3 * deviation * math.sqrt(max(len(rest), 1)) else int(merged[own[0]])
    merged[rest] = shared
    return merged


def _is_there(noisy_count: int, deviation: float) -> bool:
    """Whether a code has more rows than noise would give it."""
    return float(noisy_count) > 3 * deviation


def _grain_of(shared: Sequence[Fraction]) -> Fraction:
    """The power of ten of which all shared values are multiples; 0 where they are few, or have many decimals."""
    if len(shared) < FEWEST_SHARED:
        return Fraction(0)
    for decimals in range(MOST_DECIMALS + 1):
        if all((value * 10**decimals).denominator == 1 for value in shared):
            return Fraction(1, 10**decimals)
    return Fraction(0)


def _on_grain(value: Fraction, grain: Fraction) -> Fraction:
    """The first multiple of the grain that is not below a value; without a grain the value's own decimal."""
    return math.ceil(value / grain) * grain if grain else fraction_of(ordinal_of(float(value)))


def _after(value: Fraction, grain: Fraction) -> Fraction:
    """The next value that a column can have."""
    return value + grain if grain else fraction_of(ordinal_of(float(value)) + 1)


def _apart(edges: Sequence[Fraction]) -> list[Fraction]:
    """Edges that differ as decimals of 15 digits, each as such a decimal."""
    return [fraction_of(ordinal) for ordinal in sorted({ordinal_of(float(edge)) for edge in edges})]


def decimal_of(value: Fraction) -> float:
    """The float that prints as the decimal."""
    return float_of(ordinal_of(float(value)))
