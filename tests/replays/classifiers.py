"""Replays of classifiers: one course of released numbers forced upon a table, with what each step reveals (see synthesis.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from dpstats.statistics.classification import effects, growing, noise, splits
from dpstats.statistics.coded.budget import ConcentratedTableBudget
from tests.replays.synthesis import Course, following


@contextmanager
def following_classifier(course: Course | None) -> Iterator[Course]:
    """Record a course, or force a recorded one; sums of residuals, counts and drawn splits are among its steps.

    Codes come first in a release, so that the numbers of later steps are what is left of a course.
    """
    original_sums, original_choose, original_weights = noise.noisy_sums, splits.choose, splits.score_weights
    exponents: list[float] = []
    with ExitStack() as stack:
        here = stack.enter_context(following(None if course is None else course))
        later: list[Any] | None = None if course is None else list(course.later)

        def noisy_sums(raw_sums: Any, bound: int, budget: Any, share: Fraction, rng: Any) -> tuple[list[int], float]:
            before = budget.left
            made, variance = original_sums(raw_sums, bound, budget, share, rng)
            assert before - budget.left == share
            found = made if later is None else later.pop(0)
            here.later.append(found)
            price = float(budget.worth(share))
            moved = [abs(one - other) for one, other in zip(found, raw_sums, strict=True)]
            is_gaussian = isinstance(budget, ConcentratedTableBudget)
            size = float(sum(each * each for each in moved)) / bound**2 if is_gaussian else float(sum(moved)) / bound
            here.logs.append(-size * price)
            here.prices.append(price)
            here.moved.append((tuple(raw_sums), bound))
            return found, variance

        def score_weights(scores: Any, rate: Fraction) -> Any:
            exponents[:] = [float(score * rate) for score in scores]
            here.prices.append(float(rate))
            return original_weights(scores, rate)

        def choose(weights: Any, rng: Any) -> int:
            place = original_choose(weights, rng) if later is None else later.pop(0)
            here.later.append(place)
            best = max(exponents)
            here.logs.append(exponents[place] - best - math.log(math.fsum(math.exp(each - best) for each in exponents)))
            here.moved.append(None)
            return int(place)

        for module in (effects, growing, noise):
            stack.enter_context(patch.object(module, "noisy_sums", noisy_sums))
        stack.enter_context(patch.object(splits, "score_weights", score_weights))
        stack.enter_context(patch.object(splits, "choose", choose))
        yield here
