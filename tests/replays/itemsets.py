"""Replays of frequent itemsets: one course of draws and noisy counts forced upon a table, with its probability.

Draws are forced where the release asks for them, and their probability follows from the counts and the rate that it hands over;
noisy counts are forced, and their probability, up to a constant, from the raw ones and the share that is paid for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

import dpstats as dp
from dpstats.statistics.coded.budget import NoisyTable, PureTableBudget
from dpstats.statistics.itemsets import drawing
from dpstats.testing import seeded
from tests.laws.itemsets import order_probability


@dataclass
class ItemsetCourse:
    """What comes out of a release: the places that were drawn, and noisy counts; and the log probability of both."""

    places: Sequence[int]
    noisy: int = 0
    log_probability: float = field(default=0.0, init=False)

    def run(self, name: str, table: Any, **words: Any) -> Any:
        """The release as the course has it."""

        def draw(raw_counts: Any, rate: Fraction, how_many: int, rng: Any) -> list[int]:
            places = list(self.places[:how_many])
            probability = order_probability([int(count) for count in raw_counts], rate, places)
            self.log_probability += math.log(probability.numerator) - math.log(probability.denominator)
            return places

        def noisy(budget: Any, raw_counts: Any, share: Fraction) -> NoisyTable:
            budget.take(share)
            self.log_probability -= float(budget.worth(share)) * float(np.abs(raw_counts - self.noisy).sum())
            return NoisyTable(np.full(raw_counts.shape, self.noisy, dtype=np.int64), budget.law(share))

        with patch.object(drawing, "draw_highest", draw), patch.object(PureTableBudget, "noisy", noisy):
            return getattr(dp, name)(table, **words, rough=True, rng=seeded(1))
