"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import analyst, ask, entrance, history, public, questions, receipts, releases, single_sign_on

_MODULES = (
    entrance,
    single_sign_on,
    public,
    releases,
    receipts,
    analyst,
    ask,
    questions,
    history,
)


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [each.ROUTES for each in _MODULES]
