"""Standing: the budget of an account as it was last amended, and what has been spent of it.

The budget is that of the last amendment, or of the opening. An amendment may lower it below what was spent, or close the account:
then nothing is left. Nothing ever raises it by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpstats.accounting.accountants import Accountant, Total, read_exact
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import AMEND, DEBIT, OPEN, Entry
from dpstats.curator.ledger.openings import Opening, amounts, opening_of
from dpstats.curator.ledger.stores import Sought
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.privacy import PrivacyCost

BUDGET, POLICY = "budget", "policy"
"""What can be amended; the key of the entry."""


@dataclass(frozen=True)
class Standing:
    """How an account stands."""

    name: str
    opening: Opening
    budget: Budget
    """As it was last amended."""
    closed: bool
    """Whether nothing more may be spent, whatever the budget was."""
    total: Total
    """What has been spent, as the accountant counts it."""

    @property
    def accountant(self) -> Accountant:
        """Who adds the costs up."""
        return self.budget.keeper

    @property
    def terms(self) -> Terms:
        """The terms as they are now."""
        return replace(self.opening.terms, budget=self.budget)

    @cached_property
    def limit(self) -> Total:
        """The largest total that is allowed."""
        return Total() if self.closed else self.budget.limit

    @property
    def left(self) -> Total:
        """What has not been spent; nothing where more was spent than is allowed now."""
        total = Total(min(self.total.loss, self.limit.loss), min(self.total.delta, self.limit.delta))
        return self.accountant.left(total, self.limit)

    @property
    def remaining(self) -> str:
        """What is left, in words: "epsilon = 1.4" or "rho = 0.08"."""
        return self.accountant.words(self.left, down=True)

    @property
    def spent(self) -> PrivacyCost:
        """The (epsilon, delta) that has been spent."""
        return self.terms.cost(*self.budget.amounts_to(self.total))


def least_left(standings: Sequence[Standing]) -> Total:
    """What is left for a question that all of some accounts pay for, as the first one counts; of accounts that count otherwise
    nothing can be said in its terms."""
    alike = [each.left for each in standings if each.accountant == standings[0].accountant]
    return Total(min(left.loss for left in alike), min(left.delta for left in alike))


def least_in_words(standings: Sequence[Standing]) -> str:
    """What is left for a question that all of some accounts pay for; where that is not what the first one has, it is named whose
    it is."""
    tight = min(standings, key=lambda each: (each.accountant.largest_epsilon(each.total, each.limit), each.left.delta))
    if tight.accountant != standings[0].accountant:
        return f"{tight.remaining} (of {tight.name})"
    words = tight.accountant.words(least_left(standings), down=True)
    return words if tight is standings[0] else f"{words} (of {tight.name})"


def sought_for(name: str) -> list[Sought]:
    """The entries that say how an account stands."""
    return [(name, OPEN, None), (name, AMEND, BUDGET), (name, DEBIT, None)]


def standing(name: str, opened: Entry, amendment: Entry | None, debit: Entry | None) -> Standing:
    """How an account stands, from its opening, the last amendment of its budget and its last debit."""
    opening = opening_of(opened)
    budget, closed = opening.terms.budget, False
    if amendment is not None:
        said = amendment.read(lambda content: amended(opening.terms.budget, content), "has no budget that can be read")
        budget, closed = (budget, True) if said is None else (said, False)
    return Standing(name, opening, budget, closed, total_after(debit, budget.keeper))


def amended(opened: Budget, content: Mapping[str, Any]) -> Budget | None:
    """The budget that an amendment sets, for an account that was opened with another; None where it closes the account."""
    if content["budget"] is None:
        return None
    said = amounts(content["budget"])
    budget = Budget(read_exact(said["epsilon"]), read_exact(said["delta"]), opened.accountant)
    if complaint := complaint_about(opened, budget):
        raise ValueError(complaint)
    return budget


def complaint_about(opened: Budget, asked: Budget) -> str | None:
    """Why an account that was opened with one budget cannot have another, or None."""
    if asked.accountant != opened.accountant:
        return f"its costs are added up by the accountant {opened.accountant!r}, and so is every budget of it"
    if asked.keeper != opened.keeper:
        return (
            f"the accountant {opened.accountant!r} adds up at an order that belongs to the first budget; only that one, or none, "
            "can be set"
        )
    return None


def total_after(debit: Entry | None, accountant: Accountant) -> Total:
    """The running total that the last debit of an account carries."""
    if debit is None:
        return Total()
    return debit.read(lambda content: accountant.from_dict(content["total"]), "has no total that can be read")
