"""The application: the tables of routes behind one door, for any server that speaks ASGI.

app = build_app(office)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount
from starlette.routing import Route as StarletteRoute
from starlette.staticfiles import StaticFiles

from dpstats.curator.catalog.catalog import Catalog
from dpstats.foundations.errors import DpstatsError
from dpstats.web import door
from dpstats.web.complaints import BROKEN, NOT_THERE, ComplaintError, complaint_about
from dpstats.web.guards import Guards
from dpstats.web.indexed_router import IndexedRouter
from dpstats.web.lanes import Lanes
from dpstats.web.logs import RequestLog
from dpstats.web.office import Office
from dpstats.web.openapi import openapi_document
from dpstats.web.pages import Pages
from dpstats.web.people.people import SIGN_IN_HOURS
from dpstats.web.people.roles import Visitor
from dpstats.web.routes import Done, FileReply, Lane, Route, Visit
from dpstats.web.settings import read_settings
from dpstats.web.views import tables

SETTINGS = "DPSTATS_SETTINGS"
"""The environment's variable that tells the processes of a server where their settings are."""
STATIC = Path(__file__).parent / "static"
HANDSHAKE_SECONDS = 600
"""How long somebody may take to sign in elsewhere."""
SIGNING_SECONDS = 3600
_KEPT = "public, max-age=3600"


@dataclass
class Call:
    """A request on its way through the door to its reply."""

    route: Route
    request: Request
    content: bytes | None
    """What came with an action; None where it is too long."""
    as_page: bool
    """Whether a page is wanted, and not its values."""
    visitor: Visitor | None = None
    visit: Visit | None = None
    """None until it is let in."""


class Service:
    """All routes, and what they share."""

    def __init__(self, office: Office, routes: Iterable[Route]) -> None:
        self._office = office
        self._routes = list(routes)
        self._pages = Pages(office)
        self._lanes = Lanes()
        self._log = RequestLog()

    def app(self) -> Starlette:
        """The ASGI application."""
        routes: list[Any] = []
        for route in self._routes:
            if route.is_page:
                values = "/index.json" if route.path == "/" else f"{route.path}.json"
                routes.append(StarletteRoute(values, self._endpoint(route, as_page=False), methods=["GET"]))
            routes.append(StarletteRoute(route.path, self._endpoint(route, as_page=route.is_page), methods=[route.method]))
        document = JSONResponse(openapi_document(self._office.settings, self._routes))
        routes.append(StarletteRoute("/openapi.json", lambda _: document, methods=["GET"]))
        routes.append(Mount("/static", _KeptFiles(directory=STATIC)))
        app = Starlette(exception_handlers={404: self._missing, 405: self._missing, Exception: self._broken})
        app.router = IndexedRouter(routes, lifespan=self._lifespan)
        app.add_middleware(Guards, is_secure=self._office.settings.is_secure)
        return app

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        signing = asyncio.create_task(self._sign_hourly())
        yield
        signing.cancel()
        self._lanes.close()
        self._office.close()

    async def _sign_hourly(self) -> None:
        """Sign the ledger now and then, if it has a key, so that there are heads for everybody to keep."""
        while True:
            await asyncio.sleep(SIGNING_SECONDS)
            with suppress(DpstatsError):  # whoever writes next hears of it
                await self._lanes.run(Lane.QUICK, "", self._office.ledger.sign)

    def _endpoint(self, route: Route, *, as_page: bool) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            content = b"" if route.body is None else await door.read_content(request)
            call = Call(route, request, content, as_page)
            reply = await self._lanes.run(Lane.QUICK, "", partial(self._replied, call, self._at_once))
            return await self._paid(call) if reply is None else reply

        return serve

    async def _paid(self, call: Call) -> Response:
        """The reply to a call that has been let in, and for which there is work to do."""
        assert call.visit is not None
        name = "" if call.visitor is None else call.visitor.name
        try:
            reply = await self._lanes.run(call.route.lane, name, partial(self._replied, call, self._worked_on))
        except ComplaintError as complaint:
            return self._complained(call, complaint)
        assert reply is not None
        return reply

    def _replied(self, call: Call, work: Callable[[Call], Any]) -> Response | None:
        """The reply that is made of what some work gives; None where it gives None."""
        try:
            said = work(call)
            if said is None:
                return None
            reply = self._reply(call, said)
        except Exception as error:
            return self._complained(call, error)
        self._note(call, reply)
        return reply

    def _complained(self, call: Call, error: Exception) -> Response:
        complaint = complaint_about(error)
        if complaint is BROKEN:
            self._log.fault(error)
        reply = self._complaint(call, complaint.without(self._office.places))
        self._note(call, reply)
        return reply

    def _note(self, call: Call, reply: Response) -> None:
        """Log and count a reply."""
        self._log.served(call.route, reply.status_code, call.visitor)
        self._office.requests.add(call.route.method, call.route.path, reply.status_code)

    def _at_once(self, call: Call) -> Any:
        """What a call gets that needs no paid work, once it is let in; None where it does."""
        route = call.route
        self._let_in(call)
        call.visit = self._visit(call)
        quick = route.handler if route.lane is Lane.QUICK else route.first
        return None if quick is None else quick(call.visit)

    def _worked_on(self, call: Call) -> Any:
        """What a call gets after its work; after paid work if whoever came may still have it: the answer is in the archive."""
        assert call.visit is not None
        said = call.route.handler(call.visit)
        if call.route.lane is Lane.PAID:
            self._let_in(call)
        return said

    def _let_in(self, call: Call) -> None:
        """Note who comes, and raise unless they may pass now."""
        office, request = self._office, call.request
        call.visitor = door.visitor_of(request, office.people, office.settings)
        door.check_origin(request, office.settings)
        door.check_passage(call.route, call.visitor, request.path_params.get("name"))

    def _visit(self, call: Call) -> Visit:
        route, request = call.route, call.request
        body = None if route.body is None else door.read_body(request, call.content, route.body)
        query, key = door.read_query(request, route.query), door.check_key(request)
        sign_in, handshake = (
            request.cookies.get(door.cookie_name(each, self._office.settings), "") for each in (door.SIGN_IN, door.HANDSHAKE)
        )
        return Visit(self._office, call.visitor, request.path_params, query, body, key, sign_in, handshake)

    def _reply(self, call: Call, said: Any) -> Response:
        if isinstance(said, FileReply):
            shown = {"content-disposition": f'attachment; filename="{said.name}"'} if said.name else {}
            if isinstance(said.content, bytes):
                return Response(said.content, media_type=said.media_type, headers=shown)
            return StreamingResponse(said.content, media_type=said.media_type, headers=shown)
        if isinstance(said, Done):
            by_program = door.is_json(call.request)
            if said.template and not by_program:
                return self._pages.shown(said.template, said.values, call.visitor, call.request.url.path)
            reply = JSONResponse(said.values) if by_program else RedirectResponse(said.location, 303)
            self._set_cookie(reply, door.SIGN_IN, said.sign_in, SIGN_IN_HOURS * 3600)
            self._set_cookie(reply, door.HANDSHAKE, said.handshake, HANDSHAKE_SECONDS)
            return reply
        if call.as_page:
            return self._pages.shown(call.route.template, said, call.visitor, call.request.url.path)
        return JSONResponse(said)

    def _complaint(self, call: Call, complaint: ComplaintError) -> Response:
        """What is wrong: as values for programs, on the form's own page for whoever has filled it in, else on a page."""
        request = call.request
        by_form = request.method == "POST" and not door.is_json(request) and "authorization" not in request.headers
        if not (call.as_page or by_form):
            return JSONResponse(complaint.to_dict(), complaint.status)
        if complaint.status == 401 and request.method == "GET":
            return RedirectResponse(f"/login?next={quote(_with_query(request.url), safe='/')}", 303)
        back = _filled(call.route.again, request)
        if _came_from(request, self._office.settings.origin).partition("?")[0] == back:
            back = _came_from(request, self._office.settings.origin)  # with all that was filled in
        return self._pages.complaint(complaint, call.visitor, request.url.path, back=back)

    def _set_cookie(self, reply: Response, what: str, secret: str | None, seconds: int) -> None:
        if secret is None:
            return
        settings = self._office.settings
        reply.set_cookie(
            door.cookie_name(what, settings),
            secret,
            max_age=seconds if secret else 0,
            httponly=True,
            secure=settings.is_secure,
            samesite="lax",
            path="/",
        )

    async def _missing(self, request: Request, _: Exception) -> Response:
        if _wants_values(request):
            return JSONResponse(NOT_THERE.to_dict(), 404)
        office = self._office
        visitor = await self._lanes.run(Lane.QUICK, "", partial(door.visitor_of, request, office.people, office.settings))
        return self._pages.complaint(NOT_THERE, visitor, "")

    async def _broken(self, request: Request, _: Exception) -> Response:
        return JSONResponse(BROKEN.to_dict(), 500) if _wants_values(request) else self._pages.complaint(BROKEN, None, "")


class _KeptFiles(StaticFiles):
    """Files that browsers may keep."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        """A file, to be kept for an hour."""
        reply = super().file_response(*given, **named)
        reply.headers["cache-control"] = _KEPT
        return reply


def build_app(office: Office) -> Starlette:
    """The service as an ASGI application."""
    return Service(office, [route for table in tables() for route in table.routes]).app()


def app_from_settings() -> Starlette:
    """The service that the environment names; each process of a server calls it."""
    catalog, web = read_settings(os.environ[SETTINGS])
    return build_app(Office(Catalog(catalog), web))


def _wants_values(request: Request) -> bool:
    return request.url.path.endswith(".json") or door.is_json(request) or "authorization" in request.headers


def _with_query(address: URL) -> str:
    """A page of this service with all that it says."""
    return f"{address.path}?{address.query}" if address.query else address.path


def _came_from(request: Request, origin: str) -> str:
    """The page of this service from which a browser came; empty where it does not say so."""
    given = request.headers.get("referer", "")
    return given.removeprefix(origin) if given.startswith(f"{origin}/") else ""


def _filled(path: str, request: Request) -> str:
    for name, value in request.path_params.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    return path
