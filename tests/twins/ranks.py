"""Broken twins of the universal quantile: laws that look right and are not private. The tests must refute each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpstats.statistics.universal.decimals import Number, ordinal_of
from dpstats.statistics.universal.measure import MIXED
from tests.laws.ranks import rank_law


def law_without_the_half(
    rows: Sequence[Number], cuts: Sequence[int], quantile: Fraction, epsilon: Fraction
) -> dict[int, Fraction]:
    """Forgets that the total weight moves too: slopes of epsilon/sensitivity instead of half of it."""
    slope = epsilon / max(quantile, 1 - quantile)
    return rank_law(rows, cuts, quantile * len(rows), slope, slope)


def law_with_a_rounded_target(
    rows: Sequence[Number], cuts: Sequence[int], quantile: Fraction, epsilon: Fraction
) -> dict[int, Fraction]:
    """Rounds the target rank: one row can then move it by a whole rank, and the slopes pay for less."""
    slope = epsilon / (2 * max(quantile, 1 - quantile))
    return rank_law(rows, cuts, Fraction(math.floor(quantile * len(rows))), slope, slope)


def law_on_the_data_range(
    rows: Sequence[Number], cuts: Sequence[int], quantile: Fraction, epsilon: Fraction
) -> dict[int, Fraction]:
    """Takes the bounds from the data: a place beyond the largest row is impossible until somebody larger comes."""
    slope = epsilon / (2 * max(quantile, 1 - quantile))
    spans = [MIXED.span(ordinal_of(value)) for value in rows]
    low, high = min(start for start, _ in spans), max(start + mass for start, mass in spans)
    law = rank_law(rows, cuts, quantile * len(rows), slope, slope)
    kept = {place: probability for place, probability in law.items() if low <= place < high}
    total = sum(kept.values(), Fraction(0))
    return {place: probability / total for place, probability in kept.items()}
