"""Transcripts of clusters: steps are taken once, and what they released is then forced upon their run on a neighbouring table.

If all that they do is a function of released numbers, the second run asks the same questions and ends in the same place. What is
handed to a mechanism may differ by a row, and by no more than is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from dpstats.engines.tables.given import as_table
from dpstats.foundations.progress import Progress
from dpstats.statistics.box_tree import tree
from dpstats.statistics.clusters import steps
from dpstats.statistics.clusters.budget import (
    ClusterBudget,
    ConcentratedClusterSplit,
    NoisyParts,
    PureClusterSplit,
)
from dpstats.statistics.clusters.cluster_sums import STEPS, CappedCosts
from dpstats.statistics.coded.budget import ConcentratedTableBudget, NoisyTable, PureTableBudget
from dpstats.statistics.frame import frame as frames
from dpstats.statistics.regression import octaves
from dpstats.statistics.regression.points import Floats
from dpstats.testing import seeded


@dataclass
class ClusterTranscript:
    """Questions with their raw numbers, what they may move by, and what came back."""

    forced: list[Any] = field(default_factory=list)
    questions: list[object] = field(default_factory=list)
    released: list[Any] = field(default_factory=list)
    raw: list[tuple[Any, float]] = field(default_factory=list)
    """Vectors, parts by coordinates, and the most that the lengths of what a row adds to the parts may add up to."""

    def release(self, question: object, make: Callable[[], Any]) -> Any:
        """What is forced, or something new."""
        self.questions.append(question)
        place = len(self.released)
        self.released.append(self.forced[place] if place < len(self.forced) else make())
        return self.released[-1]

    def moves_are_small(self, other: ClusterTranscript) -> bool:
        """Whether raw numbers differ by no more than is claimed."""
        for (raw, most), (raw_other, _) in zip(self.raw, other.raw, strict=True):
            moves = np.atleast_2d(np.array(raw_other, dtype=object) - np.array(raw, dtype=object))
            lengths = [math.sqrt(sum(int(each) ** 2 for each in part)) for part in moves]
            if math.fsum(lengths) > most * (1 + 1e-12):
                return False
        return True


def scripted(pure: bool, transcript: ClusterTranscript) -> ClusterBudget:
    """Budgets that count shares as real ones, and whose noise is quick to draw or forced."""
    noise = np.random.default_rng(4)

    def drawn(raw: Any, deviation: float) -> Any:
        return raw + np.rint(noise.normal(size=np.shape(raw)) * deviation).astype(np.int64)

    split: Any = PureClusterSplit if pure else ConcentratedClusterSplit
    table: Any = PureTableBudget if pure else ConcentratedTableBudget

    class Split(split):  # type: ignore[misc]
        def noisy(self, raw_sums: Any, l2_units: int, share: Fraction) -> tuple[list[int], float]:
            found, deviation = self.noisy_parts(np.array([raw_sums], dtype=np.int64), l2_units, share)
            return found[0].tolist(), deviation

        def noisy_parts(self, raw_parts: Any, units: int, share: Fraction) -> NoisyParts:
            self.take(share)
            transcript.raw.append((raw_parts, units))
            deviation = units * self.deviation(share, raw_parts.shape[1])
            question = ("noisy", raw_parts.shape, units, share)
            return NoisyParts(transcript.release(question, lambda: drawn(raw_parts, deviation)), deviation)

    class Tables(table):  # type: ignore[misc]
        def noisy(self, raw_counts: Any, share: Fraction) -> NoisyTable:
            self.take(share)
            transcript.raw.append((raw_counts.reshape(1, -1), 1))
            law = self.law(share)
            counts = transcript.release(("table", raw_counts.shape, share), lambda: drawn(raw_counts, math.sqrt(law.variance)))
            return NoisyTable(counts, law)

    whole = Fraction(3) if pure else Fraction(1)
    return ClusterBudget(Split(whole, seeded(5)), Tables(whole, seeded(5)))


class ScriptedRows:
    """A table that writes down which sums it is asked for, and their raw numbers where something is drawn from these."""

    def __init__(self, raw_rows: Floats, transcript: ClusterTranscript) -> None:
        self._table = as_table([column.copy() for column in raw_rows.T])
        self._transcript = transcript

    def column(self, place: int) -> Any:
        return self._table.column(place)

    def row_sums(self, row_sum: Any) -> tuple[int, ...]:
        raw_sums = self._table.row_sums(row_sum)
        tree_of = getattr(row_sum, "tree", None)
        self._transcript.questions.append((type(row_sum), repr(row_sum) if tree_of is None else repr(tree_of.to_dict())))
        if isinstance(row_sum, CappedCosts):
            self._transcript.raw.append(([[each] for each in raw_sums], STEPS * len(raw_sums)))
        return raw_sums


def run_steps(raw_rows: Floats, take: Callable[..., Any], pure: bool, released: list[Any] | None = None) -> tuple[Any, Any]:
    """Where steps led, and their transcript."""
    transcript = ClusterTranscript(list(released or ()))
    budget = scripted(pure, transcript)
    table: Any = ScriptedRows(raw_rows, transcript)
    with _scripted_draws(transcript):
        found = take(table, raw_rows.shape[1], budget, seeded(6), Progress(None))
    return found, transcript


@contextmanager
def _scripted_draws(transcript: ClusterTranscript) -> Iterator[None]:
    real_draw, real_quantile, real_grow, real_choose = octaves.draw_piece, frames.draw_quantile, tree.grow, steps.choose

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip)
        return None, transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    def grow(raw_counts: Any, *public: Any) -> Any:
        transcript.raw.append((raw_counts.reshape(1, -1), 1))
        return transcript.release(("grow", *public[:-1]), lambda: real_grow(raw_counts, *public))

    def choose(weights: Any, rng: Any) -> Any:
        return transcript.release("choose", lambda: real_choose(weights, rng))

    with (
        patch.object(octaves, "draw_piece", draw_piece),
        patch.object(frames, "draw_quantile", draw_quantile),
        patch.object(tree, "grow", grow),
        patch.object(steps, "choose", choose),
    ):
        yield
