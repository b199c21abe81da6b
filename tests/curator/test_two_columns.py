"""Sessions answer questions about two columns, about either kind of column, and with the level of intervals that is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.desk import Request, form_of
from dpstats.curator.session import Session
from dpstats.foundations.registry import find_statistic
from tests.two_columns import together_by_hand
from tests.two_columns import two_column_statistics as _two_column_statistics

pytestmark = pytest.mark.usefixtures("two_column_statistics")
two_column_statistics = _two_column_statistics

ROWS = 60


def table() -> dict[str, Any]:
    chance = np.random.default_rng(3)
    return {
        "person": np.arange(ROWS) // 2,
        "x": np.where(chance.random(ROWS) < 0.2, np.nan, chance.normal(0, 50, ROWS)),
        "y": np.ma.array(chance.integers(-90, 90, ROWS), mask=chance.random(ROWS) < 0.2),
        "by": [("a", "b", None)[place] for place in chance.integers(0, 3, ROWS)],
        "region": np.array(["north", "south"])[chance.integers(0, 2, ROWS)],
        "flag": chance.random(ROWS) < 0.5,
        "nested": pl.Series([[1]] * ROWS),
    }


def rows_of(columns: dict[str, Any], *names: str) -> list[Any]:
    """The rows that are missing in none of the columns."""
    lists = [columns[name].tolist() if hasattr(columns[name], "tolist") else columns[name] for name in names]
    return [row for row in zip(*lists, strict=True) if all(cell is not None and cell == cell for cell in row)]


def session(columns: Any = None, **changes: Any) -> Session:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.1), "ledger": ":memory:", **changes}
    return dp.protect(table() if columns is None else columns, **settings)


def test_a_question_about_two_columns_is_answered_from_the_rows_that_have_both() -> None:
    columns = table()
    survey = session(columns)
    release = survey.together("x", "y", epsilon=1)
    assert release.value == together_by_hand(rows_of(columns, "x", "y"))
    assert release.question == "together(x, y)"
    assert survey.together(x="x", y="y", epsilon=1).value == release.value
    kept = [(x, y) for x, y, region in rows_of(columns, "x", "y", "region") if region == "north"]
    assert survey.where("region == 'north'").together("x", "y", epsilon=1).value == together_by_hand(kept)
    twice = survey.with_columns(twice="2 * x").together("twice", "y", epsilon=1)
    assert twice.value == together_by_hand([(2 * x, y) for x, y in rows_of(columns, "x", "y")])
    assert survey.ledger.spent.epsilon == 3


def test_labels_beside_numbers_and_beside_labels() -> None:
    columns = table()
    survey = session(columns)
    counts = [sum(by == label for _, by in rows_of(columns, "x", "by")) for label in "ab"]
    assert survey.sizes("x", "by", epsilon=1).value == tuple(counts)
    assert survey.sizes("x", "by", ["b"], epsilon=1).value == (counts[1],)
    pairs = rows_of(columns, "region", "flag")
    assert survey.crossed("region", "flag", epsilon=1).value == tuple(
        f"{region}/{int(flag)}: {pairs.count((region, flag))}" for region, flag in sorted(set(pairs))
    )


def test_either_goes_by_the_declared_type_and_without_one_must_be_told() -> None:
    survey = session()
    found = {name: survey.look(name, epsilon=1).value for name in ("x", "y", "flag", "region")}
    assert found == {"x": "numbers", "y": "numbers", "flag": "numbers", "region": "labels"}
    numbers = session({"n": [1, 2, 3]})
    with pytest.raises(dp.DataTypeError, match="declares no type: say kind='numbers' or kind='labels'"):
        numbers.look("n", epsilon=1)
    assert numbers.ledger.spent.epsilon == 0
    assert session({"n": [1, 2, 3]}, types={"n": "number"}).look("n", epsilon=1).value == "numbers"
    assert [reply.value for reply in survey.group_by("region", keys=["north"]).look("x", epsilon=1).values()] == ["numbers"]


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda survey: survey.together("x", epsilon=1), dp.MissingParameterError, "needs two columns"),
        (lambda survey: survey.together("x", 0.5, epsilon=1), dp.InvalidParameterError, "the names of two columns"),
        (lambda survey: survey.together("x", "z", epsilon=1), dp.UnknownNameError, "no column z"),
        (lambda survey: survey.together("x", "region", epsilon=1), dp.DataTypeError, "column region is of type text"),
        (lambda survey: survey.sizes("x", "nested", epsilon=1), dp.DataTypeError, "nested or binary"),
        (lambda survey: survey.look("nested", epsilon=1), dp.DataTypeError, "nested or binary"),
        (lambda survey: survey.together("x", "y", 3, epsilon=1), dp.InvalidParameterError, "takes nothing"),
        (lambda survey: survey.levels("x", epsilon=1, interval=0), dp.InvalidParameterError, "interval must be a level"),
        (lambda survey: survey.group_by("region").together("x", epsilon=1, delta=0.01), dp.MissingParameterError, "two columns"),
    ],
)
def test_a_wrong_question_costs_nothing(ask: Any, error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        ask(survey)
    assert survey.ledger.spent.epsilon == 0


@pytest.mark.parametrize("keys", [["north", "south", "west"], None])
def test_a_question_about_two_columns_in_every_group(keys: list[str] | None) -> None:
    columns = table()
    survey = session(columns)
    grouped = survey.group_by("region", keys=keys).together("x", "y", epsilon=400, **({} if keys else {"delta": 0.01}))
    rows = rows_of(columns, "x", "y", "region")
    assert set(grouped) == set(keys or ["north", "south"])
    for label, reply in grouped.items():
        assert reply.value == together_by_hand([(x, y) for x, y, region in rows if region == label])
    assert grouped.cost.epsilon == 400


def test_a_group_by_several_columns_with_labels_beside_numbers() -> None:
    columns = table()
    grouped = (
        session(columns).group_by("region", "flag", keys={"region": ["north"], "flag": [True, False]}).sizes("x", "by", epsilon=1)
    )
    rows = rows_of(columns, "x", "by", "region", "flag")
    for (region, flag), reply in grouped.items():
        assert reply.value == tuple(sum(row[1:] == (label, region, flag) for row in rows) for label in "ab")


def test_the_same_question_is_answered_from_the_archive_and_another_order_is_another_question(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"ledger": tmp_path / "ledger", "name": "survey"}
    columns = table()
    first = session(columns, **settings).levels("x", epsilon=1)
    survey = session(columns, **settings)
    again = survey.levels("x", epsilon=1)
    assert (again.intervals, again.value, again.interval) == (first.intervals, first.value, None)
    assert "archive" in dict(again.notes)
    assert survey.ledger.spent.epsilon == 1
    for wider in (0.9, None, 0.95, 0.9, "0.95"):
        survey.levels("x", epsilon=1, interval=wider)
    assert survey.ledger.spent.epsilon == 3
    survey.together("x", "y", epsilon=1)
    survey.together("x", "y", epsilon=1)
    assert survey.ledger.spent.epsilon == 4
    survey.together("y", "x", epsilon=1)
    assert survey.ledger.spent.epsilon == 5


def test_the_key_of_a_question_about_one_column_is_what_it_was() -> None:
    survey = session()
    asked = {"epsilon": 1, "delta": 0, "method": "auto"}

    def details(statistic: str, columns: tuple[str, ...], **more: Any) -> Mapping[str, object]:
        question = survey._table.asked(survey._scope, find_statistic(statistic), columns, (), {**asked, **more})
        return form_of(survey._table, Request(question, "", survey._scope.to_dict(*columns), question.cost)).former[0]

    old = {"edition", "source", "method", "column", "arguments", "epsilon", "delta", "rows", "where", "derived", "types"}
    assert details("median", ("x",)).keys() == old
    assert details("median", ("x",))["column"] == "x"
    assert details("count", ())["column"] == ""
    assert details("together", ("x", "y"))["column"] == ["x", "y"]
    assert details("median", ("x",), interval=0.9)["interval"] == "9/10"
    assert details("median", ("x",), interval=None)["interval"] == "None"


def test_intervals_of_several_values_say_whose_rows_they_cover() -> None:
    survey = session(unit="person", max_rows_per_unit=2)
    release = survey.levels("x", epsilon=1, interval=0.8)
    assert [each.level for each in release.intervals] == [0.8, 0.8]
    assert all(each.covers == "nothing, for the rows that are used: at most 2 rows of each person" for each in release.intervals)
    assert release.question == "levels(x, interval=0.8) (at most 2 rows of each person)"


def test_private_groups_count_with_the_level_that_was_asked_for() -> None:
    columns = {"region": ["north"] * 500}
    for level in (0.5, 0.9, None):
        (reply,) = session(columns).group_by("region").count(epsilon=1, delta=0.01, interval=level).values()
        assert (reply.interval and reply.interval.level) == level


def test_signatures_and_help_name_the_columns_and_the_interval() -> None:
    survey = session()
    words = {"together": ["x", "y"], "sizes": ["values", "by", "labels"], "crossed": ["rows", "columns"], "look": ["column"]}
    for name, own in words.items():
        method = getattr(survey, name)
        assert list(inspect.signature(method).parameters) == [*own, "epsilon", "delta", "method", "interval", "rough", "rng"]
        assert all(f"\n  {word}" in method.__doc__ for word in [*own, "interval"])


def test_a_two_column_answer_fails_as_one_charged_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpstats.engines.tables import table as tables

    def broken(*_: Any) -> Any:
        raise RuntimeError("secret 812")

    monkeypatch.setattr(tables.StoreTable, "product_sums", broken)
    survey = session()
    reply = survey.together("x", "y", epsilon=1)
    assert isinstance(reply, dp.NoReply)
    assert "812" not in str(reply.card())
    assert survey.ledger.spent.epsilon == 1
