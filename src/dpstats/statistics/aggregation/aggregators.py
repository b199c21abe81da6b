"""Aggregators: one private answer of the votes of all blocks, each vote one number or several.

Claim      epsilon-DP; "median": (epsilon, delta)-DP; a given function: what its author says of it
Neighbors  One row of votes changed in any way, which is what one row of the table can do; the number of blocks is public
Why        TURNOUT_SHARE of epsilon counts the blocks that answered. The rest buys means within public ranges with one noise for
           all coordinates (bounded_means.py), or for each coordinate at its part of epsilon a statistic that allows for one
           changed row of a table of public length. A block without an answer keeps its place, with a vote that depends on that
           place alone
Numerics   As those
No reply   Too few answers, by a noisy count; "median" where its test fails. Costs the same as an answer
Source     aggregators.proof.md; Nissim, Raskhodnikova & Smith 2007; Smith 2008; Dwork & Roth 2014, section 7
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question, Refusal, ask
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational, nearest_float
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.propose_test_release import REASON
from dpstats.statistics.aggregation.bounded_means import VoteCut, release_means
from dpstats.statistics.aggregation.centred_means import fewest_blocks, release_centred
from dpstats.statistics.aggregation.given_aggregates import GivenAggregate, aggregate_with, try_aggregate
from dpstats.statistics.aggregation.ranges import Range, checked_ranges
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.aggregation.turnout import TOO_FEW_ANSWERS, TURNOUT_SHARE, answered, count_answers, turnout_epsilon
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.winsorized import checked_trim

Given = TypeVar("Given")
MEAN, TRIMMED, WINSORIZED, MEDIAN = "mean", "trimmed", "winsorized", "median"
UNIVERSAL, CENTRED, CLIPPED, GIVEN = "universal", "centred", "clipped", "a given function"
ASKED = {
    TRIMMED: ("trimmed_mean", "universal"),
    WINSORIZED: ("winsorized_mean", "universal"),
    MEDIAN: ("median", "ptr"),
    UNIVERSAL: ("median", "universal"),
    CLIPPED: ("mean", "clipped"),
}
"""Which statistic, by which method, is asked of the votes where no range is given."""
NAMES = (MEAN, TRIMMED, WINSORIZED, MEDIAN, UNIVERSAL, CENTRED, CLIPPED)
TRIM = Fraction(1, 10)
UNTESTED = Refusal(REASON, "More blocks make a reply likelier. Or take aggregate='universal', without delta.")
VOTES_ERROR = "sampling of the blocks and noise: the same statistic of what the function gives for such blocks of rows"


@dataclass(frozen=True)
class Aggregated:
    """The answer: a number for each coordinate of the votes."""

    values: tuple[float, ...]
    intervals: tuple[Interval, ...]
    """One for each number; empty where none are wanted, or there are none by this aggregator."""
    notes: tuple[tuple[str, str], ...]
    """Lines for the card, from public things alone."""


@dataclass(frozen=True)
class Aggregator:
    """How votes become one answer; made by `aggregator_for`, and public."""

    name: str
    ranges: tuple[Range, ...] | None = None
    """One for all coordinates, or one for each; None where none was given."""
    trim: Fraction | None = None
    defaults: tuple[float, ...] | None = None
    """What a block without an answer votes: one number for all coordinates, or one for each."""
    function: GivenAggregate | None = None

    @property
    def needs_delta(self) -> bool:
        """Whether it cannot do without delta."""
        return self.name == MEDIAN

    @property
    def claim(self) -> str:
        """What is claimed, for the card."""
        if self.function is not None:
            return "as private as the given aggregate is for one changed vote, by the word of whoever gave it"
        if self.needs_delta:
            return "(epsilon, delta)-DP, may refuse: one row changes the vote of one block"
        return "pure epsilon-DP: one row changes the vote of one block"

    def fewest_blocks(self, blocks: int, coordinates: int, epsilon: Fraction) -> int:
        """The fewest blocks that an answer takes; `blocks` enters only through what counting their answers costs."""
        return fewest_blocks(coordinates, epsilon - turnout_epsilon(blocks, epsilon)) if self.name == CENTRED else 1

    def check_blocks(self, blocks: int, coordinates: int, epsilon: Fraction) -> None:
        """Raise where so few blocks cannot be aggregated so."""
        needed = self.fewest_blocks(blocks, coordinates, epsilon)
        if blocks < needed:
            raise InvalidParameterError(
                f"{self.name} means of {counted(coordinates, 'number')} need about {counted(needed, 'block')} at this epsilon."
            )

    def fitted(self, coordinates: int) -> Aggregator:
        """The same with a range and a default for each of `coordinates`; raises where their numbers differ."""
        ranges = None if self.ranges is None else _spread(self.ranges, coordinates, "range")
        defaults = None if self.defaults is None else _spread(self.defaults, coordinates, "default")
        return replace(self, ranges=ranges, defaults=defaults)

    def check(self, coordinates: int, epsilon: Fraction, delta: Fraction, level: Fraction | None) -> None:
        """Raise, before anything is spent or read, where `coordinates` numbers cannot be aggregated in this way."""
        self.fitted(coordinates)
        if self.needs_delta and not delta:
            raise MissingParameterError(f"aggregate={self.name!r} needs delta, for example 1e-6; or take 'universal'.")
        rest = epsilon * (1 - TURNOUT_SHARE)
        if self.function is not None:
            try_aggregate(self.function, rest / coordinates, delta / coordinates, level)
        elif self.name in ASKED and self.ranges is None:
            _question(self, coordinates, rest, delta, level)


def aggregator_for(
    name: object,
    *,
    range: object = None,
    trim: object = None,
    default: object = None,
) -> Aggregator:
    """A checked aggregator: its name, or a function of votes; `range` as in (0, 10), or a list of such pairs.

    "mean" needs a range. "trimmed" and "winsorized" take one or none. "universal" and "clipped" take none, "median" takes
    none and spends delta. `default` is what a block without an answer votes, a number or one for each coordinate.
    """
    ranges = None if range is None else checked_ranges(range)
    defaults = None if default is None else _checked_defaults(default)
    if callable(name):
        if ranges is not None or trim is not None:
            raise InvalidParameterError("a given aggregate knows its own range and trim: leave them out here.")
        return Aggregator(GIVEN, None, None, defaults, name)
    if not isinstance(name, str) or name not in NAMES:
        known = ", ".join(repr(known) for known in NAMES)
        raise UnknownNameError(f"there is no aggregate {name!r}; there are {known}, and functions of votes.")
    if name == MEAN and ranges is None:
        raise MissingParameterError(
            "aggregate='mean' needs range, public ends of the answer such as (0, 10); or take 'clipped' or 'universal'."
        )
    if ranges is not None and name not in (MEAN, TRIMMED, WINSORIZED):
        raise InvalidParameterError(f"aggregate={name!r} takes no range: leave it out, or take 'mean'.")
    if name not in (TRIMMED, WINSORIZED):
        if trim is not None:
            raise InvalidParameterError(f"aggregate={name!r} takes no trim: leave it out, or take 'trimmed'.")
        return Aggregator(name, ranges, None, defaults)
    return Aggregator(name, ranges, TRIM if trim is None else checked_trim(trim), defaults)


def aggregate_numbers(
    raw_votes: Floats,
    how: Aggregator,
    *,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    level: Fraction | None = Fraction(95, 100),
    rng: RandomSource,
) -> Aggregated | Refusal:
    """One answer of votes, blocks by coordinates; a row with NaN is a block without an answer.

    Call `how.check` first: it raises what is wrong with the question before anything is spent.
    """
    blocks, coordinates = raw_votes.shape
    if not blocks or not coordinates:
        raise InvalidParameterError("there must be at least one block, and one number for each block.")
    how = how.fitted(coordinates)
    raw_answered = answered(raw_votes)
    count_epsilon = turnout_epsilon(blocks, epsilon)
    turnout = count_answers(int(raw_answered.sum()), blocks, count_epsilon, rng)
    if turnout.is_too_small:
        return TOO_FEW_ANSWERS
    rest = epsilon - count_epsilon
    raw_votes = np.where(raw_answered[:, None], raw_votes, np.nan)
    if how.name == CENTRED:
        if how.defaults is not None:
            raw_votes = np.where(np.isnan(raw_votes), how.defaults, raw_votes)
        return Aggregated(*release_centred(raw_votes, rest, level, rng), _notes(how, blocks))
    if how.ranges is not None:
        cut = VoteCut(how.trim or Fraction(0), how.name == WINSORIZED)
        defaults = how.defaults or (None,) * coordinates
        values, intervals = release_means(raw_votes, how.ranges, cut, defaults, rest, level, rng)
        # so that they hold the mean of the blocks that answered too: those that did not may have moved it by their share
        reaches = [turnout.missing * each.width for each in how.ranges]
        widened = [
            replace(each, low=each.low - reach, high=each.high + reach) for each, reach in zip(intervals, reaches, strict=False)
        ]
        return Aggregated(values, tuple(widened), _notes(how, blocks))
    raw_columns = [_full_column(raw_votes[:, place], how, place) for place in range(coordinates)]
    if how.function is not None:
        outcome = aggregate_with(how.function, raw_columns, rest, delta, level, rng)
    else:
        outcome = _ask_each(_question(how, coordinates, rest, delta, level), raw_columns, rng)
    return outcome if isinstance(outcome, Refusal) else Aggregated(*outcome, _notes(how, blocks))


def _question(how: Aggregator, coordinates: int, epsilon: Fraction, delta: Fraction, level: Fraction | None) -> Question:
    """What is asked of the votes for each coordinate."""
    statistic, method = ASKED[how.name]
    parameters: dict[str, Any] = {} if how.trim is None else {"trim": how.trim}
    return ask(
        statistic,
        epsilon=epsilon / coordinates,
        delta=delta / coordinates if how.needs_delta else 0,
        neighbors=Neighbors.CHANGE_ONE,
        method=method,
        interval=level,
        rough=True,  # how many votes there are is public, and what they take is said where blocks are chosen
        **parameters,
    )


def _ask_each(
    question: Question, raw_columns: Sequence[Floats], rng: RandomSource
) -> tuple[tuple[float, ...], tuple[Interval, ...]] | Refusal:
    """The answer of the question for each coordinate; a refusal of one is a refusal of all."""
    answers = [question.method.run(VotesColumn(raw_column), question, rng) for raw_column in raw_columns]
    values, intervals = [], []
    for answer in answers:
        if isinstance(answer, Refusal):
            return UNTESTED
        values.append(float(answer.value))  # type: ignore[arg-type]
        intervals.append(answer.interval)
    if question.interval is None or not any(intervals):
        return tuple(values), ()
    open_ends = Interval(-math.inf, math.inf, float(question.interval), VOTES_ERROR)
    return tuple(values), tuple(open_ends if each is None else replace(each, covers=VOTES_ERROR) for each in intervals)


def _full_column(raw_column: Floats, how: Aggregator, place: int) -> Floats:
    """The votes for one coordinate; a block without an answer has the default, or votes without end, up or down by its place."""
    if how.defaults is not None:
        return np.where(np.isnan(raw_column), how.defaults[place], raw_column)
    far = np.where(np.arange(len(raw_column)) % 2 == 0, -np.inf, np.inf)
    return np.where(np.isnan(raw_column), far, raw_column)


def _checked_defaults(value: object) -> tuple[float, ...]:
    several = value if isinstance(value, (list, tuple)) else [value]
    if not several:
        raise InvalidParameterError("default must be a number, or one for each number of the answer.")
    return tuple(nearest_float(exact_rational(each, "default")) for each in several)


def _spread(given: tuple[Given, ...], coordinates: int, word: str) -> tuple[Given, ...]:
    """What was given once, for every coordinate; or what was given for each, if there are as many."""
    if len(given) not in (1, coordinates):
        raise InvalidParameterError(f"{word} is given for {counted(len(given), 'number')}, but the answer has {coordinates}.")
    return given if len(given) == coordinates else given * coordinates


def _notes(how: Aggregator, blocks: int) -> tuple[tuple[str, str], ...]:
    """The card's lines on how votes were aggregated."""
    if how.defaults is not None:
        missing = "votes the default"
    elif how.ranges is not None:
        missing = "votes for the middle of the range"
    else:
        missing = "votes far up or down, by its place alone"
    return (
        ("aggregate", how.name if how.trim is None else f"{how.name}, {float(how.trim):.6g} at either end"),
        ("blocks", f"{blocks:,}; one that gives no answer of the declared shape {missing}"),
    )
