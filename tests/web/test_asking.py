"""Sentences, code to copy, and what to expect: what pages of questions are made of."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.documents.reading import read_document
from dpstats.curator.planning.curves import CurveLine, EpsilonCurve
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import find_statistic, statistic_names
from dpstats.web.asking.code import TABLE, python_call
from dpstats.web.asking.expectations import Expectation, rounded_down, rounded_up
from dpstats.web.asking.sentences import Sentence, read_parameters, sentence_of
from dpstats.web.figures.expected_width import expected_width
from tests.questions import UnreadableStore, columns_for, required_of, session

MEDIAN: dict[str, Any] = {"version": 1, "statistic": "median", "columns": ["a"], "epsilon": "0.2"}
DOCUMENTS = [
    MEDIAN,
    {**MEDIAN, "where": ["k == 'it'"], "interval": None, "rough": True},
    {**MEDIAN, "group_by": {"columns": ["k"], "keys": ["x", "y"]}, "delta": "1e-7", "method": "ptr"},
    {**MEDIAN, "statistic": "quantile", "parameters": {"q": [0.25, 0.75]}, "group_by": {"columns": ["k"]}},
    {"version": 1, "statistic": "linear_regression", "features": ["a", "b"], "outcome": "c", "epsilon": "1"},
    {
        "version": 1,
        "statistic": "regression",
        "formula": "c ~ a",
        "model": "quantile",
        "parameters": {"quantile": 0.9},
        "epsilon": "1",
    },
    {"version": 1, "statistic": "synthesize", "columns": ["a", "k"], "epsilon": "1"},
    {"version": 1, "statistic": "proportion", "columns": ["a > 0 and k == 'x'"], "epsilon": "1"},
    {
        "version": 1,
        "statistic": "count",
        "epsilon": "1",
        "with_columns": [{"name": "d", "expression": "a / b"}],
        "where": ["d > 1"],
    },
]


class Recorder:
    """Takes the calls of a session, and gives the document of the question."""

    def __init__(self, asker: Any) -> None:
        self.asker = asker

    def __getattr__(self, name: str) -> Any:
        if name in ("where", "with_columns", "select", "group_by"):
            return lambda *given, **words: Recorder(getattr(self.asker, name)(*given, **words))
        return lambda *given, **words: self.asker.document(name, *given, **words)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each["statistic"])
def test_code_to_copy_asks_the_same_question(document: dict[str, Any]) -> None:
    rows = {"a": [1.0], "b": [1.0], "c": [1.0], "k": ["x"]}
    table = dp.protect(rows, name="copied", unit="row", budget=dp.Budget(1), ledger=":memory:")
    canonical = read_document(document).to_dict()
    assert eval(python_call(canonical), {TABLE: Recorder(table)}) == canonical


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each["statistic"])
def test_a_sentence_makes_the_document_that_it_was_made_of(document: dict[str, Any]) -> None:
    canonical = read_document(document).to_dict()
    sentence = sentence_of(canonical)
    if sentence is None:
        assert {"with_columns", "select", "levels"} & canonical.keys() or "keys" in canonical["group_by"]
    else:
        fields: dict[str, Any] = {}
        for name, value in sentence.fields():
            fields[name] = [*fields.get(name, []), value] if name in ("columns", "by") else value
        assert read_document(Sentence(**fields).as_document()).to_dict() == canonical


def test_every_statistic_can_be_said_as_a_sentence_and_as_code() -> None:
    survey = session(UnreadableStore())
    for name in statistic_names():
        statistic = find_statistic(name)
        document = survey.document(name, *columns_for(statistic), **required_of(statistic), epsilon=1, delta="1e-7")
        sentence = sentence_of(document)
        assert sentence is not None
        assert read_document(sentence.as_document()).to_dict() == document
        assert eval(python_call(document), {TABLE: Recorder(survey)}) == document


@pytest.mark.parametrize("text", ["q", "= 3", "q =", "q = 1\nq = 2"])
def test_parameters_are_lines_of_names_and_values(text: str) -> None:
    assert read_parameters('q = [0.1, 0.9]\n\nfamily = normal\nx = "1"') == {"q": [0.1, 0.9], "family": "normal", "x": "1"}
    with pytest.raises(InvalidParameterError):
        read_parameters(text)


def curve(*widths: list[float | None], whole: float | None = 10.0) -> EpsilonCurve:
    epsilons = tuple(Fraction(2) ** each / 100 for each in range(len(widths[0])))
    lines = [CurveLine(500, str(place), tuple(each), (1.0,) * len(each), 0.5, whole, 0.03) for place, each in enumerate(widths)]
    return EpsilonCurve("median(a)", "universal", epsilons, tuple(lines), ())


def test_a_slider_turns_both_ways() -> None:
    expect = Expectation.of(curve([None, 8.0, 4.0, 2.0, 2.0], [9.0, 8.0, 4.0, 2.0, 2.0]), 500)
    assert expect is not None
    assert [each.epsilon for each in expect.points] == [0.02, 0.04, 0.08, 0.16]
    assert expect.unit == "% of the IQR"
    assert expect.without_privacy == pytest.approx(5)
    for epsilon in (0.02, 0.03, 0.05, 0.07):
        here = expect.at(epsilon)
        assert here is not None
        assert expect.epsilon_for(here.middle) == pytest.approx(epsilon)
    assert expect.epsilon_for(1) is None
    assert expect.at(0.01) is None
    assert Expectation.of(curve([None, None, None, None, 2.0]), 500) is None
    assert rounded_up(0.0123456) == Fraction("0.0124")
    assert rounded_up(0.2) == Fraction("0.2")
    assert rounded_down(Fraction(2, 3)) == Fraction("0.666")
    assert rounded_down(Fraction(1, 5)) == Fraction(1, 5)


@pytest.mark.parametrize("whole", [10.0, None])
@pytest.mark.parametrize("epsilon", [0.0001, 0.03, 5.0])
def test_the_curve_is_drawn_with_a_cross_wherever_one_stands(whole: float | None, epsilon: float) -> None:
    expect = Expectation.of(curve([8.0, 4.0, 2.0], [9.0, 6.0, 3.0], whole=whole), 500)
    assert expect is not None
    drawn = ET.fromstring(expected_width(expect, epsilon, "words & <signs>"))
    assert len(drawn.findall(".//{*}circle")) == 1
    assert drawn.findtext("{*}title") == "words & <signs>"
