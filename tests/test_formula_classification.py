"""Classifiers by formulas, of tables and in sessions: what is asked, what it costs, and what it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.session import Session

ROWS = 3_000
FORMULA = "works ~ age + log(income) + I(hours > 40) + region"


def people() -> pd.DataFrame:
    chance = np.random.default_rng(4)
    age, income = chance.integers(18, 80, ROWS), np.floor(chance.lognormal(10, 1, ROWS))
    frame = pd.DataFrame(
        {
            "age": age,
            "income": np.where(chance.random(ROWS) < 0.1, 0.0, income),
            "hours": chance.gamma(4.0, 10.0, ROWS),
            "region": chance.choice(["north", "south", "west"], ROWS),
            "year": chance.choice([2023, 2024], ROWS),
            "works": np.where(age + chance.normal(0, 8, ROWS) < 55, "yes", "no"),
        }
    )
    frame.loc[:20, "income"] = np.nan
    return frame


PEOPLE = people()
SETTINGS: dict[str, Any] = {"epsilon": 4, "delta": 1e-6, "classes": ["no", "yes"]}


def session() -> Session:
    return dp.protect(PEOPLE, unit="row", budget=dp.Budget(epsilon=100, delta=0.01), ledger=":memory:", allow_seeded=True)


def by_hand(frame: pd.DataFrame) -> pd.DataFrame:
    with np.errstate(divide="ignore"):
        return frame.assign(**{"log(income)": np.log(frame["income"]), "I(hours > 40)": frame["hours"] > 40})


@pytest.mark.parametrize(
    ("model", "classifier"), [("additive", "additive_classifier"), ("naive_bayes", "naive_bayes"), ("tree", "decision_tree")]
)
def test_a_formula_is_the_classifier_of_its_columns_and_predicts_from_those_it_names(model: Any, classifier: str) -> None:
    release: Any = dp.classification(FORMULA, PEOPLE, model=model, rng=dp.testing.seeded(3), **SETTINGS)
    assert release.question.startswith(f"{classifier}([age, log(income), I(hours > 40), region], works, ")
    features = by_hand(PEOPLE)[["age", "log(income)", "I(hours > 40)", "region"]]
    given: Any = getattr(dp, classifier)(features, PEOPLE["works"], rng=dp.testing.seeded(3), **SETTINGS)
    assert release.value.to_dict() == given.value.to_dict()
    for new in (PEOPLE, pl.from_pandas(PEOPLE), PEOPLE.to_dict("list")):
        assert release.value.predict(new).tolist() == given.value.predict(features).tolist()
    assert release.value.predict_proba(PEOPLE) == pytest.approx(given.value.predict_proba(features))
    assert release.value.predict(features).tolist() == given.value.predict(features).tolist()
    assert release.value.predict({"age": 20, "income": 1e4, "hours": 30, "region": "elsewhere"}).tolist() == ["yes"]
    assert np.mean(release.value.predict(PEOPLE) == PEOPLE["works"]) > 0.8


def test_in_a_session_it_is_the_question_about_derived_columns_and_is_paid_once() -> None:
    table = session()
    first: Any = table.where("age < 70").classification("{hours > 40} ~ age + log(income)", epsilon=5)
    derived = {"log(income)": "log(income)", "hours > 40": "hours > 40"}
    narrowed = table.where("age < 70").with_columns(**derived)
    again: Any = narrowed.additive_classifier(["age", "log(income)"], "hours > 40", epsilon=5)
    assert again.value.to_dict() == first.value.to_dict()
    assert table.ledger.spent == dp.PrivacyCost(5)
    assert first.value.predict({"age": [30], "income": [1e4]}).shape == (1,)
    with pytest.raises(dp.UnknownNameError, match="income"):
        first.value.predict({"age": [30]})
    document = narrowed.document("additive_classifier", ["age", "log(income)"], "hours > 40", epsilon=5)
    assert table.ask(document).value.to_dict() == first.value.to_dict()


def test_in_groups_every_model_predicts_from_the_columns_of_the_formula() -> None:
    groups = session().group_by("region", keys=["north", "south"])
    answers: Any = groups.classification("I(age < 50) ~ age + log(income)", epsilon=10, delta=1e-6)
    assert answers.cost == dp.PrivacyCost(10, "1e-6")
    assert [answer.value.predict({"age": 20, "income": 0}).tolist() for _, answer in answers.items()] == [[True], [True]]


def test_labels_are_listed_in_the_formula_or_beside_it() -> None:
    inline = "C(works, levels=['no', 'yes']) ~ age + C(year, levels=[2023, 2024]) + C(region)"
    levels = {"region": ["north", "south", "west"]}
    release: Any = dp.classification(inline, PEOPLE, levels=levels, epsilon=10)
    assert release.value.classes == ("no", "yes")
    assert [feature.labels for feature in release.value.features] == [(), (2023, 2024), ("north", "south", "west")]
    with pytest.raises(dp.InvalidParameterError, match="classes are listed twice"):
        dp.classification(inline, PEOPLE, levels=levels, **SETTINGS)


@pytest.mark.parametrize(
    ("formula", "words", "complaint"),
    [
        ("works ~ age * income", {}, "'age:income' multiplies some"),
        ("works ~ age - 1", {}, "no intercept"),
        ("works ~ age + I(age)", {}, "'age' twice"),
        ("works ~ age + works", {}, "one of its features"),
        ("works ~ scale(age)", {}, "all rows"),
        ("works ~ C(year)", {}, "list them, levels="),
        ("works ~ C(region)", {"delta": 0}, "labels of 'region' are not known"),
        ("works ~ age", {"levels": {"region": ["north"]}}, "no category of the formula"),
        ("works ~ age", {"model": "forest"}, "model must be one of 'additive', 'naive_bayes', 'tree'"),
        ("~ age", {}, "no outcome"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_spent(formula: str, words: dict[str, Any], complaint: str) -> None:
    table = session()
    for ask in (table.classification, lambda text, **given: dp.classification(text, PEOPLE, **given)):
        with pytest.raises(dp.DpstatsError, match=complaint):
            ask(formula, **{**SETTINGS, **words})
    assert table.ledger.spent == dp.PrivacyCost(0)


def test_a_protected_table_answers_by_itself() -> None:
    with pytest.raises(dp.DataTypeError, match="answers by itself"):
        dp.classification(FORMULA, session(), **SETTINGS)
    with pytest.raises(dp.InvalidParameterError, match="unit was fixed"):
        session().classification(FORMULA, unit="person", **SETTINGS)  # type: ignore[call-arg]
