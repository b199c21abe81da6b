"""An account: one data set in a ledger, with its terms, its debits and its archive of answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from dpstats.accounting.accountants import Accountant, Total, checked_factor, read_exact
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import ANSWER, DEBIT, OPEN, VERSION, WITH_LOSS, Entry, digest
from dpstats.curator.ledger.stores import PAGE, EntryTable
from dpstats.curator.ledger.terms import Terms
from dpstats.curator.ledger.writer import Page, Writer
from dpstats.foundations.errors import BudgetError, InvalidParameterError, LedgerError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS

LONGEST_KEY = 200


@dataclass(frozen=True)
class Receipt:
    """What a debit hands back: it was paid, and is on the disk."""

    dataset: str
    sequence: int
    key: str
    hash: str
    total: Total
    """What the data set has spent, this debit included."""


class AccountReader:
    """One data set of a ledger, to be looked at."""

    def __init__(self, writer: Writer, dataset: str, terms: Terms) -> None:
        self.dataset = dataset
        self.terms = terms
        self._writer = writer

    @property
    def budget(self) -> Budget:
        """What all questions may spend together."""
        return self.terms.budget

    @property
    def accountant(self) -> Accountant:
        """Who adds the costs up."""
        return self.budget.keeper

    @property
    def total(self) -> Total:
        """What has been spent, as the accountant counts it."""
        return total_after(self._last_debit(), self.accountant)

    @property
    def left(self) -> Total:
        """What has not been spent, as the accountant counts it."""
        return self.accountant.left(self.total, self.budget.limit)

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest epsilon that one more question without a delta may have."""
        return self.accountant.largest_epsilon(self.total, self.budget.limit)

    @property
    def last_question(self) -> tuple[str, PrivacyCost, Fraction] | None:
        """The question that was paid for last, what it cost, and the loss of its method."""
        debit = self._last_debit()
        return None if debit is None else (debit.content()["question"], cost_of(debit, self.terms), loss_of(debit))

    @property
    def spent(self) -> PrivacyCost:
        """The (epsilon, delta) that has been spent."""
        return self.terms.cost(*self.budget.amounts_to(self.total))

    @property
    def remaining(self) -> str:
        """What is left, in words: "epsilon = 1.4" or "rho = 0.08"."""
        return self.budget.remaining(self.total)

    @property
    def opening(self) -> str:
        """The hash of the entry that opened the data set; no other data set has it."""
        entry = self._writer.read(lambda table: table.latest(self.dataset, OPEN))
        assert entry is not None
        return entry.hash

    def how_many(self, cost: PrivacyCost, loss: Fraction = PURE_LOSS) -> int:
        """How many more questions of this cost fit; `loss` is rho / epsilon**2 of their method."""
        return self.budget.how_many(self._own(cost), self.total, loss)

    def entries(self) -> list[Entry]:
        """All entries about this data set, in order."""
        return [entry for entry in all_entries(self._writer) if entry.dataset == self.dataset]

    def recall(self, key: str) -> dict[str, Any] | None:
        """The archived document of an identical question, at no cost; the first one, where there are several."""
        answers = self._writer.read(lambda table: table.with_key(self.dataset, ANSWER, _checked_key(key)))
        return archived_document(answers[0]) if answers else None

    def debit_behind(self, key: str) -> Entry:
        """The debit that paid for what `recall` finds."""
        answers = self._writer.read(lambda table: table.with_key(self.dataset, ANSWER, _checked_key(key)))
        if not answers:
            raise LedgerError("there is no archived answer to this question.")
        return self.entry(answers[0].read(lambda content: int(content["debit"]), "names no debit"))

    def entry(self, sequence: int) -> Entry:
        """The entry of that number."""
        found = self._writer.read(lambda table: table.page(after=sequence - 1))
        if not found or found[0].sequence != sequence:
            raise LedgerError(f"the ledger has no entry {sequence}: run `dpstats ledger verify`.")
        return found[0]

    def _last_debit(self) -> Entry | None:
        return self._writer.read(lambda table: table.latest(self.dataset, DEBIT))

    def _own(self, cost: PrivacyCost) -> PrivacyCost:
        if (cost.neighbors, cost.unit) != (self.terms.neighbors, self.terms.unit):
            raise InvalidParameterError(
                f"{self.dataset} is charged per {self.terms.unit} under {self.terms.neighbors.value}; "
                f"this cost is per {cost.unit} under {cost.neighbors.value}."
            )
        return cost


class Account(AccountReader):
    """One data set of a ledger, to be written to. Its total only ever grows: there is nothing here that gives back."""

    _seen: tuple[Entry | None, Total] = (None, Total())
    """Some debit, and the total in it: most often the next one to be built on, which then need not be read again."""

    def reader(self) -> AccountReader:
        """The same data set, only to be looked at."""
        return AccountReader(self._writer, self.dataset, self.terms)

    def debit(
        self,
        key: str,
        question: str,
        cost: PrivacyCost,
        details: Mapping[str, object] | None = None,
        loss: Fraction = PURE_LOSS,
    ) -> Receipt:
        """Spend a cost; it is on the disk when this returns. Raises `BudgetError`, and spends nothing, where it does not fit.

        `key` names the question: the same for identical questions, such as a hash of everything that tells them apart.
        `details` are plain values for whoever reads the ledger: method, version, parameters. `loss` is rho / epsilon**2 of the
        method, for the unit; it is written down where the charge depends on it.
        """
        _checked_key(key)
        charge = self.accountant.charge(self._own(cost), loss)
        names_loss = self.accountant.weighs_methods and loss != PURE_LOSS
        amounts = {"epsilon": str(cost.epsilon), "delta": str(cost.delta), **({"loss": str(loss)} if names_loss else {})}
        version = WITH_LOSS if names_loss else VERSION

        def spend(page: Page) -> Receipt:
            before = self._total_after(page.latest(self.dataset, DEBIT))
            total = self.accountant.add(before, charge)
            if not total <= self.budget.limit:
                raise BudgetError(self._refusal(charge, before))
            content = {
                "question": question,
                "cost": amounts,
                "total": self.accountant.to_dict(total),
                "details": dict(details or {}),
            }
            entry = page.append(self.dataset, DEBIT, key, content, version)
            self._seen = entry, total
            return Receipt(self.dataset, entry.sequence, key, entry.hash, total)

        return self._writer.write(spend)

    def record(self, receipt: Receipt, document: Mapping[str, object]) -> None:
        """Put the answer to a debit into the archive; that spends nothing and gives nothing back."""
        try:
            text = json.dumps(document, ensure_ascii=True, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise InvalidParameterError("a document for the archive must hold plain JSON values.") from None
        content = {"debit": receipt.sequence, "digest": digest(text), "document": text}

        def archive(page: Page) -> None:
            debits = page.with_key(self.dataset, DEBIT, receipt.key)
            if (receipt.sequence, receipt.hash) not in ((debit.sequence, debit.hash) for debit in debits):
                raise LedgerError("this receipt is not of this ledger and data set, so its answer is not archived here.")
            answered = (answer.content()["debit"] for answer in page.with_key(self.dataset, ANSWER, receipt.key))
            if receipt.sequence in answered:
                raise LedgerError("this debit has been answered already; an archived answer is never replaced.")
            page.append(self.dataset, ANSWER, receipt.key, content)

        self._writer.write(archive)

    def _total_after(self, debit: Entry | None) -> Total:
        seen, total = self._seen
        return total if debit == seen else total_after(debit, self.accountant)

    def _refusal(self, charge: Total, total: Total) -> str:
        amount = "epsilon" if total.loss + charge.loss > self.budget.limit.loss else "delta"
        return (
            f"this question costs {self.accountant.words(charge)}, and of the budget of {self.dataset}, {self.budget}, there is "
            f"{self.budget.remaining(total)} left. Nothing was spent. Ask with a smaller {amount}, or ask less."
        )


def total_after(debit: Entry | None, accountant: Accountant) -> Total:
    """The running total that the last debit of a data set carries."""
    if debit is None:
        return Total()
    return debit.read(lambda content: accountant.from_dict(content["total"]), "has no total that can be read")


def cost_of(debit: Entry, terms: Terms) -> PrivacyCost:
    """What a debit cost."""
    cost = debit.content()["cost"]
    return terms.cost(read_exact(cost["epsilon"]), read_exact(cost["delta"]))


def loss_of(debit: Entry) -> Fraction:
    """The loss of a debit's method: 1/2 in version 1, which names none; raises `ValueError` where it cannot be read."""
    cost = debit.content()["cost"]
    if debit.version == VERSION:
        return PURE_LOSS
    loss = checked_factor(read_exact(cost["loss"]))
    if loss == PURE_LOSS:
        raise ValueError("a loss of 1/2 is not written down")
    return loss


def archived_document(answer: Entry) -> dict[str, Any]:
    """The document that an answer holds, if it is the one that was archived."""

    def document(content: Mapping[str, Any]) -> dict[str, Any]:
        if digest(content["document"]) != content["digest"]:
            raise ValueError("another document")
        found: dict[str, Any] = json.loads(content["document"])
        return found

    return answer.read(document, "is not the answer that was archived")


def all_entries(writer: Writer) -> list[Entry]:
    """Every entry of a ledger, in order."""
    entries: list[Entry] = []
    while True:
        found = writer.read(partial(EntryTable.page, after=entries[-1].sequence if entries else None))
        entries += found
        if len(found) < PAGE:
            return entries


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise InvalidParameterError(
            f"a key must be printable ASCII text of 1 to {LONGEST_KEY} letters, such as a hash of the question."
        )
    return key
