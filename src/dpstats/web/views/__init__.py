"""What there is to see and to do: one module for each kind of visitor."""

from __future__ import annotations

from dpstats.web.routes import RouteTable
from dpstats.web.views import (
    analyst,
    answers,
    ask,
    audit,
    baskets,
    entrance,
    history,
    owner,
    owner_changes,
    owner_release,
    people,
    public,
    questions,
    receipts,
    registration,
    releases,
    single_sign_on,
)

_MODULES = (
    entrance,
    single_sign_on,
    public,
    releases,
    receipts,
    audit,
    analyst,
    ask,
    questions,
    answers,
    baskets,
    history,
    registration,  # before the data sets of owners, because /own/new is none
    owner,
    owner_changes,
    owner_release,
    people,
)


def tables() -> list[RouteTable]:
    """The routes of all modules."""
    return [each.ROUTES for each in _MODULES]
