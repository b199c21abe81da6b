"""An expression built from its tree: names looked up, types made to agree, everything checked against the public schema."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name
from dpstats.engines.expressions import language
from dpstats.engines.expressions.agreement import agree, read_as
from dpstats.engines.expressions.functions import Constant, constant_value, find_function, plain_arguments, split_arguments
from dpstats.engines.expressions.numbers import HIGHEST_POWER
from dpstats.engines.expressions.parsing import is_none, quoted, source_of
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError

MOST_ITEMS = 1_000
_ARITHMETIC: dict[type[ast.operator], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"},
}
_SIGNS: dict[type[ast.cmpop], str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_EXPONENT = Constant("exponent", lowest=0, highest=HIGHEST_POWER)
_MEANT = {"true": "True", "false": "False", "null": "missing(x)", "none": "missing(x)", "nan": "missing(x)", "inf": "1e999"}
_GROUPING = (
    "& and | bind tighter than comparisons, so that age > 30 & x means age > (30 & x), and ~ is like them: "
    "use and, or, not instead, or put each comparison in brackets"
)
_NONE = "None is not a value to compare or to count with: write missing(x) or x is None"


class Builder:
    """Builds the nodes of one text; `readings` says how undeclared columns are read by the rest of it."""

    def __init__(self, text: str, schema: Mapping[str, ColumnType], readings: Mapping[str, ColumnType]) -> None:
        self._source = source_of(text)
        self._schema = schema
        self._readings = readings
        self._builders: dict[type[ast.expr], Callable[..., language.Node]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._logic,
            ast.Compare: self._comparisons,
            ast.IfExp: self._choice,
            ast.Call: self._call,
        }

    def node(self, tree: ast.expr) -> language.Node:
        """The node of a tree."""
        build = self._builders.get(type(tree))
        if build is None:
            raise self._foreign(tree)
        return build(tree)

    def _number(self, tree: ast.expr, place: str) -> language.Node:
        return read_as(self.node(tree), ColumnType.NUMBER, place)

    def _condition(self, tree: ast.expr, place: str) -> language.Node:
        return read_as(self.node(tree), ColumnType.BOOLEAN, place)

    def _constant(self, tree: ast.Constant) -> language.Node:
        value = tree.value
        if isinstance(value, bool):
            return language.Literal(value, ColumnType.BOOLEAN)
        if isinstance(value, str):
            if any("\ud800" <= character <= "\udfff" for character in value):  # a surrogate that stands alone
                raise InvalidParameterError(f"the text {quoted(value)} holds half of a character: no text in a table does.")
            return language.Literal(value, ColumnType.TEXT)
        if isinstance(value, (int, float)):
            return language.number_literal(value)
        if value is None:
            raise InvalidParameterError(f"{_NONE}.")
        raise self._foreign(tree)

    def _name(self, tree: ast.Name) -> language.Node:
        # Python's parser turns names into one of several spellings of the same letters; the text has the one that was meant
        name = tree.id if tree.id.isascii() and self._source.isascii() else ast.get_source_segment(self._source, tree) or tree.id
        if name not in self._schema and name.lower() in _MEANT:
            raise InvalidParameterError(f"there is no column {name}; write {_MEANT[name.lower()]}.")
        return self._column(name)

    def _column(self, name: str) -> language.ColumnReference:
        try:
            check_column_name(name, list(self._schema))
        except UnknownNameError as error:
            raise UnknownNameError(f"{error} A text goes in quotes: {name!r}.") from None
        return language.ColumnReference(name, self._schema[name])

    def _unary(self, tree: ast.UnaryOp) -> language.Node:
        if isinstance(tree.op, (ast.Not, ast.Invert)):
            part = self._condition(tree.operand, "not takes a condition")
            return part.part if isinstance(part, language.Not) else language.Not(part)
        operand = self._number(tree.operand, "a sign stands before a number")
        if isinstance(tree.op, ast.UAdd):
            return operand
        if isinstance(operand, language.Literal) and not isinstance(operand.value, (str, bool)):
            return language.number_literal(-operand.value)
        return language.Apply("-", (operand,), (), ColumnType.NUMBER)

    def _binary(self, tree: ast.BinOp) -> language.Node:
        if isinstance(tree.op, (ast.BitAnd, ast.BitOr)):
            word = "and" if isinstance(tree.op, ast.BitAnd) else "or"
            place = f"{_GROUPING}. Here a condition is needed"
            return _joined(word, [self._condition(side, place) for side in (tree.left, tree.right)])
        if isinstance(tree.op, ast.Pow):
            base, exponent = self._number(tree.left, "** takes a number"), self.node(tree.right)
            return language.Apply("**", (base,), (constant_value(_EXPONENT, exponent, "**"),), ColumnType.NUMBER)
        sign = _ARITHMETIC.get(type(tree.op))
        if sign is None:
            raise self._foreign(tree)
        operands = tuple(self._number(side, f"{sign} takes numbers") for side in (tree.left, tree.right))
        return language.Apply(sign, operands, (), ColumnType.NUMBER)

    def _logic(self, tree: ast.BoolOp) -> language.Node:
        word = "and" if isinstance(tree.op, ast.And) else "or"
        return _joined(word, [self._condition(part, f"{word} joins conditions") for part in tree.values])

    def _comparisons(self, tree: ast.Compare) -> language.Node:
        sides = [tree.left, *tree.comparators]
        if any(isinstance(getattr(side, "op", None), (ast.BitAnd, ast.BitOr, ast.Invert)) for side in sides):
            raise InvalidParameterError(f"{_GROUPING}.")
        if len(tree.ops) == 1:
            return self._comparison(tree.ops[0], *sides)
        if not all(type(sign) in _SIGNS for sign in tree.ops):
            raise InvalidParameterError("in and is stand alone and in no chain of comparisons: join them with and.")
        if any(isinstance(node, ast.Compare) and len(node.ops) > 1 for side in sides for node in ast.walk(side)):
            raise InvalidParameterError("a chain of comparisons may not stand within another: join comparisons with and.")
        return _joined("and", [self._comparison(sign, *pair) for sign, *pair in zip(tree.ops, sides, sides[1:], strict=False)])

    def _comparison(self, sign: ast.cmpop, left: ast.expr, right: ast.expr) -> language.Node:
        if isinstance(sign, (ast.In, ast.NotIn)):
            member = self._member(left, right)
            return member if isinstance(sign, ast.In) else language.Not(member)
        if isinstance(sign, (ast.Is, ast.IsNot)):
            if not is_none(right):
                raise InvalidParameterError("is stands before None only: write == to compare.")
            missing = self._missing(left)
            return missing if isinstance(sign, ast.Is) else language.Not(missing)
        pair = agree([self.node(left), self.node(right)], "a comparison needs two sides of one type")
        is_open = pair[0].type is ColumnType.UNDECLARED  # then so is the other
        one, other = (read_as(side, ColumnType.NUMBER, "a comparison") if is_open else side for side in pair)
        text = _SIGNS[type(sign)]
        if isinstance(one, language.Literal) and not isinstance(other, language.Literal):
            return language.Compare(FLIPPED[text], other, one)
        return language.Compare(text, one, other)

    def _member(self, element: ast.expr, tree: ast.expr) -> language.Node:
        if not isinstance(tree, (ast.List, ast.Tuple, ast.Set)) or not tree.elts:
            raise InvalidParameterError(
                "in takes a list that is written out and not empty, such as [1, 2]: write == to compare, "
                "and contains(x, 'piece') to look for a piece of text."
            )
        if len(tree.elts) > MOST_ITEMS:
            raise InvalidParameterError(f"a list may have {MOST_ITEMS:,} items at most.")
        items = [self.node(item) for item in tree.elts]
        if not all(isinstance(item, language.Literal) for item in items):
            raise InvalidParameterError("a list holds numbers, texts, True or False, and no columns: write x == a or x == b.")
        sought, *literals = agree([self.node(element), *items], "in needs a list of the type of what is sought")
        distinct = {literal.value: literal for literal in literals if isinstance(literal, language.Literal)}
        return language.Member(sought, tuple(distinct[value] for value in sorted(distinct)))

    def _missing(self, tree: ast.expr) -> language.Node:
        part = self.node(tree)
        if part.type is not ColumnType.UNDECLARED:
            return language.Missing(part)
        reading = self._readings.get(part.name) if isinstance(part, language.ColumnReference) else ColumnType.TEXT
        return language.Missing(part if reading is None else read_as(part, reading, "missing"))

    def _choice(self, tree: ast.IfExp) -> language.Node:
        condition = self._condition(tree.test, "if takes a condition")
        branches = [
            language.Nothing(ColumnType.UNDECLARED) if is_none(branch) else self.node(branch)
            for branch in (tree.body, tree.orelse)
        ]
        then, otherwise = agree(branches, "both sides of if and else must be of one type")
        return language.Choice(condition, then, otherwise, _common_type(then, otherwise))

    def _call(self, tree: ast.Call) -> language.Node:
        if not isinstance(tree.func, ast.Name):
            raise self._foreign(tree)
        name = tree.func.id
        arguments = plain_arguments(tree, name)
        if name == "col":
            if len(arguments) != 1 or not isinstance(arguments[0], ast.Constant) or not isinstance(arguments[0].value, str):
                raise InvalidParameterError("col takes the name of a column in quotes, such as col('net income').")
            return self._column(arguments[0].value)
        if name == "missing":
            if len(arguments) != 1:
                raise InvalidParameterError("missing is written like missing(x).")
            return self._missing(arguments[0])
        if name == "coalesce":
            if len(arguments) < 2:
                raise InvalidParameterError("coalesce is written like coalesce(x, 0) or coalesce(a, b, 0).")
            parts = agree([self.node(argument) for argument in arguments], "coalesce takes values of one type")
            return language.Coalesce(parts, _common_type(*parts))
        function = find_function(name)
        trees, last = split_arguments(function, name, arguments)
        place = f"{name} takes {_TAKEN[function.takes]}"
        operands = tuple(read_as(self.node(operand), function.takes, place) for operand in trees)
        if last is None or function.constant is None:
            return language.Apply(name, operands, (), function.gives)
        return language.Apply(name, operands, (constant_value(function.constant, self.node(last), name),), function.gives)

    def _foreign(self, tree: ast.expr) -> InvalidParameterError:
        segment = quoted(ast.get_source_segment(self._source, tree) or "this")
        asked = tree.func if isinstance(tree, ast.Call) else tree
        hint = ": functions are written like lower(name)" if isinstance(asked, ast.Attribute) else ""
        return InvalidParameterError(f"{segment} is not part of the language of expressions{hint} (see docs/expressions.md).")


_TAKEN = {ColumnType.NUMBER: "numbers", ColumnType.TEXT: "a text", ColumnType.MOMENT: "a date"}


def _joined(word: str, parts: list[language.Node]) -> language.Node:
    flat: list[language.Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, language.Logic) and part.word == word else [part]
    return language.Logic(word, tuple(flat))


def _common_type(*nodes: language.Node) -> ColumnType:
    kinds = {node.type for node in nodes}
    if kinds <= {ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN} and kinds != {ColumnType.BOOLEAN}:
        return ColumnType.NUMBER
    return kinds.pop()
