"""Picking: candidates of high counts, drawn one after another without replacement.

Claim      Each draw at a rate is rate-DP, and rate**2 / 8 zCDP, for candidates that are still there
Neighbors  ADD_REMOVE of one row, which moves all counts in one direction, each by at most 1
Why        Candidate i is drawn with probability in proportion to exp(rate * count_i). One row more multiplies each weight by a
           factor from 1 to exp(rate), and so their sum: the loss lies within rate of 0, and its range is rate. Scores that some
           rows raise and others lower, such as lift, would need half of the rate
Numerics   Exact. Candidates of one count are drawn together, by floats with proven bounds, and exactly where these leave a
           doubt (mechanisms/exponential.py); then one of them evenly
Source     picking.proof.md; McSherry & Talwar 2007
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.mechanisms.exponential import QuickWeights, choose
from dpstats.statistics.universe.loss_weights import FAR, loss_weights

Whole = NDArray[np.int64]

WEIGHT_ERROR = 2.0**-40
"""By how much quick weights, and their sum, may be off, relatively."""
MOST_CANDIDATES = 2_000_000
"""Candidates beyond FAR nats of the best weigh together less than this number times exp(-FAR), which is below 2**-120."""


class CandidateDraws:
    """Candidates known by their counts, of which some have been drawn."""

    def __init__(self, raw_counts: Whole, rate: Fraction) -> None:
        raw_levels, raw_place = np.unique(raw_counts, return_inverse=True)
        self._raw_levels = raw_levels[::-1]  # the highest count first
        raw_level_of = len(raw_levels) - 1 - raw_place.ravel()
        self._raw_members = np.argsort(raw_level_of, kind="stable")
        self._raw_left = np.bincount(raw_level_of, minlength=len(raw_levels))
        self._raw_starts = np.concatenate([[0], np.cumsum(self._raw_left)])
        self._rate = rate

    def draw(self, rng: RandomSource) -> int:
        """One of the candidates that are left, by its place; it is not left any more."""
        raw_alive = np.flatnonzero(self._raw_left)
        raw_losses = self._raw_levels[raw_alive[0]] - self._raw_levels[raw_alive]
        raw_numbers = self._raw_left[raw_alive]
        bounds = partial(_bounds, raw_losses, self._rate, raw_numbers)
        level = int(raw_alive[choose(bounds, rng, quick_weights(raw_losses, self._rate, raw_numbers))])
        start, left = int(self._raw_starts[level]), int(self._raw_left[level])
        place = start + random_below(rng, left)
        drawn = int(self._raw_members[place])
        self._raw_members[place] = self._raw_members[start + left - 1]  # the last one that is left takes its place
        self._raw_left[level] -= 1
        return drawn


def quick_weights(raw_losses: Whole, rate: Fraction, raw_numbers: Whole) -> QuickWeights:
    """The weights number * exp(-rate * loss) of ascending losses up to FAR nats; those beyond count as rounding."""
    nats = raw_losses * float(rate)
    near = int(np.searchsorted(nats, FAR, side="right"))
    return QuickWeights(raw_numbers[:near] * np.exp(-nats[:near]), WEIGHT_ERROR)


def _bounds(raw_losses: Whole, rate: Fraction, raw_numbers: Whole, bits: int) -> tuple[list[int], list[int]]:
    """Brackets of all weights, made where quick weights left a doubt."""
    lows, highs = loss_weights(raw_losses.tolist(), rate, raw_numbers.tolist())(bits)
    return list(lows), list(highs)


def draw_highest(raw_counts: Whole, rate: Fraction, how_many: int, rng: RandomSource) -> list[int]:
    """The places of `how_many` candidates, in the order in which they were drawn."""
    draws = CandidateDraws(raw_counts, rate)
    return [draws.draw(rng) for _ in range(how_many)]
