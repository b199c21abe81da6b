"""Plans of questions about columns without an outcome, and of those whose statistic simulates rows of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.planning import yardsticks
from dpstats.curator.planning.feature_tables import drawn_columns
from dpstats.curator.planning.shapes import SHAPES
from dpstats.foundations import registry
from dpstats.foundations.registry import Answer, Reads, Statistic
from dpstats.statistics.likelihood.public_rows import plain_parameters
from tests.cli.conftest import Run
from tests.cli.conftest import run as _run
from tests.columns import column_statistics as _column_statistics
from tests.columns import simulated

pytestmark = pytest.mark.usefixtures("column_statistics")
column_statistics = _column_statistics
run = _run


def seeded_plan(*asked: Any, **keywords: Any) -> Any:
    return dp.plan(*asked, rng=dp.testing.seeded(3), **keywords)


def test_a_statistic_may_be_planned_on_rows_of_its_own() -> None:
    plan = seeded_plan("drawn", "normal", n=[0, 400], epsilon=1, features=2)
    assert plan.question == "drawn(normal, [x1, x2])"
    assert plan.shapes == (("simulated", "normal rows around 3"),)
    row = plan.rows[1]
    assert (row.n, row.shape, row.shape_value, row.repeats) == (400, "simulated", (3.0, 3.0), 12)
    assert row.half_width == 0.5
    assert row.relative_half_width == pytest.approx(0.5 / 3)
    assert row.coverage == row.reply_probability == 1
    assert 0 < row.error_median < 5 / np.sqrt(400)
    assert seeded_plan("drawn", "normal", n=5, epsilon=1).question == "drawn(normal)"


def test_it_takes_no_shape() -> None:
    with pytest.raises(dp.InvalidParameterError, match="drawn is planned on rows that it simulates: leave shape out"):
        seeded_plan("drawn", "normal", n=5, epsilon=1, shape="normal")


def test_a_column_of_its_own_rows_is_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    statistic = Statistic("counted", "Only for tests.", reads=(Reads.NUMBERS,), simulate=simulated)
    registry.method(statistic, "plain", claim="none")(lambda column, question, rng: Answer(float(column.count())))
    monkeypatch.setitem(registry._STATISTICS, "counted", statistic)
    assert seeded_plan("counted", n=7, epsilon=1).rows[0].error_median == 7 - 3


def test_several_such_questions_of_one_plan_are_told_apart() -> None:
    joint = seeded_plan([("drawn", "normal"), ("drawn", "gamma"), "count"], n=50, epsilon=1, repeats=2)
    assert [[row.shape for row in plan.rows][:1] for plan in joint] == [["simulated"], ["simulated 2"], ["normal"]]
    assert ["simulated", "2", "normal", "rows", "around", "3"] in [line.split() for line in str(joint).splitlines()]


def test_without_rows_of_its_own_columns_have_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardsticks, "FULL_ROWS", 999)
    plan = seeded_plan("listed", features=2, n=20, epsilon=1, shape="normal", repeats=2)
    assert plan.question == "listed([x1, x2])"
    assert plan.rows[0].reply_probability == 1
    columns = drawn_columns(SHAPES["normal"], 2, 20_000, np.random.default_rng(1)).matrix()
    assert np.asarray(np.corrcoef(columns.T))[0, 1] == pytest.approx(0.5, abs=0.03)
    assert columns.mean(axis=0) == pytest.approx(np.pi, abs=0.03)


def test_sessions_plan_them_too(tmp_path: Path) -> None:
    survey = dp.protect({"income": np.arange(9.0)}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")
    plan = survey.plan("drawn", "gamma", "income", epsilon=0.2, n=30, repeats=2)
    assert plan.question == "drawn(gamma, income)"
    assert survey.ledger.spent.epsilon == 0
    with pytest.raises(dp.InvalidParameterError, match="a session runs no code"):
        survey.plan("drawn", np.mean, "income", epsilon=0.2)


def test_the_command_line_plans_them_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardsticks, "FULL_ROWS", 999)
    common = ("--epsilon", "1", "--n", "30", "--repeats", "2", "--seed", "1")
    assert run("plan", "drawn(gamma, income)", *common).out.startswith("drawn(gamma, income) by plain, epsilon = 1")
    assert run("plan", "drawn(gamma, X)", *common, "--features", "2").out.startswith("drawn(gamma, [x1, x2]) by plain")
    assert run("plan", "listed(X)", *common, "--features", "2", "--shape", "normal").out.startswith("listed([x1, x2]) by")
    assert "leave --features out" in run("plan", "drawn(gamma, a, b)", *common, "--features", "2").err
    assert "leave shape out" in run("plan", "drawn(gamma, a)", *common, "--shape", "normal").err


def test_plain_parameters_lie_inside_their_ranges() -> None:
    whole, positive, negative, share = (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 1.0), (0.0, 1.0)
    assert plain_parameters((whole, positive, negative), 1).tolist() == [0, 2, -1]
    assert plain_parameters((share, share, whole, whole, whole), 1).tolist() == pytest.approx([1 / 3, 1 / 3, 0, 10, 20])
    assert plain_parameters((whole, whole, positive, whole, positive), 2).tolist() == [0, 0, 2, 0, 2]
