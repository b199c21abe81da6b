"""Privacy loss distributions: the tightest price of a fixed list of costs, by numerical convolution. Home of dp_accounting.

Claim      Questions with these (epsilon_i, delta_i), fixed ahead, are together (composed_epsilon, free + the sum of delta_i)-DP,
           up to what is said of floats below
Neighbors  The relation and the unit for which the questions' own costs hold
Why        An (epsilon, delta)-DP question is a function of randomized response of that epsilon, which delta of the time shows
           everything (Kairouz, Oh & Viswanath 2015), also where it was chosen after earlier answers. The losses of randomized
           responses are independent, and their sum's law gives delta at every epsilon
Numerics   Every epsilon is first rounded up to a public grid. Convolutions are in floats (fast Fourier transforms); mass that is
           cut off counts as showing everything. One hundredth of the free delta is set aside for rounding errors, which is
           tested against exact sums and not proved; free deltas below 10**-9 are refused. The result is rounded up to 10**-6
Not for    Ledgers: where epsilons depend on earlier answers, the law of the sum is no longer that of any fixed list
Source     Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016; Koskela, Jalko & Honkela 2020
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, MissingExtraError

SMALLEST_FREE = Fraction(1, 10**9)
SET_ASIDE = Fraction(1, 100)
_FINEST = 10**6
_STEPS_OF_MEAN, _MOST_STEPS = 1_000, 1_000_000


def composed_epsilon(counts: Mapping[tuple[Fraction, Fraction], int], free: Fraction) -> Fraction:
    """The epsilon of a list with the `counts` of each (epsilon, delta); `free` is the delta beside the questions' own."""
    if free < SMALLEST_FREE:
        raise InvalidParameterError("method 'pld' needs 1e-9 or more of delta beside the questions' own; take 'advanced'.")
    distributions = _distributions()
    spacing = _spacing({epsilon: sum(n for (each, _), n in counts.items() if each == epsilon) for epsilon, _ in counts})
    steps: Counter[int] = Counter()
    for (epsilon, _), count in counts.items():
        steps[math.ceil(epsilon / spacing)] += count
    parts = [_response(distributions, step, spacing).self_compose(count) for step, count in sorted(steps.items()) if step]
    if not parts:
        return Fraction(0)
    whole = functools.reduce(lambda one, other: one.compose(other), parts)
    found = float(whole.get_epsilon_for_delta(float(free * (1 - SET_ASIDE))))
    if not math.isfinite(found):
        raise InvalidParameterError("method 'pld' finds no finite epsilon for this list and delta; take 'advanced'.")
    return Fraction(math.ceil(Fraction(found) * _FINEST) + 1, _FINEST)


def _response(distributions: Any, step: int, spacing: Fraction) -> Any:
    """The privacy loss of randomized response of epsilon = step * spacing: plus or minus that."""
    yes = 1 / (1 + math.exp(-float(step * spacing)))
    masses = {step: yes, -step: 1 / (1 + math.exp(min(float(step * spacing), 700.0)))}
    return distributions.create_from_rounded_probability(masses, 0.0, float(spacing))


def _spacing(counts: Mapping[Fraction, int]) -> Fraction:
    """The grid: one on which all epsilons lie where it is not too fine, else a thousandth of their mean or a bit more."""
    present = {epsilon: count for epsilon, count in counts.items() if epsilon}
    if not present:
        return Fraction(1)
    bottom = math.lcm(*(epsilon.denominator for epsilon in present))
    shared = Fraction(math.gcd(*(int(epsilon * bottom) for epsilon in present)), bottom)
    mean = sum((epsilon * count for epsilon, count in present.items()), Fraction(0)) / sum(present.values())
    return max(shared, mean / _STEPS_OF_MEAN, max(present) / _MOST_STEPS)


def _distributions() -> Any:
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError:
        raise MissingExtraError.about("method 'pld' needs dp-accounting", "pld") from None
    return PrivacyLossDistribution
