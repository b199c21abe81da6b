"""The yardstick of a shape: the value that a statistic has on it, and how far an answer is from that value.

No statistic is asked for its population value. The question is put to the most regular table of the shape instead, with next to
no noise, by the preferred method or the first one that replies. The value is right to about six digits where a statistic reads
windows of order statistics, and to about four where it reads every row, of which fewer are drawn. A value that grows in step with
the table, as a count does, is told by asking tables of three sizes, and is scaled to the planned one. Only the coefficients of
features, and the parameters of rows that a statistic simulates for itself, are known without asking.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.curator.planning.feature_tables import coefficient_of
from dpstats.curator.planning.samples import Sample, even_sample, first_simulated
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.tables import ShapeColumn
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import Question
from dpstats.foundations.results import Release

EVEN_ROWS = 999_999
"""Rows of the regular table; odd, so that its median is a row."""
FULL_ROWS = 99_999
"""Rows of a regular table of which every row is drawn."""
PROBE_ROWS = 999
NEXT_TO_NO_NOISE = Fraction(10**6)
_USUAL_DELTA = Fraction(1, 10**6)
_SAME_RATE = 1e-3
_SHIFT = 7.0


class Scale(enum.StrEnum):
    """What a percentage of an answer is taken of."""

    IQR = "of the IQR"
    """The shape's interquartile range, for values in the unit of the data."""
    VALUE = "of the value"
    """The value on the shape, for counts, sums, variances and whatever else is in no unit or another one."""
    PROBABILITY = "in probability"
    """Nothing: the answer itself is made of probabilities."""

    def amount(self, shape: Shape, truth: Any) -> float | None:
        """What 100% are; None where there is nothing to take a share of."""
        if self is Scale.PROBABILITY:
            return 1.0
        if self is Scale.IQR:
            return shape.iqr or None
        largest = max(map(abs, plain_numbers(truth) or ()), default=0.0)
        return largest if 0 < largest < math.inf else None


@dataclass(frozen=True)
class Yardstick:
    """What a statistic is on a shape; None where no method replied."""

    value: Any
    grows: bool
    """Whether the value is that of `rows` rows and grows in step with the table."""
    rows: int
    """Rows of the table on which it was measured."""
    is_exact: bool = False
    """Whether it is known, and was not measured."""

    def value_at(self, rows: int) -> Any:
        """The value for a table of `rows` rows."""
        if not self.grows:
            return self.value
        scaled = tuple(number * rows / self.rows for number in plain_numbers(self.value) or ())
        return scaled[0] if len(scaled) == 1 else scaled


def measured(question: Question, shape: Shape) -> Yardstick:
    """The yardstick of a question on a shape."""
    if question.statistic.simulate is not None:
        return Yardstick(first_simulated(question).truth, grows=False, rows=0, is_exact=True)
    if question.statistic.has_outcome:
        features = len(question.columns) - 1
        coefficient = coefficient_of(shape, features, question.statistic.outcomes)
        return Yardstick((coefficient,) * features, grows=False, rows=0, is_exact=True)
    rows = min(EVEN_ROWS, FULL_ROWS) if reads_every_row(question, shape) else EVEN_ROWS
    third, whole, double = (_on_even_rows(question, shape, size) for size in (rows // 3, rows, 2 * rows))
    return Yardstick(whole, _is_multiple(whole, third, 3) and _is_multiple(double, whole, 2), rows)


def reads_every_row(question: Question, shape: Shape) -> bool:
    """Whether a question has all rows of a table drawn, tried out on a small one."""
    sample = even_sample(question, shape, PROBE_ROWS)
    nearly_exact(question, sample, seeded(PROBE_ROWS))
    return not isinstance(sample, ShapeColumn) or sample.is_drawn


def scale_of(question: Question) -> Scale:
    """What percentages of a question's answers are taken of.

    A value is in the unit of the data if it is doubled with the data, and moved with them or not moved at all.
    """
    if question.statistic.has_outcome or question.statistic.simulate is not None:
        return Scale.VALUE
    if question.is_share:
        return Scale.PROBABILITY
    moved = Shape("moved", "twice the probe, and more", lambda q: 2 * _probe(q) + _SHIFT)
    plain, changed = (_on_even_rows(question, each, PROBE_ROWS) for each in (Shape("probe", "a few values", _probe), moved))
    if is_in_probabilities(plain):
        return Scale.PROBABILITY
    before, after = plain_numbers(plain), plain_numbers(changed)
    if before is None or after is None or len(before) != len(after):
        return Scale.VALUE
    in_unit = any(
        all(math.isclose(2 * one + shift, other, rel_tol=_SAME_RATE) for one, other in zip(before, after, strict=True))
        for shift in (0.0, _SHIFT)
    )
    return Scale.IQR if in_unit and before != after else Scale.VALUE


def nearly_exact(question: Question, sample: Sample, source: RandomSource) -> Release | None:
    """The answer with next to no noise, by the statistic's preferred method or the first one that replies; None if none does."""
    for method in question.statistic.methods.values():
        delta = (question.cost.delta or _USUAL_DELTA) if method.needs_delta else 0
        cost = replace(question.cost, epsilon=NEXT_TO_NO_NOISE, delta=Fraction(delta))
        try:
            bare = replace(
                question, method=method, cost=cost, interval=None, rough=True
            )  # an interval would take its time, and some epsilon
            asked = settled_on(sample, bare.on(question.columns))
            outcome = asked.answer(sample, source)
        except Exception:  # this method cannot say; another may
            continue
        if isinstance(outcome, Release):
            return outcome
    return None


def settled_on(sample: Sample, question: Question) -> Question:
    """The question as it stands for a simulated column of numbers, or of labels."""
    return question.settled(getattr(sample, "dtype", None) is not None)


def reply_to(question: Question, sample: Sample, source: RandomSource) -> Release | None:
    """The release, or None for no reply: what goes wrong on the way to an answer is a `NoReply` outside of tests too."""
    try:
        outcome = settled_on(sample, question).answer(sample, source)
    except DpstatsError:
        raise  # about public things, such as a shape that cannot be used
    except Exception:
        return None
    return outcome if isinstance(outcome, Release) else None


def error_of(answer: Any, truth: Any) -> float | None:
    """How far an answer is from the truth: the largest difference of several; None for values that have no distance.

    Of two distribution functions it is the largest difference of probabilities, at the values that either lists; a value that
    knows its `distance` from others says it.
    """
    if hasattr(answer, "distance") and type(answer) is type(truth):
        return float(answer.distance(truth))
    if is_distribution(answer) and is_distribution(truth):
        return _largest_gap(answer, truth)
    given, wanted = plain_numbers(answer), plain_numbers(truth)
    if given is None or wanted is None or len(given) != len(wanted):
        return None
    return max((0.0 if one == other else abs(one - other) for one, other in zip(given, wanted, strict=True)), default=0.0)


def is_distribution(value: object) -> bool:
    """Whether a released value is a distribution function: it can be called, and lists its values with their probabilities."""
    return callable(value) and hasattr(value, "values") and hasattr(value, "probabilities")


def is_in_probabilities(value: object) -> bool:
    """Whether errors of a released value are differences of probabilities."""
    return is_distribution(value) or hasattr(value, "distance")


def plain_numbers(value: Any) -> tuple[float, ...] | None:
    """A number or several as floats: of a fit its parameters, of a test its estimate, of a regression its coefficients.

    None for anything else.
    """
    value = fitted_numbers(value) or getattr(value, "estimate", getattr(value, "coef", value))
    several = value.tolist() if isinstance(value, np.ndarray) else value
    several = several if isinstance(several, (list, tuple)) else [several]
    return tuple(map(float, several)) if all(isinstance(item, numbers.Real) for item in several) else None


def fitted_numbers(value: Any) -> tuple[Any, ...]:
    """The parameters of a fit that names them; none where a value is something else."""
    parameters = getattr(value, "parameters", None)
    return tuple(parameters.values()) if isinstance(parameters, Mapping) else ()


def _probe(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """A skewed shape of few values, none of which ends at a quantile that people ask for."""
    return np.array([1.0, 2.0, 3.0, 5.0, 9.0])[np.searchsorted([0.07, 0.17, 0.37, 0.81], q)]


def _on_even_rows(question: Question, shape: Shape, rows: int) -> Any:
    release = nearly_exact(question, even_sample(question, shape, rows), seeded(rows))
    return None if release is None else release.value


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
