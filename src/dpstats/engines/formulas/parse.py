"""The text of a formula as formulaic takes it apart: an outcome, and terms made of factors. Nothing is evaluated.

formulaic sees the text alone. It is never given data and never asked for a factor's value, because that would run the analyst's
code, and its transforms look at all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.engines.expressions.parsing import LONGEST, quoted
from dpstats.foundations.errors import InvalidParameterError, MissingExtraError

MOST_TERMS = 1_000
"""Terms that a formula may multiply out to on the way."""
_TOO_MANY = MOST_TERMS + 1
_EXAMPLE = "write it like 'income ~ age + log(hours) + C(region)'"


@dataclass(frozen=True)
class Factor:
    """One factor of a term."""

    text: str
    """A column's name where it `is_name`, else an expression."""
    is_name: bool

    @property
    def key(self) -> str:
        """Tells it from others: a column's name may look like an expression."""
        return f"`{self.text}`" if self.is_name and not self.text.isidentifier() else self.text


@dataclass(frozen=True)
class Formula:
    """A formula, taken apart."""

    text: str
    """As it was written, but for spaces around it."""
    outcome: Factor
    terms: tuple[tuple[Factor, ...], ...]
    """What is added up, beside the intercept; a term is a product of factors."""
    intercept: bool


def parse_formula(text: object, others: Sequence[str]) -> Formula:
    """The formula that a text says; "." in it stands for all `others` that the outcome does not name.

    Raises `InvalidParameterError` with how to write one.
    """
    if not isinstance(text, str):
        raise InvalidParameterError(f"a formula must be a text, got {type(text).__name__}: {_EXAMPLE}.")
    if len(text) > LONGEST:
        raise InvalidParameterError(f"a formula may be {LONGEST:,} characters long at most.")
    try:
        from formulaic.parser import DefaultFormulaParser
    except ImportError:
        raise MissingExtraError.about("formulas need formulaic", "formulas") from None
    context = {"__formulaic_variables_available__": list(others)}
    parser = DefaultFormulaParser(feature_flags={"twosided"})
    try:
        is_small = _term_bound(parser.get_ast(text, context=dict(context)), len(others)) <= MOST_TERMS
        sides: Any = parser.get_terms(text, context=dict(context)) if is_small else None
    except Exception:  # formulaic and Python's parser have many
        raise InvalidParameterError(f"the formula {quoted(text)} is not clear: {_EXAMPLE}.") from None
    if not is_small:
        raise InvalidParameterError(f"the formula {quoted(text)} multiplies out to too many terms: name those that you want.")
    if not hasattr(sides, "lhs"):
        raise InvalidParameterError(f"the formula {quoted(text)} has no outcome before a ~: {_EXAMPLE}.")
    return _formula(text, sides.lhs, sides.rhs)


def _formula(text: str, left: Any, right: Any) -> Formula:
    outcomes = [_factors(term) for term in left]
    if len(outcomes) != 1 or len(outcomes[0]) != 1:
        raise InvalidParameterError(f"the formula {quoted(text)} needs one outcome before the ~, such as income or log(income).")
    terms = [_factors(term) for term in right if not _is_one(term)]
    if not terms:
        raise InvalidParameterError(f"the formula {quoted(text)} names no feature after the ~: {_EXAMPLE}.")
    return Formula(text.strip(), outcomes[0][0], tuple(terms), any(_is_one(term) for term in right))


def _factors(term: Any) -> tuple[Factor, ...]:
    if any(_kind(factor) == "literal" for factor in term.factors):
        raise InvalidParameterError("numbers do not stand by themselves in a formula, but for 1 and 0: write I(2 * age).")
    return tuple(Factor(factor.expr, _kind(factor) == "lookup") for factor in term.factors)


def _is_one(term: Any) -> bool:
    return len(term.factors) == 1 and _kind(term.factors[0]) == "literal" and term.factors[0].expr == "1"


def _kind(factor: Any) -> str:
    return str(factor.eval_method.value)


def _term_bound(node: Any, others: int) -> int:
    """At least as many terms as multiplying a formula out gives on the way, or one more than `MOST_TERMS`."""
    if not hasattr(node, "operator"):
        return 1
    parts = [_term_bound(part, others) for part in node.args]
    symbol = node.operator.symbol
    if symbol == ".":
        return max(1, others)
    if len(parts) < 2:
        return sum(parts)
    one, other = parts
    if symbol in ("**", "^"):
        exponent = str(getattr(node.args[1], "token", ""))
        is_low = exponent.isdecimal() and len(exponent) == 1
        return min(one ** int(exponent), _TOO_MANY) if is_low else _TOO_MANY
    bounds = {"*": one + other + one * other, ":": one * other}
    return min(bounds.get(symbol, one + other), _TOO_MANY)
