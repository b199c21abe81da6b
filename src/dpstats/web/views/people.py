"""People: who may sign in and what they are, for administrators, who never see an answer.

Changes are made by somebody at a browser: a token that could set passwords could make tokens.
"""

from __future__ import annotations

from pydantic import Field

from dpstats.foundations.errors import InvalidParameterError
from dpstats.web.complaints import NOT_FOR_YOU
from dpstats.web.people.passwords import LONGEST, SHORTEST
from dpstats.web.people.people import Person
from dpstats.web.people.roles import Action, Role, Who
from dpstats.web.routes import Body, Done, Lane, Plain, RouteTable, Visit

ROUTES = RouteTable()
MEANINGS = {
    Role.ANALYST: "asks about data sets that owners have opened to them",
    Role.OWNER: "registers data sets, decides who may ask, and publishes",
    Role.AUDITOR: "checks the ledger: questions and costs",
    Role.ADMIN: "adds people and changes their roles; sees no answers",
}


class NewPerson(Body):
    """Somebody new."""

    name: str = Field(max_length=200)
    password: str = Field(max_length=LONGEST)
    roles: list[str] = Field([])


class PersonRoles(Body):
    """What somebody is from now on."""

    name: str
    roles: list[str] = Field([])


class PersonPassword(Body):
    """Another password of somebody."""

    name: str
    password: str = Field(max_length=LONGEST)


class PersonBarred(Body):
    """Whether somebody may sign in."""

    name: str
    barred: bool


@ROUTES.page("/admin", Who.ADMIN, "people.html", action=Action.OWN)
def people_page(visit: Visit) -> Plain:
    """Everybody who may sign in."""
    return {
        "people": [_values(each) for each in visit.office.people.all()],
        "roles": [{"role": role.value, "means": means} for role, means in MEANINGS.items()],
        "shortest": SHORTEST,
    }


@ROUTES.act("/admin/people", Who.ADMIN, NewPerson, action=Action.OWN, again="/admin", lane=Lane.PASSWORDS)
def add_person(visit: Visit) -> Done:
    """Add somebody who may sign in."""
    _check_browser(visit)
    given = visit.body
    return Done("/admin", _values(visit.office.people.add(given.name.strip(), given.password, _roles(given.roles))))


@ROUTES.act("/admin/people/roles", Who.ADMIN, PersonRoles, action=Action.OWN, again="/admin")
def change_roles(visit: Visit) -> Done:
    """Give somebody other roles; they must sign in again."""
    _check_browser(visit)
    visit.office.people.change(visit.body.name, roles=_roles(visit.body.roles))
    return Done("/admin", _values(visit.office.people.find(visit.body.name)))


@ROUTES.act("/admin/people/password", Who.ADMIN, PersonPassword, action=Action.OWN, again="/admin", lane=Lane.PASSWORDS)
def change_password(visit: Visit) -> Done:
    """Give somebody another password; they must sign in again."""
    _check_browser(visit)
    visit.office.people.change(visit.body.name, password=visit.body.password)
    return Done("/admin", {"name": visit.body.name})


@ROUTES.act("/admin/people/bar", Who.ADMIN, PersonBarred, action=Action.OWN, again="/admin")
def bar_person(visit: Visit) -> Done:
    """Bar somebody, which ends their sign-ins and tokens, or let them sign in again."""
    _check_browser(visit)
    visit.office.people.change(visit.body.name, is_barred=visit.body.barred)
    return Done("/admin", _values(visit.office.people.find(visit.body.name)))


def _check_browser(visit: Visit) -> None:
    if visit.visitor is None or visit.visitor.token is not None:
        raise NOT_FOR_YOU


def _roles(given: list[str]) -> list[Role]:
    try:
        roles = [Role(each) for each in given]
    except ValueError:
        raise InvalidParameterError(f"roles are some of {', '.join(each.value for each in Role)}.") from None
    if not roles:
        raise InvalidParameterError("choose at least one role.")
    return roles


def _values(person: Person) -> Plain:
    return {
        "name": person.name,
        "roles": sorted(each.value for each in person.roles),
        "created": person.created,
        "barred": person.is_barred,
    }
