"""Filters where the rows are: conditions of a view that a store checks itself, because it says exactly the same of every row.

Claim      A view of a store, and what `filter_there` makes of both, have the same rows.
Why        A row belongs to a view if each of its conditions certainly holds of it, so conditions, and the parts that `and` joins,
           may be checked one after the other and in different places. A store checks a part only where `sql_of` has a text for
           it (sql_conditions.py), and that text is true of a row if and only if the part certainly holds of it:
           - A number column is compared with a value of its own number type, the very one that the evaluation here compares with
             (`settled_cut`). Whole numbers of up to 64 bits are compared as whole numbers; float32 as the float64 that it is, and
             floats as IEEE 754 has it, in which -0.0 is 0.0 and infinities lie at the ends. The databases differ from it for NaN
             alone, which they put above all numbers and take for equal to itself; `<> 'NaN'` leaves it out, as it is missing
             here. Null is unknown to both.
           - Texts are compared for equality alone, byte by byte (collation "C"), which is equality of characters in UTF-8.
           - `and` and `or` of such parts are Kleene's in both.
           None of these operators can fail on a value: nothing is computed, nothing is converted but literals, whole numbers to
           wider ones and float32 to float64. Everything else is checked here: arithmetic, functions, dates, decimals, negations,
           comparisons of two columns, and columns that are derived or were declared to be of another type.
Order      Rows of a unit are chosen before any condition is looked at (contributions.proof.md): a store that bounds them is given
           no condition, unless it has seen that no row of the table has to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dpstats.engines.stores.store import Store
from dpstats.engines.views import TableView

if TYPE_CHECKING:
    from dpstats.engines.expressions.language import Node


@runtime_checkable
class FiltersItself(Protocol):
    """A store that can check conditions where its rows are."""

    def filtered(self, condition: Node) -> Store | None:
        """The same table with those rows alone of which the condition certainly holds; None where it cannot say exactly that."""
        ...


@dataclass(frozen=True)
class SqlColumn:
    """A column as a database has it."""

    text: str
    """Its name in SQL, with whatever makes its comparisons plain."""
    dtype: np.dtype[Any] | None
    """The number type of its cells; None for texts."""


def filter_there(store: Store, view: TableView) -> tuple[Store, TableView]:
    """The same rows as a store whose conditions are checked where these are, and a view with the other ones."""
    if not view.conditions or not isinstance(store, FiltersItself):
        return store, view
    from dpstats.engines.expressions import Expression
    from dpstats.engines.expressions.language import columns_of

    left = []
    for part in (part for condition in view.conditions for part in _joined(condition.node)):
        own = all(column.name in view.schema for column in columns_of(part))
        narrowed = store.filtered(part) if own and isinstance(store, FiltersItself) else None
        if narrowed is None:
            left.append(Expression(part))
        else:
            store = narrowed
    return store, replace(view, conditions=tuple(left))


def _joined(node: Node) -> Iterator[Node]:
    """The parts that `and` joins."""
    from dpstats.engines.expressions.language import Logic

    if isinstance(node, Logic) and node.word == "and":
        for part in node.parts:
            yield from _joined(part)
    else:
        yield node
