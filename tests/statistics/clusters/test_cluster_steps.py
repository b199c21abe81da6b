"""The steps of clusters: what follows from released numbers alone, and how far a row moves what is handed to mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpstats.statistics.clusters import steps
from dpstats.statistics.clusters.steps import ClusterShares, take_cluster_steps
from dpstats.statistics.regression.points import Floats
from tests.statistics.clusters.cluster_transcripts import run_steps
from tests.twins.clusters import LateOffsets, largest_distance

EIGHTH = Fraction(1, 8)
SHARES = ClusterShares(EIGHTH, EIGHTH, EIGHTH, EIGHTH, EIGHTH, EIGHTH, 3)


def take(table: Any, columns: int, budget: Any, rng: Any, progress: Any, clusters: int = 3) -> Any:
    return take_cluster_steps(table, columns, clusters, SHARES, budget, rng, progress, standardize=True)


def three_groups(rows: int = 300, seed: int = 2) -> Floats:
    generator = np.random.default_rng(seed)
    middles = np.array([[0.0, 0.0], [8.0, 1.0], [1.0, 9.0]])
    return middles[generator.integers(0, 3, rows)] + generator.normal(size=(rows, 2))


PAIRS = {
    "a far outlier": (three_groups(), np.array([1e9, -1e9])),
    "infinities": (three_groups(), np.array([math.inf, -math.inf])),
    "one like the others": (three_groups(), np.array([8.0, 1.0])),
    "between two centers": (three_groups(), np.array([4.0, 0.5])),
    "all alike": (np.ones((200, 2)), np.array([5.0, -1e4])),
    "ugly": (np.array([[1e308, -1e308], [5e-324, 0.0], [-0.0, 1e-300], [math.inf, 3.0]] * 40), np.array([1e308, -math.inf])),
}


def with_row(raw_rows: Floats, raw_row: Floats) -> Floats:
    return np.insert(raw_rows, 3, raw_row, axis=0)


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_released_numbers_lead_to_the_same_questions_and_the_same_place(pair: str, pure: bool) -> None:
    raw_rows, raw_row = PAIRS[pair]
    found, first = run_steps(raw_rows, take, pure)
    again, second = run_steps(with_row(raw_rows, raw_row), take, pure, first.released)
    assert second.questions == first.questions
    assert len(first.released) >= 12
    assert (again.frame, again.centers, again.radius) == (found.frame, found.centers, found.radius)
    assert again.noisy.noisy_sums.tolist() == found.noisy.noisy_sums.tolist()
    assert first.moves_are_small(second)


def test_offsets_that_are_cut_off_after_they_were_added_up_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_rows, raw_row = three_groups(), np.array([50.0, -50.0])
    monkeypatch.setattr(steps, "ClusterOffsets", LateOffsets)
    monkeypatch.setattr(steps, "BEYOND", (1, 1))
    _, first = run_steps(raw_rows, take, False)
    _, second = run_steps(with_row(raw_rows, raw_row), take, False, first.released)
    assert not first.moves_are_small(second)


def test_a_radius_that_the_farthest_row_makes_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_rows, raw_row = three_groups(), np.array([25.0, -25.0])
    monkeypatch.setattr(steps, "draw_radius", largest_distance)
    _, first = run_steps(raw_rows, take, False)
    _, second = run_steps(with_row(raw_rows, raw_row), take, False, first.released)
    assert second.questions != first.questions


@pytest.mark.parametrize("clusters", [1, 7])
def test_no_course_spends_more_than_there_is(clusters: int) -> None:
    for rows in (0, 1, 40):
        found, _ = run_steps(three_groups(rows), partial(take, clusters=clusters), True)
        assert len(found.centers) == clusters
