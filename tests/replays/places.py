"""Replays of draws in the order of (decimal, coin): the exact privacy loss of one course of quantiles and ends, or of cut means.

As replays.py. The coins are fixed beforehand, for every row that could be in a table: the k-th row of a decimal has the same coin
in both of them. So what is computed is the loss of a course given the coins, which is what the proofs bound.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, OrderWindow
from dpstats.statistics import winsorized
from dpstats.statistics.clipped import cells
from dpstats.statistics.universal import ends, grain, intervals, looks, order, outward, single, tails
from dpstats.statistics.universal.draw import RankLoss, draw_piece
from dpstats.statistics.universal.line import Integers, Piece
from tests.laws.mechanisms import exponential_of_minus
from tests.replays.limits import Push, Replay, nats_lost


class PlaceReplay(Replay):
    """Plays or makes a course of noisy numbers and drawn positions."""

    def run(self, mechanism: Callable[[Column], Any], column: Column) -> Any:
        """Run a mechanism with its coins, noise and draws replaced."""
        with ExitStack() as stack:
            for counting in (intervals, looks, tails, winsorized):
                stack.enter_context(patch.object(counting, "noisy_count", self._count))
            stack.enter_context(patch.object(grain, "raw_grain", self._keep_grain))
            stack.enter_context(patch.object(grain, "sample_discrete_laplace", self._grain_noise))
            for drawing in (single, order, outward, ends):
                stack.enter_context(patch.object(drawing, "draw_piece", self._draw))
            stack.enter_context(patch.object(order.Order, "_draw_coins", lambda order, *groups: fixed_cells(*groups)))
            stack.enter_context(patch.object(cells, "raw_cells_of", self._keep_cells))
            stack.enter_context(patch.object(cells, "sample_discrete_laplace", self._cell_noise))
            return mechanism(column)

    def _grain_noise(self, scale: Fraction, size: int, rng: RandomSource) -> list[int]:
        """Noise that takes the raw grain where the course has it."""
        noisy: int = self._next(lambda: self._raw_grain + self._push(scale))
        self._add_noise(noisy - self._raw_grain, scale)
        return [noisy - self._raw_grain]

    def _keep_grain(self, window: OrderWindow, quantile: Fraction, reach: int) -> int:
        self._raw_grain = _raw_grain(window, quantile, reach)
        return self._raw_grain

    def _draw(self, pieces: Sequence[Piece], loss: RankLoss, rng: RandomSource) -> tuple[Piece, int]:
        position: int = self._next(lambda: draw_piece(pieces, loss, rng)[1])
        pieces = [piece for piece in pieces if piece.length]
        factors = {nats: exponential_of_minus(nats) for nats in {nats_lost(piece, loss) for piece in pieces}}
        weights = [piece.boost * factors[nats_lost(piece, loss)] for piece in pieces]
        total = sum((weight * piece.length for weight, piece in zip(weights, pieces, strict=True)), Fraction(0))
        at = [index for index, piece in enumerate(pieces) if piece.start <= position < piece.start + piece.length]
        self.log_probability += _log(sum((weights[index] for index in at), Fraction(0)) / total)
        return pieces[at[0]], position


def fixed_cells(ordinals: Integers, raw_counts: Integers) -> order.Cells:
    """The cells of decimals, as `Order` draws them; each row's coin is its own."""
    rows: list[tuple[int, int]] = []
    for ordinal, raw_count in zip(ordinals.tolist(), raw_counts.tolist(), strict=True):
        chooser = random.Random(ordinal)
        rows += sorted((ordinal, chooser.randrange(order.COINS)) for _ in range(raw_count))
    return cells_of(rows)


def cells_of(rows: Sequence[tuple[int, int]]) -> order.Cells:
    """The cells of rows that are given by decimal and coin, in order."""
    counts = Counter(rows)
    pairs = np.array(list(counts), dtype=np.int64).reshape(-1, 2)
    return order.Cells(pairs[:, 0], pairs[:, 1], np.array(list(counts.values()), dtype=np.int64))


_raw_grain = grain.raw_grain


def place_loss(mechanism: Callable[[Column], Any], column: Column, neighbour: Column, push: Push) -> float:
    """The log ratio of the probabilities that one course has for two columns, given the coins; made from the first."""
    first = PlaceReplay(None, push)
    first.run(mechanism, column)
    second = PlaceReplay(first.course, push)
    second.run(mechanism, neighbour)
    return first.log_probability - second.log_probability


def _log(probability: Fraction) -> float:
    return math.log(probability.numerator) - math.log(probability.denominator)
