"""The released tree: its counts are those of its boxes, a row moves one of them by 1, and what follows needs nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_table
from dpstats.statistics.box_tree import framed
from dpstats.statistics.box_tree import tree as tree_module
from dpstats.statistics.box_tree.framed import framed_tree
from dpstats.statistics.box_tree.growth import Boxes
from dpstats.statistics.box_tree.halvings import BoxSide, Halvings
from dpstats.statistics.box_tree.tree import BoxTree, measure_tree, without_negatives
from dpstats.statistics.coded.budget import ConcentratedTableBudget, LaplaceLaw, NoisyTable, PureTableBudget
from dpstats.testing import seeded

HALVINGS = Halvings.of([BoxSide(0.0, 4.0, 1.0), BoxSide(0.0, 4.0, 1.0)], 8)
HALF = (Fraction(1, 2), Fraction(1, 2))
MUCH = Fraction(10**6)


def table_of(rows: np.ndarray) -> Any:
    return as_table(list(rows.T))


def measured(*classes: np.ndarray, epsilon: Fraction = MUCH, seed: int = 1) -> BoxTree:
    budget = PureTableBudget(epsilon, seeded(seed))
    return measure_tree([table_of(rows) for rows in classes], HALVINGS, budget, HALF, seeded(seed), halved_anyway=1)


def rows_of(seed: int, rows: int = 400) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 4, (rows, 2)) ** 2 / 4


def test_with_much_epsilon_counts_are_those_of_the_boxes() -> None:
    one, other = rows_of(1), rows_of(2, 300)
    tree = measured(one, other)
    lows, highs = tree.corners
    for place, rows in enumerate((one, other)):
        inside = ((rows[:, np.newaxis] >= lows) & (rows[:, np.newaxis] < highs)).all(axis=2)
        assert (inside.sum(axis=0) == tree.noisy.noisy_counts[:, place]).all()
        assert (inside.argmax(axis=1) == tree.boxes_of(rows)).all()
    assert tree.volumes.sum() == pytest.approx(16)
    assert tree.rows.sum() == pytest.approx(700)


def test_boxes_around_a_point_hold_what_lies_in_them() -> None:
    rows, points = rows_of(1), rows_of(3, 20)
    tree = measured(rows)
    for depth in range(9):
        around = tree.counts_around(points, depth)[:, 0]
        reached = np.minimum(tree.boxes.depths[tree.boxes_of(points)], depth)
        shift = 8 - reached
        same = (HALVINGS.paths(rows)[np.newaxis] >> shift[:, np.newaxis]) == (HALVINGS.paths(points) >> shift)[:, np.newaxis]
        assert around == pytest.approx(same.sum(axis=1))


def test_given_the_tree_one_row_moves_one_count_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = measured(rows_of(4), epsilon=Fraction(2)).boxes
    monkeypatch.setattr(tree_module, "grow", lambda *given: boxes)
    one, other = rows_of(4, 30), rows_of(5, 30)
    before = measured(one, other).noisy.noisy_counts
    for row in (one[0], np.array([np.inf, -np.inf]), np.array([1e300, 0.5])):
        moved = measured(np.vstack([one, row]), other).noisy.noisy_counts - before
        assert sorted(moved.ravel())[-1] == 1
        assert np.abs(moved).sum() == 1
        assert moved[:, 1].any() == np.False_


def test_shares_are_taken_from_either_budget() -> None:
    for budget in (PureTableBudget(Fraction(1), seeded(1)), ConcentratedTableBudget(Fraction(1, 50), seeded(1))):
        tree = measure_tree([table_of(rows_of(5))], HALVINGS, budget, (Fraction(1, 5), Fraction(3, 10)), seeded(1))
        assert budget.left == Fraction(1, 2)
        assert tree.rows.sum() == pytest.approx(400, abs=150)


def test_a_framed_tree_spends_its_epsilon_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Any] = []
    for name in ("PureBudgetSplit", "PureTableBudget"):
        kind = getattr(framed, name)

        def kept(epsilon: Fraction, rng: Any, kind: Any = kind) -> Any:
            budgets.append((epsilon, kind(epsilon, rng)))
            return budgets[-1][1]

        monkeypatch.setattr(framed, name, kept)
    for rows in (20, 5_000):
        budgets.clear()
        table = table_of(rows_of(6, rows))
        framed_tree([table], table, 2, Fraction(1), Fraction(1, 3), seeded(1))
        (frame_epsilon, frame), (tree_epsilon, tree) = budgets
        assert frame_epsilon * (1 - frame.left) + tree_epsilon == 1
        assert tree.left == 0


@given(st.lists(st.integers(-20, 50), min_size=1, max_size=30))
def test_counts_without_negatives_are_the_nearest_ones_of_the_same_total(counts: list[int]) -> None:
    noisy = np.array(counts)
    found = without_negatives(noisy)
    assert found.min() >= 0
    total = max(0, noisy.sum())
    assert found.sum() == pytest.approx(total)
    if total:  # the conditions of least squares: one shift for all that are positive, and no less for the others
        shifts = noisy - found
        assert np.ptp(shifts[found > 0]) < 1e-9
        assert (shifts[found == 0] <= shifts[found > 0].max() + 1e-9).all()


def test_a_tree_comes_back_from_its_plain_form() -> None:
    tree = measured(rows_of(7), epsilon=Fraction(1))
    again = BoxTree.from_dict(tree.to_dict())
    assert again.to_dict() == tree.to_dict()
    assert (again.rows == tree.rows).all()


def test_a_window_leaves_out_few_rows_at_either_end() -> None:
    line = Halvings.of([BoxSide(0.0, 8.0, 1.0)], 3)
    boxes = Boxes(np.full(8, 3), np.arange(8))
    counts = np.array([1, 0, 400, 500, 0, 600, 1, 0])[:, np.newaxis]
    assert BoxTree(line, boxes, NoisyTable(counts, LaplaceLaw(1.0)), 1.0).window() == ((2.0, 6.0),)
    empty = BoxTree(line, boxes, NoisyTable(-counts, LaplaceLaw(1.0)), 1.0)
    assert empty.window() == ((0.0, 8.0),)
    assert empty.rows.sum() == 0
