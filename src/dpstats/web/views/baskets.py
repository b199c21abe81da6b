"""Baskets: several questions that are priced together, and paid for by one debit."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlencode

from pydantic import Field

from dpstats.curator.catalog.ceilings import MOST_QUESTIONS
from dpstats.curator.catalog.quotes import BasketQuote
from dpstats.curator.publishing.batch import AnsweredBatch
from dpstats.foundations.errors import DpstatsError
from dpstats.web.asking.answers import answer_values, receipt_values, remaining_words
from dpstats.web.asking.prices import basket_values, cost_values
from dpstats.web.asking.visits import DocumentField, desk_of, noted, own_address, read_asked, request_name
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, Lane, Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
BASKET = "/d/{name}/basket"
_LONGEST_SHOWN = 200


class BasketQuery(Query):
    """What is in a basket: documents as JSON."""

    documents: list[str] = Field(default=[], max_length=MOST_QUESTIONS)


class AskedBasket(Body):
    """Several questions that are paid for together."""

    documents: list[DocumentField] = Field(min_length=1, max_length=MOST_QUESTIONS)
    request: str = ""
    """The number of a form: sent twice, it pays once."""


class PricedBasket(Body):
    """Several questions that are not asked."""

    documents: list[DocumentField] = Field(min_length=1, max_length=MOST_QUESTIONS)


@ROUTES.page(BASKET, Who.ANALYST, "basket.html", query=BasketQuery)
def basket(visit: Visit) -> Plain:
    """What is in a basket, and what it would cost; nothing of it is asked."""
    desk, given = desk_of(visit), list(visit.query.documents)
    documents: list[Plain] = []
    quote, complaint, archived = None, None, False
    try:
        documents = [read_asked(visit, each).to_dict() for each in given]
        if documents:
            quote = desk.price_together(documents, visit.name)
            archived = desk.recall_together(documents, visit.name) is not None
    except DpstatsError as error:
        complaint = str(error)
    return {
        "name": desk.name,
        "unit": desk.protection.unit,
        "documents": documents,
        "questions": _questions(visit, given, quote),
        "price": None if quote is None else basket_values(quote),
        "archived": archived,
        "complaint": complaint,
        "add": _with_query(visit, "ask", "basket", given),
        "request": secrets.token_hex(8),
    }


@ROUTES.act(BASKET, Who.ANALYST, AskedBasket, action=Action.ASK, again=BASKET, lane=Lane.PAID)
def ask_basket(visit: Visit) -> Done:
    """Ask several questions at once, which are paid for by one debit, or by none."""
    desk = desk_of(visit)
    asked = [read_asked(visit, each) for each in visit.body.documents]
    documents = [each.to_dict() for each in asked]
    seconds = desk.price_together(documents, visit.name).seconds
    batch = desk.ask_together(documents, visit.name, request_name(visit, visit.body.request, asked))
    values = _answers(visit, documents, batch, seconds)
    return noted(visit, values["sequence"], {"documents": documents}, values)


@ROUTES.act(f"{BASKET}/price", Who.ANALYST, PricedBasket, action=Action.READ, again=BASKET)
def price_basket(visit: Visit) -> Done:
    """What several questions would cost together, and leave; they are not asked."""
    desk = desk_of(visit)
    documents = [read_asked(visit, each).to_dict() for each in visit.body.documents]
    return Done(own_address(visit, "basket"), basket_values(desk.price_together(documents, visit.name)))


def _questions(visit: Visit, given: Sequence[str], quote: BasketQuote | None) -> list[Plain]:
    """Each question with the address of the basket without it."""
    found = []
    for place, text in enumerate(given):
        rest = [*given[:place], *given[place + 1 :]]
        priced = None if quote is None else quote.questions[place]
        found.append(
            {
                "text": _question_text(visit, text) if priced is None else priced.question,
                "cost": None if priced is None else str(priced.cost),
                "without": _with_query(visit, "basket", "documents", rest),
            }
        )
    return found


def _question_text(visit: Visit, document: str) -> str:
    """A question in a basket that cannot be priced, in the words of its own price; as it was sent, where it is the wrong one."""
    with suppress(DpstatsError):
        return desk_of(visit).price(document, visit.name).question
    return document[:_LONGEST_SHOWN]


def _with_query(visit: Visit, page: str, name: str, values: Sequence[str]) -> str:
    query = urlencode([(name, each) for each in values])
    return f"{own_address(visit, page)}?{query}" if query else own_address(visit, page)


def _answers(visit: Visit, documents: Sequence[Plain], batch: AnsweredBatch, seconds: float) -> Plain:
    """All answers; each names the debit that paid for it, which is another one where it was tried again."""
    desk = desk_of(visit)
    remaining = remaining_words(lambda: desk.remaining(visit.name))
    receipts = [receipt_values(desk, each.debit.sequence) for each in batch.payments]
    answers = []
    for place, (document, result) in enumerate(zip(documents, batch.answers, strict=True)):
        last = max(number for number, each in enumerate(batch.payments) if place in each.places)
        paid = {"receipt": receipts[last], "sequence": batch.payments[last].debit.sequence}
        said = answer_values(desk.name, document, result, remaining, seconds)
        answers.append({**said, **paid, "archived": not batch.payments[last].is_new})
    return {
        "dataset": desk.name,
        "answers": answers,
        "receipt": receipts[0],
        "sequence": batch.payments[0].debit.sequence,
        "cost": cost_values(batch.cost),
        "archived": batch.repeated,
        "remaining": remaining,
        "seconds": seconds,
    }
