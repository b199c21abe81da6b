"""Where random bits come from: the operating system for releases, a seed for tests.

A source is an argument (`rng=`), never a global. Its `private` flag travels into every release: a seeded source makes
releases that say NOT PRIVATE on their card, because whoever knows the seed can take the noise off again.

Numerics   Only whole bits and exact uniform integers leave this module; no float is drawn anywhere.
"""

from __future__ import annotations

import hashlib
import operator
import os
import struct
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError

_SEEDED_BLOCK = 1 << 16
_FIRST_OCTETS = 1 << 10  # of a seeded stream; most are asked for no more, and a block takes a while to make


class RandomSource(Protocol):
    """A stream of independent fair bits."""

    @property
    def private(self) -> bool:
        """Whether the bits are secret, so that what they protect may be published."""
        ...

    def octets(self, count: int) -> bytes:
        """`count` random bytes."""
        ...


class SystemSource:
    """The operating system's cryptographic generator; unbuffered, so that forked processes share nothing."""

    private = True

    def octets(self, count: int) -> bytes:
        """`count` random bytes."""
        return os.urandom(count)


class SeededSource:
    """A reproducible stream for tests: SHAKE-256 of the seed in counter mode. Never private."""

    private = False

    def __init__(self, seed: int) -> None:
        try:
            self._seed = str(operator.index(seed)).encode()
        except TypeError:
            raise InvalidParameterError(f"a seed must be a whole number such as 7, got {type(seed).__name__}.") from None
        self._pieces = 0
        self._held = b""
        self._used = 0

    def octets(self, count: int) -> bytes:
        """The next `count` bytes of the stream."""
        if self._used + count > len(self._held):
            pieces = [self._held[self._used :]]
            while sum(map(len, pieces)) < count:
                pieces.append(self._piece(self._pieces))
                self._pieces += 1
            self._held, self._used = b"".join(pieces), 0
        self._used += count
        return self._held[self._used - count : self._used]

    def _piece(self, number: int) -> bytes:
        """A piece of the stream: the start of its first block, the rest of that block, then whole blocks."""
        block = hashlib.shake_256(self._seed + b"/" + struct.pack("<Q", max(number - 1, 0)))
        if number == 0:
            return block.digest(_FIRST_OCTETS)
        return block.digest(_SEEDED_BLOCK)[_FIRST_OCTETS if number == 1 else 0 :]


def seeded(seed: int) -> SeededSource:
    """A source that repeats itself: for tests and examples only, every release it makes says NOT PRIVATE."""
    return SeededSource(seed)


def source_or_system(rng: object) -> RandomSource:
    """What was given as `rng=`, or the operating system's source where nothing was."""
    if rng is None:
        return SystemSource()
    if isinstance(rng, type) or not callable(getattr(rng, "octets", None)) or not isinstance(getattr(rng, "private", None), bool):
        raise InvalidParameterError(f"rng must come from dpstats.testing.seeded, or be left out; got {type(rng).__name__}.")
    return cast(RandomSource, rng)


def random_bits(rng: RandomSource, bits: int) -> int:
    """A uniform integer in [0, 2**bits)."""
    count = (bits + 7) // 8
    return int.from_bytes(rng.octets(count), "big") >> (8 * count - bits)


def random_below(rng: RandomSource, limit: int) -> int:
    """A uniform integer in [0, limit), exactly, by rejection; `limit` must be positive."""
    if limit < 1:
        raise InvalidParameterError("random_below needs a positive limit.")
    bits = limit.bit_length()
    while True:
        candidate = random_bits(rng, bits)
        if candidate < limit:
            return candidate


def random_words(rng: RandomSource, count: int) -> NDArray[np.uint64]:
    """`count` uniform 64-bit words."""
    return np.frombuffer(rng.octets(8 * count), dtype="<u8").astype(np.uint64, copy=False)


def branches(rng: RandomSource, count: int) -> list[RandomSource]:
    """As many sources that can be drawn from at the same time; of a seeded one each repeats itself, whatever the others do."""
    return [rng if rng.private else seeded(random_bits(rng, 128)) for _ in range(count)]
