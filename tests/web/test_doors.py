"""Every address: who may pass, and that there is none that no table has."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from starlette.routing import Mount
from starlette.routing import Route as StarletteRoute

from dpstats.web.app import build_app
from dpstats.web.people.roles import Action, Role, Who
from dpstats.web.routes import Route, RouteTable
from dpstats.web.views import tables
from tests.web.conftest import Service

ROUTES = [route for table in tables() for route in table.routes]
IN_PLACE = {"name": "survey", "number": "1", "sequence": "1", "token": "none", "letter": "1", "person": "ana"}
OPEN_TO_ALL = {
    "GET /",
    "GET /d/{name}",
    "GET /r/{number:int}",
    "GET /r/{number:int}.csv",
    "GET /r/{number:int}/files/{file}",
    "GET /r/{number:int}/{place:int}.svg",
    "GET /r/{number:int}.bib",
    "GET /r/{number:int}/registry.json",
    "GET /r/{number:int}/receipt.json",
    "GET /receipts",
    "POST /receipts",
    "GET /heads.txt",
    "GET /login",
    "POST /login",
    "GET /health",
    "GET /oidc/start",
    "GET /oidc/back",
}
"""What needs no sign-in, one by one: a new one must be written down here."""


def address(route: Route) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: IN_PLACE.get(found[1], "1"), route.path)


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def send(client: httpx.Client, route: Route, suffix: str = "") -> httpx.Response:
    return client.request(route.method, f"{address(route)}{suffix}", json={} if route.method == "POST" else None)


CLOSED = [route for route in ROUTES if route.who is not Who.PUBLIC]


def test_what_is_open_to_all_is_written_down_here() -> None:
    assert {named(route) for route in ROUTES if route.who is Who.PUBLIC} == OPEN_TO_ALL


@pytest.mark.parametrize("route", CLOSED, ids=named)
def test_nobody_passes_without_a_name(service: Service, route: Route) -> None:
    for headers in ({}, {"authorization": "Bearer dpst_000000000000_forged"}, {"authorization": "Basic YW5hOmFuYQ=="}):
        with service.client(**headers) as client:
            reply = send(client, route, ".json" if route.is_page else "")
        assert reply.status_code == 401 or (reply.status_code == 303 and reply.headers["location"].startswith("/login?next=/"))
    with service.client(**{"user-name": "olga", "x-forwarded-user": "olga", "x-user": "olga"}) as client:
        assert send(client, route, ".json" if route.is_page else "").status_code in (401, 303)


@pytest.mark.parametrize("route", [route for route in CLOSED if route.who is not Who.SIGNED_IN], ids=named)
def test_nobody_passes_with_another_role(service: Service, route: Route) -> None:
    roles = {"olga": {Role.OWNER, Role.ADMIN}, "ana": {Role.ANALYST}, "aron": {Role.AUDITOR}}
    others = [name for name, own in roles.items() if Role(route.who.value) not in own]
    assert others
    for name in others:
        with service.visit(name) as client:
            assert send(client, route, ".json" if route.is_page else "").status_code == 403


@pytest.mark.parametrize("action", list(Action))
def test_a_token_passes_only_where_its_scope_says(service: Service, action: Action) -> None:
    others = [route for route in CLOSED if route.action is not action]
    for name in ("olga", "ana", "aron"):
        with service.with_token(name, actions=[action.value]) as client:
            assert {send(client, route, ".json" if route.is_page else "").status_code for route in others} == {403}


def test_a_token_for_one_data_set_opens_no_other(service: Service) -> None:
    routes = [route for route in CLOSED if "{name}" in route.path]
    with service.with_token("ana", datasets=["another"]) as client:
        for route in routes:
            assert send(client, route, ".json" if route.is_page else "").status_code == 403


def test_the_application_has_no_other_addresses(service: Service) -> None:
    served = {route.path for route in build_app(service.office).routes if isinstance(route, (StarletteRoute, Mount))}
    pages = {f"{route.path}.json" for route in ROUTES if route.is_page} - {"/.json"}
    assert served == {route.path for route in ROUTES} | pages | {"/index.json", "/openapi.json", "/static"}


def test_a_route_must_say_who_may_pass() -> None:
    with pytest.raises(TypeError):
        RouteTable().page("/somewhere", template="login.html")  # type: ignore[call-arg]


def test_what_changes_something_is_no_get() -> None:
    assert {route.method for route in ROUTES} == {"GET", "POST"}
    assert all((route.body is None) == (route.method == "GET") for route in ROUTES)


def test_every_reply_has_the_headers_of_the_guards(service: Service) -> None:
    with service.client() as client:
        for path in ("/", "/login", "/nothing", "/index.json", "/static/style.css", "/openapi.json"):
            headers = client.get(path).headers
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["content-security-policy"].startswith("default-src 'none'; ")
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")
            assert "server" not in headers


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"[1]", "application/json", 422),
        (b"{", "application/json", 422),
        (b'{"name": "ana", "password": "x", "more": 1}', "application/json", 422),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 422),
        (b"name=ana", "text/plain", 415),
        (b"x" * 200_000, "application/json", 413),
        (b"&".join(b"a=b" for _ in range(2_000)), "application/x-www-form-urlencoded", 422),
    ],
)
def test_what_cannot_be_read_is_refused(service: Service, content: bytes, kind: str, status: int) -> None:
    with service.client() as client:
        reply = client.post("/login", content=content, headers={"content-type": kind})
    assert reply.status_code == status


def test_the_openapi_document_has_every_address_and_names_every_statistic(service: Service) -> None:
    with service.client() as client:
        document = client.get("/openapi.json").json()
    listed = {(method, path) for path, each in document["paths"].items() for method in each}
    assert len(listed) == len(ROUTES)
    assert "median" in document["components"]["schemas"]["Question"]["properties"]["statistic"]["enum"]
    references = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])
