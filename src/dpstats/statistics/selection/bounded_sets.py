"""A set of at most s features, drawn by how many blocks would have to change their minds for it.

Claim      epsilon-DP
Neighbors  One row of the marks changes, whatever it holds; the numbers of blocks and features are public
Why        A set goes against the majority of blocks on some features. Its steps are how many blocks would have to change their
           marks until it goes against none: the largest, over those features, of how far the count is on the wrong side. One
           changed block moves every count by at most 1, hence every set's steps by at most 1. Sets are drawn with weight
           exp(-epsilon * steps / 2): the exponential mechanism over all sets of at most s features
Numerics   Exact: counts of sets are whole numbers. exp(-c R) is the sum over L >= R of exp(-c L) - exp(-c (L + 1)), so a level
           L is drawn first, with weight exp(-c L) times the number of sets of at most L steps, and then one of those sets
Source     McSherry & Talwar 2007; steps as the score: Asi & Duchi 2020
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.exponential import WeightBounds, choose


@dataclass(frozen=True)
class Level:
    """The sets at one number of steps: they go against no majority that needs more."""

    raw_forced: tuple[int, ...]
    """Features that are in all of them."""
    raw_free: tuple[int, ...]
    """Features that may be in or not."""
    room: int
    """How many of the free ones there may be; below 0 where there is no such set."""

    @property
    def raw_sets(self) -> int:
        """How many sets there are."""
        return sum(self.sizes())

    def sizes(self) -> list[int]:
        """How many sets there are with 0, 1, ... of the free features."""
        return [math.comb(len(self.raw_free), count) for count in range(min(self.room, len(self.raw_free)) + 1)]

    def draw(self, rng: RandomSource) -> tuple[int, ...]:
        """One of the sets, all with the same chance."""
        place, count = random_below(rng, self.raw_sets), 0
        while place >= self.sizes()[count]:
            place -= self.sizes()[count]
            count += 1
        pool = list(self.raw_free)
        for start in range(count):
            other = start + random_below(rng, len(pool) - start)
            pool[start], pool[other] = pool[other], pool[start]
        return tuple(sorted((*self.raw_forced, *pool[:count])))


def draw_bounded_set(raw_marks: NDArray[np.bool_], at_most: int, epsilon: Fraction, rng: RandomSource) -> tuple[int, ...]:
    """The places of at most `at_most` features, from marks of blocks by features."""
    levels = raw_levels(raw_marks.sum(axis=0).tolist(), len(raw_marks), at_most)
    return levels[choose(_weights([level.raw_sets for level in levels], epsilon / 2), rng)].draw(rng)


def raw_levels(raw_counts: Sequence[int], blocks: int, at_most: int) -> list[Level]:
    """The levels of 0, 1, ... steps, to the first at which every feature is free."""
    raw_steps = [steps_against(count, blocks) for count in raw_counts]
    raw_major = [2 * count > blocks for count in raw_counts]
    levels = []
    for limit in range(blocks + 1):
        raw_free = tuple(place for place, steps in enumerate(raw_steps) if steps <= limit)
        raw_forced = tuple(place for place, steps in enumerate(raw_steps) if steps > limit and raw_major[place])
        levels.append(Level(raw_forced, raw_free, at_most - len(raw_forced)))
        if len(raw_free) == len(raw_counts):
            break
    return levels


def steps_against(raw_count: int, blocks: int) -> int:
    """How many blocks must change before the majority does."""
    return raw_count - blocks // 2 if 2 * raw_count > blocks else blocks // 2 + 1 - raw_count


def steps_needed(features: int, at_most: int, epsilon: Fraction, sure: float) -> float:
    """Steps that every majority must be worth for the right set to be drawn with this chance."""
    sets = sum(math.comb(features, count) for count in range(min(at_most, features) + 1))
    return 2 * (math.log(sets) - math.log(1 - sure)) / float(epsilon)


def _weights(raw_numbers: Sequence[int], rate: Fraction) -> WeightBounds:
    """Brackets of sets * exp(-rate * level) * (1 - exp(-rate)); the last level stands for all after it, of the same sets."""

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        lows, highs = [], []
        rest_low, rest_high = exp_bounds(rate, bits)
        for level, number in enumerate(raw_numbers):
            low, high = exp_bounds(rate * level, bits)
            if level < len(raw_numbers) - 1:
                low, high = low * ((1 << bits) - rest_high) >> bits, -(-high * ((1 << bits) - rest_low) >> bits)
            lows.append(number * low)
            highs.append(number * high)
        return lows, highs

    return bounds
