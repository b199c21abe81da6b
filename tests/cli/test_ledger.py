from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.accounting.budgets import Budget
from dpstats.cli import exits
from dpstats.cli.ledger import UNSOUND
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.curator.protection import Protection
from dpstats.foundations.privacy import PrivacyCost
from tests.cli.conftest import Run

COST = PrivacyCost("0.2", unit="person")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "survey.ledger"
    with open_ledger(path) as opened:
        survey = opened.account(
            "survey", Terms(Budget(3, 1e-6), unit="person", max_rows_per_unit=3, facts={"table": "survey.csv"})
        )
        receipt = survey.debit("a", "median(income)", COST, {"method": "median_universal/1"})
        survey.record(receipt, {"value": 51234.5})
        survey.debit("b", "median(income) where " + "x" * 100, COST)
        visits = opened.account("visits", Terms(Budget(1, 1e-6, "zcdp"), unit="person"))
        visits.debit("c", "count()\nforged line", PrivacyCost("0.01", unit="person"))
        opened.account("empty", Terms(Budget(1)))
    return path


def tampered(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER dpstats_ledger_no_UPDATE")
        connection.execute("UPDATE dpstats_ledger SET body = replace(body, '\"1/5\"', '\"1/9\"') WHERE sequence = 2")
    connection.close()
    return path


def test_a_sound_ledger_is_exit_code_0_and_its_head_is_printed(run: Run, ledger: Path) -> None:
    with open_ledger(ledger) as opened:
        head = opened.head
    outcome = run("ledger", "verify", ledger)
    assert outcome.code == exits.ANSWERED
    assert outcome.out == f"{ledger}: 7 entries, sound\nhead {head}\n"
    assert run("ledger", "verify", ledger, "--head", str(head).upper()).code == exits.ANSWERED


def test_a_changed_ledger_is_exit_code_1_with_every_complaint(run: Run, ledger: Path) -> None:
    outcome = run("ledger", "verify", tampered(ledger))
    assert outcome.code == UNSOUND
    lines = outcome.out.splitlines()
    assert "entry 2: does not match its hash: it was changed after it was written" in lines
    assert lines[-2] == f"{ledger}: 7 entries, NOT SOUND, {len(lines) - 2} complaints"


def test_a_head_that_is_gone_is_exit_code_1(run: Run, ledger: Path) -> None:
    outcome = run("ledger", "verify", ledger, "--head", "f" * 64)
    assert outcome.code == UNSOUND
    assert "entries were removed" in outcome.out
    assert "NOT SOUND, 1 complaint\n" in outcome.out


def test_show_prints_terms_amounts_and_questions(run: Run, ledger: Path) -> None:
    outcome = run("ledger", "show", ledger)
    assert outcome.code == exits.ANSWERED
    assert outcome.out.startswith("survey\n")
    for text in (
        "protects   one person added or removed; the number of rows is private; at most 3 rows of each person",
        "table      survey.csv",
        "budget     epsilon = 3, delta = 0.000001\n",
        "spent      epsilon = 0.4\n",
        "remaining  epsilon = 2.6, delta = 0.000001\n",
        "median(income)                                                epsilon = 0.2  epsilon = 0.2  archived",
        "xxx...  epsilon = 0.2  epsilon = 0.4  none",
        "spent      rho = 0.00005, that is epsilon = ~",
        "'count()\\nforged line'",
        "no questions yet",
    ):
        assert text in outcome.out
    assert outcome.out.splitlines()[-1] == run("ledger", "verify", ledger).out.splitlines()[-1]


def test_show_says_how_many_rows_are_used_where_the_number_was_found(run: Run, tmp_path: Path) -> None:
    path, person = tmp_path / "a.ledger", [each // 3 for each in range(3_000)]
    words: dict[str, Any] = {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": 0.5}
    with open_ledger(path) as opened:
        dp.protect({"person": person}, name="visits", unit="person", budget=Budget(3), population="all", ledger=opened, **words)
        opened.grant("visits", group="course", budget=Budget(2), actor="olga", why="a test")
        opened.grant("visits", analyst="ana", group="course", budget=Budget(1), actor="olga", why="a test")
        protection = Protection("person", 64)
        opened.account("waiting", protection.terms(Budget(1), {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": "1/2"}))
    out = run("ledger", "show", path).out
    said = {each.splitlines()[0]: each for each in out.split("\n\n") if "protects" in each}
    for name in ("visits", "visits, group course", "visits, analyst ana"):
        assert "at most 4 rows of each person, found privately" in said[name], name
        assert "at most 64" not in said[name]
    assert "rows of each" not in said["population all"]
    assert "at most 64 rows of each person, how many is still to be found privately" in said["waiting"]
    assert "at most 4 rows" in run("ledger", "show", path, "--dataset", "visits, analyst ana").out
    plain = {each["dataset"]: each["rows_per_unit"] for each in json.loads(run("ledger", "show", path, "--json").out)["datasets"]}
    assert plain["visits"] == plain["visits, group course"] == plain["visits, analyst ana"] == 4
    assert plain["population all"] is plain["waiting"] is None


def test_show_takes_one_data_set(run: Run, ledger: Path) -> None:
    out = run("ledger", "show", ledger, "--dataset", "visits").out
    assert out.startswith("visits\n")
    assert "survey" not in out
    complaint = run("ledger", "show", ledger, "--dataset", "surveys")
    assert complaint.code == exits.BAD_INPUT
    assert "no data set 'surveys'; it has survey, visits, empty." in complaint.err


def test_show_gives_json_with_exact_amounts_and_archived_answers(run: Run, ledger: Path) -> None:
    result = json.loads(run("ledger", "show", ledger, "--json").out)
    assert set(result) == {"ledger", "head", "datasets"}
    survey, visits, empty = result["datasets"]
    assert survey["terms"]["budget"] == {"epsilon": "3", "delta": "1/1000000"}
    assert survey["total"] == {"epsilon": "2/5", "delta": "0"}
    assert survey["remaining"] == {"epsilon": "13/5", "delta": "1/1000000"}
    assert [question["answer"] for question in survey["questions"]] == [{"value": 51234.5}, None]
    assert survey["questions"][0]["details"] == {"method": "median_universal/1"}
    assert visits["total"]["rho"] == "1/20000"
    assert empty["questions"] == []


def test_showing_a_changed_ledger_points_to_verify(run: Run, ledger: Path) -> None:
    outcome = run("ledger", "show", tampered(ledger))
    assert outcome.code == exits.BAD_INPUT
    assert "entry 2 of the ledger does not match its hash" in outcome.err
    assert "dpstats ledger verify" in outcome.err


@pytest.mark.parametrize("action", ["verify", "show"])
def test_reading_changes_nothing(run: Run, ledger: Path, action: str) -> None:
    before = ledger.read_bytes()
    run("ledger", action, ledger)
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "ACTION"),
        (["mend", "x.ledger"], "invalid choice"),
        (["verify"], "LEDGER"),
        (["verify", "gone.ledger"], "there is no ledger gone.ledger"),
        (["show", "mysql://host/database"], "postgresql://"),
        (
            ["show", "postgresql://me:Xanthippe@localhost:1/database?connect_timeout=2"],
            "nobody answers at postgresql://localhost:1/database",
        ),
        (["verify", ":memory:"], "memory"),
    ],
)
def test_bad_input_is_one_clear_sentence_and_exit_code_2(run: Run, arguments: list[str], says: str) -> None:
    outcome = run("ledger", *arguments)
    assert outcome.code == exits.BAD_INPUT
    assert outcome.err.startswith("dpstats: ")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err


@pytest.mark.parametrize("action", ["verify", "show"])
def test_a_ledger_in_postgres_reads_the_same(run: Run, postgres_schema_url: str, action: str) -> None:
    with open_ledger(postgres_schema_url) as opened:
        opened.account("survey", Terms(Budget(3), unit="person")).debit("a", "median(income)", COST)
        head = opened.head
    outcome = run("ledger", action, postgres_schema_url)
    assert outcome.code == exits.ANSWERED
    assert outcome.out.endswith(f"head {head}\n")
