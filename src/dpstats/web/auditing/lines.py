"""An account entry by entry: what each says, and its running total recomputed beside the stated one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from dpstats.accounting.accountants import Total
from dpstats.curator.archived import results_of
from dpstats.curator.ledger.books import Book
from dpstats.curator.ledger.debits import cost_of
from dpstats.curator.ledger.entries import AMEND, ANSWER, DEBIT, EDITION, GRANT, OPEN, PUBLISH, REVOKE, Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import DATASET, Opening
from dpstats.curator.ledger.readers import AccountReader, archived_document, is_failure
from dpstats.curator.ledger.standing import BUDGET, total_after
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.errors import DpstatsError, LedgerError
from dpstats.web.auditing.sight import Sight
from dpstats.web.published.answers import in_short
from dpstats.web.published.datasets import policy_changes
from dpstats.web.routes import Plain
from dpstats.web.words import amount

MOST_ADDED = 20_000
"""Debits and answers of an account that are added up for a page; a verification adds up all there are."""
_UNREADABLE = (DpstatsError, ValueError, KeyError, TypeError, AttributeError)


def account_lines(ledger: Ledger, reader: AccountReader, entries: list[Entry]) -> list[Plain]:
    """Entries of an account for a page."""
    sight = None
    if reader.opened_with.account == DATASET:
        with suppress(LedgerError):  # where nobody knows what is shared, nothing is shown
            sight = Sight(ledger, reader.dataset)
    return [_line(ledger, reader, sight, entry) for entry in entries]


def totals(reader: AccountReader) -> Plain:
    """The costs of all debits of an account added up anew, beside what the last one states, and what became of its questions."""
    book, keeper, recomputed = _book(reader.opened_with.terms), reader.accountant, Total()
    said: Plain = {"stated": None, "recomputed": None, "agrees": None, "counts": None}
    counts = {"debits": 0, "answers": 0, "no_replies": 0, "failed": 0}
    try:
        said["stated"] = keeper.words(stated := reader.total)
        entries = reader.entries(kinds=[DEBIT, ANSWER], limit=MOST_ADDED + 1)
        if len(entries) > MOST_ADDED:
            return said
        for entry in entries:
            if entry.kind == DEBIT:
                recomputed = keeper.add(recomputed, book.charge(entry.version, entry.content()["cost"]))
                counts["debits"] += 1
            else:
                counts[_outcome(entry)] += 1
    except _UNREADABLE:
        return {**said, "agrees": False}
    unanswered = counts["debits"] - counts["answers"] - counts["no_replies"] - counts["failed"]
    return {
        **said,
        "recomputed": keeper.words(recomputed),
        "agrees": recomputed == stated,
        "counts": {**counts, "unanswered": unanswered} if reader.opened_with.account == DATASET else None,
    }


def _outcome(answer: Entry) -> str:
    """What became of a question; all of it is charged."""
    if is_failure(answer):
        return "failed"
    document = archived_document(answer)
    if "batch" in document:
        return "answers"
    return "no_replies" if "reason" in document else "answers"


def _line(ledger: Ledger, reader: AccountReader, sight: Sight | None, entry: Entry) -> Plain:
    line: Plain = {
        "sequence": entry.sequence,
        "time": entry.time,
        "kind": entry.kind,
        "actor": entry.actor,
        "hash": entry.hash,
        "what": "",
        "why": "",
        "cost": None,
        "stated": None,
        "recomputed": None,
        "agrees": None,
        "answer": None,
        "fault": entry.fault(),
    }
    if line["fault"] is None:
        try:
            line |= _said(ledger, reader, sight, entry)
        except _UNREADABLE:
            line["fault"] = "cannot be read"
    return line


def _said(ledger: Ledger, reader: AccountReader, sight: Sight | None, entry: Entry) -> Plain:
    content, terms = entry.content(), reader.opened_with.terms
    if entry.kind == OPEN:
        return {"what": f"opened for every {terms.unit}, with a budget of {terms.budget}"}
    if entry.kind == DEBIT:
        return {"what": _question(ledger, content), **_added_up(reader, entry, content)}
    if entry.kind == ANSWER:
        return _answered(ledger, sight, entry, content)
    if entry.kind == AMEND:
        words = _budget_words(content[BUDGET]) if entry.key == BUDGET else " ".join(policy_changes(ledger, entry))
        return {"what": words, "why": content["why"]}
    if entry.kind == GRANT:
        group = f", in the group {content['group']}" if content["group"] else ""
        cap = "no cap of their own" if content["budget"] is None else _budget_words(content["budget"])
        return {"what": f"{entry.key} may ask{group}: {cap}", "why": content["why"]}
    if entry.kind == REVOKE:
        return {"what": f"{entry.key} may no longer ask", "why": content["why"]}
    if entry.kind == EDITION:
        return {"what": "the rows are in another state"}
    if entry.kind == PUBLISH:
        return {"what": f"published the answer in entry {content['answer']}: {content['title']}"}
    return {}


def _question(ledger: Ledger, content: dict[str, Any]) -> str:
    """What was asked; the debit of a cap or a population names that of its data set."""
    if "of" not in content:
        return str(content["question"])
    first = ledger.entry(int(content["of"]))
    asked = "" if first is None else f": {first.content()['question']}"
    return f"a share of entry {content['of']}{asked}"


def _added_up(reader: AccountReader, entry: Entry, content: dict[str, Any]) -> Plain:
    """What a debit makes of the total that the one before it states."""
    keeper, terms = reader.accountant, reader.opened_with.terms
    before = total_after(reader.last_debit_before(entry.sequence), keeper)
    due, stated = keeper.add(before, _book(terms).charge(entry.version, content["cost"])), keeper.from_dict(content["total"])
    return {
        "cost": str(cost_of(entry, terms)),
        "stated": keeper.words(stated),
        "recomputed": keeper.words(due),
        "agrees": stated == due,
    }


def _answered(ledger: Ledger, sight: Sight | None, entry: Entry, content: dict[str, Any]) -> Plain:
    what = f"answers entry {content['debit']}"
    if is_failure(entry):
        return {"what": f"{what}: it failed, and stays charged"}
    debit = ledger.entry(int(content["debit"]))
    details = {} if debit is None else debit.content()["details"]
    if sight is None or debit is None or not sight.shows(entry.sequence, details):
        return {"what": f"{what}; the answer is not shared"}
    results = results_of(details, archived_document(entry))
    return {"what": what, "answer": "; ".join(in_short(each) for each in results)}


def _budget_words(amounts: dict[str, str] | None) -> str:
    if amounts is None:
        return "closed: nothing more may be spent"
    delta = f", delta = {amount(amounts['delta'])}" if amounts["delta"] != "0" else ""
    return f"a budget of epsilon = {amount(amounts['epsilon'])}{delta}"


def _book(terms: Terms) -> Book:
    return Book(Opening(terms), terms.budget)
