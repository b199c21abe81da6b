"""A request that arrives again: after a lost reply, at the same moment, or because somebody loads a page anew."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dpstats.curator.jobs.pool import JobFailedError
from tests.curator.catalog.conftest import PoolHere
from tests.web.conftest import Service, served
from tests.web.test_attacks import MEDIAN, ask, at_once, debits

KEY = {"idempotency-key": "thesis-17"}


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Service]:
    """A service of one test's own."""
    with served(tmp_path) as service:
        yield service


def test_a_request_whose_reply_is_dropped_is_paid_for_once(alone: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is cut while the work is under way; whoever asks again under the same key gets that answer."""
    under_way, go_on, here = threading.Event(), threading.Event(), PoolHere.run

    def late(pool: PoolHere, *given: Any) -> Any:
        under_way.set()
        go_on.wait(30)
        return here(pool, *given)

    monkeypatch.setattr(PoolHere, "run", late)
    with cut_connection(alone, alone.token("ana")):
        assert under_way.wait(30)
    go_on.set()
    with alone.with_token("ana") as ana:
        again = [ask(ana, MEDIAN, **KEY).json() for _ in range(2)]
    assert debits(alone) == 1
    assert again[0]["answer"]["value"] == again[1]["answer"]["value"]
    assert again[0]["sequence"] == again[1]["sequence"]


def cut_connection(service: Service, token: str) -> socket.socket:
    """A connection on which a question was sent, and which nobody listens to."""
    address = urlsplit(service.origin)
    body = json.dumps({"document": MEDIAN})
    connection = socket.create_connection((str(address.hostname), address.port or 80))
    head = f"host: {address.netloc}\r\nauthorization: Bearer {token}\r\nidempotency-key: {KEY['idempotency-key']}\r\n"
    sizes = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    connection.sendall(f"POST /d/survey/questions HTTP/1.1\r\n{head}{sizes}{body}".encode())
    return connection


def test_a_named_request_that_fails_is_paid_for_once_also_at_the_same_moment(
    alone: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be computed is not archived: nothing but the key tells that it was asked before."""

    def fail(*_: object) -> Any:
        raise JobFailedError

    monkeypatch.setattr(PoolHere, "run", fail)
    with alone.with_token("ana") as ana:
        replies = at_once(8, lambda _: ask(ana, MEDIAN, **KEY))
        later = ask(ana, MEDIAN, **KEY)
    assert {reply.status_code for reply in (*replies, later)} == {200}
    assert debits(alone) == 1


def test_looking_at_an_answer_again_is_free(alone: Service) -> None:
    form = {"statistic": "median", "columns": "income", "epsilon": "0.1", "request": "a1"}
    with alone.visit("ana") as ana:
        places = {ana.post("/d/survey/questions", data=form).headers["location"] for _ in range(2)}
        [place] = places
        assert {ana.get(place).status_code for _ in range(3)} == {200}
    assert debits(alone) == 1
