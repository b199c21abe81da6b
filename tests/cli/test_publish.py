"""`dpstats publish`: a plan's price, its folder, and whether that is sound."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.data import survey

PLAN = """
title = "Incomes"
[table]
file = "people.parquet"
unit = "person"
max_rows_per_unit = 1
[budget]
epsilon = 2
ledger = "people.ledger"
[[question]]
title = "What a person earns"
statistic = "median"
columns = ["income"]
epsilon = 0.5
[[question]]
statistic = "count"
epsilon = 0.25
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "office").mkdir()
    pd.DataFrame(survey()).to_parquet(tmp_path / "office" / "people.parquet")
    path = tmp_path / "office" / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_a_plan_is_published_once_and_repeated_at_no_cost(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", str(plan), "--out", "report"]) == exits.ANSWERED
    printed = capsys.readouterr().out
    assert "Spent: epsilon = 0.75, in one entry of the ledger." in printed
    assert "4 files were written to report" in printed
    assert main(["publish", str(plan), "--out", "again"]) == exits.ANSWERED
    assert "nothing was spent" in capsys.readouterr().out
    for name in ("report.html", "answers.json", "answers.csv", "manifest.json"):
        assert Path("report", name).read_bytes() == Path("again", name).read_bytes()
    assert main(["publish", "--verify", "again", "--ledger", "office/people.ledger"]) == exits.ANSWERED
    assert capsys.readouterr().out == "sound: 3 files are as they were published; the ledger has its entry\n"


def test_a_price_is_told_and_nothing_written(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(plan.parent.iterdir())
    assert main(["publish", str(plan), "--price"]) == exits.ANSWERED
    printed = capsys.readouterr().out
    assert "What a person earns: median(income)" in printed
    assert "All of it costs epsilon = 0.75, in one debit; the budget is epsilon = 2. Nothing was spent." in printed
    assert sorted(plan.parent.iterdir()) == before
    plan.write_text(PLAN.replace("epsilon = 0.25", "epsilon = 1.75"), encoding="utf-8")
    assert main(["publish", str(plan), "--price"]) == exits.BAD_INPUT
    assert "does not fit the budget" in capsys.readouterr().out


def test_a_changed_file_is_found(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["publish", str(plan), "--out", "report"])
    capsys.readouterr()
    with Path("report", "answers.csv").open("a", encoding="utf-8") as file:
        file.write("one line more\n")
    assert main(["publish", "--verify", "report"]) == 1
    assert capsys.readouterr().out == "'answers.csv' was changed after it was published\nNOT SOUND\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "publish needs a plan"),
        (["office/plan.toml"], "publish needs --out FOLDER"),
        (["nowhere.toml", "--out", "report"], "cannot read the plan 'nowhere.toml'"),
        (["office/plan.toml", "--out", "office"], "there is something at 'office' already"),
        (["office/plan.toml", "--out", "report", "--ledger", "x"], "--ledger is for --verify"),
        (["office/plan.toml", "--verify", "report"], "--verify takes a folder"),
        (["--verify", "office"], "is no publication"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: list[str], says: str, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", *arguments]) == exits.BAD_INPUT
    assert says in capsys.readouterr().err
    assert not Path("report").exists()


def test_a_wrong_question_spends_nothing(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan.write_text(PLAN.replace('"income"', '"incme"'), encoding="utf-8")
    assert main(["publish", str(plan), "--out", "report"]) == exits.BAD_INPUT
    assert "question 1: columns: there is no column incme" in capsys.readouterr().err
    people = dp.protect(
        plan.parent / "people.parquet",
        unit="person",
        max_rows_per_unit=1,
        budget=dp.Budget(2),
        ledger=plan.parent / "people.ledger",
    )
    assert people.ledger.spent.epsilon == 0


def test_a_plan_names_how_many_rows_of_each_person_are_used_or_has_it_found(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = plan.read_text()
    plan.write_text(named.replace("max_rows_per_unit = 1\n", ""))
    assert main(["publish", str(plan), "--price"]) == exits.BAD_INPUT
    assert "max_rows_per_unit must say how many rows of each person are used" in capsys.readouterr().err
    plan.write_text(named.replace("max_rows_per_unit = 1", 'max_rows_per_unit = "auto"\nrows_per_unit_epsilon = 0.05'))
    assert main(["publish", str(plan), "--price"]) == exits.ANSWERED
    assert "finding how many rows of each person are used costs epsilon = 0.05, once" in capsys.readouterr().out
    assert main(["publish", str(plan), "--out", str(plan.parent / "report")]) in (exits.ANSWERED, exits.NO_REPLY)
    assert "median(income) (at most 1 row of each person) = " in capsys.readouterr().out
    assert "at most 1 row of each person" in (plan.parent / "report" / "report.html").read_text()
    assert main(["publish", str(plan), "--price"]) == exits.ANSWERED
    assert "finding" not in capsys.readouterr().out
    assert main(["ledger", "show", str(plan.parent / "people.ledger")]) == exits.ANSWERED
    assert "at most 1 row of each person, found privately" in capsys.readouterr().out
