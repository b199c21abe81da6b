"""A line of a plan: what to expect of one question on tables of one size and shape."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import Interval, plain_value
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted

LEVEL = 0.95
BY_INTERVAL, BY_ERRORS = "interval", "errors"
_FAR_OFF = 10
"""Errors of this many interquartile ranges and more are all the same."""
_NORMAL_95 = 1.959963984540054


class Found(enum.StrEnum):
    """Where the epsilon of a line comes from."""

    ASKED = "as asked"
    SMALLEST = "the smallest that reaches the half-width"
    OR_LESS = "reaches the half-width; a smaller one may do, but cannot be tried"
    NONE = "no epsilon up to this one reaches the half-width"


class Source(enum.StrEnum):
    """Where the figures of a line come from."""

    SIMULATED = "simulated"
    STORED = "stored tables"


@dataclass(frozen=True)
class Figures:
    """What simulated tables of one size and shape came to; None where there is nothing to measure."""

    repeats: int
    reply_probability: float
    half_width: float | None
    half_width_of: str
    coverage: float | None
    error_median: float | None
    error_95: float | None
    sampling_error_median: float | None
    sampling_half_width: float | None
    source: Source = Source.SIMULATED


@dataclass(frozen=True)
class PlanRow:
    """What to expect of one question on tables of n rows of one shape; None where there is nothing to measure."""

    n: int
    shape: str
    method: str
    cost: PrivacyCost
    repeats: int
    """Tables that were simulated: for this line, or for the nearest cells of the stored tables."""
    reply_probability: float
    """The share of them that got a reply."""
    reply_interval: Interval
    """What that share says about the probability (Wilson's interval)."""
    shape_value: Any
    """What the statistic is on the shape itself: errors are distances from it."""
    half_width: float | None
    """Half of the replies have an interval that is at most so wide, to either side; of several intervals the widest counts."""
    half_width_of: str
    """"interval"; or "errors" where none is released, and `half_width` is `error_95`."""
    relative_half_width: float | None
    """`half_width` over the shape's interquartile range; over the value itself where it is not in the unit of the data."""
    coverage: float | None
    """The share of the released intervals that hold `shape_value`."""
    error_median: float | None
    """Half of the replies are at most so far off, noise and sampling together."""
    error_95: float | None
    """95% of the replies are at most so far off."""
    relative_error_median: float | None
    """`error_median` over the shape's interquartile range; None where the value is not in the unit of the data."""
    relative_error_95: float | None
    sampling_error_median: float | None
    """`error_median` of the same tables with next to no noise: what is left without privacy."""
    sampling_half_width: float | None
    """`half_width` of the same tables with next to no noise."""
    found: Found = Found.ASKED
    """Whether the epsilon was given, or searched for."""
    source: Source = Source.SIMULATED
    """Whether this line was simulated, or read off stored tables."""

    def __str__(self) -> str:
        """The line in a sentence."""
        if self.found is Found.NONE:
            return f"about {counted(self.n, 'row')}: {self._unreached()}"
        less = " or less" if self.found is Found.OR_LESS else ""
        width = "" if self.half_width is None else f"half-width about {amount_text(self.half_width)}, "
        silence = f"no reply {percent_text(1 - self.reply_probability)}"
        return f"at epsilon {decimal_text(self.cost.epsilon)}{less}, about {counted(self.n, 'row')}: {width}{silence}"

    def _unreached(self) -> str:
        largest = decimal_text(self.cost.epsilon)
        if self.half_width is None or 2 * self.reply_probability < 1:
            silence = percent_text(1 - self.reply_probability)
            return f"cannot be reached at any epsilon up to {largest}, where there is no reply on {silence} of the tables"
        bare = f"sampling alone gives {amount_text(self.sampling_half_width)}"
        return f"cannot be reached at any epsilon up to {largest}, where it is {amount_text(self.half_width)}: {bare}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; an infinite error becomes text, and a value that is no number too."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: plain_value(value) for name, value in named.items()} | {
            "found": self.found.value,
            "source": self.source.value,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PlanRow:
        """The line that `to_dict` wrote; JSON between the two loses nothing."""
        amounts: dict[str, Any] = {name: None if plain[name] is None else float(plain[name]) for name in _AMOUNTS}
        texts: dict[str, Any] = {name: plain[name] for name in ("n", "shape", "method", "repeats", "half_width_of")}
        interval = plain["reply_interval"]
        low, high, level = (float(interval[name]) for name in ("low", "high", "level"))
        return cls(
            **texts,
            **amounts,
            cost=PrivacyCost.from_dict(plain["cost"]),
            reply_interval=Interval(low, high, level, interval["covers"]),
            shape_value=_revived(plain["shape_value"]),
            found=Found(plain["found"]),
            source=Source(plain["source"]),
        )


_AMOUNTS = (
    "reply_probability",
    "half_width",
    "relative_half_width",
    "coverage",
    "error_median",
    "error_95",
    "relative_error_median",
    "relative_error_95",
    "sampling_error_median",
    "sampling_half_width",
)
_NOT_FINITE = ("inf", "-inf", "nan")
"""How `plain_value` writes numbers that JSON has not."""


def kept_value(value: object) -> Any:
    """What a statistic is on a shape, in a form that JSON gives back as it was: lists are tuples, and objects their fields."""
    return _revived(plain_value(value))


def _revived(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(map(_revived, plain))
    if isinstance(plain, Mapping):
        return {name: _revived(each) for name, each in plain.items()}
    return float(plain) if plain in _NOT_FINITE else plain


def wilson_bounds(successes: int, trials: int, deviations: float) -> tuple[float, float]:
    """Wilson's bounds for a probability after `successes` of `trials`, `deviations` standard errors to either side."""
    share, weight = successes / trials, deviations**2 / trials
    middle = (share + weight / 2) / (1 + weight)
    reach = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == trials else min(1.0, middle + reach)
    return low, high


def wilson_interval(successes: int, trials: int) -> Interval:
    """Wilson's 95% interval for a probability after `successes` of `trials`."""
    low, high = wilson_bounds(successes, trials, _NORMAL_95)
    return Interval(low, high, LEVEL, "the probability of a reply on tables of this shape and size")


def percent_text(share: float | None) -> str:
    """A share for people; a dash where there is none."""
    if share is None:
        return "-"
    return f"{100 * share:.3g}%" if share < _FAR_OFF else f"over {100 * _FAR_OFF}%"


def amount_text(value: float | None) -> str:
    """A number for people; a dash where there is none."""
    return "-" if value is None else f"{value:.3g}"
