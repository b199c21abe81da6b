"""Group privacy: what a claim about one row says about all the rows of a unit, and back.

A unit (a person, a household) has at most k rows. Statistics make their claims for one row added or removed, which is paid for
once for each such step between neighbouring tables.

Claim      A release that is (epsilon, delta)-DP for one row added or removed is unit_cost(epsilon, delta, steps)-DP for
           tables that many steps apart; `row_cost` asks the other way round: which row-level claim keeps a wanted one.
           Without a delta, rho / epsilon**2 is for the unit what it is for a row (`unit_loss`)
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit (`steps_between`), by way of ADD_REMOVE of rows. A changed row becomes a removed
           and an added one here and nowhere else (`row_epsilon`)
Why        P0 <= e^epsilon P1 + delta, and the same again for P1: k steps give e^(k epsilon), and the deltas on the way grow by
           1, e^epsilon, ... e^((k-1) epsilon). Groups of rows with public keys count once in all: a row lies in one of them.
Numerics   Exact rationals; the growth of delta is rounded up, so a row's delta down and a unit's delta up
Source     Dwork & Roth 2014, Theorem 2.2, and Vadhan 2017, Lemma 2.2; disjoint groups: McSherry 2009
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import PURE_LOSS
from dpstats.foundations.rounding import decimal_text, exp_bounds

MOST_NATS = 500
"""Further than this the growth of delta is not followed: a row's share would be below e**-500 of the unit's."""

_GUARD = 256
_KEPT = 128


class Amount(NamedTuple):
    """An epsilon and a delta, of rows or of units."""

    epsilon: Fraction
    delta: Fraction


def row_cost(unit_epsilon: Fraction, unit_delta: Fraction, steps: int) -> Amount:
    """What may be spent on a row so that tables `steps` rows apart are protected as wanted.

    epsilon / steps exactly, and the largest delta up to a relative 2**-127.
    """
    _check(unit_epsilon, unit_delta, steps)
    row_epsilon = unit_epsilon / steps
    if steps == 1 or not unit_delta:
        return Amount(row_epsilon, unit_delta)
    growth = delta_growth(row_epsilon, steps)
    if growth is None:
        raise InvalidParameterError(
            f"a delta for an epsilon of {decimal_text(unit_epsilon)} and {steps} steps leaves nothing for one row: "
            "ask with a smaller epsilon."
        )
    return Amount(row_epsilon, _shortened(unit_delta / growth, up=False))


def unit_cost(row_epsilon: Fraction, row_delta: Fraction, steps: int) -> Amount:
    """What a claim about one row costs for tables `steps` rows apart; its delta is at most 1, which promises nothing."""
    _check(row_epsilon, row_delta, steps)
    unit_epsilon = steps * row_epsilon
    if steps == 1 or not row_delta:
        return Amount(unit_epsilon, row_delta)
    growth = delta_growth(row_epsilon, steps)
    return Amount(unit_epsilon, Fraction(1) if growth is None else min(row_delta * growth, Fraction(1)))


def unit_loss(row_loss: Fraction, delta: Fraction, steps: int) -> Fraction:
    """rho / epsilon**2 for tables `steps` rows apart, of a method whose loss for one row is given: the same, because rho and
    epsilon**2 both grow by steps**2; but 1/2 where there is a delta on more than one step.
    """
    _check_steps(steps, "steps")
    return row_loss if steps == 1 or not delta else PURE_LOSS


def steps_between(neighbors: Neighbors, rows_per_unit: int) -> int:
    """How many rows are added or removed on the way between neighbouring tables, or any selection or groups of their rows.

    A changed unit takes its rows out and puts others in. That the number of rows is public does not shorten the way: within a
    selection or a group it is private. (Where a unit is a row of the whole table, a statistic can be asked under CHANGE_ONE
    itself, in one step of that relation.)
    """
    _check_steps(rows_per_unit, "rows_per_unit")
    return rows_per_unit if neighbors is Neighbors.ADD_REMOVE else 2 * rows_per_unit


def row_epsilon(epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """What may be spent for one row added or removed so that neighbours by `neighbors` of rows are `epsilon` apart.

    A changed row is one removed and one added: half of epsilon for each. (With a delta, or by a sharper argument, `row_cost`
    or the statistic's own proof says more.)
    """
    return epsilon / steps_between(neighbors, 1)


def delta_growth(row_epsilon: Fraction, steps: int) -> Fraction | None:
    """1 + e^epsilon + ... + e^((steps-1) epsilon), rounded up; None where it lies beyond e**MOST_NATS.

    With r = e^-epsilon it is (1 - r^steps) / (r^(steps-1) (1 - r)), and only powers of r are bracketed.
    """
    if not row_epsilon:
        return Fraction(steps)
    longest = (steps - 1) * row_epsilon
    if longest > MOST_NATS:
        return None
    bits = _GUARD + 2 * math.ceil(longest) + math.ceil(1 / row_epsilon).bit_length()
    one = 1 << bits
    last_low = exp_bounds(longest, bits)[0]
    whole_low = exp_bounds(steps * row_epsilon, bits)[0]
    first_high = exp_bounds(row_epsilon, bits)[1]
    return _shortened(Fraction(one * (one - whole_low), last_low * (one - first_high)), up=True)


def _shortened(value: Fraction, *, up: bool) -> Fraction:
    """A positive number with its first 128 binary digits or one less, rounded up or down."""
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - _KEPT)
    return (math.ceil(value / unit) if up else math.floor(value / unit)) * unit


def _check(epsilon: Fraction, delta: Fraction, steps: object) -> None:
    if epsilon < 0 or not 0 <= delta <= 1:
        raise InvalidParameterError("a cost has an epsilon of 0 or more, and a delta between 0 and 1.")
    _check_steps(steps, "steps")


def _check_steps(steps: object, name: str) -> None:
    if type(steps) is not int or steps < 1:
        raise InvalidParameterError(f"{name} must be a whole number of 1 or more.")
