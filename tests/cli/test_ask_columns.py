"""`dpstats ask` answers questions about columns without an outcome, with a first parameter before them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dpstats.cli import exits
from dpstats.cli.pricing import price_questions
from dpstats.cli.questions import parse_question
from dpstats.foundations.registry import Question
from tests.cli.conftest import Run
from tests.columns import column_statistics as _column_statistics

pytestmark = pytest.mark.usefixtures("column_statistics")
column_statistics = _column_statistics

ROWS = [("30", "9", "100", "north"), ("41", "x", "200", "south"), ("27", "16", "400", "north"), ("50", "12", "", "south")]
ALONE = [[100.0], [200.0], [400.0]]
BOTH = [[27.0, 16.0], [30.0, 9.0], [50.0, 12.0]]
ALL = [[27.0, 16.0, 400.0], [30.0, 9.0, 100.0]]


@pytest.fixture(params=["csv", "parquet"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        lines = ["age,years of school,income,region", *(",".join(row) for row in ROWS)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        frame = pl.DataFrame(ROWS, schema=["age", "years of school", "income", "region"], orient="row")
        frame.with_columns(pl.exclude("region").cast(pl.Float64, strict=False)).write_parquet(path)
    return path


def answers(outcome: Any) -> list[dict[str, Any]]:
    assert outcome.code == exits.ANSWERED, outcome.err
    return list(json.loads(outcome.out)["answers"])


def test_a_first_parameter_comes_before_one_column_or_several(run: Run, people: Path) -> None:
    asked = (
        "fitted(gamma, income)",
        'fitted(normal, [age, "years of school"])',
        'fitted(linear, [age, "years of school"], income)',
    )
    told = answers(
        run("ask", people, *asked, "fitted(income, law=gamma, blocks=7)", "listed(income)", "--epsilon", "1", "--json")
    )
    assert [answer["question"] for answer in told] == [
        "fitted(gamma, income)",
        "fitted(normal, [age, years of school])",
        "fitted(linear, [age, years of school, income])",
        "fitted(gamma, income, blocks=7)",
        "listed(income)",
    ]
    assert [answer["value"]["rows"] for answer in told[:4]] == [ALONE, BOTH, ALL, ALONE]
    assert told[4]["value"] == ALONE


def test_a_table_of_one_column_and_the_column_itself_are_told_apart(run: Run, people: Path) -> None:
    told = answers(run("ask", people, "mean(income)", "listed(income)", "median(income)", "--epsilon", "30", "--json"))
    assert told[1]["value"] == ALONE
    assert isinstance(told[0]["value"], float)
    assert isinstance(told[2]["value"], float)


def test_a_value_with_a_summary_is_printed_by_it(run: Run, people: Path) -> None:
    out = run("ask", people, "fitted(gamma, income)", "--epsilon", "1").out
    assert out.startswith("fitted(gamma, income)\n  law   gamma\n  rows  3 of 1\n  cost      epsilon = 1")


def test_parameters_by_name_may_be_dicts(run: Run, people: Path) -> None:
    (told,) = answers(run("ask", people, "fitted(gamma, income, bounds={scale: [0, 1/2]})", "--epsilon", "1", "--json"))
    assert told["question"] == "fitted(gamma, income, bounds={scale: [0, 0.5]})"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("fitted(gamma)", "must name law and then a column, such as fitted(law, income)"),
        ("fitted(gamma, 3)", "must name a column second, such as fitted(law, income)"),
        ("fitted(gamma, income, 300)", "after them takes parameters by name: blocks=..., bounds=..."),
        ("listed([age, 3])", "must name a column first"),
        ("listed(age, [3])", "after them takes parameters by name: blocks=..."),
        ("fitted(gama, income)", "there is no law 'gama'"),
        ("fitted(gamma, [age, age])", "fitted got the column 'age' twice"),
        ("fitted(gamma, [])", "takes from 1 to 40 columns"),
        ("listed([a, b, c, d, e])", "takes from 1 to 4 columns"),
        ("fitted(gamma, wage)", "no column wage"),
    ],
)
def test_errors_say_how_to_write_it(run: Run, people: Path, question: str, words: str) -> None:
    outcome = run("ask", people, question, "--epsilon", "1")
    assert outcome.code == exits.BAD_INPUT
    assert words in outcome.err


def test_columns_are_taken_apart_before_a_file_is_read() -> None:
    def priced(text: str) -> Question:
        (question,) = price_questions([parse_question(text)], epsilon=1, delta=None, neighbors="add_remove", unit="row")
        return question

    assert priced("fitted(gamma, [a, b], c)").columns == ("a", "b", "c")
    assert priced("listed(a, b, blocks=3)").columns == ("a", "b")
    assert priced("listed(a, b, blocks=3)").arguments["blocks"] == 3


def test_help_shows_the_first_parameter_first(run: Run) -> None:
    out = run("ask", "--help").out
    assert "  fitted(law, column, blocks=100, bounds=None)" in out
    assert "  listed(column, blocks=100)" in out
