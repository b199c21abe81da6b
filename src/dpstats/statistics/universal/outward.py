"""Draws on one side of a released place that tell distances apart, and not all decimals.

A draw beside a place need not tell two places apart that are equally far from it but for a thirty-second or so. So rows whose
decimals lie in one public band of distances (bands.py) count as one place, which owns the whole band: a tie at a number of many
digits is found as easily as one at a round number. The decimals that the released place stands for are one place, too. What is
released is the outer end of a band.

Claim      None of its own: what a draw costs follows from its target (ends.proof.md)
Numerics   Exact: integers throughout
Source     ends.proof.md, Lemma 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpstats.foundations.summaries import OrderWindow, WindowRequest
from dpstats.statistics.universal.bands import Band, BandEnds, DistanceBands, merged
from dpstats.statistics.universal.beside import Shells, stretches_of
from dpstats.statistics.universal.decimals import LatticeGroups, lattice_groups
from dpstats.statistics.universal.draw import RankLoss, draw_piece
from dpstats.statistics.universal.line import CutLine, Integers, Marks, Stretch
from dpstats.statistics.universal.measure import MIXED, Measure
from dpstats.statistics.universal.order import COINS, Order, Part


class OutwardDraw(NamedTuple):
    """A draw to be made from the rows of a part that lies above (or below) a released place, or begins within it."""

    part: Part
    loss: RankLoss
    home: Band
    """The decimals that the released place stands for."""
    upward: bool
    shells: Sequence[Shells]
    tied: Mapping[int, Fraction]
    """Decimals at which rows may well be tied, and the further mass of all that counts as one with them."""


class Beyond:
    """The part [low, high) of the line, stretched by `factor`, on one side of a released place, in bands of distances from it."""

    def __init__(self, low: int, high: int, home: Band, upward: bool, measure: Measure = MIXED, factor: int = 1) -> None:
        self.low, self.high = low, high
        self._home, self._upward = home, upward
        self._measure, self._factor = measure, factor
        self._bands = DistanceBands(home.last if upward else home.first, upward)
        self.first = self.last = home.last if upward else home.first
        if low < high:
            self.first, self.last = measure.ordinal_at(low // factor), measure.ordinal_at((high - 1) // factor)

    def marks(self, ordinals: Integers, raw_counts: Integers) -> Marks:
        """What the rows of ascending decimals of the stretch own: each band once."""
        firsts, lasts, raw_counts = merged(self._around(ordinals), raw_counts)
        (starts, _), (_, ends) = self._measure.spans(firsts), self._measure.spans(lasts)
        factor = self._factor
        spans = [(max(start * factor, self.low), min(end * factor, self.high)) for start, end in zip(starts, ends, strict=True)]
        return Marks.listed(spans, raw_counts.tolist())

    def outer_end(self, position: int) -> int:
        """The outermost decimal of the stretch that counts as one with the decimal at a position."""
        first, last = self._band(self._measure.ordinal_at(position // self._factor))
        return last if self._upward else first

    def further(self, tied: Mapping[int, Fraction]) -> list[Stretch]:
        """Further mass on all that counts as one with some decimals, by the ratios of the whole stretch that they get."""
        stretches = []
        for ordinal, weight in tied.items():
            first, last = self._band(ordinal)
            start, end = self._measure.span(first)[0] * self._factor, sum(self._measure.span(last)) * self._factor
            start, end = max(start, self.low), min(end, self.high)
            if start < end and (boost := (self.high - self.low) * weight.numerator // ((end - start) * weight.denominator)):
                stretches.append(Stretch(start, end, boost))
        return stretches

    def _band(self, ordinal: int) -> Band:
        """All decimals of the stretch that count as one with a decimal."""
        first, last = self._home if self._home.first <= ordinal <= self._home.last else self._bands.band(ordinal)
        return Band(max(first, self.first), min(last, self.last))

    def _around(self, ordinals: Integers) -> BandEnds:
        """The bands of ascending decimals, cut to the stretch."""
        begin = int(np.searchsorted(ordinals, self._home.first, side="left"))
        end = int(np.searchsorted(ordinals, self._home.last, side="right"))
        at_home = np.ones(end - begin, dtype=np.int64)
        beyond = self._bands.around(ordinals[end:] if self._upward else ordinals[:begin])
        both = [
            np.concatenate([at_home * own, found] if self._upward else [found, at_home * own])
            for own, found in zip(self._home, beyond, strict=True)
        ]
        return BandEnds(np.maximum(both[0], self.first), np.minimum(both[1], self.last))


def draw_outward(order: Order, draws: Sequence[OutwardDraw]) -> list[int]:
    """For each of the draws, which do not wait for one another, the outermost decimal that counts as the drawn place."""
    if not draws:
        return []
    requests = [WindowRequest(draw.loss.target / max(order.raw_rows, 1), draw.loss.margin()) for draw in draws]
    windows = order.column.order_windows(requests)
    found = iter(stretches_of([shells for draw in draws for shells in draw.shells]))
    stretches = [[stretch for _ in draw.shells for stretch in next(found)] for draw in draws]
    every = zip(draws, windows, lattice_groups(windows), stretches, strict=True)
    return [_draw_from(order, *each) for each in every]


def _draw_from(order: Order, draw: OutwardDraw, window: OrderWindow, groups: LatticeGroups, stretches: Sequence[Stretch]) -> int:
    """One draw from the rows of its part: those with the ranks raw_first + 1 to raw_last."""
    low, high, raw_first, raw_last = draw.part
    beyond = Beyond(low, high, draw.home, draw.upward, MIXED, COINS)
    if low == high:
        return beyond.last if draw.upward else beyond.first
    raw_ends = window.raw_below + np.cumsum(groups.raw_counts)
    raw_starts = raw_ends - groups.raw_counts
    begin = int(np.searchsorted(raw_ends, raw_first, side="right"))
    end = max(begin, int(np.searchsorted(raw_starts, raw_last, side="left")))
    raw_below = raw_up_to = raw_first
    raw_counts = np.minimum(raw_ends[begin:end], raw_last) - np.maximum(raw_starts[begin:end], raw_first)
    if begin < end:
        raw_below = max(int(raw_starts[begin]), raw_first)
        raw_up_to = raw_below + int(raw_counts.sum())
    cut = CutLine(
        low,
        high,
        beyond.marks(groups.ordinals[begin:end], raw_counts),
        raw_below,
        hidden_below=raw_below > raw_first,
        hidden_above=raw_up_to < raw_last,
    )
    _, position = draw_piece(cut.boosted([*stretches, *beyond.further(draw.tied)]), draw.loss, order.rng)
    return beyond.outer_end(position)
