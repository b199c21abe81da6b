"""What a tested statistic knows before it proposes: how many rows there are, and what is left to spend.

Claim      ADD_REMOVE: a small part of epsilon buys a noisy number of rows; CHANGE_ONE: the stored number is public and free
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        One row moves the number of rows by at most 1 (discrete Laplace noise). Proposals, bin widths and thresholds may
           depend on this number, never on the raw one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.summaries import Column, OrderWindow, Span
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.mechanisms.pipelines.pipeline import Pipeline, Run
from dpstats.statistics.propose_test_release.ranks import RankedRows, decimal_of, window_request
from dpstats.statistics.universal.decimals import Number

COUNT_SHARE = Fraction(1, 20)
LEAST_ROWS = 3
"""Fewer rows than these count as these in proposals, where logarithms must be positive."""


@dataclass(frozen=True)
class Setting:
    """The column, what may still be spent on it, and the number of rows that proposals may use."""

    column: Column
    rows: int
    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors
    rng: RandomSource
    notes: tuple[tuple[str, str], ...] = ()

    def ranked(self, quantiles: Sequence[Fraction], cap: int, row_map: Callable[[Number], Fraction] = decimal_of) -> TestedRows:
        """The rows within `cap` of the quantiles' ranks, from one pass over the column."""
        windows = self.column.order_windows([window_request(quantile, cap) for quantile in quantiles])
        return TestedRows(RankedRows(windows, row_map), min(cap, windows[0].raw_rows + 1), tuple(windows))

    def run(self, pipeline: Pipeline, quantiles: Sequence[Fraction]) -> Any:
        """A pipeline on the rows around all the ranks that its steps look at: a reply or REFUSED."""
        allocation = pipeline.allocate(epsilon=self.epsilon, delta=self.delta)
        cap = max(allocation.test(step).cap for step in pipeline.steps())
        return pipeline.reply(self.ranked(quantiles, cap), None, Run(allocation, self.neighbors, self.rng))


@dataclass(frozen=True)
class TestedRows:
    """Rows near some ranks, and how far from them a test looks: no distance is larger than the number of rows."""

    raw: RankedRows
    cap: int
    windows: tuple[OrderWindow, ...] = ()

    def spans(self, ranks: Sequence[int]) -> list[Span]:
        """For each rank, in the window of its place among the quantiles, the row in the column's own type and its ties."""
        return [window.span(rank) for window, rank in zip(self.windows, ranks, strict=True)]


def take_setting(column: Column, question: Question, rng: RandomSource, *, counted: bool, parts: int = 1) -> Setting:
    """The setting for each of `parts` equal parts of a question; with `counted`, proposals may use the number of rows.

    A noisy count is bought once, for all parts.
    """
    share = Setting(column, LEAST_ROWS, question.epsilon / parts, question.delta / parts, question.neighbors, rng)
    if not counted:
        return share
    if question.neighbors is Neighbors.CHANGE_ONE:
        public_rows = column.stored()
        notes = (("rows", f"{public_rows:,}, missing ones included; public under change_one"),)
        return replace(share, rows=max(public_rows, LEAST_ROWS), notes=notes)
    count_epsilon = question.epsilon * COUNT_SHARE
    noisy_rows = max(0, noisy_count(column.count(), count_epsilon, rng))
    notes = (("rows", f"about {noisy_rows:,}: a noisy count, on which epsilon {decimal_text(count_epsilon)} was spent"),)
    return replace(share, rows=max(noisy_rows, LEAST_ROWS), epsilon=(question.epsilon - count_epsilon) / parts, notes=notes)
