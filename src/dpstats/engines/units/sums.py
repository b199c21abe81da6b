"""Sums by unit: exact whole-number scores of rows added up over each unit, and how large these sums are, octave by octave.

A unit is known by one 64-bit word, a keyed hash of its id. The sums of a pass take 16 bytes a unit in this process, and more
while they are put in order; rows that are a unit each (MissingUnit.EACH) take 8. Two of n units share a word, and with it a sum,
with a probability of about n**2 / 2**65. That blurs a variance and breaks no claim: a unit's rows still lie in one sum.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Numbers
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.powers import places_in
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.units.contributions import Bound, MissingUnit, unit_words
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.siphash import Words
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.summaries import BelowScore, PlaceScore, SquareOctaves, UnitScore

Wholes = NDArray[np.int64]

LARGEST_SUM = (1 << 31) - 1
"""Sums of a unit count as no larger than this, so that their squares are whole numbers of 64 bits."""
OCTAVES = 63
HELD_ROWS = 1 << 20
"""Rows that are held before those of a unit are added up, at least."""
_POWERS = np.array([1 << octave for octave in range(OCTAVES)], dtype=np.int64)
_LOW_WORD = np.int64((1 << 32) - 1)


@dataclass
class UnitSteps:
    """What a question may spend on steps by unit, which are priced for a whole unit and not for a row."""

    bound: Bound
    epsilon: Fraction | None
    """Of one step, for one unit added or removed; None where there are no such steps."""
    left: int
    """How many steps may still be taken."""

    @classmethod
    def of(cls, bound: Bound, epsilon: Fraction | None, steps: int) -> UnitSteps:
        """Steps under a key of their own: sums do not depend on it."""
        return cls(replace(bound, key=secrets.token_bytes(32)), epsilon, steps)

    def next(self) -> Fraction | None:
        """The epsilon of one more step; None where there are none. An error where all have been taken: they were not paid for."""
        if self.epsilon is None:
            return None
        if not self.left:
            raise DpstatsError("the method takes more steps by unit than it states.")
        self.left -= 1
        return self.epsilon


@dataclass(frozen=True)
class ColumnUnits:
    """The units whose rows a column has; see `foundations.summaries.Units`."""

    store: Store
    view: TableView
    name: str
    kind: ColumnType
    steps: UnitSteps

    @property
    def rows(self) -> int:
        """The most rows of a unit, which is public."""
        return self.steps.bound.rows

    def next_step(self) -> Fraction | None:
        """What the next step may spend, for one unit added or removed."""
        return self.steps.next()

    def squares(self, score: UnitScore) -> SquareOctaves:
        """The units by the square of the sum of their rows' scores, by one pass."""
        bound = self.steps.bound
        wanted = {*self.view.needs([self.name]), bound.unit}
        scan = UnitScan(self.view, self.name, self.kind, score, bound)
        return self.store.run(scan, [name for name in self.store.columns if name in wanted]).octaves()


@dataclass(frozen=True)
class MostRows:
    """The units of a column of which nothing is known but how many rows they have at most."""

    rows: int

    def next_step(self) -> Fraction | None:
        """There are no steps."""
        return None

    def squares(self, score: UnitScore) -> SquareOctaves:
        """Refused."""
        raise DpstatsError("the units of these rows are not known.")


class UnitTotals:
    """The sums of units by their words, and of units of a single row without one."""

    def __init__(self) -> None:
        self._raw_words: list[Words] = []
        self._raw_sums: list[Wholes] = []
        self._raw_alone: list[Wholes] = []
        self._held, self._limit = 0, HELD_ROWS

    def add(self, raw_words: Words, raw_scores: Wholes) -> None:
        """Take rows in, each with the word of its unit."""
        self._raw_words.append(raw_words)
        self._raw_sums.append(raw_scores)
        self._held += raw_words.size
        if self._held > self._limit:
            self.compact()
            self._limit = max(HELD_ROWS, 2 * self._held)

    def add_alone(self, raw_scores: Wholes) -> None:
        """Take rows in, each of which is a unit."""
        if raw_scores.size:
            self._raw_alone.append(raw_scores)

    def absorb(self, other: UnitTotals) -> None:
        """Take in what was added up elsewhere; a unit may be in both."""
        for raw_words, raw_sums in zip(other._raw_words, other._raw_sums, strict=True):
            self.add(raw_words, raw_sums)
        self._raw_alone += other._raw_alone

    def compact(self) -> None:
        """Add up what belongs to the same unit."""
        if self._raw_words:
            raw_words, raw_sums = _added_up(np.concatenate(self._raw_words), np.concatenate(self._raw_sums))
            self._raw_words, self._raw_sums, self._held = [raw_words], [raw_sums], raw_words.size

    def octaves(self) -> SquareOctaves:
        """All units, by the octaves of the squares of their sums."""
        self.compact()
        raw_units, raw_squares = [0] * (OCTAVES + 1), [0] * (OCTAVES + 1)
        for raw_sums in (*self._raw_sums, *self._raw_alone):
            raw_square = np.minimum(np.abs(raw_sums), LARGEST_SUM) ** 2
            raw_octaves = np.searchsorted(_POWERS, raw_square, side="right")
            for octave, count in enumerate(np.bincount(raw_octaves, minlength=OCTAVES + 1).tolist()):
                if count:
                    raw_units[octave] += count
                    raw_squares[octave] += _exact_sum(raw_square[raw_octaves == octave])
        return SquareOctaves(tuple(raw_units), tuple(raw_squares))


@dataclass(frozen=True)
class UnitScan:
    """A job: the scores of the rows of one column that are not missing, added up by unit."""

    view: TableView
    name: str
    kind: ColumnType
    score: UnitScore
    bound: Bound

    def scan(self, batches: Iterable[Batch]) -> UnitTotals:
        """Add up the rows of some batches."""
        totals = UnitTotals()
        for batch in batches:
            ids = UnitIds.of(batch, self.bound.unit, self.bound.unit_kind)
            raw_words = unit_words(ids, self.bound)
            raw_alone = ids.raw_without if self.bound.missing is MissingUnit.EACH and ids.raw_without.any() else None
            for raw_cells, raw_taken in self.view.on(batch).parts(self.name, self.kind):
                assert isinstance(raw_cells, Numbers)
                rows: Any = slice(None) if raw_taken is None else raw_taken
                raw_scores = scores_of(raw_cells.raw_values[rows], self.score)
                if raw_alone is None:
                    totals.add(raw_words[rows], raw_scores)
                else:
                    totals.add(raw_words[rows][~raw_alone[rows]], raw_scores[~raw_alone[rows]])
                    totals.add_alone(raw_scores[raw_alone[rows]])
        totals.compact()
        return totals

    def merge(self, parts: Sequence[UnitTotals]) -> UnitTotals:
        """All parts in one."""
        whole = UnitTotals()
        for part in parts:
            whole.absorb(part)
        return whole


def scores_of(raw_rows: NDArray[Any], score: UnitScore) -> Wholes:
    """The score of every row, none of which is missing."""
    if isinstance(score, BelowScore):
        return _below(raw_rows, score)
    assert isinstance(score, PlaceScore)
    raw_far: Wholes = places_in(raw_rows, score.clip).astype(np.int64) - score.centre
    return raw_far if score.square is None else raw_far**2 - score.square


def _below(raw_rows: NDArray[Any], score: BelowScore) -> Wholes:
    raw_scores = np.full(raw_rows.size, -score.centre, dtype=np.int64)
    for cut in score.cuts:
        edge = edge_at(cut, raw_rows.dtype)
        raw_scores += score.weight * (1 if edge is None else (raw_rows < edge).astype(np.int64))
    return raw_scores


def _added_up(raw_words: Words, raw_sums: Wholes) -> tuple[Words, Wholes]:
    """Every word once, ascending, with the sum of what belongs to it."""
    if not raw_words.size:
        return raw_words, raw_sums
    raw_order = np.argsort(raw_words, kind="stable")
    raw_words = raw_words[raw_order]
    raw_starts = np.flatnonzero(np.append(True, raw_words[1:] != raw_words[:-1]))
    return raw_words[raw_starts], np.add.reduceat(raw_sums[raw_order], raw_starts)


def _exact_sum(raw_wholes: Wholes) -> int:
    """The sum of whole numbers from 0 to below 2**62, at most 2**31 of them, in two halves that 64 bits hold."""
    return (int((raw_wholes >> np.int64(32)).sum()) << 32) + int((raw_wholes & _LOW_WORD).sum())
