"""Answers, each on a page of its own: those that somebody has paid for, and those that they had from the archive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dpstats.curator.archive import Result, result_of
from dpstats.curator.archived import results_of
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.ledger.statements import StatementLine
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import find_statistic
from dpstats.web.asking.answers import receipt_values, remaining_words, statistic_name
from dpstats.web.asking.code import curl_command, python_code
from dpstats.web.asking.prices import cost_values
from dpstats.web.asking.sentences import sentence_of
from dpstats.web.asking.visits import NOT_YOURS, checked_number, desk_of, own_address
from dpstats.web.papers import LetterKind
from dpstats.web.people.roles import Who
from dpstats.web.published.answers import answer_values as shown_answer
from dpstats.web.routes import FileReply, Plain, RouteTable, Visit

ROUTES = RouteTable()
PAGE = "/d/{name}/answers/{sequence:int}"


@dataclass(frozen=True)
class HadAnswer:
    """What somebody was answered."""

    debit: int
    question: str
    cost: PrivacyCost
    results: Sequence[Result]
    """None of them where there was no reply."""
    is_own: bool
    """Whether they have paid for it themselves."""
    time: str | None


@ROUTES.page(PAGE, Who.ANALYST, "answer.html")
def answer(visit: Visit) -> Plain:
    """A question that one has asked, by the number of its debit: the answer, its card, its receipt, and how to ask it again."""
    desk = desk_of(visit)
    documents = documents_of(visit.office.papers.asked(desk.name, visit.name).get(_number(visit)))
    had = _had(visit, desk, documents)
    answers = [{**shown_answer(each), "card": [list(line) for line in each.card().lines]} for each in had.results]
    origin = visit.office.settings.origin
    return {
        "name": desk.name,
        "sequence": had.debit,
        "time": had.time,
        "question": had.question,
        "cost": cost_values(had.cost),
        "documents": documents,
        "answers": answers,
        "can_propose": had.is_own and any(each["has_reply"] for each in answers),
        "receipt": receipt_values(desk, had.debit),
        "remaining": remaining_words(lambda: desk.remaining(visit.name)),
        "is_own": had.is_own,
        "again": _again(visit, documents),
        "unit": desk.protection.unit,
        "python": python_code(origin, desk.name, documents) if documents else None,
        "curl": curl_command(origin, desk.name, documents) if documents else None,
        "proposed": _proposed(visit, desk.name, had.debit),
    }


@ROUTES.file("/d/{name}/answers/{sequence:int}/receipt.json", Who.ANALYST)
def answer_receipt(visit: Visit) -> FileReply:
    """The receipt of a question that one has asked, to keep."""
    desk = desk_of(visit)
    documents = documents_of(visit.office.papers.asked(desk.name, visit.name).get(_number(visit)))
    debit = _had(visit, desk, documents).debit
    content = json.dumps(desk.receipt(debit), indent=1).encode()
    return FileReply(content, "application/json", f"receipt-{debit}.json")


def results_behind(line: StatementLine) -> Sequence[Result]:
    """The results that a line has in the archive; none where there was no reply."""
    return [] if line.document is None else results_of(line.details, line.document)


def documents_of(asked: Mapping[str, Any] | None) -> list[Plain]:
    """The documents that were asked with one debit: one, or those of a basket; none where nobody noted them."""
    if asked is None:
        return []
    return [dict(each) for each in asked["documents"]] if "documents" in asked else [dict(asked)]


def _number(visit: Visit) -> int:
    return checked_number(int(visit.path["sequence"]))


def _had(visit: Visit, desk: ServiceDesk, documents: Sequence[Plain]) -> HadAnswer:
    """What one has paid for; or what the archive has for one now, where another paid for the same question."""
    line = desk.line(visit.name, _number(visit))
    if line is not None:
        return HadAnswer(line.sequence, line.question, line.cost, results_behind(line), True, line.time)
    found = _recalled(visit, desk, documents) if documents else None
    if found is None or found[1] != _number(visit):
        raise NOT_YOURS
    results, debit = found
    quote = desk.price_together(documents, visit.name)
    text = quote.questions[0].question if len(documents) == 1 else f"{len(documents):,} questions asked together"
    return HadAnswer(debit, text, quote.cost, results, False, None)


def _recalled(visit: Visit, desk: ServiceDesk, documents: Sequence[Plain]) -> tuple[Sequence[Result], int] | None:
    if len(documents) > 1:
        return desk.recall_together(documents, visit.name)
    found = desk.recall_paid(documents[0], visit.name)
    if found is None:
        return None
    return [result_of(found.document, find_statistic(statistic_name(documents[0])))], found.debit


def _again(visit: Visit, documents: Sequence[Plain]) -> str | None:
    """The page on which what was asked can be changed; None where a sentence cannot say all of it."""
    sentence = sentence_of(documents[0]) if len(documents) == 1 else None
    return None if sentence is None else f"{own_address(visit, 'ask')}?{urlencode(sentence.fields())}"


def _proposed(visit: Visit, dataset: str, sequence: int) -> Plain | None:
    """What became of the proposal to publish it, if there was one."""
    letters = visit.office.papers.letters(dataset=dataset, person=visit.name, kind=LetterKind.PROPOSAL)
    found = next((each for each in letters if each.content.get("sequence") == sequence), None)
    return None if found is None else {"title": found.content.get("title", ""), "state": found.state.value, "reply": found.reply}
