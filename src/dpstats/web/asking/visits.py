"""What a visit asks of a data set: its desk, what the token allows, and the document that was sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import WithJsonSchema

from dpstats.curator.catalog.ceilings import check_document
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.documents.document import QuestionDocument
from dpstats.curator.documents.reading import read_document
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.rounding import decimal_text
from dpstats.web.complaints import ComplaintError
from dpstats.web.openapi import SCHEMA
from dpstats.web.routes import Done, Plain, Visit

DocumentField = Annotated[dict[str, Any] | str, WithJsonSchema({SCHEMA: "Question"})]
"""A question as JSON; in a form, as its text."""
NOT_YOURS = ComplaintError(404, "UnknownNameError", "you have no such question: your history has all of them.")
LARGEST_NUMBER = 2**62
"""Of an entry."""


def desk_of(visit: Visit) -> ServiceDesk:
    """The desk of the data set in the address, if the visitor may ask there."""
    return visit.office.catalog.desk_for(visit.path["name"], visit.name)


def read_asked(visit: Visit, document: object) -> QuestionDocument:
    """A document that the visitor sends, checked as far as that can be done without the table."""
    check_document(document)
    asked = read_document(document)
    largest = _largest_epsilon(visit)
    if largest is not None and asked.epsilon > largest:
        words = f"this token may spend epsilon = {decimal_text(largest)} on one question at most."
        raise ComplaintError(403, "AccessError", words)
    return asked


def check_token(visit: Visit, document: object) -> None:
    """Raise where a question is too large for the token that it came with; it is read only where the token has a limit."""
    if _largest_epsilon(visit) is not None:
        read_asked(visit, document)


def _largest_epsilon(visit: Visit) -> Fraction | None:
    """Of one question, by the token that came along; None where there is no limit."""
    return None if visit.visitor is None or visit.visitor.token is None else visit.visitor.token.largest_epsilon


def request_name(visit: Visit, nonce: str, documents: Sequence[QuestionDocument]) -> str:
    """What a request is called: as a program says, or by the number of its form and by what is asked.

    A form that is sent twice pays once, and a changed one is another request.
    """
    if visit.request or not nonce:
        return visit.request
    if not (nonce.isascii() and nonce.isalnum() and len(nonce) <= 64):
        raise InvalidParameterError("request: the number of the form is not one of this service.")
    text = json.dumps([each.to_dict() for each in documents], sort_keys=True)
    return f"{nonce}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def own_address(visit: Visit, page: str) -> str:
    """The address of a page about the same data set."""
    return f"/d/{quote(visit.path['name'], safe='')}/{page}"


def noted(visit: Visit, sequence: int | None, document: Plain, values: Plain) -> Done:
    """What was asked is remembered beside its debit; it was paid for, so it is handed out also where that cannot be done."""
    if sequence is None:
        return Done(own_address(visit, "history"), values)
    with suppress(DpstatsError):
        visit.office.papers.note_asked(visit.path["name"], sequence, visit.name, document)
    return Done(own_address(visit, f"answers/{sequence}"), values)


def checked_number(number: int) -> int:
    """The number of an entry; one that no ledger has becomes one that none has either."""
    return min(max(number, 0), LARGEST_NUMBER)
