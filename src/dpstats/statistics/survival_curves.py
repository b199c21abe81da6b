"""Survival curves (Kaplan & Meier) from durations and a mark of the event, without bounds on time.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        A small part of epsilon counts the events, and so says how fine the curve may be. Another part buys private quantiles
           of the times of events (universal/many.py), at which time is cut. Where these leave open whether times are whole
           numbers, one more count tells. Then a row ends in one interval, by an event or by another exit: it moves one of all
           these counts by 1, and noise for the rest of epsilon hides that. Numbers at risk are sums of these counts; the curve,
           its intervals and the median are made of them
Numerics   Exact from the rows to the noisy counts; floats after that
No reply   Where the noisy number of events is too small at this epsilon; costs the same as an answer
Source     survival_curves.proof.md; Kaplan & Meier 1958; Greenwood 1926; Rothman 1978
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.json_types import LABEL
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Column, Table
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_count, noisy_counts
from dpstats.statistics.cards import public_line
from dpstats.statistics.floors import Floor
from dpstats.statistics.survival.curve import SurvivalCurve
from dpstats.statistics.survival.life_table import NoisyLifeTable
from dpstats.statistics.survival.median import per_unit_of
from dpstats.statistics.testing.parameters import plain_label, show_labels
from dpstats.statistics.universal.decimals import float_of, lowest_value_at, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles

COUNT_SHARE, CUTS_SHARE = Fraction(1, 16), Fraction(2, 5)
"""The parts of epsilon for the number of events, and for the times at which time is cut."""
GRAIN_SHARE, LATEST_WHOLE = Fraction(1, 20), 100
"""The part of epsilon that counts the events at whole times, where a column of other numbers may hold some, and the last time at
which it looks: later on, a whole number more or less hardly matters."""
WHOLE_SCALES, WHOLE_PART = 6.0, 0.75
"""Times are whole numbers where the noisy number of events at one is that many scales of its noise, and this part of all events.
Of medians of whole times in a column of floats 30 of 60 were fractions, such as 6.18 for 7, without this count."""
INTERVAL_NATS, FEWEST_HALVINGS, MOST_HALVINGS = 24.0, 3, 5
"""Events times epsilon that an interval should have; and how often time is halved, at least and at most."""
EVENTS_FLOOR = Floor(nats=60.0, rows=20.0, unit="event")
SURVIVAL_LOSS = Fraction(1, 4)

SURVIVAL_CURVE = register(
    Statistic(
        "survival_curve",
        "The share of subjects to whom an event has not happened by some time (Kaplan and Meier), from durations and a mark",
        (
            Parameter(
                "event",
                "the label that marks an event in the second column; all other rows were watched until then without one",
                lambda value: plain_label(value, "event"),
                1,
                LABEL,
                by_name=True,
                takes=str | float | bool,
            ),
        ),
        reads=(Reads.NUMBERS, Reads.LABELS),
        returns="a SurvivalCurve S with S(time), .times, .survival, .low, .high, .at_risk, .events, .median and .to_pandas()",
        value=SurvivalCurve,
        revive=SurvivalCurve.from_dict,
    )
)


@method(
    SURVIVAL_CURVE,
    "life_table",
    claim="pure epsilon-DP, no bounds asked, no delta, may refuse: noisy counts between private quantiles of the times of events",
    loss=SURVIVAL_LOSS,
    version=2,
)
def survival_life_table(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The curve of all rows."""
    epsilon, event = row_epsilon(question.epsilon, question.neighbors), question.arguments["event"]
    everyone, (happened,) = table.column(0), table.columns_by_label(0, 1, [event])
    count_epsilon, cuts_epsilon = epsilon * COUNT_SHARE, epsilon * CUTS_SHARE
    noisy_events = noisy_count(happened.count(), count_epsilon, rng)
    drawn = draw_quantiles(happened, quantiles_for(noisy_events, epsilon), cuts_epsilon, Neighbors.ADD_REMOVE, rng)
    times = [float_of(ordinal) for ordinal in drawn.values()]
    per_unit, left = grain_of(happened, times), epsilon - count_epsilon - cuts_epsilon
    if per_unit != 1 and max(times, default=0.0) <= LATEST_WHOLE:
        left -= epsilon * GRAIN_SHARE
        per_unit = 1 if are_whole(happened, max(times), noisy_events, epsilon * GRAIN_SHARE, rng) else per_unit
    cuts = positive_cuts(list(drawn.values()), per_unit)
    life = release_life_table(everyone, happened, sorted(cuts), left, rng)
    life = replace(life, per_unit=per_unit, ties=tuple(count for _, count in sorted(cuts.items())))
    level = None if question.interval is None else float(question.interval)
    curve = life.curve(level)
    pieces = counted(len(life.events), "interval")
    notes = (
        ("event", f"rows whose mark is {show_labels([event])}; all others were watched up to their duration"),
        ("noise", f"discrete Laplace of scale {1 / life.epsilon:.4g} on events and other exits in {pieces}"),
        ("times", "private quantiles of the times of events; between them the curve is straight"),
        ("median", "the first time at which the curve has come down to one half: on the grain that the times above have"),
        EVENTS_FLOOR.note(question),
        ("missing values", MISSING_POLICY),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
    answer = Answer(curve, notes=notes, intervals=curve.intervals())
    noisy_total = float(sum(life.events))
    if not curve.times and EVENTS_FLOOR.refusal(question, noisy_total) is None:
        return Refusal(
            "Too few subjects are left after the first time to draw a curve.", "Are all durations alike? Ask for a count."
        )
    return EVENTS_FLOOR.judge(question, noisy_total if curve.times else 0.0, answer)


def quantiles_for(noisy_events: int, epsilon: Fraction) -> list[Fraction]:
    """At which shares of the events time is cut: twice as many the more events times epsilon there are."""
    intervals = max(noisy_events * float(epsilon) / INTERVAL_NATS, 1.0)
    parts = 1 << min(max(math.floor(math.log2(intervals)), FEWEST_HALVINGS), MOST_HALVINGS)
    return [Fraction(place, parts) for place in range(1, parts)]


def positive_cuts(drawn: list[int], per_unit: int | None) -> Counter[int]:
    """Drawn places in time that are positive, as durations are, and how many fell on each; moved back to a grain."""
    times = [float_of(ordinal) for ordinal in drawn]
    if per_unit is not None:
        times = [math.floor(round(time * per_unit, 9)) / per_unit for time in times]
    return Counter(ordinal_of(time) for time in times if time > 0)


def release_life_table(
    everyone: Column, happened: Column, ordinals: list[int], epsilon: Fraction, rng: RandomSource
) -> NoisyLifeTable:
    """Noisy numbers of events and other exits up to each cut and beyond the last, of which a row moves one by 1."""
    raw_all, raw_events = (raw_between(column, ordinals) for column in (everyone, happened))
    raw_others = [whole - part for whole, part in zip(raw_all, raw_events, strict=True)]
    noisy = noisy_counts([*raw_events, *raw_others], epsilon, rng)
    times = tuple(float_of(ordinal) for ordinal in ordinals)
    return NoisyLifeTable(times, tuple(noisy[: len(raw_events)]), tuple(noisy[len(raw_events) :]), float(epsilon))


def grain_of(column: Column, times: Sequence[float]) -> int | None:
    """One over the grain of times: 1 for whole numbers, by the declared type of the column or because released times are."""
    assert column.dtype is not None
    return 1 if column.dtype.kind in "iu" else per_unit_of(times)


def are_whole(column: Column, last: float, noisy_events: int, epsilon: Fraction, rng: RandomSource) -> bool:
    """Whether the times of events seem to be whole numbers, by a noisy number of those that are, up to the last drawn time."""
    assert column.dtype is not None
    cells = [(ordinal_of(float(whole)), ordinal_of(float(whole)) + 1) for whole in range(1, math.ceil(last) + 1)]
    raw_below = column.counts_below([lowest_value_at(ordinal, column.dtype) for cell in cells for ordinal in cell])
    noisy_whole = noisy_count(sum(raw_below[1::2]) - sum(raw_below[::2]), epsilon, rng)
    return noisy_whole * epsilon >= WHOLE_SCALES and noisy_whole >= WHOLE_PART * noisy_events


def raw_between(column: Column, ordinals: list[int]) -> list[int]:
    """How many rows lie up to the first of some decimals, after it and up to the second, and so on, and after the last."""
    assert column.dtype is not None
    raw_up_to = column.counts_below([lowest_value_at(ordinal + 1, column.dtype) for ordinal in ordinals])
    ends = [0, *raw_up_to, column.count()]
    return [after - before for before, after in pairwise(ends)]
