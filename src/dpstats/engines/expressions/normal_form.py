"""The normal form of an expression: expressions that say the same for a simple reason have one.

Claim      It has the same value for every row, also where cells are missing, so that a condition in normal form keeps the same
           rows.
Why        `and` and `or` of three truth values (true, false, unknown) do not depend on the order, the grouping or the repetition
           of their parts, and De Morgan's laws hold for them. A comparison is unknown where a side is missing, and so is its
           opposite; elsewhere exactly one of the two is true, because there is no NaN among cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import language
from dpstats.engines.expressions.building import FLIPPED
from dpstats.engines.expressions.writing import written

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_OTHER_WORD = {"and": "or", "or": "and"}


def normal_form(node: language.Node) -> language.Node:
    """An expression whose parts are in one order, each once, with negations as far inside as they go."""
    match node:
        case language.Logic():
            return _joined(node.word, map(normal_form, node.parts))
        case language.Not():
            return _negated(normal_form(node.part))
        case language.Compare():
            return _in_order(node.sign, normal_form(node.left), normal_form(node.right))
        case language.Member() if len(node.items) == 1:
            return language.Compare("==", normal_form(node.element), node.items[0])
        case _:
            return replace(node, **{field.name: _normal_part(getattr(node, field.name)) for field in fields(node)})


def conjuncts(conditions: Iterable[language.Node]) -> tuple[language.Node, ...]:
    """The conditions, in normal form, that must all hold for a row where all of some others hold."""
    parts = tuple(map(normal_form, conditions))
    joined = _joined("and", parts) if parts else language.Logic("and", ())
    return joined.parts if isinstance(joined, language.Logic) and joined.word == "and" else (joined,)


def typed_text(node: language.Node, schema: Mapping[str, ColumnType]) -> str | list[str]:
    """The text of an expression, with the types that its undeclared columns are read as, which are not in the text alone."""
    columns = language.columns_of(node)
    readings = [column.type.value for column in columns if schema.get(column.name) is ColumnType.UNDECLARED]
    return [written(node), *readings] if readings else written(node)


def _joined(word: str, parts: Iterable[language.Node]) -> language.Node:
    flat: list[language.Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, language.Logic) and part.word == word else [part]
    ordered = sorted(dict.fromkeys(flat), key=_place)
    return ordered[0] if len(ordered) == 1 else language.Logic(word, tuple(ordered))


def _negated(node: language.Node) -> language.Node:
    """The opposite of a condition in normal form."""
    match node:
        case language.Not():
            return node.part
        case language.Compare():
            return language.Compare(_OPPOSITE[node.sign], node.left, node.right)
        case language.Logic():
            return _joined(_OTHER_WORD[node.word], map(_negated, node.parts))
        case _:
            return language.Not(node)


def _in_order(sign: str, left: language.Node, right: language.Node) -> language.Node:
    """A comparison; a literal stays on the right, and of two others the one whose text comes first stands on the left."""
    if isinstance(right, language.Literal) or _place(left) <= _place(right):
        return language.Compare(sign, left, right)
    return language.Compare(FLIPPED[sign], right, left)


def _normal_part(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_normal_part, part))
    return normal_form(part) if isinstance(part, language.Node) else part


def _place(node: language.Node) -> tuple[str, list[str]]:
    return written(node), [column.type.value for column in language.columns_of(node)]
