"""The service desk: what an analyst may ask, what it says to those who may not, and that nothing else gets out."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.archive import document_of
from dpstats.curator.catalog import policed_desk
from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.ceilings import LONGEST_DOCUMENT, MOST_GROUPS, MOST_QUESTIONS, MOST_VALUES
from dpstats.curator.jobs.worker import TableShelf
from dpstats.curator.ledger.entries import ANSWER, DEBIT
from dpstats.curator.session import Session
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.foundations.errors import AccessError, BudgetError, DataFileError, DpstatsError, InvalidParameterError, LedgerError
from dpstats.foundations.results import NoReply
from tests.curator.catalog.conftest import OFFICE, PoolHere

COUNT: dict[str, Any] = {"version": 1, "statistic": "count", "epsilon": 1}
MEDIAN: dict[str, Any] = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": 1}


def debits(catalog: Catalog) -> int:
    return sum(entry.kind == DEBIT for entry in catalog.ledger.entries())


def pool_of(catalog: Catalog) -> PoolHere:
    pool = catalog._pool
    assert isinstance(pool, PoolHere)
    return pool


def test_a_question_is_answered_elsewhere_paid_once_and_free_for_all_from_then_on(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    assert desk.price(COUNT, "alice").cost.epsilon == 1
    assert debits(catalog) == 0
    first = desk.ask(json.dumps(COUNT), "alice")
    assert abs(first.value - 40) < 30
    assert desk.ask(COUNT, "bob").value == first.value
    assert (debits(catalog), pool_of(catalog).jobs) == (1, 1)
    assert catalog.ledger.verify().sound


def test_a_basket_is_one_debit_and_answered_again_for_nothing(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    basket = [COUNT, {**COUNT, "where": ["income > 110"]}, {**COUNT, "group_by": {"columns": ["region"]}}]
    answered = desk.ask_together(basket, "alice", request="tables of 2026")
    assert [type(each).__name__ for each in answered.answers] == ["Release", "Release", "GroupedRelease"]
    assert debits(catalog) == 1
    assert answered.cost.epsilon == 3
    again = desk.ask_together(basket, "alice", request="tables of 2026")
    assert again.repeated
    assert [document_of(each) for each in again.answers] == [document_of(each) for each in answered.answers]
    assert debits(catalog) == 1


def test_a_request_names_one_question(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    first = desk.ask(COUNT, "alice", request="r-1")
    assert desk.ask(COUNT, "alice", request="r-1").value == first.value
    with pytest.raises(InvalidParameterError, match="another question"):
        desk.ask(MEDIAN, "alice", request="r-1")
    assert debits(catalog) == 1


def test_a_request_that_the_archive_answered_leaves_no_trace_and_is_still_debited_once_at_most(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    first = desk.ask(COUNT, "alice")
    entries = len(catalog.ledger.entries())
    assert {desk.ask(COUNT, "bob", request="r-1").value for _ in range(3)} == {first.value}
    assert len(catalog.ledger.entries()) == entries
    for _ in range(2):
        desk.ask(MEDIAN, "bob", request="r-1")  # the first question by that name that is paid for
    assert debits(catalog) == 2
    with pytest.raises(InvalidParameterError, match="another question"):
        desk.ask(COUNT, "bob", request="r-1")


def test_an_analyst_sees_her_own_questions_and_her_own_cap(catalog: Catalog) -> None:
    catalog.grant("survey", analyst="alice", budget=dp.Budget(5), **OFFICE)
    catalog.amend("survey", columns=["income"], **OFFICE)
    desk = catalog.desk("survey")
    asked = [desk.ask({**COUNT, "epsilon": epsilon}, "alice") for epsilon in (1, 2)]
    desk.ask(MEDIAN, "bob")
    history = desk.history("alice")
    assert [line.question for line in history] == ["count (at most 1 row of each person)"] * 2
    assert [line.document["value"] for line in history if line.document] == [each.value for each in asked]
    assert [line.sequence for line in desk.history("alice", after=history[0].sequence)] == [history[1].sequence]
    assert (desk.remaining("alice"), desk.remaining("bob")) == ("epsilon = 2", None)
    assert desk.columns("alice") == {"income": "number"}
    for look in (desk.history, desk.remaining, desk.columns):
        with pytest.raises(AccessError):
            look("eve")


def test_who_may_not_ask_is_told_what_is_said_of_tables_that_are_not(catalog: Catalog) -> None:
    with pytest.raises(AccessError) as stranger:
        catalog.desk("survey").ask(COUNT, "eve")
    with pytest.raises(AccessError) as nowhere:
        catalog.desk("nothing")
    assert str(stranger.value) == str(nowhere.value).replace("nothing", "survey")
    assert debits(catalog) == 0


def test_an_answer_is_not_handed_to_somebody_who_lost_the_right_meanwhile(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = catalog.desk("survey")
    run = PoolHere.run

    def revoked(pool: PoolHere, *job: Any) -> dict[str, Any]:
        catalog.revoke("survey", analyst="alice", **OFFICE)
        return run(pool, *job)

    with monkeypatch.context() as patch:
        patch.setattr(PoolHere, "run", revoked)
        with pytest.raises(AccessError):
            desk.ask(COUNT, "alice")
    assert [entry.kind for entry in catalog.ledger.entries()][-2:] == ["revoke", ANSWER]
    with pytest.raises(AccessError):
        desk.ask(COUNT, "alice")
    desk.ask(COUNT, "bob")
    assert debits(catalog) == 1


def test_caps_hold_and_a_refusal_names_only_ones_own(catalog: Catalog) -> None:
    catalog.grant("survey", analyst="alice", budget=dp.Budget("0.5"), **OFFICE)
    desk = catalog.desk("survey")
    with pytest.raises(BudgetError, match=r"analyst alice, epsilon = 0\.5"):
        desk.ask(COUNT, "alice")
    catalog.amend("survey", budget=dp.Budget("0.25"), **OFFICE)
    with pytest.raises(BudgetError) as refused:
        desk.ask({**COUNT, "epsilon": "0.3"}, "bob")
    assert "for everybody" in str(refused.value)
    assert "0.25" not in str(refused.value)
    assert debits(catalog) == 0


@pytest.mark.parametrize(
    "document",
    [
        {**MEDIAN, "columns": ["person"]},
        {**MEDIAN, "where": ["person < 3"]},
        {**MEDIAN, "with_columns": [{"name": "twice", "expression": "person * 2"}], "columns": ["twice"]},
        {**COUNT, "group_by": {"columns": ["person"], "keys": [1, 2]}},
        {"version": 1, "statistic": "regression", "formula": "income ~ person", "epsilon": 1},
        {**MEDIAN, "statistic": "mean"},
        {**MEDIAN, "epsilon": "1.01"},
    ],
)
def test_what_the_owner_does_not_allow_is_refused_before_the_debit(catalog: Catalog, document: dict[str, Any]) -> None:
    allowed = {"columns": ["income", "region"], "statistics": ["median", "count", "regression"], "largest_epsilon": 1}
    catalog.amend("survey", **allowed, **OFFICE)
    desk = catalog.desk("survey")
    for ask in (lambda: desk.ask(document, "alice"), lambda: desk.ask_together([COUNT, document], "alice")):
        with pytest.raises(DpstatsError):
            ask()
    assert debits(catalog) == 0
    assert not isinstance(desk.ask(COUNT, "alice"), Exception)


def test_a_policy_may_allow_regressions_by_formulas_or_by_their_models(catalog: Catalog) -> None:
    by_formula = {"version": 1, "statistic": "regression", "formula": "income ~ person", "epsilon": 1}
    desk = catalog.desk("survey")
    for allowed in ("regression", "linear_regression"):
        catalog.amend("survey", statistics=[allowed], **OFFICE)
        assert desk.price(by_formula, "alice").cost.epsilon == 1
    catalog.amend("survey", statistics=["median"], **OFFICE)
    with pytest.raises(InvalidParameterError, match="does not allow regression"):
        desk.price(by_formula, "alice")


def test_a_ledger_that_fails_is_not_named(catalog: Catalog, root: Path) -> None:
    desk = catalog.desk("survey")
    (root.parent / "curator.ledger").rename(root.parent / "moved.ledger")
    for look in (lambda: desk.ask(COUNT, "alice"), lambda: desk.price(COUNT, "alice"), lambda: desk.history("alice")):
        with pytest.raises(LedgerError, match="try again later") as refused:
            look()
        assert str(root.parent) not in str(refused.value)
    (root.parent / "moved.ledger").rename(root.parent / "curator.ledger")


def test_a_frozen_data_set_gives_what_was_answered_before(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    first = desk.ask(COUNT, "alice")
    catalog.freeze("survey", **OFFICE)
    assert desk.ask(COUNT, "bob").value == first.value
    with pytest.raises(InvalidParameterError, match="frozen"):
        desk.ask(MEDIAN, "bob")
    catalog.amend("survey", frozen=False, **OFFICE)
    desk.ask(MEDIAN, "bob")
    assert debits(catalog) == 2


@pytest.mark.parametrize(("archive", "paid"), [("shared", 1), ("group", 2), ("own", 3)])
def test_the_archive_is_shared_as_the_owner_says(catalog: Catalog, archive: str, paid: int) -> None:
    catalog.amend("survey", archive=archive, **OFFICE)
    catalog.grant("survey", group="team", **OFFICE)
    for member in ("alice", "carol"):
        catalog.grant("survey", analyst=member, group="team", **OFFICE)
    desk = catalog.desk("survey")
    answers = [desk.ask(COUNT, who) for who in ("alice", "carol", "bob", "alice")]
    assert debits(catalog) == paid
    assert ("archive" in dict(answers[2].notes)) == (archive == "shared")  # bob sees no trace of alice's question
    assert "archive" in dict(answers[3].notes)


@pytest.mark.parametrize(
    "document",
    [
        {**COUNT, "group_by": {"columns": ["income"], "keys": list(range(MOST_GROUPS + 1))}},
        {
            "version": 1,
            "statistic": "quantile",
            "columns": ["income"],
            "parameters": {"q": [0.5] * (MOST_VALUES + 1)},
            "epsilon": 1,
        },
        {**COUNT, "where": ["income > 1"] * LONGEST_DOCUMENT},
        "x" * (LONGEST_DOCUMENT + 1),
        {**COUNT, "epsilon": float("nan")},
        {**COUNT, "epsilon": object()},
        [],
        None,
    ],
)
def test_what_is_too_large_or_no_question_is_refused_before_any_work(catalog: Catalog, document: object) -> None:
    with pytest.raises(DpstatsError):
        catalog.desk("survey").ask(document, "alice")
    assert debits(catalog) == 0


@pytest.mark.parametrize("documents", [[], [COUNT] * (MOST_QUESTIONS + 1), "count", COUNT])
def test_a_basket_has_some_questions_and_not_too_many(catalog: Catalog, documents: Any) -> None:
    with pytest.raises(InvalidParameterError, match="a basket"):
        catalog.desk("survey").ask_together(documents, "alice")


def test_no_name_of_a_session_can_be_asked_but_statistics(catalog: Catalog) -> None:
    names = {*object.__dir__(catalog), *vars(Session), "_table", "_account", "ledger", "where", "__class__"}
    for name in sorted(names - {"regression"}):
        with pytest.raises(DpstatsError):
            catalog.desk("survey").ask({**COUNT, "statistic": name}, "alice")
    assert debits(catalog) == 0


def test_a_table_that_cannot_be_reached_costs_nothing_and_is_not_named(catalog: Catalog, root: Path) -> None:
    desk = catalog.desk("survey")
    (root / "survey.parquet").rename(root / "moved.parquet")
    with pytest.raises(DataFileError) as refused:
        desk.ask(COUNT, "alice")
    assert "Nothing was spent" in str(refused.value)
    assert str(root) not in str(refused.value)
    assert debits(catalog) == 0


def test_every_fault_of_a_store_gives_the_same_reply(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails, and wherever: the same document, byte for byte, but for the question."""
    batches, replies, calls = ParquetStore.batches, set(), 0
    fault: BaseException = OSError()

    def failing(store: ParquetStore, *given: Any, **words: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise fault
        return batches(store, *given, **words)

    monkeypatch.setattr(ParquetStore, "batches", failing)
    desk, epsilon = catalog.desk("survey"), 0
    for fault in (OSError("row 17"), MemoryError(), ValueError("Erika")):  # noqa: B007  (raised above)
        for fails_at in range(1, 20):
            calls, epsilon = 0, epsilon + 1
            pool_of(catalog).shelf = TableShelf()
            reply = desk.ask({**MEDIAN, "epsilon": f"1.{epsilon:04}"}, "alice")
            if calls < fails_at:
                break
            assert isinstance(reply, NoReply)
            document = document_of(reply)
            replies.add(json.dumps({**document, "cost": None}))
            assert f"1.{epsilon:04}".rstrip("0") in str(reply.cost)
        assert fails_at > 1
    assert len(replies) == 1


def test_who_waits_too_long_for_the_same_question_is_told_so_and_pays_nothing(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policed_desk, "waiting_seconds", lambda seconds: 0.01)
    desk = catalog.desk("survey")
    run = desk._pool.run

    def asked_meanwhile(job: Any, until: float) -> Any:
        with pytest.raises(LedgerError, match="cannot be answered now: try again later"):
            desk.ask(COUNT, "bob")
        return run(job, until)

    monkeypatch.setattr(desk._pool, "run", asked_meanwhile)
    assert isinstance(desk.ask(COUNT, "alice"), dp.Release)
    assert debits(catalog) == 1


def test_1000_who_ask_the_same_at_once_pay_once_and_hear_the_same(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    heard: list[float] = []
    start = threading.Barrier(50)

    def ask(who: str) -> None:
        start.wait()
        heard.extend(desk.ask(COUNT, who).value for _ in range(20))

    threads = [threading.Thread(target=ask, args=(("alice", "bob")[number % 2],)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard) == 1000
    assert len(set(heard)) == 1
    assert debits(catalog) == 1
