"""A connection raises what the service raises, repeats what broke off once under the same key, and shows its token to nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import dpstats as dp
from dpstats.client import connection as connections
from dpstats.client.connection import Connection
from dpstats.client.remote_tables import RemoteTable
from tests.client.fake_service import HERE

Reply = Callable[[httpx.Request], httpx.Response]


class Replies:
    """Gives one reply after the other, and keeps the requests."""

    def __init__(self, *replies: Any) -> None:
        self.waiting = list(replies)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.waiting.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def connection(self) -> Connection:
        return Connection(HERE, "dpst_secret", httpx.MockTransport(self))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PAUSE", 0)


def complaint(status: int, kind: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"kind": kind, "message": "said there."}})


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (409, "BudgetError", dp.BudgetError),
        (422, "InvalidParameterError", dp.InvalidParameterError),
        (404, "AccessError", dp.AccessError),
        (503, "DataFileError", dp.DataFileError),
        (500, "LedgerError", dp.LedgerError),
        (422, "SystemExit", dp.ServiceError),
        (422, "annotations", dp.ServiceError),
    ],
)
def test_a_complaint_is_raised_as_it_was_there_and_not_tried_again(status: int, kind: str, expected: type[Exception]) -> None:
    replies = Replies(complaint(status, kind))
    with pytest.raises(expected, match=r"^said there\.$") as raised:
        replies.connection().post("d", "survey", "questions", body={})
    assert type(raised.value) is expected
    assert len(replies.requests) == 1


@pytest.mark.parametrize(
    "broken", [httpx.RemoteProtocolError("gone"), httpx.ReadError("reset"), httpx.ConnectError("refused")], ids=repr
)
def test_what_breaks_off_is_sent_once_more_under_the_same_key(broken: Exception) -> None:
    replies = Replies(broken, httpx.Response(200, json={"done": True}))
    assert replies.connection().post("d", "survey", "questions", body={"document": {}}) == {"done": True}
    first, second = replies.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.content == second.content
    replies = Replies(broken, broken)
    with pytest.raises(dp.ServiceError, match="cannot be reached: check the address"):
        replies.connection().post("d", "survey", "questions", body={})
    assert len(replies.requests) == 2


def test_a_letter_that_breaks_off_is_not_sent_twice() -> None:
    replies = Replies(httpx.ReadError("reset"))
    with pytest.raises(dp.ServiceError, match="cannot be reached"):
        replies.connection().post("d", "survey", "proposals", body={}, again=False)
    assert len(replies.requests) == 1


def test_what_takes_too_long_is_not_sent_again() -> None:
    replies = Replies(httpx.ReadTimeout("late"))
    with pytest.raises(dp.ServiceError, match=r"did not reply in time\. A question may have been paid for"):
        replies.connection().post("d", "survey", "questions", body={}, seconds=64)
    [request] = replies.requests
    assert request.extensions["timeout"]["read"] == connections.PATIENCE + 128


@pytest.mark.parametrize(
    "reply",
    [httpx.Response(200, text="<html>"), httpx.Response(200, json=[1]), httpx.Response(302, headers={"location": "/"})],
    ids=repr,
)
def test_what_no_service_says_is_an_error_of_the_connection(reply: httpx.Response) -> None:
    with pytest.raises(dp.ServiceError, match="of dpstats"):
        Replies(reply).connection().get("me")


def test_a_service_of_another_version_is_named_as_such() -> None:
    replies = Replies(httpx.Response(200, json={"name": "survey", "columns": {"age": "quaternion"}}))
    with pytest.raises(dp.ServiceError, match="this version of dpstats does not know"):
        RemoteTable(replies.connection(), "survey")


def test_names_cannot_leave_their_place_in_an_address() -> None:
    replies = Replies(httpx.Response(200, json={}))
    replies.connection().get("d", "../own?x=1#y", "ask")
    assert replies.requests[0].url.raw_path == b"/d/..%2Fown%3Fx%3D1%23y/ask.json"


@pytest.mark.parametrize("url", ["http://stats.example.org", "ftp://127.0.0.1", "stats", "https://ana:pw@stats.example.org", 7])
def test_a_token_goes_to_a_proper_address_by_tls_alone(url: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="address of a service"):
        dp.connect(url, token="dpst_secret")


def test_a_token_is_needed_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPSTATS_TOKEN", raising=False)
    with pytest.raises(dp.MissingParameterError, match=r"connect needs a token.*DPSTATS_TOKEN.*/me/tokens"):
        dp.connect(HERE)
    with pytest.raises(dp.InvalidParameterError, match="token must be a text") as raised:
        dp.connect(HERE, token="secret\nx-other: 1")
    assert "secret" not in str(raised.value)


def test_a_notebook_asks_for_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def type_badly(words: str) -> str:
        asked.append(words)
        return " secret x "

    monkeypatch.delenv("DPSTATS_TOKEN", raising=False)
    monkeypatch.setattr("sys.ps1", "In : ", raising=False)
    monkeypatch.setattr("getpass.getpass", type_badly)
    with pytest.raises(dp.InvalidParameterError, match="token must be a text"):
        dp.connect(HERE)
    assert asked == [f"Token for {HERE}: "]


def test_httpx_is_needed_only_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(dp.MissingExtraError, match=r"dpstats\[web\]"):
        dp.connect(HERE, token="dpst_x")
