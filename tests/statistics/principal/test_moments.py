"""Moments of rows within a size: the same in any company, and moved by no row further than they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE
from dpstats.statistics.principal.moments import MOST_UNITS, HeldMoments, PointSizes
from dpstats.statistics.regression.octaves import cells_of
from tests.statistics.principal.moments_of_rows import BOUNDS, added_by, allows, norm_of, plain_frame, some_frame
from tests.statistics.regression.step_rows import ugly_rows
from tests.twins.principal import FloatCheckedMoments, MomentsClippedAfterwards

both = pytest.mark.parametrize("absolute", [True, False], ids=["absolute", "round"])


@both
@pytest.mark.parametrize("seed", range(6))
def test_a_sum_is_that_of_its_rows_and_no_row_adds_more_than_is_said(seed: int, absolute: bool) -> None:
    generator = np.random.default_rng(seed)
    columns = (2, 3, 7)[seed % 3]
    frame, raw_rows = some_frame(generator, columns), ugly_rows(generator, 23, columns)
    for bound in BOUNDS:
        moments = HeldMoments(frame, absolute, bound)
        raw_added = added_by(moments, raw_rows)
        assert moments(raw_rows).tolist() == np.array(raw_added, dtype=object).sum(axis=0).tolist()
        assert moments(raw_rows[generator.permutation(23)]).tolist() == moments(raw_rows).tolist()
        assert all(allows(moments, raw_move) for raw_move in raw_added)
        assert moments.most <= MOST_UNITS
    sizes = PointSizes(frame, absolute)
    assert sizes(raw_rows).tolist() == (sizes(raw_rows[:9]) + sizes(raw_rows[9:])).tolist()
    assert all(sizes(raw_rows[place : place + 1]).sum() <= 1 for place in range(23))


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), st.sampled_from(BOUNDS), st.booleans())
def test_and_none_that_anybody_can_think_of(row: list[float], bound: float, absolute: bool) -> None:
    moments = HeldMoments(plain_frame(3), absolute, bound)
    assert allows(moments, moments(np.array([row])).tolist())


@both
def test_rows_within_the_bound_count_as_they_are(absolute: bool) -> None:
    raw_rows = np.random.default_rng(1).normal(size=(400, 3))
    moments = HeldMoments(plain_frame(3), absolute, 2000.0)
    found = moments(raw_rows) / np.array(moments.weights)
    assert found[:3] / moments.unit / moments.one == pytest.approx(raw_rows.sum(axis=0), abs=0.5)
    products = (raw_rows.T @ raw_rows)[np.triu_indices(3)]
    assert found[3:] / moments.unit**2 == pytest.approx(products, abs=0.5)


@both
def test_a_row_beyond_the_bound_keeps_its_direction_and_nearly_reaches_the_bound(absolute: bool) -> None:
    moments = HeldMoments(plain_frame(3), absolute, 12.0)
    held = moments.held(moments.frame.points(np.array([[60.0, -30.0, 6.0]])))[0]
    assert held / held[0] == pytest.approx([1.0, -0.5, 0.1], abs=1e-3)
    (raw_move,) = added_by(moments, np.array([[60.0, -30.0, 6.0]]))
    most = moments.sensitivity ** (1 if absolute else 2)
    assert (0.999 if absolute else 0.9) * most < norm_of(moments, raw_move) <= most


@both
def test_sizes_are_what_a_row_adds(absolute: bool) -> None:
    frame, raw_row = plain_frame(3), np.array([[1.5, -2.0, 0.25]])
    wide = HeldMoments(frame, absolute, 1000.0)
    squares = float(np.square(raw_row).sum())
    size = norm_of(wide, wide(raw_row).tolist()) / wide.unit**2 if absolute else squares
    (cell,) = np.flatnonzero(PointSizes(frame, absolute)(raw_row))
    assert cell == cells_of(np.array([size]))[0]


def test_as_many_rows_as_an_engine_shows_at_once_are_added_up_exactly() -> None:
    raw_row = np.array([[1e9, -1e9, 3.0]])
    for absolute in (True, False):
        for bound in BOUNDS:
            moments = HeldMoments(plain_frame(3), absolute, bound)
            many = moments(np.repeat(raw_row, MOST_ROWS_AT_ONCE, axis=0))
            assert many.tolist() == [MOST_ROWS_AT_ONCE * each for each in moments(raw_row).tolist()]


@pytest.mark.parametrize(
    ("twin", "absolute"), [(FloatCheckedMoments, True), (MomentsClippedAfterwards, True), (MomentsClippedAfterwards, False)]
)
def test_twins_are_refuted(twin: type[HeldMoments], absolute: bool) -> None:
    generator = np.random.default_rng(3)
    raw_rows = np.vstack([generator.normal(size=(50, 6)) * 50, [[4000.0] * 6]])
    moments = twin(plain_frame(6), absolute, 12.0)
    moves = [moments(raw_rows) - moments(np.delete(raw_rows, place, axis=0)) for place in range(len(raw_rows))]
    assert not all(allows(moments, raw_move.tolist()) for raw_move in moves)
    sound = HeldMoments(moments.frame, absolute, moments.bound)
    assert all(allows(sound, raw_added) for raw_added in added_by(sound, raw_rows))
