"""The yardstick of a shape: the value that a statistic has on it, and how far an answer is from that value.

No statistic is asked for its population value, so that one which is registered tomorrow can be measured too. Instead the
question itself is put to the most regular table of the shape, with next to no noise (epsilon = 1e6), by the statistic's
preferred method, or by the first method that replies. That value is right to about six digits. A statistic whose value grows
in step with the table, as a count does, is told by asking tables of three sizes, and its value is scaled to the planned size.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.tables import ShapeColumn
from dpstats.curator.planning.uniforms import EvenUniforms
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import Question
from dpstats.foundations.results import Release
from dpstats.foundations.summaries import Column

EVEN_ROWS = 999_999
"""Rows of the regular table; odd, so that its median is a row."""
NEXT_TO_NO_NOISE = Fraction(10**6)
_USUAL_DELTA = Fraction(1, 10**6)
_SAME_RATE = 1e-3


@dataclass(frozen=True)
class Yardstick:
    """What a statistic is on a shape; None where no method replied."""

    value: Any
    grows: bool
    """Whether the value is that of EVEN_ROWS rows and grows in step with the table."""

    def value_at(self, rows: int) -> Any:
        """The value for a table of so many rows."""
        if not self.grows:
            return self.value
        scaled = tuple(number * rows / EVEN_ROWS for number in plain_numbers(self.value) or ())
        return scaled[0] if len(scaled) == 1 else scaled


def measured(question: Question, shape: Shape) -> Yardstick:
    """The yardstick of a question on a shape."""
    sizes = (EVEN_ROWS // 3, EVEN_ROWS, 2 * EVEN_ROWS)
    third, whole, double = (nearly_exact(question, ShapeColumn(shape, EvenUniforms(rows)), seeded(rows)) for rows in sizes)
    return Yardstick(whole, _is_multiple(whole, third, 3) and _is_multiple(double, whole, 2))


def nearly_exact(question: Question, column: Column, source: RandomSource) -> Any:
    """The answer with next to no noise, by the statistic's preferred method or the first one that replies; None if none does."""
    for method in question.statistic.methods.values():
        delta = (question.cost.delta or _USUAL_DELTA) if method.needs_delta else 0
        cost = PrivacyCost(NEXT_TO_NO_NOISE, delta, question.neighbors, question.cost.unit)
        try:
            outcome = replace(question, method=method, cost=cost).answer(lambda: column, source)
        except Exception:  # this method cannot say; another may
            continue
        if isinstance(outcome, Release):
            return outcome.value
    return None


def reply_to(question: Question, column: Column, source: RandomSource) -> Release | None:
    """The release, or None for no reply: what goes wrong on the way to an answer is a `NoReply` outside of tests too."""
    try:
        outcome = question.answer(lambda: column, source)
    except DpstatsError:
        raise  # about public things, such as a shape that cannot be used
    except Exception:
        return None
    return outcome if isinstance(outcome, Release) else None


def error_of(answer: Any, truth: Any) -> float | None:
    """How far an answer is from the truth: the largest difference of several; None for values that have no distance.

    Of two distribution functions it is the largest difference of probabilities, at the values that either lists.
    """
    if is_distribution(answer) and is_distribution(truth):
        return _largest_gap(answer, truth)
    given, wanted = plain_numbers(answer), plain_numbers(truth)
    if given is None or wanted is None or len(given) != len(wanted):
        return None
    return max((0.0 if one == other else abs(one - other) for one, other in zip(given, wanted, strict=True)), default=0.0)


def is_distribution(value: object) -> bool:
    """Whether a released value is a distribution function: it can be called, and lists its values with their probabilities."""
    return callable(value) and hasattr(value, "values") and hasattr(value, "probabilities")


def plain_numbers(value: Any) -> tuple[float, ...] | None:
    """A number or several as floats; None for anything else."""
    several = value.tolist() if isinstance(value, np.ndarray) else value
    several = several if isinstance(several, (list, tuple)) else [several]
    return tuple(map(float, several)) if all(isinstance(item, numbers.Real) for item in several) else None


def _largest_gap(answer: Any, truth: Any) -> float:
    """Beyond its outermost probabilities a released distribution function knows nothing; there both are held at those."""
    low, high = truth.probabilities[0], truth.probabilities[-1]
    places = [*truth.values, *answer.values]
    gaps = [min(max(answer(place), low), high) - min(max(truth(place), low), high) for place in places]
    return max(map(abs, gaps), default=0.0)


def _is_multiple(large: object, small: object, factor: int) -> bool:
    some, many = plain_numbers(small), plain_numbers(large)
    if some is None or many is None or len(some) != len(many) or not any(some):
        return False
    return all(math.isclose(one * factor, other, rel_tol=_SAME_RATE) for one, other in zip(some, many, strict=True))
