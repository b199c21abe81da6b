"""What a document may hold, and what is said of one that may not: with the place of it, and the nearest name."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.curator.documents.document import WORDS
from dpstats.curator.documents.reading import read_document
from dpstats.foundations.registry import find_statistic, statistic_names
from tests.json_schema import complaints
from tests.questions import UnreadableStore, columns_for, required_of, session

SURVEY = session(UnreadableStore())
SCHEMA = dp.question_schema()
MEDIAN = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.2"}
FORMULA = {"version": 1, "statistic": "regression", "formula": "income ~ age", "epsilon": "0.2"}
QUANTILE = {**MEDIAN, "statistic": "quantile", "parameters": {"q": 0.5}}
LINEAR = {"version": 1, "statistic": "linear_regression", "features": ["age"], "outcome": "income", "epsilon": 1}


class Odd(str):
    """A text that could run something."""

    __slots__ = ()


def without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {word: value for word, value in document.items() if word != name}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (without(MEDIAN, "version"), r"^version must be 1"),
        ({**MEDIAN, "version": 2}, r"^version must be 1"),
        ({**MEDIAN, "version": True}, r"^version must be 1"),
        (without(MEDIAN, "statistic"), r"^statistic is missing"),
        ({**MEDIAN, "statistic": "medain"}, r"^there is no statistic 'medain'; did you mean 'median'\?$"),
        ({**MEDIAN, "statistic": "average"}, r"^there is no statistic 'average'; did you mean 'mean'\?$"),
        ({**MEDIAN, "statistic": ["median"]}, r"^there is no statistic \['median'\]"),
        ({**MEDIAN, "statistic": "__class__"}, r"^there is no statistic '__class__'"),
        ({**MEDIAN, "epsilonn": 1}, r"^a question has no 'epsilonn'; did you mean 'epsilon'\?$"),
        ({**MEDIAN, "rng": 7}, r"^a question has no 'rng'"),
        (without(MEDIAN, "epsilon"), r"^epsilon is missing"),
        ({**MEDIAN, "epsilon": 0}, r"^epsilon must be a positive number"),
        ({**MEDIAN, "epsilon": None}, r"^epsilon must be a number"),
        ({**MEDIAN, "epsilon": True}, r"^epsilon must be a number"),
        ({**MEDIAN, "epsilon": [1]}, r"^epsilon must be a number"),
        ({**MEDIAN, "epsilon": "0_2"}, r"^epsilon must be a number, or a text such as"),
        ({**MEDIAN, "epsilon": "1\n"}, r"^epsilon must be a number, or a text such as"),
        ({**MEDIAN, "epsilon": "1/0"}, r"^epsilon must be a number"),
        ({**MEDIAN, "epsilon": float("inf")}, r"^epsilon must be a finite number"),
        ({**MEDIAN, "delta": 0.7}, r"^delta must be at least 0 and below 0.5"),
        ({**MEDIAN, "delta": "tiny"}, r"^delta must be a number"),
        ({**MEDIAN, "method": "pt"}, r"^method of median has no 'pt'; did you mean 'ptr'\?$"),
        ({**MEDIAN, "method": None}, r"^method of median has no None"),
        ({**MEDIAN, "interval": 2}, r"^interval must be a level from 0.5 to 0.999"),
        (without(MEDIAN, "columns"), r"^columns must be a list of 1 for median"),
        ({**MEDIAN, "columns": "income"}, r"^columns must be a list"),
        ({**MEDIAN, "columns": ["income", "age"]}, r"^columns must be a list of 1 for median"),
        ({**MEDIAN, "columns": [3]}, r"^columns\[0\] must be a text"),
        ({**MEDIAN, "features": ["age"]}, r"^features: median takes columns: leave it out"),
        ({**MEDIAN, "formula": "a ~ b"}, r"^formula is for the statistic \"regression\""),
        ({**MEDIAN, "parameters": {"q": 1}}, r"^parameters of median has no 'q'; there is none\.$"),
        ({**QUANTILE, "parameters": []}, r"^parameters must be an object"),
        ({**QUANTILE, "parameters": {"Q": 1}}, r"^parameters of quantile has no 'Q'; did you mean 'q'\?$"),
        ({**QUANTILE, "parameters": {}}, r"^parameters\.q is missing: which quantile"),
        ({**QUANTILE, "parameters": {"q": 3}}, r"^parameters\.q must be between 0 and 1"),
        ({**QUANTILE, "parameters": {"q": None}}, r"^parameters\.q must be a number"),
        ({**QUANTILE, "parameters": {"q": {"0.5": 1}}}, r"^parameters\.q is of another JSON type"),
        ({**LINEAR, "columns": ["age", "income"]}, r"^columns: linear_regression takes features and outcome"),
        (without(LINEAR, "outcome"), r"^outcome must name a column"),
        (without(LINEAR, "features"), r"^features must list a column"),
        ({**LINEAR, "features": ["age", "age"]}, r"^features: linear_regression got the feature 'age' twice"),
        ({**LINEAR, "features": ["income"]}, r"^features: 'income' is the outcome"),
        (without(FORMULA, "formula"), r"^formula must be a text"),
        ({**FORMULA, "columns": ["age"]}, r"^columns: the formula names the columns"),
        ({**FORMULA, "model": "logit"}, r"^there is no model 'logit'; did you mean 'logistic'\?$"),
        ({**FORMULA, "parameters": {"intercept": False}}, r"^parameters\.intercept: a formula says itself"),
        ({**FORMULA, "parameters": {"quantile": 0.5}}, r"^parameters of linear has no 'quantile'"),
        ({**FORMULA, "levels": {"region": "north"}}, r"^levels\.region must be a list of labels"),
        ({**FORMULA, "levels": {"region": ["north", None]}}, r"^levels\.region\[1\] must be a text"),
        ({**FORMULA, "levels": ["north"]}, r"^levels must be an object"),
        ({**MEDIAN, "where": "age > 3"}, r"^where must be a list"),
        ({**MEDIAN, "where": ["age > 3", 3]}, r"^where\[1\] must be a text"),
        ({**MEDIAN, "with_columns": {"rate": "income / hours"}}, r"^with_columns must be a list"),
        ({**MEDIAN, "with_columns": [["rate", "income / hours"]]}, r"^with_columns\[0\] must be an object such as"),
        ({**MEDIAN, "with_columns": [{"name": "rate"}]}, r"^with_columns\[0\] must be an object such as"),
        ({**MEDIAN, "group_by": ["region"]}, r"^group_by must be an object"),
        ({**MEDIAN, "group_by": {}}, r"^group_by\.columns must list a column"),
        ({**MEDIAN, "group_by": {"columns": ["region"], "key": []}}, r"^group_by has no 'key'; did you mean 'keys'\?$"),
        ({**MEDIAN, "group_by": {"columns": ["region"], "keys": []}}, r"^group_by\.keys must be a list of labels"),
        ({**MEDIAN, "group_by": {"columns": ["region"], "keys": ["a", None]}}, r"^group_by\.keys\[1\] must be a text"),
        (
            {**MEDIAN, "group_by": {"columns": ["region"], "keys": {"region": [[]]}}},
            r"^group_by\.keys\.region\[0\] must be a text",
        ),
        ([MEDIAN], r"^the document must be an object"),
        (None, r"^the document must be an object"),
        (7, r"^the document must be an object"),
    ],
)
def test_a_wrong_document_is_refused_with_its_place(document: Any, words: str) -> None:
    with pytest.raises(dp.DpstatsError, match=words):
        read_document(document)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({**MEDIAN, "columns": ["incme"]}, r"^columns: there is no column incme.*Did you mean income\?$"),
        ({**MEDIAN, "columns": ["region"]}, r"^median needs numbers, and column region is of type text"),
        ({**LINEAR, "outcome": "wage"}, r"^outcome: there is no column wage"),
        ({**MEDIAN, "where": ["employed", "agee > 3"]}, r"^where\[1\]: there is no column agee.*Did you mean age\?"),
        ({**MEDIAN, "where": ["__import__('os').system('true')"]}, r"^where\[0\]: "),
        ({**MEDIAN, "with_columns": [{"name": "age", "expression": "1"}]}, r"^with_columns\[0\]: there is a column age already"),
        ({**MEDIAN, "with_columns": [{"name": "self", "expression": "1 +"}]}, r"^with_columns\[0\]: "),
        ({**MEDIAN, "select": ["agee"]}, r"^select: there is no column agee"),
        ({**MEDIAN, "select": ["age"]}, r"^columns: there is no column income; the columns are age"),
        ({**MEDIAN, "group_by": {"columns": ["regoin"]}}, r"there is no column regoin.*Did you mean region\?$"),
        ({**MEDIAN, "group_by": {"columns": ["region"], "keys": [3]}}, r"a key of column region must be of its type, text"),
        ({**MEDIAN, "group_by": {"columns": ["region"]}}, r"chosen privately, which needs delta"),
        ({**MEDIAN, "method": "ptr"}, r"median by method 'ptr' needs delta"),
        ({**FORMULA, "formula": "income ~ agee"}, r"there is no column agee"),
    ],
)
def test_what_does_not_fit_the_table_is_refused_and_costs_nothing(document: Any, words: str) -> None:
    before = SURVEY.ledger.entries()
    for form in (document, json.dumps(document)):
        with pytest.raises(dp.DpstatsError, match=words):
            SURVEY.ask(form)
    assert SURVEY.ledger.entries() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"no JSON: see line 1, column 1\.$"),
        ('{"version": 1,\n "statistic" 2}', r"no JSON: see line 2, column 14\.$"),
        ('{"epsilon": NaN}', "it has NaN in place of a number"),
        ('{"epsilon": -Infinity}', "it has -Infinity in place of a number"),
        ('{"epsilon": 1, "epsilon": 9}', "names 'epsilon' twice"),
        ('{"parameters": {"q": 0.1, "q": 0.9}}', "names 'q' twice"),
        ('{"epsilon": ' + "1" * 5000 + "}", "numbers of ordinary size"),
        ('{"epsilon": 1e99999999999999999999}', "epsilon must be a finite number"),
        ("[" * 100_000, "lists and objects in each other"),
        ('{"where": ' + "[" * 30 + "]" * 30 + "}", "lists and objects in each other"),
        (b"\xff\xfe\xff", "no JSON: it must be text in UTF-8"),
    ],
)
def test_text_that_is_no_document_is_refused_in_our_own_words(text: str | bytes, words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        read_document(text)


@pytest.mark.parametrize("value", [print, Odd("0.5"), {1}, object(), b"0.5", {1: 2}, type, range(3), 1 + 2j, float("nan")])
@pytest.mark.parametrize("place", WORDS)
def test_nothing_but_plain_values_is_taken(place: str, value: Any) -> None:
    for given_value in (value, [value], {"a": value}):
        with pytest.raises(dp.InvalidParameterError, match=rf"^{place}(\[0\]|\.a)? must be (plain JSON|a finite number)"):
            read_document({**MEDIAN, place: given_value})


@pytest.mark.parametrize(
    ("written", "epsilon"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.1000000000000000000001", Fraction(1000000000000000000001, 10**22)),
        ("1E-3", Fraction(1, 1000)),
        ("2", Fraction(2)),
        ('"1/3"', Fraction(1, 3)),
        ('"0.2"', Fraction(1, 5)),
        ('"1e-7"', Fraction(1, 10**7)),
    ],
)
def test_epsilon_is_what_is_written(written: str, epsilon: Fraction) -> None:
    read = read_document(json.dumps(MEDIAN).replace('"0.2"', written))
    assert read.epsilon == epsilon
    assert Fraction(read.to_dict()["epsilon"]) == epsilon


def test_a_parameter_is_what_is_written() -> None:
    digits = "0.30000000000000000000001"
    read = read_document(json.dumps(QUANTILE).replace("0.5", digits))
    assert Fraction(read.parameters["q"]) == Fraction(digits)
    with pytest.raises(dp.InvalidParameterError, match=r"^parameters\.bounds"):
        read_document(
            '{"version": 1, "statistic": "mle", "columns": ["income"], "epsilon": 1, '
            f'"parameters": {{"family": "gamma", "bounds": [[{digits}, 1], [1, 2]]}}}}'
        )


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")])
def test_a_decimal_that_is_no_number_is_refused(value: Decimal) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"^epsilon must be a finite number"):
        read_document({**MEDIAN, "epsilon": value})


def test_a_document_that_holds_itself_is_refused() -> None:
    document: dict[str, Any] = {**MEDIAN}
    document["parameters"] = document
    with pytest.raises(dp.InvalidParameterError, match="lists and objects in each other"):
        read_document(document)


@pytest.mark.parametrize("place", ["levels", "parameters", "group_by"])
def test_names_that_a_terminal_could_take_offence_at_are_escaped(place: str) -> None:
    held = {"columns": ["region"], "keys": {"\x1b[2J": 3}} if place == "group_by" else {"\x1b[2J": 3}
    with pytest.raises(dp.DpstatsError) as refused:
        read_document({**FORMULA, place: held})
    assert str(refused.value).isprintable()


def test_the_caller_cannot_change_a_document_after_it_was_read() -> None:
    document: dict[str, Any] = {**MEDIAN, "group_by": {"columns": ["region"], "keys": ["north"]}}
    read = read_document(document)
    document["group_by"]["keys"].append("south")
    assert read.keys == ["north"]


TEXTS = ["auto", "normal", "gamma", "a", "", "1/3", "0.5", "\ud800", "linear"]
NAMES = st.sampled_from(["a", "shape", "floc", "0.5"])
JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 2, 31, 200, -1, 0.5, 0.1, 1e300, *TEXTS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize("name", statistic_names())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_json_in_a_parameter_is_refused_in_our_words_or_fits_the_schema(name: str, data: st.DataObject) -> None:
    statistic = find_statistic(name)
    parameters = data.draw(st.fixed_dictionaries({}, optional={each.name: JSON for each in statistic.parameters}))
    document = SURVEY.document(name, *columns_for(statistic), **required_of(statistic), epsilon=1, delta=1e-7)
    document["parameters"] = {**document.get("parameters", {}), **parameters}
    try:
        canonical = read_document(document).to_dict()
    except dp.DpstatsError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert refusal.startswith("parameters")
        return
    assert complaints(document, SCHEMA) == []
    assert complaints(canonical, SCHEMA) == []
    assert read_document(canonical).to_dict() == canonical
    with_budget = session(UnreadableStore())
    try:
        with_budget.ask(document)
    except dp.DpstatsError:
        assert with_budget.ledger.spent.epsilon == 0


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=st.fixed_dictionaries({}, optional={word: JSON for word in WORDS if word not in ("version", "statistic")}))
def test_any_json_anywhere_is_refused_in_our_words_or_fits_the_schema(document: dict[str, Any]) -> None:
    for statistic in ("median", "linear_regression", "count", "regression"):
        whole = {"version": 1, "statistic": statistic, **document}
        try:
            canonical = read_document(whole).to_dict()
        except dp.DpstatsError:
            continue
        assert complaints(whole, SCHEMA) == []
        assert read_document(canonical).to_dict() == canonical
