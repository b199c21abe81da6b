"""Annual tables: a list of questions that an owner asks herself, paid for by one debit, and then publishes.

Before they are asked there is nothing but their price and the error to expect, from stored plan tables: no data is read. The
list stands in the address, so that it can be kept and used again next year.
"""

from __future__ import annotations

import json
import secrets
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import Field

from dpstats.curator.catalog.ceilings import MOST_QUESTIONS
from dpstats.curator.catalog.registrations import Registration
from dpstats.curator.documents.reading import read_document
from dpstats.curator.documents.values import read_json
from dpstats.curator.ledger.readers import AccountReader
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.web.asking.caps import amount_words
from dpstats.web.asking.visits import read_asked, request_name
from dpstats.web.owning.expected import planned_error
from dpstats.web.owning.holdings import standing_values
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, Lane, Plain, Query, RouteTable, Visit
from dpstats.web.views.owner import opened, opened_heading
from dpstats.web.views.owner_changes import Amount

ROUTES = RouteTable()
SIMPLE = ("count", "median", "mean", "sum", "std", "variance", "iqr", "quantile", "histogram", "mode")
"""Statistics that the form has; others come as documents."""
NONE = "-"


class ReleasePage(Query):
    """The questions as documents, and one more, in the fields of a form or as a document."""

    question: list[str] = Field([], max_length=MOST_QUESTIONS)
    statistic: str = ""
    column: str = ""
    q: str = ""
    by: str = ""
    where: str = ""
    epsilon: Amount = None
    document: str = ""


class AskedRelease(Body):
    """The questions to ask, as JSON texts or as documents."""

    question: list[str] = Field([], max_length=MOST_QUESTIONS)
    documents: list[dict[str, Any]] = Field([], max_length=MOST_QUESTIONS)
    request: str = Field("", description="the number of a form: one that is sent twice pays once")


@ROUTES.page("/own/{name}/release", Who.OWNER, "own_release.html", query=ReleasePage, action=Action.OWN)
def release_page(visit: Visit) -> Plain:
    """A list of questions with their prices and the errors to expect; nothing is asked."""
    registration, given = opened(visit), visit.query
    heading = opened_heading(visit, registration)
    said: Plain = {
        **heading,
        "lines": [],
        "complaint": None,
        "cost": None,
        "columns": {},
        "public_values": {},
        "statistics": list(SIMPLE),
    }
    reader = visit.office.ledger.reader(registration.name)
    said["standing"], said["request"] = standing_values(reader), secrets.token_hex(8)
    if not heading["granted_to_me"]:
        return said
    desk = visit.office.catalog.desk(registration.name)
    said["columns"], said["public_values"] = (
        desk.columns(visit.name),
        {name: list(each) for name, each in registration.keys.items()},
    )
    documents = [_plain(each) for each in given.question]
    try:
        documents += _added(given)
    except DpstatsError as error:
        said["complaint"] = str(error)
    for place, document in enumerate(documents):
        others = documents[:place] + documents[place + 1 :]
        line: Plain = {"document": json.dumps(document), "without": _address(registration.name, others)}
        try:
            priced = desk.price(document, visit.name)
            line |= {"question": priced.question, "cost": amount_words(priced.cost), "seconds": priced.seconds, "complaint": None}
            line["error"] = planned_error(desk, visit.name, document, _groups(document, registration))
        except DpstatsError as error:
            line |= {"question": None, "cost": None, "seconds": None, "error": None, "complaint": str(error)}
        said["lines"].append(line)
    if documents and all(line["complaint"] is None for line in said["lines"]):
        together = desk.price_together(documents, visit.name)
        said["cost"] = amount_words(together.cost)
        said["fits"] = (together.own is None or together.own.fits) and may_fit(reader, together.cost)
    return said


@ROUTES.act("/own/{name}/release", Who.OWNER, AskedRelease, action=Action.OWN, again="/own/{name}/release", lane=Lane.PAID)
def ask_release(visit: Visit) -> Done:
    """Ask all questions of a list, for one debit or none; the answers can then be published."""
    registration, given = opened(visit), visit.body
    asked = [read_asked(visit, each) for each in (*given.question, *given.documents)]
    desk, request = visit.office.catalog.desk(registration.name), request_name(visit, given.request, asked)
    answered = desk.ask_together([each.to_dict() for each in asked], visit.name, request)
    sequence = answered.payments[0].debit.sequence
    values = {
        "sequence": sequence,
        "cost": answered.cost.to_dict(),
        "repeated": answered.repeated,
        "answers": [str(each) for each in answered.answers],
    }
    return Done(f"/own/{quote(registration.name, safe='')}/answers/{sequence}", values)


def _added(given: ReleasePage) -> list[dict[str, Any]]:
    """The question in the fields of the form, if there is one."""
    if given.document:
        return [_plain(given.document)]
    if not given.statistic or given.statistic == NONE:
        return []
    if given.epsilon is None:
        raise InvalidParameterError("say how much the question may spend: its epsilon.")
    words: dict[str, Any] = {"version": 1, "statistic": given.statistic, "epsilon": str(given.epsilon)}
    if given.column and given.column != NONE:
        words["columns"] = [given.column]
    if given.statistic == "quantile":
        words["parameters"] = {"q": read_json(given.q or "0.5")}
    if given.where:
        words["where"] = [given.where]
    if given.by and given.by != NONE:
        words["group_by"] = {"columns": [given.by]}
    return [read_document(words).to_dict()]


def _plain(text: str) -> dict[str, Any]:
    return read_document(text).to_dict()


def _address(name: str, documents: list[dict[str, Any]]) -> str:
    listed = urlencode([("question", json.dumps(each)) for each in documents])
    return f"/own/{quote(name, safe='')}/release{'?' if listed else ''}{listed}"


def _groups(document: dict[str, Any], registration: Registration) -> int | None:
    """Into how many groups a question divides the rows; None where that is not public."""
    if "group_by" not in document:
        return 1
    sizes = [len(registration.keys.get(each, ())) for each in document["group_by"]["columns"]]
    known = document["group_by"].get("keys")
    if known:
        return len(known)
    product = 1
    for size in sizes:
        product *= size
    return product or None


def may_fit(reader: AccountReader, cost: PrivacyCost) -> bool:
    """Whether a cost may fit what is left for everybody; an accountant that weighs methods knows when it is asked."""
    return reader.accountant.weighs_methods or reader.fits(cost)
