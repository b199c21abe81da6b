"""Interquantile ranges by propose-test-release: Dwork & Lei's Algorithm S, its corrections and its refinements.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE (a noisy number of rows is bought first) or CHANGE_ONE (the number of rows is public)
Why        The distance to leaving a bin of the logarithmic scale moves by at most 1 (distances.proof.md), and a table at
           distance 2 or more has all its neighbours in its own bin: there the logarithm of the range moves by less than a bin.
           The rest: scales.proof.md
Numerics   Ranks, rows and edges are exact; noise is drawn on a grid of cells. A range of 0 is a bin of its own and leaves as 0
No reply   Costs the same as an answer and says only that a test failed
Source     Dwork & Lei 2009, Algorithm S; Dwork & Roth 2014, Algorithm 12, corrected: docs/errata.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.mechanisms.distance_tests import BestTest
from dpstats.mechanisms.pipelines.pipeline import Step
from dpstats.mechanisms.pipelines.together import Cascade
from dpstats.mechanisms.propose_test_release import Exact, distance_for, release_if_stable, unchanged
from dpstats.statistics.propose_test_release.distances import steps_to_jump, steps_to_leave_range
from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.ranks import RankedRows, interquantile_ranks
from dpstats.statistics.propose_test_release.setting import Setting, TestedRows

HALVES = (0, CELLS // 2)
"""The two discretisations of the papers: bins from whole powers of the base, and from half powers."""
TEST_SHARE = Fraction(1, 2)
MOST_JUMP_STEPS = 1000
"""A test of jumps compares cap**2 times; with a smaller cap it passes less often and is as private."""
_ROOM = 5
"""In an ordinary table of n rows one row moves the range by at most _ROOM / n of itself; in a normal one by 2.3 / n."""


@dataclass(frozen=True)
class RangeStatistic:
    """An interquantile range as a statistic of tested rows."""

    lower: Fraction
    upper: Fraction

    def ranks(self, rows: RankedRows) -> tuple[int, int]:
        """The two ranks."""
        return interquantile_ranks(self.lower, self.upper, rows.raw_rows)

    def raw_units(self, rows: RankedRows) -> int:
        """The range in units; 0 where there are no rows."""
        low, high = self.ranks(rows)
        return rows.at(high) - rows.at(low) if rows.raw_rows else 0

    def raw_cell(self, rows: RankedRows, grid: LogGrid) -> int | None:
        """The range's cell on the logarithmic scale; None for a range of 0."""
        units = self.raw_units(rows)
        return grid.cell(units * rows.unit) if units else None

    def bin_distance(self, rows: TestedRows, grid: LogGrid, shift: int) -> int:
        """Changes before the range leaves its bin, when bins are moved by `shift` cells; 0 where there are no rows."""
        if not rows.raw.raw_rows:
            return 0
        cell = self.raw_cell(rows.raw, grid)
        if cell is None:
            least, beyond = 0, 1
        else:
            least, beyond = (rows.raw.ceil_units(edge) for edge in grid.bin_edges(cell, shift))
        return steps_to_leave_range(rows.raw.at, *self.ranks(rows.raw), least, beyond, rows.cap)


def scale_cascade(measured: RangeStatistic, grid: LogGrid, least_threshold: int = 0) -> Cascade:
    """Algorithms S and 12: a test for each of two discretisations; the first that passes releases range * base**noise."""

    def value(rows: TestedRows, _: Fraction) -> object:
        cell = measured.raw_cell(rows.raw, grid)
        return Exact(0.0) if cell is None else cell

    def propose(_: object) -> int:
        return CELLS

    def distance(shift: int) -> Callable[[TestedRows, Fraction], int]:
        return lambda rows, _: measured.bin_distance(rows, grid, shift)

    number = grid.number  # one object: steps that share their functions release the same law
    return Cascade(
        *(
            Step(f"scale, bins {place}", value, distance(shift), propose, number, 1, least_threshold)
            for place, shift in enumerate(HALVES, 1)
        )
    )


def centre_cascade(measured: RangeStatistic, grid: LogGrid, weight: Fraction = Fraction(1)) -> Cascade:
    """The noiseless release: where every neighbour is in the same bin, the bin's centre says nothing about one row."""

    def centre(shift: int) -> Callable[[TestedRows, Fraction], Exact]:
        def value(rows: TestedRows, _: Fraction) -> Exact:
            cell = measured.raw_cell(rows.raw, grid)
            return Exact(0.0 if cell is None else grid.bin_centre(cell, shift))

        return value

    def distance(shift: int) -> Callable[[TestedRows, Fraction], int]:
        return lambda rows, _: measured.bin_distance(rows, grid, shift)

    def propose(_: object) -> int:
        return 0

    return Cascade(
        *(
            Step(f"scale, bins {place}", centre(shift), distance(shift), propose, unchanged, 1, 0, weight, Fraction(0))
            for place, shift in enumerate(HALVES, 1)
        )
    )


def range_by_jumps(measured: RangeStatistic, grid: LogGrid, setting: Setting) -> Any:
    """One test of the distance to a table where a single row can move the range by more than the grid's base.

    Cells may then differ by a bin and the one cell that rounding adds.
    """
    test = BestTest(setting.epsilon * TEST_SHARE, setting.delta)
    cap = min(test.cap, MOST_JUMP_STEPS)
    rows = setting.ranked((measured.lower, measured.upper), cap)
    raw_distance = steps_to_jump(rows.raw.at, *measured.ranks(rows.raw), grid.base, cap) if rows.raw.raw_rows else 0
    cell = measured.raw_cell(rows.raw, grid)
    value = Exact(0.0) if cell is None else cell
    release_epsilon = setting.epsilon * (1 - TEST_SHARE)
    return release_if_stable(lambda: value, raw_distance, Fraction(CELLS + 1), test, release_epsilon, setting.rng, grid.number)


def printed_grid(rows: int) -> LogGrid:
    """The papers' base 1 + 1 / ln n, for a public number of rows."""
    return LogGrid(1 + Fraction(round(2**20 / math.log(rows)), 2**20))


def printed_threshold(rows: int) -> int:
    """Algorithm S replies when distance + noise is above (ln n)**2 + 1; on whole numbers, from this one on."""
    return math.floor(math.log(rows) ** 2 + 1) + 1


def fitting_grid(setting: Setting) -> LogGrid:
    """The finest base at which a test nearly always passes on ordinary tables with the setting's public number of rows."""
    needed = distance_for(BestTest(setting.epsilon * TEST_SHARE, setting.delta / 2, 1), 0.95)
    logarithm = _ROOM * Fraction(needed + 1, setting.rows)
    return LogGrid(1 + min(max(Fraction(round(logarithm * 2**20), 2**20), Fraction(1, 2**20)), Fraction(1)))
