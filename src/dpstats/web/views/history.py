"""What somebody has asked: the list, some of it compared, and as a notebook or a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from dpstats.curator.archive import Result
from dpstats.curator.archived import statistic_behind
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.statements import StatementLine
from dpstats.curator.publishing.csv_files import csv_bytes
from dpstats.curator.publishing.value_tables import ends_of
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.pictures.dots import Dot, dots_of, dots_of_groups
from dpstats.web.asking.code import notebook, python_call
from dpstats.web.asking.prices import cost_values
from dpstats.web.asking.visits import LARGEST_NUMBER, NOT_YOURS, checked_number, desk_of
from dpstats.web.figures.answers import drawn
from dpstats.web.figures.dots import DrawnDot, rows_of_dots
from dpstats.web.people.roles import Who
from dpstats.web.published.answers import in_short
from dpstats.web.routes import FileReply, Plain, Query, RouteTable, Visit
from dpstats.web.views.answers import documents_of, results_behind

ROUTES = RouteTable()
PAGE = 100
MOST_COMPARED = 30


class HistoryQuery(Query):
    """Which lines: in order after one of them, or the newest ones."""

    after: int | None = Field(default=None, ge=0, le=LARGEST_NUMBER)
    limit: int = Field(default=PAGE, ge=1, le=1_000)
    newest: bool = False
    """The last lines, and no others."""


class ComparedLines(Query):
    """Which questions are compared, by the numbers of their debits."""

    lines: list[int] = Field(default=[], max_length=MOST_COMPARED)


@ROUTES.page("/d/{name}/history", Who.ANALYST, "history.html", query=HistoryQuery)
def history(visit: Visit) -> Plain:
    """The questions that one has paid for, with their answers, in order."""
    desk, query = desk_of(visit), visit.query
    first = query.after
    if query.newest:
        first = before_the_last(visit.office.ledger, desk.name, visit.name, query.limit)
    lines = desk.history(visit.name, after=first, limit=query.limit)
    asked = visit.office.papers.asked(desk.name, visit.name)
    return {
        "name": desk.name,
        "lines": [line_values(each, asked.get(each.sequence)) for each in lines],
        "next": lines[-1].sequence if len(lines) == query.limit and not query.newest else None,
        "archived": _from_archive(visit, desk.name, asked) if query.newest else [],
        "earlier": query.newest and bool(first),
        "newest": query.newest,
        "remaining": desk.remaining(visit.name),
    }


@ROUTES.page("/d/{name}/compare", Who.ANALYST, "compare.html", query=ComparedLines)
def compare(visit: Visit) -> Plain:
    """Some of one's own answers in one picture."""
    desk = desk_of(visit)
    lines = [own_line_of(desk, visit.name, number) for number in dict.fromkeys(visit.query.lines)]
    dots = [dot for line in lines for dot in dots_behind(line)]
    words = f"{counted(len(dots), 'answer')} about {desk.name}, each with its interval."
    return {
        "name": desk.name,
        "lines": [line_values(line, None) for line in lines],
        "numbers": [row for line in lines for row in _number_rows(line)],
        "figure": rows_of_dots([replace(each, words="") for each in dots], words) if dots else None,
    }


@ROUTES.file("/d/{name}/history.csv", Who.ANALYST)
def history_csv(visit: Visit) -> FileReply:
    """All questions that one has paid for, with their numbers, as a CSV file that no spreadsheet computes."""
    heads = ("number", "time", "question", "epsilon", "delta", "part", "value", "low", "high", "in words")
    desk = desk_of(visit)
    lines = [cells for line in desk.history(visit.name, limit=None) for cells in _csv_lines(line)]
    return FileReply(csv_bytes(heads, lines), "text/csv; charset=utf-8", "questions.csv")


@ROUTES.file("/d/{name}/history.ipynb", Who.ANALYST)
def history_notebook(visit: Visit) -> FileReply:
    """All questions that one has paid for, as a notebook that asks them again, which is free."""
    desk = desk_of(visit)
    asked = visit.office.papers.asked(desk.name, visit.name)
    questions = [
        (line.sequence, line.question, documents)
        for line in desk.history(visit.name, limit=None)
        if line.document is not None and (documents := documents_of(asked.get(line.sequence)))
    ]
    content = notebook(visit.office.settings.origin, desk.name, questions)
    return FileReply(content, "application/x-ipynb+json", "questions.ipynb")


def before_the_last(ledger: Ledger, dataset: str, actor: str, count: int) -> int:
    """The number after which somebody's last questions come."""
    debits = ledger.reader(dataset).entries(actor=actor, kinds=[DEBIT])
    return debits[-count].sequence - 1 if len(debits) > count else 0


def _from_archive(visit: Visit, dataset: str, asked: Mapping[int, Mapping[str, Any]]) -> list[Plain]:
    """What one had on a page from the archive, because another had paid for it."""
    own = {each.sequence for each in visit.office.ledger.reader(dataset).entries(actor=visit.name, kinds=[DEBIT])}
    others = [(number, documents_of(each)) for number, each in sorted(asked.items(), reverse=True) if number not in own]
    return [{"sequence": number, "question": "; ".join(map(python_call, documents))} for number, documents in others[:PAGE]]


def line_values(line: StatementLine, document: Plain | None) -> Plain:
    """One question that was paid for."""
    method = line.details.get("method")
    return {
        "sequence": line.sequence,
        "time": line.time,
        "question": line.question,
        "cost": cost_values(line.cost),
        "document": document,
        "answer": line.document,
        "statistic": None if method is None else statistic_behind(str(method)).name,
        "shown": _in_words(line),
    }


def own_line_of(desk: ServiceDesk, actor: str, number: int) -> StatementLine:
    """A question by the number of its debit, if it is one's own."""
    line = desk.line(actor, checked_number(number))
    if line is None:
        raise NOT_YOURS
    return line


def dots_behind(line: StatementLine) -> list[DrawnDot]:
    """The numbers of a line, with their intervals, for a picture."""
    return [drawn(replace(dot, name=f"{line.sequence}: {name}")) for name, dot in _named_dots(line)]


def _number_rows(line: StatementLine) -> list[Plain]:
    """The numbers of a line, with their intervals, for a table; a line without numbers in a few words."""
    named = [(name, drawn(dot).words) for name, dot in _named_dots(line)] or [(line.question, "; ".join(_in_words(line)))]
    return [{"sequence": line.sequence, "name": name, "value": words, "cost": cost_values(line.cost)} for name, words in named]


def _named_dots(line: StatementLine) -> list[tuple[str, Dot]]:
    """The numbers of a line, each with the question and its part."""
    found = []
    for result in results_behind(line):
        dots = _dots(result)
        found += [(f"{result.question}, {dot.name}" if len(dots) > 1 else result.question, dot) for dot in dots]
    return found


def _dots(result: Result) -> Sequence[Dot]:
    if isinstance(result, NoReply):
        return []
    if isinstance(result, GroupedRelease):
        grouped = dots_of_groups(result)
        return [] if grouped is None else grouped[0]
    return dots_of(result)


def _in_words(line: StatementLine) -> list[str]:
    return [in_short(each) for each in results_behind(line)] or ["no reply"]


def _csv_lines(line: StatementLine) -> list[list[object]]:
    about = [line.sequence, line.time, line.question, decimal_text(line.cost.epsilon), decimal_text(line.cost.delta)]
    dots = _named_dots(line)
    if not dots:
        return [[*about, None, None, None, None, "; ".join(_in_words(line))]]
    return [[*about, name, dot.value, *ends_of(dot.interval), drawn(dot).words] for name, dot in dots]
