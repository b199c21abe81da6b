"""Signing in elsewhere: to the issuer, and back with a code. Names that are not known here are refused."""

from __future__ import annotations

from dpstats.foundations.errors import AccessError, UnknownNameError
from dpstats.web.complaints import NOT_THERE, ComplaintError
from dpstats.web.people.oidc import Handshake, Issuer
from dpstats.web.people.roles import Who
from dpstats.web.routes import Done, Query, RouteTable, Visit
from dpstats.web.views.entrance import home_of

ROUTES = RouteTable()
BACK = "/oidc/back"


class Code(Query):
    """What the issuer sends along."""

    code: str = ""
    state: str = ""


@ROUTES.file("/oidc/start", Who.PUBLIC)
def start_elsewhere(visit: Visit) -> Done:
    """Go to the issuer to sign in."""
    handshake = Handshake.new()
    return Done(_issuer(visit).address(handshake), handshake=handshake.cookie)


@ROUTES.file(BACK, Who.PUBLIC, query=Code)
def come_back(visit: Visit) -> Done:
    """Come back from the issuer: sign in whoever it says has come."""
    people = visit.office.people
    try:
        name = _issuer(visit).name_of(visit.query.code, visit.query.state, Handshake.read(visit.handshake))
        person = people.find(name)
    except UnknownNameError:
        raise ComplaintError(403, "AccessError", "nobody of that name is known here: ask an administrator to add you.") from None
    except AccessError as error:
        raise ComplaintError(401, "AccessError", str(error)) from None
    if person.is_barred:
        raise ComplaintError(403, "AccessError", "this name is barred: ask an administrator.")
    return Done(home_of(person), sign_in=people.begin_sign_in(name), handshake="")


def _issuer(visit: Visit) -> Issuer:
    settings = visit.office.settings
    if settings.oidc is None:
        raise NOT_THERE
    return Issuer(settings.oidc, f"{settings.origin}{BACK}")
