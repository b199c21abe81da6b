"""Quantiles without bounds: the median, any quantile, and several at once.

Claim      epsilon-DP, no delta, whatever the data
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One draw of the exponential mechanism over all 15-digit decimals, after a small look at the column's grain
           (universal/single.py); far out in a tail, four smaller steps (universal/tails.py); several quantiles by recursive
           halving (universal/many.py). An interval takes part of epsilon for its ends (universal/intervals.py), and 3% of epsilon
           buy a noisy number of rows
Numerics   Exact integers from the rows to the draw; a released value is a decimal of 15 digits
No reply   Below a floor of rows times epsilon, by released numbers of rows alone (floors.py); costs what an answer does
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.accepted import Elements, Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NUMBER, either, list_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import (
    Answer,
    Outcome,
    Parameter,
    Question,
    Refusal,
    SameQuestion,
    Statistic,
    ValueBy,
    method,
    register,
)
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational, round_up
from dpstats.foundations.summaries import MISSING_POLICY, Column
from dpstats.foundations.text_tables import counted
from dpstats.statistics.by_unit import looked_at, one_step
from dpstats.statistics.cards import public_line, register_number
from dpstats.statistics.floors import Floor
from dpstats.statistics.universal.bands import DigitBands
from dpstats.statistics.universal.bounded import Bounded
from dpstats.statistics.universal.decimals import float_of
from dpstats.statistics.universal.intervals import ROWS_SHARE, count_rows, draw_bounded, draw_several_bounded
from dpstats.statistics.universal.losses import loss_of_one, loss_of_several
from dpstats.statistics.universal.many import are_astray, digits_of_several, draw_from, levels_of
from dpstats.statistics.universal.single import digits_of, draw_quantile
from dpstats.statistics.universal.tails import TAIL, draw_tail_quantile, safe_rows

UNIVERSAL_CLAIM = "pure epsilon-DP, no bounds asked, no delta"
WHY_UNIVERSAL = "it needs no delta, and erred least over the shapes compared in docs/propose-test-release.md"
QUANTILE_ERROR = "sampling error and noise: the quantile of the population that the rows are drawn from"
MOST_QUANTILES = 999
QUANTILE_LOSS = max(loss_of_one(), loss_of_several())
"""rho / epsilon**2 of any list of quantiles, or of one."""
NATS_BEYOND, NATS_OF_TAIL, FARTHEST_OUT = Fraction(70), Fraction(110), Fraction(5, 100)
"""Rows times epsilon that must lie beyond a quantile: this many, and this many times the part of the rows on its other side,
because the loss of a rank is less steep further out. A quantile beyond FARTHEST_OUT is drawn like that one. For q = .95 and 2,000
rows around 1e6 with a deviation of 3, 28 of 600 replies were absurd (up to 1e282) at 75 beyond, 3 at 85 and none at 95."""
NATS_BEYOND_SEVERAL, NATS_OF_SEVERAL = Fraction(15), 90.0
"""Among several, for each level of their halving, beyond the outermost one and in all: the neighbours help."""
ASTRAY = "The noise of this answer hit an end of its interval: it lies where the other released numbers say that no rows are."
ASTRAY_ADVICE = "Ask again; a larger epsilon, or a quantile nearer to the median, makes this rarer."
TOO_FEW_BEYOND = "too few rows lie beyond the quantile to tell at this epsilon"


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
        same_as=lambda arguments: SameQuestion("median") if arguments["q"] == Fraction(1, 2) else None,
    )
)
MEDIAN = register_number("median", "The middle value: half of the rows lie below it", why_preferred=WHY_UNIVERSAL)


def quantile_steps(question: Question) -> int:
    """The steps by unit of one quantile or of several."""
    wanted = question.arguments["q"]
    return len(looked_at([wanted] if isinstance(wanted, Fraction) else wanted)) * one_step(question)


@method(QUANTILE, "universal", claim=UNIVERSAL_CLAIM, loss=QUANTILE_LOSS, version=4, by_unit=quantile_steps)
def quantile_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """One quantile by a single draw, several by recursive halving."""
    wanted = question.arguments["q"]
    if isinstance(wanted, Fraction):
        return single_quantile(column, question, wanted, rng)
    values = several_quantiles(column, question, wanted, rng)
    answer = Answer(
        tuple(values[quantile].value for quantile in wanted),
        notes=universal_notes(question, *wanted),
        intervals=tuple(interval_of(values[quantile], question.interval) for quantile in wanted) if question.interval else (),
    )
    return judged_quantiles(question, values, answer)


@method(MEDIAN, "universal", claim=UNIVERSAL_CLAIM, loss=loss_of_one(), version=4, by_unit=one_step)
def median_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The quantile at one half."""
    return single_quantile(column, question, Fraction(1, 2), rng)


def single_quantile(column: Column, question: Question, quantile: Fraction, rng: RandomSource) -> Outcome:
    """One universal quantile that spends the whole of the question, on itself and on its interval."""
    bounded = _single(column, question, quantile, rng)
    has_end = math.isfinite(bounded.low) or math.isfinite(bounded.high)
    interval = interval_of(bounded, question.interval) if question.interval and has_end else None
    answer = Answer(bounded.value, interval, universal_notes(question, quantile), unknown=TOO_FEW_BEYOND)
    return judged_quantiles(question, {quantile: bounded}, answer)


def judged_quantiles(question: Question, values: Mapping[Fraction, Bounded], answer: Answer) -> Outcome:
    """The answer, or a refusal where there are too few rows for these quantiles, or their ends are astray."""
    why = ASTRAY if any(bounded.astray for bounded in values.values()) else ""
    return refused_unless_enough(question, values, answer, why, ASTRAY_ADVICE)


def refused_unless_enough(
    question: Question, values: Mapping[Fraction, Bounded], answer: Answer, why: str, advice: str
) -> Outcome:
    """A refusal where there are too few rows for these quantiles, or where there is another reason; else the answer."""
    floor = quantile_floor(tuple(values))
    noisy_rows = next(iter(values.values())).noisy_rows
    if why and floor.refusal(question, noisy_rows) is None:
        return floor.refuse(question, answer, Refusal(why, advice), why)
    return floor.judge(question, noisy_rows, answer)


def quantile_floor(quantiles: Sequence[Fraction]) -> Floor:
    """What quantiles take: rows times epsilon by how far out they lie, and how many there are."""
    outermost = max(min(min(quantile, 1 - quantile) for quantile in quantiles), FARTHEST_OUT)
    if len(quantiles) > 1:
        levels = levels_of(tuple(sorted(set(quantiles))))
        return Floor(levels * max(float(NATS_BEYOND_SEVERAL / outermost), NATS_OF_SEVERAL))
    return Floor(float(max(NATS_BEYOND, NATS_OF_TAIL * (1 - outermost)) / outermost))


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
    if question.interval is None:
        noisy_rows = _counted(column, question, rng)
        left = row_epsilon(question.epsilon, question.neighbors) * (1 - ROWS_SHARE)
        digits = digits_of_several(wanted, noisy_rows, left, root_share)
        places = draw_from(column, wanted, left, rng, root_share, digits)
        astray = are_astray(places, wanted, noisy_rows, left, DigitBands(digits))
        return {
            each: Bounded(float_of(places[each].ordinal), -math.inf, math.inf, noisy_rows, astray=each in astray)
            for each in wanted
        }
    level = float(question.interval)
    return draw_several_bounded(column, wanted, question.epsilon, question.neighbors, level, rng, root_share)


def _counted(column: Column, question: Question, rng: RandomSource) -> int:
    """A noisy number of rows for ROWS_SHARE of a question."""
    return count_rows(column.count(), row_epsilon(question.epsilon, question.neighbors), rng)


def interval_of(bounded: Bounded, level: Fraction) -> Interval:
    """The interval of a quantile."""
    bounded = bounded.on_grain()
    return Interval(bounded.low, bounded.high, float(level), QUANTILE_ERROR)


def _single(column: Column, question: Question, quantile: Fraction, rng: RandomSource) -> Bounded:
    if question.interval is not None:
        return draw_bounded(column, quantile, question.epsilon, question.neighbors, float(question.interval), rng)
    draw = draw_tail_quantile if min(quantile, 1 - quantile) < TAIL else draw_quantile
    noisy_rows = _counted(column, question, rng)
    epsilon = question.epsilon * (1 - ROWS_SHARE)
    digits = digits_of(quantile, noisy_rows, epsilon, question.neighbors)
    ordinal = draw(column, quantile, epsilon, question.neighbors, rng, digits)
    return Bounded(float_of(ordinal), -math.inf, math.inf, noisy_rows)


def universal_notes(question: Question, *quantiles: Fraction) -> tuple[tuple[str, str], ...]:
    """The card's lines on what is public and what to expect, from parameters alone."""
    rows = round_up(quantile_floor(quantiles).rows_at(question))
    return (
        (
            "reliable from",
            f"about {counted(rows, 'row')} at this epsilon; with fewer, a rough answer leans on a public prior over all numbers",
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
    text = f"at the quantile or, where fewer rows lie beyond it, about {counted(rows, 'row')} from the end"
    return (("aims", text),)
