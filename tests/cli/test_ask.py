from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from dpstats.cli import exits
from tests.cli.conftest import Run


def test_a_csv_file_is_answered(run: Run, people: Path) -> None:
    outcome = run("ask", people, "median(age)", 'count("net income")', "--epsilon", "2", "--unit", "person")
    assert outcome.code == exits.ANSWERED
    assert "median(age) = " in outcome.out
    assert "count(net income) = " in outcome.out
    assert "Spent by this call: epsilon = 2." in outcome.out
    assert "one person added or removed" in outcome.out
    assert "spends more" in outcome.out
    assert outcome.err == ""


def test_a_parquet_file_gives_the_same_answers_as_the_csv_file(run: Run, people: Path) -> None:
    parquet = people.with_suffix(".parquet")
    table = pl.read_csv(people, infer_schema=False)
    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in ("person", "age", "net income")]
    table.with_columns(numbers).write_parquet(parquet)
    questions = ("median(age)", "quantile('net income', [0.1, 0.9])", "count(region)", "--epsilon", "2", "--seed", "7")
    assert run("ask", parquet, *questions).out == run("ask", people, *questions).out


def test_json_is_one_object_with_answers_and_total(run: Run, people: Path) -> None:
    outcome = run("ask", people, "median(age)", "quantile(age, [0.25, 0.75], epsilon=0.5)", "--epsilon", "2", "--json")
    result = json.loads(outcome.out)
    assert set(result) == {"file", "answers", "total", "private"}
    assert result["private"] is True
    assert result["total"]["epsilon"] == 2
    assert result["total"]["neighbors"] == "add_remove"
    assert [answer["question"] for answer in result["answers"]] == ["median(age)", "quantile(age, [0.25, 0.75])"]
    assert [answer["cost"]["epsilon_exact"] for answer in result["answers"]] == ["3/2", "1/2"]
    assert isinstance(result["answers"][0]["value"], float | int)


@pytest.mark.usefixtures("odd_statistics")
def test_json_has_no_infinities(run: Run, people: Path) -> None:
    result = json.loads(run("ask", people, "endless(age)", "--epsilon", "1", "--json").out, parse_constant=pytest.fail)
    assert result["answers"][0]["value"] == ["inf", 1.0]


def test_the_same_seed_gives_the_same_answers_and_says_so_loudly(run: Run, people: Path) -> None:
    arguments = ("ask", people, "median(age)", "--epsilon", "0.2", "--seed")
    first, again = run(*arguments, 7), run(*arguments, 7)
    assert first.out == again.out
    assert first.out.startswith("*** NOT PRIVATE")
    assert "NOT PRIVATE" in first.err
    assert len({run(*arguments, seed).out for seed in range(8)}) > 1


def test_every_answer_says_from_how_many_rows_on_it_is_reliable(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "header.csv"
    file.write_text("age,wage\n")
    lines = run("ask", file, "median(age)", "quantile(wage, 0.9)", "--epsilon", "2").out.splitlines()
    notes = [line for line in lines if line.startswith("  note      reliable from about ")]
    assert len(notes) == 2
    assert all(line.endswith(" rows at this epsilon") for line in notes)


def test_shares_print_as_ratios(run: Run, people: Path) -> None:
    assert run("ask", people, *["median(age)"] * 3, "--epsilon", "1").out.count("cost      epsilon = 1/3\n") == 3


def test_the_card_of_very_many_values_shows_them_all_to_whoever_paid(run: Run, people: Path) -> None:
    wanted = [index / 100 for index in range(1, 100)]
    for more in ([], ["--card"]):
        assert "values in all" not in run("ask", people, f"quantile(age, {wanted})", "--epsilon", "1", *more).out


def test_a_card_says_how_it_was_made(run: Run, people: Path) -> None:
    out = run("ask", people, "median(age)", "--epsilon", "1", "--card", "--neighbors", "change_one").out
    assert "claim" in out
    assert "one row changed; the number of rows is public" in out


@pytest.mark.usefixtures("odd_statistics")
def test_a_refusal_is_exit_code_3_and_is_charged(run: Run, people: Path) -> None:
    outcome = run("ask", people, "refuse(age)", "median(age)", "--epsilon", "1")
    assert outcome.code == exits.NO_REPLY
    assert "refuse(age): no reply" in outcome.out
    assert "Spent by this call: epsilon = 1." in outcome.out
    assert json.loads(run("ask", people, "refuse(age)", "--epsilon", "1", "--json").out)["answers"][0]["reply"] is False


@pytest.mark.usefixtures("odd_statistics")
def test_a_crash_in_the_data_is_a_refusal(run: Run, people: Path) -> None:
    assert run("ask", people, "crash(region)", "--epsilon", "1").code == exits.NO_REPLY


@pytest.mark.usefixtures("odd_statistics")
def test_an_unexpected_error_is_one_sentence_without_its_text(run: Run, people: Path) -> None:
    outcome = run("ask", people, "crash(region)", "--epsilon", "1", "--seed", "1")  # seeded sources let errors through
    assert outcome.code == exits.UNEXPECTED
    assert outcome.err.startswith("dpstats: something unexpected")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["median(age)"], "--epsilon"),
        (["median(age)", "--epsilon"], "expected one argument"),
        (["median(age)", "--epsilon", "0"], "epsilon must be a positive number"),
        (["median(age)", "--epsilon", "-1"], "epsilon must be a positive number"),
        (["median(age)", "--epsilon", "nan"], "epsilon must be"),
        (["median(age)", "--epsilon", "inf"], "epsilon must be"),
        (["median(age)", "--epsilon", "one"], "epsilon must be"),
        (["median(age)", "--epsilon", "1", "--delta", "0.7"], "delta must be"),
        (["median(age)", "--epsilon", "1", "--delta", "1e-6"], "leave --delta out"),
        (["median(age)", "--epsilon", "1", "--neighbors", "friends"], "'add_remove' or 'change_one'"),
        (["median(wage)", "--epsilon", "1"], "the columns are person, region, age, net income. Did you mean age?"),
        (
            ["median(region)", "--epsilon", "1", "--types", "region=text"],
            "median needs numbers, and column region is of type text",
        ),
        (["average(age)", "--epsilon", "1"], "there is no statistic 'average'; did you mean mean?"),
        (["median(age, method=magic)", "--epsilon", "1"], "no method 'magic'"),
        (["quantile(age, 1.5)", "--epsilon", "1"], "1.5"),
        (["quantile(age)", "--epsilon", "1"], "needs q"),
        (["median(age", "--epsilon", "1"], "is not clear"),
        (["--epsilon", "1"], "QUESTION"),
        (["median(age)", "--eps", "1"], "see dpstats ask --help"),
        (["median(age)", "--epsilon", "1", "--delta", "abc"], "delta must be a number such as 1e-6, got 'abc'"),
        (["median(age, 1)"], "median takes nothing after the column; give epsilon by name: epsilon=1."),
        (["quantile(age, 0.5, 0.6)"], "write [0.5, 0.6]"),
        (["median(age, eps=1)", "--epsilon", "1"], "median has no parameter 'eps'; did you mean epsilon?"),
        (["median(age)", "--epsilon", "1", "--unit", ""], "the argument after --unit is empty"),
        (["median(region)", "--epsilon", "1", "--types", "region=text"], "--types region=number"),
        (["median(age)", "--epsilon", "1", "--colour", "red"], "unrecognized"),
        (["median(age)", "--epsilon", "1", "--seed", "soon"], "--seed"),
        (["median(age)", "--epsilon", "1", "--types", "age"], "COLUMN=TYPE"),
        (["median(age)", "--epsilon", "1", "--types", "age=words"], "number, integer, boolean, text, date"),
        (["median(age)", "--epsilon", "1", "--types", "wage=number"], "no column wage"),
        (["median(age)", "--epsilon", "1", "--types", "age=number,age=text"], "twice"),
        (["median(age)", "--epsilon", "1", "--types", "age=text"], "age is of type text"),
    ],
)
def test_bad_input_is_one_clear_sentence_and_exit_code_2(run: Run, people: Path, arguments: list[str], says: str) -> None:
    outcome = run("ask", people, *arguments)
    assert outcome.code == exits.BAD_INPUT
    assert outcome.out == ""
    assert outcome.err.startswith("dpstats: ")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("gone.csv", None, "there is no file"),
        ("empty.csv", b"", "is empty"),
        ("empty.parquet", b"", "is empty"),
        ("broken.parquet", b"PAR1 Xanthippe PAR1", "could not be read as Parquet"),
        ("table.xlsx", b"PK", "must end in .csv"),
        ("twice.csv", b"age,age\n1,2\n", "more than one column named age"),
    ],
)
def test_a_bad_file_is_one_clear_sentence(run: Run, tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    outcome = run("ask", file, "median(age)", "--epsilon", "1")
    assert outcome.code == exits.BAD_INPUT
    assert outcome.err.startswith("dpstats: ")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err


def test_a_directory_is_not_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert "has no Parquet files in it" in run("ask", tmp_path / "folder.csv", "median(age)", "--epsilon", "1").err


def test_questions_are_priced_before_the_file_is_looked_at(run: Run) -> None:
    assert "there is no statistic" in run("ask", "gone.csv", "average(age)", "--epsilon", "1").err


def test_one_bad_question_leaves_all_unanswered(run: Run, people: Path) -> None:
    assert run("ask", people, "median(age)", "median(region)", "--epsilon", "1", "--types", "region=text").out == ""


def test_a_question_about_numbers_reads_each_cell_of_a_csv_file_by_itself(run: Run, tmp_path: Path) -> None:
    answers = []
    for more in ("", "Xanthippe\n" * 500):
        file = tmp_path / "table.csv"
        file.write_text("x\n" + "7.5\n" * 300 + more)
        answers.append(run("ask", file, "median(x)", "--epsilon", "1", "--seed", "1", "--json").out)
    assert answers[0] == answers[1]


def test_types_may_be_inferred_where_the_holder_says_so(run: Run, people: Path) -> None:
    inferred = run("ask", people, "histogram(age)", "--epsilon", "1", "--types", "infer")
    assert "and more" in inferred.out
    refused = run("ask", people, "median(region)", "--epsilon", "1", "--types", "infer")
    assert refused.code == exits.BAD_INPUT


def test_declared_types_are_used(run: Run, people: Path) -> None:
    declared = run("ask", people, "median(region)", "--epsilon", "1", "--types", 'age=number,"region"=number')
    assert declared.code == exits.ANSWERED


def test_an_empty_column_costs_the_same_as_any_other(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "hollow.csv"
    file.write_text("age,wage\n1,\n2,\n")
    outcome = run("ask", file, "median(wage)", "count(wage)", "--epsilon", "1")
    assert outcome.code in (exits.ANSWERED, exits.NO_REPLY)
    assert "Spent by this call: epsilon = 1." in outcome.out


def test_without_polars_the_error_says_what_to_install(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    complaint = run("ask", people, "median(age)", "--epsilon", "1").err
    assert "pip install 'dpstats[files]'" in complaint
    assert "pip install -e '.[files]'" in complaint
