"""What everybody may see: data sets with releases, and the releases."""

from __future__ import annotations

from dpstats.web.people.roles import Who
from dpstats.web.routes import Plain, RouteTable, Visit

ROUTES = RouteTable()


@ROUTES.page("/", Who.PUBLIC, "index.html")
def index(visit: Visit) -> Plain:
    """The data sets that have releases."""
    return {"datasets": []}
