"""Agreement of types: what a place in an expression asks for, and what stands there.

An undeclared column takes the type that its place asks for; a text literal becomes a date where a date is asked for; booleans are
numbers. Everything else that does not agree is a complaint, from public types alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.dates import canonical_moment
from dpstats.engines.expressions.language import Choice, Coalesce, ColumnReference, Literal, Node, Nothing
from dpstats.engines.expressions.parsing import quoted, shortened
from dpstats.engines.expressions.writing import written
from dpstats.foundations.errors import DataTypeError, InvalidParameterError

_COLUMNS_OF = {
    ColumnType.NUMBER: "numbers",
    ColumnType.INTEGER: "whole numbers",
    ColumnType.BOOLEAN: "true and false",
    ColumnType.TEXT: "texts",
    ColumnType.MOMENT: "dates",
    ColumnType.UNDECLARED: "no declared type",
    ColumnType.OTHER: "nested or binary values",
}
_ONE = {
    ColumnType.NUMBER: "a number",
    ColumnType.INTEGER: "a number",
    ColumnType.BOOLEAN: "a condition",
    ColumnType.TEXT: "a text",
    ColumnType.MOMENT: "a date",
    ColumnType.UNDECLARED: "of no declared type",
}
_DECLARE = "declare {x} as {want} where the table is opened"
_ADVICE = {
    (ColumnType.NUMBER, ColumnType.BOOLEAN): "compare it with something, for example {x} != 0",
    (ColumnType.TEXT, ColumnType.BOOLEAN): "compare it with something, for example {x} == 'yes'",
    (ColumnType.MOMENT, ColumnType.BOOLEAN): "compare it with something, for example {x} >= '2024-01-31'",
    (ColumnType.MOMENT, ColumnType.NUMBER): "take year({x}), month({x}), day({x}), weekday({x}) or hour({x})",
    (ColumnType.MOMENT, ColumnType.TEXT): "dates are compared as they are, for example {x} >= '2024-01-31'",
}
_LITERAL_ADVICE = {
    ColumnType.NUMBER: "write the number without quotes",
    ColumnType.BOOLEAN: "write True or False",
    ColumnType.TEXT: "put it in quotes",
    ColumnType.MOMENT: "write a date like '2024-01-31' or '2024-01-31T12:00:00'",
}


def family(kind: ColumnType) -> ColumnType:
    """The type that stands for all that can be compared with this one."""
    return ColumnType.NUMBER if kind.is_numeric else kind


def read_as(node: Node, want: ColumnType, place: str) -> Node:
    """The node as its place asks for it, or a `DataTypeError`; `place` says who asks, as in "sqrt takes a number"."""
    if node.type is ColumnType.UNDECLARED:
        return _declared(node, want, place)
    if isinstance(node, Literal) and node.type is ColumnType.TEXT and want is ColumnType.MOMENT:
        return _moment(node)
    if family(node.type) is not family(want) or (want is ColumnType.BOOLEAN and node.type is not ColumnType.BOOLEAN):
        raise _disagreement(node, want, place)
    return node


def agree(nodes: Sequence[Node], place: str) -> tuple[Node, ...]:
    """Nodes that must be of one family, each as that; all undeclared where nothing says what they are."""
    kinds = {node.type for node in nodes} - {ColumnType.UNDECLARED}
    if ColumnType.OTHER in kinds:
        raise next(_disagreement(node, ColumnType.NUMBER, place) for node in nodes if node.type is ColumnType.OTHER)
    if not kinds:
        return tuple(nodes)
    if ColumnType.MOMENT in kinds and all(_can_be_a_moment(node) for node in nodes):
        want = ColumnType.MOMENT
    elif len(kinds) == 1:
        want = ColumnType.NUMBER if kinds == {ColumnType.INTEGER} else kinds.pop()
    elif all(kind.is_numeric for kind in kinds):
        want = ColumnType.NUMBER
    else:
        raise _mixture(nodes, place)
    return tuple(read_as(node, want, place) for node in nodes)


def described(node: Node) -> str:
    """A node and its type, for a message."""
    if isinstance(node, ColumnReference):
        if node.type is ColumnType.UNDECLARED:
            return f"column {shown(node.name)} has no declared type"
        return f"column {shown(node.name)} holds {_COLUMNS_OF[node.type]}"
    text = shortened(written(node)) if isinstance(node, Literal) else quoted(written(node))
    return f"{text} is {_ONE[node.type]}"


def _declared(node: Node, want: ColumnType, place: str) -> Node:
    match node:
        case ColumnReference() | Nothing():
            return replace(node, type=want)
        case Choice():
            then, otherwise = read_as(node.then, want, place), read_as(node.otherwise, want, place)
            return replace(node, then=then, otherwise=otherwise, type=want)
        case Coalesce():
            return replace(node, parts=tuple(read_as(part, want, place) for part in node.parts), type=want)
        case _:
            raise AssertionError("only columns, and what passes them on, can be undeclared")


def _can_be_a_moment(node: Node) -> bool:
    is_text = isinstance(node, Literal) and node.type is ColumnType.TEXT
    return is_text or node.type in (ColumnType.MOMENT, ColumnType.UNDECLARED)


def _moment(node: Literal) -> Literal:
    moment = canonical_moment(str(node.value))
    if moment is None:
        advice = _LITERAL_ADVICE[ColumnType.MOMENT]
        raise InvalidParameterError(f"{quoted(str(node.value))} is compared with a date and is none: {advice}.")
    return Literal(moment, ColumnType.MOMENT)


def _disagreement(node: Node, want: ColumnType, place: str) -> DataTypeError:
    return DataTypeError(f"{place}, and {described(node)}: {_advice(node, want)}.")


def _mixture(nodes: Sequence[Node], place: str) -> DataTypeError:
    typed = [node for node in nodes if node.type is not ColumnType.UNDECLARED]
    moment = next((node for node in typed if node.type is ColumnType.MOMENT), None)
    first = moment or typed[0]
    fits = _can_be_a_moment if moment else lambda node: family(node.type) is family(first.type)
    other = next(node for node in typed if not fits(node))
    culprit, want = (first, other.type) if isinstance(first, Literal) else (other, first.type)
    return DataTypeError(f"{place}, but {described(first)} and {described(other)}: {_advice(culprit, want)}.")


def _advice(node: Node, want: ColumnType) -> str:
    if node.type is ColumnType.OTHER:
        return "all that can be asked of it is missing(x)"
    if isinstance(node, Literal):
        return _LITERAL_ADVICE[family(want) if want is not ColumnType.BOOLEAN else want]
    advice = _ADVICE.get((family(node.type), want if want is ColumnType.BOOLEAN else family(want)))
    if advice is None:
        advice = _DECLARE if isinstance(node, ColumnReference) else "make both sides of one type"
    return advice.format(x=shortened(written(node)), want=family(want).value)
