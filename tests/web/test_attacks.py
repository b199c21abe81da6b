"""Attacks over HTTP; tests/web/threats.py lists all threats, with the tests of each."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import httpx
import pytest

import dpstats as dp
from dpstats.curator.documents.schema import question_schema
from dpstats.curator.jobs.pool import JobFailedError
from dpstats.curator.session import Session
from dpstats.foundations.registry import statistic_names
from dpstats.web import lanes
from dpstats.web.logs import FIELDS, LOGGER
from dpstats.web.people import people
from tests.curator.catalog.conftest import PoolHere
from tests.web.conftest import Service, served

MEDIAN: dict[str, Any] = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.1"}
OLGA = {"actor": "olga", "why": "a test"}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Service]:
    """A service of one test's own, with a second analyst."""
    with served(tmp_path) as service:
        service.demo.passwords["bob"] = "a password of bob"
        service.office.people.add("bob", "a password of bob", service.office.people.find("ana").roles)
        service.office.catalog.grant("survey", analyst="bob", budget=dp.Budget(epsilon=2), **OLGA)
        yield service


def ask(client: httpx.Client, document: dict[str, Any], **headers: str) -> httpx.Response:
    return client.post("/d/survey/questions", json={"document": document}, headers=headers)


def debits(service: Service) -> int:
    return len(service.office.ledger.questions("survey"))


def at_once(calls: int, work: Callable[[int], Any]) -> list[Any]:
    """What some threads get that begin at the same moment."""
    together = threading.Barrier(calls)

    def wait_and_work(number: int) -> Any:
        together.wait()
        return work(number)

    with ThreadPoolExecutor(calls) as threads:
        return list(threads.map(wait_and_work, range(calls)))


def test_racing_questions_never_spend_more_than_there_is(fresh: Service) -> None:
    with fresh.with_token("ana") as ana, fresh.with_token("bob") as bob:
        clients = [ana, bob] * 8
        replies = at_once(16, lambda number: ask(clients[number], {**MEDIAN, "epsilon": f"0.4{number:03}"}))
    answered = [reply for reply in replies if reply.status_code == 200]
    assert {reply.status_code for reply in replies} == {200, 409}
    assert len(answered) == 8  # four of 0.4 and a little fit each cap of 2
    assert fresh.office.ledger.verify().sound


def test_a_repeated_request_is_paid_for_once(fresh: Service) -> None:
    with fresh.with_token("ana") as ana:
        first, second = (ask(ana, MEDIAN, **{"idempotency-key": "r-1"}) for _ in range(2))
        assert first.json()["answer"]["value"] == second.json()["answer"]["value"]
        assert debits(fresh) == 1
        other = ask(ana, {**MEDIAN, "epsilon": "0.2"}, **{"idempotency-key": "r-1"})
        assert (other.status_code, debits(fresh)) == (422, 1)


def test_identical_questions_at_one_moment_are_one_debit_and_one_value(fresh: Service) -> None:
    with fresh.with_token("ana") as ana, fresh.with_token("bob") as bob:
        clients = [ana, bob] * 6
        replies = at_once(12, lambda number: ask(clients[number], MEDIAN).json()["answer"]["value"])
    assert debits(fresh) == 1
    assert replies == [replies[0]] * 12


def test_an_archive_of_ones_own_shows_nobody_elses_questions(fresh: Service) -> None:
    fresh.office.catalog.amend("survey", archive="own", **OLGA)
    with fresh.with_token("ana") as ana, fresh.with_token("bob") as bob:
        unasked = priced(bob)
        first = ask(ana, MEDIAN)
        assert priced(bob) == unasked
        second = ask(bob, MEDIAN)
        assert debits(fresh) == 2
        assert second.status_code == first.status_code
        assert public_part(second) == public_part(first)
        assert second.json()["answer"]["value"] != first.json()["answer"]["value"]
        assert "ana" not in bob.get("/d/survey/history.json").text


def priced(client: httpx.Client) -> Any:
    """What is said of the question before it is asked."""
    return client.post("/d/survey/price", json={"document": MEDIAN}).json()


def public_part(reply: httpx.Response) -> dict[str, Any]:
    """A reply without what is drawn, and without its place in the ledger: its words, and when it leaves."""
    plain = reply.json()
    answer = {name: each for name, each in plain["answer"].items() if name not in ("value", "interval")}
    return {**plain, "answer": answer, "receipt": sorted(plain["receipt"]), "sequence": None}


def test_whatever_goes_wrong_after_the_debit_has_one_form(fresh: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same octets but for what is left and for the place in the ledger, which follow from the price."""
    said = set()
    for error in (MemoryError(), JobFailedError(), ZeroDivisionError("income of person 7 is 0"), OSError("row 17")):

        def fail(*_: object, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(PoolHere, "run", fail)
        with fresh.with_token("ana") as ana:
            reply = ask(ana, MEDIAN)
        plain = reply.json()
        text = reply.text
        for own in (plain["receipt"], plain["sequence"], plain["remaining"]):
            text = text.replace(json.dumps(own, separators=(",", ":"), ensure_ascii=False), "", 1)
        said.add((reply.status_code, text))
    [(status, text)] = said
    assert (status, "reason" in text, debits(fresh)) == (200, True, 4)


def test_answers_from_the_archive_and_pages_do_not_wait_for_paid_work(fresh: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    with fresh.with_token("bob") as bob, fresh.with_token("ana") as ana, ThreadPoolExecutor(12) as threads:
        ask(bob, MEDIAN)
        go_on, here = threading.Event(), PoolHere.run

        def late(pool: PoolHere, *given: Any) -> Any:
            go_on.wait(30)
            return here(pool, *given)

        monkeypatch.setattr(PoolHere, "run", late)
        waiting = [threads.submit(ask, ana, {**MEDIAN, "epsilon": f"0.01{number}"}) for number in range(12)]
        try:
            assert ask(bob, MEDIAN).json()["archived"]
            assert bob.get("/me.json").status_code == 200
            assert bob.post("/d/survey/price", json={"document": MEDIAN}).status_code == 200
        finally:
            go_on.set()
        assert {each.result().status_code for each in waiting} == {200}


EXPRESSIONS = (
    "__import__('os').system('true')",
    "income; drop table survey",
    "income == 1 or exec('1')",
    "(lambda: 1)()",
    "income.__class__",
    "open('/etc/passwd')",
    "1 = 1) --",
    "region == 'x' union select",
    "income > " + "1" * 3_000,
    "(" * 500 + "income > 1" + ")" * 500,
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_conditions_are_a_language_of_their_own(service: Service, expression: str) -> None:
    before = debits(service)
    with service.with_token("ana") as ana:
        for document in (
            {**MEDIAN, "where": [expression]},
            {**MEDIAN, "with_columns": [{"name": "x", "expression": expression}], "columns": ["x"]},
        ):
            assert ask(ana, document).status_code in (404, 422)
    assert debits(service) == before


def test_only_statistics_can_be_named(service: Service) -> None:
    before = debits(service)
    names = {*dir(Session), *dir(object), "ledger", "_table", "protect"} - {*statistic_names(), "regression"}
    with service.with_token("ana") as ana:
        assert {ask(ana, {**MEDIAN, "statistic": name}).status_code for name in names} <= {404, 422}
    assert debits(service) == before


SEEDS = ("rng", "seed", "allow_seeded")
"""Words by which somebody might choose the noise."""


def test_functions_and_seeds_are_no_part_of_a_question(service: Service) -> None:
    code = base64.b64encode(cloudpickle.dumps(lambda rows: rows)).decode()
    before = debits(service)
    words = {*question_schema()["properties"], *SEEDS}
    assert len(words) > 15
    with service.with_token("ana") as ana:
        for word in words:
            for value in (code, [code], {"function": code}, {"__reduce__": code}):
                assert ask(ana, {**MEDIAN, word: value}).status_code in (404, 422), word
        for word in SEEDS:
            seeded = {**MEDIAN, word: 1}
            for path, body in (
                ("questions", {"document": MEDIAN, word: 1}),
                ("basket", {"documents": [seeded]}),
                ("basket", {"documents": [MEDIAN], word: 1}),
                ("basket/price", {"documents": [seeded]}),
                ("price", {"document": seeded}),
                ("plan", {"document": seeded, "n": 1_000}),
            ):
                assert ana.post(f"/d/survey/{path}", json=body).status_code in (404, 422), (path, word)
    with service.with_token("olga") as olga:
        for word in SEEDS:
            assert olga.post("/own/survey/release", json={"documents": [{**MEDIAN, word: 1}]}).status_code in (404, 422)
    assert debits(service) == before
    sources = Path(dp.__file__).parent / "web"
    assert not [path for path in sources.rglob("*.py") if "seeded" in path.read_text() or "pickle" in path.read_text()]


@pytest.mark.parametrize(
    "document",
    [
        {**MEDIAN, "group_by": {"columns": ["age"], "keys": list(range(20_000))}},
        {"version": 1, "statistic": "quantile", "columns": ["income"], "epsilon": "0.1", "parameters": {"q": [0.5] * 5_000}},
        {**MEDIAN, "where": ["age > 1"] * 100_000},
        {**MEDIAN, "epsilon": "1e999999999"},
    ],
    ids=["groups", "quantiles", "length", "exponent"],
)
def test_what_would_take_too_much_is_refused_before_it_is_paid_for(service: Service, document: dict[str, Any]) -> None:
    before = debits(service)
    with service.with_token("ana") as ana:
        assert ask(ana, document).status_code in (413, 422)
    assert debits(service) == before


def test_a_revoked_token_and_other_roles_hold_from_the_next_request_on(fresh: Service) -> None:
    known = fresh.office.people
    with fresh.with_token("bob") as program, fresh.visit("bob") as browser:
        assert program.get("/me.json").status_code == browser.get("/me.json").status_code == 200
        known.revoke_token("bob", known.tokens("bob")[0].id)
        assert program.get("/me.json").status_code == 401
        known.change("bob", roles=[])
        assert browser.get("/me.json").status_code == 401


def test_a_grant_that_is_taken_back_meanwhile_keeps_the_answer_back(fresh: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    here = PoolHere.run

    def revoked(pool: PoolHere, *given: Any) -> Any:
        fresh.office.catalog.revoke("survey", analyst="ana", **OLGA)
        return here(pool, *given)

    monkeypatch.setattr(PoolHere, "run", revoked)
    with fresh.with_token("ana") as ana:
        reply = ask(ana, MEDIAN)
        assert (reply.status_code, debits(fresh)) == (404, 1)
        assert "value" not in reply.text
        assert ask(ana, MEDIAN).status_code == 404


def test_what_is_worked_on_is_not_handed_to_a_token_that_was_revoked_meanwhile(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, known = PoolHere.run, fresh.office.people

    def revoked(pool: PoolHere, *given: Any) -> Any:
        known.revoke_token("ana", known.tokens("ana")[0].id)
        return here(pool, *given)

    monkeypatch.setattr(PoolHere, "run", revoked)
    with fresh.with_token("ana") as ana:
        reply = ask(ana, MEDIAN)
        assert (reply.status_code, debits(fresh)) == (401, 1)
        assert "value" not in reply.text
    with fresh.with_token("ana") as again:
        assert ask(again, MEDIAN).json()["archived"]


def test_no_process_of_the_service_is_forked() -> None:
    package = Path(dp.__file__).parent
    sources = [*(package / "web").rglob("*.py"), *(package / "curator" / "jobs").glob("*.py")]
    assert len(sources) > 20
    assert not [path for path in sources if "fork" in path.read_text() or "multiprocessing" in path.read_text()]


def test_two_processes_draw_nothing_twice() -> None:
    program = "from dpstats.foundations.randomness import SystemSource as S; print(*(S().octets(8).hex() for _ in range(10**4)))"
    drawing = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    drawn = [each for process in drawing for each in process.communicate()[0].split()]
    assert len(set(drawn)) == len(drawn) == 20_000


def test_passwords_that_are_checked_keep_nobody_else_waiting(fresh: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def slow(*_: object) -> bool:
        begun.release()
        return not go_on.wait(30)

    monkeypatch.setattr(people, "is_right", slow)
    monkeypatch.setattr(lanes, "MOST_SIGNING_IN", 12)
    crowd, wrong = 16, {"name": "nobody", "password": "wrong password"}
    with fresh.client() as nobody, fresh.with_token("ana") as ana, ThreadPoolExecutor(crowd) as threads:
        waiting = [threads.submit(nobody.post, "/login", json=wrong) for _ in range(crowd)]
        try:
            begun.acquire(timeout=20)
            assert nobody.get("/", timeout=5).status_code == 200
            assert ask(ana, MEDIAN).status_code == 200
            assert ana.get("/me.json", timeout=5).status_code == 200
            while sum(each.done() for each in waiting) < 4:  # who is one too many is told so, and waits for nothing
                time.sleep(0.01)
        finally:
            go_on.set()
        statuses = Counter(each.result().status_code for each in waiting)
    assert {*statuses} == {401, 429}
    assert statuses[429] == 4


def test_logs_have_listed_fields_and_no_secrets(fresh: Service, caplog: pytest.LogCaptureFixture) -> None:
    canary = "canary-7f3a"
    with caplog.at_level(logging.INFO, LOGGER.name), fresh.client() as nobody, fresh.with_token("ana") as ana:
        nobody.post("/login", data={"name": f"{canary}-name", "password": f"{canary}-password"})
        nobody.get(f"/d/{canary}", headers={"authorization": f"Bearer dpst_{canary}"})
        ask(ana, {**MEDIAN, "where": [f"region == '{canary}'"]})
        ask(ana, {**MEDIAN, "columns": [canary]})
        ana.get(f"/d/survey/history?after={canary}&{canary}={canary}")
    with fresh.with_token("olga") as olga:
        counts = olga.get("/metrics").text
    assert 'route="/d/{name}/questions",status="200"} ' in counts
    assert canary not in counts
    assert "ana" not in counts
    lines = [record.getMessage() for record in caplog.records if record.name == LOGGER.name]
    assert len(lines) >= 4
    assert canary not in "".join(lines)
    assert all(set(json.loads(line)) <= set(FIELDS) for line in lines)
