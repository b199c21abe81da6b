"""A small checker of JSON Schema (draft 2020-12): the words that our schema uses, and an error for any other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: dict[str, Any] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
ANNOTATIONS = {"$schema", "$defs", "title", "description", "default", "then"}


def complaints(value: Any, schema: Any, root: Mapping[str, Any] | None = None, path: str = "$") -> list[str]:
    """Where a value breaks a schema; empty where it is valid."""
    return list(_complaints(value, schema, schema if root is None else root, path))


def _complaints(value: Any, schema: Any, root: Mapping[str, Any], path: str) -> Iterator[str]:
    if schema is True or schema is False:
        if not schema:
            yield f"{path} is not allowed"
        return
    for word, rule in schema.items():
        if word not in ANNOTATIONS:
            yield from _RULES[word](value, rule, schema, root, path)


def _type(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if not any(TYPES[name](value) for name in ([rule] if isinstance(rule, str) else rule)):
        yield f"{path} is no {rule}"


def _enum(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if not any(type(value) is type(each) and value == each for each in rule):
        yield f"{path} is none of {rule}"


def _const(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    return _enum(value, [rule], schema, root, path)


def _reference(value: Any, rule: str, schema: Any, root: Any, path: str) -> Iterator[str]:
    assert rule.startswith("#/$defs/")
    return _complaints(value, root["$defs"][rule.removeprefix("#/$defs/")], root, path)


def _any_of(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if all(complaints(value, each, root, path) for each in rule):
        yield f"{path} is of no type that it can be"


def _all_of(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    for each in rule:
        yield from _complaints(value, each, root, path)


def _if(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if not complaints(value, rule, root, path):
        yield from _complaints(value, schema["then"], root, path)


def _properties(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in value.keys() & rule.keys():
            yield from _complaints(value[name], rule[name], root, f"{path}.{name}")


def _others(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in value.keys() - schema.get("properties", {}).keys():
            yield from _complaints(value[name], rule, root, f"{path}.{name}")


def _required(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{path} has no {name}" for name in rule if name not in value)


def _first_items(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for place, (item, each) in enumerate(zip(value, rule, strict=False)):
            yield from _complaints(item, each, root, f"{path}[{place}]")


def _items(value: Any, rule: Any, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, list):
        before = len(schema.get("prefixItems", []))
        for place, item in enumerate(value[before:], before):
            yield from _complaints(item, rule, root, f"{path}[{place}]")


def _least(value: Any, rule: int, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) < rule:
        yield f"{path} is too short"


def _most(value: Any, rule: int, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, list) and len(value) > rule:
        yield f"{path} is too long"


def _shortest(value: Any, rule: int, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, str) and len(value) < rule:
        yield f"{path} is too short"


def _pattern(value: Any, rule: str, schema: Any, root: Any, path: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{path} is not written as it must be"


_RULES: dict[str, Any] = {
    "$ref": _reference,
    "additionalProperties": _others,
    "allOf": _all_of,
    "anyOf": _any_of,
    "const": _const,
    "enum": _enum,
    "if": _if,
    "items": _items,
    "maxItems": _most,
    "minItems": _least,
    "minLength": _shortest,
    "pattern": _pattern,
    "prefixItems": _first_items,
    "properties": _properties,
    "required": _required,
    "type": _type,
}
