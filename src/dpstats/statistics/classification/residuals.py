"""Residuals: how far a row's class is from what an additive model says of it, in whole numbers, summed by the codes of a column.

What a row adds depends on that row and on the model, which was released before: its residuals are computed in floats, made whole
numbers of 1 / SCALE, and then cut to a length that is checked in whole numbers. So two neighbouring tables differ by one row's
numbers in one code, whatever floats did, and sums are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import exponential

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
RawCodes = NDArray[np.signedinteger]

SCALE = 1 << 20
"""Parts of a row in which residuals are counted."""
_MOST_SCORE = 40.0
CURVATURE_BOUND = SCALE // 4
"""The most that a row adds to a `CurvatureSum`."""


@dataclass(frozen=True, eq=False)
class Margins:
    """An additive model as rows are shown to it: for each feature the effect of each code, a row for each direction.

    Two classes have one direction, the log odds of the second; more have one each.
    """

    effects: tuple[Floats, ...]
    classes: int

    @property
    def directions(self) -> int:
        """How many numbers a row's residual has."""
        return 1 if self.classes == 2 else self.classes

    def scores(self, raw_codes: RawCodes) -> Floats:
        """The sums of effects, directions by rows, added feature by feature."""
        raw_scores = np.zeros((self.directions, len(raw_codes)))
        for place, effects in enumerate(self.effects):
            raw_scores += effects[:, raw_codes[:, place]]
        return raw_scores

    def probabilities(self, raw_codes: RawCodes) -> Floats:
        """The probability of each class, or of the second of two; directions by rows."""
        raw_scores = np.clip(self.scores(raw_codes), -_MOST_SCORE, _MOST_SCORE)
        if self.directions == 1:
            return np.asarray(1.0 / (1.0 + exponential(-raw_scores)))
        raw_powers = exponential(raw_scores)
        raw_total = np.zeros(raw_scores.shape[1])
        for raw_power in raw_powers:
            raw_total += raw_power
        return np.asarray(raw_powers / raw_total)

    def likeliest(self, raw_codes: RawCodes) -> Whole:
        """The class of most probability for each row; the first of equals."""
        raw_scores = self.scores(raw_codes)
        return np.asarray(raw_scores[0] > 0 if self.directions == 1 else np.argmax(raw_scores, axis=0)).astype(np.int64)


def residual_bound(classes: int, norm: int) -> int:
    """The longest residual in 1 / SCALE, rounded down, in l1 or l2 norm: that of a row of which nothing is known yet."""
    if classes == 2:
        return SCALE // 2
    if norm == 1:
        return 2 * SCALE * (classes - 1) // classes
    return math.isqrt(SCALE * SCALE * (classes - 1) // classes)


@dataclass(frozen=True, eq=False)
class ResidualSum:
    """For each code of a feature the sums of the residuals of its rows, direction by direction. The class is the last column."""

    margins: Margins
    place: int
    """The feature."""
    size: int
    """How many codes it has."""
    norm: int
    """1 or 2: in which norm a residual is cut."""

    @property
    def bound(self) -> int:
        """No residual is longer."""
        return residual_bound(self.margins.classes, self.norm)

    def __call__(self, raw_codes: RawCodes) -> Whole:
        """The sums of some rows; sums of this many whole numbers are exact as floats."""
        raw_own = raw_codes[:, self.place].astype(np.int64)
        return np.concatenate(
            [
                np.bincount(raw_own, weights=raw_steps.astype(np.float64), minlength=self.size)
                for raw_steps in self.residuals(raw_codes)
            ]
        ).astype(np.int64)

    def residuals(self, raw_codes: RawCodes) -> Whole:
        """The residuals in 1 / SCALE, directions by rows, none longer than the bound."""
        raw_expected = self.margins.probabilities(raw_codes)
        raw_classes = raw_codes[:, -1]
        if self.margins.directions == 1:
            raw_steps = np.rint((raw_classes - raw_expected) * SCALE).astype(np.int64)
            return np.clip(raw_steps, -self.bound, self.bound)
        raw_left = -raw_expected
        raw_left[raw_classes, np.arange(len(raw_codes))] += 1.0
        raw_lengths = np.zeros(len(raw_codes))
        for raw_part in raw_left:
            raw_lengths += np.abs(raw_part) if self.norm == 1 else raw_part * raw_part
        if self.norm == 2:
            raw_lengths = np.sqrt(raw_lengths)
        raw_shrunk = np.minimum(1.0, self.bound / SCALE / np.maximum(raw_lengths, 0.5))
        raw_steps = np.trunc(raw_left * raw_shrunk * SCALE).astype(np.int64)
        return np.where(length_is_within(raw_steps, self.bound, self.norm), raw_steps, 0)


def length_is_within(raw_steps: Whole, bound: int, norm: int) -> NDArray[np.bool_]:
    """Whether each row's whole numbers are no longer than a bound, in whole numbers."""
    if norm == 1:
        return np.asarray(np.abs(raw_steps).sum(axis=0) <= bound)
    return np.asarray((raw_steps * raw_steps).sum(axis=0) <= bound * bound)


@dataclass(frozen=True, eq=False)
class CurvatureSum:
    """By how much the residuals of all rows fall together when their scores rise by 1, the mean over directions, in 1 / SCALE.

    A row adds a whole number from 0 to SCALE / 4. Of two classes, residuals that were cut do not fall.
    """

    residuals: ResidualSum

    def __call__(self, raw_codes: RawCodes) -> Whole:
        """The sum over some rows."""
        raw_expected = self.residuals.margins.probabilities(raw_codes)
        raw_falls = np.zeros(len(raw_codes))
        for raw_part in raw_expected:
            raw_falls += raw_part * (1.0 - raw_part)
        if len(raw_expected) == 1:
            raw_falls[self.residuals.margins.likeliest(raw_codes) != raw_codes[:, -1]] = 0.0
        raw_steps = np.rint(raw_falls / len(raw_expected) * SCALE).astype(np.int64)
        return np.array([np.clip(raw_steps, 0, CURVATURE_BOUND).sum()], dtype=np.int64)


class Predicts(Protocol):
    """A released model that says a class of each row."""

    def likeliest(self, raw_codes: RawCodes) -> Whole:
        """The number of the class of each row, from the codes of its features."""
        ...


@dataclass(frozen=True, eq=False)
class AgreementSum:
    """Rows whose class a model predicts, and rows whose class it does not."""

    model: Predicts

    def __call__(self, raw_codes: RawCodes) -> Whole:
        """Both numbers."""
        raw_agree = self.model.likeliest(raw_codes) == raw_codes[:, -1]
        return np.array([int(raw_agree.sum()), int((~raw_agree).sum())], dtype=np.int64)
