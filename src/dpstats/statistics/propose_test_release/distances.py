"""How many rows must change before a statistic of order leaves a set: the distances that propose-test-release tests.

Claim      No release by itself. One row moves every distance by at most 1, and a distance to where the statistic can jump is
           0 wherever one row makes it jump
Neighbors  CHANGE_ONE: the exact distance, over all tables of the same size with values of any magnitude.
           ADD_REMOVE: a valid test with the ranks of ranks.py, whose moves (0, 0), (0, 1) and (1, 1) are the only safe ones.
           A changed row that goes missing is a removed one, so CHANGE_ONE needs these ranks too where rows can be missing
Why        With m changes rows high+i and low-j can be brought to the ranks high and low exactly if i + j <= m, so two pointers
           that walk outwards (or inwards) from the ranks find the fewest changes
Numerics   Integers throughout. `at(rank)` is the row of a rank in some unit, -BEYOND before the first and +BEYOND after the last
Cost       No function reads a rank further than the public `cap` from the ranks it is given, reads more than a multiple of `cap`
           rows, or returns more than `cap`
Source     distances.proof.md; Dwork & Lei 2009, Algorithms S and M; Dwork & Roth 2014, chapter 7
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction

from dpstats.foundations.privacy import Neighbors

Rows = Callable[[int], int]
"""The row of a rank in units; every integer is a rank."""


def steps_to_widen(at: Rows, low: int, high: int, width: int, cap: int) -> int:
    """Changes before row `high` lies more than `width` above row `low`: min{i + j : x_(high+i) - x_(low-j) > width}.

    For low == high, where the difference is always 0, one more than `steps_to_sensitive`.
    """
    fewest = cap
    up = cap - 1  # the most steps up that still fail, for the steps down taken so far
    for down in range(cap):
        while up >= 0 and at(high + up) - at(low - down) > width:
            up -= 1
        fewest = min(fewest, up + 1 + down)
        if up < 0:
            break
    return fewest


def steps_to_narrow(at: Rows, low: int, high: int, width: int, cap: int) -> int:
    """Changes before row `high` lies less than `width` above row `low`; `cap` for a width of 0, as nothing is narrower.

    This is min{i + j : i + j >= high - low or x_(high-i) - x_(low+j) < width}: widening with the ends exchanged. Ends that
    have met or crossed differ by 0 or less, so they need no case of their own.
    """
    return steps_to_widen(at, high, low, -width, cap) if width > 0 else cap


def steps_to_leave_range(at: Rows, low: int, high: int, least: int, beyond: int, cap: int) -> int:
    """Changes before row `high` minus row `low` leaves [least, beyond). The bin of the range 0 alone is [0, 1)."""
    widening = steps_to_widen(at, low, high, beyond - 1, cap)
    return steps_to_narrow(at, low, high, least, widening)


def steps_to_leave_bin(at: Rows, rank: int, least: int, beyond: int, cap: int) -> int:
    """Changes before the row of a rank leaves [least, beyond); 0 for the rank 0 of a table without rows."""
    for steps in range(cap):
        if at(rank + steps) >= beyond or at(rank - steps) < least:
            return steps
    return cap


def steps_to_sensitive(at: Rows, low: int, high: int, width: int, cap: int) -> int:
    """Changes before one more can move the sum of the rows low..high by more than `width` (at least 0).

    A quantile has low == high and its bound as width. A mean over N = high - low + 1 rows has N * bound, where N cannot
    change; where it can, this is no valid test: see `steps_to_sensitive_mean`.
    """
    return max(0, steps_to_widen(at, low, high, width, cap + 1) - 1)


def steps_to_sensitive_mean(at: Rows, low: int, high: int, bound: Fraction, cap: int) -> int:
    """A lower bound on the changes before one more can move the mean of the rows low..high by more than `bound` units.

    Valid where rows are changed, added or removed, with the ranks of `interquantile_ranks`: min{i + j : x_(high+i) - x_(low-j)
    > (N - i - j) * bound} - 1 with N = high - low + 1, because every step may also take one of the N rows away.
    """

    def spread(rank: int) -> int:
        steps = max(0, rank - high) - max(0, low - rank)
        return bound.denominator * at(rank) + bound.numerator * steps

    return steps_to_sensitive(spread, low, high, bound.numerator * (high - low + 1), cap)


def steps_to_jump(at: Rows, low: int, high: int, factor: Fraction, cap: int) -> int:
    """Changes before one more can multiply or divide the range from row `low` to row `high` by more than `factor` >= 1.

    From 0 to anything else is such a jump. For low == high the range is always 0 and cannot jump under CHANGE_ONE; a row added
    may part the ranks, so there it is the changes before one of the rows beside this rank differs from it.
    """
    if low == high:
        return steps_to_sensitive(at, low, high, 0, cap)
    up = steps_to_leap(at, low, high, factor, cap)
    up = steps_to_leap(at, low, high - 1, factor, up)

    def mirrored(rank: int) -> int:
        return -at(-rank)

    down = steps_to_leap(mirrored, -high, -low, factor, up)
    return steps_to_leap(mirrored, -high, -low - 1, factor, down)


def steps_to_leap(at: Rows, low: int, high: int, factor: Fraction, cap: int) -> int:
    """Changes before row high+1 lies more than `factor` times as far above row `low` as row `high` does.

    `inside` rows added between the ends and `above` rows put above them bring row high+1+above to the rank high+1, row high+l
    to `high` and row low+l+inside to `low`, for any l from -inside to above: cap**2 comparisons at most, on rows read once.
    """
    times, over = factor.as_integer_ratio()
    inner = high - low
    fewest = cap
    if inner < cap:  # with `inner` rows inside the ends can meet: any gap will do
        fewest = inner + steps_to_widen(at, low, high + 1, 0, cap - inner)
    most_inside = min(inner, fewest)
    lows = [(times - over) * at(low + steps) for steps in range(fewest)]
    highs = [times * at(high + steps) for steps in range(1 - most_inside, fewest)]
    nexts = [over * at(high + 1 + steps) for steps in range(fewest)]
    for inside in range(most_inside):
        # row high+1 must exceed factor * row high - (factor - 1) * row low; the least of these, for l from -inside to above
        limits = itertools.accumulate(map(operator.sub, highs[most_inside - 1 - inside :], lows), min)
        reached = map(operator.gt, nexts, itertools.islice(limits, inside, fewest))
        above = next((above for above, leaps in enumerate(reached) if leaps), fewest)
        fewest = min(fewest, inside + above)
    return fewest


def steps_to_another_mode(first: int, second: int, second_is_larger_label: bool, neighbors: Neighbors) -> int:
    """Changes before another label is the mode, from the two largest counts `first` >= `second`; ties go to the smaller label.

    `second_is_larger_label`: every label with the second largest count is larger than the mode, which therefore wins a tie.
    Labels that nobody has count 0 (so `second` is 0 where there is one label only); some of them are smaller than the mode.
    """
    gap = first - second + (second_is_larger_label and second > 0)
    return gap if neighbors is Neighbors.ADD_REMOVE else -(-gap // 2)
