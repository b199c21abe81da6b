"""Exact coins: every digit of the probability counts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.coins import Bounds, CoinTable, biased_coins, half, settle, uniform_indices
from tests.laws.mechanisms import exponential_of_minus
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.mechanisms import float_coin

Script = Callable[..., RandomSource]
EVERY_WORD = list(range(1 << 16))


def exp_coin(exponent: int | str | Fraction) -> Bounds:
    return functools.partial(exp_bounds, Fraction(exponent))


def digits(exponent: int | str | Fraction, bits: int) -> int:
    """The first binary digits of exp(-exponent), rounded down."""
    return math.floor(exponential_of_minus(Fraction(exponent)) * (1 << bits))


@pytest.mark.parametrize("exponent", ["1", "1/3", "5", "0.001"])
def test_of_all_first_words_exactly_those_below_the_digits_are_heads_and_one_is_refined(
    exponent: int | str | Fraction, script: Script
) -> None:
    tie = digits(exponent, 16)
    for refinement, outcome in ((0, True), (2**64 - 1, False)):
        heads = biased_coins(exp_coin(exponent), 1 << 16, script(EVERY_WORD, refinement.to_bytes(8, "big")))
        assert heads.tolist() == [word < tie or (word == tie and outcome) for word in EVERY_WORD]


def test_a_word_that_equals_the_digits_for_three_rounds_is_decided_by_the_fourth(script: Script) -> None:
    first, rest = digits(1, 16), digits(1, 16 + 3 * 64) - (digits(1, 16) << 192)
    for last_step, outcome in ((-1, True), (1, False)):
        tied = (rest + last_step).to_bytes(24, "big")
        assert biased_coins(exp_coin(1), 1, script([first], tied)).tolist() == [outcome]


def test_each_coin_of_a_table_is_refined_by_its_own_digits(script: Script) -> None:
    table = CoinTable([exp_coin(1), exp_coin(2)])
    words = [digits(1, 16), 5, 60000, digits(2, 16)]  # the first coin ties at its first toss, the second at its last
    heads = table.toss(2, script(words, bytes(8) + b"\xff" * 8))
    assert heads.tolist() == [[True, True], [False, False]]


@given(exponent=st.fractions(Fraction(1, 1000), 40), prefix=st.integers(0, 2**40 - 1))
@settings(max_examples=40)
def test_settling_agrees_with_many_digits_of_the_probability(exponent: int | str | Fraction, prefix: int) -> None:
    known = digits(exponent, 40)
    if prefix != known:
        assert settle(exp_coin(exponent), prefix, 40, seeded(7)) == (prefix < known)


@pytest.mark.parametrize(("probability", "outcome"), [(0, False), (1, True)])
def test_impossible_and_certain_coins_keep_their_word_for_every_first_word(
    probability: Any, outcome: Any, script: Script
) -> None:
    coins = biased_coins(lambda bits: (probability << bits, probability << bits), 1 << 16, script(EVERY_WORD))
    assert set(coins.tolist()) == {outcome}


def test_bounds_that_reach_beyond_one_do_no_harm(script: Script) -> None:
    coins = biased_coins(lambda bits: ((1 << bits) - 1, (1 << bits) + 1), 1 << 16, script(EVERY_WORD, b"\xff" * 16 + bytes(8)))
    assert coins.all()


def test_a_fair_coin_is_never_refined() -> None:
    assert all(low == high == 2 ** (bits - 1) for bits in (16, 80) for low, high in [half(bits)])


def test_frequencies_are_right_at_the_declared_probability_and_wrong_at_nine_and_eleven_tenths() -> None:
    size, p = 200_000, math.exp(-1)
    share = biased_coins(exp_coin(1), size, seeded(7)).mean()
    deviation = math.sqrt(p * (1 - p) / size)
    assert abs(share - p) < 4 * deviation
    assert abs(share - 0.9 * p) > 10 * deviation
    assert abs(share - 1.1 * p) > 10 * deviation


def test_the_float_twin_is_refuted_where_the_exact_coin_is_right(script: Script) -> None:
    exponent = Fraction(45)
    truth = {True: exponential_of_minus(exponent), False: 1 - exponential_of_minus(exponent)}
    words = [0, 1, 2, 3, 2**53 - 1]
    assert [float_coin(math.exp(-45), word) for word in words] == [True, False, False, False, False]
    twin = {True: Fraction(1, 2**53), False: 1 - Fraction(1, 2**53)}
    assert largest_log_ratio(truth, twin) > 8  # thousands of times too likely
    # The exact coin needs 16 + 64 bits here and splits them where the probability says.
    cut = digits(45, 80)
    exact = [biased_coins(exp_coin(45), 1, script([0], word.to_bytes(8, "big")))[0] for word in (cut - 1, cut + 1)]
    assert exact == [True, False]
    assert abs(math.log(cut / 2**80) + 45) < 1e-4


def test_uniform_indices_reject_the_words_that_would_favour_small_ones() -> None:
    class Highest:
        private = False

        def __init__(self) -> None:
            self.words = [2**64 - 1, 2**64 - 2]

        def octets(self, count: int) -> bytes:
            return b"".join(self.words.pop(0).to_bytes(8, "little") for _ in range(count // 8))

    assert uniform_indices(3, 1, Highest()).tolist() == [(2**64 - 2) % 3]  # 2**64 - 1 would be one too many zeros


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_uniform_indices_are_uniform(limit: int, fit: Callable[..., float]) -> None:
    drawn = uniform_indices(limit, 20_000, seeded(7))
    assert set(np.unique(drawn)) == set(range(limit))
    if limit > 1:
        assert fit(drawn.tolist(), {index: Fraction(1, limit) for index in range(limit)}) > 1e-3
