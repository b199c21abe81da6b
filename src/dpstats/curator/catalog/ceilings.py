"""Ceilings: how large a question may be before anybody works on it. They are public, and the same for all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dpstats.curator.desk import Request
from dpstats.curator.planning.work import TABLE_WORK
from dpstats.foundations.errors import InvalidParameterError

LONGEST_DOCUMENT = 64 * 1024
"""Letters of a document's JSON."""
MOST_GROUPS = 1_000
MOST_VALUES = 200
"""In a list that a parameter takes: quantiles, edges, labels."""
MOST_QUESTIONS = 100
"""In a basket."""
MOST_PLAN_LINES = 100
"""Sizes times shapes of a plan, or of a curve, each of them a line."""
MOST_CURVE_POINTS = 1_000
"""Lines times epsilons of a curve."""
MOST_PLAN_WORK = 20_000_000
"""Rows that the tables of a simulated plan may have together; a table counts `TABLE_WORK` more, whatever it holds."""
SEARCH_TRIES = 12
"""Epsilons that a search for a half-width tries, about."""
PLAN_SECONDS = 60.0
"""How long a plan is simulated, and waits for that, at most."""
UNLISTED_GROUPS = 20
"""For how many groups a reply takes its time where they are chosen privately."""


def check_document(document: object) -> str:
    """The text of a document; raises about one that is too long to be read, or is none."""
    try:
        text = document if isinstance(document, str) else json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidParameterError("a question is a document of plain JSON values.") from None
    if len(text) > LONGEST_DOCUMENT:
        raise InvalidParameterError(f"a question may have {LONGEST_DOCUMENT:,} letters at most.")
    return text


def groups_of(scope: Mapping[str, object]) -> int:
    """For how many groups a request is: what its scope lists, or a public number where it lists none."""
    if "by" not in scope:
        return 1
    keys = scope["keys"]
    return len(keys) if isinstance(keys, (list, tuple)) else UNLISTED_GROUPS


def values_of(arguments: Mapping[str, Any]) -> int:
    """How many values the longest list among a question's parameters has."""
    return max((len(each) for each in arguments.values() if isinstance(each, (list, tuple, dict))), default=1)


def check_request(request: Request) -> None:
    """Raise about a question that would take too much work."""
    if groups_of(request.scope) > MOST_GROUPS:
        raise InvalidParameterError(f"a question may have {MOST_GROUPS:,} groups at most: ask for fewer keys.")
    if values_of(request.question.arguments) > MOST_VALUES:
        raise InvalidParameterError(f"a list of a question may have {MOST_VALUES:,} values at most.")


def check_plan_lines(sizes: int, shapes: int, epsilons: int = 1) -> None:
    """Raise about a plan, or a curve of several epsilons, that has too many lines or points."""
    if sizes * shapes > MOST_PLAN_LINES:
        raise InvalidParameterError(f"a plan may have {MOST_PLAN_LINES} lines at most, sizes times shapes: name fewer of them.")
    if sizes * shapes * epsilons > MOST_CURVE_POINTS:
        raise InvalidParameterError(
            f"a curve may have {MOST_CURVE_POINTS:,} points at most, sizes times shapes times epsilons: name fewer of them."
        )


def check_plan_work(sizes: Sequence[int], shapes: int, repeats: int, *, searches: bool) -> None:
    """Raise about a plan whose simulation would take too long: rows times tables times epsilons."""
    of_each = shapes * sum(size + TABLE_WORK for size in sizes) * (SEARCH_TRIES if searches else 1)
    if of_each * repeats <= MOST_PLAN_WORK:
        return
    most = MOST_PLAN_WORK // of_each
    less = f'"repeats": {most}, ' if most else ""
    raise InvalidParameterError(
        f"this plan would simulate about {of_each * repeats:,} rows, and {MOST_PLAN_WORK:,} can be simulated here: name "
        f"{less}fewer sizes with n, or one shape; or plan on your own computer, with dpstats.plan: it needs no data."
    )
