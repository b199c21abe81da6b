"""Spherical Laplace noise: its law, its halves, its epsilon."""

from __future__ import annotations

import importlib
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
from dpstats.foundations.randomness import random_words, seeded
from dpstats.foundations.results import Release
from dpstats.mechanisms import spherical_laplace
from dpstats.mechanisms.gaussian import FAR
from dpstats.mechanisms.grid import Grid
from dpstats.mechanisms.spherical_laplace import (
    _LONGEST,
    MOST_COORDINATES,
    SLACK,
    _accept,
    _acceptance,
    _float_exponents,
    _halves,
    _root,
    l2_units,
    sample_spherical_laplace,
    sample_spherical_laplaces,
)
from tests.laws.mechanisms import ABOVE, discrete_laplace_law, exponential_of_minus
from tests.laws.spherical import Weight, box, length, output_odds, point_law, spherical_weight, squared_length_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.spherical import bare_length, forgotten_rounding, separate_coordinates, whole_length


def squared_lengths(samples: Any) -> list[int]:
    lengths: list[int] = (samples**2).sum(axis=1).tolist()
    return lengths


# The law of the sampler


@pytest.mark.parametrize(("coordinates", "scale"), [(1, "5/2"), (2, "2"), (3, "3/2"), (4, "1"), (5, "1"), (7, "1/2")])
def test_lengths_fit_the_declared_scale_and_none_a_tenth_off(coordinates: int, scale: str, fit: Callable[..., float]) -> None:
    declared, high = Fraction(scale), math.ceil((4 * coordinates * Fraction(scale)) ** 2)
    found = squared_lengths(sample_spherical_laplaces(declared, coordinates, 20_000, seeded(7)))
    squares = [square if square <= high else ABOVE for square in found]
    assert fit(squares, squared_length_law(coordinates, declared, high)) > 1e-3
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(squares, squared_length_law(coordinates, wrong * declared, high)) < 1e-6


@pytest.mark.parametrize(("coordinates", "scale", "reach"), [(2, "3/2", 5), (3, "2/3", 2)])
def test_points_of_one_length_are_equally_likely(coordinates: int, scale: str, reach: int, fit: Callable[..., float]) -> None:
    law = point_law(coordinates, Fraction(scale), reach)
    rows = sample_spherical_laplaces(Fraction(scale), coordinates, 20_000, seeded(7)).tolist()
    points = [tuple(row) if tuple(row) in law else ABOVE for row in rows]
    assert fit(points, law) > 1e-3
    separate = sample_spherical_laplaces(Fraction(scale), 1, 20_000 * coordinates, seeded(7)).reshape(-1, coordinates).tolist()
    assert fit([tuple(row) if tuple(row) in law else ABOVE for row in separate], law) < 1e-6


def test_one_coordinate_is_discrete_laplace(fit: Callable[..., float]) -> None:
    samples = sample_spherical_laplaces(Fraction(3), 1, 20_000, seeded(7))[:, 0].tolist()
    assert fit(samples, discrete_laplace_law(0, Fraction(3), -20, 20)) > 1e-3
    squares = squared_length_law(1, Fraction(3), 100)
    exact = discrete_laplace_law(0, Fraction(3), -10, 10)
    for part in range(1, 11):
        assert squares[part * part] == pytest.approx(2 * float(exact[part]), rel=1e-12)


@pytest.mark.parametrize("coordinates", [2, 3])
def test_the_law_of_lengths_adds_up_the_law_of_points(coordinates: int) -> None:
    squares = squared_length_law(coordinates, Fraction(4, 3), 16)
    added = dict.fromkeys(range(17), 0.0)
    for point, chance in point_law(coordinates, Fraction(4, 3), 4).items():
        square = sum(part * part for part in point) if isinstance(point, tuple) else 17
        if square <= 16:
            added[square] += chance
    assert added == pytest.approx({square: squares[square] for square in range(17)}, rel=1e-12)
    assert sum(squares.values()) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(("coordinates", "size"), [(6, 2_000), (11, 2_000), (24, 800), (41, 400), (130, 100)])
def test_wide_noise_is_as_long_as_a_gamma_variable_and_points_anywhere(coordinates: int, size: int) -> None:
    scale = Fraction(2**40)
    noise = sample_spherical_laplaces(scale, coordinates, size, seeded(7)) / 2**40
    lengths = np.sqrt((noise**2).sum(axis=1))
    assert kstest(lengths, gamma(coordinates).cdf).pvalue > 1e-3
    for wrong in (0.8, 1.25):
        assert kstest(lengths * wrong, gamma(coordinates).cdf).pvalue < 1e-6
    directions = noise / lengths[:, None]
    covariance = coordinates * (directions.T @ directions) / size  # near the identity
    assert np.abs(covariance - np.eye(coordinates)).max() < 7 / math.sqrt(size)
    fourth = (directions**4).mean() * coordinates * (coordinates + 2) / 3  # 1 on the sphere, larger where axes are preferred
    assert abs(fourth - 1) < 0.1


def test_noise_far_below_a_unit_is_zero() -> None:
    assert not sample_spherical_laplaces(Fraction(1, 50), 8, 500, seeded(7)).any()
    assert not sample_spherical_laplaces(Fraction(1, 10**40), 3, 5, seeded(7)).any()


def test_noise_too_wide_for_int64_is_settled_exactly() -> None:
    samples = sample_spherical_laplaces(Fraction(2**140), 5, 60, seeded(7))
    assert samples.dtype == object
    assert {type(part) for row in samples.tolist() for part in row} == {int}
    lengths = np.array([math.sqrt(sum((part / 2**140) ** 2 for part in row)) for row in samples.tolist()])
    assert kstest(lengths, gamma(5).cdf).pvalue > 1e-3


def test_shapes_are_as_asked() -> None:
    assert sample_spherical_laplace(Fraction(3), 5, seeded(7)).shape == (5,)
    assert sample_spherical_laplace(Fraction(3), 0, seeded(7)).shape == (0,)
    assert sample_spherical_laplaces(Fraction(3), 5, 0, seeded(7)).shape == (0, 5)
    assert sample_spherical_laplaces(Fraction(3), 3, 70_000, seeded(7)).shape == (70_000, 3)


# Halves and their acceptance


def test_the_roots_leave_room_for_their_halves_and_hardly_more() -> None:
    for coordinates in range(2, MOST_COORDINATES + 1):
        left, right = _halves(coordinates)
        assert left + right == coordinates
        assert left >= right >= 1
        squares = _root(left) ** 2 + _root(right) ** 2
        assert squares <= _root(coordinates) ** 2 < squares + 3 * _root(coordinates)
        assert _root(coordinates) / 2**30 == pytest.approx(math.sqrt(coordinates), rel=1e-8)


@given(parts=st.lists(st.fractions(-9, 9), min_size=2, max_size=9), scale=st.fractions(Fraction(1, 9), 10**30))
@settings(max_examples=80)
def test_the_acceptance_is_enclosed_and_never_above_one(parts: list[Any], scale: Any) -> None:
    candidate = [round(part * max(scale, 1)) for part in parts]
    measure = scale * _root(len(candidate))
    left = _halves(len(candidate))[0]
    cuts = (candidate, candidate[:left], candidate[left:])
    whole, first, second = (_root(len(cut)) * length(tuple(cut)) for cut in cuts)
    exponent = (whole - first - second) / measure
    assert exponent > -Fraction(1, 2**180)
    truth = exponential_of_minus(max(exponent, Fraction(0)))
    for bits in (32, 96):
        low, high = _acceptance(candidate, measure)(bits)
        assert 0 <= low <= truth * 2**bits + Fraction(1, 2**60)
        assert truth * 2**bits - Fraction(1, 2**60) <= high <= 2**bits
        assert high - low <= 6


@pytest.mark.parametrize("scale", [Fraction(1, 7), Fraction(3), Fraction(2**41 + 1, 3), Fraction(2**50)])
@pytest.mark.parametrize("coordinates", [2, 5, 100, 1024])
def test_the_float_probability_errs_by_less_than_half_the_declared_slack(scale: Fraction, coordinates: int) -> None:
    measure = scale * _root(coordinates)
    left, right = _halves(coordinates)
    stretch = np.linspace(0, 4 * math.sqrt(coordinates), 12)[:, None] * float(scale)
    candidates = np.round(np.cos(np.arange(12 * coordinates)).reshape(12, -1) * stretch).astype(np.int64)
    candidates[:3, left:] = 0  # one half alone: the largest exponents
    floats, longest = _float_exponents(candidates, measure)
    assert coordinates / 2 < longest.max() < _LONGEST
    for candidate, exponent in zip(candidates.tolist(), floats, strict=True):
        whole, first, second = (length(tuple(part)) for part in (candidate, candidate[:left], candidate[left:]))
        exact = (_root(coordinates) * whole - _root(left) * first - _root(right) * second) / measure
        if exponent > FAR:
            assert exact > FAR - 1
        else:
            truth = exponential_of_minus(max(exact, Fraction(0)))
            assert abs(Fraction(float(np.exp(-max(exponent, 0.0)))) / truth - 1) < Fraction(SLACK) / 2


@pytest.mark.parametrize(("coordinates", "scale"), [(2, Fraction(3)), (7, Fraction(1, 3)), (5, Fraction(2**40))])
def test_floats_and_exact_settling_accept_the_same_pairs(
    coordinates: int, scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = scale * _root(coordinates)
    left = _halves(coordinates)[0]
    candidates = sample_spherical_laplaces(scale, coordinates, 300, seeded(8))
    candidates[:100, left:] //= 4
    by_floats = _accept(candidates, measure, seeded(7))
    assert 0 < by_floats.sum() < 300
    module = importlib.import_module("dpstats.mechanisms.spherical_laplace")
    for name, value in (("SLACK", 0.999), ("_LONGEST", 1.0), ("_FLOATS_TO", Fraction(0))):
        monkeypatch.setattr(module, name, value)  # floats decide the clearest cases, short ones of them, nothing
        assert (by_floats == _accept(candidates, measure, seeded(7))).all()


def test_a_word_that_ties_with_the_probability_is_settled_by_further_digits() -> None:
    class Tie:
        private = False

        def __init__(self, last: int) -> None:
            truth = exponential_of_minus((_root(2) * length((1, 0)) - _root(1)) / _root(2))  # scale 1
            word = math.floor(truth * 2**32)
            rest = math.floor(truth * 2**96) - (word << 64)
            self.script = word.to_bytes(4, "little") + bytes(4) + (rest + last).to_bytes(8, "big")

        def octets(self, count: int) -> bytes:
            played, self.script = self.script[:count], self.script[count:]
            return played

    pair = np.array([[1, 0]], dtype=np.int64)
    assert _accept(pair, Fraction(_root(2)), Tie(-9)).tolist() == [True]
    assert _accept(pair, Fraction(_root(2)), Tie(9)).tolist() == [False]


def test_pairs_far_apart_are_refused_unless_the_word_is_zero() -> None:
    assert random_words(seeded(7), 1)[0] != 0
    for part in (300, 10**6):
        assert _accept(np.array([[part, 0]], dtype=np.int64), Fraction(_root(2)), seeded(7)).tolist() == [False]


# Privacy


def largest_loss(coordinates: int, squared: int, scale: Fraction, weight: Weight, reach: int = 4) -> float:
    """The largest loss over all moves whose squared length is at most `squared`, and all outputs in a box around."""
    outputs = box(coordinates, reach)
    at_home = output_odds((0,) * coordinates, outputs, scale, weight)
    moves = [move for move in box(coordinates, math.isqrt(squared)) if 0 < sum(part * part for part in move) <= squared]
    return max(largest_log_ratio(at_home, output_odds(move, outputs, scale, weight)) for move in moves)


@pytest.mark.parametrize(("coordinates", "squared", "reach"), [(1, 9, 6), (2, 1, 4), (2, 2, 4), (2, 5, 4), (3, 3, 2)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_every_move_within_the_sensitivity_costs_epsilon_at_most(
    coordinates: int, squared: int, reach: int, epsilon: Fraction
) -> None:
    scale = length((1,) * squared) / epsilon
    assert largest_loss(coordinates, squared, scale, spherical_weight, reach) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize(("twin", "squared"), [(separate_coordinates, 2), (whole_length, 2), (bare_length, 1), (bare_length, 5)])
def test_the_twins_cost_more_than_epsilon(twin: Weight, squared: int) -> None:
    assert largest_loss(2, squared, length((1,) * squared), twin) > 1.2


def test_rounding_the_length_up_is_no_mistake_where_moves_have_whole_lengths() -> None:
    assert largest_loss(2, 4, Fraction(2), whole_length) <= 1 + 1e-12
    assert largest_loss(2, 5, length((2, 1)), whole_length) > 1.3


coordinate = st.fractions(-4, 4, max_denominator=12)


@given(first=st.lists(coordinate, min_size=1, max_size=4), data=st.data())
@settings(max_examples=60)
def test_rounded_values_move_no_further_than_declared(first: list[Any], data: st.DataObject) -> None:
    second = data.draw(st.lists(coordinate, min_size=len(first), max_size=len(first)))
    grid = Grid(data.draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(2, 3)])))
    apart = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
    moved = sum((grid.units(a) - grid.units(b)) ** 2 for a, b in zip(first, second, strict=True))
    sensitivity = Fraction(math.isqrt(math.ceil(apart * 10**6)) + 1, 1000)  # a little above the distance
    assert moved <= l2_units(sensitivity, grid, len(first)) ** 2


def test_without_paying_for_rounding_a_short_move_breaks_epsilon() -> None:
    grid, sensitivity = Grid(Fraction(1)), Fraction(1)
    first, second = [Fraction(3, 10)] * 3, [Fraction(6, 10)] * 3  # about 0.52 apart, sqrt(3) once rounded
    move = tuple(grid.units(b) - grid.units(a) for a, b in zip(first, second, strict=True))

    def loss(units: Fraction) -> float:
        outputs = box(3, 2)
        return largest_log_ratio(*(output_odds(at, outputs, units, spherical_weight) for at in ((0, 0, 0), move)))

    assert loss(l2_units(sensitivity, grid, 3)) <= 1
    assert loss(forgotten_rounding(sensitivity, grid.spacing)) > 1.7


def test_units_are_exact_for_one_coordinate_and_for_squares() -> None:
    assert l2_units(Fraction(5, 2), Grid(Fraction(1)), 1) == 3
    assert l2_units(Fraction(3), Grid(Fraction(1), integers=True), 7) == 3
    root = l2_units(Fraction(15, 10), Grid(Fraction(1), integers=True), 7)  # whole numbers: squared length 2 at most
    assert 2 <= root**2 < 2 + Fraction(1, 2**38)


# The call


def test_the_noise_of_a_release_has_the_declared_scale() -> None:
    rng = seeded(7)
    values = [spherical_laplace([5.0] * 6, l2_sensitivity=3, epsilon=2, rng=rng).value for _ in range(400)]
    lengths = np.sqrt(((np.array(values) - 5) ** 2).sum(axis=1)) / 1.5
    assert kstest(lengths, gamma(6).cdf).pvalue > 1e-3
    assert kstest(lengths * 0.8, gamma(6).cdf).pvalue < 1e-6


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "x"])
@pytest.mark.parametrize("integers", [False, True])
def test_what_is_no_number_counts_as_zero(bad: Any, integers: bool) -> None:
    given_bad, given_zero = (
        spherical_laplace([value, 1.0], l2_sensitivity=1, epsilon=1, integers=integers, rng=seeded(7)) for value in (bad, 0)
    )
    assert given_bad.value == given_zero.value


def test_the_release_says_what_it_cost_and_how_it_was_made() -> None:
    release = spherical_laplace([5, 6], l2_sensitivity=2, epsilon=0.5, integers=True, neighbors="change_one", rng=seeded(7))
    assert all(isinstance(value, int) for value in release)
    assert (release.cost.epsilon, release.cost.delta) == (Fraction(1, 2), Fraction(0))
    assert release.cost.neighbors is Neighbors.CHANGE_ONE
    assert dict(release.notes)["noise"] == "spherical Laplace of scale 4, drawn exactly"
    assert not release.private
    private = spherical_laplace([5, 6], l2_sensitivity=2, epsilon=0.5)
    assert private.private
    assert isinstance(private, Release)


def test_one_number_and_none_at_all_come_back_as_they_went_in() -> None:
    assert isinstance(spherical_laplace(5, l2_sensitivity=1, epsilon=1, rng=seeded(7)).value, float)
    assert spherical_laplace([], l2_sensitivity=1, epsilon=1, rng=seeded(7)).value == ()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"l2_sensitivity": 0}, "l2_sensitivity must be a positive"),
        ({"epsilon": 0}, "epsilon must be a positive"),
        ({"grid": 1, "integers": True}, "leave grid out"),
        ({"l2_sensitivity": 0.5, "integers": True}, "1 or more"),
        ({"rng": 7}, "rng must come from"),
    ],
)
def test_errors_speak_of_parameters_only(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        spherical_laplace([812.25, 1], **{"l2_sensitivity": 1, "epsilon": 1, **keywords})


def test_too_many_coordinates_and_a_scale_of_zero_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="at most 1024 coordinates: give fewer, or use gaussian"):
        spherical_laplace([0] * (MOST_COORDINATES + 1), l2_sensitivity=1, epsilon=1)
    with pytest.raises(InvalidParameterError, match="positive"):
        sample_spherical_laplace(Fraction(0), 2, seeded(7))
