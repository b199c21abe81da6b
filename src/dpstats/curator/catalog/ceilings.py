"""Ceilings: how large a question may be before anybody works on it. They are public, and the same for all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dpstats.curator.desk import Request
from dpstats.foundations.errors import InvalidParameterError

LONGEST_DOCUMENT = 64 * 1024
"""Letters of a document's JSON."""
MOST_GROUPS = 1_000
MOST_VALUES = 200
"""In a list that a parameter takes: quantiles, edges, labels."""
MOST_QUESTIONS = 100
"""In a basket."""
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
