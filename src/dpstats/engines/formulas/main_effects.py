"""The columns of a formula that only adds them up, for models that take columns of numbers and of labels as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.language import ColumnReference
from dpstats.engines.expressions.parsing import quoted
from dpstats.engines.expressions.writing import written
from dpstats.engines.formulas.design import NUMERIC, checked_levels
from dpstats.engines.formulas.factors import CategoryFactor, NumberFactor, read_factor
from dpstats.engines.formulas.parse import parse_formula
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError

ReadFactor = NumberFactor | CategoryFactor


@dataclass(frozen=True)
class MainEffects:
    """A formula as columns, some of which are derived from others; public."""

    features: tuple[str, ...]
    outcome: str
    derived: Mapping[str, str]
    """The expressions of columns that the table does not have, by the names that the formula gives them."""
    levels: Mapping[str, Any]
    """The labels of features that the asker lists."""
    classes: Any = None
    """The labels of the outcome that the formula lists."""


def read_main_effects(
    text: object,
    columns: Mapping[str, ColumnType],
    *,
    levels: Mapping[str, Any] | None = None,
    known_levels: Mapping[str, Sequence[Any]] | None = None,
    left_out: Sequence[str] = (),
) -> MainEffects:
    """The columns that a formula names; raises where it multiplies some, or leaves the intercept out.

    `levels` and `left_out` are as in `read_design`; `known_levels` are looked up for numbers that are to be labels.
    """
    others = [name for name, kind in columns.items() if kind in NUMERIC and name not in left_out]
    formula = parse_formula(text, others)
    products = [term for term in formula.terms if len(term) > 1]
    if products:
        product = ":".join(factor.text for factor in products[0])
        raise InvalidParameterError(
            f"a classifier takes columns one by one, and {quoted(product)} multiplies some: write + between them, or a feature "
            "of its own such as I(age * hours)."
        )
    if not formula.intercept:
        raise InvalidParameterError("a classifier has no intercept that could be left out: write the formula without - 1 or 0.")
    factors = {factor.key: read_factor(factor, columns) for (factor,) in formula.terms}
    outcome = read_factor(formula.outcome, columns)
    listed, labels = checked_levels(levels, factors), {}
    for each in factors.values():
        if not isinstance(each, CategoryFactor):
            continue
        found = _levels(each) or listed.get(each.key)
        if found is not None:
            labels[_name(each)] = found
        elif each.node.type in NUMERIC and _name(each) not in (known_levels or {}):
            raise MissingParameterError(
                f"C takes the numbers of {shown(each.key)} for labels: list them, levels={{{each.key!r}: [...]}}."
            )
    derived = [each for each in (*factors.values(), outcome) if not isinstance(each.node, ColumnReference)]
    features, expressions = tuple(map(_name, factors.values())), {each.name: _expression(each) for each in derived}
    return MainEffects(features, _name(outcome), expressions, labels, _levels(outcome))


def _name(factor: ReadFactor) -> str:
    """What the column is called: a column alone is itself, however it is written."""
    return factor.node.name if isinstance(factor.node, ColumnReference) else factor.name


def _expression(factor: ReadFactor) -> str:
    if factor.node.type is ColumnType.MOMENT:
        raise DataTypeError(f"{quoted(factor.name)} derives a date: derive a number of it, such as year(...).")
    return written(factor.node)


def _levels(factor: ReadFactor) -> list[Any] | None:
    """The labels that the formula lists; those of True and False are known anyway."""
    if isinstance(factor, NumberFactor) or factor.levels is None or factor.node.type is ColumnType.BOOLEAN:
        return None
    return [level.value for level in factor.levels]
