"""Whom a session protects: the unit, how many of its rows are used, and what that makes of a question's price.

Claim      A question priced at (epsilon, delta) for a unit is asked of the bounded table at `row_question`'s smaller price for a
           row, and is then (epsilon, delta)-DP for the unit
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit
Why        At most `rows_per_unit` rows of a unit are left (engines/units/contributions.py), so neighbouring tables are that many
           steps apart, or twice as many when a unit is changed; accounting/groups.py turns the price around. Filters and
           derived columns look at one row at a time, so they add no steps. Groups share no rows, so asking all of them is
           one question. Steps by unit (statistics/by_unit.py) are epsilon-DP for a unit with all of its rows; they get UNIT_SHARE
           of epsilon, and the rest of it is what the price of a row is made of
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.engines.cells import ColumnType
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.engines.units.sums import UnitSteps
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.registry import Answer, Method, Question
from dpstats.foundations.results import INDEPENDENT
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.statistics.by_unit import as_alike

if TYPE_CHECKING:
    from dpstats.accounting.budgets import Budget
    from dpstats.curator.ledger.terms import Terms

UNIT_SHARE = Fraction(1, 10)
"""Of epsilon, for what a question asks by unit: its noise is a quarter of the variance at 500 units and epsilon 1, and a fortieth
at 5,000. `test_losses_allow_for_steps_by_unit` says how large it may be."""
ROW = "row"
"""The unit of a table in which every row is a unit of its own."""
TOTALS = ("count", "sum")
"""Statistics that are smaller where rows are left out, by about their share."""


def tells_errors(outcome: Answer) -> bool:
    """Whether an answer says how certain it is, of a population that the rows are drawn from."""
    told = outcome.value
    return bool(outcome.interval or outcome.intervals) or any(hasattr(told, name) for name in ("p_value", "errors"))


@dataclass(frozen=True)
class Protection:
    """The unit, the relation of neighbours, and the bound on a unit's rows; all of it public and fixed for a session."""

    unit: str
    rows_per_unit: int = 1
    missing_unit: MissingUnit = MissingUnit.DROP
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    may_fail: bool = False
    """Whether the data holder has decided that rows may be computed while they are read, and fail."""
    found: str = ""
    """How the number of rows was found, in words; empty where the data holder has named it."""
    share: str = ""
    """About which share of the table's rows is used, in words, where a release says it. The words name the table, because they
    stand on the cards of filtered and grouped answers too."""

    @property
    def is_by_row(self) -> bool:
        """Whether every row is a unit of its own."""
        return self.unit == ROW

    def bound(self, schema: Mapping[str, ColumnType], key: bytes) -> Bound | None:
        """What to keep of the table, or None where every row stays."""
        if self.is_by_row:
            return None
        columns = tuple(sorted((name, kind) for name, kind in schema.items() if kind is not ColumnType.OTHER))
        return Bound(self.unit, schema[self.unit], self.rows_per_unit, columns, self.missing_unit, key)

    def row_question(self, question: Question, *, narrowed: bool, grouped: bool = False) -> Question:
        """The question as the statistic gets it, at the price of a row; `narrowed` means filtered or grouped."""
        if self.is_by_row and not narrowed:
            return question
        left = question.epsilon if grouped or not self.unit_steps(question) else question.epsilon * (1 - UNIT_SHARE)
        amount = row_cost(left, question.delta, steps_between(self.neighbors, self.rows_per_unit))
        return replace(question, cost=PrivacyCost(spendable_epsilon(amount.epsilon), amount.delta, Neighbors.ADD_REMOVE, ROW))

    def unit_steps(self, question: Question) -> int:
        """How many steps by unit a question takes, by its parameters alone."""
        by_unit = question.method.by_unit
        return 0 if self.rows_per_unit == 1 or by_unit is None else by_unit(question)

    def step_epsilon(self, question: Question) -> Fraction | None:
        """What each of these steps spends, for one unit added or removed; None where there are none.

        A changed unit is one removed and one added.
        """
        steps = self.unit_steps(question)
        return question.epsilon * UNIT_SHARE / steps / steps_between(self.neighbors, 1) if steps else None

    def units(self, question: Question, schema: Mapping[str, ColumnType], *, grouped: bool = False) -> UnitSteps | None:
        """What a column tells a question of whose rows it has; None where a unit has one row at most.

        A unit may be in several groups, so that no steps by unit are taken in them.
        """
        bound = self.bound(schema, bytes(32)) if self.rows_per_unit > 1 else None
        if bound is None:
            return None
        return UnitSteps.of(bound, None if grouped else self.step_epsilon(question), self.unit_steps(question))

    def notes_on_errors(self, method: Method, outcome: Answer, steps: int, *, grouped: bool) -> list[tuple[str, str]]:
        """The card's line on how an answer's errors allow for several rows of a unit; none where it tells no errors."""
        if not tells_errors(outcome):
            return []
        if method.by_unit is None:
            return [(INDEPENDENT, f"intervals and p-values are too sure if rows of a {self.unit} are alike")]
        if method.by_unit is as_alike or (steps and grouped):
            return [("errors", f"by {self.unit}: as if the rows of a {self.unit} were all alike, which is the most there can be")]
        if not steps:
            return []
        return [
            ("errors", f"by {self.unit}: {decimal_text(UNIT_SHARE)} of epsilon tells how alike the rows of a {self.unit} are")
        ]

    def rows_used(self) -> str:
        """How many rows of a unit are used, in words."""
        return f"at most {counted(self.rows_per_unit, 'row')} of each {self.unit}"

    def rows_note(self) -> str:
        """The same for a card, with what was released about it."""
        return "; ".join(filter(None, (self.rows_used(), self.share, self.found)))

    def in_line(self, question: Question | str, *, narrowed: bool) -> str:
        """What a printed line says behind a question: how many rows of a unit are used, and for a total of the whole table about
        which share of its rows that is.

        `narrowed` means filtered or grouped: in a part of the table the share may be quite another one.
        """
        if self.is_by_row:
            return ""
        is_total = isinstance(question, Question) and question.statistic.name in TOTALS
        return f" ({self.rows_used()}{f', {self.share}' if is_total and self.share and not narrowed else ''})"

    def describe(self) -> str:
        """Whom it protects, in words."""
        failing = "; but not whether a row makes the table fail to be read" if self.may_fail else ""
        if self.is_by_row:
            return f"every row: {self.neighbors.describe(ROW)}{failing}"
        without = {
            MissingUnit.DROP: "are left out",
            MissingUnit.EACH: f"are a {self.unit} each",
            MissingUnit.TOGETHER: "are one together",
        }
        rows = ", ".join(filter(None, (self.rows_used(), self.share, self.found)))
        return (
            f"every {self.unit}, with {rows} (rows without an id "
            f"{without[self.missing_unit]}): {self.neighbors.describe(self.unit)}{failing}"
        )

    def terms(self, budget: Budget, decided: Mapping[str, object] | None = None) -> Terms:
        """What the ledger holds every session on the table to; `decided` is what the data holder decided beside it."""
        facts: dict[str, object] = {} if self.is_by_row else {"missing_unit": self.missing_unit.value}
        if self.may_fail:
            facts["may_fail"] = True
        facts.update(decided or {})
        from dpstats.curator.ledger.terms import Terms

        return Terms(budget, self.unit, self.neighbors, self.rows_per_unit, facts)


BY_ROW = Protection(ROW)
"""Every row by itself, and their number private."""
