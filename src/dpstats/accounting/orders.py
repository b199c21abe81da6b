"""Renyi divergence at one order: what a question loses there, and what a divergence amounts to as (epsilon, delta).

The order is 1 + excess. At a fixed order the losses of questions add up, whoever chooses them and when.

Claim      A question of epsilon, apart from its delta, has a divergence of at most `divergence` at the order; divergences that
           add up to at most r are (r + conversion(excess, delta), delta)-DP
Why        Among all epsilon-DP laws randomized response has the largest divergence, ln(cosh((order - 1/2) epsilon) /
           cosh(epsilon / 2)) / excess; one that is factor * epsilon**2 zero-concentrated has at most order * factor * epsilon**2.
           Back: max(0, 1 - e**(epsilon - z)) is at most a multiple of e**(excess z). See orders.proof.md
Numerics   Exact rationals; logarithms and exponentials are bracketed, and both results rounded up. Orders come from a fixed grid,
           and every one of them is valid, so a search decides how good a bound is and never whether it holds
Source     Mironov 2017; Bun & Steinke 2016; back: Canonne, Kamath & Steinke 2020, Proposition 12
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

from dpstats.foundations.rounding import exp_bounds, log_bounds

_DIGITS, _BITS = 60, 256
_STEPS = 16
_LOWEST, _HIGHEST = -24 * _STEPS, 48 * _STEPS


def excess_at(place: int) -> Fraction:
    """The grid of excesses: 16 to a doubling, evenly between powers of two."""
    doublings, step = divmod(place, _STEPS)
    return Fraction(2) ** doublings * (1 + Fraction(step, _STEPS))


def best_excess(bound: Callable[[Fraction], Fraction]) -> Fraction:
    """The excess on the grid where a bound is smallest, if it falls and then rises; else one where it is not large."""

    def rises(place: int) -> bool:
        return bound(excess_at(place)) <= bound(excess_at(place + 1))

    return excess_at(_LOWEST + bisect_left(range(_LOWEST, _HIGHEST), True, key=rises))


@functools.lru_cache(maxsize=4096)
def divergence(epsilon: Fraction, excess: Fraction, factor: Fraction) -> Fraction:
    """At least the divergence, at order 1 + excess, of an epsilon-DP question that is factor * epsilon**2 zero-concentrated.

    ln(cosh((order - 1/2) epsilon) / cosh(epsilon / 2)) / excess is epsilon less what two logarithms near 0 differ by.
    """
    concentrated = (1 + excess) * factor * epsilon**2
    near, far = exp_bounds(epsilon, _BITS)[0], exp_bounds((1 + 2 * excess) * epsilon, _BITS)[1]
    one = 1 << _BITS
    saved = log_bounds(Fraction(one + near, one), _DIGITS)[0] - log_bounds(Fraction(one + far, one), _DIGITS)[1]
    return min(concentrated, epsilon, epsilon - saved / excess)


@functools.lru_cache(maxsize=4096)
def conversion(excess: Fraction, delta: Fraction) -> Fraction:
    """What turning a divergence at order 1 + excess into an epsilon adds to it, for delta above 0; may be below 0."""
    log_delta, log_order = log_bounds(delta, _DIGITS)[0], log_bounds(1 + excess, _DIGITS)[0]
    log_excess = log_bounds(excess, _DIGITS)[1]
    return (excess * log_excess - (1 + excess) * log_order - log_delta) / excess
