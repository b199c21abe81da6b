"""Ratios: the rows of a regression as whole-number normals and offsets, each row by itself.

The robust regression of Dwork & Lei 2009 minimises f(b) = sum |y - x.b| / ||x||. A row is the distance of b from a hyperplane
with normal x / ||x||. Here b is measured in steps of a public frame, and a row is |normal.b - offset| / UNIT with whole numbers.

Claim      A row depends on that row and on the public frame alone, and its normal is not longer than UNIT
Neighbors  None: a map of single rows
Why        Numbers are combined column by column, by operations that round each result by itself. Normals are cut off towards 0,
           their lengths are then checked in whole numbers, and one that is too long becomes 0
Numerics   Whole numbers in float64. Offsets stop at LARGEST_OFFSET; with places within LARGEST_PLACE all that follows is exact.
           A row whose features are 0 or infinite, or of which no number can be made, is 0 and weighs nothing; an infinite outcome
           is one far out
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
UNIT = 1 << 20
"""The length of a normal."""
LARGEST_OFFSET = 1 << 45
LARGEST_PLACE = 1 << 20
"""With these, products of normals and places, and their sums, are below 2**53."""


@dataclass(frozen=True)
class CoefficientFrame:
    """Public coordinates of coefficients: feature centres, and for each coefficient a middle and a scale."""

    centres: tuple[float, ...]
    """One for each feature, which is taken off it; 0 where there is no intercept to make up for that."""
    middles: tuple[float, ...]
    """One for each coefficient; the intercept's first, where there is one."""
    scales: tuple[float, ...]
    """Positive, one for each coefficient."""

    @property
    def has_intercept(self) -> bool:
        """Whether there is a coefficient more than there are features."""
        return len(self.middles) > len(self.centres)

    def raw_features(self, raw_matrix: Floats) -> list[Floats]:
        """The columns that coefficients are multiplied by, from rows whose last column is the outcome."""
        raw_centred = [raw_matrix[:, place] - centre for place, centre in enumerate(self.centres)]
        return [np.ones(len(raw_matrix)), *raw_centred] if self.has_intercept else raw_centred


@dataclass(frozen=True)
class RawRatios:
    """Rows as whole numbers: |normals.b - offsets|, in UNITs."""

    normals: Floats
    offsets: Floats

    @property
    def dimensions(self) -> int:
        """Coefficients."""
        return int(self.normals.shape[1])

    @cached_property
    def widths(self) -> Floats:
        """How far a row's distance can move, in UNITs, where no coordinate of b moves by more than 1."""
        return np.asarray(np.abs(self.normals).sum(axis=1))

    def distances(self, place: Wholes) -> Floats:
        """The signed distances of a place from all hyperplanes, in UNITs, exactly."""
        return np.asarray(self.normals @ place.astype(np.float64) - self.offsets)

    def pull(self, signs: Floats) -> Wholes:
        """The sum of all normals, each with its sign -1, 0 or 1: a gradient, in UNITs, exactly."""
        return np.asarray(signs @ self.normals).astype(np.int64)


def raw_ratios(raw_matrix: Floats, frame: CoefficientFrame, step: float) -> RawRatios:
    """The rows (the outcome in the last column), with coefficients counted from the middles in steps of `step` scales."""
    with np.errstate(all="ignore"):
        raw_features = frame.raw_features(raw_matrix)
        raw_scaled = [column * scale for column, scale in zip(raw_features, frame.scales, strict=True)]
        raw_sizes = np.max(np.abs(raw_scaled), axis=0)
        raw_shares = [column / raw_sizes for column in raw_scaled]
        # columns are added in their order, so that each row is rounded by itself
        raw_lengths = np.sqrt(reduce(np.add, [share * share for share in raw_shares]))
        normals = np.stack([np.trunc(share / raw_lengths * UNIT) for share in raw_shares], axis=1)
        raw_fitted = reduce(np.add, [column * middle for column, middle in zip(raw_features, frame.middles, strict=True)])
        raw_offsets = (raw_matrix[:, -1] - raw_fitted) / raw_sizes / raw_lengths / step
        offsets = np.rint(np.clip(raw_offsets * UNIT, -LARGEST_OFFSET, LARGEST_OFFSET))
        counts = (raw_sizes < np.inf) & ~np.isnan(offsets) & ((normals * normals).sum(axis=1) <= UNIT**2)
    return RawRatios(np.where(counts[:, None], normals, 0.0), np.where(counts, offsets, 0.0))
