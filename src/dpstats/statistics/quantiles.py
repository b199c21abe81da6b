"""Quantiles without bounds: the median, any quantile, and several at once.

Claim      epsilon-DP, no delta, no refusal, whatever the data
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One draw of the exponential mechanism over all 15-digit decimals, after a small look at the column's grain
           (universal/single.py); far out in a tail, four smaller steps (universal/tails.py); several quantiles by recursive
           halving (universal/many.py). An interval takes part of epsilon for its ends (universal/intervals.py)
Numerics   Exact integers from the rows to the draw; a released value is a decimal of 15 digits
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.accepted import Elements, Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NUMBER, either, list_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Statistic, ValueBy, method, register
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import MISSING_POLICY, Column
from dpstats.statistics.cards import public_line, register_number
from dpstats.statistics.universal.intervals import Bounded, draw_bounded, draw_several_bounded
from dpstats.statistics.universal.losses import loss_of_one, loss_of_several
from dpstats.statistics.universal.many import draw_quantiles
from dpstats.statistics.universal.single import draw_quantile
from dpstats.statistics.universal.tails import COUNT_SHARE, MEDIAN_SHARE, TAIL, draw_tail_quantile, safe_rows

UNIVERSAL_CLAIM = "pure epsilon-DP, no bounds asked, no delta, no refusal"
WHY_UNIVERSAL = "it needs no delta, never refuses, and erred least over the shapes compared in docs/propose-test-release.md"
QUANTILE_ERROR = "sampling error and noise: the quantile of the population that the rows are drawn from"
MOST_QUANTILES = 999
QUANTILE_LOSS = max(loss_of_one(), loss_of_several())
"""rho / epsilon**2 of any list of quantiles, or of one."""
_RELIABLE_NATS = 20
"""With this many nats beyond a single quantile, absurd values are rare; among several, the neighbours help."""
_RELIABLE_NATS_OF_SEVERAL = 8


def checked_quantile(value: object) -> Fraction:
    """One quantile as an exact rational in [0, 1]."""
    quantile = exact_rational(value, "q")
    if not 0 <= quantile <= 1:
        raise InvalidParameterError(f"q must be between 0 and 1 (0.5 is the median), got {value}.")
    return quantile


def checked_quantiles(value: object) -> Fraction | tuple[Fraction, ...]:
    """One quantile, or a list of them as a tuple."""
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", None) == 0:
        return checked_quantile(value)
    quantiles = tuple(checked_quantile(item) for item in value)
    if not 1 <= len(quantiles) <= MOST_QUANTILES:
        raise InvalidParameterError(f"q must hold 1 to {MOST_QUANTILES} quantiles, got {len(quantiles)}.")
    return quantiles


QUANTILE = register(
    Statistic(
        "quantile",
        "The value below which a fraction q of the rows lies; a list of q gives all of them for one epsilon",
        (
            Parameter(
                "q",
                "which quantile, from 0 to 1 (0.5 is the median), or a list of them",
                checked_quantiles,
                json_type=either(NUMBER, list_of(NUMBER)),
                takes=Number | Elements,
            ),
        ),
        returns="a float, or a tuple of floats in the order of the list",
        value=ValueBy("q", ((Number, float), (Elements, tuple[float, ...]))),
        why_preferred=WHY_UNIVERSAL,
    )
)
MEDIAN = register_number("median", "The middle value: half of the rows lie below it", why_preferred=WHY_UNIVERSAL)


@method(QUANTILE, "universal", claim=UNIVERSAL_CLAIM, loss=QUANTILE_LOSS, version=2)
def quantile_universal(column: Column, question: Question, rng: RandomSource) -> Answer:
    """One quantile by a single draw, several by recursive halving."""
    wanted = question.arguments["q"]
    if isinstance(wanted, Fraction):
        return single_quantile(column, question, wanted, rng)
    values = several_quantiles(column, question, wanted, rng)
    return Answer(
        tuple(values[quantile].value for quantile in wanted),
        notes=universal_notes(question, *wanted),
        intervals=tuple(interval_of(values[quantile], question.interval) for quantile in wanted) if question.interval else (),
    )


@method(MEDIAN, "universal", claim=UNIVERSAL_CLAIM, loss=loss_of_one(), version=2)
def median_universal(column: Column, question: Question, rng: RandomSource) -> Answer:
    """The quantile at one half."""
    return single_quantile(column, question, Fraction(1, 2), rng)


def single_quantile(column: Column, question: Question, quantile: Fraction, rng: RandomSource) -> Answer:
    """One universal quantile that spends the whole of the question, on itself and on its interval."""
    bounded = _single(column, question, quantile, rng)
    has_end = math.isfinite(bounded.low) or math.isfinite(bounded.high)
    interval = interval_of(bounded, question.interval) if question.interval and has_end else None
    return Answer(bounded.value, interval, universal_notes(question, quantile))


def several_quantiles(
    column: Column,
    question: Question,
    quantiles: Iterable[Fraction],
    rng: RandomSource,
    root_share: Fraction | None = None,
) -> dict[Fraction, Bounded]:
    """Universal quantiles that spend the whole of the question together; without intervals their ends are infinite."""
    wanted = sorted(set(quantiles))
    if len(wanted) == 1:
        return {wanted[0]: _single(column, question, wanted[0], rng)}
    spending = (question.epsilon, question.neighbors)
    if question.interval is None:
        drawn = draw_quantiles(column, wanted, *spending, rng, root_share=root_share)
        return {quantile: Bounded.around(ordinal, None, None) for quantile, ordinal in drawn.items()}
    return draw_several_bounded(column, wanted, *spending, float(question.interval), rng, root_share)


def interval_of(bounded: Bounded, level: Fraction) -> Interval:
    """The interval of a quantile."""
    return Interval(bounded.low, bounded.high, float(level), QUANTILE_ERROR)


def _single(column: Column, question: Question, quantile: Fraction, rng: RandomSource) -> Bounded:
    if question.interval is not None:
        return draw_bounded(column, quantile, question.epsilon, question.neighbors, float(question.interval), rng)
    draw = draw_tail_quantile if min(quantile, 1 - quantile) < TAIL else draw_quantile
    return Bounded.around(draw(column, quantile, question.epsilon, question.neighbors, rng), None, None)


def universal_notes(question: Question, *quantiles: Fraction) -> tuple[tuple[str, str], ...]:
    """The card's lines on what is public and what to expect, from parameters alone."""
    rows = reliable_rows(question.epsilon, quantiles)
    return (
        (
            "reliable from",
            f"about {rows:,} rows at this epsilon; with fewer, the answer leans on a public prior over all numbers",
        ),
        *_tail_note(question, quantiles),
        ("missing values", MISSING_POLICY),
        public_line(question),
        ("numerics", "exact integer arithmetic; values are released as decimals of 15 digits"),
    )


def _tail_note(question: Question, quantiles: Sequence[Fraction]) -> tuple[tuple[str, str], ...]:
    """What a quantile far out aims at; the outermost rows themselves cannot be released."""
    if len(quantiles) > 1 or min(quantiles[0], 1 - quantiles[0]) >= TAIL:
        return ()
    rows = safe_rows(row_epsilon(question.epsilon, question.neighbors))
    text = f"at the quantile or, where fewer rows lie beyond it, about {rows} rows from the end"
    return (("aims", text),)


def reliable_rows(epsilon: Fraction, quantiles: Sequence[Fraction]) -> int:
    """How many rows make absurd values unlikely, rounded up to two digits."""
    outermost = max(min(min(quantile, 1 - quantile) for quantile in quantiles), Fraction(1, 10**6))
    levels = len(quantiles).bit_length()
    if levels > 1:
        needed = levels * max(_RELIABLE_NATS_OF_SEVERAL / outermost, Fraction(3 * _RELIABLE_NATS))
    elif outermost >= TAIL:
        needed = _RELIABLE_NATS * 2 * (1 - outermost) / outermost
    else:
        needed = 2 * _RELIABLE_NATS / (MEDIAN_SHARE * (1 - COUNT_SHARE))
    rows = math.ceil(needed / epsilon)
    step: int = 10 ** max(0, len(str(rows)) - 2)
    return -(-rows // step) * step
