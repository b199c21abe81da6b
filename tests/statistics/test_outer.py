"""Outer cells: a row far out has one weight in all, noise alone seldom makes any, and groups of rows out there are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import Clip
from dpstats.statistics.clipped import cells
from dpstats.statistics.clipped.cells import OuterEdges, release_cells
from dpstats.statistics.clipped.outer import NOT_LOOKED, NoisyLook, OuterSide, evidence
from dpstats.testing import seeded

CLIP = Clip(0, 4, Fraction(1, 2))
EDGES = OuterEdges((-40.0, -3.0), (5.0, 40.0))
ROWS = (-math.inf, -40.5, -40.0, -3.5, -3.0, 0.0, 0.5, 2.0, 4.5, 5.0, 39.5, 40.0, 1e300, math.inf)


def raw_weights(rows: tuple[float, ...], degree: int, edges: OuterEdges, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Cells and shells without their noise."""
    monkeypatch.setattr(cells, "sample_discrete_laplace", lambda scale, size, rng: np.zeros(size, dtype=np.int64))
    monkeypatch.setattr(cells, "noisy_counts", lambda raw_counts, epsilon, rng: raw_counts)
    found = release_cells(as_column(np.array(rows, dtype=float)), CLIP, degree, Fraction(1), seeded(1), edges)
    return np.concatenate([found.outer_below, found.noisy, found.outer_above])


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_a_row_moves_cells_and_shells_together_by_exactly_one_in_every_tiny_table(
    degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in ((), *combinations_with_replacement(ROWS[::2], 1), *combinations_with_replacement(ROWS[1::3], 2)):
        before = raw_weights(table, degree, EDGES, monkeypatch)
        assert before.sum() == len(table)
        for row in ROWS:
            moved = raw_weights((*table, row), degree, EDGES, monkeypatch) - before
            assert moved.min() >= 0
            assert moved.sum() == 1


def test_rows_are_in_the_shell_where_they_lie_or_else_at_the_ends_of_the_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert raw_weights((-50, -40, -3, 0, 1, 2, 4, 6, 50, math.inf), 2, EDGES, monkeypatch).tolist() == [
        1,
        1,
        2.25,
        0.5,
        2.25,
        1,
        2,
    ]


def test_an_edge_inside_the_clip_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row beyond it would be taken off the last cell, in which it never was."""
    inside = OuterEdges((-40.0, 1.0), (1.5, 40.0))
    kept = inside.beyond(CLIP, np.dtype(float))
    assert kept == OuterEdges((-40.0,), (40.0,))
    for row in ROWS:
        assert raw_weights((row,), 2, inside, monkeypatch).min() >= 0


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64])
def test_edges_are_compared_as_rows_of_the_type_are(dtype: type) -> None:
    column = as_column(np.array([1, 2, 5, 200], dtype=dtype))
    found = release_cells(column, CLIP, 2, Fraction(1000), seeded(1), EDGES)
    assert found.outer_above == (1, 1)
    assert found.noisy.sum() == pytest.approx(2, abs=0.1)


# Judging


def side_of(earlier: list[int] | None, scale: float) -> OuterSide:
    """Shells from twice a cut of 1 on, with an earlier look at octaves."""
    begins = [Fraction(2) ** octave for octave in range(1, 7)]
    side = OuterSide.of(Fraction(2), Fraction(1), begins, earlier or [0] * len(begins), scale)
    assert len(side.distances) == 11
    assert side.octaves == {0, 2, 4, 6, 8}
    return side


def test_noise_alone_seldom_makes_rows_or_refusals() -> None:
    chance = np.random.default_rng(3)
    counting = astray = roomy = 0
    for _ in range(4_000):
        side = side_of(chance.laplace(0, 5, 6).round().astype(int).tolist(), 5.0)
        verdict = side.judge(chance.laplace(0, 2, 11).round().astype(int).tolist(), 2.0, 1)
        counting += bool(verdict.counting)
        astray += verdict.astray
        roomy += bool(verdict.roomy)
    assert counting <= 10
    assert astray <= 20
    assert roomy <= 60


def test_rows_in_one_shell_count_and_so_do_many_beside_them() -> None:
    side = side_of([0, 0, 30, 0, 0, 0], 5.0)
    found = side.judge([0, 1, -2, 6, 28, 2, 0, 0, 0, 0, 0], 2.0, 1)
    assert found.counting == (3, 4)
    assert not found.astray


def test_rows_out_of_all_proportion_are_a_refusal() -> None:
    side = side_of([0, 0, 0, 0, 0, 12], 5.0)
    assert side.judge([0] * 10 + [12], 2.0, 1).astray
    assert not side.judge([0] * 10 + [4], 2.0, 1).astray


def test_looks_that_contradict_each_other_have_little_evidence() -> None:
    assert evidence((NoisyLook(40, 5.0), NoisyLook(19, 7.5))) == pytest.approx(7.7, abs=0.1)
    assert evidence((NoisyLook(27, 5.0), NoisyLook(27, 7.5))) == pytest.approx(9.0)
    assert evidence((NoisyLook(-9, 5.0), NoisyLook(-3, 7.5))) == 0
    assert evidence((NoisyLook(10, 2.0), NOT_LOOKED)) == 5


# Groups of rows far out


def with_clump(share: float, at: float, seed: int, rows: int = 3_000) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return np.where(chance.random(rows) < share, at, np.exp(chance.normal(3, 0.6, rows)))


@pytest.mark.floors
@pytest.mark.parametrize("statistic", [dp.mean, dp.std, dp.sum])
def test_intervals_hold_with_a_clump_of_a_percent_far_out(statistic: Callable[..., Any]) -> None:
    """Before rows were counted apart, 84 to 90% held."""
    whole = with_clump(0.009, 999.0, 1, 1_000_000)
    truth = {dp.mean: whole.mean(), dp.std: whole.std()}
    held = 0
    for seed in range(40):
        rows = with_clump(0.009, 999.0, seed)
        found = statistic(rows, epsilon=1, rng=seeded(seed))
        exact = truth.get(statistic, rows.sum())
        held += isinstance(found, dp.NoReply) or found.interval.low <= exact <= found.interval.high
    assert held >= 35


@pytest.mark.floors
def test_a_few_codes_out_of_all_proportion_are_refused() -> None:
    """Nine rows of 3,000 at 1e6: two of three means were answered, and no interval held. Now 86% are refused."""
    replies = [dp.mean(with_clump(0.003, 1e6, seed), epsilon=1.7, rng=seeded(seed)) for seed in range(40)]
    assert sum(isinstance(reply, dp.NoReply) for reply in replies) >= 27
