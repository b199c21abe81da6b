"""Subsampling stability: how often a function of random samples is what it is of all rows. NOT PRIVATE.

It is for public or simulated data: to find out whether an answer would come through sample and aggregate before any private row
is touched. What it says of private rows must not be shown to anybody who may not see the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.engines.taking import rows_taker
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.rounding import decimal_text, exact_rational
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.coins import uniform_indices
from dpstats.statistics.aggregation.evaluation import SECONDS, MadePieces, evaluate
from dpstats.statistics.aggregation.replies import LabelForm, LabelReply, ReplyForm

NOT_PRIVATE = "NOT PRIVATE: a function of the rows without any noise, for public or simulated rows only"
ENOUGH = 0.75
"""A function is called q-subsampling stable on rows where at least this share of samples agree with all rows."""


@dataclass(frozen=True)
class SubsamplingStability:
    """How a function fared on samples of rows that are public."""

    whole: LabelReply | None
    """The label of all rows; None where there is none."""
    fraction: Fraction
    """The probability of each row to be in a sample."""
    agreed: int
    runs: int
    note: str = NOT_PRIVATE

    @property
    def share(self) -> float:
        """The share of samples that had the label of all rows."""
        return self.agreed / self.runs

    @property
    def stable(self) -> bool:
        """Whether these runs show what q-subsampling stability asks for: three samples of four agree with all rows."""
        return self.share >= ENOUGH

    def __str__(self) -> str:
        how = f"{self.agreed:,} of {counted(self.runs, 'sample')} with fraction {decimal_text(self.fraction)} agree with all rows"
        return f"{how} [{self.note}]"


def subsampling_stability(
    function: Callable[..., Any],
    data: Any,
    fraction: object,
    *,
    runs: int = 200,
    seconds: float = SECONDS,
    workers: int | None = None,
    rng: RandomSource | None = None,
) -> SubsamplingStability:
    """How often the function's label of a random sample, which has each row with probability `fraction`, is that of all rows.

    NOT PRIVATE. A sample without an answer agrees with nothing.
    """
    chance, rows, source = exact_rational(fraction, "fraction"), rows_taker(data), source_or_system(rng)
    if not 0 < chance <= 1 or chance.denominator > 1 << 62:
        raise InvalidParameterError(f"fraction must lie between 0 and 1, such as 0.1, got {fraction}.")
    if type(runs) is not int or runs < 1:
        raise InvalidParameterError(f"runs must be a positive whole number, got {runs!r}.")
    samples = [np.arange(rows.count)]
    for _ in range(runs):
        samples.append(np.flatnonzero(uniform_indices(chance.denominator, rows.count, source) < chance.numerator))
    pieces = MadePieces(len(samples), lambda place: rows.take(samples[place]))
    labels: ReplyForm[LabelReply] = LabelForm()
    whole, *parts = evaluate([function], pieces, labels, seconds=seconds, workers=workers)
    agreed = sum(part is not None and part == whole for part in parts)
    return SubsamplingStability(whole, chance, agreed, runs)
