"""Interquantile ranges without bounds: the interquartile range, and the width of any other middle part of the rows.

Claim      epsilon-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        Both quantiles come from one recursive halving (universal/many.py): for quartiles an unreported median first, then
           each from its own half; their difference is post-processing
Numerics   Exact draws; one float subtraction of released values
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction

from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NUMBER, list_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, SameQuestion, method
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Column
from dpstats.statistics.by_unit import one_step
from dpstats.statistics.cards import register_number
from dpstats.statistics.quantiles import (
    TOO_FEW_BEYOND,
    UNIVERSAL_CLAIM,
    WHY_UNIVERSAL,
    checked_quantiles,
    judged_quantiles,
    refused_unless_enough,
    several_quantiles,
    universal_notes,
)
from dpstats.statistics.universal.bounded import Bounded, common_decimals, seem_stepped
from dpstats.statistics.universal.losses import loss_of_several

LOWER_QUARTILE, UPPER_QUARTILE = Fraction(1, 4), Fraction(3, 4)
MEDIAN_SHARE = Fraction(3, 10)
"""Part of epsilon for the median that splits the rows: an error there moves both quartiles alike and cancels in part."""
RANGE_LOSS = loss_of_several(MEDIAN_SHARE)
NO_INTERVAL = f"There is no interval: {TOO_FEW_BEYOND}."
INTERVAL_ADVICE = (
    "It takes more rows, a larger epsilon or quantiles nearer to the median; interval=None asks for the value alone."
)
RANGE_ERROR = "sampling error and noise: the range in the population that the rows are drawn from"


def checked_pair(value: object) -> tuple[Fraction, Fraction]:
    """Two quantiles, the lower one first."""
    quantiles = checked_quantiles(value)
    if not isinstance(quantiles, tuple) or len(quantiles) != 2 or not 0 < quantiles[0] < quantiles[1] < 1:
        raise InvalidParameterError("q must be two quantiles above 0 and below 1, the lower one first, such as [0.1, 0.9].")
    return quantiles[0], quantiles[1]


IQR = register_number("iqr", "The interquartile range: the width of the middle half of the rows", why_preferred=WHY_UNIVERSAL)
INTERQUANTILE_RANGE = register_number(
    "interquantile_range",
    "The distance between two quantiles: the width of a middle part of the rows",
    Parameter("q", "the two quantiles, such as [0.1, 0.9]", checked_pair, (0.25, 0.75), list_of(NUMBER, 2, 2), takes=Elements),
    why_preferred=WHY_UNIVERSAL,
    same_as=lambda arguments: SameQuestion("iqr") if arguments["q"] == (LOWER_QUARTILE, UPPER_QUARTILE) else None,
)


def range_of(question: Question) -> tuple[Fraction, Fraction]:
    """The two quantiles that a question about a range means."""
    lower, upper = question.arguments.get("q", (LOWER_QUARTILE, UPPER_QUARTILE))
    return lower, upper


def range_steps(question: Question) -> int:
    """The steps by unit of two quantiles."""
    return 2 * one_step(question)


@method(IQR, "universal", claim=UNIVERSAL_CLAIM, loss=RANGE_LOSS, version=4, by_unit=range_steps)
@method(INTERQUANTILE_RANGE, "universal", claim=UNIVERSAL_CLAIM, loss=RANGE_LOSS, version=4, by_unit=range_steps)
def range_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The difference of two universal quantiles."""
    lower, upper = range_of(question)
    values = several_quantiles(column, question, (lower, upper), rng, MEDIAN_SHARE)
    low, high = values[lower], values[upper]
    decimals = common_decimals((low, high))
    low, high = (each.on_grain(decimals) for each in (low, high))
    notes = (("between", f"{low.value:.15g} and {high.value:.15g}"), *universal_notes(question, lower, upper))
    interval = range_interval(low, high, (lower, upper), question.interval)
    if interval is not None:
        on_grain = Bounded(_distance(low.value, high.value), *interval).on_grain(decimals)
        interval = replace(interval, low=on_grain.low, high=on_grain.high)
    answer = Answer(_distance(low.value, high.value), interval, notes, unknown=TOO_FEW_BEYOND)
    if question.interval is not None and interval is None and not any(each.astray for each in (low, high)):
        return refused_unless_enough(question, values, answer, NO_INTERVAL, INTERVAL_ADVICE)
    return judged_quantiles(question, values, answer)


def range_interval(low: Bounded, high: Bounded, quantiles: tuple[Fraction, Fraction], level: Fraction | None) -> Interval | None:
    """An interval for the difference of two quantiles, from theirs (Zou & Donner's method of variance estimates recovery)."""
    ends = (low.low, low.high, high.low, high.high)
    if level is None or not all(math.isfinite(end) for end in ends):
        return None
    lower, upper = quantiles
    correlation = math.sqrt(lower * (1 - upper) / (upper * (1 - lower)))
    value = _distance(low.value, high.value)

    if seem_stepped((low, high)):  # where a quantile jumps from tie to tie its interval says nothing of how likely its ends are
        return Interval(max(0.0, high.low - low.high), _distance(low.low, high.high), float(level), RANGE_ERROR)

    def reach(one: float, other: float) -> float:
        longer = max(one, other) or 1.0  # squares of numbers themselves might be too large for a float
        first, second = one / longer, other / longer
        return longer * math.sqrt(max(0.0, first**2 + second**2 - 2 * correlation * first * second))

    down = reach(_distance(high.low, high.value), _distance(low.value, low.high))
    up = reach(_distance(high.value, high.high), _distance(low.low, low.value))
    return Interval(max(0.0, value - down), _distance(-up, value), float(level), RANGE_ERROR)


def _distance(low: float, high: float) -> float:
    """How far one number is above another; the largest float where it is further."""
    return min(high - low, sys.float_info.max)
