"""What somebody has asked: the list, some of it compared, and as a notebook or a CSV file."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from dpstats.curator.ledger.statements import StatementLine
from dpstats.foundations.registry import find_statistic, statistic_names
from dpstats.web.asking.prices import cost_values
from dpstats.web.asking.visits import LARGEST_NUMBER, desk_of
from dpstats.web.people.roles import Who
from dpstats.web.routes import Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
PAGE = 100


class HistoryQuery(Query):
    """Which lines: in order after one of them, or the newest before one."""

    after: int | None = Field(default=None, ge=0, le=LARGEST_NUMBER)
    limit: int = Field(default=PAGE, ge=1, le=1_000)


@ROUTES.page("/d/{name}/history", Who.ANALYST, "history.html", query=HistoryQuery)
def history(visit: Visit) -> Plain:
    """The questions that one has paid for, with their answers, in order."""
    desk, query = desk_of(visit), visit.query
    lines = desk.history(visit.name, after=query.after, limit=query.limit)
    asked = visit.office.papers.asked(desk.name, visit.name)
    return {
        "name": desk.name,
        "lines": [line_values(each, asked.get(each.sequence)) for each in lines],
        "next": lines[-1].sequence if len(lines) == query.limit else None,
    }


def line_values(line: StatementLine, document: Plain | None) -> Plain:
    """One question that was paid for."""
    return {
        "sequence": line.sequence,
        "time": line.time,
        "question": line.question,
        "cost": cost_values(line.cost),
        "document": document,
        "answer": line.document,
        "statistic": statistic_behind(line.details),
    }


def statistic_behind(details: dict[str, Any]) -> str | None:
    """The registry's name of the statistic that a debit is about; None for a basket."""
    method = str(details.get("method", "")).partition("/")[0]
    names = (name for name in statistic_names() if method.startswith(f"{name}_"))
    return next((name for name in names if method[len(name) + 1 :] in find_statistic(name).methods), None)
