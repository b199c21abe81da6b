"""Accountants: how the costs of many questions add up, and when the sum has reached a budget.

An accountant keeps a loss and a delta. `basic` adds epsilons; `zcdp` adds rho, a factor times epsilon**2, which fits more small
questions; `advanced` adds Renyi divergences at one order that suits the budget, and fits what `zcdp` does and more. The factor
belongs to the method: 1/2 for whatever is epsilon-DP, 1/8 for an exponential mechanism.

Claim      Questions that are asked one after another, each chosen after seeing all earlier answers and each
           (epsilon_i, delta_i)-DP, and factor_i * epsilon_i**2 zero-concentrated apart from delta_i, are together
           (epsilon, delta)-DP, as long as every total fits the limit of that budget
Neighbors  The relation and the unit for which the questions' own costs hold; all of them the same
Why        With probability delta_i a question may show everything; otherwise its likelihood ratio is within e**epsilon_i.
           Ratios multiply, so epsilons add, or their Renyi divergences do; see accountants.proof.md
Numerics   Exact rationals. A charge of more than 18 decimal digits and a total whose denominator has grown too long are rounded
           up, the largest rho and divergence are rounded down, all of it deterministic, so that an auditor gets the same totals
Source     Kairouz, Oh & Viswanath 2015; Bun & Steinke 2016; 1/8: Cesar & Rogers 2021; costs chosen on the way: Rogers et al.
           2016, Feldman & Zrnic 2021, Whitehouse et al. 2023
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lcm

from dpstats.accounting.orders import best_excess, conversion, divergence
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import LARGEST_EPSILON, PrivacyCost
from dpstats.foundations.registry import PURE_LOSS
from dpstats.foundations.rounding import decimal_text, log_bounds, sqrt_bounds

COARSE = 10**9
FINEST_CHARGE = 10**18
FINEST_TOTAL = 10**30
LONGEST_DENOMINATOR = 2**512
_DIGITS, _BITS = 60, 256
_EXACT = re.compile(r"[0-9]+(/[1-9][0-9]*)?")
_LONGEST_TEXT = 3000


@dataclass(frozen=True)
class Total:
    """What has been spent, as an accountant counts it: a loss (its epsilon or rho) and a delta."""

    loss: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __le__(self, other: Total) -> bool:
        """Whether this fits within `other`: neither its loss nor its delta is larger."""
        return self.loss <= other.loss and self.delta <= other.delta


class Accountant(ABC):
    """One way to add up costs. A subclass says what one question loses, how much a budget allows, and what a loss amounts to."""

    name: str
    loss_name: str
    weighs_methods = True
    """Whether what a question loses depends on its method's factor, and not on epsilon alone."""

    @abstractmethod
    def loss(self, epsilon: Fraction, factor: Fraction = PURE_LOSS) -> Fraction:
        """What a question of this epsilon loses, if its rho is at most factor * epsilon**2."""

    @abstractmethod
    def epsilon(self, loss: Fraction) -> Fraction:
        """About the largest epsilon that loses no more than this, whatever the method."""

    @abstractmethod
    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """The largest total within a budget of (epsilon, delta); raises `InvalidParameterError` where there is none."""

    @abstractmethod
    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The (epsilon, delta) that a total amounts to under a budget with this delta, rounded up."""

    def for_budget(self, epsilon: Fraction, delta: Fraction) -> Accountant:
        """The accountant that suits a budget; the same for equal budgets, always."""
        return self

    def charge(self, cost: PrivacyCost, loss: Fraction = PURE_LOSS) -> Total:
        """What a question of this cost adds to a total; `loss` is rho / epsilon**2 of its method, at most."""
        return Total(_rounded_charge(self.loss(cost.epsilon, checked_factor(loss))), _rounded_charge(cost.delta))

    def add(self, total: Total, charge: Total) -> Total:
        """The total after one more charge. There is no way back: no accountant subtracts."""
        return Total(_rounded_total(total.loss + charge.loss), _rounded_total(total.delta + charge.delta))

    def fits(self, total: Total, charge: Total, limit: Total) -> bool:
        """Whether one more charge stays within the limit."""
        return self.add(total, charge) <= limit

    def left(self, total: Total, limit: Total) -> Total:
        """What a total leaves of a limit that it fits."""
        return Total(limit.loss - total.loss, limit.delta - total.delta)

    def how_many(self, total: Total, charge: Total, limit: Total) -> int:
        """How many more questions of one charge fit, one after another; exact."""
        if not (charge.loss or charge.delta):
            raise InvalidParameterError("a question that costs nothing fits any number of times.")
        count = 0
        while _grows_too_long(total, charge) and self.fits(total, charge, limit):  # rounding ends this after a few steps
            total, count = self.add(total, charge), count + 1
        if not self.fits(total, charge, limit):
            return count
        left = self.left(total, limit)
        pairs = ((left.loss, charge.loss), (left.delta, charge.delta))
        return count + min(floor(room / each) for room, each in pairs if each)

    def largest_epsilon(self, total: Total, limit: Total) -> Fraction:
        """The largest epsilon, down to some multiple of 10**-9, that one more question without a delta may have."""
        room = max(limit.loss - total.loss, Fraction(0))
        epsilon = self.epsilon(room)
        while epsilon > 0 and not self.fits(total, self.charge(PrivacyCost(epsilon)), limit):
            epsilon = Fraction(ceil(epsilon * COARSE) - 1, COARSE)
        return max(epsilon, Fraction(0))

    def words(self, total: Total, *, down: bool = False) -> str:
        """A total for people, such as "epsilon = 1.4" or "rho = 0.08"; rounded up, or down where it says what is left."""
        text = _text_down if down else decimal_text
        loss = f"{self.loss_name} = {text(total.loss)}"
        return f"{loss}, delta = {text(total.delta)}" if total.delta else loss

    def to_dict(self, total: Total) -> dict[str, str]:
        """A total as exact texts."""
        return {self.loss_name: str(total.loss), "delta": str(total.delta)}

    def from_dict(self, texts: Mapping[str, str]) -> Total:
        """The total that `to_dict` wrote; raises `KeyError` or `ValueError` for anything else."""
        total = Total(read_exact(texts[self.loss_name]), read_exact(texts["delta"]))
        if self.to_dict(total) != texts:
            raise ValueError("not a total")
        return total


class BasicAccountant(Accountant):
    """Epsilons and deltas add."""

    name = "basic"
    loss_name = "epsilon"
    weighs_methods = False

    def loss(self, epsilon: Fraction, factor: Fraction = PURE_LOSS) -> Fraction:
        """The epsilon itself."""
        return epsilon

    def epsilon(self, loss: Fraction) -> Fraction:
        """The loss itself, unless it is too long to be charged."""
        return loss if loss.denominator <= FINEST_CHARGE else Fraction(floor(loss * COARSE), COARSE)

    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """The budget itself."""
        return Total(epsilon, delta)

    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The total itself."""
        return total.loss, total.delta


class ZcdpAccountant(Accountant):
    """A question is factor * epsilon**2 zero-concentrated, apart from its delta; those add. Half of the budget's delta pays
    for turning rho back into an epsilon, the other half for the questions' own deltas.
    """

    name = "zcdp"
    loss_name = "rho"

    def loss(self, epsilon: Fraction, factor: Fraction = PURE_LOSS) -> Fraction:
        """The rho of the question."""
        return factor * epsilon**2

    def epsilon(self, loss: Fraction) -> Fraction:
        """The square root of twice rho, down to a multiple of 10**-9."""
        return Fraction(floor(sqrt_bounds(2 * loss, _BITS)[0] * COARSE), COARSE)

    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """The largest rho with rho + 2 sqrt(rho ln(2/delta)) <= epsilon, down to a multiple of 10**-30, and half of delta."""
        _require_delta(delta, self.name)
        log_high = log_bounds(2 / delta, _DIGITS)[1]
        roots = sqrt_bounds(log_high + epsilon, _BITS)[1] + sqrt_bounds(log_high, _BITS)[1]
        return Total(Fraction(floor((epsilon / roots) ** 2 * FINEST_TOTAL), FINEST_TOTAL), delta / 2)

    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """rho + 2 sqrt(rho ln(2/delta)), and half of delta beside the questions' own."""
        if not total.loss:
            return Fraction(0), total.delta
        root = sqrt_bounds(total.loss * log_bounds(2 / delta, _DIGITS)[1], _BITS)[1]
        return total.loss + 2 * root, delta / 2 + total.delta


@dataclass(frozen=True)
class AdvancedAccountant(Accountant):
    """A question has a Renyi divergence at one order, apart from its delta; those add, whoever chooses the questions and when.

    The order is that at which the most small questions fit the budget, and belongs to the budget for good. Half of delta pays for
    turning the divergence back into an epsilon, the other half for the questions' own deltas.
    """

    excess: Fraction = Fraction(16)
    """The order, less 1."""
    name = "advanced"
    loss_name = "divergence"

    def for_budget(self, epsilon: Fraction, delta: Fraction) -> Accountant:
        """The accountant of the best order for many small questions, which lose in proportion to it."""
        _require_delta(delta, self.name)
        return AdvancedAccountant(_order_for(epsilon, delta / 2))

    def loss(self, epsilon: Fraction, factor: Fraction = PURE_LOSS) -> Fraction:
        """The divergence of the question."""
        return divergence(epsilon, self.excess, factor)

    def epsilon(self, loss: Fraction) -> Fraction:
        """By bisection, down to a multiple of 10**-9; a question never loses more than its epsilon."""
        low, high = floor(loss * COARSE), floor(loss * COARSE) + 1
        while self.loss(Fraction(high, COARSE)) <= loss:
            low, high = high, 2 * high
            if high > COARSE * LARGEST_EPSILON:
                return LARGEST_EPSILON
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.loss(Fraction(middle, COARSE)) <= loss else (low, middle)
        return Fraction(low, COARSE)

    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """What the conversion leaves of epsilon, down to a multiple of 10**-30, and half of delta."""
        _require_delta(delta, self.name)
        room = epsilon - conversion(self.excess, delta / 2)
        return Total(Fraction(max(0, floor(room * FINEST_TOTAL)), FINEST_TOTAL), delta / 2)

    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The divergence and its conversion, and half of delta beside the questions' own."""
        if not total.loss:
            return Fraction(0), total.delta
        return max(total.loss + conversion(self.excess, delta / 2), Fraction(0)), delta / 2 + total.delta


ACCOUNTANTS: Mapping[str, Accountant] = {each.name: each for each in (BasicAccountant(), ZcdpAccountant(), AdvancedAccountant())}


def accountant_named(name: object) -> Accountant:
    """The accountant of that name."""
    if not isinstance(name, str) or name not in ACCOUNTANTS:
        known = ", ".join(repr(each) for each in ACCOUNTANTS)
        raise InvalidParameterError(f"accountant must be one of {known}, got {name!r}.")
    return ACCOUNTANTS[name]


def checked_factor(factor: Fraction) -> Fraction:
    """A method's rho / epsilon**2: above 0, and at most 1/2, which holds for every method."""
    if not 0 < factor <= PURE_LOSS:
        raise InvalidParameterError("the loss of a method is rho / epsilon**2: above 0, and at most 1/2.")
    return factor


def read_exact(text: object) -> Fraction:
    """The rational of at least 0 that `str` wrote; raises `ValueError` for any other text, and at once for an endless one."""
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not _EXACT.fullmatch(text):
        raise ValueError("not an exact number")
    number = Fraction(text)
    if str(number) != text:
        raise ValueError("not in lowest terms")
    return number


@lru_cache(maxsize=256)
def _order_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The excess at which a small question takes the smallest share of what is left of epsilon after the conversion."""
    return best_excess(lambda excess: (conversion(excess, delta) - epsilon) / (1 + excess))


def _require_delta(delta: Fraction, name: str) -> None:
    if not delta:
        raise InvalidParameterError(f"the accountant {name!r} needs a budget with a delta above 0, such as delta=1e-6.")


def _rounded_charge(amount: Fraction) -> Fraction:
    if amount.denominator <= FINEST_CHARGE:
        return amount
    return Fraction(ceil(amount * FINEST_CHARGE), FINEST_CHARGE)


def _rounded_total(amount: Fraction) -> Fraction:
    if amount.denominator <= LONGEST_DENOMINATOR:
        return amount
    return Fraction(ceil(amount * FINEST_TOTAL), FINEST_TOTAL)


def _grows_too_long(total: Total, charge: Total) -> bool:
    """Whether adding the charge again and again could need rounding."""
    pairs = ((total.loss, charge.loss), (total.delta, charge.delta))
    return any(lcm(old.denominator, new.denominator) > LONGEST_DENOMINATOR for old, new in pairs)


def _text_down(amount: Fraction) -> str:
    return decimal_text(-amount).replace("-", "", 1) if amount else "0"
