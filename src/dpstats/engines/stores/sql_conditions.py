"""Conditions in SQL: those that a database checks exactly as they are checked here (filtering.py says why that is so)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions.comparisons import settled_cut
from dpstats.engines.expressions.language import ColumnReference, Compare, Literal, Logic, Member, Node
from dpstats.engines.stores.filtering import SqlColumn

NUMERIC = (ColumnType.NUMBER, ColumnType.INTEGER)
_SQL_SIGNS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}
_SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)


def sql_of(node: Node, column: Callable[[str], SqlColumn | None]) -> str | None:
    """A condition in SQL that is true of the very rows of which the node certainly holds, and fails on none; None without one.

    `column` tells what a column is there; None where it cannot be compared.
    """
    match node:
        case Logic(word, parts):
            texts = [sql_of(part, column) for part in parts]
            return None if None in texts else f"({f' {word.upper()} '.join(filter(None, texts))})"
        case Compare(sign, ColumnReference() as left, Literal() as right):
            return _compared(sign, left, [right], column)
        case Member(ColumnReference() as left, items):
            return _compared("==", left, items, column)
        case _:
            return None


def _compared(
    sign: str, left: ColumnReference, literals: list[Literal] | tuple[Literal, ...], column: Callable[[str], SqlColumn | None]
) -> str | None:
    """Whether a column compares so with one of some literals."""
    there = column(left.name)
    if there is None:
        return None
    if there.dtype is None:
        texts = [_compared_text(sign, left, literal, there) for literal in literals]
    else:
        texts = [_compared_number(sign, left, literal, there.text, there.dtype) for literal in literals]
    return None if None in texts else f"({' OR '.join(filter(None, texts)) or 'FALSE'})"


def _compared_number(sign: str, left: ColumnReference, literal: Literal, text: str, dtype: np.dtype[Any]) -> str | None:
    if left.type not in NUMERIC or literal.type not in NUMERIC or isinstance(literal.value, (bool, str)):
        return None
    present = f"{text} IS NOT NULL" if dtype.kind in "iu" else f"{text} <> 'NaN'::float8"
    found = settled_cut(sign, literal.value, dtype)
    if isinstance(found, bool):
        return present if found else "FALSE"
    sign, edge = found
    value = edge.item()
    if isinstance(value, int):
        return f"{text} {_SQL_SIGNS[sign]} '{value}'::int8" if -(2**63) <= value < 2**63 else None
    if math.isnan(value) or 0 < abs(value) < _SMALLEST_NORMAL:
        return None
    written = repr(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    return f"({text} {_SQL_SIGNS[sign]} '{written}'::float8 AND {present})"


def _compared_text(sign: str, left: ColumnReference, literal: Literal, there: SqlColumn) -> str | None:
    if left.type is not ColumnType.TEXT or literal.type is not ColumnType.TEXT or sign not in ("==", "!="):
        return None
    value = str(literal.value)
    if not value.isprintable() or "\\" in value:  # bytes that no text there can hold, or that a setting gives a meaning
        return None
    quoted = value.replace("'", "''")
    return f"{there.text} {_SQL_SIGNS[sign]} '{quoted}'"
