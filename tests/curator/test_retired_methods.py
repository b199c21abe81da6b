"""Retired methods: asking for one is an error that names its successor, and their archived answers are read as before.

`retired_methods.jsonl` is a ledger that the last release with these methods wrote, on the table of the golden ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.curator.archived import results_of, statistic_behind
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.retired import RETIRED
from dpstats.models import LinearRegression
from tests.golden.ledger import restored

FROZEN = Path(__file__).with_name("retired_methods.jsonl")
X = np.arange(200.0)
VALUES = {
    "iqr_bin-centre/1": 309.462664486447,
    "iqr_one-test/1": 358.458538905839,
    "median_bin-centre/1": 492.534483903087,
    "median_ladder/1": 501.674609702182,
}
"""Values in the frozen ledger that are plain numbers."""
DOORS: dict[str, Callable[[Session, dict[str, Any]], Any]] = {
    "function": lambda survey, words: dp.median(X, **words),
    "session": lambda survey, words: survey.median("x", **words),
    "groups": lambda survey, words: survey.group_by("g", keys=["a", "b"]).median("x", **words),
    "document made": lambda survey, words: survey.document("median", "x", **words),
    "document": lambda survey, words: survey.ask({"version": 1, "statistic": "median", "columns": ["x"], **words}),
    "plan": lambda survey, words: survey.plan("median", "x", **words),
    "plan without a table": lambda survey, words: dp.plan("median", n=100, **words),
    "publication": lambda survey, words: dp.publish(
        {"title": "One", "question": [{"statistic": "median", "columns": ["x"], **words}]}, out="none", session=survey
    ),
}


@pytest.fixture
def survey() -> Session:
    table = {"x": X, "y": 2 * X, "g": np.where(X < 100, "a", "b")}
    return dp.protect(table, unit="row", budget=dp.Budget(10, 1e-3), ledger=":memory:", name="survey")


@pytest.mark.parametrize(("name", "method"), RETIRED)
def test_a_successor_is_a_method_of_the_statistic_and_a_retired_name_is_none(name: str, method: str) -> None:
    methods = find_statistic(name).methods
    assert method not in methods
    assert RETIRED[name, method].successor in methods
    assert statistic_behind(f"{name}_{method}/1") is find_statistic(name)
    with pytest.raises(dp.UnknownNameError, match=f"any more: ask with method='{RETIRED[name, method].successor}'"):
        find_statistic(name).method_for(method)


@pytest.mark.parametrize("door", DOORS)
def test_asking_for_a_retired_method_is_an_error_that_names_its_successor(door: str, survey: Session) -> None:
    words = {"epsilon": 1, "delta": 1e-6, "method": "ladder"}
    with pytest.raises(dp.UnknownNameError, match="median has no method 'ladder' any more: ask with method='universal', without"):
        DOORS[door](survey, words)
    assert survey.ledger.spent.epsilon == 0


def test_formulas_and_models_name_the_successor_of_their_regression(survey: Session) -> None:
    words = "linear_regression has no method 'theil_sen' any more: ask with method='short_cut'"
    with pytest.raises(dp.UnknownNameError, match=words):
        survey.regression("y ~ x", epsilon=1, method="theil_sen")
    with pytest.raises(dp.UnknownNameError, match=words):
        survey.ask({"version": 1, "statistic": "regression", "formula": "y ~ x", "epsilon": 1, "method": "theil_sen"})
    with pytest.raises(dp.UnknownNameError, match=words):
        LinearRegression(epsilon=1, method="theil_sen").fit(X[:, None], X)
    assert survey.ledger.spent.epsilon == 0


def test_the_command_line_names_the_successor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["x", *map(str, X)]), encoding="utf-8")
    for words in (["ask", str(path), "iqr(x, method='one-test')"], ["plan", "iqr(x, method='one-test')", "--rows", "100"]):
        assert main([*words, "--epsilon", "1", "--delta", "1e-6"]) == exits.BAD_INPUT
        assert "iqr has no method 'one-test' any more: ask with method='universal', without delta." in capsys.readouterr().err


def test_archived_answers_of_retired_methods_verify_are_shown_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restored(tmp_path, FROZEN)
    with open_ledger(tmp_path / "survey.ledger") as book:
        assert book.verify().complaints == ()
        [statement] = book.statements()
    found = {}
    for line in statement.lines:
        method = str(line.details["method"])
        assert line.document is not None
        [found[method]] = results_of(line.details, line.document)
    retired = {f"{name}_{method}/{RETIRED[name, method].version}" for name, method in RETIRED}
    assert found.keys() == {method for method in retired if not method.startswith("interquantile_range_")}  # asked of quartiles
    assert {method: found[method].value for method in VALUES} == pytest.approx(VALUES)
    assert found["linear_regression_theil_sen/3"].value.coef == pytest.approx([15.8764], abs=1e-4)
    assert found["linear_regression_robust_centre/1"].value.predict([[1.0]]) == pytest.approx([15.8822 - 36.7102], abs=1e-3)
    assert found["mle_sufficient_statistics/3"].value.mean == pytest.approx(542.355, abs=1e-3)
    assert isinstance(found["quantile_ladder/1"], dp.NoReply)
    assert main(["ledger", "show", str(tmp_path / "survey.ledger")]) == exits.ANSWERED
    assert "median(income, method=ladder)" in capsys.readouterr().out


def test_a_ledger_with_retired_methods_goes_on(tmp_path: Path) -> None:
    survey = restored(tmp_path, FROZEN)
    with pytest.raises(dp.UnknownNameError, match="ask with method='universal'"):
        survey.median("income", epsilon=6, delta=1e-6, method="ladder")
    debits = sum(entry.kind == DEBIT for entry in survey.ledger.entries())
    survey.median("income", epsilon=6)
    assert sum(entry.kind == DEBIT for entry in survey.ledger.entries()) == debits + 1
    with open_ledger(tmp_path / "survey.ledger") as book:
        assert book.verify().complaints == ()
