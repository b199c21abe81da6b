"""A slow interpreter of expressions: one row at a time, in plain Python numbers, straight from the text's tree.

It shares no code with the one it is compared with, but for numpy's transcendental functions, whose last digits are numpy's own.
"""

from __future__ import annotations

import ast
import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context
from typing import Any

import numpy as np

NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True)
class Instant:
    """A moment: nanoseconds since 1970, and the unit that its column counts in."""

    nanoseconds: int
    unit: str


def nearest_float(value: Any) -> float:
    """A number as it is among floats."""
    if isinstance(value, float):
        return value + 0.0
    return float(value) if abs(value) <= 9_007_199_254_740_990 else float(Context(prec=15).create_decimal(int(value)))


def instant(text: str) -> Instant:
    moment = datetime.datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment
    since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    count = (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds
    return Instant(count * 1000, "D" if count % (86_400 * 10**6) == 0 else "us")


class Reference:
    """The value of expressions for one row; `units` holds the units of the columns of moments."""

    def __init__(self, row: Mapping[str, Any], units: Mapping[str, str]) -> None:
        self._row = row
        self._units = units

    def value(self, tree: ast.expr) -> Any:
        """None where missing or unknown."""
        found = self._value(tree)
        return None if isinstance(found, float) and math.isnan(found) else found

    def _value(self, tree: ast.expr) -> Any:
        match tree:
            case ast.Constant():
                return tree.value
            case ast.Name():
                return self._row[tree.id]
            case ast.UnaryOp(op=ast.Not()):
                part = self.value(tree.operand)
                return None if part is None else not part
            case ast.UnaryOp(op=ast.USub()):
                part = self.value(tree.operand)
                if _is_literal(tree.operand):
                    return -part
                return None if part is None else 0.0 - nearest_float(part)
            case ast.BinOp():
                return self._arithmetic(tree)
            case ast.BoolOp():
                parts = [self.value(part) for part in tree.values]
                decisive = isinstance(tree.op, ast.Or)
                if any(part is not None and bool(part) is decisive for part in parts):
                    return decisive
                return None if None in parts else not decisive
            case ast.Compare():
                return self._chain(tree)
            case ast.IfExp():
                condition = self.value(tree.test)
                chosen = tree.body if condition else tree.orelse
                return None if condition is None else self._as_result(self.value(chosen), tree)
            case ast.Call():
                return self._call(tree)
        raise AssertionError(ast.dump(tree))

    def _arithmetic(self, tree: ast.BinOp) -> float | None:
        left, right = self.value(tree.left), self.value(tree.right)
        if left is None or right is None:
            return None
        if isinstance(tree.op, ast.Pow):
            return _power(nearest_float(left), right)
        return _ARITHMETIC[type(tree.op)](nearest_float(left), nearest_float(right)) + 0.0

    def _chain(self, tree: ast.Compare) -> bool | None:
        sides = [tree.left, *tree.comparators]
        found = [self._comparison(*triple) for triple in zip(tree.ops, sides, sides[1:], strict=False)]
        return False if False in found else None if None in found else True

    def _comparison(self, sign: ast.cmpop, left: ast.expr, right: ast.expr) -> bool | None:
        if isinstance(sign, (ast.Is, ast.IsNot)):
            return (self.value(left) is None) is isinstance(sign, ast.Is)
        if isinstance(sign, (ast.In, ast.NotIn)):
            assert isinstance(right, ast.List)
            found = [self._comparison(ast.Eq(), left, item) for item in right.elts]
            return None if None in found else any(found) is isinstance(sign, ast.In)
        one, other = self.value(left), self.value(right)
        if one is None or other is None:
            return None
        if isinstance(one, Instant) or isinstance(other, Instant):
            one, other = ((instant(side) if isinstance(side, str) else side).nanoseconds for side in (one, other))
        elif not isinstance(one, str):
            exact = all(_is_literal(tree) or not isinstance(value, float) for tree, value in ((left, one), (right, other)))
            if not exact or (_is_literal(left) and _is_literal(right)):
                one, other = nearest_float(one), nearest_float(other)
        return _SIGNS[type(sign)](one, other)

    def _call(self, tree: ast.Call) -> Any:
        assert isinstance(tree.func, ast.Name)
        name, values = tree.func.id, [self.value(argument) for argument in tree.args]
        if name == "missing":
            return values[0] is None
        if name == "coalesce":
            results = [self._as_result(value, tree) for value in values if value is not None]
            return results[0] if results else None
        if None in values:
            return None
        if name in _OF_MOMENT:
            moment = instant(values[0]) if isinstance(values[0], str) else values[0]
            return nearest_float(_OF_MOMENT[name](moment.nanoseconds))
        if name == "round":
            return _rounded(nearest_float(values[0]), *values[1:]) + 0.0
        if name in _OF_TEXT:
            return _OF_TEXT[name](*values)
        return float(_OF_NUMBERS[name](*map(nearest_float, values))) + 0.0

    def _as_result(self, value: Any, tree: ast.expr) -> Any:
        """A value as one of several that a result is made of: numbers are floats there, and moments have one unit."""
        unit = self._unit(tree)
        if unit is not None and value is not None:
            count = (instant(value) if isinstance(value, str) else value).nanoseconds // NANOSECONDS[unit]
            return Instant(count * NANOSECONDS[unit], unit) if abs(count) < 2**63 else None
        return nearest_float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    def _unit(self, tree: ast.expr) -> str | None:
        """The unit of an expression of moments; None of others."""
        match tree:
            case ast.Name():
                return self._units.get(tree.id)
            case ast.IfExp():
                parts = [tree.body, tree.orelse]
            case ast.Call(func=ast.Name(id="coalesce")):
                parts = tree.args
            case _:
                return None
        units = {self._unit(part) for part in parts} - {None}
        if not units:
            return None
        units |= {instant(part.value).unit for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
        known = [unit for unit in units if unit is not None]
        if len(known) == 1:
            return known[0]
        return min(("us" if unit == "ns" else unit for unit in known), key=NANOSECONDS.__getitem__)


def _is_literal(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) or (isinstance(tree, ast.UnaryOp) and isinstance(tree.operand, ast.Constant))


def _divided(left: float, right: float) -> float:
    if right == 0:
        return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left)
    return left / right


def _power(base: float, exponent: int) -> float:
    if exponent == 0:
        return 1.0
    root = _power(base, exponent // 2)
    return root * root * base if exponent % 2 else root * root


def _rounded(value: float, digits: int = 0) -> float:
    scale = 10.0 ** abs(digits)
    scaled = value * scale if digits >= 0 else value / scale
    if not abs(scaled) < 2**52:
        return value
    return round(scaled) / scale if digits >= 0 else round(scaled) * scale


def _numpy(function: Callable[[Any], Any]) -> Callable[[float], float]:
    def of_one(value: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(np.array([value]))[0])

    return of_one


def _date(nanoseconds: int) -> tuple[int, datetime.date]:
    """How many times 400 years to add, and a date in the years that Python has."""
    days = nanoseconds // NANOSECONDS["D"] - datetime.date(2000, 1, 1).toordinal() + datetime.date(1970, 1, 1).toordinal()
    eras, rest = divmod(days, 146_097)
    return eras, datetime.date(2000, 1, 1) + datetime.timedelta(rest)


_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _divided,
    ast.FloorDiv: lambda a, b: a // b if b else _divided(a, b),
    ast.Mod: lambda a, b: a % b if b else math.nan,
}
_SIGNS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}
_OF_NUMBERS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "sqrt": lambda value: math.sqrt(value) if value >= 0 else math.nan,
    **{name: _numpy(getattr(np, name)) for name in ("log", "log10", "log1p", "exp")},
    "floor": lambda value: math.floor(value) if math.isfinite(value) else value,
    "ceil": lambda value: math.ceil(value) if math.isfinite(value) else value,
    "min": min,
    "max": max,
}
_OF_TEXT: dict[str, Callable[..., Any]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "length": lambda text: float(len(text)),
    "startswith": lambda text, piece: text[: len(piece)] == piece,
    "endswith": lambda text, piece: not piece or text[-len(piece) :] == piece,
    "contains": lambda text, piece: text.find(piece) >= 0,
}
_OF_MOMENT: dict[str, Callable[[int], int]] = {
    "year": lambda count: 400 * _date(count)[0] + _date(count)[1].year,
    "month": lambda count: _date(count)[1].month,
    "day": lambda count: _date(count)[1].day,
    "weekday": lambda count: _date(count)[1].isoweekday(),
    "hour": lambda count: count // (3600 * 10**9) % 24,
}
