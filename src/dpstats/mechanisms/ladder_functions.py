"""A ladder function: whole-number noise that is as narrow as the graph at hand allows, and pure.

Claim      epsilon-DP for the integer that `draw_on_ladder` returns at `ladder_rate(epsilon, growth)`
Neighbors  Whichever relation the two facts below are true for
Why        Rung t of a data set is W_t integers wide on either side of its true value f. If neighbours have |f - f'| <= W_0 and
           W'_t <= W_(t+1), the rung on which any integer lies moves by at most 1, so exp(-rate * rung) moves by a factor of at
           most exp(rate); the sum of all weights moves by no more than that, nor by more than 1 + growth if W'_t <= (1 + growth)
           W_t. Known to be slow, the growth lets the rate be nearly epsilon in place of epsilon / 2.
Numerics   Integers; the rung is drawn by brackets of exact weights, the place on it uniformly. Stated error: none
Source     Zhang, Cormode, Procopiuc, Srivastava & Xiao 2015, where the rate is epsilon / 2; the growth is ours
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import exp_bounds, exp_sequence_bounds
from dpstats.mechanisms.exponential import choose

Widths = Callable[[int], Sequence[int]]
"""The widths of the first so many rungs: positive integers that do not fall."""

LEAST_EPSILON = Fraction(1, 1000)
"""Below, so many rungs would have to be looked at that no answer is worth it."""
_NATS_PER_BIT = Fraction(7, 10)


def ladder_rate(epsilon: Fraction, growth: Fraction) -> Fraction:
    """The rate at which weights may fall from rung to rung, given how fast a neighbour's rungs may be wider."""
    return max(epsilon / 2, epsilon - growth)


def draw_on_ladder(raw_value: int, raw_widths: Widths, widest: int, rate: Fraction, rng: RandomSource) -> int:
    """An integer y with probability proportional to exp(-rate * rung of y); the value itself stands on rung 0.

    `widest` is a public number that no width exceeds.
    """

    def weight_bounds(bits: int) -> tuple[list[int], list[int]]:
        """Brackets of the weight of the value, of each of many rungs, and of all rungs above these together."""
        count = rungs_for(bits, widest, rate)
        lows, highs = exp_sequence_bounds(rate, rate, count + 1, bits)
        widths = raw_widths(count)
        one = 1 << bits
        above = -(-2 * widest * highs[count] * one // (one - min(exp_bounds(rate, bits)[1], one - 1)))
        return (
            [one, *(2 * width * low for width, low in zip(widths, lows, strict=False)), 0],
            [one, *(2 * width * high for width, high in zip(widths, highs, strict=False)), above],
        )

    rung = choose(weight_bounds, rng)
    if rung == 0:
        return raw_value
    widths = raw_widths(rung)
    place = random_below(rng, 2 * widths[-1])
    away = sum(widths[:-1]) + 1 + place // 2
    return raw_value + (away if place % 2 else -away)


def rungs_for(bits: int, widest: int, rate: Fraction) -> int:
    """How many rungs to look at so that all others together weigh about 2**-bits at most."""
    return math.ceil(_NATS_PER_BIT * (bits + (2 * widest).bit_length()) / rate) + 1


def ladder_reach(rate: Fraction, growth: Fraction, first_width: int, failure: float, *, by_steps: bool) -> int:
    """A distance that the noise exceeds with probability at most `failure`, if rung 0 is at most `first_width` wide.

    Rung s is at most relative(s) times as wide as rung 0: with `by_steps` 1 + growth * s, where each rung is at most 1 wider than
    the one below, otherwise (1 + growth)**s. With r = exp(-rate), at least t rungs are climbed with probability at most
    (1 - r) times the sum of relative(s) r**s over s >= t.
    """
    ratio, faster = math.exp(-float(rate)), 1 + float(growth)
    if not by_steps and ratio * faster >= 1:
        raise ValueError("the rungs grow too fast for an interval.")
    rungs = 0
    while _climbing(ratio, float(growth), rungs, by_steps) > failure:
        rungs += 1
    if by_steps:
        return rungs * first_width + rungs * (rungs - 1) // 2
    return math.ceil(first_width * sum((1 + growth) ** rung for rung in range(rungs)))


def _climbing(ratio: float, growth: float, rungs: int, by_steps: bool) -> float:
    """A bound of the probability that at least so many rungs are climbed."""
    if by_steps:
        return ratio**rungs * (1 + growth * (rungs + ratio / (1 - ratio)))
    return (ratio * (1 + growth)) ** rungs * (1 - ratio) / (1 - ratio * (1 + growth))
