"""One draw of the exponential mechanism on a line of public mass, where the score of a place is how its rank misses a target.

Claim      epsilon-DP, where epsilon >= max(u*q, o*(1-q)) + max(o*q, u*(1-q)) under ADD_REMOVE for a target of q*n, and
           epsilon >= o + u under CHANGE_ONE and for any target that one more row moves up by at most 1;
           o and u are the slopes over and under
Why        The log weight of a place is -o * (rows below - target) or -u * (target - rows below or at), whichever is above 0.
           One row more or less shifts all log weights by amounts from one interval of length epsilon, hence every
           probability by at most exp(epsilon). Clipping the loss is a contraction and shifts by no more.
Numerics   Masses and ranks are integers, weights are bracketed and drawn exactly by `exponential.choose`
Source     draw.proof.md
"""

from __future__ import annotations

import functools
import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import exp_bounds, exp_sequence_bounds
from dpstats.mechanisms.exponential import WeightBounds, choose

CLIP = Fraction(64)
"""No place loses more than this many nats, unless a draw says otherwise: a window of ranks is all that it needs to see of the
data."""


@dataclass(frozen=True)
class RankLoss:
    """Nats lost per rank by which a place lies over or under the target rank."""

    target: Fraction
    slope_over: Fraction
    slope_under: Fraction
    clip: Fraction = CLIP
    """No place loses more nats than this."""

    def margin(self) -> int:
        """Ranks to either side of the target beyond which the loss is clipped."""
        return math.ceil(self.clip / min(self.slope_over, self.slope_under)) + 1

    @functools.cached_property
    def first_over(self) -> int:
        """The fewest rows below a place that lies over the target."""
        return math.floor(self.target) + 1

    @functools.cached_property
    def last_under(self) -> int:
        """The most rows below or at a place that lies under the target."""
        return math.ceil(self.target) - 1

    @functools.cached_property
    def first_clipped(self) -> int:
        """The fewest rows below a place so far over the target that it loses all there is to lose."""
        return math.ceil(self.target + self.clip / self.slope_over)

    @functools.cached_property
    def last_clipped(self) -> int:
        """The most rows below or at a place so far under the target that it loses all there is to lose."""
        return math.floor(self.target - self.clip / self.slope_under)


class Piece(NamedTuple):
    """A stretch of the line on which the rank is constant; hidden ones lie outside the window and are clipped."""

    start: int
    length: int
    raw_below: int
    raw_up_to: int
    hidden: bool = False
    boost: int = 1
    """The public factor by which every place in the piece weighs more than the line's own measure says."""


class Stretch(NamedTuple):
    """A public stretch [start, end) of the line that gets further mass: `boost` times its length."""

    start: int
    end: int
    boost: int


class Mark(NamedTuple):
    """Rows that share one place on the line: the stretch [start, end) and how many they are."""

    start: int
    end: int
    raw_count: int


def symmetric_slope(quantile: Fraction, epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """The steepest slope, over and under alike, that a target of quantile * n affords."""
    if neighbors is Neighbors.CHANGE_ONE:
        return epsilon / 2
    return epsilon / (2 * max(quantile, 1 - quantile))


def pieces_between(
    low: int, high: int, marks: Iterable[Mark], raw_below: int, *, hidden_below: bool, hidden_above: bool
) -> list[Piece]:
    """Cut the line [low, high) at the marks, which ascend and do not overlap; `raw_below` rows lie below the first one.

    `hidden_below` says that rows of the data which are not among the marks lie left of them, `hidden_above` right of them.
    """
    pieces = []
    place, hidden = low, hidden_below
    for start, end, count in marks:
        if start > place:
            pieces.append(Piece(place, start - place, raw_below, raw_below, hidden))
        pieces.append(Piece(start, end - start, raw_below, raw_below + count))
        raw_below += count
        place, hidden = end, False
    if high > place:
        pieces.append(Piece(place, high - place, raw_below, raw_below, hidden or hidden_above))
    return pieces


def boosted(pieces: Sequence[Piece], stretches: Iterable[Stretch]) -> list[Piece]:
    """The pieces, which cut the line without gaps, and once more those parts of them that lie in a stretch, with its boost."""
    result = list(pieces)
    starts = [piece.start for piece in pieces]
    for start, end, boost in stretches:
        for piece in pieces[max(0, bisect_right(starts, start) - 1) : bisect_left(starts, end)]:
            low, high = max(start, piece.start), min(end, piece.start + piece.length)
            if low < high:
                result.append(Piece(low, high - low, piece.raw_below, piece.raw_up_to, piece.hidden, boost))
    return result


def draw_piece(pieces: Sequence[Piece], loss: RankLoss, rng: RandomSource) -> tuple[Piece, int]:
    """Draw a piece with probability proportional to length * boost * exp(-loss), and a place in it uniformly."""
    piece = pieces[choose(_piece_weights(pieces, loss), rng)]
    return piece, piece.start + random_below(rng, piece.length)


def _piece_weights(pieces: Sequence[Piece], loss: RankLoss) -> WeightBounds:
    """Brackets of length * boost * exp(-min(clip, loss)) for each piece, by way of a table of the exponentials."""
    entries = [_table_entry(piece, loss) for piece in pieces]
    masses = [piece.length * piece.boost for piece in pieces]
    skipped = min((entry for entry in entries if entry > 1), default=2) // 2 - 1  # all pieces may lie far to one side
    steps = max(entries, default=0) // 2 - skipped
    entries = [entry - 2 * skipped if entry > 1 else entry for entry in entries]
    nearest_over = loss.first_over + skipped - loss.target
    nearest_under = loss.target - loss.last_under + skipped

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        over = exp_sequence_bounds(nearest_over * loss.slope_over, loss.slope_over, steps, bits)
        under = exp_sequence_bounds(nearest_under * loss.slope_under, loss.slope_under, steps, bits)
        free, clipped = (1 << bits, 1 << bits), exp_bounds(loss.clip, bits)
        brackets = []
        for side in (0, 1):
            table = [free[side], clipped[side], *itertools.chain.from_iterable(zip(over[side], under[side], strict=True))]
            brackets.append([mass * table[entry] for mass, entry in zip(masses, entries, strict=True)])
        return brackets[0], brackets[1]

    return bounds


def _table_entry(piece: Piece, loss: RankLoss) -> int:
    """Where the table of `_piece_weights` has a piece: 0 no loss, 1 clipped, then over and under by turns, rank by rank."""
    if piece.hidden:
        return 1
    if piece.raw_below >= loss.first_over:
        return 1 if piece.raw_below >= loss.first_clipped else 2 + 2 * (piece.raw_below - loss.first_over)
    if piece.raw_up_to <= loss.last_under:
        return 1 if piece.raw_up_to <= loss.last_clipped else 3 + 2 * (loss.last_under - piece.raw_up_to)
    return 0
