"""Every statistic answers the same whatever the caller has set for floats, decimals and warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.registry import statistic_names
from tests.foundations.test_own_state import everything_raises
from tests.seeded_releases import POSITIVE, SIDES, A, B, cases, plain


def in_both_states(ask: Callable[[], Any]) -> tuple[Any, Any]:
    """An answer as it usually is, and where every inexact float, rounded decimal and warning raises."""
    usual = plain(ask())
    with everything_raises():
        return usual, plain(ask())


@pytest.mark.parametrize("name", statistic_names())
def test_a_statistic_gives_the_same_release(name: str) -> None:
    usual, strict = in_both_states(next(release for case, release in cases() if case.split("/")[0] == name))
    assert strict == usual


def grouped() -> Any:
    table = dp.protect(
        {"pay": POSITIVE, "side": SIDES}, unit="row", budget=dp.Budget(epsilon=3), ledger=":memory:", allow_seeded=True
    )
    return table.group_by("side", keys=["x", "y"]).mean("pay", epsilon=2, rng=dp.testing.seeded(3))


def estimator() -> Any:
    rows = [[float(a), float(b)] for a, b in zip(A, B, strict=True)]
    return dp.models.LogisticRegression(classes=["x", "y"], epsilon=5, rng=dp.testing.seeded(3)).fit(rows, SIDES.tolist()).coef_


def graph() -> Any:
    return dp.graphs.triangles(np.arange(600).reshape(-1, 2) % 25, nodes=25, protect="edge", epsilon=2, rng=dp.testing.seeded(3))


def public_function() -> Any:
    return dp.sample_and_aggregate(_tail, POSITIVE, blocks=40, epsilon=4, workers=0, rng=dp.testing.seeded(3))


def _tail(rows: Any) -> float:
    return float(np.exp(-rows * 1e4).sum() + rows.mean())  # underflows


def test_a_plan_is_the_same() -> None:
    def ask() -> str:
        return str(dp.plan("mean", epsilon=1, n=500, repeats=5, rng=dp.testing.seeded(3)))

    usual = ask()
    with everything_raises():
        assert ask() == usual


@pytest.mark.parametrize("ask", [grouped, estimator, graph, public_function])
def test_groups_estimators_graphs_and_functions_of_blocks_give_the_same_release(ask: Callable[[], Any]) -> None:
    usual, strict = in_both_states(ask)
    assert strict == usual
