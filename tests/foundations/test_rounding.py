"""Rounding: parameters mean what was written, text never understates, and every bracket holds the true number."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import (
    cumulative,
    decimal_text,
    exact_rational,
    exp_bounds,
    exp_float,
    exp_sequence_bounds,
    log_bounds,
    power_of_two_at_most,
    sqrt_bounds,
)

# Parameters


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, "1/10"),
        (1e-6, "1/1000000"),
        (5e-324, Fraction("5e-324")),
        (1.7976931348623157e308, Fraction("1.7976931348623157e308")),
        (-0.0, 0),
        (7, 7),
        (10**400, 10**400),
        (Fraction(1, 3), "1/3"),
        (Decimal("0.1"), "1/10"),
        (Decimal("1e400"), 10**400),
        ("0.1", "1/10"),
        ("1/3", "1/3"),
        (" 2 ", 2),
        ("1e-400", Fraction(1, 10**400)),
        ("1e400", 10**400),
        ("1_000", 1000),
        (np.float64(0.1), "1/10"),
        (np.float32(0.1), "1/10"),
        (np.float16(0.1), "1/10"),
        (np.longdouble("0.1"), "1/10"),
        (np.float32(1e10), 10**10),
        (np.int64(-3), -3),
        (np.uint8(255), 255),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.array(0.1), "1/10"),
        (np.array(0.1, dtype=np.float32), "1/10"),
        (np.array(Fraction(1, 3), dtype=object), "1/3"),
        (np.str_("1/3"), "1/3"),
    ],
    ids=str,
)
def test_a_parameter_is_the_number_that_was_written(written: object, meant: Any) -> None:
    exact = exact_rational(written, "epsilon")
    assert exact == Fraction(meant)
    assert type(exact) is Fraction
    assert type(exact.numerator) is int


@given(number=st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100)
def test_every_finite_float_means_its_shortest_decimal(number: float) -> None:
    assert exact_rational(number, "x") == Fraction(repr(number)) == exact_rational(np.float64(number), "x")
    assert float(exact_rational(number, "x")) == number


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (True, "epsilon must be a number, got True."),
        (np.bool_(False), "epsilon must be a number, got False."),
        (None, "epsilon must be a number, got NoneType."),
        (1j, "epsilon must be a number, got complex."),
        ([1], "epsilon must be a number, got list."),
        (b"1", "epsilon must be a number, got bytes."),
        (np.array([0.5]), "epsilon must be a number, got ndarray."),
        (np.array([1, 2]), "epsilon must be a number, got ndarray."),
        (np.complex128(1), "epsilon must be a number, got complex128."),
        (np.datetime64("2020-01-01"), "epsilon must be a number, got datetime64."),
        (np.timedelta64(3, "s"), "epsilon must be a number, got timedelta."),
        (math.nan, "epsilon must be a finite number such as 0.5 or '1/3', got nan."),
        (-math.inf, "epsilon must be a finite number such as 0.5 or '1/3', got -inf."),
        (np.float32("inf"), "epsilon must be a finite number such as 0.5 or '1/3', got Infinity."),
        (Decimal("NaN"), "epsilon must be a finite number such as 0.5 or '1/3', got NaN."),
        (Decimal("sNaN"), "epsilon must be a finite number such as 0.5 or '1/3', got sNaN."),
        (Decimal("-Infinity"), "epsilon must be a finite number such as 0.5 or '1/3', got -Infinity."),
        ("half", "epsilon must be a number such as 0.5 or '1/3', got 'half'."),
        ("", "epsilon must be a number such as 0.5 or '1/3', got ''."),
        ("nan", "epsilon must be a number such as 0.5 or '1/3', got 'nan'."),
        ("1/0", "epsilon must be a number such as 0.5 or '1/3', got '1/0'."),
    ],
    ids=repr,
)
def test_what_is_no_finite_number_is_refused_in_one_sentence(value: object, sentence: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        exact_rational(value, "epsilon")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "text",
    ["1e999999999", "1E-999999999", "1e+0009999", "1e9_9_9_9_9_9_9_9_9", "1e٩٩٩٩٩٩٩٩٩", "9" * 5000, "1/" + "9" * 5000],
    ids=lambda text: text[:12],
)
def test_text_that_would_take_forever_to_write_out_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError, match="delta must be a number of ordinary size"):
        exact_rational(text, "delta")


@pytest.mark.parametrize("power", [999_999_999, -999_999_999, 10**15])
def test_decimals_that_would_take_forever_to_write_out_are_refused(power: int) -> None:
    with pytest.raises(InvalidParameterError, match="ordinary size"):
        exact_rational(Decimal((0, (1,), power)), "delta")


# Text for people


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("1", "1"),
        ("100", "100"),
        ("123456", "123456"),
        ("0.3", "0.3"),
        ("1e-6", "0.000001"),
        ("1e-7", "1e-7"),
        ("1.5e-9", "1.5e-9"),
        ("1e-400", "1e-400"),
        ("1e15", "1000000000000000"),
        ("1e16", "1e+16"),
        ("-0.5", "-0.5"),
        ("1/3", "1/3"),
        ("999/1000", "0.999"),
        ("1/1001", "~0.000999001"),
        ("-2/3", "-2/3"),
        ("2001/7", "~285.858"),
        ("1234567", "~1234570"),
        ("0.9999999", "~1"),
        ("1.0000001", "~1.00001"),
        ("1/3000000000", "~3.33334e-10"),
    ],
)
def test_text_is_exact_when_short_and_otherwise_rounded_up_and_marked(value: str, text: str) -> None:
    assert decimal_text(Fraction(value)) == text


@given(value=st.fractions(0, 10**9), digits=st.integers(1, 12))
@settings(max_examples=100)
def test_text_never_understates_and_a_mark_means_that_it_overstates(value: Fraction, digits: int) -> None:
    text = decimal_text(value, digits)
    shown = Fraction(text.lstrip("~"))
    assert shown > value if text.startswith("~") else shown == value
    assert shown - value <= value * Fraction(10) ** (1 - digits)


def test_a_coarse_decimal_context_of_the_caller_changes_nothing() -> None:
    with decimal.localcontext(decimal.Context(prec=2, Emax=5, Emin=-5, traps=[decimal.Inexact, decimal.FloatOperation])):
        assert decimal_text(Fraction("0.123456")) == "0.123456"
        assert exact_rational(0.123456, "x") == exact_rational(np.float32(0.123456), "x") == Fraction("0.123456")
        assert holds(*exp_bounds(Fraction(1), 64), 64, Fraction(1))
        low, high = log_bounds(Fraction(2))
        assert low < Fraction("0.69314718055994530941723212145817656807550013436") < high
        assert high - low < Fraction(1, 10**37)


# Brackets: against the alternating series of exp(-x), in integers that are rounded outward


ORACLE_BITS = 1200


def series(exponent: Fraction) -> tuple[int, int]:
    """Integers around 2**ORACLE_BITS * exp(-exponent): Taylor's series at exponent / 2**k <= 1, squared k times."""
    halvings = math.ceil(exponent).bit_length()
    small = exponent / 2**halvings
    low = high = term_low = term_high = 1 << ORACLE_BITS
    for n in itertools.count(1):
        term_low = term_low * small.numerator // (small.denominator * n)
        term_high = -(-term_high * small.numerator // (small.denominator * n))
        if term_high <= 1:  # what follows alternates and falls, so it is smaller than this
            low, high = low - 1, high + 1
            break
        low, high = (low + term_low, high + term_high) if n % 2 == 0 else (low - term_high, high - term_low)
    for _ in range(halvings):
        low, high = low * low >> ORACLE_BITS, -(-high * high >> ORACLE_BITS)
    return low, high


def holds(low: int, high: int, bits: int, exponent: Fraction) -> bool:
    """Whether low <= 2**bits * exp(-exponent) <= high for certain."""
    truly_above, truly_below = series(exponent)
    shift = ORACLE_BITS - bits
    return low << shift <= truly_above and truly_below <= high << shift


def test_the_oracle_knows_the_first_digits() -> None:
    for exponent in (Fraction(1, 7), Fraction(1), Fraction(10), Fraction(123, 4)):
        low, high = series(exponent)
        assert 0 < high - low < 1 << 100
        assert low / (1 << ORACLE_BITS) == pytest.approx(math.exp(-exponent), rel=1e-14)


EXPONENTS = st.one_of(
    st.fractions(0, 2, max_denominator=1000),
    st.fractions(0, 700),
    st.builds(lambda digits, power: Fraction(digits, 10**power), st.integers(1, 999), st.integers(3, 400)),
    st.builds(lambda p, q: Fraction(p, q), st.integers(1, 10**60), st.integers(10**58, 10**60)),
)


@given(exponent=EXPONENTS, bits=st.sampled_from([0, 1, 16, 64, 128, 512]))
@settings(max_examples=120)
def test_exponentials_lie_in_their_brackets_which_are_at_most_two_units_wide(exponent: Fraction, bits: int) -> None:
    low, high = exp_bounds(exponent, bits)
    assert 0 <= low <= high <= low + 2
    assert (low, high) == (1 << bits, 1 << bits) if not exponent else holds(low, high, bits, exponent)


@pytest.mark.parametrize("exponent", [10**3, 10**300, Fraction(10**400, 7), 131])
def test_a_huge_exponent_is_below_one_unit_and_never_below_zero(exponent: Fraction) -> None:
    assert exp_bounds(Fraction(exponent), 128) == (0, 1)


@given(
    st.one_of(
        st.fractions(0, 700),
        st.builds(Fraction, st.just(1), st.integers(1, 10**60)),
        st.sampled_from([Fraction(0), Fraction(700)]),
    )
)
def test_a_float_exponential_is_within_one_rounding(exponent: Fraction) -> None:
    low, high = exp_bounds(exponent, 1200)
    exact, error = Fraction(low, 1 << 1200), Fraction(1 + 2**-30) / 2**53
    assert high - low <= 2
    assert abs(Fraction(exp_float(exponent)) - exact) <= exact * error


def test_brackets_close_in_as_bits_grow() -> None:
    exponent = Fraction(400, 3)
    widths = [Fraction(high - low, 1 << bits) for bits in (128, 256, 512) for low, high in [exp_bounds(exponent, bits)]]
    assert widths[0] > widths[1] > widths[2] > 0
    assert exp_bounds(exponent, 512)[0] > 0


@given(
    first=st.fractions(0, 300),
    step=st.one_of(st.fractions(0, 5), st.just(Fraction(0)), st.builds(Fraction, st.just(1), st.integers(10**6, 10**60))),
    count=st.integers(0, 60),
    bits=st.sampled_from([8, 128, 256]),
)
@settings(max_examples=40)
def test_a_sequence_of_exponentials_lies_in_its_brackets(first: Fraction, step: Fraction, count: int, bits: int) -> None:
    lows, highs = exp_sequence_bounds(first, step, count, bits)
    assert len(lows) == len(highs) == count
    for place in {0, 1, count // 2, count - 1} & set(range(count)):
        exponent = first + place * step
        assert 0 <= lows[place] <= highs[place] <= lows[place] + 2
        assert (lows[place] <= 1 << bits <= highs[place]) if not exponent else holds(lows[place], highs[place], bits, exponent)


def test_a_long_sequence_stays_as_narrow_as_a_short_one() -> None:
    lows, highs = exp_sequence_bounds(Fraction(0), Fraction(1, 10**5), 20_000, 128)
    assert max(high - low for low, high in zip(lows, highs, strict=True)) <= 2
    assert holds(lows[-1], highs[-1], 128, Fraction(19_999, 10**5))


VALUES = st.one_of(
    st.fractions(Fraction(1, 10**6), 10**6).filter(bool),
    st.builds(lambda power: Fraction(10) ** power, st.integers(-300, 300)),
    st.builds(lambda digits, power: 1 + Fraction(digits, 10**power), st.integers(-9, 9), st.integers(1, 400)),
)


@given(value=VALUES, digits=st.sampled_from([10, 40, 100]))
@settings(max_examples=80)
def test_logarithms_lie_in_their_brackets_which_agree_to_the_digits(value: Fraction, digits: int) -> None:
    low, high = log_bounds(value, digits)
    assert low <= high
    assert high - low <= Fraction(10) ** (3 - digits) * max(Fraction(1), abs(low))
    unit = 1 << ORACLE_BITS
    for bound, is_lower in ((low, True), (high, False)):
        at_least, at_most = series(abs(bound))  # around exp(-|bound|)
        if bound < 0:
            assert at_least <= value * unit if is_lower else value * unit <= at_most
        else:
            assert at_most * value >= unit if is_lower else at_least * value <= unit


@pytest.mark.parametrize("power", [50, 1000])
def test_logarithms_next_to_one_are_bracketed_by_zero_on_the_inner_side(power: int) -> None:
    tiny = Fraction(1, 10**power)
    above, below = log_bounds(1 + tiny), log_bounds(1 - tiny)
    assert above[0] == below[1] == 0
    assert tiny - tiny**2 < above[1] < Fraction(1, 10**37)
    assert -Fraction(1, 10**37) < below[0] < -tiny
    assert log_bounds(Fraction(1)) == (Fraction(0), Fraction(0))


@given(value=st.fractions(0, 10**12), bits=st.sampled_from([0, 8, 128]))
@settings(max_examples=100)
def test_square_roots_lie_in_their_brackets_which_are_one_unit_wide(value: Fraction, bits: int) -> None:
    low, high = sqrt_bounds(value, bits)
    assert 0 <= low**2 <= value <= high**2
    assert high - low <= Fraction(1, 2**bits)


@pytest.mark.parametrize("root", [Fraction(0), Fraction(3), Fraction(5, 8), Fraction(10**30)])
def test_roots_that_fit_the_grid_are_exact(root: Fraction) -> None:
    assert sqrt_bounds(root**2, 8) == (root, root)


@given(value=st.fractions(0).filter(bool))
@settings(max_examples=100)
def test_the_power_of_two_is_the_largest_that_is_not_larger(value: Fraction) -> None:
    power = power_of_two_at_most(value)
    assert power <= value < 2 * power
    assert min(power.numerator, power.denominator) == 1
    assert max(power.numerator, power.denominator).bit_count() == 1


@pytest.mark.parametrize("exponent", [-1000, -1, 0, 1, 1000])
def test_a_power_of_two_is_its_own(exponent: int) -> None:
    assert power_of_two_at_most(Fraction(2) ** exponent) == Fraction(2) ** exponent


@given(values=st.lists(st.integers(0, 10**40), max_size=20))
def test_running_totals_are_exact(values: list[int]) -> None:
    assert cumulative(values) == list(itertools.accumulate(values))


@pytest.mark.parametrize("value", [10**5000, -(10**5000), Fraction(1, 10**5000)], ids=["huge", "low", "tiny"])
def test_a_number_too_long_to_print_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError, match="ordinary size"):
        exact_rational(value, "epsilon")
