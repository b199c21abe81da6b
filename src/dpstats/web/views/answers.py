"""Answers that somebody has paid for, each on a page of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dpstats.curator.archive import Result
from dpstats.curator.archived import results_of
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.ledger.statements import StatementLine
from dpstats.web.asking.answers import receipt_values, remaining_words
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


@ROUTES.page(PAGE, Who.ANALYST, "answer.html")
def answer(visit: Visit) -> Plain:
    """One's own question by the number of its debit: the answer, its card, its receipt, and how to ask it again."""
    desk = desk_of(visit)
    line = own_line(visit, desk)
    documents = documents_of(visit.office.papers.asked(desk.name, visit.name).get(line.sequence))
    answers = [{**shown_answer(each), **_card(each)} for each in results_behind(line)]
    origin = visit.office.settings.origin
    return {
        "name": desk.name,
        "sequence": line.sequence,
        "time": line.time,
        "question": line.question,
        "cost": cost_values(line.cost),
        "documents": documents,
        "answers": answers,
        "can_propose": any(each["has_reply"] for each in answers),
        "receipt": receipt_values(desk, line.sequence),
        "remaining": remaining_words(desk, visit.name),
        "is_own": True,
        "again": _again(visit, documents),
        "unit": desk.protection.unit,
        "python": python_code(origin, desk.name, documents) if documents else None,
        "curl": curl_command(origin, desk.name, documents) if documents else None,
        "proposed": _proposed(visit, desk.name, line.sequence),
    }


@ROUTES.file("/d/{name}/answers/{sequence:int}/receipt.json", Who.ANALYST)
def answer_receipt(visit: Visit) -> FileReply:
    """The receipt of one's own question, to keep."""
    desk = desk_of(visit)
    line = own_line(visit, desk)
    content = json.dumps(desk.receipt(line.sequence), indent=1).encode()
    return FileReply(content, "application/json", f"receipt-{line.sequence}.json")


def own_line(visit: Visit, desk: ServiceDesk) -> StatementLine:
    """The question in the address, if it is one's own."""
    line = desk.line(visit.name, checked_number(int(visit.path["sequence"])))
    if line is None:
        raise NOT_YOURS
    return line


def results_behind(line: StatementLine) -> Sequence[Result]:
    """The results that a line has in the archive; none where there was no reply."""
    return [] if line.document is None else results_of(line.details, line.document)


def documents_of(asked: Mapping[str, Any] | None) -> list[Plain]:
    """The documents that were asked with one debit: one, or those of a basket; none where nobody noted them."""
    if asked is None:
        return []
    return [dict(each) for each in asked["documents"]] if "documents" in asked else [dict(asked)]


def _again(visit: Visit, documents: Sequence[Plain]) -> str | None:
    """The page on which what was asked can be changed; None where a sentence cannot say all of it."""
    sentence = sentence_of(documents[0]) if len(documents) == 1 else None
    return None if sentence is None else f"{own_address(visit, 'ask')}?{urlencode(sentence.fields())}"


def _card(result: Result) -> Plain:
    card = result.card()
    return {"card": [list(line) for line in card.lines]}


def _proposed(visit: Visit, dataset: str, sequence: int) -> Plain | None:
    """What became of the proposal to publish it, if there was one."""
    letters = visit.office.papers.letters(dataset=dataset, person=visit.name, kind=LetterKind.PROPOSAL)
    found = next((each for each in letters if each.content.get("sequence") == sequence), None)
    return None if found is None else {"title": found.content.get("title", ""), "state": found.state.value, "reply": found.reply}
