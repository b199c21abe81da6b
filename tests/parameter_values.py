"""Values that parameters of the registry take, found from their JSON types and their help: nothing here names a statistic."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.json_types import json_type_of
from dpstats.foundations.registry import REQUIRED, JsonType, Parameter

NUMBERS = (0, 1, 0.1, 0.25, "0.5", Fraction(1, 2), Fraction(1, 3), "2/7", 0.9, -2.5, 1e-7, 3, 40, 12.75, "5.00000000000000000001")
WHOLES = (1, 2, 3, 10, 50, 200)
LABELS = ("north", "1/3", "", "süd", 3, 0, 2.5, True, datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12, 30))


_FOUND: dict[int, list[Any]] = {}


def values_of(parameter: Parameter) -> list[Any]:
    """Values that the parameter's check takes."""
    if id(parameter) not in _FOUND:  # the registry keeps its parameters
        candidates = _candidates(json_type_of(parameter), parameter.help)
        _FOUND[id(parameter)] = [value for value in candidates if _is_taken(parameter, value)]
    return _FOUND[id(parameter)]


def other_values_of(parameter: Parameter) -> list[Any]:
    """Those that mean something else than the default."""
    default = None if parameter.default is REQUIRED else repr(parameter.check(parameter.default))
    return [value for value in values_of(parameter) if repr(parameter.check(value)) != default]


def _is_taken(parameter: Parameter, value: Any) -> bool:
    try:
        parameter.check(value)
    except DpstatsError:
        return False
    return True


def _candidates(json_type: JsonType, words: str) -> Iterator[Any]:
    """Values of a type; texts are words of the help."""
    if "anyOf" in json_type:
        for each in json_type["anyOf"]:
            yield from _candidates(each, words)
    elif "enum" in json_type:
        yield from json_type["enum"]
    else:
        yield from _of_kind(json_type, words)


def _of_kind(json_type: JsonType, words: str) -> Iterator[Any]:
    kind, texts = json_type["type"], re.findall(r"[a-z_]+", words)
    if kind == ["number", "string"]:
        yield from NUMBERS
    elif kind == ["string", "number", "boolean"]:
        yield from LABELS
    elif kind == "array":
        yield from _lists(json_type, words)
    elif kind == "object":
        values = list(_candidates(json_type["additionalProperties"], words))[:12]
        yield from (dict.fromkeys(["a", *texts][:size], value) for size in (1, 2, 3) for value in values)
    else:
        plain: dict[str, Sequence[Any]] = {
            "null": [None],
            "boolean": [True, False],
            "integer": WHOLES,
            "number": [0, 2, 0.5, 1e-3],
            "string": texts,
        }
        yield from plain[kind]


def _lists(json_type: JsonType, words: str) -> Iterator[Any]:
    least, most = json_type["minItems"], json_type.get("maxItems", 4)
    if "prefixItems" in json_type:
        yield from map(list, itertools.product(*(list(_candidates(each, words))[:8] for each in json_type["prefixItems"])))
        return
    items = list(_candidates(json_type["items"], words))
    for size in range(least, min(most, 4) + 1):
        for start in range(len(items)):
            chosen = [items[(start + step) % len(items)] for step in range(size)]
            yield chosen
            yield tuple(reversed(chosen))
