"""The public base measure of the universal quantile: how likely each decimal is before any data is seen.

Every lattice point has a positive whole-number mass, so the measure has atoms where data have ties: whole numbers, prices,
round thousands, zero. Most of a decade's mass lies on all its 15-digit points, the rest on coarser grids of fixed spacing;
decades far from 1 get less, but never nothing. Cumulative masses are exact integers: position p on the line [0, TOTAL)
belongs to the lattice point whose `span` (start, mass) has start <= p < start + mass.

There are three of them, which differ in how a decade's mass is shared among its grids: MIXED for any column, WHOLE for one
of whole numbers, and FINE for one that is not. All numbers are public constants (see benchmarks/accuracy.py for what they
reach); no claim depends on their choice.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.rounding import cumulative
from dpstats.statistics.universal.decimals import DECADE_POINTS, DIGITS, HIGHEST_DECADE, LOWEST_DECADE
from dpstats.statistics.universal.line import PLACE_ERROR, Integers, Marks

_PARTS = 10_000
"""A decade's mass is divided in ten-thousandths among its grids."""
_DECADE_UNIT = _PARTS * DECADE_POINTS
_FIXED_POINT = 2**40
_SPACINGS = np.array([10 ** (DIGITS - digits) for digits in range(DIGITS + 1)])
_BLOCK, _LONG = 4096, 64
"""Points that are looked up together, to stay in the processor's cache; how many of one decade are worth a look of their own."""


def _decade_weight(decade: int) -> int:
    """1/(1 + e/3)**2 for e >= 0 and 10**(e/2)/2 + 0.02/(1 + |e|)**2 below, in fixed point and at least 1."""
    if decade >= 0:
        return max(1, 9 * _FIXED_POINT // (3 + decade) ** 2)
    root = math.isqrt(10 ** (640 + decade))  # 10**(320 + decade/2)
    return max(1, _FIXED_POINT * root // (2 * 10**320) + _FIXED_POINT // (50 * (1 - decade) ** 2))


_WEIGHTS = [_decade_weight(decade) for decade in range(LOWEST_DECADE, HIGHEST_DECADE + 1)]
_WEIGHT_ENDS = [0, *cumulative(_WEIGHTS)]
_HALF = _WEIGHT_ENDS[-1] * _DECADE_UNIT
_ZERO = 2 * _HALF // 250
TOTAL = 2 * _HALF + _ZERO
"""The length of the line, the same for every measure."""


_ANCHORS = [_HALF, *(_HALF + _ZERO + end * _DECADE_UNIT for end in _WEIGHT_ENDS[:-1])]
_ANCHORS += [_HALF - end * _DECADE_UNIT for end in reversed(_WEIGHT_ENDS[:-1])]
"""Where each run starts, counted from 0 outward."""
_UNITS = [_ZERO, *_WEIGHTS, *reversed(_WEIGHTS)]
"""What an offset of 1 is in each run."""
_FLOAT_ANCHORS, _FLOAT_UNITS = (np.array([float(number) for number in numbers]) for numbers in (_ANCHORS, _UNITS))


def _position(run: int, offset: int) -> int:
    """The position of an offset in a run: run 0 is zero, runs 1, 2, ... are the positive decades from the smallest on, and runs
    -1, -2, ... the negative ones."""
    return _ANCHORS[run] + offset * _UNITS[run]


class DecadeGrid(NamedTuple):
    """The points of a decade that are `spacing` mantissa units apart, the first of them at the decade's first mantissa."""

    mass: int
    """What each of its points has of the decade's mass by this grid."""
    spacing: int
    period: int
    """The mass of this grid and of all finer ones on the stretch from one of its points to the next."""


class Measure:
    """Whole-number masses on all lattice points."""

    def __init__(self, grid_parts: Mapping[int, int], small_decade_parts: int) -> None:
        """`grid_parts` maps the exponent of a grid's spacing to its parts of a decade; the rest is on all 15-digit points.

        Below 0.01, where no absolute grid reaches, each of 1, 2 and 3 significant digits gets `small_decade_parts`.
        """
        self._decades: dict[int, list[DecadeGrid]] = {}
        self._masses = np.zeros((DIGITS + 1, len(_WEIGHTS)), dtype=np.int64)
        """What the grid of points with so many digits gives to each of its points, by digits and decade."""
        for index in range(len(_WEIGHTS)):
            decade, parts = index + LOWEST_DECADE, [0] * (DIGITS + 1)
            for digits in range(1, DIGITS + 1):
                parts[digits] = grid_parts.get(decade - digits + 1, 0)
                if digits <= 3 and decade < -2:
                    parts[digits] = max(parts[digits], small_decade_parts)
            parts[DIGITS] += _PARTS - sum(parts)
            self._masses[:, index] = [part * 10 ** (DIGITS - digits) if part else 0 for digits, part in enumerate(parts)]

    def span(self, ordinal: int) -> tuple[int, int]:
        """The stretch of the line that a lattice point owns: where it starts, and its mass."""
        if ordinal == 0:
            return _HALF, _ZERO
        index, offset = divmod(abs(ordinal) - 1, DECADE_POINTS)
        end = at = 0
        for mass, spacing, _ in self._grids(index):
            place, rest = divmod(offset, spacing)
            end += mass * (place + 1)
            if not rest:
                at += mass
        run = index + 1 if ordinal > 0 else -index - 1
        return _position(run, end - at if ordinal > 0 else -end), at * _UNITS[run]

    def spans(self, ordinals: NDArray[np.int64]) -> tuple[list[int], list[int]]:
        """Where the stretches that lattice points own start, and where they end."""
        runs, starts, ends = (numbers.tolist() for numbers in self.offsets(ordinals))
        from_anchors = [(_ANCHORS[run], _UNITS[run]) for run in runs]
        return (
            [anchor + offset * unit for (anchor, unit), offset in zip(from_anchors, starts, strict=True)],
            [anchor + offset * unit for (anchor, unit), offset in zip(from_anchors, ends, strict=True)],
        )

    def marks(
        self,
        offsets: NDArray[np.int64],
        raw_counts: NDArray[np.int64],
        coins: NDArray[np.int64] | None = None,
        factor: int = 1,
    ) -> Marks:
        """The spans of ascending lattice points, given their offsets, with the rows at each of them, or of cells in them: the
        line is stretched by `factor`, and of the equal cells of a point these are the ones with the numbers `coins`."""
        runs, starts, ends = offsets
        cells = np.zeros(len(runs), dtype=np.int64) if coins is None else coins
        units = _FLOAT_UNITS[runs]
        lengths = (ends - starts) * units
        before, after = cells * lengths, (factor - 1 - cells) * lengths  # of the same point
        gaps = np.where(
            (starts[1:] == starts[:-1]) & (runs[1:] == runs[:-1]),
            (np.diff(cells) - 1) * lengths[1:],
            (starts[1:] - ends[:-1]) * units[1:] * factor + (after[:-1] + before[1:]),
        )

        def span(index: int) -> tuple[int, int]:
            start, end = (_position(int(runs[index]), int(offsets[index])) for offsets in (starts, ends))
            first = start * factor + int(cells[index]) * (end - start)
            return first, first + end - start

        for index in np.flatnonzero(runs[1:] != runs[:-1]).tolist():
            gaps[index] = float(span(index + 1)[0] - span(index)[1])
        about = (_FLOAT_ANCHORS[runs] + starts * units) * factor + before
        ascending = np.maximum.accumulate  # which errors in the last digits might prevent
        return Marks(raw_counts, span, lengths, gaps, ascending(about), ascending(about + lengths), TOTAL * factor * PLACE_ERROR)

    def band_marks(self, firsts: Integers, lasts: Integers, raw_counts: Integers) -> Marks:
        """The stretches from one lattice point to another, ascending and without overlap, with the rows in each of them."""
        if firsts is lasts:
            return self.marks(self.offsets(firsts), raw_counts)
        (runs, starts, _), (last_runs, _, ends) = self.offsets(firsts), self.offsets(lasts)
        units, last_units = _FLOAT_UNITS[runs], _FLOAT_UNITS[last_runs]
        lengths, gaps = (ends - starts) * units, (starts[1:] - ends[:-1]) * units[1:]

        def span(index: int) -> tuple[int, int]:
            start = _position(int(runs[index]), int(starts[index]))
            return start, _position(int(last_runs[index]), int(ends[index]))

        for index in np.flatnonzero(runs != last_runs).tolist():
            start, end = span(index)
            lengths[index] = float(end - start)
        for index in np.flatnonzero(runs[1:] != last_runs[:-1]).tolist():
            gaps[index] = float(span(index + 1)[0] - span(index)[1])
        from_start, to_end = _FLOAT_ANCHORS[runs] + starts * units, _FLOAT_ANCHORS[last_runs] + ends * last_units
        ascending = np.maximum.accumulate  # which errors in the last digits might prevent
        return Marks(raw_counts, span, lengths, gaps, ascending(from_start), ascending(to_end), TOTAL * PLACE_ERROR)

    def offsets(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """The runs of lattice points, and where the spans of these start and end in them."""
        if len(ordinals) > _BLOCK:
            blocks = range(0, len(ordinals), _BLOCK)
            return np.concatenate([self.offsets(ordinals[begin : begin + _BLOCK]) for begin in blocks], axis=1)
        negative, zero = ordinals < 0, ordinals == 0
        before = np.abs(ordinals) - 1
        decades = np.maximum(before // DECADE_POINTS, 0)
        before -= decades * DECADE_POINTS
        ends, at = np.empty_like(before), np.empty_like(before)  # at most _DECADE_UNIT, below 2**63
        changes = 1 + np.flatnonzero(decades[1:] != decades[:-1])
        single = len(changes) * _LONG < len(decades)  # long runs of one decade each
        if single:
            for begin, end in itertools.pairwise([0, *changes.tolist(), len(decades)]):
                self._masses_in_decade(int(decades[begin]), before[begin:end], ends[begin:end], at[begin:end])
        elif len(decades):
            self._masses_in_decades(decades, before, ends, at)
        at[zero] = ends[zero] = 1
        runs = np.where(negative, -1, 1) * (decades + 1)
        runs[zero] = 0
        return np.stack([runs, np.where(negative, -ends, ends - at), np.where(negative, at - ends, ends)])

    def _masses_in_decade(self, decade: int, before: Integers, up_to: Integers, at: Integers) -> None:
        """Find the masses of the points of a decade up to and including some of them, and at these, by how many come before."""
        *coarse, (mass, _, _) = self._grids(decade)
        np.multiply(before + 1, mass, out=up_to)
        at[:] = mass
        places, some_on_grid = np.empty_like(before), True
        for mass, spacing, _ in reversed(coarse):
            np.floor_divide(before, spacing, out=places)
            if some_on_grid:  # a point of this grid is one of all finer grids
                on_grid = places * spacing == before
                some_on_grid = bool(on_grid.any())
                at += on_grid * mass
            places += 1
            places *= mass
            up_to += places

    def _masses_in_decades(self, decades: Integers, before: Integers, up_to: Integers, at: Integers) -> None:
        """The same for points of several decades."""
        used = np.flatnonzero(self._masses[:, decades.min() : decades.max() + 1].any(axis=1))
        masses, spacings = self._masses[used][:, decades], _SPACINGS[used, None]
        places = before // spacings
        (masses * (places * spacings == before)).sum(axis=0, out=at)
        (masses * (places + 1)).sum(axis=0, out=up_to)

    def ordinal_at(self, position: int) -> int:
        """The lattice point that owns a position on the line [0, TOTAL)."""
        if position < _HALF:
            return -self.ordinal_at(TOTAL - 1 - position)
        if position < _HALF + _ZERO:
            return 0
        index = bisect_right(_WEIGHT_ENDS, (position - _HALF - _ZERO) // _DECADE_UNIT) - 1
        rest = (position - _ANCHORS[index + 1]) // _WEIGHTS[index]
        offset = 0
        for mass, spacing, period in self._grids(index):
            periods, rest = divmod(rest, period)
            offset += periods * spacing
            if rest < mass:
                break
            rest -= mass
        return 1 + index * DECADE_POINTS + offset

    def _grids(self, index: int) -> list[DecadeGrid]:
        """The grids of a decade, the coarsest first; every point of one is a point of all finer ones."""
        if index not in self._decades:
            grids, finer = [], 0
            for digits in range(DIGITS, 0, -1):
                mass, spacing = int(self._masses[digits, index]), 10 ** (DIGITS - digits)
                if mass:
                    finer += mass // spacing
                    grids.append(DecadeGrid(mass, spacing, finer * spacing))
            self._decades[index] = grids[::-1]
        return self._decades[index]


MIXED = Measure({0: 1000, -1: 200, -2: 300, -3: 100, -4: 100, 1: 50, 2: 50, 3: 50}, 100)
"""For any column: whole numbers a tenth of the mass, cents three hundredths, and so on."""
WHOLE = Measure({0: 9000, 1: 200, 2: 200, 3: 200, -1: 50, -2: 50}, 100)
"""For a column of whole numbers."""
FINE = Measure({0: 20, -1: 10, -2: 20, -3: 10, -4: 10, 1: 5, 2: 5, 3: 5}, 10)
"""For a column that is not of whole numbers."""
