from __future__ import annotations

import shlex
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpstats.cli import exits
from dpstats.cli.demo import BUDGET, QUESTIONS, least_squares
from tests.cli.conftest import Run


def test_the_demo_runs_and_tells_the_truth_about_itself(run: Run) -> None:
    outcome = run("demo")
    assert outcome.code == exits.ANSWERED
    assert "nobody in it exists" in outcome.out
    assert "The budget: epsilon = 4" in outcome.out
    assert "not asked" in outcome.out
    assert "more than the 0.3 that is left" in outcome.out
    assert "only because these persons are invented" in outcome.out
    assert "nobody who gets only" in outcome.out
    assert "0.1 is cautious, 1 common, 10 hides little" in outcome.out
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


def test_what_the_demo_says_to_do_next_works(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/dpstats")
    lines = run("demo").out.splitlines()
    (command,) = (shlex.split(line) for line in lines if "survey.csv" in line)
    assert command[:3] == ["dpstats", "ask", "src/dpstats/data/survey.csv"]
    assert run(*command[1:]).code == exits.ANSWERED


def test_a_program_that_the_shell_does_not_find_is_named_by_its_path(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.chdir(Path(sys.prefix).parent)
    assert f"  {Path(sys.prefix).name}/bin/dpstats ask" in run("demo").out


def test_pairs_stand_in_brackets_and_the_true_column_is_aligned_to_the_right(run: Run) -> None:
    lines = run("demo").out.splitlines()
    rows = [line for line in lines if line.startswith(("  question ", "  count(", "  median(", "  quantile(income, ["))]
    assert len({len(row) for row in rows}) == 1
    assert next(row for row in rows if "[0.1, 0.9]" in row).count("[") == 3


def test_a_regression_comes_after_the_median_with_its_table_and_the_truth(run: Run) -> None:
    lines = run("demo", "--seed", "3").out.splitlines()
    (place,) = (place for place, line in enumerate(lines) if line.startswith("  linear_regression([age, schooling], hours)"))
    assert lines[place - 1].startswith("  median(income)")
    assert lines[place].split()[-2:] == ["1", "2.4"]
    header = next(line for line in lines if line.startswith("  question"))
    assert lines[place].index(" 1 ") + 2 == header.index("epsilon") + len("epsilon")
    table = lines[place + 1 : place + 14]
    assert "Private linear regression" in table[0]
    assert {"Intercept", "age", "schooling"} <= {line.split()[0] for line in table}
    assert any("true, by least squares (*): [25.8577; -0.266997; 0.707735]" in line for line in lines[place:])


def test_least_squares_are_those_of_a_known_plane() -> None:
    raw_rows = np.random.default_rng(1).normal(size=(50, 3))
    raw_rows[:, 2] = 3 + 2 * raw_rows[:, 0] - raw_rows[:, 1]
    assert least_squares(raw_rows) == pytest.approx([3, 2, -1])


def test_an_exact_hit_is_explained(run: Run) -> None:
    outputs = [run("demo", "--seed", seed).out for seed in range(3)]
    hits = [out for out in outputs if "(ties make an exact hit likely)" in out]
    assert hits
    for out in outputs:
        (row,) = (line.split() for line in out.splitlines() if line.startswith("  median(age)"))
        assert (row[1] == row[-1]) == (out in hits)
