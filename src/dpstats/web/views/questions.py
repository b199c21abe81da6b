"""Questions: what one costs, what to expect of it, and its answer."""

from __future__ import annotations

from typing import Any

from dpstats.curator.catalog.policed_desk import PreparedQuestion
from dpstats.curator.catalog.recall import RecalledAnswer
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.planning.forecasts import Plan
from dpstats.web.asking.answers import answer_values, recalled_values, remaining_words
from dpstats.web.asking.prices import quote_values
from dpstats.web.asking.sentences import Sentence
from dpstats.web.asking.visits import DocumentField, check_token, desk_of, noted, own_address, read_asked, request_name
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, Lane, RouteTable, Visit

ROUTES = RouteTable()
ASK = "/d/{name}/ask"
PREPARED = "prepared"
"""What a question is called that is priced and not yet asked, with the desk where it is."""


class AskedQuestion(Body, Sentence):
    """A question: a document, or the fields of a sentence."""

    document: DocumentField | None = None
    request: str = ""
    """The number of a form: sent twice, it pays once."""

    def asked(self) -> object:
        """The document that was sent, or that the sentence makes."""
        return self.as_document() if self.document is None else self.document


class PricedDocument(Body):
    """A question that is not asked."""

    document: DocumentField


class PlannedDocument(Body):
    """A question that is planned: it may say so itself, by its word "plan"."""

    document: DocumentField
    n: Any = None
    epsilon: Any = None
    half_width: Any = None
    shape: Any = None
    repeats: Any = None

    def planned(self) -> object:
        """The document with all that is said about the plan."""
        said = {name: each for name, each in self.model_dump(exclude={"document"}).items() if each is not None}
        if not said or not isinstance(self.document, dict):
            return self.document
        inside = self.document.get("plan")
        return {**self.document, "plan": {**inside, **said} if isinstance(inside, dict) else said}


def answered_before(visit: Visit) -> Done | None:
    """What the archive has for a program, at once; None where a question has to be paid for, or comes from a form."""
    document = visit.body.document
    if not isinstance(document, dict):
        return None
    desk = _open_desk(visit)
    check_token(visit, document)
    found = desk.recall_or_prepare(document, visit.name, visit.request)
    if isinstance(found, RecalledAnswer):
        return Done(own_address(visit, "history"), recalled_values(desk, document, found))
    if not visit.body.request:  # else its name hangs on the form's number
        visit.kept[PREPARED] = desk, found
    return None


def _open_desk(visit: Visit) -> ServiceDesk:
    """The desk that the address names; it checks for every question who asks."""
    return visit.office.catalog.opened_desk(visit.path["name"]) or desk_of(visit)


@ROUTES.act(
    "/d/{name}/questions", Who.ANALYST, AskedQuestion, action=Action.ASK, again=ASK, lane=Lane.PAID, first=answered_before
)
def ask_question(visit: Visit) -> Done:
    """Ask a question: it is paid for before a row is read, and an identical one is free from then on."""
    desk, prepared = visit.kept.get(PREPARED) or _prepared(visit)
    paid = desk.ask_prepared(prepared)
    remaining = remaining_words(lambda: desk.remaining_of(paid.grant, visit.name))
    values = answer_values(desk.name, prepared.plain, paid.result, remaining, prepared.seconds)
    return noted(visit, values["sequence"], prepared.plain, values)


def _prepared(visit: Visit) -> tuple[ServiceDesk, PreparedQuestion]:
    """The question that came by a form, or by a form's number, checked and priced, and where it is asked."""
    desk, asked = _open_desk(visit), read_asked(visit, visit.body.asked())
    return desk, desk.prepare(asked.to_dict(), visit.name, request_name(visit, visit.body.request, [asked]))


@ROUTES.act("/d/{name}/price", Who.ANALYST, PricedDocument, action=Action.READ, again=ASK)
def price_question(visit: Visit) -> Done:
    """What a question would cost and leave, and whether it is free because it was answered before; it is not asked."""
    desk, document = desk_of(visit), visit.body.document
    quote = desk.price(document, visit.name)
    archived = desk.recall(document, visit.name) is not None
    return Done(own_address(visit, "ask"), {**quote_values(quote), "archived": archived})


def planned_before(visit: Visit) -> Done | None:
    """A plan from the stored tables, at once; None where it has to be simulated."""
    plan = desk_of(visit).stored_plan(visit.body.planned(), visit.name)
    return None if plan is None else _plan_reply(visit, plan)


@ROUTES.act("/d/{name}/plan", Who.ANALYST, PlannedDocument, action=Action.READ, again=ASK, lane=Lane.PAID, first=planned_before)
def plan_question(visit: Visit) -> Done:
    """What to expect of a question, or the epsilon that a half-width takes; no data is read and nothing is spent."""
    return _plan_reply(visit, desk_of(visit).plan(visit.body.planned(), visit.name))


def _plan_reply(visit: Visit, plan: Plan) -> Done:
    return Done(own_address(visit, "ask"), {"plan": plan.to_dict()})
