"""Amounts as people type them, read exactly."""

from __future__ import annotations

from fractions import Fraction

from dpstats.accounting.budgets import Budget
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon

_LONGEST, _LARGEST_POWER = 60, 30


def epsilon_of(given: str | float) -> Fraction:
    """An epsilon: above 0, and exact."""
    return spendable_epsilon(exact_of(given, "epsilon"))


def budget_of(epsilon: str | float | None, delta: str | float | None, accountant: str, *, usual_delta: Fraction) -> Budget:
    """A budget of the same accountant as others; a delta that is left out is the usual one."""
    if epsilon is None:
        raise InvalidParameterError("epsilon of a budget must be a number, such as 3.")
    amount = usual_delta if delta is None else spendable_delta(exact_of(delta, "delta"))
    return Budget(epsilon_of(epsilon), amount, accountant)


def exact_of(given: str | float, name: str) -> Fraction:
    """The number that somebody has written."""
    text = str(given).strip().lower()
    try:
        if len(text) > _LONGEST or ("e" in text and abs(int(text.partition("e")[2])) > _LARGEST_POWER):
            raise ValueError(text)
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameterError(f"{name} must be a number, such as 0.5.") from None
