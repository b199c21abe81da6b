"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import entrance, owner, owner_changes, owner_release, people, public, registration


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [
        entrance.ROUTES,
        public.ROUTES,
        registration.ROUTES,  # before the data sets, because /own/new is none
        owner.ROUTES,
        owner_changes.ROUTES,
        owner_release.ROUTES,
        people.ROUTES,
    ]
