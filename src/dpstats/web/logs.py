"""Logs: one line of JSON for each request, of fields that are listed here and no others.

Neither an address with its values, nor a body, nor a name of a column, nor a duration is among them: what analysts ask and what
they are answered stands in the ledger, and nowhere else.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from dpstats.web.people.roles import Visitor
from dpstats.web.routes import Route

FIELDS = ("time", "method", "route", "status", "who", "error")
LOGGER = logging.getLogger("dpstats.web")


class RequestLog:
    """Writes the lines."""

    def served(self, route: Route, status: int, visitor: Visitor | None) -> None:
        """A request was answered; the route is written as its table has it, without what stood in its place."""
        self._line(method=route.method, route=route.path, status=status, who="" if visitor is None else visitor.name)

    def fault(self, error: BaseException) -> None:
        """Something went wrong that nobody foresaw; its kind is written, not its words, which may hold values."""
        self._line(error=type(error).__name__)

    def _line(self, **fields: object) -> None:
        assert set(fields) <= set(FIELDS)
        LOGGER.info("%s", json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields}))
