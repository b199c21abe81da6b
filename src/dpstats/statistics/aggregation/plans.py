"""A plan of sample and aggregate: how many blocks there are, what each of them must reply, and how replies become one answer.

Claim      epsilon-DP; (epsilon, delta)-DP by "stable" and "median"; by a given function what its author says of it
Neighbors  ADD_REMOVE or CHANGE_ONE, alike: one row touches `overlap` blocks, whose number is public
Why        Every row is in one block of each of `overlap` sets of blocks, by its own coins (row_blocks.py), and a reply depends on
           its block alone (evaluation.py). So at most `overlap` replies change, which is what numbers (aggregators.py) and labels
           (choices.py) are aggregated for. The popularity of a chosen label is a further question, at its own part of epsilon
Numerics   As those
No reply   As those
Source     Nissim, Raskhodnikova & Smith 2007; Dwork & Roth 2014, section 7
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, Answer, Refusal
from dpstats.mechanisms.propose_test_release import distance_for
from dpstats.statistics.aggregation.aggregators import NAMES, UNIVERSAL, Aggregator, aggregate_numbers, aggregator_for
from dpstats.statistics.aggregation.choices import (
    Popularity,
    checked_options,
    choose_option,
    choose_stable,
    popularity,
    stability_test,
)
from dpstats.statistics.aggregation.replies import LabelForm, NumbersForm
from dpstats.statistics.aggregation.row_blocks import toss_blocks

ARGMAX, STABLE = "argmax", "stable"
CHOICES = (ARGMAX, STABLE)
AGGREGATES = (*NAMES, *CHOICES)
LEAST_BLOCKS, MOST_BLOCKS = 2, 1_000_000
MOST_OUTPUTS, MOST_OVERLAP = 1000, 100
NUMBER_NATS = 360
"""Blocks for each number, over epsilon, where their number is left to us."""
SURE, AGREE = 0.95, 0.6
"""Labels get enough blocks that the answer comes through with chance SURE where its lead is a share AGREE of them."""
POPULARITY_SHARE = Fraction(1, 4)
NO_INTERVAL = ("interval", "none: too few blocks at this epsilon to bound it")


@dataclass(frozen=True)
class BlockPlan:
    """What is asked of blocks and made of their replies; everything in it is public and checked."""

    aggregate: str
    blocks: int
    epsilon: Fraction
    delta: Fraction
    level: Fraction | None
    outputs: int = 1
    """How many numbers a block replies, where it replies numbers."""
    single: bool = True
    """Whether the one number is released as such, not as a tuple of one."""
    aggregator: Aggregator | None = None
    """None where labels are chosen."""
    options: tuple[Any, ...] | None = None
    overlap: int = 1
    popularity: bool = False

    @property
    def form(self) -> NumbersForm | LabelForm:
        """What a reply must be."""
        return LabelForm() if self.aggregator is None else NumbersForm(self.outputs)

    @property
    def claim(self) -> str:
        """What is claimed, for the card."""
        if self.aggregator is not None:
            return self.aggregator.claim
        if self.aggregate == STABLE:
            return "(epsilon, delta)-DP, may refuse: the most frequent answer, as it is, if its lead passes a private test"
        return "pure epsilon-DP: report noisy max of the votes for public options, and for none of them"

    def pieces(self, raw_rows: int, rng: RandomSource) -> list[NDArray[np.int64]]:
        """For each block the numbers of its rows, in their order."""
        raw_nothing = np.empty((raw_rows, 0))
        shares = [self.blocks // self.overlap + (place < self.blocks % self.overlap) for place in range(self.overlap)]
        return [piece for share in shares for piece in toss_blocks(raw_nothing, share, rng).raw_pieces]

    def answer(self, raw_replies: Sequence[Any], rng: RandomSource) -> Answer | Refusal:
        """One private answer of the replies of all blocks, None where one has none."""
        if self.aggregator is None:
            return self._choice(raw_replies, rng)
        raw_nothing = (math.nan,) * self.outputs
        raw_votes = np.array([raw_nothing if raw is None else raw for raw in raw_replies], dtype=np.float64)
        outcome = aggregate_numbers(raw_votes, self.aggregator, epsilon=self.epsilon, delta=self.delta, level=self.level, rng=rng)
        if isinstance(outcome, Refusal):
            return outcome
        unbounded = self.aggregate == UNIVERSAL and self.level is not None and not outcome.intervals
        notes = (NO_INTERVAL, *outcome.notes) if unbounded else outcome.notes
        if self.single and len(outcome.values) == 1:  # a given aggregate may make several numbers of one
            return Answer(outcome.values[0], outcome.intervals[0] if outcome.intervals else None, notes)
        return Answer(outcome.values, None, notes, outcome.intervals)

    def _choice(self, raw_labels: Sequence[Any], rng: RandomSource) -> Answer | Refusal:
        epsilon = _choice_epsilon(self.epsilon, self.popularity)
        chosen: object
        if self.options is None:
            chosen = choose_stable(raw_labels, self.overlap, epsilon, self.delta, rng)
        else:
            chosen = choose_option(raw_labels, self.options, epsilon, rng, self.overlap)
        if isinstance(chosen, Refusal):
            return chosen
        notes = [("aggregate", self.aggregate), ("blocks", f"{self.blocks:,}; one that gives no label counts for none")]
        if self.popularity:
            found = popularity(raw_labels, chosen, self.overlap, self.epsilon - epsilon, rng, self.level)
            notes.append(("popularity", _popularity_text(found)))
        return Answer(chosen, None, tuple(notes))


def plan_for(
    aggregate: Any,
    *,
    epsilon: Fraction,
    delta: Fraction,
    level: Fraction | None,
    blocks: object = AUTO,
    outputs: object = None,
    range: object = None,
    trim: object = None,
    default: object = None,
    options: Any = None,
    overlap: object = 1,
    popularity: object = False,
) -> BlockPlan:
    """A checked plan; every complaint is raised here, and speaks of public things."""
    if not callable(aggregate) and not (isinstance(aggregate, str) and aggregate in AGGREGATES):
        known = ", ".join(repr(name) for name in AGGREGATES)
        raise UnknownNameError(f"aggregate must be one of {known}, or a function of votes; got {aggregate!r}.")
    whole_overlap = _whole(overlap, "overlap", 1, MOST_OVERLAP)
    if not isinstance(popularity, bool):
        raise InvalidParameterError("popularity must be True or False.")
    if aggregate in CHOICES:
        for name, value in (("outputs", outputs), ("range", range), ("trim", trim), ("default", default)):
            if value is not None:
                raise InvalidParameterError(f"aggregate={aggregate!r} chooses a label: leave {name} out.")
        listed = _options(aggregate, options)
        if aggregate == STABLE and not delta:
            raise MissingParameterError("aggregate='stable' needs delta: for example delta=1e-6.")
        count = _label_blocks(blocks, _choice_epsilon(epsilon, popularity), delta, listed, whole_overlap)
        spent = delta if aggregate == STABLE else Fraction(0)
        return BlockPlan(
            aggregate, count, epsilon, spent, level, options=listed, overlap=whole_overlap, popularity=popularity, single=True
        )
    if options is not None or popularity:
        raise InvalidParameterError("options and popularity are for aggregate='argmax' and 'stable', which choose labels.")
    if whole_overlap != 1:
        raise InvalidParameterError("overlap is for aggregate='argmax' and 'stable'; numbers are taken of blocks without one.")
    how = aggregator_for(aggregate, range=range, trim=trim, default=default)
    numbers = 1 if outputs is None else _whole(outputs, "outputs", 1, MOST_OUTPUTS)
    how.check(numbers, epsilon, delta, level)
    if isinstance(blocks, str) and blocks == AUTO:
        count = min(max(math.ceil(NUMBER_NATS * numbers / epsilon), 20), MOST_BLOCKS)
    else:
        count = _whole(blocks, "blocks", LEAST_BLOCKS, MOST_BLOCKS)
    how.check_blocks(count, numbers, epsilon)
    spends = how.needs_delta or how.function is not None
    return BlockPlan(how.name, count, epsilon, delta if spends else Fraction(0), level, numbers, outputs is None, how)


def _options(aggregate: str, options: Any) -> tuple[Any, ...] | None:
    if aggregate == STABLE:
        if options is not None:
            raise InvalidParameterError("aggregate='stable' needs no options: leave them out, or take 'argmax'.")
        return None
    if options is None:
        raise MissingParameterError("aggregate='argmax' needs options, the public list of labels; or take 'stable'.")
    plain = options.tolist() if hasattr(options, "tolist") else options
    if isinstance(plain, (str, bytes)) or not isinstance(plain, (Sequence, Set)):
        raise InvalidParameterError("options must be a list of labels such as ['linear', 'tree'].")
    listed = tuple(plain)
    checked_options(listed)
    return listed


def _label_blocks(blocks: object, epsilon: Fraction, delta: Fraction, options: tuple[Any, ...] | None, overlap: int) -> int:
    if not isinstance(blocks, str) or blocks != AUTO:
        return _whole(blocks, "blocks", max(LEAST_BLOCKS, overlap), MOST_BLOCKS)
    if options is None:
        lead = 2.0 * distance_for(stability_test(epsilon, delta), SURE)
    else:
        lead = 2 / float(epsilon) * math.log(len(options) / (2 * (1 - SURE)))  # the others, and no answer, are as many
    return min(max(math.ceil(overlap * lead / AGREE), 10), MOST_BLOCKS)


def _choice_epsilon(epsilon: Fraction, popularity: bool) -> Fraction:
    """What is left for choosing a label where its popularity is bought too."""
    return epsilon * (1 - POPULARITY_SHARE) if popularity else epsilon


def _popularity_text(found: Popularity) -> str:
    within = ""
    if found.interval is not None:
        low, high = 100 * found.interval.low, 100 * found.interval.high
        within = f", or {low:.3g}% to {high:.3g}% (at {100 * found.interval.level:.3g}%)"
    return f"{100 * found.share:.3g}% of the blocks chose it{within}"


def _whole(value: object, name: str, least: int, most: int) -> int:
    whole = int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None
    if whole is None or not least <= whole <= most:
        auto = ", or 'auto'" if name == "blocks" else ""
        raise InvalidParameterError(f"{name} must be a whole number from {least} to {most:,}{auto}; got {value!r}.")
    return whole
