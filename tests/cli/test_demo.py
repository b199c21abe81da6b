from __future__ import annotations

from fractions import Fraction

import pytest

from dpstats.cli import exits
from dpstats.cli.demo import BUDGET, QUESTIONS
from tests.cli.conftest import Run


def test_the_demo_runs_and_tells_the_truth_about_itself(run: Run) -> None:
    outcome = run("demo")
    assert outcome.code == exits.ANSWERED
    assert "nobody in it exists" in outcome.out
    assert "The budget: epsilon = 3" in outcome.out
    assert "not asked" in outcome.out
    assert "more than the 0.3 that is left" in outcome.out
    assert "only because these persons are invented" in outcome.out
    assert "median(income)\n  value" in outcome.out
    assert "NOT PRIVATE" not in outcome.out
    assert "\x1b" not in outcome.out


def test_the_demo_stays_within_its_budget_and_shows_one_refusal() -> None:
    prices = [Fraction(question.epsilon) for question in QUESTIONS]
    assert sum(prices) > BUDGET.epsilon
    assert sum(prices[:-1]) <= BUDGET.epsilon


def test_a_seeded_demo_repeats_itself_and_says_so(run: Run) -> None:
    first = run("demo", "--seed", "5")
    assert first.out == run("demo", "--seed", "5").out
    assert first.out.startswith("*** NOT PRIVATE")


def test_a_terminal_gets_bold_headings_unless_it_asks_not_to(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpstats.cli.demo._is_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in run("demo").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("demo").out
