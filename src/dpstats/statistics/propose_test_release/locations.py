"""Quantiles by propose-test-release: Dwork & Lei's Algorithm M, its refinements, and release without noise.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE (a noisy number of rows is bought first where proposals need one) or CHANGE_ONE
Why        The rank of a quantile moves by 0 or 1 with the number of rows, so its distance to leaving a bin, and its distance to
           a table whose local sensitivity exceeds a bound, move by at most 1 (distances.proof.md)
Numerics   Rows are 15-digit decimals, exactly; bins have rational edges; noise is drawn on a grid
No reply   Costs the same as an answer and says only that a test failed
Source     Dwork & Lei 2009, Algorithm M; Dwork & Roth 2014, section 7.2 and Algorithm 13
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.rounding import exact_rational, nearest_float
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.mechanisms.pipelines.pipeline import Step
from dpstats.mechanisms.pipelines.together import Cascade
from dpstats.mechanisms.propose_test_release import distance_for, release_if_stable
from dpstats.statistics.propose_test_release.distances import steps_to_leave_bin, steps_to_sensitive
from dpstats.statistics.propose_test_release.ranks import RankedRows, quantile_rank
from dpstats.statistics.propose_test_release.scales import RangeStatistic
from dpstats.statistics.propose_test_release.setting import Setting, TestedRows

TEST_SHARE = Fraction(1, 2)
_ROOM = 4
"""Proposals allow for rows that are _ROOM ranges / n apart at the median; at the median of a normal table they are 1.9."""


@dataclass(frozen=True)
class QuantileStatistic:
    """A quantile as a statistic of tested rows."""

    quantile: Fraction

    def rank(self, rows: RankedRows) -> int:
        """The rank."""
        return quantile_rank(self.quantile, rows.raw_rows)

    def raw_value(self, rows: RankedRows) -> Fraction:
        """The quantile itself; 0 where there are no rows, which no test lets pass more often than delta."""
        return rows.value(self.rank(rows)) if rows.raw_rows else Fraction(0)

    def bin_of(self, rows: RankedRows, width: Fraction, shift: Fraction) -> int:
        """The number of the quantile's bin, when bins are `width` wide and moved by `shift` of a width."""
        return math.floor(self.raw_value(rows) / width - shift)

    def bin_distance(self, rows: TestedRows, width: Fraction, shift: Fraction) -> int:
        """Changes before the quantile leaves its bin; bins of width 0 are points. 0 where there are no rows."""
        if not rows.raw.raw_rows:
            return 0
        rank = self.rank(rows.raw)
        if width:
            place = self.bin_of(rows.raw, width, shift)
            least, beyond = (rows.raw.ceil_units((edge + shift) * width) for edge in (place, place + 1))
        else:
            least = rows.raw.at(rank)
            beyond = least + 1
        return steps_to_leave_bin(rows.raw.at, rank, least, beyond, rows.cap)

    def distance_to_sensitive(self, rows: TestedRows, bound: Fraction) -> int:
        """Changes before one more can move the quantile by more than `bound`; 0 where there are no rows."""
        if not rows.raw.raw_rows:
            return 0
        rank = self.rank(rows.raw)
        return steps_to_sensitive(rows.raw.at, rank, rank, rows.raw.floor_units(bound), rows.cap)


def location_cascade(place: QuantileStatistic, propose: Callable[[Any], object], name: str = "location") -> Cascade:
    """The second level of Algorithm M: bins as wide as the proposal; the first test that passes releases with noise for it."""

    def value(rows: TestedRows, _: Fraction) -> Fraction:
        return place.raw_value(rows.raw)

    def distance(shift: Fraction) -> Callable[[TestedRows, Fraction], int]:
        return lambda rows, width: place.bin_distance(rows, width, shift)

    return Cascade(
        *(
            Step(f"{name}, bins {number}", value, distance(shift), propose, float, unstable_at=1)
            for number, shift in enumerate((Fraction(0), Fraction(1, 2)), 1)
        )
    )


def located_range(measured: RangeStatistic, propose: Callable[[Any], object]) -> Step:
    """A range whose two ends are tested together: the distance to a table where either is more sensitive than the proposal.

    One row moves both ends in the same direction, or one of them, so the range moves by no more than either end may.
    """

    def value(rows: TestedRows, _: Fraction) -> Fraction:
        return measured.raw_units(rows.raw) * rows.raw.unit

    def distance(rows: TestedRows, bound: Fraction) -> int:
        if not rows.raw.raw_rows:
            return 0
        width = rows.raw.floor_units(bound)
        return min(steps_to_sensitive(rows.raw.at, rank, rank, width, rows.cap) for rank in measured.ranks(rows.raw))

    return Step("range", value, distance, propose, lambda noisy_range: max(0.0, nearest_float(noisy_range)))


def quantile_by_bound(place: QuantileStatistic, bound: Fraction, setting: Setting) -> Any:
    """One test of the distance to a table whose local sensitivity exceeds `bound`, and a release with noise for it."""
    test = BestTest(setting.epsilon * TEST_SHARE, setting.delta)
    rows = setting.ranked((place.quantile,), test.cap)
    raw_distance = place.distance_to_sensitive(rows, bound)
    return release_if_stable(
        lambda: place.raw_value(rows.raw), raw_distance, bound, test, setting.epsilon * (1 - TEST_SHARE), setting.rng, float
    )


def quantile_if_stable(place: QuantileStatistic, setting: Setting) -> Any:
    """A_dist: the quantile itself, if the table is far from every one with a neighbour that has another quantile."""
    test = BestTest(setting.epsilon, setting.delta)
    rows = setting.ranked((place.quantile,), test.cap)
    raw_distance = place.distance_to_sensitive(rows, Fraction(0))
    return release_if_stable(
        lambda: place.raw_value(rows.raw), raw_distance, Fraction(0), test, setting.epsilon, setting.rng, float
    )


def printed_width(scale: float, rows: int) -> Fraction:
    """The papers' bin width, scale * n**(-1/3), from a released scale and a public number of rows."""
    return exact_rational(scale * rows ** (-1 / 3), "the width")


def fitting_bound(place: QuantileStatistic, scale: Fraction | float, needed: int, rows: int) -> Fraction:
    """A bound that ordinary tables of this scale keep at `needed` steps; rows thin out towards the ends of a table."""
    outward = 1 / (4 * place.quantile * (1 - place.quantile)) if 0 < place.quantile < 1 else Fraction(rows)
    return Fraction(scale) * _ROOM * outward * Fraction(needed + 1, rows)


def needed_steps(epsilon: Fraction, delta: Fraction, unstable_at: int) -> int:
    """The distance at which a test passes with probability .95."""
    return distance_for(BestTest(epsilon, delta, unstable_at), 0.95)
