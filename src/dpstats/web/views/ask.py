"""The page on which a question is put together: a sentence to fill in, its price, and what to expect of it."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from fractions import Fraction

from pydantic import Field

from dpstats.curator.archive import document_of
from dpstats.curator.catalog.ceilings import MOST_QUESTIONS
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.documents.document import REGRESSION
from dpstats.curator.formulas import MODELS
from dpstats.foundations.registry import REQUIRED, find_statistic, statistic_names
from dpstats.foundations.rounding import decimal_text
from dpstats.web.asking.expectations import rounded_down
from dpstats.web.asking.previews import preview
from dpstats.web.asking.sentences import Sentence
from dpstats.web.asking.visits import desk_of
from dpstats.web.people.roles import Who
from dpstats.web.routes import Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
FIRST, FIRST_EPSILON = "median", Fraction(1, 5)
"""What a new sentence asks, and at which epsilon."""
NUMBERS = ("number", "integer")
MOST_ROWS = 10**9
OFTEN = ("median", "mean", "count", "proportion", "quantile", "sum", "std", "histogram", "correlation", "regression")
"""Statistics that stand first in the list."""


class AskQuery(Query, Sentence):
    """A sentence, and for how many rows, or which error, it is planned."""

    n: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    width: str = ""
    """The half-width that is wanted, in the unit of the slider; the epsilon follows from it."""
    basket: list[str] = Field(default=[], max_length=MOST_QUESTIONS)
    """Questions that are in the basket already."""


@ROUTES.page("/d/{name}/ask", Who.ANALYST, "ask.html", query=AskQuery)
def ask(visit: Visit) -> Plain:
    """What can be asked about a data set; and for a sentence its price, and what to expect of it."""
    desk, query = desk_of(visit), visit.query
    columns, policy, cap = desk.columns(visit.name), desk.policy, desk.own_cap(visit.name)
    sentence = query if not query.is_empty else _first_sentence(desk, visit.name, columns)
    said = Sentence(**{name: getattr(sentence, name) for name in Sentence.model_fields})
    about = _about(said.statistic, said.model)
    keys, protection = desk.keys(visit.name), desk.protection
    n = query.n or _rows_in_a_group(policy.rows, [keys.get(each, ()) for each in said.by])
    return {
        "name": desk.name,
        "columns": columns,
        "keys": keys,
        "protection": {
            "unit": protection.unit,
            "max_rows_per_unit": protection.rows_per_unit,
            "missing_unit": protection.missing_unit.value,
            "neighbors": protection.neighbors.value,
            "may_fail": protection.may_fail,
            "found": protection.found,
            "share": protection.share,
            "rows_per_unit": None if desk.rows_per_unit is None else document_of(desk.rows_per_unit),
        },
        "policy": policy.to_dict(),
        "remaining": desk.remaining(visit.name),
        "budget": None if cap is None else cap.budget.to_dict(),
        "left": None if cap is None else {"epsilon": str(cap.largest_epsilon), "delta": str(cap.left.delta)},
        "statistics": _statistics(policy.statistics),
        "models": list(MODELS),
        "sentence": said.model_dump(),
        "about": about,
        "more_words": said.has_more_words or (about is not None and about["needs_more"]),
        "n": n,
        "rows": query.n,
        "width": query.width,
        "basket": query.basket,
        **preview(visit, desk, said, n, query.width).to_dict(),
        "request": secrets.token_hex(8),
    }


def _first_sentence(desk: ServiceDesk, actor: str, columns: dict[str, str]) -> Sentence:
    """A sentence to begin with: one that can be asked, if there is one."""
    numbers = [name for name, kind in columns.items() if kind in NUMBERS and name != desk.protection.unit]
    numbers.sort(key=lambda name: columns[name] != NUMBERS[0])
    policy, cap = desk.policy, desk.own_cap(actor)
    listed = _statistics(policy.statistics)
    statistic = FIRST if numbers and FIRST in listed else next((each for each in ("count", *listed) if each in listed), "count")
    limits = [each for each in (policy.largest_epsilon, cap and cap.largest_epsilon) if each]
    return Sentence(
        statistic=statistic,
        columns=numbers[:1] if statistic == FIRST else [],
        epsilon=decimal_text(rounded_down(min([FIRST_EPSILON, *limits]))),
    )


def _rows_in_a_group(rows: int, keys: Sequence[Sequence[object]]) -> int:
    """About how many rows a group has, if all have as many; without groups, all of them."""
    return max(rows // math.prod(len(each) or 1 for each in keys), 1)


def _statistics(allowed: Sequence[str] | None) -> list[str]:
    """Those that may be asked, the usual ones first."""
    every = [*OFTEN, *(name for name in statistic_names() if name not in OFTEN)]
    if allowed is None:
        return every
    formulas = {REGRESSION, *MODELS.values()}
    return [name for name in every if name in allowed or (name == REGRESSION and formulas & set(allowed))]


def _about(statistic: str, model: str) -> Plain | None:
    """What the registry says of a statistic; None where there is no such one."""
    name = MODELS.get(model or "linear", "") if statistic == REGRESSION else statistic
    if name not in statistic_names():
        return None
    found = find_statistic(name)
    parameters = [
        {"name": each.name, "help": each.help, "required": each.default is REQUIRED}
        for each in found.parameters
        if not (statistic == REGRESSION and each.name == "intercept")
    ]
    needs_more = statistic == REGRESSION or found.has_outcome or any(each["required"] for each in parameters)
    return {"summary": found.summary, "methods": list(found.methods), "parameters": parameters, "needs_more": needs_more}
