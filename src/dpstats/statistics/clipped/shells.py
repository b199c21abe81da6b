"""Shells: noisy numbers of rows around a cut and beyond it, octave by octave, which tell where the tails end.

A cut is a guess from released limits, by a rule for tails. A row lies in one shell, so that all shells together cost what one
count does. The shells near the cut tell how the rows thin out (thinning.py): the cut moves to where noise and what may be lost
beyond make the shortest interval. Where a shell further out shows rows of a second population, more than noise explains, it
moves beyond that shell; fewer rows out there are left to outer cells (outer.py), which cost nothing. A heap next to the cut, and
rows on a side without one, must be borne out by a second look. Where none of the shells near the cut has rows, they lie further
in: the second look finds them, or there is no reply.

Claim      epsilon-DP
Neighbors  ADD_REMOVE
Why        One or two vectors of noisy counts of disjoint parts of the line (histograms.proof.md), whose edges are functions of
           released numbers; their epsilons add up
Numerics   Exact counts by the rows' decimals; exact noise; floats after that
Source     means.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, SummingColumn
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.binned.edges import raw_counts_between
from dpstats.statistics.clipped.clips import HEAVIEST, LARGEST, LEFT, USUAL_EXPONENT, Cut, Lost, Tail
from dpstats.statistics.clipped.outer import (
    APART_FAR,
    APART_NEAR,
    SUSPECTED,
    NoisyLook,
    OuterShells,
    OuterSide,
    edge_at,
    evidence,
    outer_distances,
)
from dpstats.statistics.clipped.thinning import ENDS, Thinning, place_of, thinning_of
from dpstats.statistics.clipped.thinning import OCTAVES as NEAR_OCTAVES
from dpstats.statistics.universal.octaves import seen_in

SHELLS = Fraction(20, 100)
ALIKE_SHARE = Fraction(1, 4)
"""What the shells get where no row beside the middle was seen, and all depends on them."""
FAR, COARSE = 6, 11
"""So many octaves beyond a cut, or of the other side's cut, nobody would expect rows. All further ones are one shell: where they
are does not matter to a refusal, and one shell shows fewer of them than many do."""
OCTAVES = (*NEAR_OCTAVES, 4, 5, FAR)
"""Where shells begin, in octaves beyond the cut."""
ALLOWED, LIKELY = 0.92, 0.7
"""The quantiles of what may be lost that an interval allows for, and that the place of the cut supposes."""
NOISE = {1: 1.3, 2: 1.0}
"""About the standard deviation of a noisy sum of distances, or of their squares: in scales of the cells' noise, and in widths of
the clip or their squares."""
TYPICAL = 0.7
"""Where rows of a shell lie, as a part of the distance at which it ends."""
SURE_SHELL = 2
"""Shells that begin so many octaves beyond a cut show rows; those before say how rows thin out."""
UNCUT_OCTAVES = (-20, -12, -8, -5, *OCTAVES, 8, COARSE)
"""And where there is no cut on a side; before the first of these there is one from the middle on."""
LARGEST_SIGN, FAR_SIGN = 6.0, 3.3
"""Where there is no cut on either side, the last shells show rows where their noisy number is more than this many scales of its
noise: less than the others, as a mistake there is a refusal. Where there is one, outer cells tell (outer.py)."""
SECOND_PART = Fraction(1, 4)
"""The part of what is left for the cells that a second look takes, where the first one shows a heap, or rows on a side without a
cut: about 15% of epsilon."""
INWARD_PART = Fraction(1, 2)
"""The same where rows are sought further in than the first look: if it does not find them, there is no reply."""
BELIEF, MOST_BELIEF, FAR_BELIEF = 8.0, 11.0, 6.0
"""The evidence of two looks, in nats, above which a heap next to the cut is believed, and rows on a side without a cut: more far
out, and less in its last shell, where a mistake is a refusal."""
SURE, SURE_PER_POWER = 9.5, 1.4
"""The evidence of one look above which rows from SURE_SHELL on are believed, and the cut moves; SURE_PER_POWER is asked for
beside it for each octave further out and each power of the distance that is summed, as a mistake costs as much more. Without
rows, a shell has evidence of t nats in exp(-t) / 2 of columns. At 8, and .75 for an octave, one of 300 standard deviations of
10,000 normal rows at epsilon .33 was 4.6 for 1. Fewer rows are left to outer cells (outer.py): a cut that holds them costs
noise."""
EXCESS_SIGN, EXCESS_PART = 6.0, 0.5
"""A shell near the cut shows rows of another kind where it has this many scales more than the laws of thinning expect there, and
this part more. A heap of 3% beyond a cut has no law that the body follows, too: it was left out of mean and interval."""
NEAR_ROWS, NEAR_ROW, SIDE_ROWS = 12.0, 9.0, 25.0
"""Scales of rows in all shells around a cut, and in one of them, below which a side of SIDE_ROWS has its rows further in: the
reach was drawn too far out, as for 1 of 100 standard deviations of small whole numbers."""
UNLIKELY_OCTAVES = 10
"""A side of fewer rows, none of them near its cut, has its rows further in if that cut lies this number of octaves beyond the
other side's, or beyond the size of the middle. Of columns with 46 amounts of 100 among 3,000 zeros, 1 in 150 had intervals of
1e10."""
INNER_OCTAVES = tuple(range(-60, NEAR_OCTAVES[0]))
"""Where a second look seeks them."""
LEAST_OUTER = 4
"""No rows are counted apart that are nearer to the middle than this part of the cut on the other side."""
HIDDEN_SCALES = 3.0
"""Scales by which noise may hide rows that would otherwise show: it does more in 1 of 40 shells."""
NEAR_SIGN, NEAR = 5.0, 3
"""On a side without a cut, that holds for shells within so many octaves of the other side's cut, or of the size of the middle."""
FEWEST = 0.5
"""Beyond a shell that shows rows, rows worth this many scales of the noise are supposed beside those that shells show."""
LENGTH = 3.92
"""Standard deviations from end to end of an interval."""
NEXT_SHELLS = 2
"""So many shells beyond those that show rows tell how many rows are lost there."""


@dataclass(frozen=True)
class _SideShells:
    """Where the shells of one side of the middle begin, as distances from it. Nobody expects rows in the last one."""

    distances: tuple[Fraction, ...]
    signs: tuple[float, ...]
    """Scales of noise above which a shell shows rows."""
    beliefs: tuple[float, ...]
    """The evidence above which its rows are believed."""

    @classmethod
    def beyond(cls, distance: Fraction, power: int, octaves: Sequence[int] = OCTAVES) -> _SideShells:
        """Around a cut at that distance, and beyond."""
        beliefs = (*(_belief_at(octave, power) for octave in octaves[:-1]), math.inf)
        signs = tuple(belief if octave >= SURE_SHELL else math.inf for octave, belief in zip(octaves, beliefs, strict=True))
        return cls(tuple(distance * Fraction(2) ** octave for octave in octaves), signs, beliefs)

    @classmethod
    def without_cut(cls, other: Fraction, middle: Fraction) -> _SideShells:
        """From the middle on, in units of the other side's cut."""
        unit = _unit(other, middle)
        is_near = [False, *(abs(octave + 0.5) < NEAR for octave in UNCUT_OCTAVES[:-1])]
        return cls(
            (Fraction(0), *(unit * Fraction(2) ** octave for octave in UNCUT_OCTAVES)),
            (*(NEAR_SIGN if near else LARGEST_SIGN for near in is_near), math.inf if other else FAR_SIGN),
            (*(BELIEF if near else MOST_BELIEF for near in is_near), FAR_BELIEF),
        )

    def showing(self, noisy: Sequence[int], scale: float) -> list[int]:
        """The places of the shells that show rows."""
        return [place for place, (count, sign) in enumerate(zip(noisy, self.signs, strict=True)) if count > sign * scale]


def hidden_rows(epsilon: Fraction) -> float:
    """About how many rows may lie in a shell that shows none, where all rows seem alike."""
    return (NEAR_SIGN + HIDDEN_SCALES) / float(epsilon * ALIKE_SHARE)


class Widened(NamedTuple):
    """A cut that was moved to where noisy shells suggest."""

    cut: Cut
    noisy_inside: int
    """The noisy number of rows before the first shell."""
    spent_again: Fraction
    """What a second look took; 0 where there was none."""
    outer: OuterShells | None = None
    """Where rows are sought further out."""


def widen_cut(column: Column, cut: Cut, epsilon: Fraction, left: Fraction, rng: RandomSource, power: int = 1) -> Widened:
    """The cut, moved to where noisy shells suggest.

    The shells cost epsilon, for one row added or removed, and further looks, where they are due, a part of what is `left` for the
    cells, which tell the mean of a `power` of the rows.
    """
    distances = cut.middle - cut.low, cut.high - cut.middle
    shells = [
        _SideShells.beyond(one, power) if one > 0 else _SideShells.without_cut(other, cut.middle)
        for one, other in zip(distances, distances[::-1], strict=True)
    ]
    units = [one or _unit(other, cut.middle) for one, other in zip(distances, distances[::-1], strict=True)]
    looking = _Looking(column, cut.middle, rng)
    looking.expect([(*side.distances, *outer_distances(unit)) for side, unit in zip(shells, units, strict=True)])
    noisy_inside, counts = looking.counts([side.distances for side in shells], epsilon)
    sides = [
        _CountedSide(*side, 1 / float(epsilon)) for side in zip(shells, counts, distances, (cut.below, cut.above), strict=True)
    ]
    for side, other in zip(sides, distances[::-1], strict=True):
        side.is_empty = side.is_empty or side.is_unlikely_beside(_unit(other, cut.middle))
    again = Fraction(0)
    if any(side.is_empty or side.open for side in sides):
        again = left * _part_of_second_look(sides)
        inner = [_inner_distances(side) if side.is_empty else () for side in sides]
        _, counts = looking.counts([(*more, *side.distances) for more, side in zip(inner, shells, strict=True)], again)
        sides = [
            side.found_again(count, 1 / float(again), power) if side.is_empty else side.seen_again(count, 1 / float(again))
            for side, count in zip(sides, counts, strict=True)
        ]
    ends = _best_ends(sides, 1 / float(left - again), power)
    down, tail_below, lost_below = sides[0].cut_at(ends[0])
    up, tail_above, lost_above = sides[1].cut_at(ends[1])
    low, high = max(-LARGEST, cut.middle - down), min(LARGEST, cut.middle + up)
    moved = replace(cut, low=low, high=high, below=tail_below, above=tail_above, even=False)
    moved = replace(moved, astray=any(side.is_astray for side in sides), counted=(lost_below, lost_above))
    outer = None
    if moved.clip is not None:
        least = max(down, up) / LEAST_OUTER
        outer = OuterShells(cut.middle, sides[0].outer(down, least, units[0]), sides[1].outer(up, least, units[1]))
    return Widened(moved, noisy_inside, again, outer)


def _unit(other: Fraction, middle: Fraction) -> Fraction:
    """What tells how large a side's distances may be: the other side's cut, or else the size of the middle."""
    return other or abs(middle) or Fraction(1)


def _part_of_second_look(sides: Sequence[_CountedSide]) -> Fraction:
    """The part of what is left for the cells that a second look takes."""
    if any(side.is_empty for side in sides):
        return INWARD_PART
    return SECOND_PART


class _Looking:
    """Noisy counts of a column's rows in shells on both sides of a middle."""

    def __init__(self, column: Column, middle: Fraction, rng: RandomSource) -> None:
        self._column = column
        self._middle = middle
        self._rng = rng
        self._raw_counts: dict[tuple[float, ...], list[int]] = {}

    def expect(self, distances: Sequence[Sequence[Fraction]]) -> None:
        """Count rows at all edges that may be asked about, in one pass where rows are read in passes; nothing is kept here."""
        if isinstance(self._column, SummingColumn):
            below, above = distances
            edges = {edge_at(self._middle - each, 0) for each in below} | {edge_at(self._middle + each, 1) for each in above}
            raw_counts_between(self._column, sorted(edges))

    def counts(self, distances: Sequence[Sequence[Fraction]], epsilon: Fraction) -> tuple[int, list[list[int]]]:
        """The noisy number of rows before the first shells, and those in the shells below and above, outward."""
        below, above = distances
        edges = (
            *(edge_at(self._middle - distance, 0) for distance in reversed(below)),
            *(edge_at(self._middle + distance, 1) for distance in above),
        )
        if edges not in self._raw_counts:
            self._raw_counts[edges] = raw_counts_between(self._column, edges)
        noisy = noisy_counts(self._raw_counts[edges], epsilon, self._rng)
        return noisy[len(below)], [noisy[: len(below)][::-1], noisy[-len(above) :]]


def _inner_distances(side: _CountedSide) -> tuple[Fraction, ...]:
    """Where shells begin further in than those around a cut."""
    return tuple(side.distance * Fraction(2) ** octave for octave in INNER_OCTAVES)


def _belief_at(octave: int, power: int) -> float:
    """How much evidence makes rows believed, for the sum of a power of the distances."""
    return BELIEF if octave < SURE_SHELL else SURE + SURE_PER_POWER * power * (octave - SURE_SHELL)


class _CountedSide:
    """One side's guess of a cut, and what its shells show."""

    def __init__(self, shells: _SideShells, noisy: Sequence[int], distance: Fraction, tail: Tail | None, scale: float) -> None:
        self.shells = shells
        self.noisy = list(noisy)
        self.distance = distance
        self.tail = tail
        self.scale = scale
        near = [float(count) for count in noisy[: len(NEAR_OCTAVES)]]
        self.is_seen = False
        """Whether shells near the cut have rows."""
        self.is_empty = False
        """Whether none of them has any, although there are some on the side."""
        self.is_lost = False
        """Whether a second look did not find any either."""
        self.thinning: Thinning | None = None
        self.showing = shells.showing(noisy, scale)
        self.open = list(self.showing)
        """Shells that show rows, at which to look again."""
        self.looks = [_ShellCounts(noisy, scale)]
        if distance > 0 and tail:
            self.thinning = thinning_of(near, scale)
            self.is_seen = bool(math.fsum(near) > NEAR_ROWS * scale or max(near) > NEAR_ROW * scale or self.showing)
            self.is_empty = tail.noisy_rows > SIDE_ROWS * scale and not self.is_seen
            self.open = [place for place in self._exceeding(near) if place not in self.showing]
            self.showing = sorted({*self.showing, *self.open})

    def is_unlikely_beside(self, unit: Fraction) -> bool:
        """Whether a side of few rows, which no shell shows, is cut so far out that its reach must have been drawn astray."""
        return self.thinning is not None and not self.is_seen and self.distance > unit * 2**UNLIKELY_OCTAVES

    def _exceeding(self, near: Sequence[float]) -> list[int]:
        """Shells from the cut on that have many more rows than laws of thinning expect."""
        assert self.thinning is not None
        found = []
        for place, (octave, count) in enumerate(zip(NEAR_OCTAVES, near, strict=True)):
            if octave >= 0 and count > EXCESS_SIGN * self.scale + (1 + EXCESS_PART) * self.thinning.rows_in(place):
                found.append(place)
        return found

    @property
    def is_astray(self) -> bool:
        """Whether there are rows where nobody would expect any, or none where there should be."""
        return self.is_lost or (self.thinning is None and len(self.shells.signs) - 1 in self.showing)

    def seen_again(self, noisy: Sequence[int], scale: float) -> _CountedSide:
        """The side after another look at the same shells."""
        found = copy(self)
        found.looks = [*self.looks, _ShellCounts(noisy, scale)]
        found.noisy, found.open = list(self.noisy), []
        found.showing = [place for place in self.showing if place not in self.open]
        for place in self.open:
            if evidence([look.at(place) for look in found.looks]) > self.shells.beliefs[place]:
                found.showing.append(place)
            else:
                found.noisy[place] = max(0, noisy[place])
        found.showing.sort()
        return found

    def found_again(self, noisy: Sequence[int], scale: float, power: int) -> _CountedSide:
        """The side, around the shells further in where a second look shows rows; as it was where it shows none."""
        octaves = (*INNER_OCTAVES, *OCTAVES)
        seen = seen_in(noisy, scale)
        if seen is None or self.tail is None:
            self.is_lost, self.open = True, []
            return self
        moved = min(octaves[seen.last] + 1, 0)
        first = octaves.index(moved + NEAR_OCTAVES[0]) if moved + NEAR_OCTAVES[0] in octaves else 0
        distance = self.distance * Fraction(2) ** moved
        shells = _SideShells.beyond(distance, power, [octave - moved for octave in octaves[first:]])
        tail = replace(self.tail, reach=float(min(distance, LARGEST)), tied=False)
        found = _CountedSide(shells, noisy[first:], distance, tail, scale)
        showing, found.showing = found.showing, []
        looked = dict(zip(OCTAVES, self.noisy, strict=True))
        for place in showing:
            earlier = NoisyLook(looked.get(octaves[first + place], 0), self.scale)
            if evidence([earlier, NoisyLook(noisy[first + place], scale)]) > shells.beliefs[place]:
                found.showing.append(place)
        found.open = []
        return found

    def lost(self, power: int) -> dict[int, float]:
        """What is likely lost at each end that the side may be cut at, of a power of distances, in that power of the guess."""
        if self.thinning is None:
            return {0: 0.0}
        return {end: self.thinning.lost(end, power, LIKELY) for end in ENDS}

    def squares(self, power: int) -> float:
        """About the sum of the squares of a power of the distances in the shells inside, in that power of the guess."""
        if self.thinning is None:
            return 0.0
        inside = [(octave, count) for octave, count in zip(NEAR_OCTAVES, self.noisy, strict=False) if octave < 0]
        return sum(max(0.0, float(count)) * (TYPICAL * 2.0 ** (octave + 1)) ** (2 * power) for octave, count in inside)

    def cut_at(self, end: int) -> tuple[Fraction, Tail | None, Lost | None]:
        """Where the side is cut, with its tail and what may be lost: at that end, or beyond shells that show rows further out."""
        showing = self.showing
        if not showing and self.thinning is None:
            return self.distance, None, None
        if self.thinning is not None:
            place = place_of(end)
            distance = self.distance * Fraction(place)
            if not showing or self._beyond(showing[-1]) <= distance:
                apart = self._apart(distance)
                distances, squares = (self.thinning.lost(end, power, ALLOWED, apart) / place**power for power in (1, 2))
                return distance, self.tail, Lost(distances, squares)
        return *self._beyond_shells(showing), None

    def outer(self, cut: Fraction, least: Fraction, unit: Fraction) -> OuterSide:
        """The shells beyond a cut in which rows are counted apart."""
        first = max(cut * Fraction(place_of(self._apart(cut))), least)
        return OuterSide.of(first, self.distance or unit, self.shells.distances, self.noisy, self.scale)

    def _apart(self, cut: Fraction) -> int:
        """Half octaves from a cut to where rows are counted apart: nearer where some are suspected there."""
        near, far = (cut * Fraction(place_of(half)) for half in (APART_NEAR, APART_FAR))
        begins = self.shells.distances
        suspected = any(
            count > SUSPECTED * self.scale and begin < 2 * far and end > near
            for count, begin, end in zip(self.noisy, begins, begins[1:], strict=False)
        )
        return APART_NEAR if suspected else APART_FAR

    def _beyond(self, last: int) -> Fraction:
        """The end of a shell; four times its begin where it has none."""
        ends = self.shells.distances[last + 1 :]
        return ends[0] if ends else self.shells.distances[last] * 4

    def _beyond_shells(self, showing: Sequence[int]) -> tuple[Fraction, Tail]:
        """A cut beyond all shells that show rows, and the tail from there on."""
        last, tail = showing[-1], self.tail
        distance = self._beyond(last)
        next_shells = [max(0.0, float(count)) for count in self.noisy[last + 1 : last + 1 + NEXT_SHELLS]]
        beyond = max(0.0, float(sum(self.noisy[last + 1 : last + 1 + NEXT_SHELLS]))) + FEWEST * self.scale
        rows = max(float(sum(self.noisy[place] for place in showing)), tail.noisy_rows if tail else 0.0)
        reach = float(min(distance, LARGEST))
        nats = math.log(max(rows / beyond, 2.0))
        exponent = tail.exponent if tail else USUAL_EXPONENT
        if tail and not tail.tied and nats > 1.1 * tail.nats and reach > tail.reach:
            exponent = max(exponent, math.log(reach / tail.reach) / math.log(nats / tail.nats))
        left = max(1.0, LEFT * beyond)
        return distance, Tail(rows, reach, nats, min(exponent, HEAVIEST), left, rows_in_shells=tuple(next_shells))


class _ShellCounts(NamedTuple):
    """Noisy numbers of rows in all shells of a side, and the scale of their noise."""

    noisy: Sequence[int]
    scale: float

    def at(self, place: int) -> NoisyLook:
        """One of the shells."""
        return NoisyLook(self.noisy[place], self.scale)


def _best_ends(sides: Sequence[_CountedSide], cells_scale: float, power: int) -> tuple[int, int]:
    """The ends of both sides that should make the shortest interval, for sampling error, noise and what is likely lost."""
    whole = max(side.distance for side in sides) or Fraction(1)
    down, up = (float(side.distance / whole) for side in sides)
    sampled = sides[0].squares(power) * down ** (2 * power) + sides[1].squares(power) * up ** (2 * power)
    best, shortest = (0, 0), math.inf
    lost_above = sides[1].lost(power)
    for lower, lost in sides[0].lost(power).items():
        for upper, lost_too in lost_above.items():
            noise = NOISE[power] * cells_scale * (down * place_of(lower) + up * place_of(upper)) ** power
            length = LENGTH * math.sqrt(sampled + noise**2) + lost * down**power + lost_too * up**power
            if length < shortest:
                best, shortest = (lower, upper), length
    return best
