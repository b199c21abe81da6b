"""A question asked by a document gets the answer of the method that it names, from the same archive."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from tests.questions import UnreadableStore, outcome_of, session

Ask = Callable[[Any], Any]
QUESTIONS: dict[str, tuple[Ask, Ask]] = {
    "median": (lambda s: s.median("income", epsilon=0.5), lambda s: s.document("median", "income", epsilon=0.5)),
    "count": (lambda s: s.count(epsilon="1/3"), lambda s: s.document("count", epsilon=Fraction(1, 3))),
    "quantiles": (
        lambda s: s.where("age>=30").quantile("income", [0.1, "1/3"], epsilon=0.5, interval=None),
        lambda s: s.where("age >= 30").document("quantile", "income", ["0.1", Fraction(1, 3)], epsilon=0.5, interval=None),
    ),
    "two columns": (
        lambda s: s.correlation("age", "income", kind="spearman", epsilon=1),
        lambda s: s.document("correlation", "age", y="income", kind="spearman", epsilon=1),
    ),
    "features": (
        lambda s: s.linear_regression(["age", "hours"], "income", epsilon=3, method="huber"),
        lambda s: s.document("linear_regression", X=["age", "hours"], y="income", epsilon=3, method="huber"),
    ),
    "family": (
        lambda s: s.mle("gamma", "income", epsilon=3),
        lambda s: s.document("mle", "gamma", "income", epsilon=3),
    ),
    "derived": (
        lambda s: s.with_columns(rate="income / hours", log_rate="log(rate)").select("log_rate").mean("log_rate", epsilon=1),
        lambda s: s.select("hours", "income").select(rate="income / hours").document("mean", "rate", epsilon=1),
    ),
    "histogram": (
        lambda s: s.histogram("region", epsilon=1, delta=1e-6),
        lambda s: s.document("histogram", "region", epsilon=1, delta="1e-6"),
    ),
    "whole table": (
        lambda s: s.select("age", "region").contingency_table(bins=3, epsilon=1, delta="1e-6"),
        lambda s: s.select("age", "region").document("contingency_table", bins=3, epsilon=1, delta="1e-6"),
    ),
    "public groups": (
        lambda s: s.group_by("region", keys=["north", "south"]).median("income", epsilon=1),
        lambda s: s.group_by("region", keys=["south", "north"]).document("median", "income", epsilon=1),
    ),
    "private groups": (
        lambda s: s.group_by("region").median("income", epsilon=1, delta=1e-6),
        lambda s: s.group_by("region").document("median", "income", epsilon=1, delta=1e-6),
    ),
    "groups of two columns": (
        lambda s: s.group_by("region", "employed", keys=[("north", True), ("south", False)]).count(epsilon=1),
        lambda s: s.group_by("region", "employed", keys=[("north", 1), ("south", 0)]).document("count", epsilon=1),
    ),
    "dates": (
        lambda s: s.group_by("born", keys=[datetime.date(2000, 1, 1)]).count(epsilon=1),
        lambda s: s.group_by("born", keys=["2000-01-01"]).document("count", epsilon=1),
    ),
    "formula": (
        lambda s: s.regression("income ~ age + C(region)", levels={"region": ["north", "south"]}, epsilon=3, method="huber"),
        lambda s: s.document(
            "regression", "income ~ age + C(region)", levels={"region": np.array(["north", "south"])}, epsilon=3, method="huber"
        ),
    ),
    "quantile formula": (
        lambda s: s.where("employed").regression("income ~ age - 1", model="quantile", quantile=0.75, epsilon=3),
        lambda s: s.where("employed").document(
            "regression", formula="income ~ age - 1", model="quantile", quantile="3/4", epsilon=3
        ),
    ),
    "formula with levels found privately": (
        lambda s: s.regression("income ~ age + C(region)", epsilon=5, delta=1e-6, method="gaussian_huber"),
        lambda s: s.document("regression", "income ~ age + C(region)", epsilon=5, delta=1e-6, method="gaussian_huber"),
    ),
    "formula of dates": (
        lambda s: s.regression(
            "income ~ C(born)", levels={"born": [datetime.date(2000, 1, 1), "2000-01-02"]}, epsilon=3, method="huber"
        ),
        lambda s: s.document(
            "regression", "income ~ C(born)", levels={"born": ["2000-01-01", "2000-01-02"]}, epsilon=3, method="huber"
        ),
    ),
    "formula of all columns that are selected": (
        lambda s: s.select("hours", "age", "income").regression("income ~ .", epsilon=3, method="huber"),
        lambda s: s.select("hours", "age", "income").document("regression", "income ~ .", epsilon=3, method="huber"),
    ),
    "formula in groups": (
        lambda s: s.group_by("employed").regression("income ~ age", epsilon=3, method="huber"),
        lambda s: s.group_by("employed").document("regression", "income ~ age", epsilon=3, method="huber"),
    ),
}
SAME_QUESTION = [name for name in QUESTIONS if name != "derived"]  # where two ways to derive a column are two questions


def shown(result: Any) -> str:
    """All of an answer but for the note on the archive."""
    plain = result.to_dict()
    plain["notes"] = {name: text for name, text in plain["notes"].items() if name != "archive"}
    return json.dumps(plain, default=str, sort_keys=True)


@pytest.mark.parametrize("name", SAME_QUESTION)
@pytest.mark.parametrize("document_first", [True, False])
def test_the_second_way_to_ask_is_answered_from_the_archive(name: str, document_first: bool) -> None:
    call, record = QUESTIONS[name]
    survey = session()
    ways: list[Callable[[], Any]] = [lambda: call(survey), lambda: survey.ask(json.dumps(record(survey)))]
    first, second = reversed(ways) if document_first else ways
    answer = first()
    assert not isinstance(answer, dp.NoReply), answer
    spent = survey.ledger.spent
    again = second()
    assert survey.ledger.spent == spent
    assert shown(again) == shown(answer)
    assert "archive" in again.to_dict()["notes"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_recorded_document_asks_the_recorded_question(name: str) -> None:
    _, record = QUESTIONS[name]
    survey = session(UnreadableStore())
    document = record(survey)
    assert outcome_of(survey, lambda: survey.ask(document)) == outcome_of(survey, lambda: survey.ask(json.dumps(document)))


def test_groups_take_documents_without_a_scope() -> None:
    survey = session()
    groups = survey.where("age > 30").group_by("region", keys=["north", "south"])
    plain = survey.document("median", "income", epsilon=1)
    answer = groups.ask(plain)
    spent = survey.ledger.spent
    assert shown(survey.ask(groups.document("median", "income", epsilon=1))) == shown(answer)
    assert survey.ledger.spent == spent
    with pytest.raises(dp.InvalidParameterError, match=r"where: these groups are made already"):
        groups.ask(groups.document("median", "income", epsilon=1))


def test_a_narrowed_session_narrows_further() -> None:
    survey = session(UnreadableStore())
    document = survey.where("age > 40").document("median", "income", epsilon=1)
    both = survey.where("employed").where("age > 40")
    assert outcome_of(survey, lambda: survey.where("employed").ask(document)) == outcome_of(
        survey, lambda: both.median("income", epsilon=1)
    )


def test_declared_keys_need_not_be_listed() -> None:
    survey = session(keys={"region": ["north", "south"]})
    for groups in (survey.group_by("region"), survey.group_by("region", keys=["north", "south"]), survey.group_by("employed")):
        assert "keys" not in groups.document("count", epsilon=1)["group_by"]
    assert survey.group_by("region", keys=["north"]).document("count", epsilon=1)["group_by"]["keys"] == ["north"]


def test_a_seeded_source_comes_beside_the_document() -> None:
    survey = session(allow_seeded=True)
    document = survey.document("median", "income", epsilon=1)
    answers = [survey.ask(document, rng=dp.testing.seeded(4)), survey.median("income", epsilon=1, rng=dp.testing.seeded(4))]
    assert answers[0].value == answers[1].value
    assert not answers[0].private
    with pytest.raises(dp.InvalidParameterError, match="a document has no rng"):
        survey.document("median", "income", epsilon=1, rng=dp.testing.seeded(4))


def test_recording_asks_nothing_and_reads_nothing() -> None:
    survey = session(UnreadableStore())
    before = survey.ledger.entries()
    survey.where("age > 3").document("median", "income", epsilon=1)
    assert survey.ledger.entries() == before


def test_a_question_that_does_not_fit_the_budget_spends_nothing() -> None:
    survey = session(budget=dp.Budget(epsilon="0.5"))
    with pytest.raises(dp.BudgetError, match="Nothing was spent"):
        survey.ask({"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.6"})
    assert str(survey.remaining) == "epsilon = 0.5, all of it"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (lambda s: s.document("medain", "income", epsilon=1), r"a session has no 'medain'; did you mean 'median'\?"),
        (lambda s: s.document("average", "income", epsilon=1), r"a session has no 'average'; did you mean 'mean'\?"),
        (lambda s: s.document("median", "incme", epsilon=1), r"no column incme.*Did you mean income\?"),
        (lambda s: s.document("median", "region", epsilon=1), "median needs numbers, and column region is of type text"),
        (lambda s: s.document("median", "income"), "epsilon is missing"),
        (lambda s: s.document("quantile", "income", 0.5, q=0.5, epsilon=1), "quantile got q twice"),
        (lambda s: s.document("median", "income", 0.5, epsilon=1), "median takes nothing after the columns"),
        (lambda s: s.document("median", "income", epsilon=1, unit="person"), "a document has no unit"),
        (lambda s: s.document("mle", lambda x: x, "income", epsilon=1), "a session runs no code"),
        (lambda s: s.document("regression", "income ~ age", "x", epsilon=1), "takes its formula, and all the rest by name"),
        (
            lambda s: s.document("regression", "income ~ age", intercept=False, epsilon=1),
            r"parameters\.intercept: a formula says",
        ),
        (lambda s: s.document("regression", "income ~ age", levels=["a"], epsilon=1), "levels must be a dict"),
    ],
)
def test_a_call_that_is_none_is_not_recorded(record: Callable[[Session], Any], words: str) -> None:
    with pytest.raises(dp.DpstatsError, match=words):
        record(session(UnreadableStore()))
