"""Signing in by OpenID Connect, at an issuer that answers from a table."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from dpstats.foundations.errors import AccessError
from dpstats.web.people.oidc import Handshake, Issuer
from dpstats.web.settings import OidcSettings
from tests.web.conftest import Service

ISSUER = OidcSettings("https://login.example.org", "dpstats")


class FakeIssuer:
    """Says who somebody is, as it is told to."""

    def __init__(self, service: Service) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.signed_with = self.key
        self.claims: dict[str, Any] = {}
        self.asked: dict[str, list[str]] = {}
        self.service = service

    def sign_in(self, client: httpx.Client) -> httpx.Response:
        """What a browser goes through; the last reply."""
        begun = client.get("/oidc/start")
        assert begun.status_code == 303
        self.asked = parse_qs(urlsplit(begun.headers["location"]).query)
        return client.get("/oidc/back", params={"code": "c", "state": self.asked["state"][0]})

    def request(self, method: str, address: str, **_: Any) -> httpx.Response:
        said: dict[str, Any]
        if address.endswith("openid-configuration"):
            said = {name: f"{ISSUER.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
            said["issuer"] = ISSUER.issuer
        elif address.endswith("jwks_uri"):
            said = KeySet([self.key]).as_dict(private=False)  # type: ignore[assignment]
        else:
            usual = {"iss": ISSUER.issuer, "aud": "dpstats", "exp": time.time() + 60, "preferred_username": "ana"}
            claims = {**usual, "nonce": self.asked["nonce"][0], **self.claims}
            said = {"id_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.signed_with)}
        return httpx.Response(200, json=said, request=httpx.Request(method, address))


@pytest.fixture
def issuer(service: Service, monkeypatch: pytest.MonkeyPatch) -> FakeIssuer:
    fake = FakeIssuer(service)
    monkeypatch.setattr(service.office, "settings", replace(service.office.settings, oidc=ISSUER))
    monkeypatch.setattr(httpx, "request", fake.request)
    return fake


def test_whoever_the_issuer_knows_signs_in(service: Service, issuer: FakeIssuer) -> None:
    with service.client() as client:
        reply = issuer.sign_in(client)
        assert (reply.status_code, reply.headers["location"]) == (303, "/me")
        assert client.post("/logout", json={}).status_code == 200
    assert issuer.asked["code_challenge_method"] == ["S256"]
    assert issuer.asked["redirect_uri"] == [f"{service.origin}/oidc/back"]


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"exp": 1},
        {"nonce": "another"},
        {"preferred_username": 7},
    ],
)
def test_a_token_with_another_claim_is_refused(service: Service, issuer: FakeIssuer, claims: dict[str, Any]) -> None:
    issuer.claims = claims
    with service.client() as client:
        assert issuer.sign_in(client).status_code == 401


def test_a_token_of_another_key_is_refused(service: Service, issuer: FakeIssuer) -> None:
    issuer.signed_with = RSAKey.generate_key(2048, {"kid": "1"})
    with service.client() as client:
        assert issuer.sign_in(client).status_code == 401


def test_nobody_comes_in_who_is_not_known_here(service: Service, issuer: FakeIssuer) -> None:
    issuer.claims = {"preferred_username": "eve"}
    with service.client() as client:
        assert issuer.sign_in(client).status_code == 403


def test_what_another_browser_began_is_refused(service: Service, issuer: FakeIssuer) -> None:
    with service.client() as client, service.client() as victim:
        issuer.sign_in(client)
        assert victim.get("/oidc/back", params={"code": "c", "state": issuer.asked["state"][0]}).status_code == 401
    with pytest.raises(AccessError):
        Issuer(ISSUER, "").name_of("c", "s", Handshake("t", "n", "v"))


def test_without_settings_there_is_no_such_page(service: Service) -> None:
    with service.client() as client:
        assert client.get("/oidc/start").status_code == 404
