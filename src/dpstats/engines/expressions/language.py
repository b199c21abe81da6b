"""The nodes of an expression: what it says, taken apart, checked and typed.

They are plain, frozen values, so that an expression can be compared, hashed and shipped to wherever the rows are. The type of a
node is that of its result; an undeclared column has no type until its use gives it one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

from dpstats.engines.cells import ColumnType
from dpstats.foundations.units import LARGEST_EXACT


@dataclass(frozen=True)
class Literal:
    """A number, a truth value, a text, or a moment as ISO text in UTC."""

    value: int | float | str
    type: ColumnType


@dataclass(frozen=True)
class Nothing:
    """A missing value of some type."""

    type: ColumnType


@dataclass(frozen=True)
class ColumnReference:
    """A column, read as that type."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class Apply:
    """A function or an arithmetic sign, on operands that vary from row to row and on constants that do not."""

    name: str
    operands: tuple[Node, ...]
    constants: tuple[int | str, ...]
    type: ColumnType


@dataclass(frozen=True)
class Compare:
    """Two values of one family, compared. A literal stands on the right."""

    sign: str
    left: Node
    right: Node
    type: ClassVar[ColumnType] = ColumnType.BOOLEAN


@dataclass(frozen=True)
class Member:
    """Whether a value is one of some literals, which are distinct and in order."""

    element: Node
    items: tuple[Literal, ...]
    type: ClassVar[ColumnType] = ColumnType.BOOLEAN


@dataclass(frozen=True)
class Logic:
    """Conditions joined by `and`, or by `or`; none of them is joined by the same word."""

    word: str
    parts: tuple[Node, ...]
    type: ClassVar[ColumnType] = ColumnType.BOOLEAN


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: Node
    type: ClassVar[ColumnType] = ColumnType.BOOLEAN


@dataclass(frozen=True)
class Missing:
    """Whether a value is missing, which is always known."""

    part: Node
    type: ClassVar[ColumnType] = ColumnType.BOOLEAN


@dataclass(frozen=True)
class Choice:
    """One of two values, by a condition; missing where the condition is unknown."""

    condition: Node
    then: Node
    otherwise: Node
    type: ColumnType


@dataclass(frozen=True)
class Coalesce:
    """The first of some values that is not missing."""

    parts: tuple[Node, ...]
    type: ColumnType


Node = Literal | Nothing | ColumnReference | Apply | Compare | Member | Logic | Not | Missing | Choice | Coalesce


def number_literal(value: int | float) -> Literal:
    """A number in its one spelling: whole where it is whole and floats are exact there."""
    is_whole = math.isfinite(value) and abs(value) <= LARGEST_EXACT and value == int(value)
    return Literal(int(value) if is_whole else value, ColumnType.NUMBER)


def columns_of(node: Node) -> Iterator[ColumnReference]:
    """The columns of an expression as they are read, in the order of the text, as often as they stand there."""
    if isinstance(node, ColumnReference):
        yield node
    for held in (getattr(node, field.name) for field in fields(node)):
        for part in held if isinstance(held, tuple) else (held,):
            if isinstance(part, Node):
                yield from columns_of(part)
