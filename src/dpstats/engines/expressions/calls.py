"""Calls of functions: what a function is given, checked against what it takes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import get_close_matches

from dpstats.engines.complaints import shown
from dpstats.engines.expressions.functions import FUNCTIONS, Constant, Function
from dpstats.engines.expressions.language import Literal
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError

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
