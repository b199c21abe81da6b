"""A document becomes a question, and the question the same document: for all statistics, methods and values of parameters."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.curator.documents.reading import read_document
from dpstats.curator.session import Session
from dpstats.foundations.registry import AUTO, REQUIRED, Statistic, find_statistic, statistic_names
from tests.json_schema import complaints
from tests.parameter_values import other_values_of, values_of
from tests.questions import UnreadableStore, columns_for, outcome_of, required_of, session

SURVEY = session(UnreadableStore())
SCHEMA = dp.question_schema()
EPSILONS = (1, 0.1, "0.2", "1/3", Fraction(2, 7), 1e-3, np.float32(0.1))
DELTAS = (1e-7, "1e-9", Fraction(1, 3_000_000))
LEVELS = (0.95, None, 0.9, "0.99", Fraction(2, 3))
every_statistic = pytest.mark.parametrize("name", statistic_names())


@st.composite
def calls(draw: st.DrawFn, statistic: Statistic) -> dict[str, Any]:
    """What may be given by name to a statistic's method."""
    own = {}
    for parameter in statistic.parameters:
        if parameter.default is REQUIRED or draw(st.booleans()):
            own[parameter.name] = draw(st.sampled_from(values_of(parameter)))
    method = draw(st.sampled_from([AUTO, *statistic.methods]))
    needs_delta = any(each.needs_delta for each in statistic.methods.values())
    delta = {"delta": draw(st.sampled_from(DELTAS))} if needs_delta or draw(st.booleans()) else {}
    return {
        **own,
        "method": method,
        "epsilon": draw(st.sampled_from(EPSILONS)),
        "interval": draw(st.sampled_from(LEVELS)),
        **delta,
    }


@st.composite
def askers(draw: st.DrawFn, survey: Session) -> Any:
    """A session, narrowed in some way, or its groups."""
    if draw(st.booleans()):
        survey = survey.with_columns(rate="income / hours", double="2 * rate")
    for condition in draw(st.lists(st.sampled_from(["age>=30", "region in ['north', 'south']", "not employed or age == 1e2"]))):
        survey = survey.where(condition)
    if draw(st.booleans()):
        survey = survey.select("region", "income", "employed", "hours", "age", "born")
    groups: dict[str, Callable[[], Any]] = {
        "no groups": lambda: survey,
        "private": lambda: survey.group_by("region"),
        "known": lambda: survey.group_by("employed"),
        "listed": lambda: survey.group_by("region", keys=("south", "north")),
        "dates": lambda: survey.group_by("born", keys=[datetime.date(2000, 1, 1), "2000-01-02"]),
        "several": lambda: survey.group_by("age", "hours", keys=[(30, 2.5), (np.int64(31), 1e300)]),
        "combined": lambda: survey.group_by(["region", "employed"], keys={"employed": [True, 0], "region": ["north"]}),
    }
    return groups[draw(st.sampled_from([*groups]))]()


@every_statistic
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_recorded_document_is_canonical_plain_and_valid(name: str, data: st.DataObject) -> None:
    statistic = find_statistic(name)
    asker, call = data.draw(askers(SURVEY)), data.draw(calls(statistic))
    document = asker.document(name, *columns_for(statistic), **call)
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text) == document
    assert read_document(document).to_dict() == document
    assert json.dumps(read_document(text).to_dict()) == text
    assert complaints(document, SCHEMA) == []


@every_statistic
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_document_costs_what_the_call_costs_under_the_same_key_or_gets_the_same_complaint(
    name: str, data: st.DataObject
) -> None:
    statistic, survey = find_statistic(name), session(UnreadableStore())
    asker, call = data.draw(askers(survey)), data.draw(calls(statistic))
    columns = columns_for(statistic)
    document = asker.document(name, *columns, **call)
    called = outcome_of(survey, lambda: getattr(asker, name)(*columns, **call))
    assert outcome_of(survey, lambda: survey.ask(json.dumps(document))) == called


@every_statistic
def test_every_method_can_be_asked_by_a_document_with_defaults_and_with_each_other_value(name: str) -> None:
    statistic, survey = find_statistic(name), session(UnreadableStore())
    answered = set()
    for method in statistic.methods.values():
        delta = {"delta": 1e-7} if method.needs_delta else {}
        others = [{each.name: value} for each in statistic.parameters for value in other_values_of(each)[:4]]
        for changes in [{}, *others]:
            call = {**required_of(statistic), "method": method.name, "epsilon": 1, **delta, **changes}
            called = outcome_of(survey, lambda call=call: getattr(survey, name)(*columns_for(statistic), **call))
            document = survey.document(name, *columns_for(statistic), **call)
            assert outcome_of(survey, lambda document=document: survey.ask(document)) == called
            if not isinstance(called, str):
                answered.add(method.name)
    beyond = {
        "sample_and_aggregate": {"tested"},
        "mle": set(find_statistic("mle").methods),  # families of other rows: below
        **{each: set(find_statistic(each).methods) for each in ("mwem", "small_database")},  # see test_universes.py
    }
    assert answered >= statistic.methods.keys() - beyond.get(name, set())


@pytest.mark.parametrize(
    ("columns", "call"),
    [
        (["income"], {"family": "normal", "method": "scores"}),
        (["income"], {"family": "gamma", "method": "gaussian_scores", "delta": 1e-6}),
        (["income"], {"family": "gamma", "method": "bounded_scores"}),
        (["income"], {"family": "normal", "method": "gaussian_bounded_scores", "delta": 1e-6}),
        (["income"], {"family": "gamma", "method": "blocks", "blocks": 1000}),
        (["income"], {"family": "gamma", "bounds": {"shape": (0.1, 10), "scale": (0.1, 100)}, "blocks": 30}),
        (["age"], {"family": "binomial", "trials": 100}),
        (["age"], {"family": "normal_mixture", "components": 3}),
        (["income"], {"family": "lomax", "fixed": {"floc": 0}}),
        (["age", "hours", "income"], {"family": "linear"}),
    ],
)
def test_families_of_laws_are_asked_by_documents(columns: list[str], call: dict[str, Any]) -> None:
    called = outcome_of(SURVEY, lambda: SURVEY.mle(columns, epsilon=1, **call))
    assert not isinstance(called, str), called
    document = SURVEY.document("mle", columns, epsilon=1, **call)
    assert outcome_of(SURVEY, lambda: SURVEY.ask(document)) == called


@every_statistic
def test_every_parameter_takes_a_value_other_than_its_default_of_the_type_that_it_states(name: str) -> None:
    for parameter in find_statistic(name).parameters:
        assert other_values_of(parameter), parameter.name


def test_equal_questions_have_equal_documents() -> None:
    quantiles: list[Any] = [[0.1, 0.5], ("0.1", "1/2"), np.array([0.1, 0.5]), [Fraction(1, 10), 0.5]]
    documents = [SURVEY.document("quantile", "income", q, epsilon=epsilon) for q in quantiles for epsilon in (0.2, "0.2", "1/5")]
    assert documents == [documents[0]] * len(documents)
    assert documents[0] == {
        "version": 1,
        "statistic": "quantile",
        "columns": ["income"],
        "parameters": {"q": [0.1, 0.5]},
        "epsilon": "0.2",
    }


def test_what_has_its_default_is_left_out_of_a_canonical_document() -> None:
    spelled = {
        "version": 1,
        "statistic": "trimmed_mean",
        "columns": ["income"],
        "parameters": {"trim": "0.1"},
        "epsilon": 1,
        "delta": 0,
        "method": "auto",
        "interval": "95/100",
        "where": [],
        "select": [],
        "with_columns": [],
    }
    assert read_document(spelled).to_dict() == {
        "version": 1,
        "statistic": "trimmed_mean",
        "columns": ["income"],
        "epsilon": "1",
    }


def test_dates_dicts_and_ratios_are_written_so_that_they_mean_the_same() -> None:
    day = datetime.date(2024, 1, 31)
    assert SURVEY.document("median_test", "income", "born", [day, "x", 2.5], epsilon=1)["parameters"] == {
        "groups": ["2024-01-31", "x", 2.5]
    }
    chances = {"a": Fraction(1, 3), "b": "2/3"}
    assert SURVEY.document("goodness_of_fit_test", "region", chances, epsilon=1)["parameters"] == {
        "probabilities": [["a", "1/3"], ["b", "2/3"]]
    }
    fixed = SURVEY.document("mle", "lomax", "income", fixed={"floc": 0}, bounds=None, epsilon=1)["parameters"]
    assert fixed == {"family": "lomax", "fixed": {"floc": 0}}
    assert SURVEY.document("sign_test", "income", "5.00000000000000000001", epsilon=1)["parameters"] == {
        "median": "500000000000000000001/100000000000000000000"
    }
