"""The cumulative distribution function without bounds.

Claim      epsilon-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        Equally spaced quantiles from one recursive halving (universal/many.py), joined by straight lines afterwards
Numerics   Exact draws; interpolation of released values only
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Statistic, method, register
from dpstats.foundations.summaries import Column
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted
from dpstats.statistics.by_unit import one_step
from dpstats.statistics.quantiles import (
    MOST_QUANTILES,
    QUANTILE_LOSS,
    UNIVERSAL_CLAIM,
    checked_quantile,
    interval_of,
    judged_quantiles,
    several_quantiles,
    universal_notes,
)

DEFAULT_POINTS = 31


@dataclass(frozen=True)
class Distribution(Tabular):
    """A released distribution function: `values` ascend, and about `probabilities[i]` of the rows lie at or below `values[i]`."""

    probabilities: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    """Lower ends of the values' intervals, where there are any."""
    high: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        """The fraction of rows at or below `value`: a jump where released values tie, straight between them."""
        value = float(value)
        if math.isnan(value):
            return math.nan
        after = bisect_right(self.values, value)
        if after == 0:
            return 0.0
        if after == len(self.values):
            return 1.0 if value > self.values[-1] else self.probabilities[-1]
        low, high = self.values[after - 1], self.values[after]
        start, end = self.probabilities[after - 1], self.probabilities[after]
        return start + (end - start) * (value - low) / (high - low)

    def quantile(self, q: object) -> float:
        """The value below which a fraction q of the rows lies, between the first and the last released quantile."""
        wanted = float(checked_quantile(q))
        after = bisect_left(self.probabilities, wanted)
        if after == 0:
            return self.values[0]
        if after == len(self.probabilities):
            return self.values[-1]
        start, end = self.probabilities[after - 1], self.probabilities[after]
        low, high = self.values[after - 1], self.values[after]
        return low + (high - low) * (wanted - start) / (end - start)

    def table_columns(self) -> dict[str, list[float]]:
        """The columns of the table, by name: a row for each value, with the fraction of rows up to it."""
        known = {"probability": self.probabilities, "value": self.values, "low": self.low, "high": self.high}
        return {name: list(column) for name, column in known.items() if column}

    def __str__(self) -> str:
        middle = len(self.values) // 2
        shown = [(self.probabilities[index], self.values[index]) for index in (0, middle, -1)]
        return f"{counted(len(self.values), 'point')}: " + ", ".join(
            f"{part:.4g} of rows up to {value:.6g}" for part, value in shown
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {name: list(getattr(self, name)) for name in ("probabilities", "values", "low", "high")}


def checked_points(value: object) -> int:
    """The number of points, a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= operator.index(value) <= MOST_QUANTILES:
        raise InvalidParameterError(f"points must be a whole number from 1 to {MOST_QUANTILES}, such as 31.")
    return int.__int__(operator.index(value))


CDF = register(
    Statistic(
        "cdf",
        "The cumulative distribution function: which fraction of the rows lies at or below each value",
        (
            Parameter(
                "points",
                "how many equally spaced quantiles draw it (2**k - 1 is best)",
                checked_points,
                DEFAULT_POINTS,
                takes=int,
            ),
        ),
        returns="a function F with F(x) the fraction of rows up to x, F.quantile(q), F.probabilities and F.values",
        value=Distribution,
        revive=lambda plain: Distribution(**plain),
    )
)


def cdf_steps(question: Question) -> int:
    """The steps by unit of its quantiles: three, or one for each point where they are fewer."""
    points: int = question.arguments["points"]
    return min(points, 3) * one_step(question)


@method(CDF, "universal", claim=UNIVERSAL_CLAIM, loss=QUANTILE_LOSS, version=4, by_unit=cdf_steps)
def cdf_universal(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """Equally spaced universal quantiles as a distribution function."""
    points = question.arguments["points"]
    wanted = [Fraction(index, points + 1) for index in range(1, points + 1)]
    values = several_quantiles(column, question, wanted, rng)
    drawn = [values[part] for part in wanted]
    intervals = (
        tuple(replace(interval_of(each, question.interval), of="a quantile") for each in drawn) if question.interval else ()
    )
    distribution = Distribution(
        tuple(float(part) for part in wanted),
        tuple(each.value for each in drawn),
        tuple(interval.low for interval in intervals),
        tuple(interval.high for interval in intervals),
    )
    return judged_quantiles(question, values, Answer(distribution, notes=universal_notes(question, *wanted), intervals=intervals))
