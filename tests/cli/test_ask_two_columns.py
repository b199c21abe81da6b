"""`dpstats ask` answers questions about two columns, about either kind of column, and with other levels of intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.pricing import price_questions
from dpstats.cli.questions import parse_question
from dpstats.foundations.registry import Question
from tests.cli.conftest import Run
from tests.two_columns import together_by_hand
from tests.two_columns import two_column_statistics as _two_column_statistics

pytestmark = pytest.mark.usefixtures("two_column_statistics")
two_column_statistics = _two_column_statistics

ROWS: list[tuple[str, str, str, str]] = [
    ("1.5", "2", "a", "5"),
    ("2", "x", "b", "5"),
    ("", "4", "a", "west"),
    ("4", "-7", "", "6"),
    ("5", "8", "b", "west"),
    ("6", "1", "a", ""),
]
PAIRS = [(1.5, 2), (4, -7), (5, 8), (6, 1)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["x,y,by,mixed", *(",".join(row) for row in ROWS)]) + "\n", encoding="utf-8")
    return path


def values(outcome: Any) -> list[Any]:
    assert outcome.code == exits.ANSWERED, outcome.err
    return [answer["value"] for answer in json.loads(outcome.out)["answers"]]


def test_two_columns_of_a_csv_file_are_read_row_by_row(run: Run, table: Path) -> None:
    asked = "together(x, y)", "sizes(x, by)", "sizes(x, by, [b])", "crossed(by, mixed)", "--epsilon", "1", "--json"
    truth = [together_by_hand(PAIRS), [2, 2], [2], ["a/5: 1", "a/west: 1", "b/5: 1", "b/west: 1"]]
    assert values(run("ask", table, *asked)) == truth


def test_two_columns_of_a_parquet_file_are_read_row_by_row(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame = pl.DataFrame(ROWS, schema=["x", "y", "by", "mixed"], orient="row").with_columns(
        pl.col("x").cast(pl.Float64, strict=False),
        pl.col("y").cast(pl.Int32, strict=False),
        pl.col("by").replace("", None).cast(pl.Categorical),
        pl.lit(None).alias("nothing"),
    )
    frame.write_parquet(path)
    asked = ("together(x, y)", "sizes(x, by)", "crossed(by, y)", "look(by)", "look(y)", "look(nothing)", "look_at_both(by, y)")
    assert values(run("ask", path, *asked, "--epsilon", "1", "--json")) == [
        together_by_hand(PAIRS),
        [2, 2],
        ["a/1: 1", "a/2: 1", "a/4: 1", "b/8: 1"],
        "labels",
        "numbers",
        "numbers",
        "labels",
    ]


def test_declared_types_decide_about_either_and_texts_of_a_file_are_labels(run: Run, table: Path) -> None:
    asked = "look(x)", "look(by)", "look(mixed)", "look_at_both(mixed, x)", "look_at_both(by, x)", "--epsilon", "1", "--json"
    assert values(run("ask", table, *asked)) == ["labels"] * 5
    declared = *asked, "--types", "x=text,mixed=text"
    assert values(run("ask", table, *declared[:3], *declared[5:])) == ["labels", "labels", "labels"]
    whole = "look(x)", "crossed(x, by)", "--types", "x=integer", "--epsilon", "1", "--json"
    assert values(run("ask", table, *whole)) == ["numbers", ["2/b: 1", "5/b: 1", "6/a: 1"]]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("together(x)", "must name 2 columns, such as together(income, age)"),
        ("together(x, 0.5)", "must name 2 columns before anything else"),
        ("together(x, z)", "there is no column z"),
        ("together(x, y, 3)", "takes nothing after the columns"),
        ("levels(x, interval=2)", "interval must be a level"),
    ],
)
def test_a_wrong_question_says_what_to_do(run: Run, table: Path, question: str, words: str) -> None:
    outcome = run("ask", table, question, "--epsilon", "1")
    assert outcome.code != exits.ANSWERED
    assert words in outcome.err
    assert outcome.out == ""


def test_intervals_are_printed_at_the_level_that_is_asked_for(run: Run, table: Path) -> None:
    outcome = run("ask", table, "levels(x)", "levels(x, interval=0.8)", "levels(x, interval=None)", "--epsilon", "1")
    lines = "  interval  1  0 to 1\n  interval  2  1 to 2\n"
    assert f"{lines}  each      95% interval covers nothing" in outcome.out
    assert f"levels(x, interval=0.8) = 1, 2\n{lines}  each      80% interval covers nothing" in outcome.out
    assert "levels(x, interval=None) = 1, 2\n  cost" in outcome.out


def test_the_help_shows_how_many_columns_a_statistic_takes(run: Run) -> None:
    shown = run("ask", "--help").out
    for call in ("together(x, y)", "sizes(values, by, labels=('a', 'b'))", "crossed(rows, columns)", "look(column)"):
        assert call in shown


def test_columns_are_counted_off_before_parameters() -> None:
    parsed = [parse_question(text) for text in ('sizes("net income", by, [1, 2])', "median(by)")]
    questions = price_questions(parsed, epsilon=1, delta=None, neighbors="add_remove", unit="row")
    assert [question.columns for question in questions] == [("net income", "by"), ("by",)]
    assert isinstance(questions[0], Question)
    assert questions[0].arguments["labels"] == (1, 2)
    with pytest.raises(dp.MissingParameterError, match="2 columns"):
        price_questions([parse_question("together(x)")], epsilon=1, delta=None, neighbors="add_remove", unit="row")
