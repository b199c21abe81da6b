"""Broken twins of the small database mechanism and of multiplicative weights; privacy tests must refute each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.statistics.universe.multiplicative_weights import TOTAL_SHARE, Noise, WeightsPlan
from tests.laws.mechanisms import exponential_of_minus
from tests.laws.universes import Query, counted, database_law, databases, normalised


def stated_rows_law(
    raw_counts: Sequence[int], queries: Sequence[Query], size: int, epsilon: Fraction, stated: int
) -> dict[Hashable, Fraction]:
    """Mistake: shares of the table as the score, which move by 1/n, with n as somebody stated it.

    The slides' score. It is right where n is the table's own number of rows, because n |f(x) - f(y)| = |F(x) - n f(y)|.
    """
    rows = sum(raw_counts)

    def off(database: Sequence[int]) -> Fraction:
        return max(abs(Fraction(counted(f, raw_counts), rows) - Fraction(counted(f, database), size)) for f in queries)

    candidates = databases(len(raw_counts), size)
    return normalised({each: exponential_of_minus(epsilon * stated / 2 * off(each)) for each in candidates})


def one_sided_law(raw_counts: Sequence[int], queries: Sequence[Query], size: int, epsilon: Fraction) -> dict[Hashable, Fraction]:
    """Mistake: no factor 2, as if a row moved the scores of all databases the same way."""
    return database_law(raw_counts, queries, size, 2 * epsilon)


def float_scores(raw_answers: Sequence[int], said: Sequence[float]) -> list[float]:
    """Scores of queries in rows. Mistake: differences of floats are rounded, so that a row moves them by more than 1."""
    return [abs(raw - each) for raw, each in zip(raw_answers, said, strict=True)]


class TrueTotal(WeightsPlan):
    """Mistake: the number of rows itself where the noisy one belongs; nobody is shown it, but all weights hang on it."""

    def noise(self, share: Fraction) -> Noise:
        return _NoNoise(Fraction(1), False) if share == TOTAL_SHARE else super().noise(share)


class _NoNoise(Noise):
    def on(self, raw_count: int, rng: RandomSource) -> int:
        return raw_count
