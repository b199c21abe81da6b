"""The number of rows.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; also CHANGE_ONE, where a changed row can become missing or stop being so
Why        One row moves the count by at most 1; discrete Laplace noise of scale 1/epsilon hides it
Numerics   Whole numbers, exact noise; a negative result is shown as 0 afterwards
"""

from __future__ import annotations

import math

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Reads, Statistic, method, register
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.by_unit import no_step

COUNT = register(
    Statistic(
        "count",
        "How many rows hold a value (rows that are missing do not count)",
        reads=(Reads.LABELS,),
        only_counts=True,
        returns="an int",
        value=int,
    )
)


@method(COUNT, "laplace", claim="pure epsilon-DP: whole-number Laplace noise of scale 1/epsilon", version=2, by_unit=no_step)
def count_laplace(column: Column, question: Question, rng: RandomSource) -> Answer:
    """The count with discrete Laplace noise."""
    noisy_rows = max(0, noisy_count(column.count(), question.epsilon, rng))
    return Answer(
        noisy_rows,
        count_interval(noisy_rows, question, "the noise, which is all the error there is in this count"),
        (
            ("missing values", "rows with null or NaN are not counted"),
            ("public", "the parameters"),
            ("numerics", "exact: whole numbers and an exact sampler"),
        ),
    )


def count_interval(noisy_count: int, question: Question, covers: str) -> Interval | None:
    """The interval of a count that has discrete Laplace noise of scale 1/epsilon; None where the question wants none."""
    if question.interval is None:
        return None
    level = float(question.interval)
    reach = noise_reach(float(question.epsilon), level)
    return Interval(max(0, noisy_count - reach), noisy_count + reach, level, covers)


def noise_reach(epsilon: float, level: float) -> int:
    """The smallest r with P(|noise| <= r) >= level for discrete Laplace noise of scale 1/epsilon."""
    ratio = math.exp(-epsilon)
    return max(0, math.ceil(math.log((1 - level) * (1 + ratio) / 2) / -epsilon) - 1)
