"""Zero-concentrated privacy: rho of a pure question, an exponential mechanism or Gaussian noise, and what a rho amounts to.

Claim      rho-zCDP of what each function says; `zcdp_to_cost` gives an (epsilon, delta) that rho-zCDP implies, `zcdp_within` a
           rho that implies a wanted (epsilon, delta). Rhos of questions with prices fixed ahead, or held to a limit, add up
Neighbors  The relation and the unit for which epsilon, or the sensitivity, holds
Why        A pure question is no worse than randomized response, whose divergence over order is largest at order 1:
           epsilon tanh(epsilon / 2). The privacy loss of an exponential mechanism lies in an interval of length epsilon. Back by
           orders.py, at the best order of a grid. See composition.proof.md
Numerics   Exact rationals, rounded up to multiples of 10**-18 (`zcdp_within`: down, of 10**-30)
Source     Bun & Steinke 2016; Cesar & Rogers 2021; Canonne, Kamath & Steinke 2020
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from dpstats.accounting.orders import best_excess, conversion
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.rounding import exact_rational, exp_bounds

FINEST_EPSILON = 10**18
_FINEST_RHO = 10**30
_BITS = 256


def pure_to_zcdp(epsilon: object) -> Fraction:
    """The rho of any epsilon-DP question: epsilon tanh(epsilon / 2), which is at most epsilon**2 / 2.

    >>> pure_to_zcdp("0.1") <= Fraction(1, 200)
    True
    """
    exact = spendable_epsilon(epsilon)
    shrunk, one = exp_bounds(exact, _BITS)[0], 1 << _BITS
    return min(exact**2 / 2, rounded_up(exact * Fraction(one - shrunk, one + shrunk)))


def exponential_to_zcdp(epsilon: object) -> Fraction:
    """The rho of an exponential mechanism of epsilon: epsilon**2 / 8. Not true of Laplace noise or randomized response.

    >>> exponential_to_zcdp("0.1")
    Fraction(1, 800)
    """
    return spendable_epsilon(epsilon) ** 2 / 8


def gaussian_to_zcdp(*, l2_sensitivity: object, standard_deviation: object) -> Fraction:
    """The rho of Gaussian noise, continuous, or discrete on whole numbers: l2_sensitivity**2 / (2 standard_deviation**2).

    On a grid the sensitivity is that of the rounded value. `dpstats.mechanisms.gaussian` prints its rho on the card.

    >>> gaussian_to_zcdp(l2_sensitivity=1, standard_deviation=10)
    Fraction(1, 200)
    """
    ratio = _positive(l2_sensitivity, "l2_sensitivity") / _positive(standard_deviation, "standard_deviation")
    return ratio**2 / 2


def zcdp_to_cost(rho: object, delta: object, *, neighbors: object = Neighbors.ADD_REMOVE, unit: str = "row") -> PrivacyCost:
    """The smallest (epsilon, delta) that is proved of rho-zCDP at this delta, rounded up.

    >>> zcdp_to_cost("0.005", "1e-6")
    PrivacyCost(epsilon=~0.430001, delta=0.000001, neighbors='add_remove', unit='row')
    """
    exact, allowed = exact_rational(rho, "rho"), _positive_delta(delta)
    if exact < 0:
        raise InvalidParameterError(f"rho must be 0 or more, got {rho}.")
    if not exact:
        return PrivacyCost(0, 0, neighbors, unit)
    return PrivacyCost(smallest_epsilon(exact, allowed), allowed, neighbors, unit)


def zcdp_within(epsilon: object, delta: object) -> Fraction:
    """The largest rho that is proved to be (epsilon, delta)-DP, rounded down.

    >>> zcdp_to_cost(zcdp_within(1, "1e-6"), "1e-6").epsilon <= 1
    True
    """
    wanted, allowed = spendable_epsilon(epsilon), _positive_delta(delta)

    def missed(excess: Fraction) -> Fraction:
        return (conversion(excess, allowed) - wanted) / (1 + excess)

    return Fraction(floor(-missed(best_excess(missed)) * _FINEST_RHO), _FINEST_RHO)


def smallest_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of rho-zCDP at a delta above 0, at the best order."""

    def bound(excess: Fraction) -> Fraction:
        return (1 + excess) * rho + conversion(excess, delta)

    return rounded_up(max(bound(best_excess(bound)), Fraction(0)))


def rounded_up(amount: Fraction) -> Fraction:
    """The least multiple of 10**-18 that is not below the amount."""
    return Fraction(ceil(amount * FINEST_EPSILON), FINEST_EPSILON)


def _positive(value: object, name: str) -> Fraction:
    number = exact_rational(value, name)
    if number <= 0:
        raise InvalidParameterError(f"{name} must be a positive number, got {value}.")
    return number


def _positive_delta(value: object) -> Fraction:
    delta = spendable_delta(value)
    if not delta:
        raise InvalidParameterError("delta must be above 0 here, such as 1e-6: rho turns into an epsilon only beside a delta.")
    return delta
