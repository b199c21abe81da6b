"""What everybody may see: data sets with releases, what was spent on them, and how what is allowed has changed."""

from __future__ import annotations

from dpstats.web.complaints import NOT_THERE, SIGN_IN_FIRST
from dpstats.web.people.roles import Who
from dpstats.web.published.datasets import NEWEST, dataset_values, listed_dataset
from dpstats.web.routes import Plain, RouteTable, Visit

ROUTES = RouteTable()


@ROUTES.page("/", Who.PUBLIC, "index.html")
def index(visit: Visit) -> Plain:
    """The data sets that have releases."""
    check_public(visit)
    listed = [listed_dataset(visit.office.ledger, each) for each in visit.office.catalog.open_datasets()]
    found = sorted((each for each in listed if each is not None), key=lambda each: str(each["latest"]), reverse=True)
    newest = sorted((line for each in found for line in each.pop("newest")), key=lambda line: -int(line["number"]))
    return {"datasets": found, "newest": newest[:NEWEST]}


@ROUTES.page("/d/{name}", Who.PUBLIC, "dataset.html")
def dataset(visit: Visit) -> Plain:
    """A data set that has releases: whom it protects, what was spent, its releases, its policy and every change of it."""
    check_public(visit)
    registration = visit.office.catalog.open_dataset(visit.path["name"])
    values = None if registration is None else dataset_values(visit.office.ledger, registration)
    if values is None:
        raise NOT_THERE
    return values


def check_public(visit: Visit) -> None:
    """Raise where releases are not for everybody, and nobody is signed in."""
    if visit.visitor is None and not visit.office.settings.public:
        raise SIGN_IN_FIRST
