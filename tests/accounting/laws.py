"""Exact laws to hold accountants and compositions against: randomized responses, and the worst asker whom a filter lets pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from dpstats.accounting.accountants import Accountant, Total
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS


def pure_probability(epsilon: float) -> float:
    """How likely randomized response loses epsilon, and not minus epsilon."""
    return 1 / (1 + math.exp(-epsilon))


def repeated_delta(times: int, probability: float, gain: float, fall: float, epsilon: float) -> float:
    """The exact delta at epsilon of so many answers, each of which loses `gain` with that probability and else `fall`."""
    logs = math.log(probability), math.log1p(-probability)
    terms = []
    for count in range(times + 1):
        loss = count * gain + (times - count) * fall
        if loss > epsilon:
            ways = math.lgamma(times + 1) - math.lgamma(count + 1) - math.lgamma(times - count + 1)
            terms.append(math.exp(ways + count * logs[0] + (times - count) * logs[1]) * -math.expm1(epsilon - loss))
    return math.fsum(terms)


def response_delta(times: int, each: float, epsilon: float) -> float:
    """The exact delta at epsilon of so many randomized responses."""
    return repeated_delta(times, pure_probability(each), each, -each, epsilon)


def exponential_delta(times: int, each: float, gain: float, epsilon: float) -> float:
    """The same of a choice between two whose loss is `gain` or `gain - each`: an exponential mechanism."""
    probability = math.expm1(each - gain) / (math.expm1(each) * math.exp(-gain))
    return repeated_delta(times, probability, gain, gain - each, epsilon)


def mixed_delta(epsilons: Sequence[float], epsilon: float) -> float:
    """The exact delta at epsilon of randomized responses of several epsilons, over all outcomes."""
    total = 0.0
    for outcome in range(2 ** len(epsilons)):
        signs = [1 if outcome >> place & 1 else -1 for place in range(len(epsilons))]
        loss = sum(sign * each for sign, each in zip(signs, epsilons, strict=True))
        if loss > epsilon:
            chance = math.prod(pure_probability(sign * each) for sign, each in zip(signs, epsilons, strict=True))
            total += chance * -math.expm1(epsilon - loss)
    return total


def worst_delta(
    accountant: Accountant, limit: Total, epsilon: Fraction, choices: Sequence[int], unit: Fraction, most: int
) -> float:
    """The exact delta of the worst asker: after every answer they may stop, or ask a randomized response of epsilon = choice *
    unit that still fits. At most so many questions, so that this ends for filters that never stop.
    """
    charges = {choice: accountant.charge(PrivacyCost(choice * unit), PURE_LOSS) for choice in choices}
    chances = {choice: pure_probability(float(choice * unit)) for choice in choices}
    totals, places = [Total()], {Total(): 0}

    @cache
    def place_after(place: int, choice: int) -> int | None:
        after = accountant.add(totals[place], charges[choice])
        if not after <= limit:
            return None
        if after not in places:
            places[after] = len(totals)
            totals.append(after)
        return places[after]

    @cache
    def worst(place: int, asked: int, lost: int) -> float:
        best = max(0.0, -math.expm1(float(epsilon) - lost * float(unit)))
        for choice in charges if asked < most else ():
            after = place_after(place, choice)
            if after is not None:
                up, down = worst(after, asked + 1, lost + choice), worst(after, asked + 1, lost - choice)
                best = max(best, chances[choice] * up + (1 - chances[choice]) * down)
        return best

    return worst(0, 0, 0)
