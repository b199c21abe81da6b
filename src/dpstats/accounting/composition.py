"""Composition: what a list of costs amounts to together, side by side, or for a group.

Claim      `compose`: questions of these costs on the same table are together as private as the cost returned, if the costs were
           fixed ahead; the questions themselves may depend on earlier answers. (Where costs depend on answers too, only a budget
           with its accountant protects.) `parallel`: questions on disjoint rows. `group`: several units at once
Neighbors  The relation and the unit of the costs; all of them the same. `parallel`: ADD_REMOVE, of units that lie in one part
Why        With probability delta_i a question may show everything; the rest is epsilon_i-DP, and epsilons add (basic), rhos add
           (zcdp), or Renyi divergences add at every order, the best of which is taken (advanced). See composition.proof.md
Numerics   Exact rationals, rounded up to multiples of 10**-18; "pld" is in floats, see loss_distributions.py
Source     Kairouz, Oh & Viswanath 2015; Bun & Steinke 2016; Mironov 2017; parallel: McSherry 2009
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpstats.accounting.accountants import checked_factor
from dpstats.accounting.concentration import rounded_up, smallest_epsilon
from dpstats.accounting.groups import unit_cost
from dpstats.accounting.loss_distributions import composed_epsilon
from dpstats.accounting.orders import best_excess, conversion, divergence
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta
from dpstats.foundations.registry import AUTO, PURE_LOSS
from dpstats.foundations.rounding import decimal_text, exact_rational


@dataclass(frozen=True)
class Priced:
    """One kind of question in a list: its epsilon and delta, and rho / epsilon**2 of its method."""

    epsilon: Fraction
    delta: Fraction
    loss: Fraction


Kinds = Mapping[Priced, int]
"""How often each kind of question is in a list."""


def compose(costs: Iterable[PrivacyCost], *, method: str = AUTO, delta: object = None, loss: object = PURE_LOSS) -> PrivacyCost:
    """What questions of these costs amount to together, rounded up.

    `delta` is what the whole may have, the questions' own deltas included; left out, there is nothing beside these, and
    epsilons add. `method` is "basic", "zcdp", "advanced", "pld" (needs the extra `pld`), or "auto": the smallest epsilon of the
    first three. `loss` is rho / epsilon**2 of the questions' methods, one number for all or one for each: 1/2 holds for every
    method, 1/8 for an exponential mechanism; "basic" and "pld" do not look at it.

    >>> compose([PrivacyCost("0.1")] * 100, delta="1e-6")
    PrivacyCost(epsilon=~5.07352, delta=0.000001, neighbors='add_remove', unit='row')
    """
    listed = _checked_costs(costs)
    kinds = Counter(
        Priced(cost.epsilon, cost.delta, factor) for cost, factor in zip(listed, _factors(loss, len(listed)), strict=True)
    )
    own = min(sum((kind.delta * count for kind, count in kinds.items()), Fraction(0)), Fraction(1))
    allowed = own if delta is None else spendable_delta(delta)
    if own > allowed:
        raise InvalidParameterError(f"the deltas of the questions add up to {decimal_text(own)}; give a delta above that.")
    if method != AUTO and method not in METHODS:
        raise InvalidParameterError(f"method must be 'auto' or one of {', '.join(map(repr, METHODS))}, got {method!r}.")
    if method not in (AUTO, "basic") and own == allowed:
        raise MissingParameterError(f"method {method!r} needs a delta beside the questions' own: for example delta=1e-6.")
    tried = [method] if method != AUTO else ["basic", *(EXACT if own < allowed else ())]
    epsilons = {name: METHODS[name](kinds, allowed - own) for name in tried}
    best = min(epsilons, key=lambda name: epsilons[name])  # the first of equals, which is basic and spends no more delta
    return _like(listed[0], epsilons[best], own if best == "basic" else allowed)


def parallel(costs: Iterable[PrivacyCost]) -> PrivacyCost:
    """What questions cost together of which each asks other rows, where a unit has rows in one part only: the largest of each.

    >>> parallel([PrivacyCost("0.1"), PrivacyCost("0.3", "1e-7")])
    PrivacyCost(epsilon=0.3, delta=1e-7, neighbors='add_remove', unit='row')
    """
    listed = _checked_costs(costs)
    if listed[0].neighbors is not Neighbors.ADD_REMOVE:
        raise InvalidParameterError(
            "parallel is for units that are added or removed: a changed one may leave one part and enter another; take compose."
        )
    return _like(listed[0], max(cost.epsilon for cost in listed), max(cost.delta for cost in listed))


def group(cost: PrivacyCost, size: int) -> PrivacyCost:
    """What a cost is for `size` units at once, or for a unit with `size` rows.

    >>> group(PrivacyCost("0.1"), 4)
    PrivacyCost(epsilon=0.4, delta=0, neighbors='add_remove', unit='row')
    """
    return _like(cost, *unit_cost(cost.epsilon, cost.delta, size))


def _basic(kinds: Kinds, free: Fraction) -> Fraction:
    return sum((kind.epsilon * count for kind, count in kinds.items()), Fraction(0))


def _zcdp(kinds: Kinds, free: Fraction) -> Fraction:
    rho = sum((kind.loss * kind.epsilon**2 * count for kind, count in kinds.items()), Fraction(0))
    return smallest_epsilon(rho, free)


def _advanced(kinds: Kinds, free: Fraction) -> Fraction:
    def bound(excess: Fraction, pure: bool = False) -> Fraction:
        factors = ((PURE_LOSS if pure else kind.loss, kind, count) for kind, count in kinds.items())
        return sum((divergence(kind.epsilon, excess, loss) * count for loss, kind, count in factors), conversion(excess, free))

    as_pure = best_excess(lambda excess: bound(excess, pure=True))  # `bound` may have two valleys where a loss is below 1/2
    smallest = min(bound(as_pure), bound(best_excess(bound)), _zcdp(kinds, free))
    return rounded_up(max(smallest, Fraction(0)))


def _pld(kinds: Kinds, free: Fraction) -> Fraction:
    counts = Counter[tuple[Fraction, Fraction]]()
    for kind, count in kinds.items():
        counts[kind.epsilon, kind.delta] += count
    return min(composed_epsilon(counts, free), _basic(kinds, free))


EXACT: Mapping[str, Callable[[Kinds, Fraction], Fraction]] = {"zcdp": _zcdp, "advanced": _advanced}
METHODS: Mapping[str, Callable[[Kinds, Fraction], Fraction]] = {"basic": _basic, **EXACT, "pld": _pld}


def _checked_costs(costs: Iterable[PrivacyCost]) -> list[PrivacyCost]:
    listed = list(costs)
    if not listed or not all(isinstance(cost, PrivacyCost) for cost in listed):
        raise InvalidParameterError("this takes a list of costs, at least one: for example [PrivacyCost(0.1)] * 20.")
    for cost in listed[1:]:
        cost._require_same_kind(listed[0])
    return listed


def _factors(loss: object, count: int) -> Sequence[Fraction]:
    if not isinstance(loss, (list, tuple)):
        return [checked_factor(exact_rational(loss, "loss"))] * count
    if len(loss) != count:
        raise InvalidParameterError("loss must be one number, or a list with one for each cost.")
    return [checked_factor(exact_rational(each, "loss")) for each in loss]


def _like(cost: PrivacyCost, epsilon: Fraction, delta: Fraction) -> PrivacyCost:
    return PrivacyCost(epsilon, delta, cost.neighbors, cost.unit)
