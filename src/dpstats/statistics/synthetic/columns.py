"""Measured columns: fine codes with their noisy counts, and what follows from these: counts to draw by, and coarse codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import CutCoding, LabelCoding, MergedCoding
from dpstats.statistics.coded.budget import NoisyTable
from dpstats.statistics.synthetic.denoising import likely_counts
from dpstats.statistics.synthetic.fine_codes import FineColumn, merge_labels, merge_numbers, settled_counts
from dpstats.statistics.synthetic.graphical_model import Measured

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_CODES = 20
"""About how many coarse codes a column of numbers gets."""


@dataclass(frozen=True)
class MeasuredColumn:
    """A column in fine codes, with their noisy counts; all else is computed from these."""

    fine: FineColumn
    noisy: NoisyTable
    """Pooled over all looks (see pooling.py): its law is about that of the noise that is left."""
    counts: Floats
    """Noisy counts, made non-negative so that they add up to about as many rows as there are."""
    merged: Integers
    """The coarse code of each fine one."""

    @classmethod
    def of(cls, fine: FineColumn, noisy: NoisyTable, rows: float) -> MeasuredColumn:
        """The column of noisy counts, where there are about so many rows."""
        deviation = math.sqrt(noisy.law.variance)
        if fine.is_labels:
            merged, counts = merge_labels(fine, settled_counts(likely_counts(noisy, rows), rows), deviation)
        else:
            held = fine.may_hold | (np.arange(fine.size) == fine.missing)
            counts = np.zeros(fine.size)
            counts[held] = settled_counts(noisy.noisy_counts[held], rows)
            merged, counts = merge_numbers(fine, counts, deviation, MOST_CODES)
        return cls(fine, noisy, counts, merged)

    @property
    def size(self) -> int:
        """How many coarse codes there are."""
        return int(self.merged.max()) + 1

    @property
    def in_order(self) -> int:
        """How many of the first coarse codes stand in the order of the numbers they hold; none of labels."""
        return 0 if self.fine.is_labels else int(self.merged[:-1].max()) + 1

    @property
    def drawable(self) -> NDArray[np.bool_]:
        """For each fine code whether rows of its coarse code may get it.

        Of a coarse code without any positive count these are all codes but that of missing cells, or that one alone.
        """
        drawable = np.zeros(self.fine.size, dtype=np.bool_)
        for code in range(self.size):
            inside = self.merged == code
            better = (inside & (self.counts > 0), inside & self.fine.may_hold)
            drawable |= next((each for each in better if each.any()), inside)
        return drawable

    def coding(self, dtype: np.dtype[np.generic] | None) -> MergedCoding:
        """How rows get their coarse codes; numbers of a column of this type."""
        coding = self.fine.coding(dtype)
        assert isinstance(coding, (CutCoding, LabelCoding))
        return MergedCoding(coding, tuple(self.merged.tolist()))

    def measured(self, place: int) -> Measured:
        """The table of coarse codes, from counts to draw by, so that codes which hold nothing but noise add none to others."""
        counts = np.bincount(self.merged, weights=self.counts, minlength=self.size)
        return Measured((place,), counts, self.noisy.law.variance * max(1.0, float((self.counts > 0).sum()) / self.size))


def orders_of(columns: Sequence[MeasuredColumn]) -> dict[int, int]:
    """Which columns have codes that stand in order, and how many."""
    return {place: column.in_order for place, column in enumerate(columns) if column.in_order}


def rows_of(noisy: Sequence[NoisyTable]) -> float:
    """About how many rows there are, at least 1: the totals of all columns, weighted by their precision."""
    weights = [1 / (each.law.variance * each.noisy_counts.size) for each in noisy]
    totals = [float(each.noisy_counts.sum()) for each in noisy]
    return max(1.0, sum(weight * total for weight, total in zip(weights, totals, strict=True)) / sum(weights))
