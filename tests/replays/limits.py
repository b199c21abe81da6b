"""Replays: the exact probability that limits and cells come out in one given way, for one table and for its neighbour.

A mechanism of several steps is run once and all that its steps release is written down: noisy counts, drawn decimals, noisy
cells. Then the same course is forced upon a neighbouring table. Every step's probability is computed from the definition, so
the ratio of the products is the exact privacy loss of that course; a sampler is used only to find courses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.statistics.clipped import cells, shells, zeros_and_ones
from dpstats.statistics.testing import group_cuts
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.draw import RankLoss, draw_piece
from dpstats.statistics.universal.line import Piece
from dpstats.statistics.universal.measure import MIXED
from tests.laws.mechanisms import exponential_of_minus

Course = list[Any]
"""What each step released, in order."""
Push = Callable[[Fraction], int]
"""The scale of a noise -> the noise that a recorded course shall have."""


class Replay:
    """Plays a course, or makes one where it has none, and adds up the logarithms of the probabilities."""

    def __init__(self, course: Sequence[Any] | None, push: Push) -> None:
        self.course: Course = list(course or ())
        self.log_probability = 0.0
        self._recording = course is None
        self._push = push
        self._step = 0
        self._raw_cells: list[int] = []

    def run(self, mechanism: Callable[[Column], Any], column: Column) -> Any:
        """Run a mechanism with its noise and draws replaced."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(limits, "noisy_count", self._count))
            stack.enter_context(patch.object(limits, "draw_piece", self._draw))
            stack.enter_context(patch.object(limits, "noisy_counts", self._counts))
            for module in (shells, zeros_and_ones, cells, group_cuts):
                stack.enter_context(patch.object(module, "noisy_counts", self._counts))
            stack.enter_context(patch.object(cells, "raw_cells_of", self._keep_cells))
            stack.enter_context(patch.object(cells, "sample_discrete_laplace", self._cell_noise))
            return mechanism(column)

    def _next(self, found: Callable[[], Any]) -> Any:
        if self._recording:
            self.course.append(found())
        self._step += 1
        return self.course[self._step - 1]

    def _count(self, raw_count: int, epsilon: Fraction, rng: RandomSource) -> int:
        noisy: int = self._next(lambda: raw_count + self._push(1 / epsilon))
        self._add_noise(noisy - raw_count, 1 / epsilon)
        return noisy

    def _draw(self, pieces: Sequence[Piece], loss: RankLoss, rng: RandomSource) -> tuple[Piece, int]:
        ordinal: int = self._next(lambda: MIXED.ordinal_at(draw_piece(pieces, loss, rng)[1]))
        start, mass = MIXED.span(ordinal)
        factors: dict[Fraction, Fraction] = {}
        wanted = total = Fraction(0)
        for piece in pieces:
            nats = nats_lost(piece, loss)
            if nats not in factors:
                factors[nats] = exponential_of_minus(nats)
            weight = piece.boost * factors[nats]
            total += weight * piece.length
            wanted += weight * max(0, min(start + mass, piece.start + piece.length) - max(start, piece.start))
        self.log_probability += _log(wanted / total)
        return pieces[0], start

    def _counts(self, raw_counts: Sequence[int], epsilon: Fraction, rng: RandomSource) -> list[int]:
        noisy: list[int] = self._next(lambda: [raw + self._push(1 / epsilon) for raw in raw_counts])
        for released, raw in zip(noisy, raw_counts, strict=True):
            self._add_noise(released - raw, 1 / epsilon)
        return noisy

    def _keep_cells(self, raw_sums: Sequence[int], steps: int) -> list[int]:
        self._raw_cells = _raw_cells_of(raw_sums, steps)
        return self._raw_cells

    def _cell_noise(self, scale: Fraction, size: int, rng: RandomSource) -> NDArray[np.object_]:
        noisy: list[int] = self._next(lambda: [raw + self._push(scale) for raw in self._raw_cells])
        noises = [released - raw for released, raw in zip(noisy, self._raw_cells, strict=True)]
        for noise in noises:
            self._add_noise(noise, scale)
        return np.array(noises, dtype=object)

    def _add_noise(self, noise: int, scale: Fraction) -> None:
        self.log_probability -= float(abs(noise) / scale)  # the constant is the same for both tables


_raw_cells_of = cells.raw_cells_of


def nats_lost(piece: Piece, loss: RankLoss) -> Fraction:
    """What a piece loses, from the definition."""
    over = max(Fraction(0), piece.raw_below - loss.target) * loss.slope_over
    under = max(Fraction(0), loss.target - piece.raw_up_to) * loss.slope_under
    return loss.clip if piece.hidden else min(loss.clip, over + under)


def privacy_loss(mechanism: Callable[[Column], Any], column: Column, neighbour: Column, push: Push) -> float:
    """The log ratio of the probabilities that one course has for two columns; the course is made from the first."""
    first = Replay(None, push)
    first.run(mechanism, column)
    second = Replay(first.course, push)
    second.run(mechanism, neighbour)
    return first.log_probability - second.log_probability


def _log(probability: Fraction) -> float:
    return math.log(probability.numerator) - math.log(probability.denominator)
