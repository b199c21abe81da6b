"""The last steps of a regression: what is reckoned to be lost beyond a reach."""

from __future__ import annotations

import numpy as np
import pytest

from dpstats.statistics.clipped.clips import Tail
from dpstats.statistics.regression.full_steps import FARTHER, LEAST_POWER, POWER_PART, PowerThinning, Pull, _as_seen
from dpstats.statistics.regression.walk import Matrix

LIGHT = Tail(10_000, 1.0, 6.0, 0.5)


@pytest.mark.parametrize("power", [1.6, 2.0, 3.0])
def test_what_a_power_of_the_length_loses_is_what_rows_beyond_the_reach_lose(power: float) -> None:
    near, reach = 400.0, 4.0
    lengths = (near / (np.arange(200_000) / 1000 + 0.0005)) ** (1 / power)
    far = float(np.count_nonzero(lengths > FARTHER)) / 1000
    cut_off = float(np.sum(np.maximum(lengths - reach, 0.0))) / 1000
    assert PowerThinning(LIGHT, near, far, 1.0).lost_by_power(reach) == pytest.approx(POWER_PART * cut_off, rel=0.12)


def test_rows_that_hardly_thin_out_lose_as_many_as_there_are() -> None:
    thinning = PowerThinning(LIGHT, 100.0, 80.0, 1.0)
    assert thinning.lost_by_power(FARTHER) == pytest.approx(POWER_PART * 80 * FARTHER / (LEAST_POWER - 1))
    assert PowerThinning(LIGHT, 100.0, 200.0, 1.0).lost_by_power(8.0) == pytest.approx(POWER_PART * 100 * 8 / (LEAST_POWER - 1))


def test_less_is_lost_further_out_and_a_light_tail_loses_least() -> None:
    heavy, light = PowerThinning(LIGHT, 400.0, 60.0, 1.0), PowerThinning(LIGHT, 400.0, 1.0, 1.0)
    for near, far in ((1.0, 2.0), (2.0, 5.0)):
        assert heavy.lost(far) < heavy.lost(near)
        assert light.lost(far) < 0.3 * light.lost(near)
    assert all(light.lost(reach) <= heavy.lost(reach) for reach in (1.0, 2.0, 4.0))


def test_a_step_that_is_nothing_beside_its_noise_changes_no_matrix() -> None:
    matrix, tiny = Matrix.of(np.eye(2), 0.0), np.array([1e-120, 0.0])
    pull = Pull(np.ones(2), 1e40, np.eye(2))
    assert _as_seen(matrix, tiny, pull, pull) is matrix
