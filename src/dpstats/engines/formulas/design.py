"""The design of a formula: the columns of numbers that a regression reads, each derived from one row at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeGuard

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions import Expression
from dpstats.engines.expressions.language import Apply, ColumnReference, Node
from dpstats.engines.expressions.parsing import quoted
from dpstats.engines.formulas.coding import FactorPart, coded_terms
from dpstats.engines.formulas.factors import CategoryFactor, NumberFactor, read_factor
from dpstats.engines.formulas.parse import Factor, Formula, parse_formula
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, UnknownNameError

MOST_CROSSED = 4
"""Categories in one term: the time to code them grows with all ways to take some."""
NUMERIC = (ColumnType.NUMBER, ColumnType.INTEGER)
"""What "." stands for."""


@dataclass(frozen=True)
class Design:
    """A formula on the columns of one schema; public."""

    formula: Formula
    outcome: NumberFactor
    factors: Mapping[str, NumberFactor | CategoryFactor]
    """By what tells them apart in the formula."""

    @property
    def categories(self) -> tuple[CategoryFactor, ...]:
        """The factors that are categories; of several with the same levels the first one."""
        found = {each.key: each for each in reversed([*self.factors.values()]) if isinstance(each, CategoryFactor)}
        return tuple(found.values())[::-1]

    @property
    def unknown(self) -> tuple[CategoryFactor, ...]:
        """The categories whose levels are not known."""
        return tuple(each for each in self.categories if each.levels is None)

    def with_levels(self, levels: Mapping[str, Any]) -> Design:
        """With the levels of some categories, by their columns; those that have levels already keep them."""
        factors = {
            text: each.with_levels(levels[each.key])
            if isinstance(each, CategoryFactor) and each.levels is None and each.key in levels
            else each
            for text, each in self.factors.items()
        }
        return replace(self, factors=factors)

    @cached_property
    def features(self) -> dict[str, Node]:
        """The features by name; all levels must be known."""
        parts = {text: FactorPart(text, isinstance(each, CategoryFactor)) for text, each in self.factors.items()}
        terms = [[parts[factor.key] for factor in term] for term in self.formula.terms]
        features: dict[str, Node] = {}
        for term in coded_terms(terms, intercept=self.formula.intercept):
            crossed: dict[str, Node] = reduce(_crossed, [self._columns(part) for part in term])
            for name in crossed.keys() & features.keys():
                raise InvalidParameterError(f"the formula {quoted(self.formula.text)} has {shown(name)} twice.")
            features |= crossed
        return features

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features, and then that of the outcome."""
        return (*self.features, self.outcome.name)

    def on(self, view: TableView) -> TableView:
        """A view with the columns of the design."""
        nodes = {**self.features, self.outcome.name: self.outcome.node}
        own = {name for name, node in nodes.items() if isinstance(node, ColumnReference) and node.name == name}
        derived = {name: Expression(node) for name, node in nodes.items() if name not in own}
        for name in derived:
            if name in view.columns:
                raise InvalidParameterError(f"there is a column {shown(name)} already: write the factor another way.")
        return replace(view, derived={**view.derived, **derived})

    def describe_levels(self) -> str:
        """The levels of all categories in words; empty where there is no category."""
        return "; ".join(each.describe() for each in self.categories)

    def to_dict(self) -> dict[str, object]:
        """What is asked, in plain values: what the formula says, and the levels that are known."""
        return {
            "outcome": str(Expression(self.outcome.node)),
            "terms": [[factor.key for factor in term] for term in self.formula.terms],
            "intercept": self.formula.intercept,
            "levels": {each.key: [level.value for level in each.levels] for each in self.categories if each.levels is not None},
        }

    def _columns(self, part: FactorPart) -> dict[str, Node]:
        factor = self.factors[part.name]
        return {factor.name: factor.node} if isinstance(factor, NumberFactor) else factor.indicators(full=part.full)


def read_design(
    text: object,
    columns: Mapping[str, ColumnType],
    *,
    levels: Mapping[str, Any] | None = None,
    known_levels: Mapping[str, Sequence[Any]] | None = None,
    left_out: Sequence[str] = (),
) -> Design:
    """The design that a formula says of columns with these types; every complaint about it is raised here.

    `levels` are those that the asker lists, by column; `known_levels` those that are public anyway. `left_out` are columns that
    "." does not stand for.
    """
    others = [name for name, kind in columns.items() if kind in NUMERIC and name not in left_out]
    formula = parse_formula(text, others)
    outcome = _read_outcome(formula.outcome, columns)
    factors = {factor.key: read_factor(factor, columns) for term in formula.terms for factor in term}
    _check_categories(formula, factors)
    design = Design(formula, outcome, factors).with_levels(checked_levels(levels, factors)).with_levels(known_levels or {})
    inline = {each.key: [level.value for level in each.levels or ()] for each in factors.values() if _has_levels(each)}
    design = design.with_levels(inline)
    if any(each.name == outcome.name for each in factors.values()):
        raise InvalidParameterError(f"the formula {quoted(formula.text)} has its outcome among the features.")
    return design


def declared_levels(table: Any) -> dict[str, list[str]]:
    """The levels that a table declares with its types: those of the Enum columns of a polars frame.

    Those of a pandas Categorical, a polars Categorical or an arrow dictionary are found in the rows: they are not public.
    """
    libraries = {cls.__module__.partition(".")[0] for cls in type(table).__mro__}
    if "polars" not in libraries or not hasattr(table, "collect_schema"):
        return {}
    types = {name: kind for name, kind in table.collect_schema().items() if type(kind).__name__ == "Enum"}
    return {name: [str(label) for label in kind.categories] for name, kind in types.items()}


def _read_outcome(factor: Factor, columns: Mapping[str, ColumnType]) -> NumberFactor:
    outcome = read_factor(factor, columns)
    if isinstance(outcome, NumberFactor):
        return outcome
    if outcome.node.type is ColumnType.BOOLEAN:
        return NumberFactor(outcome.name, outcome.node)
    raise DataTypeError(
        f"the outcome must be numbers, and {quoted(factor.text)} is of type {outcome.node.type.value}: "
        "for the chance of a label write {answer == 'yes'} ~ ..."
    )


def _check_categories(formula: Formula, factors: Mapping[str, NumberFactor | CategoryFactor]) -> None:
    """Raise where a category has different levels in two places, or a term has too many of them to be coded."""
    found: dict[str, object] = {}
    for each in factors.values():
        if _has_levels(each) and found.setdefault(each.key, each.levels) != each.levels:
            raise InvalidParameterError(f"the formula has two lists of levels for {shown(each.key)}: give them once.")
    for term in formula.terms:
        if sum(isinstance(factors[factor.key], CategoryFactor) for factor in term) > MOST_CROSSED:
            raise InvalidParameterError(f"a term of a formula crosses at most {MOST_CROSSED} categories.")


def _has_levels(factor: NumberFactor | CategoryFactor) -> TypeGuard[CategoryFactor]:
    return isinstance(factor, CategoryFactor) and factor.levels is not None


def checked_levels(levels: object, factors: Mapping[str, NumberFactor | CategoryFactor]) -> Mapping[str, Any]:
    """The levels that an asker lists, none where they are left out; raises where a name is no category of the formula."""
    if levels is None:
        return {}
    if not isinstance(levels, Mapping):
        raise InvalidParameterError("levels must be a dict from columns to their labels, such as {'region': ['north', 'south']}.")
    keys = [each.key for each in factors.values() if isinstance(each, CategoryFactor)]
    for name in levels:
        if name not in keys:
            raise UnknownNameError(f"levels has {shown(name)}, which is no category of the formula: write C(...) in it.")
    return levels


def _crossed(one: dict[str, Node], other: dict[str, Node]) -> dict[str, Node]:
    """All products of two factors' columns."""
    return {
        f"{first}:{second}": Apply("*", (left, right), (), ColumnType.NUMBER)
        for second, right in other.items()
        for first, left in one.items()
    }
