"""A budget: how much privacy all questions to one data set may spend together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpstats.accounting.accountants import Accountant, Total, accountant_named
from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.registry import PURE_LOSS
from dpstats.foundations.rounding import decimal_text


@dataclass(frozen=True)
class Budget:
    """Exact (epsilon, delta) for all questions together, and the accountant who adds them up.

    >>> Budget(3, 1e-6)
    Budget(epsilon=3, delta=0.000001, accountant='basic')
    >>> Budget(epsilon="1/3").how_many(PrivacyCost(0.1))
    3
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    accountant: str = "basic"

    def __init__(self, epsilon: Number, delta: Number = 0, accountant: str = "basic") -> None:
        object.__setattr__(self, "epsilon", spendable_epsilon(epsilon))
        object.__setattr__(self, "delta", spendable_delta(delta))
        object.__setattr__(self, "accountant", accountant_named(accountant).name)
        if not self.limit.loss:
            raise InvalidParameterError(f"a budget of {self} is too small for the accountant {accountant!r}: no question fits.")

    @cached_property
    def keeper(self) -> Accountant:
        """The accountant itself, as it suits this budget."""
        return accountant_named(self.accountant).for_budget(self.epsilon, self.delta)

    @cached_property
    def limit(self) -> Total:
        """The largest total that the accountant allows."""
        return self.keeper.limit(self.epsilon, self.delta)

    def fits(self, cost: PrivacyCost, total: Total | None = None, loss: Fraction = PURE_LOSS) -> bool:
        """Whether one more question of this cost fits, after a total; `loss` is rho / epsilon**2 of its method."""
        return self.keeper.fits(total or Total(), self.keeper.charge(cost, loss), self.limit)

    def how_many(self, cost: PrivacyCost, total: Total | None = None, loss: Fraction = PURE_LOSS) -> int:
        """How many more questions of this cost fit, after a total; `loss` is rho / epsilon**2 of their method."""
        return self.keeper.how_many(total or Total(), self.keeper.charge(cost, loss), self.limit)

    def remaining(self, total: Total | None = None) -> str:
        """What is left after a total, in words: "epsilon = 1.4" or "rho = 0.08"."""
        return self.keeper.words(self.keeper.left(total or Total(), self.limit), down=True)

    def amounts_to(self, total: Total) -> tuple[Fraction, Fraction]:
        """The (epsilon, delta) that a total amounts to; never above the budget that it fits."""
        epsilon, delta = self.keeper.amounts_to(total, self.delta)
        return (min(epsilon, self.epsilon) if total <= self.limit else epsilon), delta

    def __repr__(self) -> str:
        amounts = f"epsilon={decimal_text(self.epsilon)}, delta={decimal_text(self.delta)}"
        return f"Budget({amounts}, accountant={self.accountant!r})"

    def __str__(self) -> str:
        delta = f", delta = {decimal_text(self.delta)}" if self.delta else ""
        by = f" (accountant {self.accountant})" if self.accountant != "basic" else ""
        return f"epsilon = {decimal_text(self.epsilon)}{delta}{by}"

    def to_dict(self) -> dict[str, str]:
        """Exact texts, ready for JSON."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta), "accountant": self.accountant}
