"""Cube Laplace noise: its law, its cubes, its epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, kstest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import Release
from dpstats.mechanisms import cube_laplace
from dpstats.mechanisms.cube_laplace import (
    MOST_COORDINATES,
    _acceptance,
    cube_spread,
    sample_cube_laplace,
    sample_half_side,
)
from dpstats.mechanisms.discrete_laplace import l1_units, sample_discrete_laplace
from dpstats.mechanisms.grid import Grid
from tests.laws.aggregates import cube_point_law, cube_weight, largest_part_law
from tests.laws.mechanisms import ABOVE, discrete_laplace_law, exponential_of_minus
from tests.laws.spherical import Weight, box, output_odds
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.aggregates import bare_half_side, unshared_scale


def vectors(scale: Fraction, coordinates: int, size: int) -> list[tuple[int, ...]]:
    rng = seeded(7)
    return [tuple(sample_cube_laplace(scale, coordinates, rng).tolist()) for _ in range(size)]


def largest_parts(samples: list[tuple[int, ...]], high: int) -> list[object]:
    parts = [max(abs(part) for part in sample) for sample in samples]
    return [part if part <= high else ABOVE for part in parts]


# The law of the sampler


@pytest.mark.parametrize(("coordinates", "scale"), [(1, "5/2"), (2, "2"), (5, "1/3"), (9, "1/8")])
def test_largest_coordinates_fit_the_declared_scale_and_none_a_tenth_off(
    coordinates: int, scale: str, fit: Callable[..., float]
) -> None:
    declared, high = Fraction(scale), math.ceil(4 * (coordinates + 1) * Fraction(scale))
    parts = largest_parts(vectors(declared, coordinates, 3_000), high)
    assert fit(parts, largest_part_law(coordinates, declared, high)) > 1e-3
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(parts, largest_part_law(coordinates, wrong * declared, high)) < 1e-3


@pytest.mark.parametrize(("coordinates", "scale", "reach"), [(2, "1", 4), (3, "1/3", 2)])
def test_points_with_one_largest_coordinate_are_equally_likely(
    coordinates: int, scale: str, reach: int, fit: Callable[..., float]
) -> None:
    law = cube_point_law(coordinates, Fraction(scale), reach)
    points = [point if point in law else ABOVE for point in vectors(Fraction(scale), coordinates, 3_000)]
    assert fit(points, law) > 1e-3
    separate = sample_discrete_laplace(Fraction(scale), 3_000 * coordinates, seeded(7)).reshape(-1, coordinates).tolist()
    assert fit([tuple(row) if tuple(row) in law else ABOVE for row in separate], law) < 1e-6


def test_one_coordinate_is_discrete_laplace(fit: Callable[..., float]) -> None:
    samples = [part for (part,) in vectors(Fraction(3), 1, 3_000)]
    assert fit(samples, discrete_laplace_law(0, Fraction(3), -20, 20)) > 1e-3
    exact, parts = discrete_laplace_law(0, Fraction(3), -10, 10), largest_part_law(1, Fraction(3), 10)
    for part in range(1, 11):
        assert parts[part] == pytest.approx(2 * float(exact[part]), rel=1e-12)


@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_cubes_around_a_point_add_up_to_its_weight(coordinates: int) -> None:
    """The step on which the sampler rests, from the definitions: a cube's weight over its points, summed over cubes."""
    scale, last = Fraction(3, 4), 120
    for largest in range(4):
        weights = [(2 * half + 1) ** coordinates * exponential_of_minus(half / scale) for half in range(last)]
        summed = sum(weight / (2 * half + 1) ** coordinates for half, weight in enumerate(weights) if half >= largest)
        point = (largest, *[0] * (coordinates - 1))
        assert float(summed) == pytest.approx(float(cube_weight(point, scale) / (1 - exponential_of_minus(1 / scale))), rel=1e-12)


@pytest.mark.parametrize(("coordinates", "size"), [(6, 1_500), (40, 300), (200, 60)])
def test_wide_noise_has_cubes_as_large_as_a_gamma_variable(coordinates: int, size: int) -> None:
    rng = seeded(7)
    halves = [sample_half_side(Fraction(2**40), coordinates, rng) / 2**40 for _ in range(size)]
    assert kstest(halves, gamma(coordinates + 1).cdf).pvalue > 1e-3
    for wrong in (0.8, 1.25):
        assert kstest(np.array(halves) * wrong, gamma(coordinates + 1).cdf).pvalue < 1e-4


def test_the_spread_of_a_coordinate_is_as_stated() -> None:
    noise = np.array(vectors(Fraction(2**30), 4, 2_000)).astype(float).ravel() / 2**30
    variance, kurtosis = cube_spread(4)
    assert noise.var() == pytest.approx(variance, rel=0.12)
    assert (noise**4).mean() / noise.var() ** 2 - 3 == pytest.approx(kurtosis, abs=0.5)
    assert cube_spread(1) == pytest.approx((2, 3))  # Laplace
    assert cube_spread(10)[0] < 2 * 10**2 / 4  # each of ten Laplace noises at a tenth of epsilon has 2 * 10**2


def test_noise_far_below_a_unit_is_zero_and_takes_no_time() -> None:
    assert not np.any(vectors(Fraction(1, 200), 3, 300))
    assert not sample_cube_laplace(Fraction(1, 10**40), 500, seeded(7)).any()


def test_noise_too_wide_for_int64_is_of_whole_numbers_still() -> None:
    samples = [sample_cube_laplace(Fraction(2**140), 3, seeded(seed)) for seed in range(60)]
    assert {sample.dtype for sample in samples} == {np.dtype(object)}
    assert {type(part) for sample in samples for part in sample.tolist()} == {int}
    largest = [max(abs(part) for part in sample.tolist()) / 2**140 for sample in samples]
    assert kstest(largest, gamma(3).cdf).pvalue > 1e-3


# Acceptance


@given(ratio=st.fractions(Fraction(1, 50), 12), power=st.integers(1, 60))
@settings(max_examples=80)
def test_the_acceptance_is_enclosed_and_never_above_one(ratio: Any, power: int) -> None:
    shrunk = exponential_of_minus(power * abs(ratio - 1))
    truth = ratio**power * (shrunk if ratio >= 1 else 1 / shrunk)
    assert truth <= 1 + Fraction(1, 2**200)
    for bits in (64, 128):
        low, high = _acceptance(ratio, power)(bits)
        assert 0 <= low <= truth * 2**bits * (1 + Fraction(1, 2**200))
        assert truth * 2**bits * (1 - Fraction(1, 2**200)) <= high <= 2**bits
        assert high - low <= 2


def test_a_candidate_in_the_middle_is_kept_for_sure() -> None:
    assert _acceptance(Fraction(1), 7)(64) == (2**64, 2**64)


# Privacy


def largest_loss(coordinates: int, moved: int, scale: Fraction, weight: Weight, reach: int = 4) -> float:
    """The largest loss over all moves of which no coordinate exceeds `moved`, and all outputs in a box around."""
    outputs = box(coordinates, reach)
    at_home = output_odds((0,) * coordinates, outputs, scale, weight)
    return max(
        largest_log_ratio(at_home, output_odds(move, outputs, scale, weight)) for move in box(coordinates, moved) if any(move)
    )


@pytest.mark.parametrize(("coordinates", "moved", "reach"), [(1, 3, 6), (2, 1, 4), (2, 2, 4), (3, 1, 2)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_every_move_within_the_sensitivity_costs_epsilon_at_most(
    coordinates: int, moved: int, reach: int, epsilon: Fraction
) -> None:
    assert largest_loss(coordinates, moved, moved / epsilon, cube_weight, reach) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize("twin", [unshared_scale, bare_half_side])
def test_the_twins_cost_more_than_epsilon(twin: Weight) -> None:
    assert largest_loss(2, 1, Fraction(1), twin) > 1.2


coordinate = st.fractions(-4, 4, max_denominator=12)


@given(first=st.lists(coordinate, min_size=1, max_size=4), data=st.data())
@settings(max_examples=60)
def test_rounded_coordinates_move_no_further_than_declared(first: list[Any], data: st.DataObject) -> None:
    second = data.draw(st.lists(coordinate, min_size=len(first), max_size=len(first)))
    grid = Grid(data.draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(2, 3)])))
    apart = max(abs(a - b) for a, b in zip(first, second, strict=True))
    moved = max(abs(grid.units(a) - grid.units(b)) for a, b in zip(first, second, strict=True))
    assert not apart or moved <= l1_units(apart, grid, 1)


# The call


def test_the_noise_of_a_release_has_the_declared_scale() -> None:
    rng = seeded(7)
    values = [cube_laplace([5.0] * 6, linf_sensitivity=3, epsilon=2, rng=rng).value for _ in range(400)]
    largest = np.abs(np.array(values) - 5).max(axis=1) / 1.5
    assert kstest(largest, gamma(6).cdf).pvalue > 1e-3
    assert kstest(largest * 0.8, gamma(6).cdf).pvalue < 1e-6


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "x"])
@pytest.mark.parametrize("integers", [False, True])
def test_what_is_no_number_counts_as_zero(bad: Any, integers: bool) -> None:
    given_bad, given_zero = (
        cube_laplace([value, 1.0], linf_sensitivity=1, epsilon=1, integers=integers, rng=seeded(7)) for value in (bad, 0)
    )
    assert given_bad.value == given_zero.value


def test_the_release_says_what_it_cost_and_how_it_was_made() -> None:
    release = cube_laplace([5, 6], linf_sensitivity=2, epsilon=0.5, integers=True, neighbors="change_one", rng=seeded(7))
    assert all(isinstance(value, int) for value in release)
    assert (release.cost.epsilon, release.cost.delta) == (Fraction(1, 2), Fraction(0))
    assert release.cost.neighbors is Neighbors.CHANGE_ONE
    assert dict(release.notes)["noise"] == "cube Laplace of scale 4, drawn exactly"
    assert not release.private
    private = cube_laplace([5, 6], linf_sensitivity=2, epsilon=0.5)
    assert private.private
    assert isinstance(private, Release)


def test_one_number_and_none_at_all_come_back_as_they_went_in() -> None:
    assert isinstance(cube_laplace(5, linf_sensitivity=1, epsilon=1, rng=seeded(7)).value, float)
    assert cube_laplace([], linf_sensitivity=1, epsilon=1, rng=seeded(7)).value == ()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"linf_sensitivity": 0}, "linf_sensitivity must be a positive"),
        ({"epsilon": 0}, "epsilon must be a positive"),
        ({"grid": 1, "integers": True}, "leave grid out"),
        ({"linf_sensitivity": 0.5, "integers": True}, "1 or more"),
        ({"rng": 7}, "rng must come from"),
    ],
)
def test_errors_speak_of_parameters_only(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        cube_laplace([812.25, 1], **{"linf_sensitivity": 1, "epsilon": 1, **keywords})


def test_too_many_coordinates_and_a_scale_of_zero_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="at most 4096 coordinates"):
        cube_laplace([0] * (MOST_COORDINATES + 1), linf_sensitivity=1, epsilon=1)
    with pytest.raises(InvalidParameterError, match="positive"):
        sample_cube_laplace(Fraction(0), 2, seeded(7))
