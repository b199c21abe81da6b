"""Recall: what the archive has is what asking would give, to those who may ask at that very moment, and to nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dpstats.curator.archive import FROM_ARCHIVE, document_of, is_from_archive, noted, noted_document
from dpstats.curator.catalog import recall as recalling
from dpstats.curator.catalog import service_desk
from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.policed_desk import PreparedQuestion
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.foundations.errors import AccessError, DpstatsError, InvalidParameterError, LedgerError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NoReply
from tests.curator.catalog.conftest import OFFICE
from tests.curator.catalog.test_service_desk import COUNT, MEDIAN, debits, pool_of

QUESTIONS: list[Any] = [
    COUNT,
    json.dumps(COUNT),
    MEDIAN,
    {**COUNT, "group_by": {"columns": ["region"]}},
    {**MEDIAN, "where": ["income < 0"], "epsilon": "0.01"},
]


@pytest.mark.parametrize(("archive", "sharing"), [("shared", 3), ("group", 2), ("own", 1)])
def test_recall_is_the_document_of_what_asking_gives(catalog: Catalog, archive: str, sharing: int) -> None:
    catalog.amend("survey", archive=archive, **OFFICE)
    catalog.grant("survey", group="team", **OFFICE)
    for member in ("alice", "carol"):
        catalog.grant("survey", analyst=member, group="team", **OFFICE)
    desk = catalog.desk("survey")
    for question in QUESTIONS[:1] + QUESTIONS[2:]:
        assert desk.recall(question, "alice") is None
        desk.ask(question, "alice")
        recalled = [desk.recall(question, who) for who in ("alice", "carol", "bob")]
        assert [each is not None for each in recalled] == [number < sharing for number in range(3)]
        asked = document_of(desk.ask(question, "alice"))
        assert all(each in (None, asked) for each in recalled)
    assert desk.recall(QUESTIONS[1], "alice") == desk.recall(COUNT, "alice")
    assert debits(catalog) == len(QUESTIONS) - 1


def test_a_refusal_from_the_archive_says_so_too() -> None:
    refusal = NoReply("median(income)", PrivacyCost(1), "ptr", "It was not stable.", "Ask for less.", True)
    assert noted_document(document_of(refusal)) == document_of(noted(refusal, *FROM_ARCHIVE))


def test_a_repeat_is_worked_out_once_and_never_leaves_the_archive(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = catalog.desk("survey")
    desk.ask(COUNT, "alice")
    first = desk.recall(COUNT, "alice")
    assert first is not None
    first["notes"].clear()  # nobody else's
    jobs = pool_of(catalog).jobs
    monkeypatch.setattr(service_desk, "_priced_alone", lambda *_: pytest.fail("worked out again"))
    again = desk.recall(COUNT, "bob")
    assert again is not None
    assert again["notes"]
    assert pool_of(catalog).jobs == jobs


def test_questions_that_were_prepared_before_there_was_an_answer_pay_once(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    prepared = [desk.recall_or_prepare(COUNT, who) for who in ("alice", "bob", "alice")]
    asked = [desk.ask_prepared(each).result for each in prepared if isinstance(each, PreparedQuestion)]
    assert [is_from_archive(each) for each in asked] == [False, True, True]
    assert debits(catalog) == 1
    receipts = [each.receipt for each in asked]
    assert receipts == [desk.receipt(int(str((receipts[0] or {})["sequence"])))] * 3


def test_a_prepared_question_is_not_paid_for_by_somebody_who_may_no_longer_ask(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    prepared = desk.recall_or_prepare(COUNT, "alice")
    assert isinstance(prepared, PreparedQuestion)
    catalog.revoke("survey", analyst="alice", **OFFICE)
    with pytest.raises(AccessError):
        desk.ask_prepared(prepared)
    assert debits(catalog) == 0


def test_keys_of_many_and_of_long_questions_are_forgotten(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "MOST_KEYS", 2)
    monkeypatch.setattr(recalling, "LONGEST_KEPT", 100)
    desk = catalog.desk("survey")
    questions = [{**COUNT, "epsilon": epsilon} for epsilon in (1, 2, 3)] + [{**COUNT, "where": ["income > 0 " + " " * 100]}]
    for question in questions:
        desk.ask(question, "alice")
        assert desk.recall(question, "alice") is not None
    assert len(desk._keys._keys) == 2
    assert all(desk.recall(question, "bob") is not None for question in questions)


def test_a_right_that_another_process_takes_back_is_gone_at_once(catalog: Catalog, root: Path) -> None:
    desk = catalog.desk("survey")
    desk.ask(COUNT, "alice")
    assert desk.recall(COUNT, "alice") is not None
    with open_ledger(str(root.parent / "curator.ledger")) as elsewhere:
        elsewhere.revoke("survey", analyst="alice", **OFFICE)
        with pytest.raises(AccessError) as revoked:
            desk.recall(COUNT, "alice")
        with pytest.raises(AccessError) as asked:
            desk.ask(COUNT, "alice")
        assert str(revoked.value) == str(asked.value)
        elsewhere.grant("survey", analyst="alice", **OFFICE)
    assert desk.recall(COUNT, "alice") is not None
    with pytest.raises(AccessError):
        desk.recall(COUNT, "eve")


def test_a_policy_holds_for_what_was_answered_before_and_a_freeze_does_not(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    for question in (COUNT, MEDIAN):
        desk.ask(question, "alice")
        desk.recall(question, "alice")
    catalog.freeze("survey", **OFFICE)
    assert desk.recall(COUNT, "bob") is not None
    catalog.amend("survey", statistics=["count"], **OFFICE)
    assert desk.recall(COUNT, "bob") is not None
    with pytest.raises(InvalidParameterError, match="does not allow median"):
        desk.recall(MEDIAN, "bob")
    catalog.amend("survey", statistics=None, columns=["region"], **OFFICE)
    with pytest.raises(DpstatsError):
        desk.recall(MEDIAN, "bob")


def test_another_edition_has_no_answers_yet(catalog: Catalog, root: Path) -> None:
    catalog.desk("survey").ask(COUNT, "alice")
    pl.read_parquet(root / "survey.parquet").head(30).write_parquet(root / "survey.parquet")
    assert catalog.desk("survey").recall(COUNT, "alice") is None


@pytest.mark.parametrize("document", [None, [], "x", {**COUNT, "epsilon": object()}, {**COUNT, "statistic": "_table"}])
def test_what_is_no_question_cannot_be_recalled(catalog: Catalog, document: object) -> None:
    with pytest.raises(DpstatsError):
        catalog.desk("survey").recall(document, "alice")


def test_a_ledger_that_fails_is_not_named_by_recall(catalog: Catalog, root: Path) -> None:
    desk = catalog.desk("survey")
    desk.ask(COUNT, "alice")
    (root.parent / "curator.ledger").rename(root.parent / "moved.ledger")
    with pytest.raises(LedgerError, match="try again later"):
        desk.recall(COUNT, "alice")
    (root.parent / "moved.ledger").rename(root.parent / "curator.ledger")
