"""The functions of the language: what each takes, what it gives and how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import dates, numbers, texts

_MANY = 1000


@dataclass(frozen=True)
class Constant:
    """An argument of a function that must be written out, because it may not vary from row to row."""

    what: str
    is_text: bool = False
    lowest: int = 0
    highest: int = 0
    optional: bool = False


@dataclass(frozen=True)
class Function:
    """A function on operands of one type, each row by itself.

    On numbers and moments `compute` takes whole columns, on texts one text at a time; constants follow the operands.
    """

    takes: ColumnType
    gives: ColumnType
    compute: Callable[..., Any]
    fewest: int = 1
    most: int = 1
    constant: Constant | None = None


def _of_numbers(compute: Callable[..., Any], fewest: int = 1, most: int = 1, constant: Constant | None = None) -> Function:
    return Function(ColumnType.NUMBER, ColumnType.NUMBER, compute, fewest, most, constant)


def _of_text(compute: Callable[..., Any], gives: ColumnType, constant: Constant | None = None) -> Function:
    return Function(ColumnType.TEXT, gives, compute, constant=constant)


def _of_moment(compute: Callable[..., Any]) -> Function:
    return Function(ColumnType.MOMENT, ColumnType.NUMBER, compute)


_DIGITS = Constant("number of digits", lowest=-numbers.MOST_DIGITS, highest=numbers.MOST_DIGITS, optional=True)
_PIECE = Constant("piece of text", is_text=True)

FUNCTIONS = {
    "abs": _of_numbers(np.abs),
    "sqrt": _of_numbers(np.sqrt),
    "log": _of_numbers(np.log),
    "log10": _of_numbers(np.log10),
    "log1p": _of_numbers(np.log1p),
    "exp": _of_numbers(np.exp),
    "floor": _of_numbers(np.floor),
    "ceil": _of_numbers(np.ceil),
    "round": _of_numbers(numbers.rounded, constant=_DIGITS),
    "min": _of_numbers(numbers.smallest, 2, _MANY),
    "max": _of_numbers(numbers.largest, 2, _MANY),
    "lower": _of_text(str.lower, ColumnType.TEXT),
    "upper": _of_text(str.upper, ColumnType.TEXT),
    "strip": _of_text(str.strip, ColumnType.TEXT),
    "length": _of_text(texts.length, ColumnType.NUMBER),
    "startswith": _of_text(str.startswith, ColumnType.BOOLEAN, _PIECE),
    "endswith": _of_text(str.endswith, ColumnType.BOOLEAN, _PIECE),
    "contains": _of_text(texts.contains, ColumnType.BOOLEAN, _PIECE),
    "year": _of_moment(dates.year),
    "month": _of_moment(dates.month),
    "day": _of_moment(dates.day),
    "weekday": _of_moment(dates.weekday),
    "hour": _of_moment(dates.hour),
}
"""By the name that is called."""

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": numbers.power,
}
"""By the sign between two numbers; the exponent of a power is a constant."""
