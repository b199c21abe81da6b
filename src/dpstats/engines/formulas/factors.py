"""The factors of a formula, read in the language of expressions: numbers, or categories with public levels.

Claim      A factor's value for a row depends on that row alone, and no value can make it fail
Why        It is a node of that language (expressions/expression.py). A category becomes one column of 0 and 1 for each of its
           levels; levels are public, or chosen privately beforehand. A row with any other label is missing in each of them
"""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, shown
from dpstats.engines.expressions import language, parse_expression
from dpstats.engines.expressions.agreement import agree
from dpstats.engines.expressions.parsing import parse_text, quoted
from dpstats.engines.expressions.writing import written
from dpstats.engines.formulas.parse import Factor
from dpstats.engines.moments import moment_text
from dpstats.foundations.errors import DataTypeError, InvalidParameterError

_BACKTICKS = re.compile(r"`([^`]*)`")
_ALL_ROWS = frozenset({"center", "scale", "standardize", "poly", "bs", "cs", "cr", "cc", "te", "lag", "rank", "demean"})
_ONE_ROW = "a factor sees one row at a time: write a column, C(region), or an expression such as log(age) or I(age ** 2)"
MOST_LEVELS = 1000
_USAGE = "C is written like C(region) or C(region, levels=['north', 'south']), the first level being the reference"


@dataclass(frozen=True)
class NumberFactor:
    """A number for each row."""

    name: str
    node: language.Node


@dataclass(frozen=True)
class CategoryFactor:
    """A label for each row, one of some levels; the first of them is the reference."""

    name: str
    """As the formula has it, without its levels."""
    node: language.Node
    levels: tuple[language.Literal, ...] | None = None
    """In their order; None where they are not known."""

    @property
    def key(self) -> str:
        """What its levels are given for: the column, or the expression behind it."""
        return self.node.name if isinstance(self.node, language.ColumnReference) else written(self.node)

    def with_levels(self, levels: Any) -> CategoryFactor:
        """With these levels, in this order; an error where they are no labels of its type."""
        place = f"the levels of {shown(self.key)} must be of its type"
        node, *literals = agree([self.node, *(_literal(level, self.key) for level in _listed(levels, self.key))], place)
        found = tuple(literal for literal in literals if isinstance(literal, language.Literal))
        if len({literal.value for literal in found}) < len(found):
            raise InvalidParameterError(f"the levels of {shown(self.key)} must be different.")
        return replace(self, node=node, levels=found)

    def indicators(self, *, full: bool) -> dict[str, language.Node]:
        """A condition for each level by name, true in rows that have it; without the reference unless `full`."""
        levels = self.levels or ()
        return {
            f"{self.name}[{'' if full else 'T.'}{shown(level.value)}]": self._indicator(level)
            for level in (levels if full else levels[1:])
        }

    def _indicator(self, level: language.Literal) -> language.Node:
        levels = self.levels or ()
        if self.node.type is ColumnType.BOOLEAN and {each.value for each in levels} == {False, True}:
            return self.node if level.value else language.Not(self.node)
        listed = language.Member(self.node, tuple(sorted(levels, key=lambda each: each.value)))
        return language.Choice(
            listed, language.Compare("==", self.node, level), language.Nothing(ColumnType.BOOLEAN), ColumnType.BOOLEAN
        )

    def describe(self) -> str:
        """The levels in words."""
        first, *others = (shown(level.value) for level in self.levels or ())
        return f"{self.key}: {', '.join([f'{first} (reference)', *others])}"


def read_factor(factor: Factor, schema: Mapping[str, ColumnType]) -> NumberFactor | CategoryFactor:
    """A factor of a formula on columns with these types; an error with what to write instead where it is none."""
    if factor.is_name:
        return _typed(factor.text, _column(factor.text, schema), factor.text)
    text = _BACKTICKS.sub(lambda found: f"col({found[1]!r})", factor.text)
    tree = parse_text(text)
    called = tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""
    if isinstance(tree, ast.Call) and called == "C":
        return _category(tree, schema)
    if isinstance(tree, ast.Call) and called in ("I", "Q") and len(tree.args) == 1 and not tree.keywords:
        if called == "Q" and isinstance(tree.args[0], ast.Constant) and isinstance(tree.args[0].value, str):
            name = tree.args[0].value
            return _typed(name, _column(name, schema), factor.text)
        tree = tree.args[0]
    return _typed(factor.text, _element(tree, schema, factor.text), factor.text)


def _typed(name: str, node: language.Node, text: str) -> NumberFactor | CategoryFactor:
    if node.type is ColumnType.BOOLEAN:
        return CategoryFactor(name, node).with_levels((False, True))
    if node.type is ColumnType.TEXT:
        return CategoryFactor(name, node)
    if node.type is ColumnType.UNDECLARED and isinstance(node, language.ColumnReference):
        return NumberFactor(name, replace(node, type=ColumnType.NUMBER))
    if node.type.is_numeric:
        return NumberFactor(name, node)
    way_on = f": write year({text}), or C({text}) for its labels" if node.type is ColumnType.MOMENT else ""
    raise DataTypeError(f"{quoted(text)} is of type {node.type.value} and cannot be a factor{way_on}.")


def _category(call: ast.Call, schema: Mapping[str, ColumnType]) -> CategoryFactor:
    if len(call.args) != 1 or any(keyword.arg != "levels" for keyword in call.keywords) or len(call.keywords) > 1:
        raise InvalidParameterError(f"{_USAGE}.")
    inner = ast.unparse(call.args[0])
    node = _element(call.args[0], schema, f"C({inner})")
    if node.type is ColumnType.OTHER:
        raise DataTypeError(f"C cannot read {quoted(inner)}: its type is nested or binary.")
    category = CategoryFactor(f"C({written(node)})", node)
    if call.keywords:
        try:
            levels = ast.literal_eval(call.keywords[0].value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise InvalidParameterError(f"{_USAGE}.") from None
        return category.with_levels(levels)
    return category.with_levels((False, True)) if node.type is ColumnType.BOOLEAN else category


def _element(tree: ast.expr, schema: Mapping[str, ColumnType], text: str) -> language.Node:
    """What an expression says of a row; a column alone may be of any type."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) in _ALL_ROWS:
            raise InvalidParameterError(f"{quoted(text)} would look at all rows, and {_ONE_ROW}.")
        if isinstance(node, ast.Attribute):
            raise InvalidParameterError(f"{quoted(text)} is no factor: {_ONE_ROW}.")
    if isinstance(tree, ast.Name):
        return _column(tree.id, schema)
    if isinstance(tree, ast.Call) and _last_name(tree.func) == "col" and len(tree.args) == 1:
        only = tree.args[0]
        if isinstance(only, ast.Constant) and isinstance(only.value, str):
            return _column(only.value, schema)
    return parse_expression(ast.unparse(tree), schema).node


def _column(name: str, schema: Mapping[str, ColumnType]) -> language.ColumnReference:
    check_column_name(name, list(schema))
    return language.ColumnReference(name, schema[name])


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _listed(levels: Any, key: str) -> Sequence[Any]:
    if isinstance(levels, np.ndarray) and levels.ndim == 1:
        levels = levels.tolist()
    if not isinstance(levels, Sequence) or isinstance(levels, (str, bytes)) or not levels:
        raise InvalidParameterError(f"the levels of {shown(key)} must be a list, such as ['north', 'south'].")
    if len(levels) > MOST_LEVELS:
        raise InvalidParameterError(f"the levels of {shown(key)} may be {MOST_LEVELS} at most.")
    return levels


def _literal(level: Any, key: str) -> language.Literal:
    if isinstance(level, np.generic):
        level = level.item()
    if isinstance(level, bool):
        return language.Literal(level, ColumnType.BOOLEAN)
    if isinstance(level, str):
        return language.Literal(str(level), ColumnType.TEXT)
    if isinstance(level, (int, float)) and level == level:
        return language.number_literal(level)
    if isinstance(level, datetime.date) and (text := moment_text(level)) is not None:
        return language.Literal(text, ColumnType.TEXT)
    raise InvalidParameterError(f"the levels of {shown(key)} must be texts, numbers, dates, or True and False.")
