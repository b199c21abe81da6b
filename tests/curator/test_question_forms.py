"""Question forms: different questions have different keys, equal ones the same, and old archives are still recalled."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
import dpstats.statistics
from dpstats.curator import question_forms
from dpstats.curator.archive import is_from_archive
from dpstats.curator.desk import Desk, Request, form_of
from dpstats.curator.documents.reading import read_document
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.publishing import batch
from dpstats.curator.publishing.batch import answer_batch, price_batch
from dpstats.curator.question_forms import QuestionForm, argument_form
from dpstats.curator.session import Session
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.json_types import json_type_of
from dpstats.foundations.registry import Parameter, find_statistic, statistic_names
from tests.curator.old_archives import CHANGED, PAID_AGAIN, RECALLED, archive
from tests.parameter_values import values_of

DAY = datetime.date(2024, 1, 31)
LEAVES = [
    *(True, False, None, "None", "True", 0, 1, 2, 3, 1.0, 2.0, -0.0, 1.5, 2.5, 0.5, 1e17, 10**17),
    *("1", "1.0", "1.5", "2.5", "1/2", "3/2", "2024-01-31", "datetime.date(2024, 1, 31)", "a"),
    *(Fraction(1, 2), Fraction(3, 2), Decimal("1.5"), Decimal("0.5"), DAY, datetime.datetime(2024, 1, 31)),
    *(np.float64(1.5), np.int64(1), np.bool_(True), np.str_("1.5")),
]
PARAMETERS = {
    (parameter.name, str(parameter.json_type), parameter.check): parameter
    for name in statistic_names()
    for parameter in find_statistic(name).parameters
}
"""Each kind of parameter once."""


def shapes() -> Iterator[Any]:
    """The leaves by themselves, and in lists, pairs and dicts."""
    yield from LEAVES
    pairs = [*itertools.pairwise([*LEAVES, LEAVES[0]]), (1, 2), (1.0, 2.0), ("1", "2"), (True, False)]
    for first, second in [*pairs, (1.5, 2.5), ("1.5", "2.5"), (0.5, 1.5), ("1/2", "3/2"), (0.5, "a"), ("1/2", "a")]:
        yield [first, second]
        yield {"x": [first, second]}
        yield {"x": [first, second], "y": ["a", "b"]}
        yield [[first, 0.5], [second, 0.5]]
        yield {"floc": first}
        if isinstance(first, (str, int, float)) and first != second:
            yield {first: 0.5, second: 0.5}


def checked(parameter: Parameter, value: object) -> list[Any]:
    """The argument that a value makes, if it is taken."""
    try:
        return [parameter.check(value)]
    except (DpstatsError, TypeError, ValueError, OverflowError, ArithmeticError):
        return []


def meaning(value: Any) -> Any:
    """What a checked argument means: types that differ are told apart, and numbers are compared by their value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return ("list", *map(meaning, value))
    if isinstance(value, Mapping):
        return ("dict", frozenset((meaning(name), meaning(item)) for name, item in value.items()))
    if isinstance(value, (bool, str, type(None))):
        return type(value).__name__, value
    return ("number" if isinstance(value, (int, float, Fraction, Decimal)) else type(value).__name__), value


def confused(form: Callable[[Any, Parameter], Any]) -> list[tuple[str, Any, Any]]:
    """Arguments of one parameter that mean different things and share a form, or mean the same and do not."""
    found = []
    for parameter in PARAMETERS.values():
        arguments = [argument for value in [*shapes(), *values_of(parameter)] for argument in checked(parameter, value)]
        by_form: dict[str, Any] = {}
        by_meaning: dict[Any, Any] = {}
        for argument in arguments:
            text, meant = repr(form(argument, parameter)), meaning(question_forms._by_name(argument, parameter))
            if meaning(question_forms._by_name(by_form.setdefault(text, argument), parameter)) != meant:
                found.append((parameter.name, by_form[text], argument))
            if by_meaning.setdefault(meant, text) != text:
                found.append((parameter.name, by_meaning[meant], argument))
    return found


def test_arguments_share_a_form_if_and_only_if_they_mean_the_same() -> None:
    assert len(PARAMETERS) > 40
    assert confused(argument_form) == []


def test_the_former_form_confused_arguments_of_many_parameters() -> None:
    confusions = {name for name, *_ in confused(lambda argument, _: question_forms._former(argument))}
    assert confusions >= {"bins", "classes", "event", "groups", "levels", "probabilities", "row_labels"}


def variants(value: Any) -> Iterator[Any]:
    """Other values that say the same: tuples for lists, numpy's numbers, whole floats, dicts the other way round."""
    if isinstance(value, dict):
        yield dict(reversed(value.items()))
    elif isinstance(value, (list, tuple)):
        yield list(value)
        yield tuple(value)
        yield from (list(each) for each in zip(*(list(variants(item)) for item in value), strict=False))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield np.int64(value)
        yield float(value)
    elif isinstance(value, float):
        yield np.float64(value)
    elif isinstance(value, str):
        yield np.str_(value)


def test_values_that_say_the_same_share_a_form() -> None:
    tried = 0
    for parameter in PARAMETERS.values():
        for value in [*shapes(), *values_of(parameter)]:
            if isinstance(value, dict) and not question_forms._takes_names(json_type_of(parameter)):
                continue  # some take a dict for the list of its names
            for argument in checked(parameter, value):
                for other in (argument for each in variants(value) for argument in checked(parameter, each)):
                    tried += 1
                    assert argument_form(other, parameter) == argument_form(argument, parameter), (parameter.name, value)
    assert tried > 1000


ROWS = {
    "v": [float(number) for number in range(60)],
    "x": [(1.5, 2.5)[number % 2] for number in range(60)],
    "t": [("yes", "no")[number % 2] for number in range(60)],
}
QUESTIONS: dict[str, Callable[[Session, Any, Any], Any]] = {
    "levels": lambda table, one, two: table.contingency_table(
        ["x", "t"], levels={"x": [one, two], "t": ["no", "yes"]}, epsilon=1
    ),
    "classes": lambda table, one, two: table.naive_bayes(["v"], "x", classes=[one, two], epsilon=1),
    "groups": lambda table, one, two: table.two_sample_t_test("v", "x", [one, two], epsilon=1),
    "event": lambda table, one, two: table.survival_curve("v", "x", one, epsilon=1),
    "probabilities": lambda table, one, two: table.goodness_of_fit_test("x", [[one, 0.5], [two, 0.5]], epsilon=1),
    "row_labels": lambda table, one, two: table.chi_square_test("x", "t", [one, two], ["no", "yes"], epsilon=1),
    "bins": lambda table, one, two: table.histogram("x", [one, two], kind="labels", epsilon=1),
}


def debits(session: Session) -> int:
    return sum(entry.kind == DEBIT for entry in session.ledger.entries())


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_numbers_and_their_texts_are_different_questions(asked: Callable[[Session, Any, Any], Any]) -> None:
    table = dp.protect(ROWS, unit="row", budget=dp.Budget(9), ledger=":memory:", types={"v": "number", "t": "text"})
    asked(table, 1.5, 2.5)
    asked(table, "1.5", "2.5")
    assert debits(table) == 2
    asked(table, np.float64(1.5), np.float64(2.5))
    assert debits(table) == 2


def test_answers_of_old_archives_are_recalled_where_no_other_question_had_their_key(tmp_path: Path) -> None:
    survey = archive(tmp_path)
    before = [entry for entry in survey.ledger.entries() if entry.kind == DEBIT]
    for name, asked in RECALLED.items():
        reply = asked(survey)
        assert (debits(survey), is_from_archive(reply)) == (len(before), True), name
    paid = {**CHANGED, **PAID_AGAIN}
    for number, (name, asked) in enumerate(paid.items(), 1):
        assert (is_from_archive(asked(survey)), debits(survey)) == (False, len(before) + number), name
    survey.two_sample_t_test("v", "x", [1, 2], epsilon=1)  # no number of the archive
    assert debits(survey) == len(before) + len(paid) + 1


def as_before(desk: Desk, request: Request) -> QuestionForm:
    """The form of a question in earlier releases."""
    return replace(form_of(desk, request), details=form_of(desk, request).former[0], former=())


def test_batches_and_requests_of_old_archives_are_recalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = dp.protect(ROWS, unit="row", budget=dp.Budget(9), ledger=tmp_path / "survey.ledger", name="survey", edition="1")
    asked = [survey.document("median", "v", epsilon=1), survey.document("quantile", "v", 0.25, epsilon=1)]
    documents = [read_document(each) for each in asked]
    named = Session(replace(survey._table, account=survey._account.acting_for("owner", "r1")), survey._scope)
    with monkeypatch.context() as earlier:
        earlier.setattr(batch, "form_of", as_before)
        earlier.setattr("dpstats.curator.desk.form_of", as_before)
        first = answer_batch(price_batch(survey, documents))
        with open_ledger(tmp_path / "survey.ledger") as ledger:
            ledger.grant("survey", analyst="owner", actor="owner", why="as agreed")
        count = named.count(epsilon=1)
    again = answer_batch(price_batch(survey, documents))
    assert again.repeated
    assert [str(each) for each in again.answers] == [str(each) for each in first.answers]
    assert named.count(epsilon=1).value == count.value
    assert debits(survey) == 2
    with pytest.raises(dp.InvalidParameterError, match="'r1' has named another question"):
        named.count(epsilon=2)


ROW_SETS: dict[str, Callable[[Session], list[Session]]] = {
    "conditions": lambda table: [
        table.where("v >= 10").where("v < 50"),
        table.where("v >= 10 and v < 50"),
        table.where("v < 50").where("10 <= v").where("v < 50"),
        table.where("not (v < 10 or v >= 50)"),
    ],
    "derived columns": lambda table: [
        table.with_columns(middle="v >= 10 and v < 50").where("middle"),
        table.with_columns(middle="50 > v and 10 <= v").where("middle"),
    ],
}
SAME_QUESTIONS: dict[str, list[Callable[[Session], Any]]] = {
    "median": [lambda table: table.median("v", epsilon=1), lambda table: table.quantile("v", 0.5, epsilon=1)],
    "tested median": [
        lambda table: table.median("v", epsilon=1, delta="1e-4", method="ptr"),
        lambda table: table.quantile("v", "1/2", epsilon=1, delta="1e-4", method="ptr"),
    ],
    "range": [
        lambda table: table.interquantile_range("v", epsilon=1),
        lambda table: table.iqr("v", epsilon=1),
        lambda table: table.interquantile_range("v", (0.25, 0.75), epsilon=1),
    ],
    "groups": [
        lambda table: table.group_by("t", keys=["yes", "no"]).quantile("v", 0.5, epsilon=1),
        lambda table: table.group_by("t", keys=["yes", "no"]).median("v", epsilon=1),
    ],
}


def new_table() -> Session:
    types = {"v": "number", "x": "number", "t": "text"}
    return dp.protect(ROWS, unit="row", budget=dp.Budget(99, "0.1"), ledger=":memory:", types=types)


@pytest.mark.parametrize("narrowed", ROW_SETS.values(), ids=ROW_SETS)
def test_conditions_that_say_the_same_are_paid_for_once(narrowed: Callable[[Session], list[Session]]) -> None:
    table = new_table()
    replies = [each.count(epsilon=1) for each in narrowed(table)]
    assert debits(table) == 1
    assert {reply.question for reply in replies} == {replies[0].question}  # as it was first asked
    table.where("v >= 10 or v < 50").count(epsilon=1)
    table.where("v > 10 and v < 50").count(epsilon=1)
    assert debits(table) == 3


@pytest.mark.parametrize("asks", SAME_QUESTIONS.values(), ids=SAME_QUESTIONS)
def test_a_question_by_another_name_is_paid_for_once(asks: list[Callable[[Session], Any]]) -> None:
    for order in (asks, asks[::-1]):
        table = new_table()
        replies = [ask(table) for ask in order]
        assert debits(table) == 1
        assert all(is_from_archive(reply) for reply in replies[1:] if not isinstance(reply, dict))


def test_another_quantile_and_a_list_of_one_are_other_questions() -> None:
    table = new_table()
    for asked in (0.5, [0.5], 0.25, [0.5, 0.75]):
        table.quantile("v", asked, epsilon=1)
    assert debits(table) == 4


@pytest.mark.parametrize(("name", "q"), [("quantile", Fraction(1, 2)), ("interquantile_range", (Fraction(1, 4), Fraction(3, 4)))])
def test_a_question_by_another_name_gets_the_same_noise(name: str, q: Any) -> None:
    statistic = find_statistic(name)
    same = statistic.same_as({"q": q})
    assert same is not None
    other = find_statistic(same.statistic)
    assert statistic.methods.keys() == other.methods.keys()
    data = [float(number**2) for number in range(2000)]
    for method in statistic.methods:
        asked, same_asked = (replace(each.methods[method], run=None, loss=None, by_unit=None) for each in (statistic, other))
        assert asked == same_asked
        words = {"epsilon": 1, "method": method, **({"delta": 1e-6} if statistic.methods[method].needs_delta else {})}
        replies = [
            getattr(dp, name)(data, q, rng=dp.testing.seeded(3), **words),
            getattr(dp, other.name)(data, rng=dp.testing.seeded(3), **words),
        ]
        names = ("value", "interval", "claim", "notes", "reason", "cost")
        one, two = ([getattr(each, word, None) for word in names] for each in replies)
        assert one == two
