"""Sessions answer questions about features and an outcome."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from tests.features import feature_statistics as _feature_statistics

pytestmark = pytest.mark.usefixtures("feature_statistics")
feature_statistics = _feature_statistics

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


def test_features_and_an_outcome_are_named_and_read_from_the_rows_that_have_all() -> None:
    columns = table()
    survey = session(columns)
    release = survey.told(["age", "schooling"], "income", epsilon=1)
    assert release.value == rows_of(columns, "age", "schooling", "income")
    assert release.question == "told([age, schooling], income)"
    assert survey.told(X=("age", "schooling"), y="income", epsilon=1).value == release.value
    assert survey.told("age", "income", epsilon=1).value == rows_of(columns, "age", "income")
    assert survey.told(["age"], "income", power=1, epsilon=1).value == rows_of(columns, "age", "income")
    north = survey.where("region == 'north'").told(["age", "schooling"], "income", epsilon=1)
    assert north.value == rows_of(columns, "age", "schooling", "income", region="north")
    twice = survey.with_columns(twice="2 * schooling").told(["twice", "age"], "income", epsilon=1)
    assert twice.value == tuple(sorted((2 * s, a, i) for s, a, i in rows_of(columns, "schooling", "age", "income")))
    assert survey.ledger.spent.epsilon == 4


@pytest.mark.parametrize("keys", [["north", "south", "west"], None])
def test_a_regression_in_every_group(keys: list[str] | None) -> None:
    columns = table()
    settings = {} if keys else {"delta": 0.01}
    grouped = session(columns).group_by("region", keys=keys).told(["schooling", "age"], "income", epsilon=400, **settings)
    assert set(grouped) == set(keys or ["north", "south"])
    for label, reply in grouped.items():
        assert reply.value == rows_of(columns, "schooling", "age", "income", region=label)
    assert grouped.cost.epsilon == 400


def test_the_same_question_is_answered_from_the_archive_and_another_order_is_another_question(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"ledger": tmp_path / "ledger", "name": "survey"}
    columns = table()
    session(columns, **settings).told(["age", "schooling"], "income", epsilon=1)
    survey = session(columns, **settings)
    assert "archive" in dict(survey.told(["age", "schooling"], "income", epsilon=1).notes)
    assert survey.ledger.spent.epsilon == 1
    survey.told(["schooling", "age"], "income", epsilon=1)
    survey.told(["age", "income"], "schooling", epsilon=1)
    assert survey.ledger.spent.epsilon == 3


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda survey: survey.told(["age"], epsilon=1), dp.MissingParameterError, "needs features and an outcome"),
        (lambda survey: survey.told(epsilon=1), dp.MissingParameterError, r"told\(\['age', 'schooling'\], 'income'"),
        (lambda survey: survey.told(None, "income", epsilon=1), dp.MissingParameterError, "needs features and an outcome"),
        (lambda survey: survey.told([], "income", epsilon=1), dp.InvalidParameterError, "from 1 to 40 features"),
        (lambda survey: survey.told(["age"] * 41, "income", epsilon=1), dp.InvalidParameterError, "from 1 to 40 features"),
        (lambda survey: survey.told(["age", "age"], "income", epsilon=1), dp.InvalidParameterError, "'age' twice"),
        (lambda survey: survey.told(["age", "income"], "income", epsilon=1), dp.InvalidParameterError, "one of its features"),
        (
            lambda survey: survey.told(["age", 7], "income", epsilon=1),
            dp.InvalidParameterError,
            "takes the names of its features",
        ),
        (lambda survey: survey.told(np.zeros((2, 2)), "income", epsilon=1), dp.InvalidParameterError, "takes the names"),
        (lambda survey: survey.told(["age"], ["income"], epsilon=1), dp.InvalidParameterError, "takes the names"),
        (lambda survey: survey.told(["age", "wage"], "income", epsilon=1), dp.UnknownNameError, "no column wage"),
        (lambda survey: survey.told(["age", "region"], "income", epsilon=1), dp.DataTypeError, "column region is of type text"),
        (lambda survey: survey.told(["age"], "region", epsilon=1), dp.DataTypeError, "column region is of type text"),
        (lambda survey: survey.told(["age"], "income", 1, 2, epsilon=1), dp.InvalidParameterError, "takes only power"),
        (lambda survey: survey.group_by("region").told(["age"], epsilon=1, delta=0.01), dp.MissingParameterError, "an outcome"),
    ],
)
def test_a_wrong_question_costs_nothing(ask: Any, error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        ask(survey)
    assert survey.ledger.spent.epsilon == 0


def test_an_answer_that_fails_is_one_charged_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpstats.engines.tables import table as tables

    def broken(*_: Any) -> Any:
        raise RuntimeError("secret 812")

    monkeypatch.setattr(tables.StoreTable, "matrix", broken)
    survey = session()
    reply = survey.told(["age"], "income", epsilon=1)
    assert isinstance(reply, dp.NoReply)
    assert "812" not in str(reply.card())
    assert survey.ledger.spent.epsilon == 1


def test_a_unit_of_several_rows_is_bounded_before_rows_are_read() -> None:
    columns = {"person": [1, 1, 1, 2], "x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 4.0]}
    survey = session(columns, unit="person", max_rows_per_unit=1, types={"person": "integer", "x": "number", "y": "number"})
    assert len(survey.told("x", "y", epsilon=1).value) == 2


def test_the_signature_and_the_help_name_features_and_outcome() -> None:
    method = session().told
    assert list(inspect.signature(method).parameters) == [
        "X",
        "y",
        "power",
        "epsilon",
        "delta",
        "method",
        "interval",
        "rough",
        "rng",
    ]
    lines = {line.split()[0]: line for line in method.__doc__.splitlines() if line.strip()}
    assert "the features: columns by name in a list" in lines["X"]
    assert "the outcome: a column by name" in lines["y"]
