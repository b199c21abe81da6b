"""A router that looks an address up by its parts, instead of trying all routes one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import Receive, Scope, Send

Place = tuple[int, str, str]
"""How many parts an address has, the first and the last; empty where that is no fixed word."""


class IndexedRouter(Router):
    """A router of some routes; what the index does not find goes the usual way."""

    def __init__(self, routes: Sequence[BaseRoute], **given: Any) -> None:
        super().__init__(routes, **given)
        self._index: dict[Place, list[Route]] = {}
        for route in routes:
            if isinstance(route, Route):
                self._index.setdefault(_place(route.path), []).append(route)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request by the route of its address and method."""
        if scope["type"] == "http":
            for route in self._likely(scope["path"]):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.update(found)
                    await route.handle(scope, receive, send)
                    return
        await super().app(scope, receive, send)

    def _likely(self, path: str) -> Iterable[Route]:
        """Routes that an address may have: those that name its last part before those that take any."""
        count, first, last = _place(path)
        return [*self._index.get((count, first, last), ()), *self._index.get((count, first, ""), ())]


def _place(path: str) -> Place:
    parts = path.split("/")
    return len(parts), _fixed(parts[1]), _fixed(parts[-1])


def _fixed(part: str) -> str:
    return "" if "{" in part else part
