"""Shells: noisy numbers of rows around a cut and beyond it, octave by octave, which tell where the tails end.

A cut is a guess from released limits, by a rule for tails. A row lies in one shell, so that all shells together cost what one
count does. The shells near the cut tell how the rows thin out (thinning.py): the cut moves to where noise and what may be lost
beyond make the shortest interval. Where a shell further out shows rows, of a second population, it moves beyond that shell.

Claim      epsilon-DP
Neighbors  ADD_REMOVE
Why        Noisy counts of disjoint parts of the line (histograms.proof.md) between edges that are functions of released numbers
Numerics   Exact counts by the rows' decimals; exact noise; floats after that
Source     means.proof.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.statistics.binned.edges import noisy_counts_between
from dpstats.statistics.clipped.clips import HEAVIEST, LARGEST, LEFT, USUAL_EXPONENT, Cut, Lost, Tail
from dpstats.statistics.clipped.thinning import ENDS, Thinning, place_of, thinning_of
from dpstats.statistics.clipped.thinning import OCTAVES as NEAR_OCTAVES
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, float_of, ordinal_of
from dpstats.statistics.universal.limits import largest_loss as loss_of_limits

SHELLS = Fraction(20, 100)
ALIKE_SHARE = Fraction(1, 4)
"""What the shells get where no row beside the middle was seen, and all depends on them."""
OCTAVES = (*NEAR_OCTAVES, 4, 5, 6, 8, 11, 15, 20, 27, 36, 48)
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
INWARD_OCTAVES = (-20, -12, -8, -5)
"""And where there is no cut on a side, before the first of these there is one from the middle on."""
FIRST_SIGN, SIGN_PER_OCTAVE, LARGEST_SIGN = 2.5, 0.9, 9.0
"""A shell shows rows where its noisy number is more than this many scales of its noise: more far out, as mistakes cost more."""
FAR, COARSE = 6, 11
"""So many octaves beyond a cut, or of the other side's cut, nobody would expect rows."""
NEAR_SIGN, NEAR = 5.0, 3
"""On a side without a cut, that holds for shells within so many octaves of the other side's cut, or of the size of the middle."""
FEWEST = 0.5
"""Beyond a shell that shows rows, rows worth this many scales of the noise are supposed beside those that shells show."""
LENGTH = 3.92
"""Standard deviations from end to end of an interval."""
NEXT_SHELLS = 2
"""So many shells beyond those that show rows tell how many rows are lost there."""
_LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True)
class _SideShells:
    """Where the shells of one side of the middle begin, as distances from it; the last one has no end."""

    distances: tuple[Fraction, ...]
    signs: tuple[float, ...]
    far: tuple[int, ...]
    """The places of shells in which nobody would expect rows."""

    @classmethod
    def beyond(cls, distance: Fraction, other: Fraction, middle: Fraction) -> _SideShells:
        """Beyond a cut at that distance; without one from the middle on, in units of the other side's cut."""
        if distance > 0:
            return cls(
                tuple(distance * Fraction(2) ** octave for octave in OCTAVES),
                tuple(_sign_at(octave) for octave in OCTAVES),
                tuple(place for place, octave in enumerate(OCTAVES) if octave >= FAR),
            )
        unit = other or abs(middle) or Fraction(1)
        octaves = (*INWARD_OCTAVES, *OCTAVES)
        signs = (NEAR_SIGN if abs(octave + 0.5) < NEAR else LARGEST_SIGN for octave in octaves)
        far = tuple(place for place, octave in enumerate((-99, *octaves)) if octave >= COARSE)
        return cls((Fraction(0), *(unit * Fraction(2) ** octave for octave in octaves)), (LARGEST_SIGN, *signs), far)

    def showing(self, noisy: Sequence[int], scale: float) -> list[int]:
        """The places of the shells that show rows."""
        return [place for place, (count, sign) in enumerate(zip(noisy, self.signs, strict=True)) if count > sign * scale]

    def is_far(self, noisy: Sequence[int], scale: float) -> bool:
        """Whether a shell shows rows that is far out."""
        return any(place in self.far for place in self.showing(noisy, scale))


def hidden_rows(epsilon: Fraction) -> float:
    """About how many rows may lie in a shell that shows none, where all rows seem alike."""
    return NEAR_SIGN / float(epsilon * ALIKE_SHARE)


def largest_loss() -> Fraction:
    """At most rho / epsilon**2 of limits, shells and cells, which spend all the rest of epsilon.

    As in limits.py, whose last step of noise is here split in two: two squares that add up to no more than the square of the sum.
    """
    return loss_of_limits()


def widen_cut(
    column: Column, cut: Cut, epsilon: Fraction, rng: RandomSource, cells_scale: float = 1.0, power: int = 1, inward: bool = True
) -> tuple[Cut, int]:
    """The cut, moved to where noisy shells suggest, and the noisy number of rows before the first shell.

    It spends epsilon, for one row added or removed. Cells of the rows will have noise of the scale `cells_scale`, and tell the
    mean of a `power` of the rows. Without `inward` the cut only moves outward.
    """
    down, up = cut.middle - cut.low, cut.high - cut.middle
    below, above = (_SideShells.beyond(one, other, cut.middle) for one, other in ((down, up), (up, down)))
    edges = [
        *(_edge(cut.middle - distance, 0) for distance in reversed(below.distances)),
        *(_edge(cut.middle + distance, 1) for distance in above.distances),
    ]
    noisy = noisy_counts_between(column, edges, epsilon, rng)
    noisy_below, noisy_above = noisy[: len(below.distances)][::-1], noisy[-len(above.distances) :]
    scale = 1 / float(epsilon)
    astray = below.is_far(noisy_below, scale) or above.is_far(noisy_above, scale)
    sides = [
        _CountedSide(shells, counts, distance, tail, scale)
        for shells, counts, distance, tail in ((below, noisy_below, down, cut.below), (above, noisy_above, up, cut.above))
    ]
    ends = _best_ends(sides, cells_scale, power, inward)
    down, tail_below, lost_below = sides[0].cut_at(ends[0])
    up, tail_above, lost_above = sides[1].cut_at(ends[1])
    low, high = max(-LARGEST, cut.middle - down), min(LARGEST, cut.middle + up)
    moved = replace(cut, low=low, high=high, below=tail_below, above=tail_above, even=False, astray=astray)
    return replace(moved, counted=(lost_below, lost_above)), noisy[len(below.distances)]


def _sign_at(octave: int) -> float:
    """How many scales of its noise make a shell show rows."""
    return math.inf if octave < SURE_SHELL else min(FIRST_SIGN + SIGN_PER_OCTAVE * octave, LARGEST_SIGN)


def _edge(place: Fraction, further: int) -> float:
    """The decimal of a place, or the next one, so that rows at a cut do not count as beyond it."""
    ordinal = ordinal_of(float(max(-_LARGEST, min(_LARGEST, place)))) + further
    return float_of(max(-HIGHEST_ORDINAL, min(HIGHEST_ORDINAL, ordinal)))


class _CountedSide:
    """One side's guess of a cut, and what its shells show."""

    def __init__(self, shells: _SideShells, noisy: Sequence[int], distance: Fraction, tail: Tail | None, scale: float) -> None:
        self.shells = shells
        self.noisy = noisy
        self.distance = distance
        self.tail = tail
        self.scale = scale
        near = [float(count) for count in noisy[: len(NEAR_OCTAVES)]]
        self.thinning: Thinning | None = thinning_of(near, scale) if distance > 0 and tail else None

    def lost(self, power: int, inward: bool) -> dict[int, float]:
        """What is likely lost at each end that the side may be cut at, of a power of distances, in that power of the guess."""
        if self.thinning is None:
            return {0: 0.0}
        return {end: self.thinning.lost(end, power, LIKELY) for end in ENDS if inward or end >= 0}

    def squares(self, power: int) -> float:
        """About the sum of the squares of a power of the distances in the shells inside, in that power of the guess."""
        if self.thinning is None:
            return 0.0
        inside = [(octave, count) for octave, count in zip(OCTAVES, self.noisy, strict=False) if octave < 0]
        return sum(max(0.0, float(count)) * (TYPICAL * 2.0 ** (octave + 1)) ** (2 * power) for octave, count in inside)

    def cut_at(self, end: int) -> tuple[Fraction, Tail | None, Lost | None]:
        """Where the side is cut, with its tail and what may be lost: at that end, or beyond shells that show rows further out."""
        showing = self.shells.showing(self.noisy, self.scale)
        if not showing and self.thinning is None:
            return self.distance, None, None
        if self.thinning is not None:
            place = place_of(end)
            distance = self.distance * Fraction(place)
            if not showing or self._beyond(showing[-1]) <= distance:
                distances, squares = (self.thinning.lost(end, power, ALLOWED) / place**power for power in (1, 2))
                return distance, self.tail, Lost(distances, squares)
        return *self._beyond_shells(showing), None

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


def _best_ends(sides: Sequence[_CountedSide], cells_scale: float, power: int, inward: bool) -> tuple[int, int]:
    """The ends of both sides that should make the shortest interval, for sampling error, noise and what is likely lost."""
    whole = max(side.distance for side in sides) or Fraction(1)
    down, up = (float(side.distance / whole) for side in sides)
    sampled = sides[0].squares(power) * down ** (2 * power) + sides[1].squares(power) * up ** (2 * power)
    best, shortest = (0, 0), math.inf
    lost_above = sides[1].lost(power, inward)
    for lower, lost in sides[0].lost(power, inward).items():
        for upper, lost_too in lost_above.items():
            noise = NOISE[power] * cells_scale * (down * place_of(lower) + up * place_of(upper)) ** power
            length = LENGTH * math.sqrt(sampled + noise**2) + lost * down**power + lost_too * up**power
            if length < shortest:
                best, shortest = (lower, upper), length
    return best
