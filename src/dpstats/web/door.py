"""The door: who comes, whether they may pass, and what they bring; all of it is settled before a handler sees a request.

Default deny: whoever is not let in by a route's `who` gets a 401 or a 403. Writes by a browser must come from a page of the
service's own, which browsers say truly in `Sec-Fetch-Site` and `Origin`; programs with tokens are no browsers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request

from dpstats.curator.catalog.ceilings import LONGEST_DOCUMENT
from dpstats.web.complaints import ELSEWHERE, NOT_FOR_YOU, SIGN_IN_FIRST, TOO_LONG, ComplaintError
from dpstats.web.people.people import People
from dpstats.web.people.roles import Visitor, Who
from dpstats.web.routes import Body, Query, Route
from dpstats.web.settings import WebSettings

SIGN_IN, HANDSHAKE = "dpstats", "dpstats-handshake"
BEARER = "bearer "
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
JSON = "application/json"
_LONGEST = 2 * LONGEST_DOCUMENT
LONGEST_KEY = 100


def cookie_name(what: str, settings: WebSettings) -> str:
    """The name of a cookie; browsers send one that begins so to this very host, by TLS only."""
    return f"__Host-{what}" if settings.is_secure else what


def visitor_of(request: Request, people: People, settings: WebSettings) -> Visitor | None:
    """Whoever comes; a token that is no good is nobody, and so is an old cookie."""
    given = request.headers.get("authorization", "")
    if given:
        return people.with_token(given[len(BEARER) :].strip()) if given.lower().startswith(BEARER) else None
    secret = request.cookies.get(cookie_name(SIGN_IN, settings), "")
    return people.signed_in(secret) if secret else None


def check_passage(route: Route, visitor: Visitor | None, dataset: str | None) -> None:
    """Raise unless the visitor may pass."""
    if route.who is Who.PUBLIC:
        return
    if visitor is None:
        raise SIGN_IN_FIRST
    if not visitor.may_pass(route.who):
        raise NOT_FOR_YOU
    token = visitor.token
    if token is not None and (
        route.action not in token.actions
        or (token.datasets is not None and dataset is not None and dataset not in token.datasets)
    ):
        raise NOT_FOR_YOU


def check_origin(request: Request, settings: WebSettings) -> None:
    """Raise where a browser was sent here by a page of somebody else; no page can make it send a token there."""
    if request.method in ("GET", "HEAD") or "authorization" in request.headers:
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None and site != "same-origin":
        raise ELSEWHERE
    if origin is None and site is None:
        raise ELSEWHERE
    if origin is not None and _by_number(origin) != _by_number(settings.origin):
        raise ELSEWHERE


def _by_number(origin: str) -> str:
    """An origin, in which this very machine has one name."""
    return origin.replace("//localhost", "//127.0.0.1", 1)


def check_key(request: Request) -> str:
    """What the asker calls this request."""
    key = request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_KEY or not (key.isascii() and (not key or key.isprintable())):
        raise ComplaintError(422, "InvalidParameterError", f"Idempotency-Key: printable ASCII, {LONGEST_KEY} letters at most.")
    return key


def is_json(request: Request) -> bool:
    """Whether a program asks, which wants values and no page."""
    return _content_type(request) == JSON


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_content(request: Request) -> bytes | None:
    """What came with an action; None where it is too long to be read."""
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > _LONGEST:
        return None
    pieces, size = [], 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > _LONGEST:
            return None
    return b"".join(pieces)


def read_body(request: Request, content: bytes | None, model: type[Body]) -> Body:
    """What came with an action, by JSON or by a form."""
    if content is None:
        raise TOO_LONG
    kind = _content_type(request)
    if kind == JSON:
        return model.model_validate_json(content or b"{}")
    if kind == FORMS[0]:
        return model.model_validate(form_values(model, parsed_form(content)))
    raise ComplaintError(415, "InvalidParameterError", f"send {JSON}, or a form.")


def parsed_form(content: bytes) -> dict[str, list[str]]:
    """The fields of a form, each with all its values; empty ones are left out."""
    from urllib.parse import parse_qs

    try:
        return parse_qs(content.decode("ascii"), max_num_fields=1_000, errors="strict")
    except ValueError:
        raise ComplaintError(422, "InvalidParameterError", "this is no form that can be read.") from None


def form_values(model: type[BaseModel], given: Mapping[str, list[str]]) -> dict[str, Any]:
    """The fields of a form for a model: lists where it takes lists, else the last value."""
    lists = _lists(model)
    return {name: values if name in lists else values[-1] for name, values in given.items()}


@cache
def _lists(model: type[BaseModel]) -> frozenset[str]:
    """The fields of a model that take lists."""
    return frozenset(name for name, each in model.model_fields.items() if "list" in str(each.annotation))


def read_query(request: Request, model: type[Query]) -> Query:
    """What stands behind the question mark; empty fields of a form count as left out."""
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        if value:
            given.setdefault(name, []).append(value)
    return model.model_validate(form_values(model, given))
