"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import entrance, public


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [entrance.ROUTES, public.ROUTES]
