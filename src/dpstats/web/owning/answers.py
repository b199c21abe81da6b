"""Questions of all analysts, for the owner of a data set: what was asked and what it cost, and answers where policy shows them.

Policy decides, because an archive that is not shared is a promise to analysts: whoever pays for an answer alone, sees it alone.
So an owner sees answers where the archive is shared, her own ones, and those that an analyst shows her by proposing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpstats.curator.archive import Result
from dpstats.curator.archived import results_of
from dpstats.curator.catalog.policy import SHARED, Policy
from dpstats.curator.ledger.entries import DEBIT, PUBLISH, Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.readers import AccountReader, archived_document
from dpstats.curator.ledger.statements import StatementLine
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import UnknownNameError
from dpstats.foundations.results import NoReply
from dpstats.web.figures.answers import figure_of
from dpstats.web.owning.holdings import NOBODY
from dpstats.web.published.answers import headline, in_short, sentence
from dpstats.web.published.reading import PARTS
from dpstats.web.routes import Plain


@dataclass(frozen=True)
class ArchivedAnswer:
    """An answer of the archive: one reply, or those of a basket."""

    debit: Entry
    answer: Entry
    parts: tuple[Result, ...]


def may_see(policy: Policy, owner: str, actor: str) -> bool:
    """Whether the owner sees the answers to somebody's questions."""
    return policy.archive == SHARED or actor == owner


def find_answer(ledger: Ledger, dataset: str, sequence: int) -> ArchivedAnswer:
    """The archived answer to the debit of that number; the same complaint where there is none, and where it is another's."""
    debit = ledger.entry(sequence) if 0 < sequence <= LAST_NUMBER else None
    if debit is not None and (debit.dataset, debit.kind) == (dataset, DEBIT):
        answer = ledger.reader(dataset).answer_to(debit)
        if answer is not None:
            return ArchivedAnswer(debit, answer, tuple(results_of(debit.content()["details"], archived_document(answer))))
    raise UnknownNameError(f"there is no archived answer about {dataset} to entry {sequence}.")


def answer_values(found: ArchivedAnswer, listed: Sequence[Plain]) -> Plain:
    """An archived answer, part by part, each with the number of its publication if there is one."""
    content, published = found.debit.content(), published_parts(listed, found)
    return {
        "sequence": found.debit.sequence,
        "time": found.debit.time,
        "actor": found.debit.actor or NOBODY,
        "question": str(content["question"]),
        "cost": content["cost"],
        "parts": [{**_reply_values(reply), "published": published.get(place)} for place, reply in enumerate(found.parts)],
    }


def publications(reader: AccountReader) -> list[Plain]:
    """What was published, the newest first."""
    found = []
    for entry in reader.entries(kinds=[PUBLISH]):
        content = entry.content()
        found.append(
            {
                "number": entry.sequence,
                "time": entry.time,
                "actor": entry.actor,
                "title": str(content["title"]),
                "answer": content["answer"],
                "parts": content.get(PARTS),
            }
        )
    return found[::-1]


def published_parts(listed: Sequence[Plain], found: ArchivedAnswer) -> dict[int, int]:
    """The number of the first publication of each part of an answer."""
    return {
        place: each["number"]
        for each in listed
        if each["answer"] == found.answer.sequence
        for place in (range(len(found.parts)) if each["parts"] is None else each["parts"])
    }


def line_values(line: StatementLine, *, shown: bool) -> Plain:
    """One question that was paid for."""
    return {
        "sequence": line.sequence,
        "time": line.time,
        "actor": line.actor or NOBODY,
        "question": line.question,
        "cost": {"epsilon": str(line.cost.epsilon), "delta": str(line.cost.delta)},
        "answered": line.document is not None,
        "answer": _in_short(line) if shown and line.document is not None else None,
        "shown": shown,
    }


def _reply_values(reply: Result) -> Plain:
    """A reply: its number with an interval, a sentence, a figure, and all of it as text."""
    figure = figure_of(reply)
    return {
        "question": reply.question,
        "is_reply": not isinstance(reply, NoReply),
        "headline": headline(reply),
        "sentence": sentence(reply),
        "figure": None if figure is None else {"svg": figure.svg, "legend": figure.legend},
        "text": str(reply),
    }


def _in_short(line: StatementLine) -> str:
    """An answer in one line."""
    assert line.document is not None
    results = results_of(line.details, line.document)
    return in_short(results[0]) if len(results) == 1 else f"{len(results)} answers"
