"""What is left of a budget, also as a number of questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpstats.accounting.accountants import Total
from dpstats.accounting.groups import steps_between, unit_loss
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.rows_per_unit import recalled, rows_used_on
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import ask
from dpstats.foundations.text_tables import counted


@dataclass(frozen=True)
class LeftAfter:
    """What a question would leave of an account, if it was asked now."""

    fits: bool
    """Whether there is enough for it."""
    leaves: str
    """What would be left, in words: "epsilon = 1.2"; what is left now, where it does not fit."""
    more: int
    """How many more of the same would fit after it."""
    shared: bool = False
    """Whether it does not fit because others who pay for it too have less left."""

    def __str__(self) -> str:
        if self.shared:
            return "more than is left for everybody"
        return f"leaves {self.leaves}: about {self.more:,} more of these" if self.fits else f"more than is left, {self.leaves}"


def left_after(account: AccountReader, cost: PrivacyCost, loss: Fraction) -> LeftAfter:
    """What a question leaves, exactly as the account's accountant counts; `loss` is rho / epsilon**2 of its method."""
    now = account.standing
    charge = now.accountant.charge(cost, loss)
    count = now.accountant.how_many(now.total, charge, now.limit)
    if not count:
        return LeftAfter(False, now.remaining, 0)
    return LeftAfter(True, replace(now, total=now.accountant.add(now.total, charge)).remaining, count - 1)


class Remaining:
    """What is left of an account. It looks into the ledger when it is asked, so it counts what others have spent by then."""

    def __init__(self, account: AccountReader) -> None:
        self._account = account

    @property
    def epsilon(self) -> Fraction:
        """The largest epsilon that one more question may have."""
        return self._account.largest_epsilon

    @property
    def delta(self) -> Fraction:
        """The largest delta that one more question may have."""
        return self._account.largest_delta

    def more(self, statistic: str, *parameters: object, epsilon: object = None, delta: object = 0, **keywords: Any) -> int:
        """How many more questions like this one fit: more("median", epsilon=0.1)."""
        terms = self._account.terms
        question = ask(
            statistic, *parameters, epsilon=epsilon, delta=delta, unit=terms.unit, neighbors=terms.neighbors, **keywords
        )
        steps = steps_between(question.neighbors, rows_used_on(self._account))
        return self._account.how_many(question.cost, unit_loss(question.largest_loss, question.delta, steps))

    def __str__(self) -> str:
        last, found = self._account.last_question, recalled(self._account)
        if last is None or (found is not None and last[0] == found.question):  # which nobody asks twice
            is_whole = all(each.total == Total() for each in self._account.paying)
            return f"{self._account.remaining}{', all of it' if is_whole else ''}"
        question, cost, loss = last
        count = self._account.how_many(cost, loss)
        more = f"about {counted(count, 'more question')}" if count else "too little for one more question"
        return f"{self._account.remaining}, {more} such as {question} at {cost}"

    def __repr__(self) -> str:
        return f"Remaining({self})"
