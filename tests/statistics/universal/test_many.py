"""Many quantiles at once: the exact joint law of the recursion on a toy line, and its behaviour on ugly columns."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.statistics.universal import many, order
from dpstats.statistics.universal.decimals import LatticeGroups, float_of, ordinal_of
from dpstats.statistics.universal.draw import CLIP, RankLoss
from dpstats.statistics.universal.line import Integers, Marks, Piece, Stretch
from dpstats.statistics.universal.order import Cells
from dpstats.testing import seeded
from tests.laws.mechanisms import exponential_of_minus
from tests.privacy_loss.exact import largest_log_ratio
from tests.replays.places import cells_of
from tests.statistics.tables import ugly_columns

MASSES = (2, 1, 3)  # the toy line: three "decimals" 0, 1, 2
TOY_COINS = 2
TOY_LINE = sum(MASSES) * TOY_COINS
CELLS = [0, 2, 4, 5, 6, 9, TOY_LINE]  # where each (decimal, coin) starts
QUARTILES = (Fraction(1, 4), Fraction(3, 4))

Coins = Mapping[int, Sequence[int]]


class ToyMeasure:
    """The measure of the toy line."""

    def span(self, ordinal: int) -> tuple[int, int]:
        """Where a decimal starts, and its mass."""
        return sum(MASSES[:ordinal]), MASSES[ordinal]

    def ordinal_at(self, position: int) -> int:
        """The decimal that owns a position."""
        return max(ordinal for ordinal in range(3) if self.span(ordinal)[0] <= position)

    def offsets(self, ordinals: Integers) -> Integers:
        """The decimals themselves."""
        return ordinals[None, :]

    def marks(self, offsets: Integers, raw_counts: Integers, coins: Integers, factor: int) -> Marks:
        """Where the cells of decimals lie."""
        (ordinals,) = offsets
        starts = [
            self.span(ordinal)[0] * factor + coin * self.span(ordinal)[1] for ordinal, coin in zip(ordinals, coins, strict=True)
        ]
        spans = [(start, start + self.span(ordinal)[1]) for start, ordinal in zip(starts, ordinals, strict=True)]
        return Marks.listed(spans, raw_counts)


@pytest.fixture
def toy_line(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Three decimals with two coins each, so that every outcome can be enumerated."""

    for module in (order, many):
        monkeypatch.setattr(module, "COINS", TOY_COINS)
        monkeypatch.setattr(module, "LINE", TOY_LINE)
        monkeypatch.setattr(module, "MIXED", ToyMeasure())
    monkeypatch.setattr(
        order, "lattice_groups", lambda windows: [LatticeGroups(each.raw_values, each.raw_counts) for each in windows]
    )
    monkeypatch.setattr(many.Node, "shells", lambda node: node.root)
    monkeypatch.setattr(order, "stretches_of", lambda roots: [[Stretch(0, 3, 2)] for _ in roots])
    return monkeypatch


def joint_law(
    patch: pytest.MonkeyPatch, table: Sequence[int], epsilon: Fraction, assign: Callable[..., Coins]
) -> dict[object, Fraction]:
    """The exact law of all places drawn by the recursion, over all coins and all draws."""
    law: dict[object, Fraction] = defaultdict(Fraction)
    assigned = [assign(table, toss) for toss in itertools.product(range(TOY_COINS), repeat=len(table))]
    held_cells = Counter(tuple(sorted((value, coin) for value in coins for coin in coins[value])) for coins in assigned)
    for cells, tosses in held_cells.items():

        def held(self: object, ordinals: Integers, raw_counts: Integers, cells: tuple[tuple[int, int], ...] = cells) -> Cells:
            return cells_of([(ordinal, coin) for ordinal, coin in cells if ordinal in ordinals])

        patch.setattr(order.Order, "_draw_coins", held)
        for view, probability in _all_runs(patch, table, epsilon):
            law[view] += probability * Fraction(tosses, len(assigned))
    return dict(law)


class UndecidedError(Exception):
    """A script of choices has run out."""


class Script:
    """Plays a sequence of choices in the place of `draw_piece`, and multiplies their probabilities."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        self.choices = choices
        self.view: list[int] = []
        self.probability = Fraction(1)
        self.options = 0

    def draw(self, pieces: Sequence[Piece], loss: RankLoss, rng: object) -> tuple[Piece, int]:
        """The chosen piece, and a place in the chosen cell."""
        options = [
            (piece, cell, _weight(piece, loss) * (min(end, piece.start + piece.length) - max(cell, piece.start)))
            for piece in pieces
            for cell, end in itertools.pairwise(CELLS)
            if cell < piece.start + piece.length and end > piece.start
        ]
        if len(self.view) == len(self.choices):
            self.options = len(options)
            raise UndecidedError
        piece, cell, weight = options[self.choices[len(self.view)]]
        self.probability *= weight / sum((option[2] for option in options), Fraction(0))
        self.view.append(cell)
        return piece, max(cell, piece.start)


def _all_runs(patch: pytest.MonkeyPatch, table: Sequence[int], epsilon: Fraction) -> list[tuple[object, Fraction]]:
    """Every run of the recursion for fixed coins with its probability, by playing each sequence of choices."""
    finished: list[tuple[object, Fraction]] = []
    pending: list[tuple[int, ...]] = [()]
    while pending:
        script = Script(pending.pop())
        patch.setattr(order, "draw_piece", script.draw)
        try:
            column = as_column(np.array(table, dtype=np.int64))
            drawn = many.draw_quantiles(column, QUARTILES, epsilon, Neighbors.ADD_REMOVE, seeded(1))
        except UndecidedError:
            pending.extend((*script.choices, choice) for choice in range(script.options))
            continue
        assert list(drawn.values()) == sorted(drawn.values())
        finished.append((tuple(script.view), script.probability))
    return finished


@functools.cache
def _weight(piece: Piece, loss: RankLoss) -> Fraction:
    over = max(Fraction(0), piece.raw_below - loss.target) * loss.slope_over
    under = max(Fraction(0), loss.target - piece.raw_up_to) * loss.slope_under
    return piece.boost * exponential_of_minus(CLIP if piece.hidden else min(CLIP, over + under))


def own_coins(table: Sequence[int], toss: Sequence[int]) -> Coins:
    """Each row keeps the coin that it tossed."""
    coins: dict[int, list[int]] = defaultdict(list)
    for value, coin in zip(table, toss, strict=True):
        coins[value].append(coin)
    return coins


def coins_seeded_by_the_table(table: Sequence[int], toss: Sequence[int]) -> Coins:
    """The broken twin: the coins come from a generator seeded with the number of rows, so one row moves all of them."""
    return {value: [len(table) % 2] * table.count(value) for value in set(table)}


TABLES = [(), (0,), (2,), (1, 1), (0, 2), (2, 2)]
SMALL = [table for table in TABLES if len(table) < 2]


@pytest.mark.parametrize("tables", [SMALL, pytest.param(TABLES, marks=pytest.mark.long)], ids=["small", "all"])
def test_the_joint_law_moves_by_at_most_epsilon_when_a_row_is_added(
    toy_line: pytest.MonkeyPatch, tables: list[tuple[int, ...]]
) -> None:
    epsilon = Fraction(2)
    worst = 0.0
    law_of = functools.cache(lambda table: joint_law(toy_line, table, epsilon, own_coins))
    for table in tables:
        law = law_of(table)
        assert abs(sum(law.values(), Fraction(0)) - 1) < Fraction(1, 10**30)
        for added in range(3):
            worst = max(worst, largest_log_ratio(law, law_of(tuple(sorted((*table, added))))))
    assert 0.9 < worst <= 2 + 1e-9


@pytest.mark.parametrize("name", [name for name, data in ugly_columns().items() if np.asarray(data).size > 80])
@pytest.mark.parametrize("epsilon", [Fraction(5), Fraction(200)])
def test_quantiles_come_out_in_order_and_near_their_ranks(name: str, epsilon: Fraction) -> None:
    data = ugly_columns()[name]
    rows = np.sort(np.array([float_of(ordinal_of(value)) for value in data if value == value]))
    wanted = [Fraction(index, 8) for index in range(1, 8)]
    drawn = many.draw_quantiles(as_column(data), wanted, epsilon, Neighbors.ADD_REMOVE, seeded(3))
    values = [float_of(drawn[quantile]) for quantile in wanted]
    assert values == sorted(values)
    for quantile, value in zip(wanted, values, strict=True):
        below, up_to = np.searchsorted(rows, value, "left"), np.searchsorted(rows, value, "right")
        target = float(quantile) * len(rows)
        assert max(0.0, below - target, target - up_to) <= 150 / float(epsilon) + 1


def test_a_heavy_tie_is_split_between_the_halves() -> None:
    data = np.repeat([0.0, 5.0], [7000, 3000])
    wanted = [Fraction(index, 10) for index in range(1, 10)]
    drawn = many.draw_quantiles(as_column(data), wanted, Fraction(1), Neighbors.ADD_REMOVE, seeded(4))
    assert [float_of(drawn[quantile]) for quantile in wanted] == [0.0] * 6 + [float_of(drawn[Fraction(7, 10)])] + [5.0] * 2


def test_changing_a_row_is_paid_as_removing_one_and_adding_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Fraction] = []
    slope = many.symmetric_slope

    def watched(quantile: Fraction, epsilon: Fraction, neighbors: Neighbors) -> Fraction:
        seen.append(epsilon)
        return slope(quantile, epsilon, neighbors)

    monkeypatch.setattr(many, "symmetric_slope", watched)
    for neighbors in (Neighbors.ADD_REMOVE, Neighbors.CHANGE_ONE):
        many.draw_quantiles(as_column(np.arange(50.0)), QUARTILES, Fraction(1), neighbors, seeded(5))
    assert seen == [Fraction(1, 2)] * 3 + [Fraction(1, 4)] * 3


def test_coins_that_depend_on_the_table_are_refuted(toy_line: pytest.MonkeyPatch) -> None:
    laws = [joint_law(toy_line, table, Fraction(2), coins_seeded_by_the_table) for table in [(1, 1, 1), (1, 1, 1, 1)]]
    assert largest_log_ratio(*laws) > 2.5


NORMAL = "normal"
FAR_OUT: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    NORMAL: lambda generator: generator.normal(50, 10, 2000),
    "95% zeros": lambda generator: np.where(generator.random(2000) < 0.95, 0.0, generator.gamma(2, 20, 2000)),
    "top code": lambda generator: np.minimum(generator.lognormal(9.6, 0.9, 2000), 25_564.67),
}


@pytest.mark.floors
@pytest.mark.parametrize("shape", FAR_OUT)
@pytest.mark.parametrize("quantiles", [(0.5, 0.99), (0.05, 0.5, 0.95), (0.9, 0.95, 0.99), (0.25, 0.5, 0.75, 0.99)])
@pytest.mark.parametrize("interval", [0.95, None])
def test_quantiles_far_out_in_a_list_are_near_the_rows_or_refused(
    shape: str, quantiles: tuple[float, ...], interval: float | None
) -> None:
    for seed in range(25):
        rows = FAR_OUT[shape](np.random.default_rng(seed))
        release = dp.quantile(rows, quantiles, epsilon=1, interval=interval, rng=seeded(seed))
        if isinstance(release, dp.Release):
            room = 3 * (rows.max() - rows.min())
            assert rows.min() - room <= min(release.value) <= max(release.value) <= rows.max() + room
        else:
            assert shape != NORMAL


def test_a_list_with_its_ends_far_out_takes_a_pivot_for_a_scale_and_quartiles_do_not() -> None:
    def levels(*quantiles: float) -> int:
        return many.levels_of(tuple(map(Fraction, quantiles)))

    assert [levels(0.25, 0.75), levels(0.25, 0.5, 0.75), levels(*(step / 16 for step in range(1, 16)))] == [2, 2, 4]
    assert [levels(0.0625, 0.5, 0.9375), levels(0.5, 0.9375), levels(0.875, 0.9375, 0.96875)] == [3, 3, 4]
