"""The frame of a table: middles, scales and limits are near those of the rows, and cost what is said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.frame.frame import FrameColumn, TableFrame, find_frame
from dpstats.statistics.frame.sided_distances import SidedDistances
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit
from dpstats.statistics.regression.octaves import CELLS, cells_of, draw_reach, steep_hill
from dpstats.statistics.regression.points import FARTHEST, POINT, Floats
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.test_octaves import counted, law
from tests.statistics.regression.transcripts import table_of

ROWS = 20_000


def skewed_rows() -> Floats:
    """A normal column, a skewed one, and one whose rows are mostly 0."""
    generator = np.random.default_rng(8)
    sparse = np.where(generator.random(ROWS) < 0.06, generator.gamma(4, 500, ROWS), 0.0)
    return np.column_stack([generator.normal(40, 12, ROWS), generator.lognormal(10, 0.8, ROWS), sparse])


def budget_of(kind: str) -> BudgetSplit:
    return PureBudgetSplit(Fraction(1), seeded(1)) if kind == "pure" else ConcentratedBudgetSplit(Fraction(1, 40), seeded(1))


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("kind", ["pure", "concentrated"])
def test_it_is_near_the_rows_and_within_its_share(kind: str, limits: bool) -> None:
    raw_rows, share, budget = skewed_rows(), Fraction(1, 5), budget_of(kind)
    frame = find_frame(table_of(raw_rows), 3, share, budget, seeded(2), limits=limits)
    assert 1 - share <= budget.left < 1
    assert abs(frame.noisy_rows - ROWS) < 1000
    assert frame.nats >= 40
    for column, raw_values in zip(frame.columns, raw_rows.T, strict=True):
        below, above = np.quantile(raw_values, [0.4, 0.6])
        assert below - 1 <= column.middle <= above + 1
        spread = np.median(np.abs(raw_values - np.median(raw_values))[raw_values != np.median(raw_values)])
        assert spread / 2 < column.scale < 4 * spread
        if limits:
            assert 20 <= np.sum(raw_values > column.high) <= 0.1 * ROWS
            assert np.sum(raw_values < column.low) <= 0.1 * ROWS
    assert TableFrame.from_dict(frame.to_dict()) == frame


def test_a_limit_leaves_rows_beyond_and_not_a_sparse_column() -> None:
    """At a fixed quantile, such as the 95th percentile, a column most of whose rows are 0 would be constant."""
    frame = find_frame(table_of(skewed_rows()), 3, Fraction(1, 5), budget_of("concentrated"), seeded(3))
    assert frame.columns[2].middle == 0.0
    assert frame.columns[2].high > 1500


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=4), st.sampled_from([0.0, 1.0, -2.5, 1e308]))
def test_a_row_is_in_one_cell_of_one_side_or_in_none(values: list[float], middle: float) -> None:
    counts = SidedDistances((middle,) * len(values))(np.array([values]))
    for place, value in enumerate(values):
        below, above = (sum(side) for side in SidedDistances.sides(counts.tolist(), place))
        assert (below, above) in ((0, 0), (int(value < middle), int(value > middle)))
    assert len(counts) == 2 * CELLS * len(values)


def test_points_are_whole_and_within_the_limits() -> None:
    frame = TableFrame((FrameColumn(10.0, 2.0, 3.0, 8.0), FrameColumn(0.0, 1.0)), 100, 40.0)
    points = frame.points(np.array([[11.0, 0.5], [-1e9, 1e9], [np.inf, -np.inf]]))
    assert points.tolist() == [[POINT / 2, POINT / 2], [-1.5 * POINT, FARTHEST], [4 * POINT, -FARTHEST]]
    assert frame.values(points)[:2, 0].tolist() == [11.0, 7.0]
    raw_rows = ugly_rows(np.random.default_rng(4), 50, 2)
    assert np.array_equal(frame.points(raw_rows), np.rint(frame.points(raw_rows)))


def reach_law(counts: list[int], beyond: int, epsilon: float, likely: float) -> Floats:
    """The probabilities of cells, from the definition of a draw by rank."""
    rows, (top,) = sum(counts), cells_of(np.array([likely]))
    masses = np.diff(np.array(steep_hill(int(top)), dtype=object)).astype(np.float64)
    target = rows - min(Fraction(beyond), Fraction(rows, 4))
    return law(counts, masses, target, 0.8 * epsilon, 0.2 * epsilon)


def test_a_reach_is_drawn_by_its_law() -> None:
    counts = counted([1.0] * 4 + [16.0] * 4)
    drawn = [draw_reach(counts, 2, Fraction(2), seeded(seed), likely=4.0) for seed in range(600)]
    expected = reach_law(counts, 2, 2.0, 4.0)
    cells = cells_of(np.array(drawn)) - 1  # upper ends were returned
    for cell in np.flatnonzero(expected > 0.03):
        deviation = np.sqrt(expected[cell] * (1 - expected[cell]) / len(drawn))
        assert abs(np.mean(cells == cell) - expected[cell]) < 4 * deviation


@pytest.mark.parametrize("beyond", [1, 2, 5])
@pytest.mark.parametrize("magnitudes", [[], [1.0], [1.0, 1.0, 3.0, 9.0, 9.0, 50.0], [0.1] * 9, list(range(1, 13))])
def test_the_law_of_a_reach_moves_by_a_factor_within_epsilon(magnitudes: list[float], beyond: int) -> None:
    epsilon = 0.7
    before = np.log(reach_law(counted(magnitudes), beyond, epsilon, 4.0))
    for more in (1e-9, 0.1, 1.0, 2.0, 9.0, 60.0, 1e9):
        after = np.log(reach_law(counted([*magnitudes, more]), beyond, epsilon, 4.0))
        assert np.abs(after - before).max() <= epsilon + 1e-9
        assert np.ptp(after - before) <= epsilon + 1e-9  # of which the rho of a draw is made
