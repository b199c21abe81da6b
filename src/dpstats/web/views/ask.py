"""The page on which a question is put together: a sentence to fill in, its price, and what to expect of it."""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import Any

from pydantic import Field

from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.documents.document import REGRESSION
from dpstats.curator.formulas import MODELS
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.registry import statistic_names
from dpstats.foundations.rounding import decimal_text
from dpstats.web.asking.expectations import Expectation, rounded_up
from dpstats.web.asking.prices import quote_values
from dpstats.web.asking.sentences import Sentence
from dpstats.web.asking.visits import desk_of, read_asked
from dpstats.web.people.roles import Who
from dpstats.web.routes import Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
FIRST = "median"
FIRST_EPSILON = Fraction(1, 5)
NUMBERS = ("number", "integer")
MOST_ROWS = 10**9
OFTEN = ("median", "mean", "count", "quantile", "sum", "std", "histogram", "correlation", "regression")
"""Statistics that stand first in the list."""


class AskQuery(Query, Sentence):
    """A sentence, and for how many rows, or which error, it is planned."""

    n: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    width: str = ""
    """The half-width that is wanted, in the unit of the slider; the epsilon follows from it."""


@ROUTES.page("/d/{name}/ask", Who.ANALYST, "ask.html", query=AskQuery)
def ask(visit: Visit) -> Plain:
    """What can be asked about a data set; and for a sentence its price, and what to expect of it."""
    desk, query = desk_of(visit), visit.query
    columns, policy = desk.columns(visit.name), desk.policy
    sentence = query if not query.is_empty else _first_sentence(desk, visit.name, columns)
    cap = desk.own_cap(visit.name)
    protection = desk.protection
    return {
        "name": desk.name,
        "columns": columns,
        "keys": desk.keys(visit.name),
        "protection": {
            "unit": protection.unit,
            "max_rows_per_unit": protection.rows_per_unit,
            "missing_unit": protection.missing_unit.value,
            "neighbors": protection.neighbors.value,
            "may_fail": protection.may_fail,
        },
        "policy": policy.to_dict(),
        "remaining": desk.remaining(visit.name),
        "budget": None if cap is None else cap.budget.to_dict(),
        "left": None if cap is None else {"epsilon": str(cap.largest_epsilon), "delta": str(cap.left.delta)},
        "statistics": _statistics(policy.statistics),
        "sentence": Sentence(**{name: getattr(sentence, name) for name in Sentence.model_fields}).model_dump(),
        **_expected(visit, desk, sentence, query.n or policy.rows, query.width),
        "request": secrets.token_hex(8),
    }


def _expected(visit: Visit, desk: ServiceDesk, sentence: Sentence, n: int, width: str) -> Plain:
    """The document of a sentence, its price and what to expect of it; or what is wrong with it."""
    found: Plain = {"n": n, "width": width, "document": None, "price": None, "expect": None, "complaint": None, "unplanned": None}
    try:
        document = sentence.as_document()
        if not width:
            document = read_asked(visit, document).to_dict()
        found["expect"], found["unplanned"] = _curve(desk, visit.name, document, n)
        if width:
            document["epsilon"] = _epsilon_for(found["expect"], width)
            document = read_asked(visit, document).to_dict()
        found["price"] = quote_values(desk.price(document, visit.name))
        found["document"] = document
    except DpstatsError as error:
        found["complaint"] = str(error)
    if found["expect"] is not None:
        found["expect"] = found["expect"].to_dict()
    return found


def _curve(desk: ServiceDesk, actor: str, document: Plain, n: int) -> tuple[Expectation | None, str | None]:
    """What to expect over all epsilons, or why that is not known."""
    planned = {name: each for name, each in document.items() if name != "epsilon"}
    try:
        found = Expectation.of(desk.curve({**planned, "plan": {"n": n}}, actor), n)
    except DpstatsError as error:
        return None, str(error)
    return found, None if found is not None else f"{n:,} rows are too few, or too many, to plan this."


def _epsilon_for(expect: Expectation | None, width: str) -> str:
    """The epsilon that a wanted half-width takes."""
    if expect is None:
        raise InvalidParameterError("this question cannot be planned, so the epsilon of an error is not known: give epsilon.")
    try:
        wanted = float(width.strip().rstrip("%"))
        epsilon = expect.epsilon_for(wanted) if wanted > 0 else None
    except ValueError:
        raise InvalidParameterError("the wanted error must be a number, such as 2.5.") from None
    if epsilon is None:
        raise InvalidParameterError(f"an error as small as {width} cannot be reached with what is left and {expect.n:,} rows.")
    return decimal_text(min(rounded_up(epsilon), Fraction(expect.most)))


def _first_sentence(desk: ServiceDesk, actor: str, columns: dict[str, str]) -> Sentence:
    """A sentence to begin with: one that can be asked, if there is one."""
    numbers = [name for name, kind in columns.items() if kind in NUMBERS and name != desk.protection.unit]
    numbers.sort(key=lambda name: columns[name] != NUMBERS[0])
    allowed, cap = desk.policy.statistics, desk.own_cap(actor)
    statistic = FIRST if numbers and (allowed is None or FIRST in allowed) else "count" if allowed is None else allowed[0]
    limits = [each for each in (desk.policy.largest_epsilon, cap and cap.largest_epsilon) if each]
    return Sentence(
        statistic=statistic,
        columns=numbers[:1] if statistic == FIRST else [],
        epsilon=decimal_text(min(FIRST_EPSILON, *limits)),
    )


def _statistics(allowed: Any) -> list[str]:
    """Those that may be asked, the usual ones first."""
    every = [*OFTEN, *(name for name in statistic_names() if name not in OFTEN)]
    return [
        name
        for name in every
        if allowed is None or name in allowed or (name == REGRESSION and set(allowed) & set(MODELS.values()))
    ]
