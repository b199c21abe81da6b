"""A lower confidence bound on epsilon from samples of two neighbours.

It can only ever refute: an epsilon above the claim, at a stated confidence, is evidence of a breach; one below proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from dpstats.foundations.errors import InvalidParameterError

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class SampledEpsilon:
    """What the samples of two neighbours say about one event."""

    at_least: float
    """With the stated confidence the true epsilon is no smaller; minus infinity when the event says nothing."""
    confidence: float
    hits: int
    neighbour_hits: int


def epsilon_lower_bound(
    samples: Iterable[Outcome],
    neighbour_samples: Iterable[Outcome],
    event: Callable[[Outcome], bool],
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> SampledEpsilon:
    """How large epsilon must be, at the given confidence, for `event` to be as frequent as it was under the two neighbours.

    Two exact binomial (Clopper-Pearson) bounds share the error: log((p_low - delta) / q_high). Choose the event before you
    look at these samples, for instance on other ones.
    """
    verdicts = [bool(event(sample)) for sample in samples]
    neighbour_verdicts = [bool(event(sample)) for sample in neighbour_samples]
    if not verdicts or not neighbour_verdicts:
        raise InvalidParameterError("epsilon_lower_bound needs samples of both neighbours.")
    error = (1 - confidence) / 2
    hits, neighbour_hits = sum(verdicts), sum(neighbour_verdicts)
    surely = _least_probability(hits, len(verdicts), error) - delta
    at_most = 1 - _least_probability(len(neighbour_verdicts) - neighbour_hits, len(neighbour_verdicts), error)
    bound = math.log(surely / at_most) if surely > 0 else -math.inf
    return SampledEpsilon(bound, confidence, hits, neighbour_hits)


def _least_probability(hits: int, trials: int, error: float) -> float:
    """The Clopper-Pearson lower bound: below it, so many hits or more would have a chance below `error`."""
    from scipy.stats import beta

    return float(beta.ppf(error, hits, trials - hits + 1)) if hits else 0.0
