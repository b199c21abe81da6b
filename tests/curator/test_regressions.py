"""Regressions on protected tables: bounded units, both relations, filters, groups, and answers that are given out again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.session import Session
from dpstats.foundations.grouped import GroupedRelease
from dpstats.statistics.regression.fit import RegressionFit

ROWS = 6_000
NEW = {"age": [30.0, 50.0], "hours": [10.0, 40.0]}


def table(rows_per_person: int = 1) -> dict[str, Any]:
    """Income rises by 2 with age and by 3 with hours; in the south by 5 with hours."""
    chance = np.random.default_rng(21)
    south = chance.random(ROWS) < 0.5
    age, hours = chance.integers(18, 80, ROWS), chance.normal(30, 8, ROWS)
    return {
        "person": np.arange(ROWS) // rows_per_person,
        "age": age,
        "hours": hours,
        "region": np.where(south, "south", "north"),
        "income": 50 + 2 * age + np.where(south, 5, 3) * hours + chance.normal(0, 10, ROWS),
        "visits": chance.poisson(np.exp(0.02 * age)),
    }


TABLE, PAIRS = table(), table(2)
KEYS = {"region": ["north", "south"]}


def session(columns: Any = None, **changes: Any) -> Session:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.1), "ledger": ":memory:", **changes}
    settings["allow_seeded"] = True
    return dp.protect(TABLE if columns is None else columns, **settings)


def coefficients(release: Any) -> list[float]:
    assert isinstance(release, dp.Release), release
    assert isinstance(release.value, RegressionFit)
    return list(release.value.coefficients)


def test_a_unit_of_two_rows_pays_for_both_and_a_filter_keeps_the_number_of_rows_private() -> None:
    survey = session(PAIRS, unit="person", max_rows_per_unit=2).where("region == 'north'")
    release = survey.linear_regression(["age", "hours"], "income", epsilon=4, rng=dp.testing.seeded(1))
    assert coefficients(release) == pytest.approx([2, 3], rel=0.1)
    assert release.question == "linear_regression([age, hours], income) where region == 'north' (at most 2 rows of each person)"
    assert str(release.cost) == "epsilon = 4"
    notes = dict(release.notes)
    assert notes["rows used"] == "at most 2 rows of each person"
    assert notes["price of a row"] == "epsilon = 2 for one row, which makes epsilon = 4 for a person"
    assert release.intervals[0].covers.endswith("for the rows that are used: at most 2 rows of each person")
    assert 2_500 < release.value.rows < 3_500


def test_under_change_one_a_row_is_protected_at_the_stated_price_and_a_filter_doubles_it() -> None:
    survey = session(neighbors="change_one")
    whole = survey.poisson_regression("age", "visits", epsilon=2, rng=dp.testing.seeded(1))
    assert coefficients(whole) == pytest.approx([0.02], rel=0.2)
    assert whole.cost == dp.PrivacyCost(2, 0, "change_one")
    narrowed = survey.where("age >= 30").poisson_regression("age", "visits", epsilon=2, rng=dp.testing.seeded(1))
    assert "epsilon = 1 for one row" in dict(narrowed.notes)["price of a row"]
    assert coefficients(narrowed) == pytest.approx([0.02], rel=0.3)


@pytest.mark.parametrize("by_formula", [False, True])
def test_the_second_identical_question_is_free_and_predicts(by_formula: bool, tmp_path: Path) -> None:
    def ask(survey: Session) -> Any:
        if by_formula:
            return survey.regression("income ~ log(age) + hours", method="huber", epsilon=1)
        return survey.linear_regression(["age", "hours"], "income", method="huber", epsilon=1)

    settings: dict[str, Any] = {"ledger": tmp_path / "ledger", "name": "survey", "edition": "1"}
    first = ask(session(**settings))
    survey = session(**settings)
    again = ask(survey)
    assert "archive" in dict(again.notes)
    assert survey.ledger.spent.epsilon == 1
    assert again.value == first.value
    assert again.intervals == first.intervals
    assert again.summary() == first.summary()
    assert again.value.predict(NEW) == pytest.approx(first.value.predict(NEW))
    assert again.value.predict(NEW)[1] > again.value.predict(NEW)[0]


def test_the_ledger_has_the_questions_as_people_write_them() -> None:
    survey = session()
    survey.quantile_regression(["age", "hours"], "income", 0.25, epsilon=1)
    survey.regression("income ~ age", epsilon=1)
    assert [entry.content()["question"] for entry in survey.ledger.entries() if entry.kind == DEBIT] == [
        "quantile_regression([age, hours], income, 0.25)",
        "linear_regression(income ~ age)",
    ]


@pytest.mark.parametrize("by_formula", [False, True])
def test_a_regression_in_every_group_has_a_line_for_each_coefficient(by_formula: bool) -> None:
    groups = session(keys=KEYS).group_by("region")
    grouped = (
        groups.regression("income ~ age + hours", epsilon=3, rng=dp.testing.seeded(1))
        if by_formula
        else groups.linear_regression(["age", "hours"], "income", epsilon=3, rng=dp.testing.seeded(1))
    )
    assert isinstance(grouped, GroupedRelease)
    assert coefficients(grouped["north"]) == pytest.approx([2, 3], rel=0.1)
    assert coefficients(grouped["south"]) == pytest.approx([2, 5], rel=0.1)
    title, head, *lines = str(grouped).splitlines()
    asked = "income ~ age + hours" if by_formula else "[age, hours], income"
    assert title == f"linear_regression({asked}) by region"
    assert head.split() == ["region", "name", "value", "interval"]
    assert [line.split()[:-4] for line in lines[:6]] == [
        ["north", "Intercept", f"{grouped['north'].value.intercept:.6g}"],
        ["age", f"{grouped['north'].value.coefficients[0]:.6g}"],
        ["hours", f"{grouped['north'].value.coefficients[1]:.6g}"],
        ["south", "Intercept", f"{grouped['south'].value.intercept:.6g}"],
        ["age", f"{grouped['south'].value.coefficients[0]:.6g}"],
        ["hours", f"{grouped['south'].value.coefficients[1]:.6g}"],
    ]
    rows = grouped.rows()
    assert [(row["region"], row["name"]) for row in rows[:3]] == [("north", name) for name in ("Intercept", "age", "hours")]
    assert rows[1]["low"] < 2 < rows[1]["high"]
    assert grouped.cost == dp.PrivacyCost(3)
    assert grouped["south"].value.predict(NEW).shape == (2,)


def test_a_formula_in_groups_derives_columns_is_recalled_and_predicts() -> None:
    survey = session(keys=KEYS, name="survey", edition="1")
    first = survey.group_by("region").regression("income ~ C(age > 40) + I(hours / 10)", method="huber", epsilon=3)
    again = survey.group_by("region").regression("income ~ C(age>40) + I(hours / 10)", method="huber", epsilon=3)
    assert survey.ledger.spent.epsilon == 3
    assert first["north"].value.features == ("C(age > 40)[T.True]", "I(hours / 10)")
    for label in KEYS["region"]:
        assert again[label].value == first[label].value
        assert again[label].value.predict(NEW) == pytest.approx(first[label].value.predict(NEW))


def test_groups_that_are_chosen_privately_share_delta_and_epsilon_with_the_formula() -> None:
    grouped = session().group_by("region").regression("income ~ age", epsilon=4, delta=1e-6, method="steps")
    assert set(grouped) == {"north", "south"}
    assert grouped.cost == dp.PrivacyCost(4, Fraction(1, 10**6))
    assert "1/4 of epsilon and all of delta" in dict(grouped.notes)["groups"]
    narrowed = session(keys=KEYS).where("age >= 30").group_by("region").regression("income ~ age", epsilon=3)
    assert narrowed.question == "linear_regression(income ~ age) where age >= 30 by region"


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda groups: groups.regression("income ~ C(visits)", epsilon=1), dp.MissingParameterError, "levels of visits must be"),
        (lambda groups: groups.regression("income ~ age"), dp.MissingParameterError, "needs epsilon"),
        (lambda groups: groups.regression("income ~ age", epsilon=1, unit="row"), dp.InvalidParameterError, "unit was fixed"),
        (lambda groups: groups.regression("income ~ age", epsilon=1, model="cubic"), dp.UnknownNameError, "model must be one of"),
        (lambda groups: groups.regression("income ~ wage", epsilon=1), dp.UnknownNameError, "no column wage"),
        (
            lambda groups: groups.linear_regression(["age", "hours", "visits"], "income", epsilon=1, delta=1e-6, method="robust"),
            dp.InvalidParameterError,
            "at most 3 coefficients",
        ),
        (
            lambda groups: groups.regression("income ~ age + hours + visits", epsilon=1, delta=1e-6, method="robust"),
            dp.InvalidParameterError,
            "at most 3 coefficients",
        ),
    ],
)
def test_a_wrong_regression_in_groups_costs_nothing(ask: Any, error: type[Exception], words: str) -> None:
    survey = session(keys=KEYS)
    with pytest.raises(error, match=words):
        ask(survey.group_by("region"))
    assert survey.ledger.spent.epsilon == 0


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda s: s.linear_regression(["age", "hours", "visits"], "income", epsilon=1, delta=1e-6, method="robust"),
            "at most 3 coefficients",
        ),
        (lambda s: s.regression("income ~ C(region)", epsilon=1, delta=1e-6, method="robust"), "levels must be listed"),
        (
            lambda s: s.plan("linear_regression", ["age", "hours", "visits"], "income", epsilon=1, delta=1e-6, method="robust"),
            "at most 3 coefficients",
        ),
    ],
)
def test_a_method_that_cannot_answer_complains_before_the_debit(ask: Any, words: str) -> None:
    survey = session()
    with pytest.raises((dp.InvalidParameterError, dp.MissingParameterError), match=words):
        ask(survey)
    assert survey.ledger.spent.epsilon == 0


def test_without_an_intercept_robust_has_room_for_another_feature() -> None:
    asked: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "method": "robust", "intercept": False}
    survey = session({name: TABLE[name][:50] for name in ("age", "hours", "visits", "income")})
    survey.linear_regression(["age", "hours", "visits"], "income", **asked)
    assert survey.ledger.spent.epsilon == 1
