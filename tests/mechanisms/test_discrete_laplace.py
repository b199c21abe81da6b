"""Discrete Laplace noise: its law, its privacy on the grid, and that no value makes it fail."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.results import Release
from dpstats.mechanisms.coins import Bounds
from dpstats.mechanisms.discrete_laplace import (
    _digit,
    _digit_count,
    _nonzero,
    _power,
    l1_units,
    laplace,
    sample_discrete_laplace,
    sample_geometric,
)
from dpstats.mechanisms.grid import Grid
from tests.laws.mechanisms import discrete_laplace_law, exponential_of_minus
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.twins.mechanisms import float_laplace, half_even_units, thin_laplace_scale, unrounded_l1_units

SCALES = [Fraction(1, 3), Fraction(1), Fraction(15, 2), Fraction(40)]


# The law of the sampler


def middle(bounds: Bounds, bits: int = 200) -> Fraction:
    low, high = bounds(bits)
    assert high - low <= 2
    return Fraction(low, 1 << bits)


@pytest.mark.parametrize("scale", SCALES)
def test_independent_digits_and_a_carry_make_a_geometric_number(scale: Fraction) -> None:
    digits = 4
    ratio = exponential_of_minus(1 / scale)
    for number in range(1 << digits):
        product = Fraction(1)
        for k in range(digits):
            one = middle(_digit(scale, digits, k))
            product *= one if number >> k & 1 else 1 - one
        product *= 1 - middle(_power(scale, digits, digits))  # nothing above the digits
        assert abs(product / ((1 - ratio) * ratio**number) - 1) < Fraction(1, 2**150)


@pytest.mark.parametrize("scale", SCALES)
def test_zero_sign_and_magnitude_make_a_discrete_laplace_number(scale: Fraction) -> None:
    law = discrete_laplace_law(0, scale, -3, 3)
    nonzero, ratio = middle(_nonzero(scale, 3)), exponential_of_minus(1 / scale)
    assert abs(1 - nonzero - law[0]) < Fraction(1, 2**150)
    for z in (1, 2, 3):
        assert abs(nonzero / 2 * (1 - ratio) * ratio ** (z - 1) - law[z]) < Fraction(1, 2**150)


@given(scale=st.fractions(Fraction(1, 50), 10**6), bits=st.sampled_from([16, 80, 144]), data=st.data())
@settings(max_examples=40)
def test_bounds_enclose_powers_and_digits_within_two_units(scale: Fraction, bits: int, data: st.DataObject) -> None:
    digits = _digit_count(scale)
    k = data.draw(st.integers(0, digits))
    power = exponential_of_minus(2**k / scale)
    probabilities = [(_power(scale, digits, k), power), (_nonzero(scale, digits), 2 - 2 / (1 + exponential_of_minus(1 / scale)))]
    if k < digits:
        probabilities.append((_digit(scale, digits, k), power / (1 + power)))
    for bounds, probability in probabilities:
        low, high = bounds(bits)
        assert low <= probability * 2**bits + Fraction(1, 2**50)
        assert probability * 2**bits - Fraction(1, 2**50) <= high
        assert high - low <= 2


@pytest.mark.parametrize("scale", SCALES)
def test_samples_fit_the_declared_scale_and_no_scale_a_tenth_off(scale: Fraction, fit: Callable[..., float]) -> None:
    samples = sample_discrete_laplace(scale, 20_000, seeded(7)).tolist()
    reach = math.ceil(12 * scale)
    assert fit(samples, discrete_laplace_law(0, scale, -reach, reach)) > 1e-3
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(samples, discrete_laplace_law(0, wrong * scale, -reach, reach)) < 1e-6


@pytest.mark.parametrize("scale", SCALES)
def test_geometric_samples_fit_the_declared_scale_and_no_scale_a_tenth_off(scale: Fraction, fit: Callable[..., float]) -> None:
    samples = sample_geometric(scale, 20_000, seeded(7)).tolist()

    def law(tried: Any) -> dict[int, Fraction]:
        start, top = 1 - exponential_of_minus(1 / tried), math.ceil(14 * scale)
        return {**{k: start * exponential_of_minus(k / tried) for k in range(top)}, top: exponential_of_minus(top / tried)}

    capped = [min(sample, math.ceil(14 * scale)) for sample in samples]
    assert min(samples) == 0
    assert fit(capped, law(scale)) > 1e-3
    assert max(fit(capped, law(Fraction(9, 10) * scale)), fit(capped, law(Fraction(11, 10) * scale))) < 1e-6


def test_high_and_low_digits_of_wide_noise_are_both_right(fit: Callable[..., float]) -> None:
    scale = Fraction(10**6)
    samples = sample_discrete_laplace(scale, 20_000, seeded(7))
    assert abs(np.abs(samples).mean() / 10**6 - 1) < 0.03
    assert fit((samples % 8).tolist(), {digit: Fraction(1, 8) for digit in range(8)}) > 1e-3


def test_a_carry_beyond_the_digits_is_counted(script: Callable[..., RandomSource]) -> None:
    digits = _digit_count(Fraction(1))
    words = [0, 0, *[65535] * digits, 0]  # not zero, positive, all digits 0, and a carry that ties with its digits
    once = script(words, bytes(16))  # two more rounds of zeros settle the tie as heads; then the seeded stream says stop
    assert sample_discrete_laplace(Fraction(1), 1, once).tolist() == [1 + (1 << digits)]
    twice = script(words, bytes(16) + bytes(8 + 16))  # and a second carry, which ties in the same way
    assert sample_discrete_laplace(Fraction(1), 1, twice).tolist() == [1 + (2 << digits)]


def test_noise_too_wide_for_64_bits_comes_as_python_integers() -> None:
    scale = Fraction(2**100)
    samples = sample_discrete_laplace(scale, 500, seeded(7))
    assert samples.dtype == object
    assert abs(sum(abs(int(sample)) for sample in samples) / 500 / 2**100 - 1) < 0.2
    assert sample_discrete_laplace(Fraction(2**40), 500, seeded(7)).dtype == np.int64


def test_sizes_beyond_one_block_and_empty_ones_are_exact() -> None:
    assert len(sample_discrete_laplace(Fraction(3), 50_001, seeded(7))) == 50_001
    assert len(sample_discrete_laplace(Fraction(3), 0, seeded(7))) == 0
    assert len(sample_geometric(Fraction(3), 0, seeded(7))) == 0


@pytest.mark.parametrize("sample", [sample_discrete_laplace, sample_geometric])
def test_a_scale_must_be_positive(sample: Any) -> None:
    with pytest.raises(InvalidParameterError, match="positive"):
        sample(Fraction(0), 1, seeded(7))


# Privacy


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("units", [1, 3, 20])
def test_the_exact_law_costs_epsilon_and_the_thin_twin_more(epsilon: Any, units: int) -> None:
    window = (-5, units + 5)

    def loss(scale: Fraction) -> float:
        return largest_log_ratio(discrete_laplace_law(0, scale, *window), discrete_laplace_law(units, scale, *window))

    assert loss(units / epsilon) == pytest.approx(float(epsilon), rel=1e-12)
    assert loss(thin_laplace_scale(Fraction(units), epsilon)) > float(epsilon) * 1.1


coordinate = st.fractions(-4, 4, max_denominator=12)


@given(first=st.lists(coordinate, min_size=1, max_size=4), data=st.data())
@settings(max_examples=60)
def test_rounded_values_move_by_no_more_units_than_declared(first: list[Any], data: st.DataObject) -> None:
    second = data.draw(st.lists(coordinate, min_size=len(first), max_size=len(first)))
    grid = Grid(data.draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(2, 3)])))
    distance = sum(abs(a - b) for a, b in zip(first, second, strict=True))
    moved = sum(abs(grid.units(a) - grid.units(b)) for a, b in zip(first, second, strict=True))
    if distance:
        assert moved <= l1_units(distance, grid, len(first))


@pytest.mark.parametrize(("sensitivity", "coordinates"), [("1", 1), ("3/2", 1), ("1", 3), ("5/2", 4)])
def test_the_declared_units_are_attained_and_the_twin_without_rounding_is_exceeded(sensitivity: Any, coordinates: Any) -> None:
    grid, bound = Grid(Fraction(1)), Fraction(sensitivity)
    share = Fraction(1, 1000)  # the first coordinate moves nearly all the way, each other one only across its edge
    moves = [bound - (coordinates - 1) * share] + [share] * (coordinates - 1)
    starts = [Fraction(1, 2) - move if place else Fraction(1, 2) - moves[0] % 1 for place, move in enumerate(moves)]
    starts = [start if start % 1 else start - 1 for start in starts]
    moved = sum(grid.units(start + move) - grid.units(start) for start, move in zip(starts, moves, strict=True))
    assert moved == l1_units(bound, grid, coordinates)
    if (sensitivity, coordinates) != ("1", 1):
        assert moved > unrounded_l1_units(bound, grid, coordinates)


def test_without_paying_for_rounding_the_law_breaks_its_epsilon() -> None:
    grid, epsilon, sensitivity = Grid(Fraction(1)), Fraction(1), Fraction(1)
    first, second = [Fraction(3, 10)] * 3, [Fraction(6, 10)] * 3  # 0.9 apart, but three units apart once rounded
    moves = [abs(grid.units(a) - grid.units(b)) for a, b in zip(first, second, strict=True)]

    def loss(units: Fraction) -> float:
        law = [discrete_laplace_law(0, units / epsilon, -4, 5), discrete_laplace_law(1, units / epsilon, -4, 5)]
        return sum(moves) * largest_log_ratio(*law)

    assert loss(l1_units(sensitivity, grid, 3)) <= 1 + 1e-12
    assert loss(unrounded_l1_units(sensitivity, grid, 3)) > 2.9


def test_halves_go_upward_because_half_even_would_double_a_move() -> None:
    grid = Grid(Fraction(1))
    assert grid.units(1.5) - grid.units(0.5) == 1 == l1_units(Fraction(1), grid, 1)
    assert half_even_units(Fraction(3, 2), Fraction(1)) - half_even_units(Fraction(1, 2), Fraction(1)) == 2


def test_the_float_twin_is_told_apart_by_one_look_and_the_grid_is_not() -> None:
    uniforms = [(k + 0.5) / 2**12 - 0.5 for k in range(2**12)]
    laws = []
    for value in (0.0, 1 / 3):
        law: dict[object, float] = {}
        for uniform in uniforms:
            output = float_laplace(value, 1.0, uniform)
            law[output] = law.get(output, 0.0) + 2.0**-12
        laws.append(law)
    assert largest_log_ratio(*laws) == math.inf
    assert hockey_stick(laws[0], laws[1], 1.0) > 0.9
    grid_laws = [discrete_laplace_law(centre, Fraction(8), -30, 30) for centre in (0, 3)]
    assert set(grid_laws[0]) == set(grid_laws[1])
    assert largest_log_ratio(*grid_laws) == pytest.approx(3 / 8)


def default_spacing(release: Release) -> Fraction:
    grid = dict(release.notes)["grid"]  # "multiples of 2**-40", or of a whole number
    return Fraction(1, 2 ** int(grid.partition("**-")[2])) if "**-" in grid else Fraction(grid.split()[-1])


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), (0.1, 1), (0.3, "2/7"), (5, 1e-9), (2, 1e12)])
def test_every_release_lies_on_the_public_grid(epsilon: Any, sensitivity: Any) -> None:
    rng = seeded(7)
    for value in (0.0, 1 / 3, 1e-300, -7.77, 123456.789):
        release = laplace(value, l1_sensitivity=sensitivity, epsilon=epsilon, rng=rng)
        assert Fraction(float(release)) % default_spacing(release) == 0


def test_the_same_noise_moves_with_the_value_by_whole_units() -> None:
    near = float(laplace(0, l1_sensitivity=1, epsilon=1, grid="0.25", rng=seeded(7)))
    far = float(laplace(10.2, l1_sensitivity=1, epsilon=1, grid="0.25", rng=seeded(7)))
    assert far - near == 10.25


def test_neighbours_can_release_the_same_numbers() -> None:
    seen = []
    for value in (0.0, 1 / 3):
        values = np.asarray(laplace([value] * 20_000, l1_sensitivity=1, epsilon=2_500, grid="1/8", rng=seeded(7)))
        assert (values * 8 == np.round(values * 8)).all()
        seen.append({number for number in values.tolist() if abs(number) <= 1})
    assert seen[0] == seen[1] == {step / 8 for step in range(-8, 9)}


def test_noise_falls_as_epsilon_grows() -> None:
    spreads = []
    for epsilon in (0.1, 1, 10):
        release = laplace([0.0] * 500, l1_sensitivity=1, epsilon=epsilon, rng=seeded(7))
        spreads.append(np.abs(np.asarray(release)).mean())
    assert spreads[0] > 5 * spreads[1] > 25 * spreads[2]


def test_the_scale_of_a_release_is_sensitivity_over_epsilon(fit: Callable[..., float]) -> None:
    values = laplace([5] * 20_000, l1_sensitivity=3, epsilon=2, integers=True, rng=seeded(7)).value
    law = discrete_laplace_law(5, Fraction(3, 2), -15, 25)
    assert fit(values, law) > 1e-3
    assert fit(values, discrete_laplace_law(5, Fraction(27, 20), -15, 25)) < 1e-6


# The call


BAD_VALUES = [float("nan"), float("inf"), -float("inf"), None, "7", object(), Decimal("NaN"), np.float32("nan"), 1j, [1]]


@pytest.mark.parametrize("bad", BAD_VALUES)
@pytest.mark.parametrize("integers", [False, True])
def test_what_is_no_finite_number_counts_as_zero_and_never_fails(bad: Any, integers: Any) -> None:
    given_bad = laplace([bad, 4], l1_sensitivity=1, epsilon=1, integers=integers, rng=seeded(7))
    given_zero = laplace([0, 4], l1_sensitivity=1, epsilon=1, integers=integers, rng=seeded(7))
    assert given_bad.value == given_zero.value


def test_what_is_not_whole_counts_as_zero_among_integers() -> None:
    assert laplace(2.5, l1_sensitivity=1, epsilon=1, integers=True, rng=seeded(7)).value == (
        laplace(0, l1_sensitivity=1, epsilon=1, integers=True, rng=seeded(7)).value
    )


@pytest.mark.parametrize(
    "huge", [sys.float_info.max, -sys.float_info.max, 10**400, Fraction(-(10**400))], ids=["max", "-max", "int", "-fraction"]
)
def test_huge_values_stop_at_the_largest_float(huge: Any) -> None:
    for seed in range(4):
        value = float(laplace(huge, l1_sensitivity=1e300, epsilon=1, rng=seeded(seed)))
        assert math.isfinite(value)
        assert (value > 0) == (huge > 0)


@pytest.mark.parametrize(
    "value", [3, 3.0, Fraction(3), Decimal(3), np.int64(3), np.float32(3), np.array(3), True + 2, np.array(3, dtype=object)]
)
def test_every_kind_of_number_is_the_same_number(value: Any) -> None:
    expected = laplace(3.0, l1_sensitivity=1, epsilon=1, rng=seeded(7)).value
    assert laplace(value, l1_sensitivity=1, epsilon=1, rng=seeded(7)).value == expected


@pytest.mark.parametrize("values", [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1.0, 2.0], dtype=np.float32), range(1, 3)])
def test_every_kind_of_list_gives_a_tuple(values: Any) -> None:
    release = laplace(values, l1_sensitivity=1, epsilon=1, rng=seeded(7))
    assert release.value == laplace([1.0, 2.0], l1_sensitivity=1, epsilon=1, rng=seeded(7)).value
    assert isinstance(release.value, tuple)


def test_an_empty_list_gives_an_empty_release() -> None:
    assert laplace([], l1_sensitivity=1, epsilon=1, rng=seeded(7)).value == ()


def test_integers_stay_exact_however_large() -> None:
    value = laplace(10**30, l1_sensitivity=1, epsilon=50, integers=True, rng=seeded(7)).value
    assert isinstance(value, int)
    assert abs(value - 10**30) <= 2


def test_the_release_says_what_it_cost_and_how_it_was_made() -> None:
    release = laplace(3.5, l1_sensitivity="1/3", epsilon=0.3, neighbors="change_one", rng=seeded(7))
    assert release.cost.epsilon == Fraction(3, 10)
    assert release.cost.delta == 0
    assert release.cost.neighbors is Neighbors.CHANGE_ONE
    assert release.method == "discrete laplace"
    assert not release.private
    assert {"noise", "grid", "policy"} <= dict(release.notes).keys()
    assert laplace(3.5, l1_sensitivity=1, epsilon=1).private


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"l1_sensitivity": 0, "epsilon": 1}, "l1_sensitivity must be a positive"),
        ({"l1_sensitivity": 1, "epsilon": 0}, "epsilon must be a positive"),
        ({"l1_sensitivity": 1, "epsilon": 1, "grid": -1}, "grid must be a positive"),
        ({"l1_sensitivity": 1, "epsilon": 1, "grid": 1, "integers": True}, "leave grid out"),
        ({"l1_sensitivity": 0.5, "epsilon": 1, "integers": True}, "1 or more"),
        ({"l1_sensitivity": 10**400, "epsilon": 1}, "largest float"),
        ({"l1_sensitivity": 1, "epsilon": 1, "neighbors": "friends"}, "neighbors"),
    ],
)
def test_errors_speak_of_parameters_only(keywords: Any, words: Any) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        laplace(812.25, **keywords)


def test_the_grid_depends_on_parameters_alone() -> None:
    grids = {
        dict(laplace(value, l1_sensitivity=1, epsilon=1, rng=seeded(7)).notes)["grid"]
        for value in itertools.chain(([bad] for bad in BAD_VALUES[:-1]), [0, 1e300, 1e-300])
    }
    assert len(grids) == 1
