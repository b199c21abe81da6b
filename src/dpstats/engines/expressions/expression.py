"""An expression: a condition on rows, or a column derived from others, in a small language of its own.

Claim      Its value for a row depends on that row alone, and no value can make it fail: rows can be kept by it, and columns
           derived, at no cost in privacy.
Why        The text is taken apart by Python's parser and never evaluated by Python; names and types are checked against the
           public schema when the expression is built, and every complaint is raised there; evaluation is total
           (see `evaluation.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType
from dpstats.engines.expressions.agreement import described, read_as
from dpstats.engines.expressions.building import Builder
from dpstats.engines.expressions.evaluation import Read, cells_of, truth_of
from dpstats.engines.expressions.language import Node, columns_of
from dpstats.engines.expressions.parsing import parse_text, quoted
from dpstats.engines.expressions.writing import written
from dpstats.foundations.errors import DataTypeError, InvalidParameterError


@dataclass(frozen=True)
class Expression:
    """A checked expression on the columns of one schema; equal ones say the same."""

    node: Node

    @property
    def type(self) -> ColumnType:
        """The type of its value."""
        return self.node.type

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """The columns that it reads, each with the type that it is read as; a column may be read in two ways."""
        return tuple(dict.fromkeys((column.name, column.type) for column in columns_of(self.node)))

    def cells(self, read: Read) -> Cells:
        """Its value for every row of a batch, whose columns `read` hands out."""
        with np.errstate(all="ignore"):
            return cells_of(self.node, read)

    def mask(self, read: Read) -> NDArray[np.bool_]:
        """Of a condition: the rows of a batch where it certainly holds."""
        if self.type is not ColumnType.BOOLEAN:
            raise DataTypeError(f"{quoted(str(self))} is not a condition.")
        with np.errstate(all="ignore"):
            return truth_of(self.node, read).raw_yes

    def __str__(self) -> str:
        return written(self.node)


def parse_expression(text: str, schema: Mapping[str, ColumnType]) -> Expression:
    """The expression that a text says of columns with these declared types.

    Raises `InvalidParameterError`, `UnknownNameError` or `DataTypeError` with what to write instead.
    """
    node = _built(text, schema)
    if node.type is ColumnType.UNDECLARED:
        raise DataTypeError(
            f"{described(node)}, and nothing here says how to read it: declare its type where the table is opened."
        )
    if node.type is ColumnType.OTHER:
        raise DataTypeError(f"{described(node)}: all that can be asked of it is missing(x).")
    return Expression(node)


def condition(text: str, schema: Mapping[str, ColumnType], place: str = "where takes a condition") -> Expression:
    """The expression that a text says of columns with these declared types, which must be true or false of a row.

    `place` says who asks for it, for complaints.
    """
    return Expression(read_as(_built(text, schema), ColumnType.BOOLEAN, place))


def _built(text: str, schema: Mapping[str, ColumnType]) -> Node:
    tree = parse_text(text)
    readings = _readings(Builder(text, schema, {}).node(tree))
    node = Builder(text, schema, readings).node(tree)
    if next(columns_of(node), None) is None:
        raise InvalidParameterError(f"the expression {quoted(text)} names no column, so that it says the same of every row.")
    return node


def _readings(node: Node) -> dict[str, ColumnType]:
    """How undeclared columns are read that are asked whether they are missing: as elsewhere, or as text where that is unclear."""
    elsewhere: dict[str, set[ColumnType]] = {}
    for column in columns_of(node):
        elsewhere.setdefault(column.name, set()).add(column.type)
    return {
        name: (kinds - {ColumnType.UNDECLARED}).pop() if len(kinds) == 2 else ColumnType.TEXT
        for name, kinds in elsewhere.items()
        if ColumnType.UNDECLARED in kinds
    }
