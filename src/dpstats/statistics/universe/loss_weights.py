"""Weights of the exponential mechanism for whole losses: brackets of number * exp(-rate * loss).

Numerics   The first brackets are floats moved outward by 2**-40 of themselves. Up to FAR nats the exponent is off by less than
           2**-44 (three roundings) and `exp` by less than 2**-50, so the weight lies within them; beyond FAR it is below
           2**-128 of the largest, and 0 and 1 bracket it. Where these brackets leave a doubt, `choose` asks for exact ones
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.exponential import WeightBounds

FAR = 100.0
_FLOAT_BITS = 128
_SLACK = 2.0**-40


def loss_weights(raw_losses: Sequence[int], rate: Fraction, raw_numbers: Sequence[int] | None = None) -> WeightBounds:
    """Brackets of number * exp(-rate * loss) for losses of 0 or more, below 2**63; numbers are 1 unless given."""
    numbers = raw_numbers if raw_numbers is not None else [1] * len(raw_losses)

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        lows, highs = _float_bounds(raw_losses, rate) if bits <= _FLOAT_BITS else _exact_bounds(raw_losses, rate, bits)
        pairs = zip(numbers, lows, highs, strict=True)
        products = [(number * low, number * high) for number, low, high in pairs]
        return [low for low, _ in products], [high for _, high in products]

    return bounds


def _float_bounds(raw_losses: Sequence[int], rate: Fraction) -> tuple[list[int], list[int]]:
    """Integers around 2**128 exp(-rate * loss), by floats."""
    nats = np.asarray(raw_losses, dtype=np.float64) * float(rate)
    lows, highs = [0] * len(nats), [1] * len(nats)
    near = np.flatnonzero(nats <= FAR)
    for place, weight in zip(near.tolist(), np.exp(-nats[near]).tolist(), strict=True):
        lows[place] = int(math.ldexp(weight * (1 - _SLACK), _FLOAT_BITS))
        highs[place] = int(math.ldexp(weight * (1 + _SLACK), _FLOAT_BITS)) + 1
    return lows, highs


def _exact_bounds(raw_losses: Sequence[int], rate: Fraction, bits: int) -> tuple[list[int], list[int]]:
    brackets = [exp_bounds(rate * int(loss), bits) for loss in raw_losses]
    return [low for low, _ in brackets], [high for _, high in brackets]
