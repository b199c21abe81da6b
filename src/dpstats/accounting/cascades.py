"""What propose-test-release functions cost when they are put together.

A propose-test-release (PTR) function tests, and releases if the test passes. Its price has two sides, because a refusal
says less than a reply: a refusal moves by e**refusal between neighbours, a reply by e**reply up to delta. Each rule below
gives the price of a composite twice, by the theorem as it was printed and by a sharper one.

Claim      A composite whose parts have the prices given is (printed.epsilon, printed.delta)-DP and
           (sharp.epsilon, sharp.delta)-DP
Neighbors  The relation for which the parts' prices hold; for `beside` every part may see the changed row
Why        cascades.proof.md
Numerics   Exact rationals; where a logarithm is needed it is rounded up
Source     Dwork & Lei 2009, Definitions 13 to 19 and Theorems 16 to 22; subsampling: Balle, Barthe & Gaboardi 2018
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import exp_bounds, log_bounds

_BITS = 256


@dataclass(frozen=True)
class Price:
    """What a refusal and what a reply cost, and with which delta."""

    refusal: Fraction
    reply: Fraction
    delta: Fraction

    @property
    def epsilon(self) -> Fraction:
        """What any outcome costs."""
        return max(self.refusal, self.reply)


@dataclass(frozen=True)
class Prices:
    """The price of a composite by the printed theorem and by the sharper rule."""

    printed: Price
    sharp: Price

    def by(self, rule: object) -> Price:
        """The price by the rule of that name."""
        if rule == "sharp":
            return self.sharp
        if rule == "printed":
            return self.printed
        raise InvalidParameterError(f"rule must be 'sharp' or 'printed', got {rule!r}.")


@dataclass(frozen=True)
class TestedStep:
    """The budget of one PTR function (Definition 13): its test, its release, and the chance of a wrong pass."""

    test_epsilon: Fraction
    release_epsilon: Fraction
    delta: Fraction


def first_reply(steps: Sequence[TestedStep], same_release: bool) -> Prices:
    """A cascade (Definition 14): the steps in order until one replies.

    Printed (Theorem 17, one level): every test, and one release. Sharper: a reply from step j has used the tests up to j
    alone; and where all steps release the same law (`same_release`), a reply says only that some test passed, and the chance
    of that moves by no more than the largest single test allows.
    """
    tests = [step.test_epsilon for step in steps]
    refusal = sum(tests, Fraction(0))
    printed = refusal + max(step.release_epsilon for step in steps)
    if same_release:
        reply = max(tests) + max(step.release_epsilon for step in steps)
    else:
        reply = max(sum(tests[: place + 1], step.release_epsilon) for place, step in enumerate(steps))
    delta = sum((step.delta for step in steps), Fraction(0))
    sharp_delta = 1 - prod((1 - step.delta for step in steps), start=Fraction(1))
    return Prices(Price(printed, printed, delta), Price(refusal, reply, sharp_delta))


def in_turn(levels: Sequence[Prices]) -> Prices:
    """Levels (Definitions 15 and 18, Theorem 22): each proposes from the reply of the one before, and a refusal ends all."""
    return Prices(_path([level.printed for level in levels]), _path([level.sharp for level in levels]))


def beside(parts: Sequence[Prices]) -> Prices:
    """Parts that all may see the changed row (Definition 19, Corollary 20): their costs add up."""
    return Prices(_sum([part.printed for part in parts]), _sum([part.sharp for part in parts]))


def on_disjoint_rows(parts: Sequence[Prices]) -> Prices:
    """Parts of a random partition: by Corollary 20 the costs add up; sharper, the changed row lies in one part only."""
    largest = max(part.sharp.epsilon for part in parts)
    return Prices(_sum([part.printed for part in parts]), Price(largest, largest, max(part.sharp.delta for part in parts)))


def on_subsample(inner: Prices, fraction: Fraction) -> Prices:
    """A pipeline on a secret random sample of that fraction of the rows: as printed no cheaper; sharper, most rows are not in it.

    epsilon becomes ln(1 + fraction (e**epsilon - 1)) and delta shrinks by the fraction, for rows drawn independently under
    add/remove and for a fixed number drawn without replacement under change-one.
    """
    epsilon = inner.sharp.epsilon
    shrink_low = exp_bounds(epsilon, _BITS)[0]
    amplified = min(log_bounds(1 + fraction * (Fraction(1 << _BITS, shrink_low) - 1))[1], epsilon) if shrink_low else epsilon
    return Prices(inner.printed, Price(amplified, amplified, fraction * inner.sharp.delta))


def _path(prices: Sequence[Price]) -> Price:
    """Refused at one level after replies at all before it, or replied to the end."""
    spent, refusal, delta = Fraction(0), Fraction(0), Fraction(0)
    for price in prices:
        refusal = max(refusal, spent + price.refusal)
        spent += price.reply
        delta += price.delta
    return Price(refusal, spent, delta)


def _sum(prices: Sequence[Price]) -> Price:
    epsilon = sum((price.epsilon for price in prices), Fraction(0))
    return Price(epsilon, epsilon, sum((price.delta for price in prices), Fraction(0)))
