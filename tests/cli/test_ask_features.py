"""`dpstats ask` answers questions about features and an outcome."""

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
from tests.features import feature_statistics as _feature_statistics

pytestmark = pytest.mark.usefixtures("feature_statistics")
feature_statistics = _feature_statistics

ROWS = [("30", "9", "100", "north"), ("41", "x", "200", "south"), ("27", "16", "400", "north"), ("50", "12", "", "south")]
BOTH = [[27.0, 16.0, 400.0], [30.0, 9.0, 100.0]]
ALONE = [[27.0, 400.0], [30.0, 100.0], [41.0, 200.0]]


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


def values(outcome: Any) -> list[Any]:
    assert outcome.code == exits.ANSWERED, outcome.err
    return [answer["value"] for answer in json.loads(outcome.out)["answers"]]


def test_features_are_named_in_a_list_or_one_by_its_name(run: Run, people: Path) -> None:
    asked = 'told([age, "years of school"], income)', "told(age, income)", "told([age], income, 2)"
    assert values(run("ask", people, *asked, "--epsilon", "1", "--json")) == [BOTH, ALONE, ALONE]


def test_a_value_with_a_summary_is_printed_by_it(run: Run, people: Path) -> None:
    out = run("ask", people, 'summed([age, "years of school"], income)', "--epsilon", "1").out
    assert out.startswith(
        "summed([age, years of school], income)\n  name    rows\n  3 columns  2, 1 intervals\n"
        "  each      90% interval covers nothing\n  cost      epsilon = 1"
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("told(age)", "must name features and an outcome, such as told([age, schooling], income)"),
        ("told([age], 3)", "must name its outcome after the features, such as"),
        ("told([age], [income])", "must name its outcome after the features, such as"),
        ("told(age, schooling, income)", "must name several features in a list: told([age, schooling], income)"),
        ("told(age, 'years of school', hours, income)", "in a list: told([age, 'years of school', hours], income)"),
        ("told('income ~ age')", "holds a formula: write a formula in quotes, like regression('income ~ age + C(region)')"),
        ("told(income ~ age)", "write a formula in quotes, like regression('income ~ age + C(region)')"),
        ("income ~ age", "write a formula in quotes, like regression('income ~ age + C(region)')"),
        ("linear_regresion(age, income)", "there is no statistic 'linear_regresion'; did you mean linear_regression?"),
        ("regresion('income ~ age')", "did you mean regression('income ~ age + C(region)')?"),
        ("told([], income)", "takes from 1 to 40 features"),
        ("told([age, age], income)", "got the feature 'age' twice"),
        ("told([age, income], income)", "'income' is the outcome of told and one of its features"),
        ("told([age, wage], income)", "there is no column wage"),
        ("told([age], income, 1, 2)", "takes only power after the columns"),
        ("told([age, 3], income)", "must name a column first"),
        ("median([age])", "must name a column first"),
        ("covariance([age], income)", "must name a column first"),
    ],
)
def test_a_wrong_question_says_what_to_do(run: Run, people: Path, question: str, words: str) -> None:
    outcome = run("ask", people, question, "--epsilon", "1")
    assert outcome.code != exits.ANSWERED
    assert words in outcome.err
    assert outcome.out == ""


def test_the_help_shows_features_and_outcome(run: Run) -> None:
    shown = run("ask", "--help").out
    assert "told(X, y, power=1)" in shown
    assert '"linear_regression([age, schooling], income)"' in shown


def test_features_are_counted_off_before_the_outcome_and_parameters() -> None:
    parsed = [parse_question(text) for text in ("told([a, b], c, 3)", "told(a, c)")]
    questions = price_questions(parsed, epsilon=1, delta=None, neighbors="add_remove", unit="row")
    assert [question.columns for question in questions] == [("a", "b", "c"), ("a", "c")]
    assert isinstance(questions[0], Question)
    assert questions[0].arguments == {"power": 3}
