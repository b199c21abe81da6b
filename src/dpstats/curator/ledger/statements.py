"""Statements: what a ledger says about each data set, for people who read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpstats.accounting.accountants import Total
from dpstats.curator.ledger.accounts import archived_document, cost_of, loss_of, total_after
from dpstats.curator.ledger.entries import ANSWER, DEBIT, OPEN, Entry
from dpstats.curator.ledger.terms import Terms, terms_of
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


@dataclass
class Statement:
    """One data set: its terms and its questions."""

    dataset: str
    opened: str
    terms: Terms
    lines: list[StatementLine] = field(default_factory=list)

    @property
    def total(self) -> Total:
        """What has been spent, as the accountant counts it."""
        return self.lines[-1].total if self.lines else Total()

    @property
    def spent(self) -> PrivacyCost:
        """The (epsilon, delta) that has been spent."""
        return self.terms.cost(*self.terms.budget.amounts_to(self.total))

    @property
    def remaining(self) -> str:
        """What is left, in words."""
        return self.terms.budget.remaining(self.total)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; amounts are exact texts."""
        keeper = self.terms.budget.keeper
        return {
            "dataset": self.dataset,
            "opened": self.opened,
            "terms": self.terms.content(),
            "total": keeper.to_dict(self.total),
            "spent": self.spent.to_dict(),
            "remaining": keeper.to_dict(keeper.left(self.total, self.terms.budget.limit)),
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
                }
                for line in self.lines
            ],
        }


def statements(entries: Iterable[Entry]) -> list[Statement]:
    """A statement for every data set, in the order in which they were opened; an entry that cannot be read is a `LedgerError`."""
    found: dict[str, Statement] = {}
    lines: dict[int, StatementLine] = {}
    for entry in entries:
        try:
            if fault := entry.fault():
                raise LedgerError(
                    f"entry {entry.sequence} of the ledger {fault}; `dpstats ledger verify` says all that is wrong."
                )
            if entry.kind == OPEN:
                found[entry.dataset] = Statement(entry.dataset, entry.time, terms_of(entry))
            elif entry.kind == DEBIT:
                lines[entry.sequence] = line = _line(entry, found[entry.dataset].terms)
                found[entry.dataset].lines.append(line)
            elif entry.kind == ANSWER:
                lines[entry.content()["debit"]].document = archived_document(entry)
        except (KeyError, TypeError, ValueError):
            raise LedgerError(f"entry {entry.sequence} of the ledger cannot be read: run `dpstats ledger verify`.") from None
    return list(found.values())


def _line(debit: Entry, terms: Terms) -> StatementLine:
    content = debit.content()
    total = total_after(debit, terms.budget.keeper)
    question, cost, loss = str(content["question"]), cost_of(debit, terms), loss_of(debit)
    return StatementLine(debit.sequence, debit.time, question, cost, total, content["details"], loss)
