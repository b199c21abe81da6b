"""Routes: every address of the service, who may pass there, and what is done; nothing is reachable that is not in such a table.

A page is a handler that gives plain values: they are shown by a template, and as they are at the same address with `.json`. An
action changes or asks something: by a form, after which the browser goes on to a page, or by JSON, which gets the values. A route
cannot be written down without saying who may pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from dpstats.web.people.roles import Action, Visitor, Who

if TYPE_CHECKING:
    from dpstats.web.office import Office

Plain = dict[str, Any]
"""Values as JSON has them."""


class Body(BaseModel):
    """What comes with an action, by JSON or by a form; what is not named in it is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=65_536)


class Query(BaseModel):
    """What stands behind the question mark of an address; what is not named in it is ignored."""

    model_config = ConfigDict(extra="ignore", str_max_length=65_536)


@dataclass(frozen=True)
class Visit:
    """One request, as a handler sees it: checked, and by somebody who may pass."""

    office: Office
    visitor: Visitor | None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Any = None
    """A `Query` of the kind that the route names."""
    body: Any = None
    """A `Body` of the kind that the route names."""
    request: str = ""
    """What the asker calls this request: the header Idempotency-Key."""
    sign_in: str = ""
    """The secret of the sign-in, where there is one."""
    handshake: str = ""
    """What a browser was given to bring back from the place where its person signs in."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What a route's `first` leaves for its handler."""

    @property
    def name(self) -> str:
        """The name of whoever asks."""
        assert self.visitor is not None
        return self.visitor.name


@dataclass(frozen=True)
class Done:
    """What an action has done: values for programs, and where a browser goes on."""

    location: str
    values: Plain = field(default_factory=dict)
    sign_in: str | None = None
    """The secret of a new sign-in, for a cookie; empty to forget it, None where nothing changes."""
    template: str = ""
    """Shows the values to a browser at once, where they must not be shown twice; then it does not go on."""
    handshake: str | None = None
    """What a browser brings back from the place where its person signs in, in the same way."""


@dataclass(frozen=True)
class FileReply:
    """A file: CSV, SVG, a notebook, the chain."""

    content: bytes | Iterator[bytes]
    """All of it, or its parts, which are sent one after another."""
    media_type: str
    name: str = ""
    """Under which a browser saves it; shown in place where empty."""


class Lane(Enum):
    """Who waits for whom: what is quick never waits behind paid work."""

    QUICK = "quick"
    PAID = "paid"
    PASSWORDS = "passwords"
    """A password is checked or kept, which takes a tenth of a second of the processor and much memory."""


Handler = Callable[[Visit], Any]


@dataclass(frozen=True)
class Route:
    """One address."""

    method: str
    path: str
    who: Who
    handler: Handler
    action: Action = Action.READ
    """What a token must be good for."""
    template: str = ""
    """Of a page."""
    query: type[Query] = Query
    body: type[Body] | None = None
    lane: Lane = Lane.QUICK
    first: Handler | None = None
    """Tried in the quick lane before the handler; None from it means that there is work to do."""
    again: str = ""
    """The page that shows a form again, with what is wrong with it."""

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return (self.handler.__doc__ or "").strip().partition("\n")[0]

    @property
    def is_page(self) -> bool:
        """Whether it is shown by a template, and has `.json` too."""
        return bool(self.template)


class RouteTable:
    """The routes of one module of views, as decorators of their handlers."""

    def __init__(self) -> None:
        self.routes: list[Route] = []

    def page(
        self, path: str, who: Who, template: str, *, query: type[Query] = Query, action: Action = Action.READ
    ) -> Callable[[Handler], Handler]:
        """A page; its handler returns plain values, which its template shows."""
        return self._kept(lambda handler: Route("GET", path, who, handler, action, template, query))

    def file(
        self, path: str, who: Who, *, query: type[Query] = Query, action: Action = Action.READ
    ) -> Callable[[Handler], Handler]:
        """A file; its handler returns a `FileReply`."""
        return self._kept(lambda handler: Route("GET", path, who, handler, action, "", query))

    def act(
        self,
        path: str,
        who: Who,
        body: type[Body],
        *,
        action: Action,
        again: str = "",
        lane: Lane = Lane.QUICK,
        first: Handler | None = None,
    ) -> Callable[[Handler], Handler]:
        """An action; its handler returns `Done`."""
        return self._kept(
            lambda handler: Route("POST", path, who, handler, action, body=body, lane=lane, first=first, again=again)
        )

    def _kept(self, made: Callable[[Handler], Route]) -> Callable[[Handler], Handler]:
        def keep(handler: Handler) -> Handler:
            self.routes.append(made(handler))
            return handler

        return keep
