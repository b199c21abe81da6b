"""Ends of intervals and sides: their exact joint laws on a toy line, and how far out ends are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.statistics.universal import draw, ends, intervals, looks, order, outward
from dpstats.statistics.universal.bands import Band, BandEnds
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, LatticeGroups
from dpstats.statistics.universal.draw import RankLoss
from dpstats.statistics.universal.ends import (
    End,
    EndReach,
    Released,
    can_be_drawn,
    draw_ends,
    draw_ends_beyond,
    draw_ends_by_rank,
    rows_to_end,
    slopes_by_rank,
)
from dpstats.statistics.universal.line import Integers, Marks, Piece, Stretch
from dpstats.statistics.universal.measure import Measure
from dpstats.statistics.universal.order import Cells, Order, Place
from dpstats.statistics.universal.outward import OutwardDraw
from dpstats.statistics.universal.single import Drawn
from dpstats.testing import seeded
from tests.laws.mechanisms import exponential_of_minus
from tests.replays.limits import nats_lost
from tests.replays.places import cells_of
from tests.twins import ends as broken_ends
from tests.twins.ends import overlapping_side, rows_from, unshared_ends, unshared_ends_by_rank

MASSES = (2, 1, 3, 1, 2)  # the toy line: five "decimals" 0 to 4
COINS = 4
LINE = sum(MASSES) * COINS
EPSILON = Fraction(2)
SLACK = 1e-9

Row = tuple[int, int]
"""A decimal and a coin."""
Law = dict[int, Fraction]


class ToyMeasure:
    """The measure of the toy line."""

    def span(self, ordinal: int) -> tuple[int, int]:
        """Where a decimal starts, and its mass."""
        return sum(MASSES[:ordinal]), MASSES[ordinal]

    def ordinal_at(self, position: int) -> int:
        """The decimal that owns a position."""
        return max(ordinal for ordinal in range(len(MASSES)) if self.span(ordinal)[0] <= position)

    def spans(self, ordinals: Integers) -> tuple[list[int], list[int]]:
        """Where decimals start and end."""
        pairs = [self.span(ordinal) for ordinal in ordinals.tolist()]
        return [start for start, _ in pairs], [start + mass for start, mass in pairs]

    def offsets(self, ordinals: Integers) -> Integers:
        """The decimals themselves."""
        return ordinals[None, :]

    def marks(self, offsets: Integers, raw_counts: Integers, coins: Integers | None = None, factor: int = 1) -> Marks:
        """Where decimals lie, or cells of them."""
        (ordinals,) = offsets
        coins = np.zeros_like(ordinals) if coins is None else coins
        starts = [
            self.span(ordinal)[0] * factor + coin * self.span(ordinal)[1] for ordinal, coin in zip(ordinals, coins, strict=True)
        ]
        spans = [(start, start + self.span(ordinal)[1]) for start, ordinal in zip(starts, ordinals, strict=True)]
        return Marks.listed(spans, raw_counts)


class ToyBands:
    """Bands of the toy line: what is next to a decimal, and all that is beyond that."""

    def __init__(self, middle: int, upward: bool) -> None:
        self.middle, self.upward = middle, upward

    def band(self, ordinal: int) -> Band:
        """The band of one decimal; the draw cuts bands to the line."""
        next_to = self.middle + (1 if self.upward else -1)
        if ordinal == next_to:
            return Band(ordinal, ordinal)
        return Band(next_to + 1, 99) if self.upward else Band(-99, next_to - 1)

    def around(self, ordinals: Integers) -> BandEnds:
        """The bands of several."""
        bands = [self.band(ordinal) for ordinal in ordinals.tolist()]
        firsts, lasts = (np.array([band[end] for band in bands], dtype=np.int64) for end in (0, 1))
        return BandEnds(firsts, lasts)


def start_of(row: Row) -> int:
    """Where a row's cell starts."""
    start, mass = ToyMeasure().span(row[0])
    return start * COINS + row[1] * mass


CELLS = [start_of(row) for row in itertools.product(range(len(MASSES)), range(COINS))]


def heavy(low: int, high: int) -> list[Stretch]:
    """Nearly all of the public mass at three cells, so that the total weight of a part moves as much as it can."""
    cut = [(max(low, start), min(high, start + 1)) for start in (start_of((0, 3)), start_of((2, 2)), start_of((4, 2)))]
    return [Stretch(start, end, 10**4) for start, end in cut if start < end]


@pytest.fixture
def toy_line(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Five decimals with four coins each, so that every outcome can be enumerated."""

    for module in (order, outward, ends, intervals, broken_ends):
        monkeypatch.setattr(module, "COINS", COINS)
        monkeypatch.setattr(module, "LINE", LINE, raising=module is not outward)
    for module in (order, outward):
        monkeypatch.setattr(module, "MIXED", ToyMeasure())
        monkeypatch.setattr(
            module, "lattice_groups", lambda windows: [LatticeGroups(each.raw_values, each.raw_counts) for each in windows]
        )
        monkeypatch.setattr(module, "stretches_of", lambda shells: [heavy(each.low, each.high) for each in shells])
    monkeypatch.setattr(outward, "DistanceBands", ToyBands)
    for module in (order, looks):
        monkeypatch.setattr(module, "lowest_value_at", lambda ordinal, dtype: ordinal)
    return monkeypatch


class Recorder:
    """Stands in the place of `draw_piece` and keeps the law of every draw over cells; no draw here depends on another."""

    def __init__(self, cells: Sequence[int] = (*CELLS, LINE)) -> None:
        self.cells = cells
        """Where they start, and where the last one ends."""
        self.laws: list[Law] = []

    def draw(self, pieces: Sequence[Piece], loss: RankLoss, rng: object) -> tuple[Piece, int]:
        """Some piece, after its law has been kept."""
        weights = [piece.boost * exponential_of_minus(nats_lost(piece, loss)) for piece in pieces]
        total = sum((weight * piece.length for piece, weight in zip(pieces, weights, strict=True)), Fraction(0))
        law: Law = {}
        for cell, end in itertools.pairwise(self.cells):
            for piece, weight in zip(pieces, weights, strict=True):
                shared = min(end, piece.start + piece.length) - max(cell, piece.start)
                if shared > 0:
                    law[cell] = law.get(cell, Fraction(0)) + weight * shared / total
        self.laws.append(law)
        return pieces[0], pieces[0].start


def exact_laws(patch: pytest.MonkeyPatch, table: Sequence[Row], run: Callable[[Order], Place | None]) -> list[Law]:
    """The laws of all draws of a run from rows with known coins; of a place that needs no draw, that it is certain."""

    def held(self: object, ordinals: Integers, raw_counts: Integers) -> Cells:
        return cells_of(sorted((decimal, coin) for decimal, coin in table if decimal in ordinals))

    recorder = Recorder()
    patch.setattr(order.Order, "_draw_coins", held)
    for module in (order, outward):
        patch.setattr(module, "draw_piece", recorder.draw)
    place = run(Order(as_column(np.array([decimal for decimal, _ in table], dtype=np.int64)), seeded(1)))
    if place is not None and not recorder.laws:
        return [{place.start: Fraction(1)}]
    assert all(sum(law.values(), Fraction(0)) == 1 for law in recorder.laws)
    return recorder.laws


def largest_joint_ratio(laws: Sequence[Law], neighbour_laws: Sequence[Law]) -> float:
    """The largest |log ratio| of independent draws together."""
    forth = back = 0.0
    for law, neighbour in zip(laws, neighbour_laws, strict=True):
        if law.keys() != neighbour.keys():
            return math.inf
        ratios = [math.log(law[cell] / neighbour[cell]) for cell in law]
        forth, back = forth + max(ratios), back + max(-ratio for ratio in ratios)
    return max(forth, back)


def worst_over_tables(patch: pytest.MonkeyPatch, run_on: Callable[[Sequence[Row]], Callable[[Order], Place | None]]) -> float:
    """The largest joint ratio over small tables and each row that may be added to them."""
    worst = 0.0
    for size in range(4):
        for table in itertools.combinations_with_replacement(ROWS, size):
            laws = exact_laws(patch, table, run_on(table))
            for row in ROWS:
                neighbour = (*table, row)
                worst = max(worst, largest_joint_ratio(laws, exact_laws(patch, neighbour, run_on(neighbour))))
    return worst


def place_at(table: Sequence[Row], row: Row) -> Place:
    """The place of a cell, for the rows of a table."""
    return Place(start_of(row), row[0], sum(start_of(other) < start_of(row) for other in table))


ROWS: list[Row] = [(0, 1), (1, 0), (2, 2), (3, 1), (4, 3)]
LOW, HIGH = (0, 2), (4, 1)


def ends_by(draw_all: Callable[..., dict[End, int]]) -> Callable[[Sequence[Row]], Callable[[Order], Place | None]]:
    """Both ends in the part between two released places, and one above them."""

    def run_on(table: Sequence[Row]) -> Callable[[Order], Place | None]:
        low, high = (Released(Fraction(part, 4), place_at(table, row), 1.0) for part, row in ((1, LOW), (3, HIGH)))
        wanted = [End(low, True, 2, Fraction(1)), End(high, False, 2, Fraction(1)), End(high, True, 1, Fraction(1))]

        def run(order: Order) -> None:
            draw_all(order, [low.place, high.place], wanted, EPSILON)

        return run

    return run_on


def test_the_joint_law_of_ends_moves_by_at_most_epsilon_when_a_row_is_added(toy_line: pytest.MonkeyPatch) -> None:
    assert 0.5 * EPSILON < worst_over_tables(toy_line, ends_by(draw_ends)) <= EPSILON + SLACK


def test_ends_of_one_part_that_spend_all_of_epsilon_each_are_refuted(toy_line: pytest.MonkeyPatch) -> None:
    assert worst_over_tables(toy_line, ends_by(unshared_ends)) > 1.2 * EPSILON


def ends_beyond(table: Sequence[Row]) -> Callable[[Order], Place | None]:
    """Ends on either side of the decimal in the middle."""

    def run(order: Order) -> None:
        wanted = [EndReach(upward, 1, Fraction(1)) for upward in (False, True)]
        draw_ends_beyond(order, 2, order.rows_beyond(2), wanted, EPSILON)

    return run


def test_ends_beyond_a_decimal_cost_what_one_does(toy_line: pytest.MonkeyPatch) -> None:
    assert 0.6 * EPSILON < worst_over_tables(toy_line, ends_beyond) <= EPSILON + SLACK


def test_ends_on_sides_that_share_the_rows_of_a_decimal_are_refuted(toy_line: pytest.MonkeyPatch) -> None:
    toy_line.setattr(order.Order, "rows_beyond", rows_from)
    assert worst_over_tables(toy_line, ends_beyond) > 1.1 * EPSILON


ByRank = Callable[..., dict[bool, int]]


def worst_by_rank(patch: pytest.MonkeyPatch, draw_all: ByRank, quantile: Fraction) -> float:
    """The largest joint ratio of ends by rank over small tables of decimals, rows that may be added, and released decimals."""

    def laws_of(table: Sequence[int], decimal: int) -> list[Law]:
        recorder = Recorder([sum(MASSES[:place]) for place in range(len(MASSES) + 1)])
        patch.setattr(ends, "draw_piece", recorder.draw)
        wanted = [EndReach(upward, 1, Fraction(1)) for upward in (False, True)]
        column = as_column(np.array(table, dtype=np.int64))
        draw_all(column, quantile, Drawn(decimal, cast(Measure, ToyMeasure())), wanted, EPSILON, seeded(1))
        assert all(sum(law.values(), Fraction(0)) == 1 for law in recorder.laws)
        return recorder.laws

    patch.setattr(outward, "DistanceBands", ToyBands)
    patch.setattr(ends, "TOTAL", sum(MASSES))
    patch.setattr(ends, "lattice_groups", lambda windows: [LatticeGroups(each.raw_values, each.raw_counts) for each in windows])
    patch.setattr(ends, "stretches_of", lambda shells, measure: [spiked(each.low, each.high) for each in shells])
    worst = 0.0
    for size, decimal in itertools.product(range(1, 4), range(1, 4)):
        for table in itertools.combinations_with_replacement((0, 2, 3), size):
            laws = laws_of(table, decimal)
            worst = max(worst, *(largest_joint_ratio(laws, laws_of((*table, row), decimal)) for row in range(5)))
    return worst


def spiked(low: int, high: int) -> list[Stretch]:
    """Nearly all of the public mass at three decimals, so that the total weight moves as much as it can."""
    cut = [(max(low, start), min(high, start + 1)) for start in (0, 3, 8)]
    return [Stretch(start, end, 10**4) for start, end in cut if start < end]


@pytest.mark.parametrize("quantile", [Fraction(1, 2), Fraction(1, 4)])
def test_the_joint_law_of_ends_by_rank_moves_by_at_most_epsilon_when_a_row_is_added(
    monkeypatch: pytest.MonkeyPatch, quantile: Fraction
) -> None:
    assert 0.4 * EPSILON < worst_by_rank(monkeypatch, draw_ends_by_rank, quantile) <= EPSILON + SLACK


def test_ends_by_rank_that_spend_all_of_epsilon_each_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_by_rank(monkeypatch, unshared_ends_by_rank, Fraction(1, 4)) > 1.2 * EPSILON


@pytest.mark.parametrize("quantile", [Fraction(0), Fraction(1, 20), Fraction(2, 5), Fraction(1, 2), Fraction(3, 4), Fraction(1)])
@pytest.mark.parametrize("upward", [False, True])
def test_the_slopes_of_an_end_by_rank_cost_epsilon(quantile: Fraction, upward: bool) -> None:
    over, under = slopes_by_rank(quantile, EPSILON, upward)
    down = max(under * quantile, over * (1 - quantile))
    up = max(over * quantile, under * (1 - quantile))
    assert down + up == EPSILON
    assert (under > over) == upward


def scales_on(table: Sequence[Row]) -> Callable[[Order], Place | None]:
    """The scales on either side of a place in the middle."""

    def run(order: Order) -> None:
        intervals.draw_scales(order, place_at(table, (2, 1)), (False, True), EPSILON)

    return run


def test_scales_on_both_sides_of_a_place_cost_what_one_does(toy_line: pytest.MonkeyPatch) -> None:
    assert 0.4 * EPSILON < worst_over_tables(toy_line, scales_on) <= EPSILON + SLACK


def test_sides_that_share_the_rows_of_a_decimal_are_refuted(toy_line: pytest.MonkeyPatch) -> None:
    toy_line.setattr(intervals, "side_of", overlapping_side)
    assert worst_over_tables(toy_line, scales_on) > 1.1 * EPSILON


# How far out


@pytest.mark.parametrize("quantile", [Fraction(1, 2), Fraction(1, 10), Fraction(0)])
def test_an_end_is_further_out_for_more_noise_less_epsilon_and_a_higher_level(quantile: Fraction) -> None:
    usual = rows_to_end(quantile, 1000, 100.0, 0.2, 0.95)
    assert rows_to_end(quantile, 1000, 400.0, 0.2, 0.95) > usual
    assert rows_to_end(quantile, 1000, 100.0, 0.1, 0.95) > usual
    assert rows_to_end(quantile, 1000, 100.0, 0.2, 0.99) > usual > rows_to_end(quantile, 1000, 100.0, 0.2, 0.5) > 0


def test_without_noise_an_end_is_where_the_normal_law_has_it() -> None:
    aimed = 1 - ends.CAUTION * 0.05
    expected = NormalDist().inv_cdf((1 + aimed) / 2) * math.sqrt(2500)
    assert expected <= rows_to_end(Fraction(1, 2), 10_000, 0.0, 0.0, 0.95) <= expected * (1 + 1e-4)


def test_an_end_is_drawn_only_where_enough_rows_lie_beyond() -> None:
    assert can_be_drawn(1000, 0.1)
    assert not can_be_drawn(100, 0.1)
    assert not can_be_drawn(-5, 1e9)


@settings(max_examples=200)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 100), st.booleans())
def test_the_target_of_an_end_moves_by_at_most_one_rank_per_row(below: int, rows: int, distance: int, upward: bool) -> None:
    targets: list[Fraction] = []

    def record(order: Order, draws: Sequence[OutwardDraw]) -> list[int]:
        targets.extend(draw.loss.target for draw in draws)
        return [0 for _ in draws]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ends, "draw_outward", record)
        for size in (rows, rows + 1):
            place = Place(10**6, 0, below if upward else size)
            order = Order(as_column(np.zeros(below + size if upward else size)), seeded(1))
            end = End(Released(Fraction(1, 2), place, 1.0), upward, distance, Fraction(1))
            draw_ends(order, [place], [end], Fraction(1))
    assert 0 <= targets[1] - targets[0] <= 1
    assert all(below * upward <= target <= below * upward + rows + 1 for target in targets)


@pytest.mark.parametrize("upward", [False, True])
def test_a_place_at_the_very_start_of_the_line_has_its_rows_above(upward: bool) -> None:
    column = as_column(np.full(50, -math.inf))
    place = Place(0, -HIGHEST_ORDINAL, 0)
    end = End(Released(Fraction(1, 2), place, 1.0), upward, 5, Fraction(0))
    assert draw_ends(Order(column, seeded(1)), [place], [end], Fraction(100))[end] == -HIGHEST_ORDINAL


def test_a_target_far_from_all_rows_needs_no_long_table() -> None:
    loss = RankLoss(Fraction(10**12), Fraction(1, 10**13), Fraction(1, 10**13))
    pieces = [Piece(0, 5, 0, 0), Piece(5, 1, 0, 3), Piece(6, 5, 3, 3)]
    lows, highs = draw._piece_weights(pieces, loss)(64)
    for piece, low, high in zip(pieces, lows, highs, strict=True):
        exact = piece.length * exponential_of_minus(nats_lost(piece, loss)) * (1 << 64)
        assert low <= exact <= high <= low + 100
