"""Complaints: what goes wrong before anything is paid for, as a status and as words. They speak of public things alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from dpstats.foundations.errors import (
    AccessError,
    BudgetError,
    DataFileError,
    DpstatsError,
    LedgerError,
    UnknownNameError,
)
from dpstats.web.routes import Plain


@dataclass(frozen=True)
class ComplaintError(Exception):
    """Why a request is not served."""

    status: int
    kind: str
    """The class of dpstats' error that a client raises."""
    message: str

    def without(self, places: Iterable[str]) -> ComplaintError:
        """The complaint, in which nobody is told where on this machine something lies."""
        message = self.message
        for place in places:
            message = message.replace(place, "of this service")
        return self if message == self.message else ComplaintError(self.status, self.kind, message)

    def to_dict(self) -> Plain:
        """As JSON has it."""
        return {"error": {"kind": self.kind, "message": self.message}}


SIGN_IN_FIRST = ComplaintError(401, "AccessError", "sign in first, or send a token: Authorization: Bearer dpst_...")
NOT_FOR_YOU = ComplaintError(403, "AccessError", "this is for somebody with another role, or a token with another scope.")
ELSEWHERE = ComplaintError(403, "AccessError", "this came from another site: open the page here, and try again.")
NOT_THERE = ComplaintError(404, "UnknownNameError", "there is no such page.")
TOO_LONG = ComplaintError(413, "InvalidParameterError", "this is too long: 64 KB is the most.")
TOO_MANY = ComplaintError(429, "BudgetError", "your earlier questions are still being worked on: wait for their replies.")
TOO_MANY_SIGN_IN = ComplaintError(429, "AccessError", "too many people are signing in just now: try again in a moment.")
BROKEN = ComplaintError(500, "LedgerError", "this cannot be done now: try again later, or tell whoever runs this service.")

_STATUS = ((BudgetError, 409), (AccessError, 404), (UnknownNameError, 404), (LedgerError, 503), (DataFileError, 503))


def complaint_about(error: Exception) -> ComplaintError:
    """What is said of an error that a handler has raised."""
    if isinstance(error, ComplaintError):
        return error.with_traceback(None)  # it may be raised again and again, and would keep what every request has held
    if isinstance(error, ValidationError):
        return ComplaintError(422, "InvalidParameterError", _sentence(error))
    if isinstance(error, DpstatsError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 422)
        return ComplaintError(status, type(error).__name__, str(error))
    return BROKEN


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(each) for each in first["loc"]) or "the body"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}."
