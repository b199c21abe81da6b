"""Cuts for products: closer to the middle than for sums where tails are light, because their noise grows with both ranges.

A cut for a sum leaves about one row of a side beyond. One for products leaves LEFT_OUT / epsilon of them where the tail is no
heavier than about a normal one, fewer where it is heavier, and one from about an exponential tail on, by the same public rule
(clipped/clips.py). With a large epsilon both go further out, as far as the noise stays small beside the sampling error. Only
released numbers enter, so no claim depends on it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.clipped.clips import ALIKE, LARGEST, ROOM, Cut, Tail, cut_at
from dpstats.statistics.universal.limits import Limits, Side

LEFT_OUT = 8.0
"""About LEFT_OUT / epsilon rows of a side lie beyond the cut of a light tail."""
LIGHT, HEAVY = 0.85, 1.2
"""Exponents of tails, as the rule finds them, up to which they count as light and from which as heavy."""
HEAVIEST = 1.15
"""The exponent of heavy tails: a reach that would need more counts as drawn too far out, which is the likelier reason."""
LEAST_LOST, MOST_LOST = 0.1, 2.0
"""What the cut of a light and of a heavy tail may take, over what the rule (`Tail.lost`) says."""

QUIET, MOST_WIDER = 0.3, 64.0
"""Cuts go further out as long as noise is at most such a part of the sampling error of a covariance; and how many times."""
NOISE = math.sqrt(8)
"""The deviation of a covariance's noise, over both radii, where rows times epsilon is 1 (moments.py)."""


def cuts_for_products(limits: tuple[Limits, Limits], epsilon: Fraction) -> tuple[Cut, Cut]:
    """The cuts that released limits of two columns suggest, for a question that spends `epsilon` in all."""
    one, other = (cut_for_products(each, epsilon) for each in limits)
    rows, left = limits[0].noisy_rows, epsilon - sum(each.spent for each in limits)
    radii = [(cut.high - cut.low) / 2 for cut in (one, other)]
    scales = [max(each.below.scale, each.above.scale) for each in limits]
    if not all(radii):
        return one, other
    shares = [min(float(min(scale, radius) / radius), 1.0) for scale, radius in zip(scales, radii, strict=True)]
    room = shares[0] * shares[1] * QUIET * math.sqrt(rows) * float(left) / NOISE
    times = math.sqrt(min(max(room, 1.0), MOST_WIDER))
    return _wider(one, times), _wider(other, times)


def _wider(cut: Cut, times: float) -> Cut:
    low, high = (cut.middle + (end - cut.middle) * Fraction(times) for end in (cut.low, cut.high))
    return replace(cut, low=max(low, -LARGEST), high=min(high, LARGEST)) if times > 1 else cut


def cut_for_products(limits: Limits, epsilon: Fraction) -> Cut:
    """The cut that released limits suggest, for a question that spends so much in all."""
    cut = cut_at(replace(limits, below=_plausible(limits.below), above=_plausible(limits.above)))
    down, up = (_end(tail, LEFT_OUT / float(epsilon)) for tail in (cut.below, cut.above))
    if max(down, up) <= ALIKE * min(down, up):
        down = up = max(down, up)
    low, high = max(cut.low, cut.middle - Fraction(down)), min(cut.high, cut.middle + Fraction(up))
    return replace(cut, low=low, high=high)


def lost_squares(cut: Cut, radius: float) -> float:
    """About what the cut may take from the sum of squared distances from the middle, each divided by a radius."""
    total = 0.0
    for tail, end in (cut.below, cut.middle - cut.low), (cut.above, cut.high - cut.middle):
        if tail is not None and end > 0:
            scaled = replace(tail, reach=tail.reach / radius)
            total += scaled.lost(nearest_float(end) / radius, 2) * (MOST_LOST + _lightness(tail) * (LEAST_LOST - MOST_LOST))
    return total


def _plausible(side: Side) -> Side:
    """A side whose reach, if it was drawn further out than heavy tails go, is taken to be where they end."""
    tail = Tail.of(side)
    if tail is None or side.scale <= 0 or tail.nats <= math.log(2):
        return side
    most = side.scale * Fraction(math.pow(tail.nats / math.log(2), HEAVIEST))
    return replace(side, reach=min(side.reach, most))


def _end(tail: Tail | None, most_rows: float) -> float:
    """The distance from the middle with at most `most_rows` rows beyond; fewer if the tail is heavy."""
    if tail is None:
        return 0.0
    rows = max(1.0, most_rows * _lightness(tail))
    nats = max(math.log(max(tail.noisy_rows / rows, 1.0)), tail.nats)
    stretch = math.pow(nats / tail.nats, tail.exponent + ROOM * (1 - _lightness(tail)))
    return min(tail.reach * stretch, sys.float_info.max)


def _lightness(tail: Tail) -> float:
    """From 0 for a heavy tail to 1 for a light one."""
    return min(max((HEAVY - tail.exponent) / (HEAVY - LIGHT), 0.0), 1.0)
