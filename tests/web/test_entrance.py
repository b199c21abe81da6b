"""Signing in and out."""

from __future__ import annotations

import httpx
import pytest

import dpstats as dp
from dpstats.web.people import passwords
from tests.web.conftest import Service


def test_whoever_signs_in_gets_a_new_cookie_and_their_own_pages(service: Service) -> None:
    with service.client() as client:
        client.cookies.set("dpstats", "planted")
        reply = client.post("/login", data={"name": "ana", "password": service.demo.passwords["ana"]})
        assert (reply.status_code, reply.headers["location"]) == (303, "/me")
        assert reply.cookies["dpstats"] != "planted"
        assert "HttpOnly" in reply.headers["set-cookie"]
        assert "SameSite=lax" in reply.headers["set-cookie"]


@pytest.mark.parametrize(("name", "password"), [("ana", "wrong password"), ("nobody", "wrong password")])
def test_a_wrong_name_and_a_wrong_password_get_the_same_words(service: Service, name: str, password: str) -> None:
    with service.client() as client:
        reply = client.post("/login", json={"name": name, "password": password})
        assert reply.status_code == 401
        assert reply.json() == {"error": {"kind": "AccessError", "message": "name or password is wrong."}}


def test_a_sign_in_is_good_for_nothing_after_signing_out(service: Service) -> None:
    with service.visit("ana") as client:
        cookies = dict(client.cookies)
        assert client.post("/logout", json={}).status_code == 200
    with service.client() as client:
        client.cookies.update(cookies)
        assert client.post("/logout", json={}).status_code == 401


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}])
def test_other_sites_cannot_post(service: Service, headers: dict[str, str]) -> None:
    with service.visit("ana") as client:
        assert client.post("/logout", json={}, headers=headers).status_code == 403


def test_this_machine_may_be_called_by_its_name(service: Service) -> None:
    with service.visit("ana") as client:
        headers = {"origin": service.origin.replace("127.0.0.1", "localhost"), "sec-fetch-site": "same-origin"}
        assert client.post("/logout", json={}, headers=headers).status_code == 200


def test_a_post_that_does_not_say_where_it_comes_from_is_refused(service: Service) -> None:
    reply = httpx.post(
        f"{service.origin}/login", data={"name": "ana", "password": service.demo.passwords["ana"]}, trust_env=False
    )
    assert reply.status_code == 403


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_nobody_is_sent_elsewhere_after_signing_in(service: Service, target: str) -> None:
    with service.client() as client:
        given = {"name": "ana", "password": service.demo.passwords["ana"], "next": target}
        assert client.post("/login", data=given).headers["location"] == "/me"


def test_after_some_wrong_passwords_everybody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(passwords.time, "monotonic", lambda: now)
    attempts = passwords.Attempts()
    for _ in range(passwords.MOST_FAILURES):
        attempts.check("ana")
        attempts.note("ana", was_right=False)
    with pytest.raises(dp.AccessError, match="wait a few minutes"):
        attempts.check("ana")
    attempts.check("bob")
    now += passwords.FIRST_WAIT
    attempts.check("ana")
    attempts.note("ana", was_right=False)
    now += passwords.FIRST_WAIT
    with pytest.raises(dp.AccessError):
        attempts.check("ana")
