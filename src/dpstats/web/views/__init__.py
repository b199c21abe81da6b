"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import analyst, ask, entrance, history, public, questions


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [entrance.ROUTES, public.ROUTES, analyst.ROUTES, ask.ROUTES, questions.ROUTES, history.ROUTES]
