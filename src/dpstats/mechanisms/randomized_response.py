"""Randomized response: every person's category, each answered with a private coin.

Claim      epsilon-DP for each response, hence for the column
Neighbors  CHANGE_ONE: how many responses there are is public
Why        With k categories the truth is told with probability e**epsilon / (e**epsilon + k - 1) and otherwise one of the
           other k - 1 is named, all alike; the two probabilities of naming a category differ by the factor e**epsilon.
Numerics   The lie is an exact coin, the category named an exact uniform integer; drawn before any value is looked at
Source     Warner 1965; Kairouz, Oh & Viswanath 2014 (k categories)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import exp_bounds
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.coins import Bounds, biased_coins, uniform_indices
from dpstats.mechanisms.grid import refuse_container

METHOD = "randomized response"
CLAIM = "epsilon-DP for each response"
POLICY = "a value outside the categories counts as the first category"


@dataclass(frozen=True)
class Proportions:
    """Unbiased estimates of the share of each category, and their standard errors."""

    categories: tuple[Hashable, ...]
    proportions: tuple[float, ...]
    standard_errors: tuple[float, ...]
    responses: int

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "categories": list(self.categories),
            "proportions": list(self.proportions),
            "standard_errors": list(self.standard_errors),
            "responses": self.responses,
        }


def randomized_response(
    values: Iterable[object],
    *,
    epsilon: object,
    categories: Sequence[Hashable] = (False, True),
    rng: RandomSource | None = None,
) -> Release:
    """One noisy response for each value, in order: epsilon-DP for whoever owns the value.

    `categories` is a public list; a value outside of it counts as the first category, never as an error. Estimate the
    shares from the responses with `randomized_response_estimate`.
    """
    places = _places(categories)
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, Neighbors.CHANGE_ONE)
    source = source_or_system(rng)
    refuse_container(values, "give a list of values, one for each person", iterators=True)
    raw_values = list(values)
    lies = biased_coins(lie_probability(cost.epsilon, len(places)), len(raw_values), source)
    shifts = 1 + uniform_indices(len(places) - 1, len(raw_values), source)
    responses = []
    for raw, lie, shift in zip(raw_values, lies.tolist(), shifts.tolist(), strict=True):
        place = _place(raw, places)
        responses.append(categories[(place + shift) % len(places) if lie else place])
    return Release(
        question=f"randomized_response({counted(len(places), 'category', 'categories')})",
        value=tuple(responses),
        cost=cost,
        method=METHOD,
        claim=CLAIM,
        private=source.private,
        notes=(("policy", POLICY),),
    )


def lie_probability(epsilon: Fraction, categories: int) -> Bounds:
    """The bounds of (k - 1) q / (1 + (k - 1) q), q = exp(-epsilon): the chance not to tell the truth."""
    others = categories - 1
    guard = others.bit_length() + 2

    def bounds(bits: int) -> tuple[int, int]:
        one = 1 << (bits + guard)
        low, high = exp_bounds(epsilon, bits + guard)
        return (others * low << bits) // (one + others * low), -((-others * high << bits) // (one + others * high))

    return bounds


def randomized_response_estimate(
    responses: Release | Iterable[Hashable], *, epsilon: object, categories: Sequence[Hashable] = (False, True)
) -> Proportions:
    """The share of each category among those who responded, estimated without bias from the noisy responses.

    `responses` is the release of `randomized_response`, or a list of responses that were made like it.
    This only reads what is public already and costs nothing. The standard errors cover the coins and the sampling of people
    from a large population. An estimate can lie outside [0, 1]: cutting it off would bias it.
    """
    places = _places(categories)
    stated = spendable_epsilon(epsilon)
    if isinstance(responses, Release) and responses.cost.epsilon != stated:
        raise InvalidParameterError(f"these responses were made with {responses.cost}: give the same epsilon.")
    privacy = float(stated)
    counts = Counter(responses)
    total = sum(counts.values())
    if not total:
        raise InvalidParameterError("randomized_response_estimate needs at least one response.")
    if any(response not in places for response in counts):
        raise InvalidParameterError("randomized_response_estimate got a response that is not among the categories.")
    weight = math.exp(-privacy)
    lie = weight / (1 + (len(places) - 1) * weight)  # the chance to name one given other category
    gain = -math.expm1(-privacy) / (1 + (len(places) - 1) * weight)  # the chance of the truth, less that
    shares = [counts[category] / total for category in categories]
    return Proportions(
        categories=tuple(categories),
        proportions=tuple((share - lie) / gain for share in shares),
        standard_errors=tuple(math.sqrt(share * (1 - share) / total) / gain for share in shares),
        responses=total,
    )


def _places(categories: Sequence[Hashable]) -> dict[Hashable, int]:
    places = {category: place for place, category in enumerate(categories)}
    if len(places) < 2 or len(places) != len(categories):
        raise InvalidParameterError("categories must be a list of at least two different values.")
    return places


def _place(raw: object, places: dict[Hashable, int]) -> int:
    try:
        return places.get(raw, 0)
    except Exception:  # an unhashable value, or one whose comparison fails, is outside the categories
        return 0
