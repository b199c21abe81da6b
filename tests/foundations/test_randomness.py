"""Random bits: the seeded stream repeats, the system's does not, and integers are exactly uniform."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import (
    SeededSource,
    SystemSource,
    random_below,
    random_bits,
    random_words,
    seeded,
    source_or_system,
)


class Played:
    """Plays the given bytes and then fails."""

    private = False

    def __init__(self, *played: int) -> None:
        self.rest = bytes(played)

    def octets(self, count: int) -> bytes:
        assert count <= len(self.rest), "the script is over"
        head, self.rest = self.rest[:count], self.rest[count:]
        return head


# Sources


def test_a_seed_repeats_its_stream() -> None:
    assert seeded(7).octets(1000) == seeded(7).octets(1000)


def test_the_stream_of_a_seed_never_changes_between_versions() -> None:
    assert seeded(7).octets(8).hex() == SeededSource(7).octets(8).hex() == "84637e17b49e9721"


@pytest.mark.parametrize("size", [1, 1000, 1024, 50_000, 200_000])
def test_the_stream_is_one_hash_for_each_block_of_it(size: int) -> None:
    blocks = [hashlib.shake_256(b"7/" + number.to_bytes(8, "little")).digest(1 << 16) for number in range(4)]
    source, whole = seeded(7), b"".join(blocks)
    assert b"".join(source.octets(min(size, 200_000 - start)) for start in range(0, 200_000, size)) == whole[:200_000]


def test_different_seeds_have_different_streams() -> None:
    streams = {seeded(seed).octets(16) for seed in [*range(-50, 50), 10**30]}
    assert len(streams) == 101


@pytest.mark.parametrize("sizes", [(3, 5), (0, 8), (8, 0), (1,) * 8])
def test_the_stream_does_not_depend_on_how_it_is_cut(sizes: tuple[int, ...]) -> None:
    source = seeded(7)
    assert b"".join(source.octets(size) for size in sizes) == seeded(7).octets(8)


def test_the_stream_does_not_depend_on_how_it_is_cut_across_blocks() -> None:
    whole = seeded(7).octets(200_000)
    source = seeded(7)
    assert b"".join(source.octets(size) for size in (65_535, 2, 0, 65_536, 68_927)) == whole
    assert whole[:65_536] != whole[65_536:131_072]


def test_the_stream_looks_uniform() -> None:
    counts = np.bincount(np.frombuffer(seeded(7).octets(200_000), dtype=np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-3


def test_only_the_system_is_private() -> None:
    assert SystemSource().private is True
    assert seeded(7).private is False


def test_the_system_does_not_repeat_itself() -> None:
    assert len({SystemSource().octets(16) for _ in range(100)}) == 100
    assert len(SystemSource().octets(37)) == 37
    assert SystemSource().octets(0) == b""


FORKS = """
import os
from dpstats.foundations.randomness import SystemSource
source = SystemSource()
source.octets(16)
for _ in range(4):
    if not os.fork():
        os.write(1, source.octets(16).hex().encode() + b"\\n")
        os._exit(0)
    os.wait()
os.write(1, source.octets(16).hex().encode() + b"\\n")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_children_share_nothing() -> None:
    shown = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True).stdout.split()
    assert len(shown) == len(set(shown)) == 5


# Integers


@pytest.mark.parametrize("bits", [0, 1, 7, 8, 9, 64, 129])
def test_bits_stay_in_range_and_reach_both_ends(bits: int) -> None:
    count = (bits + 7) // 8
    assert random_bits(Played(*[0] * count), bits) == 0
    assert random_bits(Played(*[255] * count), bits) == 2**bits - 1
    rng = seeded(7)
    assert all(0 <= random_bits(rng, bits) < 2**bits for _ in range(200))


def test_bits_take_the_leading_ones_of_big_endian_bytes() -> None:
    assert random_bits(Played(0b10110111, 0b01000000), 10) == 0b1011011101


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 100, 200])
def test_of_all_first_bytes_equally_many_give_each_integer_and_the_rest_are_drawn_again(limit: int) -> None:
    drawn = Counter(random_below(Played(first, 0), limit) for first in range(256))
    share = 256 >> limit.bit_length()
    drawn[0] -= 256 - share * limit  # those that take the second byte, which says 0
    assert drawn == dict.fromkeys(range(limit), share)


def test_below_one_there_is_only_zero() -> None:
    rng = seeded(7)
    assert {random_below(rng, 1) for _ in range(50)} == {0}


@pytest.mark.parametrize("limit", [2, 3, 10, 37, 2**64 + 1])
def test_integers_below_a_limit_are_uniform(limit: int) -> None:
    rng = seeded(7)
    drawn = [random_below(rng, limit) for _ in range(5_000)]
    assert all(0 <= number < limit for number in drawn)
    cells = min(limit, 20)
    edges = [-(-cell * limit // cells) for cell in range(cells + 1)]
    counts = Counter(number * cells // limit for number in drawn)
    expected = [5_000 * (high - low) / limit for low, high in itertools.pairwise(edges)]
    assert chisquare([counts[cell] for cell in range(cells)], expected).pvalue > 1e-3


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_an_error_and_not_an_endless_search(limit: int) -> None:
    with pytest.raises(InvalidParameterError, match="positive limit"):
        random_below(seeded(7), limit)


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_words_are_little_endian_64_bit_integers(count: int) -> None:
    words = random_words(seeded(7), count)
    assert words.dtype == np.uint64
    assert words.shape == (count,)
    octets = seeded(7).octets(8 * count)
    assert words.tolist() == [int.from_bytes(octets[8 * place : 8 * place + 8], "little") for place in range(count)]


def test_no_source_means_the_operating_system_and_a_source_is_itself() -> None:
    own = seeded(7)
    assert isinstance(source_or_system(None), SystemSource)
    assert source_or_system(own) is own


@pytest.mark.parametrize("rng", [7, "seed", np.random.default_rng(7), object(), SeededSource])
def test_what_is_no_source_is_refused_with_where_to_get_one(rng: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"rng must come from dpstats\.testing\.seeded, or be left out"):
        source_or_system(rng)


@pytest.mark.parametrize("seed", ["a", "7", None, 1.5, [7]])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(InvalidParameterError, match="a seed must be a whole number such as 7"):
        seeded(seed)
