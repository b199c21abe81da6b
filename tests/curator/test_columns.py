"""Sessions answer questions about one column or several without an outcome, and take a first parameter before them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from tests.columns import Fitted, Law
from tests.columns import column_statistics as _column_statistics

pytestmark = pytest.mark.usefixtures("column_statistics")
column_statistics = _column_statistics

ROWS = 40


def table() -> dict[str, Any]:
    chance = np.random.default_rng(5)
    return {
        "age": np.ma.array(chance.integers(18, 90, ROWS), mask=chance.random(ROWS) < 0.2),
        "schooling": np.where(chance.random(ROWS) < 0.2, np.nan, chance.normal(12, 3, ROWS)),
        "income": chance.normal(300, 90, ROWS),
        "region": np.array(["north", "south"])[chance.integers(0, 2, ROWS)],
    }


def rows_of(columns: dict[str, Any], *names: str, region: str | None = None) -> tuple[tuple[float, ...], ...]:
    """The rows that are missing in none of the columns, sorted."""
    rows = zip(columns["region"], *(columns[name].tolist() for name in names), strict=True)
    kept = [row for place, *row in rows if region in (None, place) and all(cell is not None and cell == cell for cell in row)]
    return tuple(sorted(tuple(map(float, row)) for row in kept))


def session(columns: Any = None, **changes: Any) -> Session:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.1), "ledger": ":memory:", **changes}
    return dp.protect(table() if columns is None else columns, **settings)


def test_one_column_or_several_are_read_as_a_table() -> None:
    columns = table()
    survey = session(columns)
    alone = survey.fitted("gamma", "age", epsilon=1)
    assert alone.value.rows == rows_of(columns, "age")
    assert alone.question == "fitted(gamma, age)"
    both = survey.fitted("normal", ["age", "schooling"], epsilon=1)
    assert both.value.rows == rows_of(columns, "age", "schooling")
    assert both.question == "fitted(normal, [age, schooling])"
    whole = survey.fitted("linear", ["age", "schooling"], "income", epsilon=1)
    assert whole.value.rows == rows_of(columns, "age", "schooling", "income")
    assert whole.question == "fitted(linear, [age, schooling, income])"
    assert survey.listed("income", epsilon=1).value == rows_of(columns, "income")
    assert survey.ledger.spent.epsilon == 4


def test_other_words_filters_and_derived_columns() -> None:
    columns = table()
    survey = session(columns)
    assert survey.fitted("income", law="gamma", blocks=7, epsilon=1).question == "fitted(gamma, income, blocks=7)"
    assert survey.fitted("gamma", column="income", epsilon=1).value.rows == rows_of(columns, "income")
    north = survey.where("region == 'north'").fitted("gamma", "schooling", epsilon=1)
    assert north.value.rows == rows_of(columns, "schooling", region="north")
    assert north.question == "fitted(gamma, schooling) where region == 'north'"
    twice = survey.with_columns(twice="2 * income").fitted("gamma", "twice", epsilon=1)
    assert twice.value.rows == tuple((2 * income,) for (income,) in rows_of(columns, "income"))


@pytest.mark.parametrize("names", [["schooling"], ["schooling", "age"]])
@pytest.mark.parametrize("keys", [["north", "south", "west"], None])
def test_one_question_in_every_group(keys: list[str] | None, names: list[str]) -> None:
    columns = table()
    settings = {} if keys else {"delta": 0.01}
    grouped = session(columns).group_by("region", keys=keys).listed(names, epsilon=400, **settings)
    assert set(grouped) == set(keys or ["north", "south"])
    for label, reply in grouped.items():
        assert reply.value == rows_of(columns, *names, region=label)
    fitted = session(columns).group_by("region", keys=["north"]).fitted("gamma", "income", epsilon=1)
    assert fitted["north"].value.rows == rows_of(columns, "income", region="north")
    assert fitted.question == "fitted(gamma, income) by region"


def test_one_row_of_each_unit_is_in_the_table() -> None:
    columns = {"person": np.arange(ROWS) % 10, "income": np.arange(ROWS) * 1.0}
    survey = session(columns, unit="person", max_rows_per_unit=1, types={"person": "integer", "income": "number"})
    rows = survey.fitted("gamma", "income", epsilon=1).value.rows
    assert sorted(int(income) % 10 for (income,) in rows) == list(range(10))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_column_of_a_file_is_a_table_of_one(form: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"income": [1.5, None, 3.5], "age": [1, 2, 3]})
    path = tmp_path / f"people.{form}"
    frame.to_parquet(path) if form == "parquet" else frame.to_csv(path, index=False)
    settings: dict[str, Any] = {"types": {"income": "number", "age": "number"}} if form == "csv" else {}
    survey = session(path, **settings)
    assert survey.fitted("gamma", "income", epsilon=1).value.rows == ((1.5,), (3.5,))


def test_the_archive_answers_the_same_question_with_a_revived_value(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"ledger": tmp_path / "ledger", "name": "survey"}
    columns = table()
    first = session(columns, **settings).fitted("gamma", "income", bounds={"scale": [0, 1]}, epsilon=1)
    survey = session(columns, **settings)
    again = survey.fitted("gamma", ["income"], bounds={"scale": [0, 1]}, epsilon=1)
    assert "archive" in dict(again.notes)
    assert isinstance(again.value, Fitted)
    assert (again.value.law, again.value.rows) == ("gamma", first.value.rows)
    assert survey.ledger.spent.epsilon == 1
    survey.fitted("normal", "income", bounds={"scale": [0, 1]}, epsilon=1)
    survey.fitted("gamma", "income", bounds={"scale": [0, 2]}, epsilon=1)
    survey.fitted("gamma", ["income", "age"], bounds={"scale": [0, 1]}, epsilon=1)
    assert survey.ledger.spent.epsilon == 4


@pytest.mark.parametrize("law", [np.mean, lambda rows: rows, Law("gamma"), ["gamma", np.mean], {"a": object()}, dp.median])
def test_a_session_runs_no_code_of_its_askers(law: object) -> None:
    survey = session()
    words = "a session runs no code of its own askers: give law by name"
    with pytest.raises(dp.InvalidParameterError, match=words):
        survey.fitted(law, "income", epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match=words):
        survey.fitted("income", law=law, epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match=words):
        survey.group_by("region", keys=["north"]).fitted(law, "income", epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="give bounds by name"):
        survey.fitted("gamma", "income", bounds=law, epsilon=1)
    assert survey.ledger.spent.epsilon == 0


@pytest.mark.parametrize("q", [np.array([0.25, 0.75]), pd.Series([0.25, 0.75]), (np.float64(0.25), 0.75), ["1/4", "3/4"]])
def test_arrays_and_lists_of_plain_values_are_plain(q: Any) -> None:
    assert len(session().quantile("income", q, epsilon=1).value) == 2


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda survey: survey.fitted("gamma", epsilon=1), dp.MissingParameterError, r"fitted\(law, 'income', epsilon=0.2\)"),
        (lambda survey: survey.fitted("gamma", None, epsilon=1), dp.MissingParameterError, "needs a column"),
        (lambda survey: survey.listed(epsilon=1), dp.MissingParameterError, r"listed\('income', epsilon=0.2\)"),
        (lambda survey: survey.fitted("gamma", "income", 300, epsilon=1), dp.InvalidParameterError, "by name after the columns"),
        (lambda survey: survey.fitted("gamma", 3, epsilon=1), dp.InvalidParameterError, "takes the names of its columns"),
        (lambda survey: survey.fitted("gamma", ["age", "age"], epsilon=1), dp.InvalidParameterError, "the column 'age' twice"),
        (lambda survey: survey.listed(["age"] * 5, epsilon=1), dp.InvalidParameterError, "from 1 to 4 columns"),
        (lambda survey: survey.fitted("gamma", [], epsilon=1), dp.InvalidParameterError, "from 1 to 40 columns"),
        (lambda survey: survey.fitted("gamma", "incme", epsilon=1), dp.DpstatsError, "income"),
        (lambda survey: survey.fitted("gamma", ["age", "region"], epsilon=1), dp.DataTypeError, "'?region'? is of type text"),
        (lambda survey: survey.fitted("gama", "income", epsilon=1), dp.UnknownNameError, "no law 'gama'"),
    ],
)
def test_errors_cost_nothing(ask: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        ask(survey)
    assert survey.ledger.spent.epsilon == 0


def test_help_shows_the_first_parameter_first_and_the_others_by_name() -> None:
    parameters = inspect.signature(session().fitted).parameters
    assert list(parameters)[:5] == ["law", "column", "more", "blocks", "bounds"]
    assert parameters["blocks"].kind is inspect.Parameter.KEYWORD_ONLY
    lines = (session().fitted.__doc__ or "").splitlines()
    assert [line.split()[0] for line in lines[3:8]] == ["law", "column", "*more", "blocks", "bounds"]
