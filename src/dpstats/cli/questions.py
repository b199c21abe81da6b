"""A question as people type it: `quantile(income, [0.1, 0.9], epsilon=0.3)`.

The text is parsed, never evaluated: one call of a bare name, whose arguments are bare words, text, numbers, ratios such as 1/3,
lists of them, or by name also dicts of them. A formula is a text: `regression('income ~ age + C(region)')`. A condition stands as
it is: `proportion(hours > 0)`.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile

from dpstats.curator.documents.document import REGRESSION
from dpstats.foundations.arguments import call_words, split_parameters
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.registry import Statistic, find_statistic, statistic_names

_LONGEST = 2_000
_EXAMPLE = 'write it like median(income) or quantile("net income", 0.9, epsilon=0.5)'

_EXAMPLE_COLUMNS = ("income", "age")
_EXAMPLE_FEATURES = "[age, schooling], income"
_EXAMPLE_FORMULA = f"write a formula in quotes, like {REGRESSION}('income ~ age + C(region)')"


@dataclass(frozen=True)
class ParsedQuestion:
    """What was typed, taken apart; nothing in it has been checked against statistics or columns."""

    text: str
    statistic: str
    column: str | tuple[str, ...]
    """What was given first: the name of a column, or of several in a list; where a parameter comes first, that one. Empty where
    nothing was named."""
    positional: tuple[object, ...] = ()
    """What came by position after it: further columns, where the statistic reads several, and then parameters."""
    keywords: Mapping[str, object] = field(default_factory=dict)


def parse_question(text: str, *, needs_column: bool = True) -> ParsedQuestion:
    """Take a typed question apart, or raise `InvalidParameterError` with how to write one.

    Where no column is needed it may be left out: median, quantile(0.9).
    """
    call = _parsed_call(text, or_name=not needs_column)
    if not isinstance(call.func, ast.Name):
        raise _unclear(text)
    keywords: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _unclear(text)
        if keyword.arg in keywords:
            raise InvalidParameterError(f"the question {_quoted(text)} gives {keyword.arg} twice.")
        value = keyword.value
        keywords[keyword.arg] = _dictionary(value, text) if isinstance(value, ast.Dict) else _literal(value, text)
    if not call.args and needs_column:
        missing = "holds no formula" if call.func.id == REGRESSION else "names no column"
        raise MissingParameterError(f"the question {_quoted(text)} {missing}: {_example(text)}.")
    read = [_condition if place == 0 and _takes_conditions(call.func.id) else _literal for place in range(len(call.args))]
    positional = tuple(each(argument, text) for each, argument in zip(read, call.args, strict=True))
    column = _names(positional[0]) if positional else None
    if column is not None:
        return ParsedQuestion(text, call.func.id, column, positional[1:], keywords)
    if needs_column:
        raise _nothing_named_first(text)
    return ParsedQuestion(text, call.func.id, "", positional, keywords)


def name_columns(question: ParsedQuestion, statistic: Statistic) -> ParsedQuestion:
    """The question with stand-ins for columns that it leaves out: no names, or X and y of features with an outcome."""
    if comes_first(question, statistic):
        if not question.column:
            first = statistic.parameters[0]
            raise MissingParameterError(f"the question {_quoted(question.text)} must name {first.name}: {first.help}.")
        return question if question.positional else replace(question, positional=("",))
    if question.column:
        return question
    if statistic.has_outcome:
        return replace(question, column="X", positional=("y", *question.positional))
    others = 0 if statistic.takes_features else len(statistic.reads) - 1
    return replace(question, positional=(*("",) * others, *question.positional))


def split_columns(question: ParsedQuestion, statistic: Statistic) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The columns of a question, features before their outcome, and the parameters that came by position."""
    first, rest = take_first(question, statistic)
    if statistic.takes_only_columns:
        return _split_columns_alone(rest, statistic), first
    columns, others = _split_features(rest) if statistic.takes_features else _split_plain(rest, len(statistic.reads))
    return columns, (*first, *others)


def take_first(question: ParsedQuestion, statistic: Statistic) -> tuple[tuple[object, ...], ParsedQuestion]:
    """The parameter that comes before the columns, where there is one, and the question without it."""
    if not comes_first(question, statistic):
        return (), question
    call = f"{statistic.name}({', '.join([*(each.name for each in split_parameters(statistic)[0]), _EXAMPLE_COLUMNS[0]])})"
    if not question.positional:
        words = " and then ".join(call_words(statistic, "a column"))
        raise MissingParameterError(f"the question {_quoted(question.text)} must name {words}, such as {call}.")
    column = _names(question.positional[0])
    if column is None:
        raise InvalidParameterError(f"the question {_quoted(question.text)} must name a column second, such as {call}.")
    return (question.column,), replace(question, column=column, positional=question.positional[1:])


def comes_first(question: ParsedQuestion, statistic: Statistic) -> bool:
    """Whether what was given first is a parameter."""
    return statistic.parameter_first and statistic.parameters[0].name not in question.keywords


def _split_plain(question: ParsedQuestion, how_many: int) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The first `how_many` columns, and what comes after them."""
    if not isinstance(question.column, str):
        raise _nothing_named_first(question.text)
    columns = [question.column, *question.positional[: how_many - 1]]
    if len(columns) < how_many:
        example = f"{question.statistic}({', '.join(_EXAMPLE_COLUMNS[:how_many])})"
        raise MissingParameterError(f"the question {_quoted(question.text)} must name {how_many} columns, such as {example}.")
    names = tuple(column for column in columns if isinstance(column, str))
    if len(names) < how_many:
        raise InvalidParameterError(f"the question {_quoted(question.text)} must name {how_many} columns before anything else.")
    return names, question.positional[how_many - 1 :]


def _split_columns_alone(question: ParsedQuestion, statistic: Statistic) -> tuple[str, ...]:
    """Columns without an outcome: all that came by position, each by itself or in a list."""
    given = [_names(each) for each in (question.column, *question.positional)]
    if any(each is None for each in given):
        by_name = ", ".join(f"{each.name}=..." for each in split_parameters(statistic)[1])
        takes = f"takes parameters by name: {by_name}" if by_name else "takes nothing else"
        raise InvalidParameterError(f"the question {_quoted(question.text)} names columns, and after them {takes}.")
    return tuple(name for each in given if each is not None for name in ((each,) if isinstance(each, str) else each))


def _split_features(question: ParsedQuestion) -> tuple[tuple[str, ...], tuple[object, ...]]:
    features = (question.column,) if isinstance(question.column, str) else question.column
    example = f"such as {question.statistic}({_EXAMPLE_FEATURES})"
    if not question.positional and "~" in question.text:
        raise InvalidParameterError(f"the question {_quoted(question.text)} holds a formula: {_EXAMPLE_FORMULA}.")
    if not question.positional:
        raise MissingParameterError(f"the question {_quoted(question.text)} must name features and an outcome, {example}.")
    outcome, *others = question.positional
    if not isinstance(outcome, str):
        raise InvalidParameterError(f"the question {_quoted(question.text)} must name its outcome after the features, {example}.")
    if isinstance(question.column, str) and others and isinstance(others[0], str) and others[0].isidentifier():
        words = takewhile(lambda each: isinstance(each, str) and each.isidentifier(), others)
        *several, last = [name if name.isidentifier() else repr(name) for name in (question.column, outcome, *map(str, words))]
        meant = f"{question.statistic}([{', '.join(several)}], {last})"
        raise InvalidParameterError(f"the question {_quoted(question.text)} must name several features in a list: {meant}.")
    return (*features, outcome), tuple(others)


def _parsed_call(text: str, *, or_name: bool) -> ast.Call:
    if len(text) > _LONGEST:
        raise InvalidParameterError(f"a question may be {_LONGEST} characters long at most.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's opinions on odd literals are of no use here
            parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unclear(text) from None
    if or_name and isinstance(parsed, ast.Name):
        return ast.Call(parsed, [], [])
    if not isinstance(parsed, ast.Call):
        raise _unclear(text)
    return parsed


def _literal(node: ast.expr, text: str) -> object:
    """A bare word or text as text, a number as it is, a list as a list."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _ratio(node, text)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(item, text) for item in node.elts]
    raise _unclear(text)


def _takes_conditions(name: str) -> bool:
    """Whether a statistic of that name takes a condition in place of a column."""
    return name in statistic_names() and find_statistic(name).takes_conditions


def _condition(node: ast.expr, text: str) -> object:
    """A bare word or text as text, and anything else as it was typed."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return _literal(node, text)
    return ast.get_source_segment(text.strip(), node)


def _dictionary(node: ast.Dict, text: str) -> dict[object, object]:
    """Values, or lists of them, by bare words, texts or numbers."""
    if not all(isinstance(key, (ast.Name, ast.Constant)) for key in node.keys):
        raise _unclear(text)
    return {_literal(key, text): _literal(value, text) for key, value in zip(node.keys, node.values, strict=True) if key}


def _names(given: object) -> str | tuple[str, ...] | None:
    """A name, or those of a list; None where there is something else."""
    if isinstance(given, (list, tuple)):
        names = tuple(name for name in given if isinstance(name, str))
        return names if len(names) == len(given) else None
    return given if isinstance(given, str) else None


def _ratio(node: ast.BinOp, text: str) -> Fraction:
    """Two whole numbers with a stroke between them, such as 1/3."""
    parts = [_literal(side, text) for side in (node.left, node.right)]
    whole = [part for part in parts if type(part) is int]
    if len(whole) < 2 or not whole[1]:
        raise _unclear(text)
    return Fraction(*whole)


def _nothing_named_first(text: str) -> InvalidParameterError:
    return InvalidParameterError(f"the question {_quoted(text)} must name a column first: {_example(text)}.")


def _unclear(text: str) -> InvalidParameterError:
    return InvalidParameterError(f"the question {_quoted(text)} is not clear: {_example(text)}.")


def _example(text: str) -> str:
    return _EXAMPLE_FORMULA if text.lstrip().startswith(f"{REGRESSION}(") or "~" in text else _EXAMPLE


def _quoted(text: str) -> str:
    shortened = text if len(text) <= 80 else text[:77] + "..."
    return f"'{shortened}'" if shortened.isprintable() else ascii(shortened)
