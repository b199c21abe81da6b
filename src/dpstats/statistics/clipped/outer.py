"""Outer cells: shells of distance beyond a clip, in which rows are counted instead of in the clip's own cells.

A row has one weight of 1 to give: to the cells inside (cells.py) or, where it lies several cuts out, to the one
shell that holds it. So all shells together cost nothing, and the largest part of epsilon looks for rows far out. Together with an
earlier look at the same places (shells.py), a noisy number that noise alone hardly makes says that rows are there: they count
where the shell is, and the interval holds both of its ends. Where they are too few to count but too many to leave out, the
interval has room for them; where they lie out of all proportion, there is no reply. All other shells count as empty, so that
their noise costs nothing.

Everything here is arithmetic on released numbers: no claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.clipped.cells import NoisyCells, OuterEdges
from dpstats.statistics.clipped.margins import Frame
from dpstats.statistics.clipped.thinning import place_of
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, float_of, ordinal_of

APART_NEAR, APART_FAR = 2, 4
"""Half octaves from a cut to its first shell: from APART_NEAR on where an earlier look suspects rows there, from APART_FAR on
elsewhere. With APART_FAR alone, a clump of 1% between two cuts and five, beside lognormal rows, was in 57% of the intervals of
its mean, and in 94% with APART_NEAR alone; but that leaves out rows of heavy tails, too, and made intervals of means of t3 and of
counts 4 to 10% longer."""
SUSPECTED = 1.0
"""Scales of noise that make rows suspected: they do in 1 of 3 light columns, at no cost. At 2, that clump was in 86%."""
LAST = 12
"""Half octaves from the guess of a cut to the last shell, which has no end: where its rows are does not matter to a refusal."""
BELIEF, BELIEF_PER_POWER = 8.5, 0.7
"""The evidence, in nats, above which rows in the first shell count, and what is asked for beside it for each further shell and
each power of the distance that is summed: a mistake costs as much more there. Without rows, a shell has evidence of t nats in
about .4 exp(-t) of columns: 3 of 10,000 light columns have rows that are not there, and at 7.5 it was 1 of 1,000."""
DOUBT = 6.0
"""The evidence above which the interval has room for rows that do not count: in about 1 of 100 light columns."""
PROPORTION, PROPORTION_DOUBT, LAST_DOUBT = 8, 7.5, 5.5
"""From PROPORTION shells on, rows that do not count are a refusal where they have this evidence, and all rows in the last one:
in 3 of 1,000 light columns; of 9,150 replies about such, 5 of 1,000 were refused in all. At 5.2 a code of 1e6 in .3% of 3,000
rows is refused in a few samples of 100 more, at epsilon 1.7."""
PAIR_DOUBT = 1.5
"""The numbers of two shells together have more noise: so many nats are taken off their evidence."""
NEIGHBOR = 2.0
"""Scales of its noise from which on a shell beside one that counts does so, too: groups of rows seldom keep to one shell."""
HIDDEN = 3.0
"""Nats by which noise may hide rows that would otherwise show: it does more in 1 of 40 shells."""
_HALVES = range(-12, LAST + 3)
"""Half octaves from the guess of a cut at which shells begin, as a rule."""


class NoisyLook(NamedTuple):
    """A noisy number of rows in a part of the line, and the scale of its noise; infinite where nobody looked."""

    noisy: float
    scale: float

    def gain(self, rows: float) -> float:
        """The logarithm of the likelihood of a number of rows, over that of none."""
        return 0.0 if math.isinf(self.scale) else (abs(self.noisy) - abs(self.noisy - rows)) / self.scale


NOT_LOOKED = NoisyLook(0.0, math.inf)


def evidence(looks: Sequence[NoisyLook]) -> float:
    """The logarithm of the likelihood of the best number of rows, over that of none.

    Looks that contradict each other have little of it: 40 rows and 19, with noise of scales 5 and 7.5, have 7.7 nats, and 27 and
    27 have 9.
    """
    return max(math.fsum(look.gain(rows) for look in looks) for rows in (max(0.0, look.noisy) for look in looks))


class Verdict(NamedTuple):
    """What the shells of one side say, by their places from inside out."""

    counting: tuple[int, ...]
    """Shells whose rows count."""
    roomy: tuple[int, ...]
    """Shells with too few for it, for which the interval has room."""
    astray: bool
    """Whether rows lie out of all proportion."""


@dataclass(frozen=True)
class OuterSide:
    """The shells of one side: where they begin, as distances from the middle. The last one has no end."""

    distances: tuple[Fraction, ...]
    earlier: tuple[NoisyLook, ...]
    """An earlier look at the octave that holds the shell."""
    octaves: frozenset[int]
    """Shells that make such an octave together with the next one."""

    @classmethod
    def of(cls, first: Fraction, unit: Fraction, begins: Sequence[Fraction], noisy: Sequence[int], scale: float) -> OuterSide:
        """Shells that begin at a distance or a little beyond, at half octaves of a unit.

        An earlier look counted rows in shells that begin at `begins`, the last of which has no end either.
        """
        half = max(_HALVES[0], 2 * octaves_up_to(first / unit)) if first > 0 else _HALVES[0]
        while half_octaves(unit, half) < first:
            half += 1
        distances = []
        while (distance := half_octaves(unit, half)) < begins[-1]:
            distances.append(distance)
            half += 1
        distances.append(max(distance, begins[-1]))
        looked = [max((place for place, begin in enumerate(begins) if begin <= each), default=None) for each in distances]
        whole = set(pairwise(begins))
        return cls(
            tuple(distances),
            tuple(NOT_LOOKED if place is None else NoisyLook(noisy[place], scale) for place in looked),
            frozenset(place for place in range(len(distances) - 2) if (distances[place], distances[place + 2]) in whole),
        )

    def judge(self, numbers: Sequence[int], scale: float, power: int) -> Verdict:
        """What noisy numbers of rows in the last shells say, for the sum of a power of the distances."""
        last = len(self.distances) - 1
        first = last + 1 - len(numbers)
        counts = dict(zip(range(first, last + 1), numbers, strict=True))
        counting: set[int] = set()
        doubtful: set[int] = set()
        astray = last in counts and evidence((NoisyLook(counts[last], scale), self.earlier[last])) > LAST_DOUBT
        parts: list[tuple[tuple[int, ...], float]] = [((place,), 0.0) for place in range(first, last)]
        parts += [((place, place + 1), PAIR_DOUBT) for place in sorted(self.octaves) if place >= first]
        for places, doubt in parts:
            if not counting.isdisjoint(places):
                continue
            rows = sum(counts[place] for place in places)
            found = evidence((NoisyLook(rows, scale), self.earlier[places[0]])) - doubt
            if rows > 0 and found > BELIEF + BELIEF_PER_POWER * power * places[0]:
                counting.update(places)
            elif places[0] >= PROPORTION and found > PROPORTION_DOUBT:
                astray = True
            elif found > DOUBT:
                doubtful.update(places)
        for step, order in ((1, range(first, last)), (-1, range(last - 1, first - 1, -1))):
            counting.update(place for place in order if place - step in counting and counts[place] > NEIGHBOR * scale)
        return Verdict(tuple(sorted(counting)), tuple(sorted(doubtful - counting)), astray)


@dataclass(frozen=True)
class OuterShells:
    """The shells of both sides of a middle."""

    middle: Fraction
    below: OuterSide
    above: OuterSide

    @property
    def edges(self) -> OuterEdges:
        """Where shells begin, as decimals."""
        return OuterEdges(
            tuple(edge_at(self.middle - distance, 0) for distance in reversed(self.below.distances)),
            tuple(edge_at(self.middle + distance, 1) for distance in self.above.distances),
        )

    def judged(self, cells: NoisyCells, frame: Frame, power: int) -> tuple[NoisyCells, bool]:
        """The cells with the shells that have rows, and whether rows lie out of all proportion."""
        scale = 1 / cells.epsilon
        noisy: list[float] = []
        ends: list[tuple[float, float]] = []
        roomy: list[tuple[float, float]] = []
        astray = False
        for side, sign, numbers in ((self.below, -1, cells.outer_below[::-1]), (self.above, 1, cells.outer_above)):
            places = [(nearest_float(self.middle + sign * each) - frame.centre) / frame.radius for each in side.distances]
            counts = dict(zip(range(len(places) - len(numbers), len(places)), numbers, strict=True))
            verdict = side.judge(numbers, scale, power)
            astray = astray or verdict.astray
            noisy += [float(counts[place]) for place in verdict.counting]
            ends += [(places[place], places[place + 1]) for place in verdict.counting]
            for place in verdict.roomy:
                roomy.append((_most_rows((NoisyLook(counts[place], scale), side.earlier[place])), places[place + 1]))
        near, far = np.array(ends).reshape(-1, 2).T
        together = np.concatenate([cells.noisy, noisy])
        return replace(cells, noisy=together, near=near, far=far, roomy=tuple(roomy)), astray


def half_octaves(unit: Fraction, number: int) -> Fraction:
    """A distance, that many half octaves further out; of any size."""
    return unit * Fraction(2) ** (number // 2) * Fraction(place_of(number % 2))


def octaves_up_to(ratio: Fraction) -> int:
    """The whole octaves in a ratio, or one less."""
    return ratio.numerator.bit_length() - ratio.denominator.bit_length() - 1


def edge_at(place: Fraction, further: int) -> float:
    """The decimal of a place, or the next one, so that rows at a cut do not count as beyond it."""
    ordinal = ordinal_of(nearest_float(place)) + further
    return float_of(max(-HIGHEST_ORDINAL, min(HIGHEST_ORDINAL, ordinal)))


def outer_distances(unit: Fraction) -> tuple[Fraction, ...]:
    """Where shells begin, as a rule, for a guess of a cut at that distance."""
    return tuple(half_octaves(unit, half) for half in _HALVES)


def unseen_rows(epsilon: Fraction) -> float:
    """About how many rows far out noise may hide, where all looks at them spend epsilon."""
    return (PROPORTION_DOUBT + HIDDEN) / float(epsilon)


def _most_rows(looks: Sequence[NoisyLook]) -> float:
    """The rows that looks tell together, and a deviation of their noise more."""
    weights = [1 / look.scale**2 for look in looks]
    mean = math.fsum(look.noisy * weight for look, weight in zip(looks, weights, strict=True)) / math.fsum(weights)
    return max(0.0, mean) + math.sqrt(2 / math.fsum(weights))
