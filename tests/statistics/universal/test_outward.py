"""Draws in bands of distances: a window alone gives the law of all rows, and ties of many digits are found."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.engines.tables.given import as_column
from dpstats.statistics.universal import ends, outward
from dpstats.statistics.universal.bands import Band, DigitBands, DistanceBands
from dpstats.statistics.universal.decimals import DIGITS, float_of, ordinal_of
from dpstats.statistics.universal.draw import RankLoss
from dpstats.statistics.universal.ends import EndReach, draw_ends_beyond, draw_ends_by_rank
from dpstats.statistics.universal.line import Piece
from dpstats.statistics.universal.measure import MIXED
from dpstats.statistics.universal.order import COINS, Order
from dpstats.statistics.universal.single import Drawn
from dpstats.testing import seeded
from tests.replays.limits import nats_lost
from tests.statistics.tables import ugly_columns

HALF = Fraction(1, 2)


class Beside:
    """The definition: a decimal owns what its home or its band of distances has of the line."""

    def __init__(self, home: Band, upward: bool) -> None:
        self.home = home
        self.bands = DistanceBands(home.last if upward else home.first, upward)

    def span(self, ordinal: int, low: int, high: int, factor: int) -> tuple[int, int]:
        """Where it starts and ends."""
        first, last = self.home if self.home.first <= ordinal <= self.home.last else self.bands.band(ordinal)
        return max(MIXED.span(first)[0] * factor, low), min(sum(MIXED.span(last)) * factor, high)


def check(pieces: Sequence[Piece], loss: RankLoss, spans: Sequence[tuple[int, int]], raw_below: int) -> None:
    """Pieces weigh as the definition has it, from the stretches that all rows of a side own; `raw_below` rows lie below it."""
    for piece in pieces:
        if not piece.length:
            continue
        below = raw_below + sum(end <= piece.start for _, end in spans)
        up_to = raw_below + sum(start < piece.start + piece.length for start, _ in spans)
        exact = Piece(piece.start, piece.length, below, up_to, False, piece.boost)
        assert nats_lost(piece, loss) == nats_lost(exact, loss)


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("digits", [5, DIGITS])
def test_the_window_alone_gives_the_law_of_an_end(monkeypatch: pytest.MonkeyPatch, name: str, by_rank: bool, digits: int) -> None:
    data = ugly_columns()[name]
    rows = sorted(ordinal_of(value) for value in data if value == value)
    if not rows:
        return
    ordinal = DigitBands(digits).roundest(rows[len(rows) // 2])
    home = DigitBands(digits).band(ordinal)
    drawn: list[tuple[Sequence[Piece], RankLoss]] = []

    def keep(pieces: Sequence[Piece], loss: RankLoss, rng: object) -> tuple[Piece, int]:
        drawn.append((list(pieces), loss))
        piece = next(piece for piece in pieces if piece.length)
        return piece, piece.start

    monkeypatch.setattr(outward, "draw_piece", keep)
    monkeypatch.setattr(ends, "draw_piece", keep)
    order = Order(as_column(data), seeded(1), digits)
    for epsilon in (Fraction(1, 2), Fraction(100)):
        wanted = [EndReach(upward, 2, Fraction(1)) for upward in (False, True)]
        if by_rank:
            draw_ends_by_rank(order.column, HALF, Drawn(ordinal, MIXED, digits), wanted, epsilon, seeded(1))
        else:
            wanted = [
                end for end in wanted if order.rows_beyond(ordinal)[end.upward].high > order.rows_beyond(ordinal)[end.upward].low
            ]
            draw_ends_beyond(order, ordinal, order.rows_beyond(ordinal), wanted, epsilon)
        factor = 1 if by_rank else COINS
        for (pieces, loss), end in zip(drawn, wanted, strict=True):
            low, high = pieces[0].start, max(piece.start + piece.length for piece in pieces)
            inner = [row for row in rows if (row >= home.first if end.upward else row <= home.last)]
            side = inner if by_rank else [row for row in inner if not home.first <= row <= home.last]
            beside = Beside(home, end.upward)
            spans = [beside.span(row, low, high, factor) for row in side]
            check(pieces, loss, spans, len(rows) - len(side) if end.upward else 0)
        drawn.clear()


@pytest.mark.parametrize("tie", [25564.6712345678, 1 / 3, 1e7 / 7])
def test_an_end_is_found_at_a_tie_of_many_digits(tie: float) -> None:
    rows = np.append(np.linspace(tie / 9, tie / 3, 500), np.full(500, tie))
    order = Order(as_column(rows), seeded(1))
    place = ordinal_of(float(rows[480]))
    wanted = [EndReach(True, 120, Fraction(tie))]
    found = [float_of(draw_ends_beyond(order, place, order.rows_beyond(place), wanted, Fraction(1, 4))[True]) for _ in range(40)]
    assert sum(tie <= end <= tie * 1.05 for end in found) >= 36


def test_the_further_mass_of_a_home_is_on_all_of_it() -> None:
    home = DigitBands(5).band(ordinal_of(25564.67))
    beyond = outward.Beyond(*_side_of(home), home, upward=True)
    ((start, end, boost),) = beyond.further({home.first: Fraction(10)})
    assert (start, end) == (MIXED.span(home.first)[0], sum(MIXED.span(home.last)))
    assert boost * (end - start) == pytest.approx(10 * (beyond.high - beyond.low))


def _side_of(home: Band) -> tuple[int, Any]:
    return MIXED.span(home.first)[0], ends.TOTAL
