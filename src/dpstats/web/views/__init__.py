"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import entrance, public, single_sign_on


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [entrance.ROUTES, single_sign_on.ROUTES, public.ROUTES]
