"""Statements: what a ledger says about each account, for people who read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpstats.accounting.accountants import Total
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.debits import cost_of, loss_of
from dpstats.curator.ledger.entries import AMEND, ANSWER, DEBIT, OPEN, Entry
from dpstats.curator.ledger.openings import Opening, opening_of, population_name
from dpstats.curator.ledger.readers import archived_document, is_failure
from dpstats.curator.ledger.standing import BUDGET, Standing, amended, least_in_words, least_left, total_after
from dpstats.curator.ledger.stores import EntryTable
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.errors import LedgerError
from dpstats.foundations.privacy import PrivacyCost


@dataclass
class StatementLine:
    """One question that was paid for."""

    sequence: int
    time: str
    question: str
    cost: PrivacyCost
    total: Total
    """What the data set had spent after it."""
    details: dict[str, Any]
    loss: Fraction
    """rho / epsilon**2 of its method, as it was charged."""
    document: dict[str, Any] | None = None
    """What was answered, where it was archived."""
    actor: str = ""
    """On whose behalf it was asked; empty for the data holder's own program."""


@dataclass
class Statement:
    """One account: its terms and its questions."""

    dataset: str
    opened: str
    opening: Opening
    budget: Budget
    closed: bool = False
    """Whether nothing more may be spent."""
    lines: list[StatementLine] = field(default_factory=list)
    population: Statement | None = None
    """That of the population which pays along, where there is one."""

    @property
    def terms(self) -> Terms:
        """With the budget as it was last amended."""
        return self._standing.terms

    @property
    def _standing(self) -> Standing:
        return Standing(self.dataset, self.opening, self.budget, self.closed, self.total)

    @property
    def _paying(self) -> list[Standing]:
        return [self._standing, *([] if self.population is None else [self.population._standing])]

    @property
    def total(self) -> Total:
        """What has been spent, as the accountant counts it."""
        return self.lines[-1].total if self.lines else Total()

    @property
    def spent(self) -> PrivacyCost:
        """The (epsilon, delta) that has been spent."""
        return self._standing.spent

    @property
    def remaining(self) -> str:
        """What is left for one more question, by all accounts that pay for it, in words."""
        return least_in_words(self._paying)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; amounts are exact texts."""
        keeper = self.terms.budget.keeper
        return {
            "dataset": self.dataset,
            "account": self.opening.account,
            "opened": self.opened,
            "terms": self.terms.content(),
            "total": keeper.to_dict(self.total),
            "spent": self.spent.to_dict(),
            "remaining": keeper.to_dict(least_left(self._paying)),
            "questions": [
                {
                    "entry": line.sequence,
                    "time": line.time,
                    "question": line.question,
                    "cost": line.cost.to_dict(),
                    "loss": str(line.loss),
                    "total": keeper.to_dict(line.total),
                    "details": line.details,
                    "answer": line.document,
                    "actor": line.actor,
                }
                for line in self.lines
            ],
        }


def statements(entries: Iterable[Entry]) -> list[Statement]:
    """A statement for every account, in the order in which they were opened; an entry that cannot be read is a `LedgerError`."""
    found: dict[str, Statement] = {}
    lines: dict[int, StatementLine] = {}
    for entry in entries:
        try:
            if fault := entry.fault():
                raise LedgerError(
                    f"entry {entry.sequence} of the ledger {fault}; `dpstats ledger verify` says all that is wrong."
                )
            if entry.kind == OPEN:
                opening = opening_of(entry)
                found[entry.dataset] = Statement(entry.dataset, entry.time, opening, opening.terms.budget)
            elif entry.kind == AMEND and entry.key == BUDGET:
                about = found[entry.dataset]
                budget = amended(about.opening.terms.budget, entry.content())
                about.closed, about.budget = budget is None, budget or about.opening.terms.budget
            elif entry.kind == DEBIT:
                content = entry.content()
                first = lines[content["of"]] if "of" in content else None  # a cap or a population pays for its question
                question, details = (first.question, first.details) if first else (str(content["question"]), content["details"])
                line = lines[entry.sequence] = _line(entry, found[entry.dataset].opening.terms, question, details)
                found[entry.dataset].lines.append(line)
            elif entry.kind == ANSWER and not is_failure(entry):
                lines[entry.content()["debit"]].document = archived_document(entry)
        except (KeyError, TypeError, ValueError):
            raise LedgerError(f"entry {entry.sequence} of the ledger cannot be read: run `dpstats ledger verify`.") from None
    for statement in found.values():
        if statement.opening.population is not None:
            statement.population = found.get(population_name(statement.opening.population))
    return list(found.values())


def _line(debit: Entry, terms: Terms, question: str, details: dict[str, Any]) -> StatementLine:
    total, cost, loss = total_after(debit, terms.budget.keeper), cost_of(debit, terms), loss_of(debit)
    return StatementLine(debit.sequence, debit.time, question, cost, total, details, loss, actor=debit.actor)


def lines_of(table: EntryTable, debits: Sequence[Entry], terms: Terms) -> list[StatementLine]:
    """The lines of some debits of one account, with the answers that are archived."""
    return [_line_with_answer(table, debit, terms) for debit in debits]


def _line_with_answer(table: EntryTable, debit: Entry, terms: Terms) -> StatementLine:
    """A debit's line; that of a cap or a population names the question that the data set's has."""
    try:
        content = debit.content()
        first = table.numbered(content["of"]) if "of" in content else debit
        assert first is not None
        asked = first.content()
        line = _line(debit, terms, str(asked["question"]), asked["details"])
        for answer in table.with_key(first.dataset, ANSWER, first.key):
            if answer.content()["debit"] == first.sequence and not is_failure(answer):
                line.document = archived_document(answer)
        return line
    except (KeyError, TypeError, ValueError, AssertionError):
        raise LedgerError(f"entry {debit.sequence} of the ledger cannot be read: run `dpstats ledger verify`.") from None
