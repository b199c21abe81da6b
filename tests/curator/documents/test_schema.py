"""The schema of documents: made from the registry, and as strict as a shape can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.documents.document import WORDS
from dpstats.curator.documents.plan_documents import PLAN_WORDS, read_plan
from dpstats.curator.documents.schema import plan_schema
from dpstats.curator.formulas import MODELS
from dpstats.foundations.json_types import fits, json_type_of
from dpstats.foundations.registry import REQUIRED, find_statistic, statistic_names
from tests.features import feature_statistics as _feature_statistics
from tests.json_schema import complaints
from tests.parameter_values import values_of

feature_statistics = _feature_statistics
SCHEMA = dp.question_schema()
MEDIAN = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.2"}
FORMULA = {"version": 1, "statistic": "regression", "formula": "income ~ age", "epsilon": 0.2}


def test_the_schema_names_every_statistic_with_its_parameters_and_methods() -> None:
    assert SCHEMA["properties"]["statistic"]["enum"] == [*statistic_names(), "regression"]
    assert [*SCHEMA["properties"]] == [*WORDS]
    for name in statistic_names():
        statistic, found = find_statistic(name), SCHEMA["$defs"][name]["properties"]
        assert found["method"]["enum"] == ["auto", *statistic.methods]
        assert all(method.claim in found["method"]["description"] for method in statistic.methods.values())
        assert [*found["parameters"]["properties"]] == [each.name for each in statistic.parameters]
        for parameter in statistic.parameters:
            stated = found["parameters"]["properties"][parameter.name]
            assert stated["description"] == parameter.help
            assert ("default" in stated) == (parameter.default is not REQUIRED)
            assert json_type_of(parameter), "a parameter whose default does not say its JSON type must state it"


def test_a_new_statistic_is_in_the_schema_by_itself(feature_statistics: None) -> None:
    schema = dp.question_schema()
    document = {"version": 1, "statistic": "told", "features": ["age"], "outcome": "income", "epsilon": 1}
    assert complaints({**document, "parameters": {"power": 2}}, schema) == []
    assert complaints({**document, "parameters": {"power": "2"}}, schema) == ["$.parameters.power is no integer"]
    assert complaints(document, SCHEMA) != []


def test_the_schema_is_plain_json_and_stays_the_callers() -> None:
    assert json.loads(json.dumps(SCHEMA, allow_nan=False)) == SCHEMA
    dp.question_schema()["properties"].clear()
    assert dp.question_schema() == SCHEMA


def test_a_plan_is_a_question_with_more_words_that_may_leave_epsilon_out() -> None:
    schema = plan_schema()
    assert [*schema["properties"]["plan"]["properties"]] == [*PLAN_WORDS]
    question = {name: value for name, value in MEDIAN.items() if name != "epsilon"}
    fine = [
        {},
        {"n": 5_000, "epsilon": ["1/3", 0.2]},
        {"n": [10, 20], "half_width": "5%", "shape": ["normal", {"0.5": 3, "0.9": 7}]},
    ]
    for words in fine:
        assert complaints({**question, "plan": words}, schema) == []
        assert read_plan({**question, "plan": words}).words == words
    for words in ({"rows": 5}, {"n": "5"}, {"shape": "round"}, {"repeats": "3"}):
        assert complaints({**question, "plan": words}, schema) != []


def test_defaults_are_of_the_type_that_is_stated() -> None:
    for name in statistic_names():
        for parameter, stated in SCHEMA["$defs"][name]["properties"]["parameters"]["properties"].items():
            if "default" in stated:
                assert complaints(stated["default"], stated) == [], (name, parameter)
                assert fits(stated["default"], stated), (name, parameter)


def test_the_reader_and_the_schema_have_the_same_idea_of_a_type() -> None:
    """`fits` knows the few words of JSON Schema that parameters use; here it is held to the checker."""
    plain: list[Any] = [None, True, 0, 1, 2.5, "", "auto", "a", {}, {"a": 1}, {"a": [1, 2]}, {"a": None}]
    plain += [[], [1], [1, 2], [1, 2, 3], ["a", 0.5], [["a", 0.5], ["b", 0.5]], [True, "a"], [[1, 2], [3, 4]], [None], [{}]]
    plain += [[0.5] * size for size in (3, 100, 101)]
    for name in statistic_names():
        for parameter in find_statistic(name).parameters:
            kind = json_type_of(parameter)
            texts = [value for value in values_of(parameter) if isinstance(value, (str, int))]
            for value in [*plain, *texts]:
                assert fits(value, kind) == (not complaints(value, kind)), (name, parameter.name, value)


@pytest.mark.parametrize(
    "document",
    [
        MEDIAN,
        {**MEDIAN, "epsilon": 0.2},
        {**MEDIAN, "epsilon": "1/3", "delta": "1e-7", "method": "ptr"},
        {**MEDIAN, "interval": None},
        {**MEDIAN, "where": ["age > 3"], "with_columns": [{"name": "rate", "expression": "income / hours"}], "select": ["rate"]},
        {**MEDIAN, "group_by": {"columns": ["region"]}},
        {**MEDIAN, "group_by": {"columns": ["region", "age"], "keys": [["north", 3], ["south", 4.5]]}},
        {**MEDIAN, "group_by": {"columns": ["region", "age"], "keys": {"region": ["north"], "age": [3, 4]}}},
        {"version": 1, "statistic": "count", "epsilon": 1},
        {"version": 1, "statistic": "count", "columns": ["income"], "epsilon": 1},
        {"version": 1, "statistic": "mle", "columns": ["age", "income"], "parameters": {"family": "linear"}, "epsilon": 1},
        FORMULA,
        {**FORMULA, "model": "quantile", "parameters": {"quantile": "3/4"}, "levels": {"region": ["north", "south"]}},
        {**FORMULA, "method": "dwork-lei", "delta": 1e-7},
    ],
)
def test_a_document_is_valid(document: dict[str, Any]) -> None:
    assert complaints(document, SCHEMA) == []


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({**MEDIAN, "version": 2}, "$.version is none of [1]"),
        ({**MEDIAN, "columns": []}, "$.columns is too short"),
        ({**MEDIAN, "columns": ["a", "b"]}, "$.columns is too long"),
        ({**MEDIAN, "epsilon": "a little"}, "$.epsilon is not written as it must be"),
        ({**MEDIAN, "epsilon": None}, "$.epsilon is no ['number', 'string']"),
        ({**MEDIAN, "epsilonn": 1}, "$.epsilonn is not allowed"),
        ({**MEDIAN, "method": "ptr"}, "$ has no delta"),
        ({**MEDIAN, "statistic": "mode"}, "$ has no delta"),
        ({**MEDIAN, "parameters": {"q": 0.5}}, "$.parameters.q is not allowed"),
        ({**MEDIAN, "statistic": "quantile"}, "$ has no parameters"),
        ({**MEDIAN, "statistic": "quantile", "parameters": {}}, "$.parameters has no q"),
        ({**MEDIAN, "features": ["age"]}, "$.features is not allowed"),
        ({**MEDIAN, "formula": "a ~ b"}, "$.formula is not allowed"),
        ({**MEDIAN, "where": "age > 3"}, "$.where is no array"),
        ({**MEDIAN, "group_by": {"keys": ["north"]}}, "$.group_by has no columns"),
        ({**FORMULA, "columns": ["age"]}, "$.columns is not allowed"),
        ({**FORMULA, "parameters": {"quantile": 0.5}}, "$.parameters.quantile is not allowed"),
        ({**FORMULA, "parameters": {"intercept": False}}, "$.parameters.intercept is not allowed"),
        (
            {**FORMULA, "model": "poisson", "method": "dwork-lei"},
            "$.method is none of ['auto', 'steps', 'gaussian_steps', 'huber', 'gaussian_huber']",
        ),
        ({**FORMULA, "method": "robust"}, "$ has no delta"),
    ],
)
def test_a_document_that_is_none_is_invalid(document: dict[str, Any], complaint: str) -> None:
    assert complaint in complaints(document, SCHEMA)


def test_every_model_of_formulas_is_in_the_schema() -> None:
    for model in MODELS:
        assert complaints({**FORMULA, "model": model}, SCHEMA) == []
    assert complaints({**FORMULA, "model": "ridge"}, SCHEMA) != []
