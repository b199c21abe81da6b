"""The entrance: signing in and out, and whether the service is well."""

from __future__ import annotations

from dpstats.foundations.errors import AccessError
from dpstats.web.complaints import ComplaintError
from dpstats.web.people.people import Person
from dpstats.web.people.roles import Action, Role, Who
from dpstats.web.routes import Body, Done, FileReply, Lane, Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
HOMES = ((Role.ANALYST, "/me"), (Role.OWNER, "/own"), (Role.AUDITOR, "/audit"), (Role.ADMIN, "/admin"))
"""Where somebody goes on after signing in, by the first role that they have."""


class NextPage(Query):
    """Where to go on."""

    next: str = ""


class SignIn(Body):
    """A name and a password."""

    name: str
    password: str
    next: str = ""


class NoWords(Body):
    """An action that needs no words."""


@ROUTES.page("/login", Who.PUBLIC, "login.html", query=NextPage)
def login(visit: Visit) -> Plain:
    """Where people sign in."""
    return {"next": own_address(visit.query.next), "elsewhere": visit.office.settings.oidc is not None}


@ROUTES.act("/login", Who.PUBLIC, SignIn, action=Action.READ, again="/login", lane=Lane.PASSWORDS)
def sign_in(visit: Visit) -> Done:
    """Sign in with a name and a password; the reply sets a cookie."""
    office, given = visit.office, visit.body
    try:
        secret = office.people.sign_in(given.name, given.password)
    except AccessError as error:
        raise ComplaintError(401, type(error).__name__, str(error)) from None
    if visit.sign_in:
        office.people.sign_out(visit.sign_in)
    home = own_address(given.next) or home_of(office.people.find(given.name))
    return Done(home, {"name": given.name}, sign_in=secret)


@ROUTES.act("/logout", Who.SIGNED_IN, NoWords, action=Action.READ)
def sign_out(visit: Visit) -> Done:
    """Sign out: the cookie is good for nothing from now on."""
    visit.office.people.sign_out(visit.sign_in)
    return Done("/", sign_in="")


@ROUTES.file("/health", Who.PUBLIC)
def health(visit: Visit) -> FileReply:
    """Whether the service is well enough to answer."""
    visit.office.people.signed_in("")
    return FileReply(b"well\n", "text/plain; charset=utf-8")


@ROUTES.file("/metrics", Who.ADMIN)
def metrics(visit: Visit) -> FileReply:
    """How many requests each address has answered, for whoever watches the service: the text form of Prometheus."""
    return FileReply(visit.office.requests.text().encode(), "text/plain; version=0.0.4; charset=utf-8")


def home_of(person: Person) -> str:
    """Where somebody begins."""
    return next((home for role, home in HOMES if role in person.roles), "/")


def own_address(text: str) -> str:
    """An address of this service, or nothing: a link may bring somebody here, and nowhere else."""
    return text if text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() else ""
