"""Votes that are hard on aggregators, and how the tests ask about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.aggregators import ASKED, Aggregator, aggregate_numbers, aggregator_for
from dpstats.testing import seeded

Floats = NDArray[np.float64]
NAN, INF = math.nan, math.inf
EPSILON, DELTA, LEVEL = Fraction(2), Fraction(1, 10**6), Fraction(95, 100)
TENTH = Fraction(1, 10)
BOUNDED = [aggregator_for(name, range=(0, 10)) for name in ("mean", "trimmed", "winsorized")]
ASKING = [aggregator_for(name) for name in ASKED]
BOUND_FREE = [*ASKING, aggregator_for("centred")]


def votes(*columns: Sequence[float]) -> Floats:
    return np.array(columns, dtype=np.float64).T


def delta_of(how: Aggregator) -> Fraction:
    return DELTA if how.needs_delta else Fraction(0)


def reply(raw_votes: Any, how: Aggregator, seed: int = 1, epsilon: Fraction = EPSILON, level: Fraction | None = LEVEL) -> Any:
    raw_votes = np.asarray(raw_votes, dtype=np.float64)
    return aggregate_numbers(raw_votes, how, epsilon=epsilon, delta=delta_of(how), level=level, rng=seeded(seed))


def normal_votes(blocks: int, seed: int = 5) -> Floats:
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.normal(3, 0.3, blocks), generator.normal(6, 0.5, blocks)])


HARD_VOTES: dict[str, tuple[list[float], list[float]]] = {
    "a far outlier": ([1, 1, 1, 1, 1], [1, 1, 1, 1, 1e300]),
    "an infinite vote": ([1, 2, 3, 4, 5], [1, 2, 3, 4, -INF]),
    "a tie is broken": ([0, 0, 10, 10, 0], [0, 0, 10, 10, 10]),
    "end to end": ([0, 0, 0, 0], [10, 0, 0, 0]),
    "all equal": ([5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 5, 0]),
    "no answer": ([4, 4, 4], [4, 4, NAN]),
    "no answer among few": ([NAN, NAN, 10], [NAN, NAN, NAN]),
    "one block": ([0], [10]),
    "two blocks": ([0, 10], [10, 10]),
}
