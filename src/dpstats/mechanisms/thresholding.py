"""Chosen keys: the keys that many rows share, each with its noisy count.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE of one row, and a row has one key; for the several rows of a unit see accounting/groups.py
Why        A key's count moves by 1, and discrete Laplace noise of scale 1 / epsilon hides that wherever the key is present on
           both sides. A key that one row alone has is absent on the other side: it is released only if noise lifts its count
           from 1 to the threshold, which has probability at most delta.
Numerics   Counts are whole, the noise is exact, and the threshold is rounded up. Keys leave in an order of their own, whatever
           the order of the rows
Source     Korolova, Kenthapadi, Mishra & Ntoulas 2009, with integer noise; the threshold is the exact delta tail
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.keys import AnyKey, are_plain, in_key_order, plain_key
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.rounding import exact_rational
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.mechanisms.distance_tests import noise_quantile
from dpstats.mechanisms.grid import integer_ratio


def choose_keys(
    raw_counts: Mapping[AnyKey, int],
    epsilon: object,
    delta: object,
    rng: RandomSource | None = None,
) -> dict[AnyKey, int]:
    """The keys whose noisy count reaches the threshold, with that count, in the order of `key_order`: (epsilon, delta)-DP.

    `raw_counts` says how many rows have each key, and a row has one key. A key is a label (a text, a number, a bool), or a tuple
    of labels; one that holds anything else, or NaN, counts as missing, and so does one without rows.
    """
    if not isinstance(raw_counts, Mapping):
        raise DataTypeError(f"choose_keys takes a dict from keys to counts; got {type(raw_counts).__name__}.")
    threshold = threshold_for(epsilon, delta)
    source = source_or_system(rng)
    raw_present = _present(raw_counts)
    raw_keys = in_key_order(raw_present)
    noisy = noisy_counts([raw_present[key] for key in raw_keys], spendable_epsilon(epsilon), source)
    return {key: count for key, count in zip(raw_keys, noisy, strict=True) if count >= threshold}


def threshold_for(epsilon: object, delta: object) -> int:
    """The noisy count from which on a key is released: a key of one row reaches it with probability at most delta."""
    exact_delta = spendable_delta(delta)
    if not exact_delta:
        raise MissingParameterError("choosing keys needs a positive delta: for example delta=1e-6.")
    return 1 + noise_quantile(noise_scale(epsilon), exact_delta)


def rows_for(epsilon: object, delta: object, chance: object = 0.95) -> int:
    """How many rows a key needs to be released with at least that probability, which is at least 1/2."""
    wanted = exact_rational(chance, "chance")
    if not Fraction(1, 2) <= wanted < 1:
        raise InvalidParameterError(f"chance must be at least 0.5 and below 1, such as 0.95, got {chance}.")
    return threshold_for(epsilon, delta) + noise_quantile(noise_scale(epsilon), 1 - wanted) - 1


def noise_scale(epsilon: object) -> Fraction:
    """The scale of the noise on a count that one row moves by 1."""
    return 1 / spendable_epsilon(epsilon)


def _present(raw_counts: Mapping[AnyKey, int]) -> Mapping[AnyKey, int]:
    """The keys that have rows, with plain labels and whole counts."""
    if set(map(type, raw_counts.values())) == {int} and min(raw_counts.values()) > 0 and are_plain(raw_counts):
        return raw_counts  # as an engine counts them
    raw_present: dict[Any, int] = {}
    for raw_key, raw_count in raw_counts.items():
        key, ratio = plain_key(raw_key), integer_ratio(raw_count)
        if key is not None and ratio is not None and ratio[0] >= ratio[1]:
            raw_present[key] = raw_present.get(key, 0) + ratio[0] // ratio[1]
    return raw_present
