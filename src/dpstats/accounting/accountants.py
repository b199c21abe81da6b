"""Accountants: how the costs of many questions add up, and when the sum has reached a budget.

An accountant keeps two rational numbers, a loss and a delta. `basic` adds epsilons; `zcdp` adds rho = epsilon**2 / 2, which
lets many small questions fit where their epsilons alone would not.

Claim      Questions that are asked one after another, each chosen after seeing all earlier answers and each
           (epsilon_i, delta_i)-DP, are together (epsilon, delta)-DP, as long as every total fits the limit of that budget
Neighbors  The relation and the unit for which the questions' own costs hold; all of them the same
Why        With probability delta_i a question may show everything; otherwise its likelihood ratio is within e**epsilon_i.
           Ratios multiply, so epsilons add, or their Renyi divergences do; see accountants.proof.md
Numerics   Exact rationals. A charge of more than 18 decimal digits and a total whose denominator has grown too long are rounded
           up, the largest rho is rounded down, all of it deterministic, so that an auditor gets the same totals again
Source     Kairouz, Oh & Viswanath 2015; Bun & Steinke 2016; costs chosen on the way: Rogers et al. 2016, Feldman & Zrnic 2021,
           Whitehouse et al. 2023
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
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

    @abstractmethod
    def loss(self, epsilon: Fraction) -> Fraction:
        """What a question of this epsilon loses."""

    @abstractmethod
    def epsilon(self, loss: Fraction) -> Fraction:
        """About the largest epsilon that loses no more than this."""

    @abstractmethod
    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """The largest total within a budget of (epsilon, delta); raises `InvalidParameterError` where there is none."""

    @abstractmethod
    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The (epsilon, delta) that a total amounts to under a budget with this delta, rounded up."""

    def charge(self, cost: PrivacyCost) -> Total:
        """What a question of this cost adds to a total."""
        return Total(_rounded_charge(self.loss(cost.epsilon)), _rounded_charge(cost.delta))

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

    def loss(self, epsilon: Fraction) -> Fraction:
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
    """A question is epsilon**2 / 2 zero-concentrated, apart from its delta; those add. Half of the budget's delta pays for
    turning rho back into an epsilon, the other half for the questions' own deltas.
    """

    name = "zcdp"
    loss_name = "rho"

    def loss(self, epsilon: Fraction) -> Fraction:
        """The rho of an epsilon-DP question."""
        return epsilon**2 / 2

    def epsilon(self, loss: Fraction) -> Fraction:
        """The square root of twice rho, down to a multiple of 10**-9."""
        return Fraction(floor(sqrt_bounds(2 * loss, _BITS)[0] * COARSE), COARSE)

    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        """The largest rho with rho + 2 sqrt(rho ln(2/delta)) <= epsilon, down to a multiple of 10**-30, and half of delta."""
        if not delta:
            raise InvalidParameterError("the accountant 'zcdp' needs a budget with a delta above 0, such as delta=1e-6.")
        log_high = log_bounds(2 / delta, _DIGITS)[1]
        roots = sqrt_bounds(log_high + epsilon, _BITS)[1] + sqrt_bounds(log_high, _BITS)[1]
        return Total(Fraction(floor((epsilon / roots) ** 2 * FINEST_TOTAL), FINEST_TOTAL), delta / 2)

    def amounts_to(self, total: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """rho + 2 sqrt(rho ln(2/delta)), and half of delta beside the questions' own."""
        if not total.loss:
            return Fraction(0), total.delta
        root = sqrt_bounds(total.loss * log_bounds(2 / delta, _DIGITS)[1], _BITS)[1]
        return total.loss + 2 * root, delta / 2 + total.delta


ACCOUNTANTS: Mapping[str, Accountant] = {each.name: each for each in (BasicAccountant(), ZcdpAccountant())}


def accountant_named(name: object) -> Accountant:
    """The accountant of that name."""
    if not isinstance(name, str) or name not in ACCOUNTANTS:
        known = " or ".join(repr(each) for each in ACCOUNTANTS)
        raise InvalidParameterError(f"accountant must be {known}, got {name!r}.")
    return ACCOUNTANTS[name]


def read_exact(text: object) -> Fraction:
    """The rational of at least 0 that `str` wrote; raises `ValueError` for any other text, and at once for an endless one."""
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not _EXACT.fullmatch(text):
        raise ValueError("not an exact number")
    number = Fraction(text)
    if str(number) != text:
        raise ValueError("not in lowest terms")
    return number


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
