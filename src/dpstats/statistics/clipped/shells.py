"""Shells: noisy numbers of rows beyond a cut, octave by octave, which tell whether the cut lies where the tails end.

A cut is a guess from released limits, by a rule for tails. Rows of a second population, or of a heavier tail, lie beyond it.
A row lies in one shell, so that all shells together cost what one count does. Where a shell shows rows, the cut moves beyond it;
how many rows the shells just beyond the cut show tells what is still lost there.

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
from dpstats.statistics.clipped.clips import HEAVIEST, LARGEST, LEFT, USUAL_EXPONENT, Cut, Tail
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, float_of, ordinal_of
from dpstats.statistics.universal.limits import Share
from dpstats.statistics.universal.limits import largest_loss as loss_of_limits

SHELLS = Share(30, Fraction(8, 100), Fraction(10, 100))
ALIKE_SHARE = Fraction(1, 4)
"""What the shells get where no row beside the middle was seen, and all depends on them."""
OCTAVES = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 27, 36, 48)
"""Where shells begin, in octaves beyond the cut."""
INWARD_OCTAVES = (-20, -12, -8, -5, -3, -2, -1)
"""And where there is no cut on a side, before the first of these there is one from the middle on."""
FIRST_SIGN, SIGN_PER_OCTAVE, LARGEST_SIGN = 2.5, 0.9, 9.0
"""A shell shows rows where its noisy number is more than this many scales of its noise: more far out, as mistakes cost more."""
FAR, COARSE = 6, 11
"""So many octaves beyond a cut, or of the other side's cut, nobody would expect rows."""
NEAR_SIGN, NEAR = 5.0, 3
"""On a side without a cut, that holds for shells within so many octaves of the other side's cut, or of the size of the middle."""
FEWEST, MOST = 0.5, 2.0
"""Beyond a cut, rows worth this many scales of the noise are supposed beside those that shells show: at least, and at most."""
NEXT_SHELLS = 2
"""So many shells beyond the cut tell how many rows are lost there."""
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
                tuple(distance * 2**octave for octave in OCTAVES),
                tuple(min(FIRST_SIGN + SIGN_PER_OCTAVE * octave, LARGEST_SIGN) for octave in OCTAVES),
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


def widen_cut(column: Column, cut: Cut, epsilon: Fraction, rng: RandomSource) -> tuple[Cut, int]:
    """The cut, moved outward to where noisy shells show no more rows, and the noisy number of rows before the first shell.

    It spends epsilon, for one row added or removed.
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
    down, tail_below = _moved(below, noisy_below, down, cut.below, scale)
    up, tail_above = _moved(above, noisy_above, up, cut.above, scale)
    low, high = max(-LARGEST, cut.middle - down), min(LARGEST, cut.middle + up)
    even = cut.even and down == up
    moved = replace(cut, low=low, high=high, below=tail_below, above=tail_above, even=even, astray=astray)
    return moved, noisy[len(below.distances)]


def _edge(place: Fraction, further: int) -> float:
    """The decimal of a place, or the next one, so that rows at a cut do not count as beyond it."""
    ordinal = ordinal_of(float(max(-_LARGEST, min(_LARGEST, place)))) + further
    return float_of(max(-HIGHEST_ORDINAL, min(HIGHEST_ORDINAL, ordinal)))


def _moved(
    shells: _SideShells, noisy: Sequence[int], distance: Fraction, tail: Tail | None, scale: float
) -> tuple[Fraction, Tail | None]:
    """Where one side is cut, and its tail as the shells show it."""
    showing = shells.showing(noisy, scale)
    last = showing[-1] if showing else -1
    if last >= 0:
        ends = shells.distances[last + 1 :]
        distance = ends[0] if ends else shells.distances[last] * 4
    seen = max(0.0, float(sum(noisy[last + 1 : last + 1 + NEXT_SHELLS])))
    beyond = seen + FEWEST * scale
    in_shells = tuple(max(0.0, float(count)) for count in noisy[last + 1 : last + 1 + NEXT_SHELLS])
    if last < 0:
        if tail is None:
            return distance, None
        tail = tail.with_rows_beyond(float(distance), beyond, seen + MOST * scale)
        return distance, replace(tail, rows_in_shells=in_shells)
    rows = max(float(sum(noisy[place] for place in showing)), tail.noisy_rows if tail else 0.0)
    reach = float(min(distance, LARGEST))
    nats = math.log(max(rows / beyond, 2.0))
    exponent = tail.exponent if tail else USUAL_EXPONENT
    if tail and not tail.tied and nats > 1.1 * tail.nats and reach > tail.reach:
        exponent = max(exponent, math.log(reach / tail.reach) / math.log(nats / tail.nats))
    return distance, Tail(rows, reach, nats, min(exponent, HEAVIEST), max(1.0, LEFT * beyond), rows_in_shells=in_shells)
