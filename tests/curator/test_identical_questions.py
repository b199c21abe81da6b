"""Identical questions pay once, whoever asks them and when; a paid answer is handed out, whatever becomes of the archive."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.entries import ANSWER, DEBIT, Entry
from dpstats.curator.session import Session

ROOT = Path(__file__).parents[2]
ROWS = {"x": [float(number) for number in range(100)], "g": ["a", "b"] * 50}
BY = {"actor": "owner", "why": "as agreed"}


def protected(ledger: object, table: Any = None) -> Session:
    rows = ROWS if table is None else table
    return dp.protect(rows, unit="row", budget=dp.Budget(epsilon=100), ledger=ledger, name="survey", edition="1")


def of_kind(session: Session, kind: str) -> list[Entry]:
    return [entry for entry in session.ledger.entries() if entry.kind == kind]


def all_at_once(asks: list[Callable[[], Any]]) -> list[Any]:
    """What several threads get that ask at the same moment."""
    start, replies = threading.Barrier(len(asks)), [None] * len(asks)

    def work(index: int) -> None:
        start.wait()
        try:
            replies[index] = asks[index]()
        except Exception as error:
            replies[index] = error

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(asks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def wait_for(session: Session, others: int) -> None:
    """Until so many others wait for the claim that is held."""
    claims = session._account._writer.store.claims._claims
    while sum(claim.interested for claim in claims.values()) <= others:
        time.sleep(0.001)


@pytest.mark.parametrize("place", ["memory", "file", "postgres"])
def test_threads_that_ask_the_same_at_the_same_moment_pay_once_and_hear_the_same(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ledger = ":memory:" if place == "memory" else tmp_path / "survey.ledger"
    if place == "postgres":
        ledger = request.getfixturevalue("postgres_schema_url")
    sessions = [protected(ledger)] * 6 if place == "memory" else [protected(ledger), protected(ledger)] * 3
    replies = all_at_once([partial(each.mean, "x", epsilon=1) for each in sessions])
    assert len({reply.value for reply in replies}) == 1, replies
    assert len(of_kind(sessions[0], DEBIT)) == 1
    assert sum("archive" in dict(reply.notes) for reply in replies) == 5


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, TypeError, OSError, RecursionError])
def test_a_paid_answer_is_handed_out_whatever_the_archive_raises(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    survey = protected(":memory:")

    def fail(*_: object) -> None:
        wait_for(survey, others)
        raise error("no more")

    monkeypatch.setattr(Account, "record", fail)
    others = 3
    replies = all_at_once([lambda: survey.count("x", epsilon=1)] * 4)
    assert len({reply.value for reply in replies}) == 1
    assert len(of_kind(survey, DEBIT)) == 1  # who waited got the same, too
    assert all("not archived" in dict(reply.notes) for reply in replies)
    others = 0
    survey.count("x", epsilon=1)
    assert len(of_kind(survey, DEBIT)) == 2


def test_who_waits_while_the_first_one_fails_hears_the_same_and_pays_nothing(tmp_path: Path) -> None:
    sessions = [protected(tmp_path / "survey.ledger") for _ in range(4)]

    def fail(columns: object) -> Any:
        wait_for(sessions[0], others)
        raise OSError

    for each in sessions:
        each._table.store.batches = fail
    others = 3
    replies = all_at_once([partial(each.median, "x", epsilon=1) for each in sessions])
    assert {type(reply) for reply in replies} == {dp.NoReply}
    assert len({str(reply) for reply in replies}) == 1
    [debit], [answer] = of_kind(sessions[0], DEBIT), of_kind(sessions[0], ANSWER)
    assert answer.content() == {"debit": debit.sequence, "failed": True}
    others = 0
    sessions[0].median("x", epsilon=1)  # who asks later pays again
    assert len(of_kind(sessions[0], DEBIT)) == 2


def asked_by(session: Session, request: str) -> Session:
    return Session(replace(session._table, account=session._account.acting_for("alice", request)), session._scope)


def test_a_request_names_one_question_and_pays_once(tmp_path: Path) -> None:
    survey = protected(tmp_path / "survey.ledger")
    from dpstats.curator.ledger.ledger import open_ledger

    with open_ledger(tmp_path / "survey.ledger") as ledger:
        ledger.grant("survey", analyst="alice", budget=dp.Budget(2), **BY)
    first = asked_by(survey, "r1").count("x", epsilon=1)
    assert asked_by(survey, "r1").count("x", epsilon=1).value == first.value
    with pytest.raises(dp.InvalidParameterError, match="'r1' has named another question"):
        asked_by(survey, "r1").median("x", epsilon=1)
    survey._table.store.batches = lambda columns: [][0]
    replies = [asked_by(survey, "r2").median("x", epsilon="0.5") for _ in range(3)]
    assert {str(reply) for reply in replies} == {str(replies[0])}
    assert len(of_kind(survey, DEBIT)) == 2
    with pytest.raises(dp.BudgetError, match="survey, analyst alice"):
        asked_by(survey, "r3").median("x", epsilon="0.6")
    debits = all_at_once([partial(asked_by(survey, "r4").median, name, epsilon="0.25") for name in ("x", "g", "x", "g")])
    assert sum(isinstance(reply, dp.InvalidParameterError) for reply in debits) == 2
    assert len(of_kind(survey, DEBIT)) == 3
    with open_ledger(tmp_path / "survey.ledger") as ledger:
        assert ledger.verify().complaints == ()


def crowd(address: str, processes: int, threads: int, questions: int) -> None:
    """Threads of several processes ask a few questions at the same moment; each is paid for once, and has one value."""
    protected(address)
    command = [sys.executable, "-m", "tests.curator.same_question", address, str(threads), str(questions)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [subprocess.Popen(command, **pipes, text=True, cwd=ROOT) for _ in range(processes)]
    ready = [process.stdout.readline() for process in running]
    said = [process.communicate("go\n") for process in running]
    assert ready == ["ready\n"] * processes, said
    heard = [json.loads(out) for out, _ in said]
    for question in range(questions):
        values = [value for one in heard for value in one[question]]
        assert len(values) == processes * threads
        assert len(set(values)) == 1, values
    assert len(of_kind(protected(address), DEBIT)) == questions


def test_processes_that_ask_the_same_pay_once(tmp_path: Path) -> None:
    crowd(str(tmp_path / "survey.ledger"), 2, 8, 5)


@pytest.mark.long
def test_1000_simultaneous_identical_questions_of_4_processes_pay_once(tmp_path: Path) -> None:
    crowd(str(tmp_path / "survey.ledger"), 4, 250, 5)


@pytest.mark.long
def test_1000_simultaneous_identical_questions_of_4_processes_pay_once_in_postgres(postgres_schema_url: str) -> None:
    crowd(postgres_schema_url, 4, 250, 5)
