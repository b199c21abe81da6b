"""Tested methods on the command line: their keyword, their delta, and their refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpstats.cli import exits
from tests.cli.conftest import Run

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


@pytest.fixture
def wages(tmp_path: Path) -> Path:
    """Ten thousand rows with a wide column, a column of few values, and a column with few rows in it."""
    rows = [f"{(index * 7919) % 10_000 / 10},{index % 8 // 7},{index if index < 3 else ''}" for index in range(10_000)]
    path = tmp_path / "wages.csv"
    path.write_text("\n".join(["wage,flag,rare", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "question",
    [
        "iqr(wage, method='ptr')",
        "iqr(wage, method=ptr)",
        "interquantile_range(wage, [0.1, 0.9], method='ptr')",
        "interquantile_range(wage, q=[1/10, 9/10], method='dwork-roth')",
        "median(flag, method=stable)",
        "quantile(wage, 0.9, method='ptr')",
        "quantile(flag, [0.1, 0.5], method=stable)",
        "trimmed_mean(wage, method='dwork-lei')",
        "trimmed_mean(wage, 0.25, method=ptr)",
        "mode(flag)",
        "mode(flag, method=stable)",
    ],
)
def test_a_tested_question_is_answered_for_epsilon_and_delta(run: Run, wages: Path, question: str) -> None:
    outcome = run("ask", wages, question, *BUDGET, "--seed", "5")
    assert outcome.code == exits.ANSWERED
    assert "Spent by this call: epsilon = 2, delta = 0.000001." in outcome.out


def test_exact_answers_are_exact(run: Run, wages: Path) -> None:
    result = json.loads(run("ask", wages, "mode(flag)", "iqr(flag, method=ptr)", *BUDGET, "--json").out)
    assert [answer["value"] for answer in result["answers"]] == [0, 0.0]


def test_delta_is_shared_by_the_questions_that_need_it(run: Run, wages: Path) -> None:
    questions = ("median(wage)", "mode(flag)", "trimmed_mean(wage, method=ptr)")
    result = json.loads(run("ask", wages, *questions, *BUDGET, "--json", "--seed", "1").out)
    assert [answer["cost"]["delta_exact"] for answer in result["answers"]] == ["0", "1/2000000", "1/2000000"]
    assert result["total"]["delta"] == pytest.approx(1e-6)


def test_a_refusal_is_exit_code_3_and_costs_the_same(run: Run, wages: Path) -> None:
    outcome = run("ask", wages, "median(rare, method=ptr)", "--epsilon", "1", "--delta", "1e-6")
    assert outcome.code == exits.NO_REPLY
    assert "median(rare, method=ptr): no reply" in outcome.out
    assert "The private test did not show" in outcome.out
    assert "Spent by this call: epsilon = 1, delta = 0.000001." in outcome.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["iqr(wage, method=ptr)", "--epsilon", "1"], "needs delta: add for example --delta 1e-6"),
        (["mode(flag)", "--epsilon", "1"], "mode(flag) needs delta"),
        (["trimmed_mean(wage, method=ptr)", "--epsilon", "1"], "needs delta"),
        (["median(wage, method=universal, delta=1e-6)", "--epsilon", "1"], "spends no delta"),
        (["median(wage, method=ptr)", "--epsilon", "1", "--delta", "0.7"], "delta must be"),
        (["trimmed_mean(wage, 0.5)", "--epsilon", "1"], "trim must be at least 0 and below 0.5"),
        (["interquantile_range(wage, [0.9, 0.1])", "--epsilon", "1"], "the lower one first"),
        (["iqr(wage, method=magic)", "--epsilon", "1", "--delta", "1e-6"], "iqr has no method 'magic'; it has 'auto'"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(run: Run, wages: Path, arguments: list[str], says: str) -> None:
    outcome = run("ask", wages, *arguments)
    assert outcome.code == exits.BAD_INPUT
    assert says in outcome.err


def test_the_card_says_why_a_method_was_taken(run: Run, wages: Path) -> None:
    taken = run("ask", wages, "iqr(wage)", "trimmed_mean(wage)", "--epsilon", "2", "--card", "--seed", "2").out
    assert taken.count("chosen because") == 2
    named = run("ask", wages, "iqr(wage, method=ptr)", *BUDGET, "--card", "--seed", "2").out
    assert "chosen because" not in named
