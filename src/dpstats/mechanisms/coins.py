"""Exact biased coins: heads with a probability that may be irrational, decided by as many random bits as it takes.

Claim      Each coin shows heads with exactly the probability that its bounds enclose; coins are independent
Neighbors  None: a coin sees no data
Why        A coin is heads when a uniform U in [0, 1) is below p. The first bits of U almost always settle that; only while
           U could still lie on either side of p are further bits of U drawn and further digits of p computed.
Numerics   Integers only. A probability is a function bits -> (low, high) with low <= p * 2**bits <= high
Source     The comparison of binary expansions goes back to von Neumann 1951; the bracketing is ours
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_bits, random_words

Bounds = Callable[[int], tuple[int, int]]
"""bits -> integers (low, high) around p * 2**bits, whose difference stays bounded as bits grows."""

FIRST_BITS = 16
MORE_BITS = 64


class CoinTable:
    """A row of coins of fixed probabilities, ready to be tossed many times."""

    def __init__(self, probabilities: Sequence[Bounds]) -> None:
        self._probabilities = tuple(probabilities)
        firsts = [bounds(FIRST_BITS) for bounds in self._probabilities]
        # A bracket may always be widened: low is cut to fit a word, and "below high" becomes "at most high - 1".
        lows = [min(low, (1 << FIRST_BITS) - 1) for low, _ in firsts]
        lasts = [max(1, min(high, 1 << FIRST_BITS)) - 1 for _, high in firsts]
        self._low = np.array(lows, dtype=np.uint16)[:, None]
        self._last = np.array(lasts, dtype=np.uint16)[:, None]

    def toss(self, size: int, rng: RandomSource) -> NDArray[np.bool_]:
        """Heads or tails for `size` tosses of every coin, as an array of shape (coins, size)."""
        coins = len(self._probabilities)
        per_word = 64 // FIRST_BITS
        words = random_words(rng, -(-coins * size // per_word)).view(np.uint16)[: coins * size].reshape(coins, size)
        heads = words < self._low
        open_still = (words <= self._last) != heads
        for coin, toss in np.argwhere(open_still):
            heads[coin, toss] = settle(self._probabilities[coin], int(words[coin, toss]), FIRST_BITS, rng)
        return heads


def biased_coins(probability: Bounds, size: int, rng: RandomSource) -> NDArray[np.bool_]:
    """`size` independent tosses of one coin that shows heads with exactly the enclosed probability."""
    heads: NDArray[np.bool_] = CoinTable([probability]).toss(size, rng)[0]
    return heads


def settle(probability: Bounds, prefix: int, bits: int, rng: RandomSource) -> bool:
    """Whether a uniform number whose first `bits` bits are `prefix` lies below the probability, drawing more bits as needed."""
    while True:
        low, high = probability(bits)
        if prefix < low:
            return True
        if prefix >= high:
            return False
        prefix = (prefix << MORE_BITS) | random_bits(rng, MORE_BITS)
        bits += MORE_BITS


def uniform_indices(limit: int, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` independent exact uniform integers in [0, limit), limit at most 2**62, by rejection."""
    accepted = np.empty(0, dtype=np.uint64)
    usable = (1 << 64) // limit * limit
    while len(accepted) < size:
        words = random_words(rng, size - len(accepted))
        accepted = np.concatenate([accepted, words[words <= np.uint64(usable - 1)]])
    return (accepted % np.uint64(limit)).astype(np.int64)


def half(bits: int) -> tuple[int, int]:
    """The bounds of a fair coin."""
    return 1 << (bits - 1), 1 << (bits - 1)
