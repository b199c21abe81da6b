"""The text of an expression as Python's parser takes it apart. Nothing is evaluated."""

from __future__ import annotations

import ast
import re
import warnings

from dpstats.foundations.errors import InvalidParameterError

LONGEST = 2_000
DEEPEST = 50
_SHOWN = 80
_HINTS = (
    (r"&&|\|\|", "write and, or"),
    (r"<>", "write != for unequal"),
    (r"\b(AND|OR|NOT|IN|IF|ELSE)\b", "write and, or, not, in, if and else in small letters"),
    (r"(?i)\bis\s+(not\s+)?null\b", "write missing(x) or not missing(x)"),
    (r"(?i)\b(like|between)\b", "write contains(x, 'piece') for like, and 30 <= x < 65 for between"),
    (r"(?<![<>=!])=(?!=)", "write == to compare"),
)
_EXAMPLE = "write it like age >= 30 and region in ['north', 'south'], and a name that is no plain word like col('net income')"


def parse_text(text: str) -> ast.expr:
    """The tree of an expression, no deeper than we go; or `InvalidParameterError` with how to write one."""
    if not isinstance(text, str):
        raise InvalidParameterError(f"an expression must be a text: {_EXAMPLE}.")
    if len(text) > LONGEST:
        raise InvalidParameterError(f"an expression may be {LONGEST:,} characters long at most.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's opinions on odd literals are of no use here
            tree = ast.parse(source_of(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidParameterError(f"the expression {quoted(text)} is not clear: {_hint(text)}.") from None
    if _is_deeper(tree, DEEPEST):
        raise InvalidParameterError(
            f"the expression {quoted(text)} is nested more than {DEEPEST} deep (each further term of a sum is one deeper): "
            "build it from several derived columns."
        )
    return tree


def source_of(text: str) -> str:
    """What Python's parser is given: in brackets where the text has several lines."""
    stripped = text.strip()
    return f"(\n{stripped}\n)" if "\n" in stripped or "\r" in stripped else stripped


def quoted(text: str) -> str:
    """A text from outside for a message: shortened, and escaped where a terminal could take offence at it."""
    short = shortened(text)
    return f"'{short}'" if short.isprintable() else ascii(short)


def shortened(text: str) -> str:
    """The beginning of a text that is too long for a message."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def is_none(tree: ast.expr) -> bool:
    """Whether None is written there."""
    return isinstance(tree, ast.Constant) and tree.value is None


def _hint(text: str) -> str:
    outside_quotes = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return next((hint for pattern, hint in _HINTS if re.search(pattern, outside_quotes)), _EXAMPLE)


def _is_deeper(tree: ast.expr, limit: int) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if not level:
            return False
    return True
