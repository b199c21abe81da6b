"""One draw of the exponential mechanism on a line of public mass, where the score of a place is how its rank misses a target.

Claim      epsilon-DP, where epsilon >= max(u*q, o*(1-q)) + max(o*q, u*(1-q)) under ADD_REMOVE for a target of q*n, and
           epsilon >= o + u under CHANGE_ONE and for any target that one more row moves up by at most 1;
           o and u are the slopes over and under
Why        The log weight of a place is -o * (rows below - target) or -u * (target - rows below or at), whichever is above 0.
           One row more or less shifts all log weights by amounts from one interval of length epsilon, hence every
           probability by at most exp(epsilon). Clipping the loss is a contraction and shifts by no more.
Numerics   Masses and ranks are integers; weights are floats with proven bounds, and where these leave a doubt, integers that
           bracket them: `exponential.choose` draws exactly either way
Source     draw.proof.md
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import exp_bounds, exp_float, exp_sequence_bounds
from dpstats.mechanisms.exponential import QuickWeights, WeightBounds, choose
from dpstats.statistics.universal.line import MASS_ERROR, UNIT_ROUNDOFF, CutLine, Piece

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


def symmetric_slope(quantile: Fraction, epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """The steepest slope, over and under alike, that a target of quantile * n affords."""
    if neighbors is Neighbors.CHANGE_ONE:
        return epsilon / 2
    return epsilon / (2 * max(quantile, 1 - quantile))


def draw_piece(pieces: Sequence[Piece], loss: RankLoss, rng: RandomSource) -> tuple[Piece, int]:
    """Draw a piece with probability proportional to length * boost * exp(-loss), and a place in it uniformly."""
    quick = quick_weights(pieces, loss) if isinstance(pieces, CutLine) else None
    piece = pieces[choose(_piece_weights(pieces, loss), rng, quick)]
    return piece, piece.start + random_below(rng, piece.length)


def quick_weights(cut: CutLine, loss: RankLoss) -> QuickWeights:
    """length * boost * exp(-min(clip, loss)) of all pieces as floats."""
    below, up_to = cut.raw_below, cut.raw_up_to  # both ascend
    over, clipped_over = np.searchsorted(below, [loss.first_over, loss.first_clipped], side="left").tolist()
    clipped_under, under = np.searchsorted(up_to, [loss.last_clipped, loss.last_under], side="right").tolist()
    raw_over, raw_under = below[over:clipped_over] - loss.first_over, loss.last_under - up_to[clipped_under:under]
    clipped = _exp_of_clip(loss.clip)
    factors = np.full(len(below), clipped)
    factors[under:over] = 1
    factors[over:clipped_over] = _factors(loss.first_over - loss.target, loss.slope_over, loss.clip, raw_over)
    factors[clipped_under:under] = _factors(loss.target - loss.last_under, loss.slope_under, loss.clip, raw_under)
    factors[cut.hidden] = clipped
    weights = np.concatenate([cut.masses * factors, cut.boosted_masses * factors[cut.boosted_places]])
    return QuickWeights(weights, MASS_ERROR + _FACTOR_ERROR + UNIT_ROUNDOFF)


_exp_of_clip = functools.lru_cache(maxsize=64)(exp_float)


_FACTOR_ERROR = 8 * UNIT_ROUNDOFF


def _factors(nearest: Fraction, slope: Fraction, clip: Fraction, raw_steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(-slope * (nearest + steps)) for whole numbers of steps in order, if it is at least exp(-clip); within _FACTOR_ERROR."""
    if not len(raw_steps):
        return np.ones(0)
    raw_skipped, raw_most = sorted((int(raw_steps[0]), int(raw_steps[-1])))  # all pieces may lie far to one side
    if raw_skipped:
        raw_steps = raw_steps - raw_skipped
    digits = ((raw_most - raw_skipped).bit_length() + 1) // 2
    few, many = _powers(slope, digits, clip)
    powers: NDArray[np.float64] = many[raw_steps >> digits] * few[raw_steps & ((1 << digits) - 1)]
    return exp_float(slope * (nearest + raw_skipped)) * powers


@functools.lru_cache(maxsize=64)
def _powers(slope: Fraction, digits: int, clip: Fraction) -> list[NDArray[np.float64]]:
    """exp(-slope * k) for k below 2**digits, and for 2**digits times each of these k, where it is at least exp(-clip)."""
    bits, count = _float_bits(clip), 1 << digits
    sequences = [exp_sequence_bounds(Fraction(0), step, count, bits) for step in (slope, slope * count)]
    return [np.array([_float(bounds, bits) for bounds in zip(*sequence, strict=True)]) for sequence in sequences]


def _float_bits(exponent: Fraction) -> int:
    """Bits with which exp(-exponent), and what is larger, is known to more than 60 bits of its own."""
    return 64 + math.ceil(exponent * Fraction(3, 2))


def _float(bounds: tuple[int, int], bits: int) -> float:
    """A float within the brackets of a factor: their middle, rounded once."""
    return math.ldexp(float(sum(bounds)), -bits - 1)


def _piece_weights(pieces: Sequence[Piece], loss: RankLoss) -> WeightBounds:
    """Brackets of length * boost * exp(-min(clip, loss)) for each piece, by way of a table of the exponentials."""

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        entries = [_table_entry(piece, loss) for piece in pieces]
        masses = [piece.length * piece.boost for piece in pieces]
        skipped = min((entry for entry in entries if entry > 1), default=2) // 2 - 1  # all pieces may lie far to one side
        steps = max(entries, default=0) // 2 - skipped
        entries = [entry - 2 * skipped if entry > 1 else entry for entry in entries]
        nearest_over = loss.first_over + skipped - loss.target
        nearest_under = loss.target - loss.last_under + skipped
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
