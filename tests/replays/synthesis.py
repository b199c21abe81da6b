"""Replays of measuring for synthetic rows: one course of released numbers forced upon a table, with what each step reveals.

A course is recorded from a release: noisy tables, drawn cuts, places of chosen keys and of chosen pairs, in their order. Forced
upon a neighbour, everything that follows from released numbers must be the same; each step's loss is the log ratio of what it
had for probability on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from dpstats.statistics.coded.budget import ConcentratedTableBudget, NoisyTable, PureTableBudget
from dpstats.statistics.synthetic import finding, rounds


@dataclass
class Course:
    """What was released, step by step, and the log probability, up to a constant, of each step that noise or a draw makes."""

    released: list[Any] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    prices: list[float] = field(default_factory=list)
    """What each of these steps may cost: an epsilon; of Gaussian noise a rho."""
    moved: list[Any] = field(default_factory=list)
    """The raw table of each step of noise."""
    later: list[Any] = field(default_factory=list)
    """What was released after codes, by a classifier."""


@contextmanager
def following(course: Course | None) -> Iterator[Course]:
    """Record a course, or force a recorded one."""
    here = Course()
    left = None if course is None else list(course.released)

    def step(made: Callable[[], Any]) -> Any:
        value = made() if left is None else left.pop(0)
        here.released.append(value)
        return value

    def noisy(kind: type[Any]) -> Any:
        original = kind.noisy

        def forced(budget: Any, raw_counts: Any, share: Fraction) -> NoisyTable:
            table = step(lambda: original(budget, raw_counts, share))
            if left is not None:
                budget.take(share)
            price = float(budget.worth(share))
            moved = np.abs(table.noisy_counts - raw_counts)
            here.logs.append(-float((moved**2).sum()) * price if budget.is_concentrated else -float(moved.sum()) * price)
            here.prices.append(price)
            here.moved.append(raw_counts)
            return table

        return patch.object(kind, "noisy", forced)

    original_choose, original_quantiles, original_keys = rounds.choose, finding.draw_quantiles, finding.choose_by_count
    original_weights = rounds.score_weights

    exponents: list[float] = []

    def score_weights(scores: Any, slope: Fraction) -> Any:
        exponents[:] = [float(score * slope) for score in scores]
        here.prices.append(float(2 * rounds.SCALE * slope))
        return original_weights(scores, slope)

    def choose(weights: Any, rng: Any) -> int:
        place = step(lambda: original_choose(weights, rng))
        best = max(exponents)
        here.logs.append(exponents[place] - best - math.log(math.fsum(math.exp(each - best) for each in exponents)))
        here.moved.append(None)
        return int(place)

    def quantiles(*arguments: Any) -> Any:
        return step(lambda: original_quantiles(*arguments))

    def keys(*arguments: Any) -> Any:
        return step(lambda: original_keys(*arguments))

    with (
        noisy(PureTableBudget),
        noisy(ConcentratedTableBudget),
        patch.object(rounds, "choose", choose),
        patch.object(rounds, "score_weights", score_weights),
        patch.object(finding, "draw_quantiles", quantiles),
        patch.object(finding, "choose_by_count", keys),
    ):
        yield here
