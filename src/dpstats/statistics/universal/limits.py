"""Limits: a private middle of the rows, and on either side of it how far they reach but for a few.

Claim      epsilon-DP for all of it together, where epsilon is what `Limits.spent` says
Neighbors  ADD_REMOVE
Why        A noisy number of rows; the median, to as many digits as can be told, and then among the rows that share these; on
           either side of them three steps that add up: a noisy number of rows there, their median, whose distance from the
           middle is a public scale, and a draw that leaves about SAFE_NATS / epsilon of them beyond. A row lies on one side
           only, or in between, so that all of these cost what one does. A side with hardly a row, by its noisy number, is not
           looked at any further; one with few is counted in octaves (octaves.py) and not drawn from. Draws are made in public
           bands of decimals (bands.py)
Numerics   Exact, as draw.py
Source     limits.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, WindowRequest, expect_windows
from dpstats.mechanisms.discrete_laplace import noisy_count, noisy_counts
from dpstats.statistics.universal.bands import Band, BandEnds, Bands, DigitBands, DistanceBands
from dpstats.statistics.universal.beside import flat_up_to, shells_around, shells_beside, stretches_of, tied_in
from dpstats.statistics.universal.decimals import DIGITS, HIGHEST_ORDINAL, fraction_of, lattice_groups, lowest_value_at
from dpstats.statistics.universal.draw import CLIP, RankLoss, draw_piece, symmetric_slope
from dpstats.statistics.universal.line import CutLine, Integers, Stretch
from dpstats.statistics.universal.measure import MIXED
from dpstats.statistics.universal.octaves import octave_ends, raw_counts_in_octaves, seen_in

INNER_CLIP = Fraction(32)
"""Nats that the draw of the middle within its band can lose: more than the digits take that are left to tell."""
SIDE_CLIP, FEW_ROWS = Fraction(28), 400
"""Nats that a draw on one side can lose at least: shells around the middle leave the far line little mass to begin with. It is
more where that takes few rows: with a large epsilon the only good place may be a single decimal, which has next to no mass."""
ROWS_SHARE = Fraction(15, 1000)
OUTWARD_SHARE = Fraction(7, 10)
"""How much steeper the draw of a reach is outward: landing too far out costs more than leaving a few rows more."""
SAFE_NATS = 7
"""A reach leaves rows worth this many nats beyond it."""
MOST_OCTAVES = 5
"""Where nats abound, no further: the rows pull a reach outward by themselves then, and nothing else should."""
UNSURE_SCALES = 8
"""A side whose noisy number of rows is at most this many scales of its noise is counted again, more closely."""
RECOUNT_SHARE = Fraction(13, 100)
THIN_SCALES = 5
"""A side whose number is small then, too, counts as empty."""
DRAWN_NATS = 100
"""A side with fewer rows times epsilon is counted in octaves. A draw among so few rows lands anywhere on the line now and then:
the draw of a scale has a quarter of epsilon at most, of which each half of the rows is worth DRAWN_NATS / 8 nats there, and all
octaves of the line together weigh about as much as e**3 of them. (Zeros and 1.5% of ones: 1% of limits beyond 1e6 with draws.)"""
OCTAVES_SHARE = Fraction(40, 100)
"""What those counts get: about as much as the draws would."""
UNSEEN_SCALES = 2
"""Rows worth this many scales of their noise may lie beyond the last octave that shows some."""
FEWEST_DIGITS, ROWS_DOUBT, NATS_TO_SPARE, NATS_PER_DIGIT = 6, 2, 8, Fraction(23, 10)
"""The first draw of the middle tells as many digits as it has nats for, if there are fewer rows than it seems, by two scales of
their noise. Few rows that are all tied at 1/3 would not be found by a draw that told 15 digits."""


@dataclass(frozen=True)
class Share:
    """The part of epsilon that a step takes: rows worth `nats` nats, clamped to [least, most]."""

    nats: int
    least: Fraction
    most: Fraction

    def of(self, noisy_nats: Fraction) -> Fraction:
        """The share for `noisy_nats`, which is the noisy number of rows times epsilon."""
        return min(self.most, max(self.least, self.nats / max(noisy_nats, Fraction(1))))

    def ends(self) -> tuple[Fraction, Fraction]:
        """The smallest share that it can be, and the largest."""
        return self.least, self.most


MIDDLE = Share(55, Fraction(4, 100), Fraction(25, 100))
SIDE = Share(25, Fraction(3, 100), Fraction(10, 100))
SCALE = Share(30, Fraction(3, 100), Fraction(25, 100))
REACH = Share(50, Fraction(15, 100), Fraction(18, 100))
SCALE_ALONE = Share(40, Fraction(3, 100), Fraction(25, 100))
"""Of limits without reaches: no later draw makes up for a scale that was drawn astray. With 30 nats 1 of 300 was, of 1,000 normal
rows at epsilon 1."""
INNER_ALONE = Share(60, Fraction(6, 100), Fraction(18, 100))
"""What the draw within the middle's band takes then: about what a side does."""


GIVING_WAY = Fraction(14, 10)
"""By how much less the sides get, over what other steps took before them: so that something is left even where rows are few."""


Shares = tuple[Fraction, ...]


@dataclass(frozen=True)
class Side:
    """The rows strictly to one side of the middle."""

    noisy_rows: int
    scale: Fraction
    """The distance to the median of them."""
    reach: Fraction
    """The distance beyond which few of them lie."""
    rows_beyond: Fraction
    """About how many of them lie beyond it."""


EMPTY = Side(0, Fraction(0), Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Limits:
    """The middle, both sides, and what was spent on them."""

    middle: Fraction
    below: Side
    above: Side
    noisy_rows: int
    spent: Fraction


def largest_loss(between: Sequence[Shares] = ((),), *, reaches: bool = True) -> Fraction:
    """At most rho / epsilon**2 of the limits together with one step of Laplace noise that spends all the rest of epsilon.

    `between` lists what steps of Laplace noise may take between the middle and the sides, which may then be left out. Noise
    counts with half of its squared share, a draw with an eighth. The sum is convex in the shares, so it is largest where each of
    them is at an end of its range.
    """
    none = Fraction(0)
    counts = list(product(SIDE.ends(), (none, RECOUNT_SHARE)))
    sides: list[tuple[Shares, Shares]] = [(each, ()) for each in counts]
    sides += product(counts, product(SCALE.ends(), REACH.ends()) if reaches else [(scale,) for scale in SCALE_ALONE.ends()])
    sides += [((*each, OCTAVES_SHARE), ()) for each in counts]
    losses = []
    for middle, steps in product(MIDDLE.ends(), between):
        part = 1 - GIVING_WAY * sum(steps, none)
        courses = [(tuple(part * share for share in noises), tuple(part * share for share in draws)) for noises, draws in sides]
        courses += [((), (inner,)) for inner in (REACH if reaches else INNER_ALONE).ends()]  # of a row in the middle's band
        courses += [((), ())] if steps else []  # without sides
        for noises, draws in courses:
            losses.append(_loss_of([ROWS_SHARE, *steps, *noises], [middle, *draws]))
    return max(losses)


def _loss_of(noises: Shares | list[Fraction], draws: Shares | list[Fraction]) -> Fraction:
    """rho / epsilon**2 of steps with these shares and a last one with noise that takes the rest."""
    none = Fraction(0)
    rest = 1 - sum(noises, none) - sum(draws, none)
    return sum((share**2 for share in (*noises, rest)), none) / 2 + sum((share**2 for share in draws), none) / 8


_EVERYWHERE = (-HIGHEST_ORDINAL, HIGHEST_ORDINAL)


class _Line:
    """The rows of a column on the line of all decimals."""

    def __init__(self, column: Column, rng: RandomSource) -> None:
        self.column = column
        self.rng = rng
        self.raw_rows = column.count()


class _LinePart:
    """A stretch of the line from one decimal to another, with the rows in it: those of rank raw_first + 1 to raw_last.

    Decimals of the same band count as one place.
    """

    def __init__(self, line: _Line, bounds: tuple[int, int], raw_ranks: tuple[int, int], bands: Bands) -> None:
        self.line = line
        self.first, self.last = bounds
        self.raw_first, self.raw_last = raw_ranks
        self.bands = bands
        self.low = self.high = 0
        if self.first <= self.last:
            (self.low, _), (start, width) = MIXED.span(self.first), MIXED.span(self.last)
            self.high = start + width

    @property
    def raw_rows(self) -> int:
        """Rows in the part."""
        return self.raw_last - self.raw_first

    def _bands_of(self, ordinals: Integers) -> BandEnds:
        """The bands of ascending decimals of the part, as far as they lie in it."""
        firsts, lasts = self.bands.around(ordinals)
        if firsts is lasts:
            return BandEnds(firsts, lasts)
        return BandEnds(np.maximum(firsts, self.first), np.minimum(lasts, self.last))

    def pieces(self, loss: RankLoss) -> CutLine:
        """The part, cut where its rows lie; `loss` has its target among the ranks of all rows."""
        margin = min(loss.margin(), max(1, math.ceil(max(loss.target - self.raw_first, self.raw_last - loss.target))))
        (window,) = self.line.column.order_windows([WindowRequest(loss.target / max(self.line.raw_rows, 1), margin)])
        ((ordinals, raw_counts),) = lattice_groups([window])
        raw_ends = window.raw_below + np.cumsum(raw_counts)
        begin = int(np.searchsorted(raw_ends, self.raw_first, side="right"))
        end = int(np.searchsorted(raw_ends - raw_counts, self.raw_last, side="left"))
        raw_below = window.raw_below + int(raw_counts[:begin].sum())
        raw_up_to = raw_below + int(raw_counts[begin:end].sum())
        hidden_below, hidden_above = raw_below > self.raw_first, raw_up_to < self.raw_last
        firsts, lasts, raw_counts = _merged(self._bands_of(ordinals[begin:end]), raw_counts[begin:end])
        marks = MIXED.band_marks(firsts, lasts, raw_counts)
        return CutLine(self.low, self.high, marks, raw_below, hidden_below=hidden_below, hidden_above=hidden_above)

    def draw(self, loss: RankLoss, stretches: Sequence[Stretch] = ()) -> Band:
        """The band of a place in the part."""
        _, position = draw_piece(self.pieces(loss).boosted(stretches), loss, self.line.rng)
        band = self.bands.band(MIXED.ordinal_at(position))
        return Band(max(band.first, self.first), min(band.last, self.last))

    def median(self, epsilon: Fraction, clip: Fraction, stretches: Sequence[Stretch] = ()) -> Band:
        """The band of a private median of the part's rows."""
        slope = symmetric_slope(Fraction(1, 2), epsilon, Neighbors.ADD_REMOVE)
        return self.draw(
            RankLoss(self.raw_first + Fraction(self.raw_rows, 2), slope, slope, max(clip, _clip_for(slope))), stretches
        )

    def reach(self, upward: bool, epsilon: Fraction, stretches: Sequence[Stretch]) -> Band:
        """The band of a private place with few of the part's rows beyond it."""
        outward, inward = epsilon * OUTWARD_SHARE, epsilon * (1 - OUTWARD_SHARE)
        left_out = min(math.floor(SAFE_NATS / epsilon), self.raw_rows)
        if upward:
            return self.draw(RankLoss(Fraction(self.raw_last - left_out), outward, inward, _clip_for(inward)), stretches)
        return self.draw(RankLoss(Fraction(self.raw_first + left_out), inward, outward, _clip_for(inward)), stretches)


@dataclass(frozen=True)
class Middle:
    """The middle of a column's rows, and what was spent on it."""

    line: _Line
    band: Band
    """The decimals among which the middle was found."""
    raw_ranks: tuple[int, int]
    """How many rows lie below the band, and how many below or in it."""
    place: int
    """The middle itself, as an ordinal."""
    noisy_rows: int
    spent: Fraction
    """On the number of rows and the band."""
    spent_in_band: Fraction
    """On the place in the band: rows of the sides have no part in it."""


def draw_limits(column: Column, epsilon: Fraction, rng: RandomSource, *, reaches: bool = True) -> Limits:
    """Draw them out of the epsilon of a whole statistic, for one row added or removed; `spent` says how much of it was used."""
    return limits_around(draw_middle(column, epsilon, rng, reaches=reaches), epsilon, reaches=reaches)


def draw_middle(column: Column, epsilon: Fraction, rng: RandomSource, *, reaches: bool = True) -> Middle:
    """Draw the middle out of the epsilon of a whole statistic; `reaches` says whether `limits_around` will draw them."""
    expect_windows(column, _likely_windows(epsilon))
    line = _Line(column, rng)
    raw_rows = line.raw_rows
    rows_epsilon = epsilon * ROWS_SHARE
    noisy_rows = max(1, noisy_count(raw_rows, rows_epsilon, rng))
    middle_epsilon = epsilon * MIDDLE.of(noisy_rows * epsilon)
    bands = DigitBands(_digits_told(noisy_rows * epsilon, middle_epsilon / epsilon))
    band = middle = _LinePart(line, _EVERYWHERE, (0, raw_rows), bands).median(middle_epsilon, CLIP)
    raw_ranks = _ranks_at(column, band)
    inner_epsilon = Fraction(0)
    if band.first < band.last:
        noisy_nats = noisy_rows * epsilon
        inner_epsilon = epsilon * (REACH if reaches else INNER_ALONE).of(noisy_nats)
        middle = _LinePart(line, band, raw_ranks, DigitBands(DIGITS)).median(inner_epsilon, INNER_CLIP)
    return Middle(line, band, raw_ranks, middle.last, noisy_rows, rows_epsilon + middle_epsilon, inner_epsilon)


def limits_around(middle: Middle, epsilon: Fraction, spent_between: Fraction = Fraction(0), *, reaches: bool = True) -> Limits:
    """The limits on either side of a middle, of the same epsilon, of which other steps have spent a part meanwhile.

    Without `reaches`, a side ends at its scale, beyond which half of its rows lie, and what a reach would take is left.
    """
    line, place, (raw_below, raw_up_to) = middle.line, middle.place, middle.raw_ranks
    left = epsilon - GIVING_WAY * spent_between
    below = _LinePart(line, (_EVERYWHERE[0], middle.band.first - 1), (0, raw_below), DistanceBands(place, upward=False))
    above = _LinePart(line, (middle.band.last + 1, _EVERYWHERE[1]), (raw_up_to, line.raw_rows), DistanceBands(place, upward=True))
    side_epsilon = left * SIDE.of(middle.noisy_rows * left)
    looks = [_Look(part, upward, left, side_epsilon) for part, upward in ((below, False), (above, True))]
    likely = Fraction(0)
    for look in sorted(looks, key=lambda look: -look.noisy_rows):  # the scale of one side makes that of the other one likely
        likely = look.at(place, likely, reaches).scale
    spent = middle.spent + spent_between + max(middle.spent_in_band, *(look.spent for look in looks))
    return Limits(fraction_of(place), looks[0].side, looks[1].side, middle.noisy_rows, spent)


class _Look:
    """The steps that are taken on one side of the middle."""

    def __init__(self, part: _LinePart, upward: bool, epsilon: Fraction, side_epsilon: Fraction) -> None:
        self._part = part
        self._upward = upward
        self._epsilon = epsilon
        self.side = EMPTY
        self.spent = side_epsilon
        self.noisy_rows = self._count(side_epsilon)
        if self.noisy_rows * side_epsilon <= UNSURE_SCALES:
            self.spent += epsilon * RECOUNT_SHARE
            self.noisy_rows = self._count(epsilon * RECOUNT_SHARE)
            self._is_thin = self.noisy_rows * epsilon * RECOUNT_SHARE <= THIN_SCALES
        else:
            self._is_thin = False

    def at(self, middle: int, likely: Fraction, reaches: bool) -> Side:
        """Take the steps that are left; without `reaches`, not the last one."""
        part = self._part
        if self._is_thin or part.low == part.high:
            return self.side
        noisy_nats = self.noisy_rows * self._epsilon
        if noisy_nats < DRAWN_NATS:
            self.side = self._in_octaves(middle, likely)
            return self.side
        scale_epsilon = self._epsilon * (SCALE if reaches else SCALE_ALONE).of(noisy_nats)
        self.spent += scale_epsilon
        (around,) = stretches_of([shells_around(part.low, part.high, middle, self._upward, likely)])
        typical = part.median(scale_epsilon, SIDE_CLIP, around)
        scale = self._distance(typical, middle)
        if not reaches:
            self.side = Side(self.noisy_rows, scale, scale, max(Fraction(self.noisy_rows, 2), Fraction(1)))
            return self.side
        reach_epsilon = self._epsilon * REACH.of(noisy_nats)
        self.spent += reach_epsilon
        weights = flat_up_to(_octaves_to_reach(noisy_nats * reach_epsilon / self._epsilon))
        (beside,) = stretches_of([shells_beside(part.low, part.high, 1, middle, scale, self._upward, weights)])
        beside += tied_in(part.low, part.high, typical, self._outer_end(typical))
        reach = self._distance(part.reach(self._upward, reach_epsilon, beside), middle)
        self.side = Side(self.noisy_rows, scale, reach, SAFE_NATS / reach_epsilon)
        return self.side

    def _in_octaves(self, middle: int, likely: Fraction) -> Side:
        """A side of few rows: as noisy counts of them in octaves of their distance tell it."""
        part, epsilon = self._part, self._epsilon * OCTAVES_SHARE
        self.spent += epsilon
        ends = octave_ends(middle, self._upward, likely, (part.first, part.last))
        raw_counts = raw_counts_in_octaves(part.line.column, ends, self._upward, (part.raw_first, part.raw_last))
        noisy = noisy_counts(raw_counts, epsilon, part.line.rng)
        seen = seen_in(noisy, 1 / float(epsilon))
        if seen is None:
            return EMPTY
        scale, reach = (abs(fraction_of(ends[octave]) - fraction_of(middle)) for octave in (seen.typical, seen.last))
        return Side(self.noisy_rows, scale, reach, UNSEEN_SCALES / epsilon)

    def _outer_end(self, band: Band) -> int:
        return band.last if self._upward else band.first

    def _distance(self, band: Band, middle: int) -> Fraction:
        """The distance from the middle to the outer end of a band."""
        return abs(fraction_of(self._outer_end(band)) - fraction_of(middle))

    def _count(self, epsilon: Fraction) -> int:
        return noisy_count(self._part.raw_rows, epsilon, self._part.line.rng)


def _clip_for(slope: Fraction) -> Fraction:
    """The most nats that a draw on one side may lose."""
    return min(CLIP, max(SIDE_CLIP, FEW_ROWS * slope))


def _octaves_to_reach(noisy_nats: Fraction) -> int:
    """How many octaves beyond the scale a heavy tail (Student's, two degrees of freedom) has its reach, by the draw's nats."""
    return 1 + min(MOST_OCTAVES, max(1, math.floor(noisy_nats / (2 * SAFE_NATS))).bit_length() // 2)


def _digits_told(noisy_nats: Fraction, share: Fraction) -> int:
    """To how many digits the middle's draw, with that share of epsilon, can tell a place where all rows are tied."""
    nats = (noisy_nats - ROWS_DOUBT / ROWS_SHARE) * share / 2
    return min(DIGITS, max(FEWEST_DIGITS, math.floor((nats - NATS_TO_SPARE) / NATS_PER_DIGIT)))


def _merged(ends: BandEnds, raw_counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Every band once, with the rows in it."""
    firsts, lasts = ends
    if firsts is lasts or not len(firsts):
        return firsts, lasts, raw_counts
    begins = np.append(0, 1 + np.flatnonzero(firsts[1:] != firsts[:-1]))
    return firsts[begins], lasts[begins], np.add.reduceat(raw_counts, begins)


def _ranks_at(column: Column, band: Band) -> tuple[int, int]:
    """How many rows lie below a band, and how many below or in it."""
    assert column.dtype is not None
    cuts = [lowest_value_at(band.first, column.dtype), lowest_value_at(band.last + 1, column.dtype)]
    raw_below, raw_up_to = column.counts_below(cuts)
    return raw_below, column.count() if band.last == HIGHEST_ORDINAL else raw_up_to  # infinite rows count as the highest decimal


@lru_cache(maxsize=64)
def _likely_windows(epsilon: Fraction) -> list[WindowRequest]:
    """The windows that the draws of a long column will ask for, with room for where the middle is drawn."""
    half = Fraction(1, 2)
    middle, scale = (symmetric_slope(half, epsilon * share.least, Neighbors.ADD_REMOVE) for share in (MIDDLE, SCALE))
    reach = epsilon * REACH.least * (1 - OUTWARD_SHARE)
    around = RankLoss(half, middle, middle).margin()
    beside = around // 2 + RankLoss(half, scale, scale, _clip_for(scale)).margin()
    beyond = math.ceil(SAFE_NATS / (epsilon * REACH.least)) + RankLoss(half, reach, reach, _clip_for(reach)).margin()
    sides = [WindowRequest(quantile, beside) for quantile in (half / 2, 1 - half / 2)]
    return [WindowRequest(half, around), *sides, WindowRequest(Fraction(0), beyond), WindowRequest(Fraction(1), beyond)]
