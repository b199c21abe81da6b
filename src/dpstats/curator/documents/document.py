"""Documents of questions: a question about a protected table as plain JSON.

    {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.2", "where": ["age >= 30"]}

A document says all that a method call on a session says. In the canonical form whatever has its default is left out, and a number
is written in one way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpstats.curator.documents.values import exact_number
from dpstats.foundations.registry import AUTO, INTERVAL, Statistic, find_statistic

VERSION = 1
"""Of the form of documents; it goes up when a document of this version would come to mean something else."""
REGRESSION = "regression"
"""What a question about a formula is called."""
CLASSIFICATION = "classification"
"""What a classifier by a formula is called; it has no documents of its own."""
LINEAR = "linear"
AMOUNT = r"[0-9]+/[0-9]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
"""How epsilon and delta are written as text."""
SCOPE_WORDS = ("with_columns", "where", "select", "group_by")
"""What narrows a table, in the order in which it is done."""
FORMULA_WORDS = ("formula", "model", "levels")
PRICE_WORDS = ("epsilon", "delta", "method", "interval", "rough")
COLUMN_WORDS = ("columns", "features", "outcome")
WORDS = ("version", "statistic", *COLUMN_WORDS, *FORMULA_WORDS, "parameters", *PRICE_WORDS, *SCOPE_WORDS)
"""All names of a document, in the order in which they are written."""


def column_words(statistic: Statistic, columns: Sequence[str]) -> dict[str, Any]:
    """The columns of a statistic by the words that a document has for them."""
    if statistic.has_outcome:
        return {"features": [*columns[:-1]], "outcome": columns[-1]}
    return {"columns": [*columns]}


@dataclass(frozen=True)
class QuestionDocument:
    """A question about a protected table as its document says it; checked as far as that can be done without the table."""

    statistic: str
    """Its name, or "regression" for a formula."""
    columns: tuple[str, ...]
    """Features come before the outcome; empty for a formula, or where all rows are counted."""
    parameters: Mapping[str, Any]
    """Its own parameters in canonical form, without those that have their default."""
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    method: str = AUTO
    interval: Fraction | None = Fraction(95, 100)
    formula: str | None = None
    model: str = LINEAR
    levels: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    derived: tuple[tuple[str, str], ...] = ()
    """New columns, each a name and its expression, which may name those before it."""
    where: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    keys: Any = None
    rough: bool = False

    def at(self, epsilon: Fraction) -> QuestionDocument:
        """The same question at another epsilon."""
        return replace(self, epsilon=epsilon)

    def column_words(self) -> dict[str, Any]:
        """The columns by the words that the document has for them."""
        return column_words(find_statistic(self.statistic), self.columns) if self.columns else {}

    def to_dict(self) -> dict[str, Any]:
        """The canonical document: what has its default is left out."""
        grouped = {"columns": [*self.by], **({} if self.keys is None else {"keys": self.keys})}
        words = {
            "formula": self.formula,
            "model": None if self.model == LINEAR else self.model,
            "levels": {name: [*labels] for name, labels in self.levels.items()},
            "parameters": dict(self.parameters),
            "epsilon": str(exact_number(self.epsilon)),
            "delta": str(exact_number(self.delta)) if self.delta else None,
            "method": None if self.method == AUTO else self.method,
        }
        interval = None if self.interval is None else exact_number(self.interval)
        scope = {
            "with_columns": [{"name": name, "expression": expression} for name, expression in self.derived],
            "where": [*self.where],
            "select": [*self.select],
            "group_by": grouped if self.by else None,
        }
        return {
            "version": VERSION,
            "statistic": self.statistic,
            **self.column_words(),
            **{name: value for name, value in words.items() if value},
            **({} if interval == INTERVAL else {"interval": interval}),
            **({"rough": True} if self.rough else {}),
            **{name: value for name, value in scope.items() if value},
        }
