"""The functions of the language: what each takes, what it gives, how it is computed and how it is called."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions import dates, numbers
from dpstats.engines.expressions.language import Literal
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError

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
    "min": _of_numbers(lambda *values: reduce(np.minimum, values), 2, _MANY),
    "max": _of_numbers(lambda *values: reduce(np.maximum, values), 2, _MANY),
    "lower": _of_text(str.lower, ColumnType.TEXT),
    "upper": _of_text(str.upper, ColumnType.TEXT),
    "strip": _of_text(str.strip, ColumnType.TEXT),
    "length": _of_text(len, ColumnType.NUMBER),
    "startswith": _of_text(str.startswith, ColumnType.BOOLEAN, _PIECE),
    "endswith": _of_text(str.endswith, ColumnType.BOOLEAN, _PIECE),
    "contains": _of_text(operator.contains, ColumnType.BOOLEAN, _PIECE),
    "year": _of_moment(lambda moments: dates.civil(moments)[0]),
    "month": _of_moment(lambda moments: dates.civil(moments)[1]),
    "day": _of_moment(lambda moments: dates.civil(moments)[2]),
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

SPECIAL = ("coalesce", "col", "missing")
"""What is called like a function, and is built in."""
_INSTEAD = {
    **dict.fromkeys(("isnull", "is_null", "isna", "isnan", "is_nan"), "write missing(x)"),
    **dict.fromkeys(("notna", "notnull", "not_null", "is_not_null"), "write not missing(x)"),
    **dict.fromkeys(("ifnull", "nvl", "fillna", "fill_null"), "write coalesce(x, 0)"),
    **dict.fromkeys(("len", "char_length"), "write length(x)"),
    **dict.fromkeys(("pow", "power"), "write x ** 2"),
    **dict.fromkeys(("isin", "is_in"), "write x in [1, 2]"),
    **dict.fromkeys(("clip", "clamp"), "write min(max(x, 0), 100)"),
    **dict.fromkeys(("where", "when", "iif", "ifelse"), "write a if condition else b"),
    **dict.fromkeys(("least", "greatest"), "write min(a, b) or max(a, b)"),
    **dict.fromkeys(("float", "int", "str", "cast", "to_number"), "declare the type of a column where the table is opened"),
    **dict.fromkeys(("mean", "sum", "avg", "median", "count", "std"), "an expression sees one row: ask statistics of the table"),
    "ln": "write log(x)",
    "ceiling": "write ceil(x)",
    "trim": "write strip(x)",
    "dayofweek": "write weekday(x)",
}


def find_function(name: str) -> Function:
    """A function by its name, or an error with what there is instead."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name.lower() in _INSTEAD:
        raise UnknownNameError(f"there is no function {shown(name)}; {_INSTEAD[name.lower()]}.")
    known = sorted([*FUNCTIONS, *SPECIAL])
    near = get_close_matches(name.lower(), known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownNameError(f"there is no function {shown(name)}; the functions are {', '.join(known)}.{hint}")


def plain_arguments(call: ast.Call, name: str) -> list[ast.expr]:
    """The arguments of a call, none of them with a name or a star."""
    if call.keywords or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise InvalidParameterError(f"{name} takes its arguments by place only: write {name}(...) without names and stars.")
    return call.args


def split_arguments(function: Function, name: str, arguments: Sequence[ast.expr]) -> tuple[Sequence[ast.expr], ast.expr | None]:
    """The operands of a call and its constant, if it has one."""
    operands, constant = arguments, None
    if function.constant is not None and len(arguments) > function.most:
        operands, constant = arguments[: function.most], arguments[function.most]
    is_short = function.constant is not None and constant is None and not function.constant.optional
    surplus = len(arguments) - len(operands) - (constant is not None)
    if is_short or surplus or not function.fewest <= len(operands) <= function.most:
        raise InvalidParameterError(f"{name} is written like {_usage(name, function)}.")
    return operands, constant


def constant_value(constant: Constant, literal: object, name: str) -> int | str:
    """The value of an argument that must be written out."""
    if isinstance(literal, Literal):
        if constant.is_text and isinstance(literal.value, str):
            return literal.value
        if not constant.is_text and type(literal.value) is int and constant.lowest <= literal.value <= constant.highest:
            return literal.value
    wanted = "a text in quotes" if constant.is_text else f"a whole number from {constant.lowest} to {constant.highest}"
    raise InvalidParameterError(f"the {constant.what} of {name} must be {wanted}, the same for all rows.")


def _usage(name: str, function: Function) -> str:
    if function.fewest > 1:
        return f"{name}(a, b) or {name}(a, b, c)"
    if function.constant is None:
        return f"{name}(x)"
    return f"{name}(x, 'piece')" if function.constant.is_text else f"{name}(x) or {name}(x, 2)"
