"""JSON types of parameters: what a document may give for one, as JSON Schema.

A type says which values can be right; the parameter's own check decides, and its help says what else it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from dpstats.foundations.registry import REQUIRED, JsonType, Parameter

NUMBER: JsonType = {"type": ["number", "string"]}
"""A number, or its text, which is read exactly: "0.1" or "1/3"."""
WHOLE: JsonType = {"type": "integer"}
TEXT: JsonType = {"type": "string"}
LABEL: JsonType = {"type": ["string", "number", "boolean"]}
NOTHING: JsonType = {"type": "null"}


def one_of(names: Iterable[str]) -> JsonType:
    """One of these texts."""
    return {"enum": [*names]}


def either(*types: JsonType) -> JsonType:
    """A value of one of these types, or of several."""
    return {"anyOf": [*types]}


def list_of(item: JsonType, least: int = 1, most: int | None = None) -> JsonType:
    """A list of from `least` to `most` items of one type; None for no limit."""
    return {"type": "array", "items": item, "minItems": least, **({} if most is None else {"maxItems": most})}


def object_of(item: JsonType) -> JsonType:
    """Values of one type by name."""
    return {"type": "object", "additionalProperties": item}


def pair_of(first: JsonType, second: JsonType) -> JsonType:
    """A list of two."""
    return {"type": "array", "prefixItems": [first, second], "items": False, "minItems": 2}


AUTO_OR_WHOLE = either(one_of(["auto"]), WHOLE)
_KINDS: dict[str, Any] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float, Decimal),
    "string": str,
    "array": list,
    "object": dict,
}
_BY_DEFAULT: dict[type, JsonType] = {bool: {"type": "boolean"}, int: WHOLE, float: NUMBER, str: TEXT}


def json_type_of(parameter: Parameter) -> JsonType:
    """The JSON type of a parameter: the one it states, or that of its default; any value where neither says it."""
    if parameter.json_type is not None:
        return parameter.json_type
    return {} if parameter.default is REQUIRED else _BY_DEFAULT.get(type(parameter.default), {})


def fits(value: Any, json_type: JsonType) -> bool:
    """Whether a plain value is of a type; of JSON Schema only the words that this module writes are known."""
    if "anyOf" in json_type:
        return any(fits(value, each) for each in json_type["anyOf"])
    if "enum" in json_type:
        return isinstance(value, str) and value in json_type["enum"]
    kinds = json_type.get("type")
    if kinds is not None and not any(isinstance(value, _KINDS[kind]) for kind in ([kinds] if type(kinds) is str else kinds)):
        return False
    if isinstance(value, bool) and kinds is not None and "boolean" not in kinds:
        return False
    if isinstance(value, dict):
        return all(fits(each, json_type.get("additionalProperties", {})) for each in value.values())
    if not isinstance(value, list):
        return True
    if not json_type.get("minItems", 0) <= len(value) <= json_type.get("maxItems", len(value)):
        return False
    first = json_type.get("prefixItems")
    if first is not None:
        return len(value) == len(first) and all(map(fits, value, first))
    return all(fits(each, json_type.get("items", {})) for each in value)
