"""Regressions by formulas, of tables and in sessions: what is fitted, what it costs, and what the card says."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator import formulas
from dpstats.curator.chosen_levels import LEVELS_SHARE, split_price
from dpstats.curator.session import Session
from dpstats.foundations.registry import Answer, Method, Question, ask
from dpstats.statistics.regression.fit import RegressionFit, named, revive_fit
from dpstats.statistics.step_regressions import LINEAR_REGRESSION

ROWS = 3_000
COSTS: list[Any] = []


def least_squares(table: Any, question: Question, rng: Any) -> Answer:
    """An ordinary fit, which protects nobody; it notes what it was given to spend."""
    COSTS.append(question.cost)
    *features, outcome = table.matrix().T
    has_intercept = question.arguments["intercept"]
    design = np.column_stack([*([np.ones(len(outcome))] if has_intercept else []), *features])
    found = np.linalg.lstsq(design, outcome, rcond=None)[0].tolist()
    names, name = named(question)
    intercept = found.pop(0) if has_intercept else 0.0
    return Answer(RegressionFit("linear", name, names, intercept, tuple(found), rows=len(outcome), has_intercept=has_intercept))


PLAIN = Method("plain", "epsilon-DP: a stand-in", least_squares)
HALVED = Method("halved", "(epsilon, delta)-DP: a stand-in", least_squares, needs_delta=True)


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(LINEAR_REGRESSION.methods, "plain", PLAIN)
    monkeypatch.setitem(LINEAR_REGRESSION.methods, "halved", HALVED)
    revive = LINEAR_REGRESSION.revive
    object.__setattr__(LINEAR_REGRESSION, "revive", revive_fit)
    COSTS.clear()
    yield
    object.__setattr__(LINEAR_REGRESSION, "revive", revive)


def people() -> pd.DataFrame:
    chance = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "person": np.arange(ROWS) // 2,
            "age": chance.integers(18, 80, ROWS),
            "hours": chance.gamma(4.0, 10.0, ROWS),
            "region": chance.choice(["north", "south", "west"], ROWS, p=[0.5, 0.3, 0.2]),
            "flag": chance.random(ROWS) < 0.5,
        }
    )
    frame["income"] = np.exp(5 + 0.02 * frame["age"] + 0.3 * (frame["region"] == "south"))
    frame.loc[0, "region"] = "nowhere else"
    return frame


PEOPLE = people()
LEVELS = {"region": ["north", "south", "west"]}


def fitted(formula: str, data: Any = None, **keywords: Any) -> Any:
    settings = {"epsilon": 1, "method": "plain", **keywords}
    return dp.regression(formula, PEOPLE if data is None else data, **settings)


def session(**changes: Any) -> Session:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=100, delta=0.01), "ledger": ":memory:", **changes}
    return dp.protect(PEOPLE, **settings)


def test_a_formula_is_fitted_on_the_rows_that_have_all_of_it() -> None:
    release = fitted("log(income) ~ age + C(region)", levels=LEVELS)
    fit = release.value
    assert fit.features == ("age", "C(region)[T.south]", "C(region)[T.west]")
    assert fit.outcome == "log(income)"
    assert fit.params == pytest.approx([5, 0.02, 0.3, 0], abs=1e-9)
    assert fit.rows == ROWS - 1
    assert release.question == "linear_regression(log(income) ~ age + C(region), method=plain)"
    assert dict(release.notes)["levels"] == "region: north (reference), south, west; rows with another label are left out"
    assert release.cost == dp.PrivacyCost(1)
    assert [cost.epsilon for cost in COSTS] == [1]


def test_a_formula_fit_predicts_from_the_columns_of_the_formula() -> None:
    fit = fitted("log(income) ~ log(age) * region + flag", levels=LEVELS).value
    new = PEOPLE.iloc[1:6]
    age, south, west = np.log(new["age"]), new["region"] == "south", new["region"] == "west"
    by_hand = fit.params @ [age**0, age, south, west, new["flag"], age * south, age * west]
    assert fit.predict(new) == pytest.approx(by_hand)
    assert fit.predict(pl.from_pandas(new)) == pytest.approx(by_hand)
    assert fit.predict({"age": 30, "region": "south", "flag": False}).shape == (1,)
    assert np.isnan(fit.predict({"age": 30, "region": "nowhere else", "flag": False})[0])


def test_no_intercept_is_written_in_the_formula() -> None:
    release = fitted("log(income) ~ 0 + region + age", levels=LEVELS)
    assert not release.value.has_intercept
    assert release.value.features == ("region[north]", "region[south]", "region[west]", "age")
    assert release.question == "linear_regression(log(income) ~ 0 + region + age, method=plain)"
    with pytest.raises(dp.InvalidParameterError, match="write - 1 in it"):
        fitted("income ~ age", intercept=False)


@pytest.mark.parametrize("data", [PEOPLE.to_dict("list"), pl.from_pandas(PEOPLE), dict(PEOPLE)])
def test_every_container_gives_the_same_fit(data: Any) -> None:
    known = fitted("income ~ age + C(region)", levels=LEVELS).value
    assert fitted("income ~ age + C(region)", data, levels=LEVELS).value.params == pytest.approx(known.params)


def test_the_levels_of_an_enum_are_known_and_those_of_a_categorical_are_not() -> None:
    frame = pl.from_pandas(PEOPLE[["income", "region"]])
    order = ["south", "north", "west", "nowhere else", "empty"]
    fit = fitted("income ~ region", frame.with_columns(pl.col("region").cast(pl.Enum(order)))).value
    assert fit.features == tuple(f"region[T.{label}]" for label in order[1:])
    for unknown in (PEOPLE.astype({"region": "category"}), frame.with_columns(pl.col("region").cast(pl.Categorical))):
        with pytest.raises(dp.MissingParameterError, match=r"levels=\{'region': \[\.\.\.\]\}; or .* needs delta"):
            fitted("income ~ region", unknown)
    assert len(COSTS) == 1


def test_unknown_levels_are_found_privately_with_a_share_of_the_price() -> None:
    release = fitted("log(income) ~ age + region", delta=1e-6, rng=dp.testing.seeded(3))
    assert release.value.features == ("age", "region[T.south]", "region[T.west]")
    assert release.value.rows == ROWS - 1
    assert release.cost == dp.PrivacyCost(1, 1e-6)
    assert [(cost.epsilon, cost.delta) for cost in COSTS] == [(Fraction(9, 10), 0)]
    notes = dict(release.notes)
    assert notes["levels"].startswith("region: north (reference), south, west")
    assert "1/10 of epsilon and all of delta" in notes["choice of levels"]
    assert "(epsilon, delta)-DP in all" in release.claim
    assert release.value.predict({"age": [30], "region": ["south"]}) == pytest.approx([5.9])


def test_a_method_with_a_delta_shares_it_with_the_choice() -> None:
    fitted("income ~ region", method="halved", delta=1e-6, rng=dp.testing.seeded(3))
    assert [(cost.epsilon, cost.delta) for cost in COSTS] == [(Fraction(9, 10), Fraction(1, 2_000_000))]


@pytest.mark.parametrize(("neighbors", "steps"), [("add_remove", 1), ("change_one", 2)])
def test_the_prices_of_choice_and_fit_add_up_to_the_whole(neighbors: str, steps: int) -> None:
    question = ask("linear_regression", epsilon=1, delta=1e-6, method="halved", neighbors=neighbors)
    price, rest = split_price(question, 2)
    assert 2 * steps * price.epsilon == LEVELS_SHARE
    assert rest.epsilon + 2 * steps * price.epsilon == question.epsilon
    growth = 1 if steps == 1 else 1 + np.exp(float(price.epsilon))
    assert float(rest.delta + 2 * price.delta * Fraction(growth)) == pytest.approx(1e-6)
    assert rest.neighbors is question.neighbors


def test_a_category_with_one_level_is_an_error() -> None:
    with pytest.raises(dp.InvalidParameterError, match="one level"):
        dp.regression("income ~ age + region", people(), epsilon=1, levels={"region": ["north"]})


def test_labels_that_are_too_rare_get_no_reply_at_the_full_price() -> None:
    rare = {"x": np.arange(40.0), "label": [str(place) for place in range(40)], "y": np.arange(40.0)}
    reply = fitted("y ~ x + C(label)", rare, delta=1e-6)
    assert isinstance(reply, dp.NoReply)
    assert reply.cost == dp.PrivacyCost(1, 1e-6)
    assert "Too few rows share a label" in reply.reason
    assert reply.question == "linear_regression(y ~ x + C(label), method=plain)"
    assert not COSTS


def test_of_too_many_labels_the_rarest_are_left_out() -> None:
    labels = np.repeat(np.arange(60), np.arange(400, 1000, 10))
    data = {"label": labels, "y": labels * 1.0}
    fit = fitted("y ~ C(label)", data, epsilon=20, delta=1e-6, rng=dp.testing.seeded(3)).value
    assert len(fit.features) == formulas.MOST_FEATURES
    assert fit.features[-1] == "C(label)[T.59]"
    assert "C(label)[T.3]" not in fit.features


def test_too_little_for_the_choice_is_an_error_before_anything_is_read() -> None:
    with pytest.raises(dp.InvalidParameterError, match="epsilon"):
        fitted("income ~ region", epsilon=Fraction(2, 10**9), delta=1e-6)


def test_models_are_known_by_name_and_get_their_own_parameters() -> None:
    with pytest.raises(dp.UnknownNameError, match="'linear', 'quantile', 'logistic', 'poisson'"):
        fitted("income ~ age", model="cubic")
    with pytest.raises(dp.UnknownNameError, match="linear_regression has no parameter 'quantile'"):
        fitted("income ~ age", quantile=0.9)
    with pytest.raises(dp.MissingParameterError, match="needs epsilon"):
        dp.regression("income ~ age", PEOPLE)
    with pytest.raises(dp.InvalidParameterError, match="from 1 to 40 features"):
        fitted("income ~ C(age)", levels={"age": list(range(18, 60))})
    with pytest.raises(dp.InvalidParameterError, match="two levels or more"):
        fitted("income ~ C(age)", levels={"age": [18]})
    with pytest.raises(dp.DataTypeError, match=r"table\.regression"):
        fitted("income ~ age", session())


def test_what_goes_wrong_because_of_the_data_is_one_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("income 812")

    monkeypatch.setattr(formulas, "choose_levels", fail)
    reply = fitted("income ~ region", delta=1e-6)
    assert isinstance(reply, dp.NoReply)
    assert reply.reason == "The answer could not be computed."
    survey = session()
    assert survey.regression("income ~ region", epsilon=1, delta=1e-6, method="plain").reason == reply.reason
    assert str(survey.ledger.spent) == "epsilon = 1, delta = 0.000001"
    with pytest.raises(ZeroDivisionError):
        fitted("income ~ region", delta=1e-6, rng=dp.testing.seeded(3))


def test_a_session_takes_declared_keys_and_answers_the_same_question_once() -> None:
    survey = session(keys=LEVELS, name="people", edition="1")
    release = survey.regression("log(income) ~ age + region", epsilon=1, method="plain")
    assert release.value.params == pytest.approx([5, 0.02, 0.3, 0], abs=1e-9)
    again = survey.regression("log(income)~age+ region", epsilon=1, method="plain")
    assert again.value == release.value
    assert dict(again.notes)["archive"]
    assert again.value.predict(PEOPLE.iloc[1:4]) == pytest.approx(release.value.predict(PEOPLE.iloc[1:4]))
    assert survey.ledger.spent.epsilon == 1
    other = survey.regression("log(income) ~ age + region", levels={"region": ["south", "north"]}, epsilon=1, method="plain")
    assert other.value.features == ("age", "region[T.north]")
    assert survey.ledger.spent.epsilon == 2


def test_a_session_narrows_derives_and_leaves_the_unit_out_of_a_dot() -> None:
    survey = session(unit="person", max_rows_per_unit=2)
    narrowed = survey.where("age >= 30").with_columns(twice="2 * hours")
    release = narrowed.regression("log(income) ~ .", epsilon=1, method="plain")
    assert release.value.features == ("age", "hours", "twice")
    assert release.question == "linear_regression(log(income) ~ ., method=plain) where age >= 30 (at most 2 rows of each person)"
    assert release.value.rows == int((PEOPLE["age"] >= 30).sum())
    assert [cost.epsilon for cost in COSTS] == [Fraction(1, 2)]
    assert release.cost == dp.PrivacyCost(1, 0, "add_remove", "person")
    assert dict(release.notes)["rows used"] == "at most 2 rows of each person"
    assert release.value.predict({"age": [30], "hours": [10.0]}).shape == (1,)


def test_levels_that_a_session_finds_are_debited_with_the_fit_once_for_all() -> None:
    survey = session(unit="person", max_rows_per_unit=2, name="people", edition="1")
    ask_again: dict[str, Any] = {"epsilon": 2, "delta": 1e-6, "method": "plain"}
    release = survey.regression("log(income) ~ C(lower(region)) + age", **ask_again)
    assert release.value.features == ("C(lower(region))[T.south]", "C(lower(region))[T.west]", "age")
    assert [(cost.epsilon, cost.delta) for cost in COSTS] == [(Fraction(9, 10), 0)]
    assert str(survey.ledger.spent) == "epsilon = 2, delta = 0.000001"
    again = survey.regression("log(income) ~ C(lower(region)) + age", **ask_again)
    assert again.value == release.value
    assert str(survey.ledger.spent) == "epsilon = 2, delta = 0.000001"
    by_name = {"C(lower(region))[T.south]": [1], "C(lower(region))[T.west]": [0], "age": [30]}
    assert again.value.predict(by_name) == pytest.approx([5.9])
    with pytest.raises(dp.MissingParameterError, match="are not known"):
        survey.regression("income ~ region", epsilon=1, method="plain")


def test_a_session_fixes_unit_and_neighbours() -> None:
    with pytest.raises(dp.InvalidParameterError, match="unit was fixed"):
        session().regression("income ~ age", epsilon=1, unit="row")
    assert not COSTS


def test_under_change_one_found_levels_cost_a_row_twice() -> None:
    survey = session(neighbors="change_one", allow_seeded=True)
    survey.regression("income ~ region", epsilon=1, delta=1e-6, method="plain", rng=dp.testing.seeded(1))
    assert [cost.epsilon for cost in COSTS] == [Fraction(9, 20)]
    survey.regression("income ~ region", levels=LEVELS, epsilon=1, method="plain", rng=dp.testing.seeded(1))
    assert COSTS[-1].neighbors is dp.Neighbors.CHANGE_ONE


def test_the_function_is_public_documented_and_has_no_default_for_epsilon() -> None:
    assert "regression" in dp.__all__
    documentation = inspect.getdoc(dp.regression) or ""
    parameters = inspect.signature(dp.regression).parameters
    assert parameters["epsilon"].default is inspect.Parameter.empty
    assert all(f"  {name} " in documentation for name in parameters if name != "parameters")
