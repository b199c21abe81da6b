"""A survey: the first pass over a column of numbers, which counts its rows, samples them, and gathers what will be wanted.

While the sample holds every row, that is all. When it begins to let rows go, a bracket is set around each expected window, as
wide as that window and several standard deviations more would be if the rows came in random order. A bracket that holds many rows
closes in around the ranks that the window has among the rows so far. Whatever the order of the rows, what a bracket tells is
exact; where they are sorted or follow a trend, a window may escape its bracket, and then another pass has to find it. Power sums
are made in clips that a statistic guesses from the rows so far; they will do if the units are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Numbers
from dpstats.engines.exact.blocks import block_rows, walk_blocks
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.thinned import Room, ThinnedSample
from dpstats.engines.passes.collectors import PowerSums
from dpstats.foundations.summaries import ClipGuess, WindowRequest

SLACK = 10.0
"""Standard deviations of a rank among the rows so far by which a bracket is wider than its window."""
FEW_ROWS = 1 << 15
"""Rows up to which a bracket need not close in."""


class Survey:
    """A collector of numbers: a thinned sample, and brackets around expected windows once the sample is not the whole column."""

    def __init__(
        self,
        room: Room,
        expected: Sequence[WindowRequest],
        guess: ClipGuess | None = None,
        expected_rows: int | None = None,
        units: int = 2,
    ) -> None:
        """`guess` says in which clips to make power sums, of so many units, where about how many rows there are is known."""
        self.sample = ThinnedSample(room)
        self._room = room
        self._most = room.around // max(1, len(expected))
        self._expected = [request for request in expected if 2 * request.margin < self._most]
        self._guess = None if expected_rows is None else guess
        self._expected_rows = expected_rows or 0
        self._units = units
        self.power_sums: list[PowerSums] = []
        self._brackets: list[_Closing] | None = None

    @property
    def raw_brackets(self) -> list[Bracket]:
        """The brackets that did not grow too large."""
        return [closing.bracket for closing in self._brackets or ()]

    def fresh(self) -> Survey:
        """An empty one that expects the same."""
        survey = copy(self)
        survey.sample, survey.power_sums, survey._brackets = self.sample.fresh(), [], None
        return survey

    def take(self, cells: Cells, stored: int) -> None:
        """Take rows in."""
        assert isinstance(cells, Numbers)
        if self._brackets is None and not self.sample.has_room(len(cells)):
            fitting = self._room.taken - self.sample.size
            self.sample.take(Numbers(cells.raw_values[:fitting]), stored)
            self._begin(cells.raw_values.dtype)
            cells, stored = Numbers(cells.raw_values[fitting:]), 0
        self._show(cells.raw_values, self.sample.present)
        for powers in self.power_sums:
            powers.take(cells, 0)
        self.sample.take(cells, stored)

    def absorb(self, other: Survey) -> None:
        """Take in what another one gathered from other rows; the other one is used up."""
        if self._brackets is not None or other._brackets is not None or not self._fits(other):
            dtype = self.sample.dtype or other.sample.dtype
            self._begin(dtype)
            other._begin(dtype)
            known = {closing.request: closing.bracket for closing in other._brackets or ()}
            self._brackets = [closing for closing in self._brackets or () if closing.meets(known.get(closing.request))]
            self._add_power_sums(other)
        self.sample.absorb(other.sample)

    def _add_power_sums(self, other: Survey) -> None:
        """Add another survey's sums, if they are in the same clips."""
        if not self.sample.present:
            self.power_sums = other.power_sums
        elif [powers.clip for powers in self.power_sums] == [powers.clip for powers in other.power_sums]:
            for powers, further in zip(self.power_sums, other.power_sums, strict=True):
                powers.absorb(further)
        elif other.sample.present:
            self.power_sums = []

    def _fits(self, other: Survey) -> bool:
        return self.sample.size + other.sample.size <= self._room.merged

    def _begin(self, dtype: np.dtype[Any] | None) -> None:
        """Set the brackets, while the sample still holds every row."""
        if self._brackets is None:
            self._brackets = [] if dtype is None else [_Closing(request, dtype) for request in self._expected]
            raw_seen = 0
            raw_chunks = self.sample.chunks(np.dtype(np.float64))
            for raw_rows in raw_chunks:
                self._show(raw_rows, raw_seen)
                raw_seen += raw_rows.size
            if self._guess is not None and raw_seen:
                clips = self._guess.clips(np.concatenate(raw_chunks), max(raw_seen, self._expected_rows), self._units)
                self.power_sums = [PowerSums(clip, self._guess.degree) for clip in clips]
                for powers in self.power_sums:
                    for raw_rows in raw_chunks:
                        powers.take(Numbers(raw_rows), 0)

    def _show(self, raw_rows: NDArray[Any], raw_seen: int) -> None:
        """Show rows to all brackets, block by block; `raw_seen` rows came before."""
        if not self._brackets:
            return
        room = np.empty((2, min(raw_rows.size, block_rows(raw_rows.dtype))), dtype=np.bool_)
        for block in walk_blocks([raw_rows]):
            mask, other = room[:, : block.size]
            raw_seen += block.size
            for closing in self._brackets:
                closing.bracket.scan(block, mask, other)
                closing.close_in(raw_seen)
        self._brackets = [closing for closing in self._brackets if closing.bracket.collected <= self._most]


class _Closing:
    """A bracket that closes in around an expected window."""

    def __init__(self, request: WindowRequest, dtype: np.dtype[Any]) -> None:
        self.request = request
        self.bracket = Bracket.whole(dtype)
        self._limit = FEW_ROWS

    def close_in(self, raw_rows: int) -> None:
        """Close in where the bracket holds many of `raw_rows` rows, and then not before it holds twice as many."""
        if self.bracket.collected > self._limit:
            share = self.request.quantile
            target, spread = share * raw_rows, SLACK * math.sqrt(share * (1 - share) * raw_rows)
            beyond = self.request.margin + math.ceil(spread) + 1
            self.bracket.close_in((math.floor(target) - beyond, math.ceil(target) + beyond), raw_rows)
            self._limit = max(FEW_ROWS, 2 * self.bracket.collected)

    def meets(self, other: Bracket | None) -> bool:
        """Take in what a bracket around the same window found in other rows; False where nothing is left between both."""
        return other is not None and self.bracket.meet(other)
