"""Asking: prices, plans, questions and baskets."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import Field

from dpstats.curator.catalog.ceilings import MOST_QUESTIONS
from dpstats.curator.publishing.batch import AnsweredBatch
from dpstats.foundations.errors import DpstatsError
from dpstats.web.asking.answers import answer_values, receipt_values, remaining_words
from dpstats.web.asking.prices import basket_values, cost_values, quote_values
from dpstats.web.asking.sentences import Sentence
from dpstats.web.asking.visits import DocumentField, desk_of, read_asked, request_name
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, Lane, Plain, RouteTable, Visit

ROUTES = RouteTable()
ASK = "/d/{name}/ask"
BASKET = "/d/{name}/basket"


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


class AskedBasket(Body):
    """Several questions that are paid for together."""

    documents: list[DocumentField] = Field(min_length=1, max_length=MOST_QUESTIONS)
    request: str = ""
    """The number of a form: sent twice, it pays once."""


class PricedBasket(Body):
    """Several questions that are not asked."""

    documents: list[DocumentField] = Field(min_length=1, max_length=MOST_QUESTIONS)


@ROUTES.act("/d/{name}/questions", Who.ANALYST, AskedQuestion, action=Action.ASK, again=ASK, lane=Lane.PAID)
def ask_question(visit: Visit) -> Done:
    """Ask a question: it is paid for before a row is read, and an identical one is free from then on."""
    desk = desk_of(visit)
    asked = read_asked(visit, visit.body.asked())
    document = asked.to_dict()
    seconds = desk.price(document, visit.name).seconds
    result = desk.ask(document, visit.name, request_name(visit, visit.body.request, [asked]))
    values = answer_values(desk, visit.name, document, result, seconds)
    return _noted(visit, values["sequence"], document, values)


@ROUTES.act("/d/{name}/price", Who.ANALYST, PricedDocument, action=Action.READ, again=ASK)
def price_question(visit: Visit) -> Done:
    """What a question would cost and leave; it is not asked."""
    quote = desk_of(visit).price(visit.body.document, visit.name)
    return Done(_address(visit, "ask"), quote_values(quote))


@ROUTES.act("/d/{name}/plan", Who.ANALYST, PlannedDocument, action=Action.READ, again=ASK, lane=Lane.PAID)
def plan_question(visit: Visit) -> Done:
    """What to expect of a question, or the epsilon that a half-width takes; no data is read and nothing is spent."""
    plan = desk_of(visit).plan(visit.body.planned(), visit.name)
    return Done(_address(visit, "ask"), {"plan": plan.to_dict()})


@ROUTES.act(BASKET, Who.ANALYST, AskedBasket, action=Action.ASK, again=BASKET, lane=Lane.PAID)
def ask_basket(visit: Visit) -> Done:
    """Ask several questions at once, which are paid for by one debit, or by none."""
    desk = desk_of(visit)
    asked = [read_asked(visit, each) for each in visit.body.documents]
    documents = [each.to_dict() for each in asked]
    seconds = desk.price_together(documents, visit.name).seconds
    batch = desk.ask_together(documents, visit.name, request_name(visit, visit.body.request, asked))
    values = _basket_answers(visit, documents, batch, seconds)
    first = batch.payments[0].debit.sequence
    return _noted(visit, first, {"documents": documents}, values)


@ROUTES.act(f"{BASKET}/price", Who.ANALYST, PricedBasket, action=Action.READ, again=BASKET)
def price_basket(visit: Visit) -> Done:
    """What several questions would cost together, and leave; they are not asked."""
    desk = desk_of(visit)
    for each in visit.body.documents:
        read_asked(visit, each)
    return Done(_address(visit, "basket"), basket_values(desk.price_together(visit.body.documents, visit.name)))


def _basket_answers(visit: Visit, documents: Sequence[Plain], batch: AnsweredBatch, seconds: float) -> Plain:
    desk, actor = desk_of(visit), visit.name
    receipts = [receipt_values(desk, each.debit.sequence) for each in batch.payments]
    answers = []
    for place, (document, result) in enumerate(zip(documents, batch.answers, strict=True)):
        last = max(number for number, each in enumerate(batch.payments) if place in each.places)
        paid = {"receipt": receipts[last], "sequence": batch.payments[last].debit.sequence}
        said = answer_values(desk, actor, document, result, seconds)
        answers.append({**said, **paid, "archived": not batch.payments[last].is_new})
    return {
        "dataset": desk.name,
        "answers": answers,
        "receipt": receipts[0],
        "sequence": batch.payments[0].debit.sequence,
        "cost": cost_values(batch.cost),
        "archived": batch.repeated,
        "remaining": remaining_words(desk, actor),
        "seconds": seconds,
    }


def _noted(visit: Visit, sequence: int | None, document: Plain, values: Plain) -> Done:
    """What was paid for is handed out, also where it cannot be noted which document it was."""
    if sequence is None:
        return Done(_address(visit, "history"), values)
    with suppress(DpstatsError):
        visit.office.papers.note_asked(visit.path["name"], sequence, visit.name, document)
    return Done(_address(visit, f"answers/{sequence}"), values)


def _address(visit: Visit, page: str) -> str:
    return f"/d/{visit.path['name']}/{page}"
