"""The canonical text of an expression: two that are the same but for spaces, quotes, brackets and the like are written alike.

What is written can be read again, and means the same.
"""

from __future__ import annotations

import keyword
import math
import unicodedata

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import language

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _MINUS, _POWER, _ATOM = range(10)  # the higher binds the tighter
_LOGIC = {"or": _OR, "and": _AND}
_ARITHMETIC = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT}
_INFINITE = "1e999"


def written(node: language.Node) -> str:
    """The text of an expression."""
    return _write(node)[0]


def column_name(name: str) -> str:
    """A column as it is written in an expression: bare where that can be read again, else `col('net income')`."""
    is_bare = name.isidentifier() and not keyword.iskeyword(name) and unicodedata.is_normalized("NFKC", name)
    return name if is_bare else f"col({name!r})"


def _write(node: language.Node) -> tuple[str, int]:
    """The text of a node, and how tightly its outermost sign binds."""
    match node:
        case language.Literal():
            text = _literal(node)
            return text, _MINUS if text.startswith("-") else _ATOM
        case language.ColumnReference():
            return column_name(node.name), _ATOM
        case language.Apply():
            return _apply(node)
        case language.Compare():
            return f"{_within(node.left, _SUM)} {node.sign} {_within(node.right, _SUM)}", _COMPARE
        case language.Member():
            return _member(node, "in"), _COMPARE
        case language.Logic():
            level = _LOGIC[node.word]
            return f" {node.word} ".join(_within(part, level + 1) for part in node.parts), level
        case language.Not():
            if isinstance(node.part, language.Member):
                return _member(node.part, "not in"), _COMPARE
            return f"not {_within(node.part, _NOT)}", _NOT
        case language.Missing():
            return f"missing({written(node.part)})", _ATOM
        case language.Choice():
            condition, then = _within(node.condition, _OR), _within(node.then, _OR)
            return f"{then} if {condition} else {_within(node.otherwise, _CHOICE)}", _CHOICE
        case language.Coalesce():
            return f"coalesce({', '.join(map(written, node.parts))})", _ATOM
        case _:
            return "None", _ATOM


def _apply(node: language.Apply) -> tuple[str, int]:
    texts = [*map(written, node.operands), *map(repr, node.constants)]
    if node.name == "**":
        return f"{_within(node.operands[0], _ATOM)} ** {texts[1]}", _POWER
    if node.name not in _ARITHMETIC:
        return f"{node.name}({', '.join(texts)})", _ATOM
    if len(node.operands) == 1:
        return f"-{_within(node.operands[0], _MINUS)}", _MINUS
    level = _ARITHMETIC[node.name]
    return f"{_within(node.operands[0], level)} {node.name} {_within(node.operands[1], level + 1)}", level


def _member(node: language.Member, word: str) -> str:
    return f"{_within(node.element, _SUM)} {word} [{', '.join(map(_literal, node.items))}]"


def _literal(node: language.Literal) -> str:
    if node.type is ColumnType.NUMBER and isinstance(node.value, float) and math.isinf(node.value):
        return _INFINITE if node.value > 0 else f"-{_INFINITE}"
    return repr(node.value)


def _within(node: language.Node, level: int) -> str:
    """The text of a node, in brackets where it binds less tightly than its place asks for."""
    text, own = _write(node)
    return text if own >= level else f"({text})"
