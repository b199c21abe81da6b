"""Questions that are priced together, paid for by one entry, and recalled together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.documents.reading import read_document
from dpstats.curator.ledger.entries import ANSWER, DEBIT, OPEN
from dpstats.curator.publishing.batch import AnsweredBatch, PricedBatch, answer_batch, price_batch
from dpstats.curator.session import Session
from tests.documents import fixed_noise
from tests.questions import BrokenStore, UnreadableStore, session

MEDIAN: Mapping[str, Any] = {"statistic": "median", "columns": ["income"], "epsilon": "0.5"}
GROUPED: Mapping[str, Any] = {**MEDIAN, "group_by": {"columns": ["region"], "keys": ["north", "south"]}}
FORMULA: Mapping[str, Any] = {"statistic": "regression", "formula": "income ~ age + hours", "epsilon": 3, "delta": "1e-6"}
ROWS: Mapping[str, Any] = {"statistic": "synthesize", "columns": ["age", "income"], "epsilon": 1, "parameters": {"rows": 20}}


@pytest.fixture(autouse=True, scope="module")
def one_draw() -> Iterator[None]:
    """Noise from a fixed stream, of which the session does not know."""
    with fixed_noise():
        yield


def priced(survey: Session, *questions: Mapping[str, Any]) -> PricedBatch:
    return price_batch(survey, [read_document({"version": 1, **each}) for each in questions])


def answered(survey: Session, *questions: Mapping[str, Any]) -> AnsweredBatch:
    return answer_batch(priced(survey, *questions))


def kinds(survey: Session) -> list[str]:
    return [entry.kind for entry in survey.ledger.entries()]


def test_pricing_reads_no_row_and_spends_nothing() -> None:
    survey = session(UnreadableStore())
    batch = priced(survey, MEDIAN, GROUPED, FORMULA, ROWS)
    assert batch.cost == dp.PrivacyCost(5, "1e-6")
    assert [cost.epsilon for cost in batch.costs] == [Fraction(1, 2), Fraction(1, 2), 3, 1]
    assert kinds(survey) == [OPEN]


def test_all_questions_are_one_debit_and_one_archived_answer() -> None:
    survey = session(name="survey")
    found = answered(survey, MEDIAN, GROUPED, FORMULA, ROWS)
    assert kinds(survey) == [OPEN, DEBIT, ANSWER]
    assert survey.ledger.spent == found.cost == dp.PrivacyCost(5, "1e-6")
    assert [each.debit for each in found.payments] == [survey.ledger.entries()[1]]
    median, grouped, fit, rows = found.answers
    assert isinstance(median, dp.Release)
    assert isinstance(grouped, dp.GroupedRelease)
    assert set(grouped) == {"north", "south"}
    assert isinstance(fit, dp.Release)
    assert isinstance(rows, dp.Release)
    assert len(rows.value) == 20


def test_the_same_questions_get_the_same_answers_and_cost_nothing() -> None:
    survey = session(name="survey")
    first, second = answered(survey, MEDIAN, GROUPED, FORMULA, ROWS), answered(survey, MEDIAN, GROUPED, FORMULA, ROWS)
    assert (first.repeated, second.repeated) == (False, True)
    assert [each.debit for each in first.payments] == [each.debit for each in second.payments]
    assert [each.to_dict() for each in first.answers] == [each.to_dict() for each in second.answers]
    assert kinds(survey) == [OPEN, DEBIT, ANSWER]
    fit = second.answers[2]
    assert isinstance(fit, dp.Release)
    assert len(fit.value.predict({"age": [40.0], "hours": [30.0]})) == 1  # it knows its formula, from the archive too


def test_other_questions_or_another_order_are_another_publication() -> None:
    survey = session(name="survey")
    assert priced(survey, MEDIAN, GROUPED).form().keys != priced(survey, GROUPED, MEDIAN).form().keys
    answered(survey, MEDIAN, GROUPED)
    assert not answered(survey, MEDIAN).repeated


@pytest.mark.floors
def test_what_the_data_cause_is_one_no_reply_among_the_others() -> None:
    survey = session(name="survey")
    few = {**MEDIAN, "where": ["age > 200"]}
    found = answered(survey, MEDIAN, few)
    assert isinstance(found.answers[0], dp.Release)
    assert isinstance(found.answers[1], dp.NoReply)
    assert found.cost.epsilon == 1


def test_rows_that_cannot_be_read_are_no_replies_that_are_paid_for_and_not_archived() -> None:
    survey = session(UnreadableStore(), name="survey")
    found = answered(survey, MEDIAN, GROUPED)
    assert all(isinstance(answer, dp.NoReply) for answer in found.answers)
    assert survey.ledger.spent.epsilon == 1
    assert not answered(survey, MEDIAN, GROUPED).repeated
    assert survey.ledger.spent.epsilon == 2
    assert kinds(survey) == [OPEN, DEBIT, ANSWER, DEBIT, ANSWER]  # the answers only say that there is none


HOURS = {**MEDIAN, "columns": ["hours"], "epsilon": "0.25"}


def test_what_could_not_be_computed_is_tried_again_at_its_price_and_nothing_else_is() -> None:
    store = BrokenStore()
    survey = session(store, name="survey", budget=dp.Budget(epsilon="1.25"))
    first, second = answered(survey, MEDIAN, HOURS), answered(survey, MEDIAN, HOURS)
    assert isinstance(second.answers[1], dp.NoReply)  # it failed once more
    assert survey.ledger.spent == second.cost == dp.PrivacyCost(1)
    store.mended = True
    third, fourth = answered(survey, MEDIAN, HOURS), answered(survey, MEDIAN, HOURS)
    assert [found.repeated for found in (first, second, third, fourth)] == [False, False, False, True]
    assert {found.answers[0].to_dict()["value"] for found in (first, second, third)} == {first.answers[0].to_dict()["value"]}
    assert isinstance(third.answers[1], dp.Release)
    assert [each.places for each in third.payments] == [(0, 1), (1,)]
    assert fourth.answers[1].to_dict() == third.answers[1].to_dict()
    assert survey.ledger.spent == dp.PrivacyCost("1.25")


def test_where_the_budget_is_too_small_to_try_again_the_archive_answers() -> None:
    survey = session(BrokenStore(), name="survey", budget=dp.Budget(epsilon="0.8"))
    first, second = answered(survey, MEDIAN, HOURS), answered(survey, MEDIAN, HOURS)
    assert second.repeated
    assert [each.to_dict() for each in first.answers] == [each.to_dict() for each in second.answers]


def test_a_complaint_about_one_question_names_it_and_nothing_is_spent() -> None:
    survey = session()
    with pytest.raises(dp.UnknownNameError, match=r"^question 2: columns: there is no column incme"):
        priced(survey, MEDIAN, {**MEDIAN, "columns": ["incme"]})
    with pytest.raises(
        dp.MissingParameterError, match=r"^question 1: the groups of region are chosen privately, which needs delta"
    ):
        priced(survey, {**MEDIAN, "group_by": {"columns": ["region"]}})
    assert kinds(survey) == [OPEN]


def test_what_does_not_fit_the_budget_as_a_whole_is_refused_as_a_whole() -> None:
    survey = session(budget=dp.Budget(epsilon="0.9"))
    with pytest.raises(dp.BudgetError, match=r"^all of it costs epsilon = 1, .* there is epsilon = 0\.9 left"):
        answered(survey, MEDIAN, GROUPED)
    assert kinds(survey) == [OPEN]
    assert isinstance(answered(survey, MEDIAN).answers[0], dp.Release)


@pytest.mark.parametrize("accountant", ["basic", "zcdp"])
def test_a_batch_is_charged_what_its_questions_are_charged_one_by_one(accountant: str) -> None:
    budget = dp.Budget(epsilon=20, delta="1e-5", accountant=accountant)
    together, apart = session(budget=budget), session(budget=budget)
    questions = (MEDIAN, GROUPED, {**FORMULA, "method": "gaussian_steps"})
    answered(together, *questions)
    for question in questions:
        apart.ask({"version": 1, **question})
    assert together.ledger.total == apart.ledger.total


def test_seeded_answers_are_not_archived() -> None:
    survey = session(allow_seeded=True)
    documents = [read_document({"version": 1, **MEDIAN})]
    for _ in range(2):
        rng = dp.testing.seeded(7)
        found = answer_batch(price_batch(survey, documents, rng), rng)
        assert not found.repeated
        assert not found.payments[0].archived
        assert not found.answers[0].private
    assert kinds(survey) == [OPEN, DEBIT, DEBIT]
