"""SipHash-1-3 of many short messages at once: a keyed hash of 64 bits.

Source     Aumasson and Bernstein 2012, with one round for each word and three at the end, as Python and Rust have it for their
           dictionaries. The paper proposes two and four; our hashes are never shown to anybody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_BLOCK = 1 << 14  # messages that are hashed at a time, to stay in the processor's cache
_STARTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def siphash(words: Sequence[Words], key: bytes) -> Words:
    """One hash for each row; its message is the row's words one after the other, in little-endian order. The key has 16 bytes."""
    halves = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    hashes = np.empty(words[0].size, dtype=np.uint64)
    for start in range(0, hashes.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        hashes[block] = _hash_block([word[block] for word in words], halves)
    return hashes


def _hash_block(words: Sequence[Words], halves: tuple[int, int]) -> Words:
    state = [np.full(words[0].size, start ^ halves[place % 2], dtype=np.uint64) for place, start in enumerate(_STARTS)]
    length = np.full(words[0].size, (8 * len(words) % 256) << 56, dtype=np.uint64)
    for word in (*words, length):
        state[3] ^= word
        _rounds(state, 1)
        state[0] ^= word
    state[2] ^= np.uint64(0xFF)
    _rounds(state, 3)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(state: Sequence[Words], how_many: int) -> None:
    """Mix the state, in place; words wrap around."""
    first, second, third, fourth = state
    room = np.empty_like(first)
    for _ in range(how_many):
        first += second
        _rotate(second, 13, room)
        second ^= first
        _rotate(first, 32, room)
        third += fourth
        _rotate(fourth, 16, room)
        fourth ^= third
        first += fourth
        _rotate(fourth, 21, room)
        fourth ^= first
        third += second
        _rotate(second, 17, room)
        second ^= third
        _rotate(third, 32, room)


def _rotate(words: Words, bits: int, room: Words) -> None:
    """Rotate each word to the left, in place."""
    np.right_shift(words, np.uint64(64 - bits), out=room)
    np.left_shift(words, np.uint64(bits), out=words)
    words |= room
