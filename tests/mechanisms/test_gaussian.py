"""Discrete Gaussian noise: its law, its rho, its delta."""

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
from scipy.stats import norm

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.randomness import random_words, seeded
from dpstats.mechanisms import gaussian as public_gaussian
from dpstats.mechanisms import laplace
from dpstats.mechanisms.gaussian import (
    FAR,
    SLACK,
    _accept,
    largest_rho,
    sample_discrete_gaussian,
    squared_units,
    variance_in_units,
)
from dpstats.mechanisms.grid import Grid
from tests.laws.mechanisms import discrete_gaussian_law, exponential_of_minus
from tests.privacy_loss.exact import hockey_stick
from tests.twins.mechanisms import short_gaussian_variance

VARIANCES = [Fraction(3, 10), Fraction(2), Fraction(30)]
BUDGETS = [("1", "1e-6"), ("0.1", "1e-6"), ("3", "1e-3"), ("0.5", "1e-9"), ("10", "1e-5"), ("1", "0.4")]


# The law of the sampler


@pytest.mark.parametrize("variance", VARIANCES)
def test_samples_fit_the_declared_deviation_and_none_a_tenth_off(variance: Fraction, fit: Callable[..., float]) -> None:
    samples = sample_discrete_gaussian(variance, 20_000, seeded(7)).tolist()
    reach = 6 * math.ceil(math.sqrt(variance))
    assert fit(samples, discrete_gaussian_law(0, variance, -reach, reach)) > 1e-3
    for wrong in (Fraction(81, 100), Fraction(121, 100)):
        assert fit(samples, discrete_gaussian_law(0, wrong * variance, -reach, reach)) < 1e-6


def test_wide_and_narrow_noise_has_the_declared_variance() -> None:
    wide = sample_discrete_gaussian(Fraction(10**12), 20_000, seeded(7))
    assert abs((wide / 1e6).var() - 1) < 0.05
    narrow = sample_discrete_gaussian(Fraction(1, 100), 2_000, seeded(7))
    assert not narrow.any()  # one unit has probability exp(-50)


def test_noise_too_wide_for_floats_is_settled_exactly() -> None:
    samples = sample_discrete_gaussian(Fraction(2**140), 300, seeded(7))
    assert samples.dtype == object
    assert abs(np.mean([(int(sample) / 2**70) ** 2 for sample in samples]) - 1) < 0.3


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(1, 50), Fraction(12345, 7), Fraction(2**80 + 1, 3)])
def test_the_float_probability_errs_by_less_than_half_the_declared_slack(variance: Fraction) -> None:
    scale = math.isqrt(math.floor(variance)) + 1
    deviation = math.sqrt(variance)
    candidates = sorted({int(step * deviation / 16) for step in range(0, 160, 3)} | {0, 1, 2})
    floats = (np.abs(np.array(candidates)).astype(float) - float(variance / scale)) ** 2 / float(2 * variance)
    for candidate, exponent in zip(candidates, floats, strict=True):
        exact = (candidate - variance / scale) ** 2 / (2 * variance)
        if exponent > FAR:
            assert exact > FAR - 1
        else:
            truth = exponential_of_minus(exact)
            assert abs(Fraction(float(np.exp(-exponent))) / truth - 1) < Fraction(SLACK) / 2


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10**6), Fraction(1, 30)])
def test_floats_and_exact_settling_accept_the_same_candidates(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    scale = math.isqrt(math.floor(variance)) + 1
    candidates = np.arange(-300, 300, dtype=np.int64) * max(1, scale // 40)
    by_floats = _accept(candidates, variance, scale, seeded(7))
    module = importlib.import_module("dpstats.mechanisms.gaussian")
    monkeypatch.setattr(module, "SLACK", 0.999)  # floats decide only the clearest cases
    assert (by_floats == _accept(candidates, variance, scale, seeded(7))).all()
    monkeypatch.setattr(module, "_FLOATS_TO", Fraction(0))  # floats decide nothing
    assert (by_floats == _accept(candidates, variance, scale, seeded(7))).all()


def test_a_word_that_ties_with_the_probability_is_settled_by_further_digits() -> None:
    class Tie:
        private = False

        def __init__(self, last: int) -> None:
            truth = exponential_of_minus(Fraction(1, 8))  # variance 1, scale 2, candidate 0
            word = math.floor(truth * 2**32)
            rest = math.floor(truth * 2**96) - (word << 64)
            self.script = word.to_bytes(4, "little") + bytes(4) + (rest + last).to_bytes(8, "big")

        def octets(self, count: int) -> bytes:
            played, self.script = self.script[:count], self.script[count:]
            return played

    assert _accept(np.zeros(1, dtype=np.int64), Fraction(1), 2, Tie(-1)).tolist() == [True]
    assert _accept(np.zeros(1, dtype=np.int64), Fraction(1), 2, Tie(1)).tolist() == [False]


def test_candidates_far_out_are_refused_unless_the_word_is_zero() -> None:
    far = np.array([100], dtype=np.int64)
    assert random_words(seeded(7), 1)[0] != 0
    assert _accept(far, Fraction(1), 2, seeded(7)).tolist() == [False]


# Privacy


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_rho_is_proven_by_some_alpha_and_nearly_the_largest(epsilon: Any, delta: Any) -> None:
    rho = float(largest_rho(Fraction(epsilon), Fraction(delta)))

    def least_delta(tried: Any) -> float:
        excess = np.exp(np.linspace(-6, 12, 40_001))
        logs = excess * ((1 + excess) * tried - float(epsilon)) - np.log(excess) + (1 + excess) * np.log(excess / (1 + excess))
        return math.exp(logs.min())

    assert least_delta(rho) <= float(delta) * (1 + 1e-6)
    assert least_delta(rho * 1.0001) > float(delta)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS[:-1])
def test_the_deviation_is_between_the_continuous_optimum_and_a_sixth_above_it(epsilon: Any, delta: Any) -> None:
    small, tail = float(epsilon), float(delta)

    def analytic(sigma: float) -> float:
        return float(norm.cdf(0.5 / sigma - small * sigma) - math.exp(small) * norm.cdf(-0.5 / sigma - small * sigma))

    low, high = 0.01, 1000.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if analytic(middle) > tail else (low, middle)
    sigma = math.sqrt(0.5 / float(largest_rho(Fraction(epsilon), Fraction(delta))))
    assert high * (1 - 1e-9) <= sigma <= high * 7 / 6


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("3", "1e-3"), ("10", "1e-5")])
@pytest.mark.parametrize("units", [1, 2, 5])
def test_the_exact_law_stays_within_delta_and_the_short_twin_does_not(epsilon: Any, delta: Any, units: int) -> None:
    privacy, chance = Fraction(epsilon), Fraction(delta)
    rho = largest_rho(privacy, chance)
    honest = variance_in_units(Fraction(units), Grid(Fraction(1), integers=True), 1, rho)

    def spent(variance: Fraction) -> float:
        reach = 9 * (math.isqrt(math.ceil(variance)) + 1)
        law, neighbour = (discrete_gaussian_law(centre, variance, -reach, reach + units) for centre in (0, units))
        return hockey_stick(law, neighbour, privacy)

    assert spent(honest) <= float(delta)
    assert spent(short_gaussian_variance(units**2, privacy, chance)) > float(delta)


@given(epsilon=st.fractions(Fraction(1, 10**6), 100), power=st.integers(1, 200))
@settings(max_examples=30)
def test_rho_is_positive_and_grows_with_delta(epsilon: Any, power: Any) -> None:
    smaller, larger = largest_rho(epsilon, Fraction(1, 4**power)), largest_rho(epsilon, Fraction(1, 3**power))
    assert 0 < smaller <= larger * Fraction(1000001, 1000000)


def test_variance_is_rounded_up_by_almost_nothing() -> None:
    grid, rho = Grid(Fraction(1)), Fraction(1, 7)
    exact = squared_units(Fraction(3), grid, 2) / (2 * rho)
    assert exact <= variance_in_units(Fraction(3), grid, 2, rho) <= exact * (1 + Fraction(1, 2**40))


# The call


def test_the_noise_of_a_release_has_the_declared_deviation() -> None:
    values = np.array(public_gaussian([0.0] * 20_000, l2_sensitivity=1, epsilon=1, delta=1e-6, rng=seeded(7)).value)
    declared = math.sqrt(0.5 / float(largest_rho(Fraction(1), Fraction(1, 10**6))))
    assert abs(values.std() / declared - 1) < 0.02


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "x"])
def test_what_is_no_number_counts_as_zero(bad: Any) -> None:
    given_bad = public_gaussian([bad, 1.0], l2_sensitivity=1, epsilon=1, delta=1e-6, rng=seeded(7))
    assert given_bad.value == public_gaussian([0, 1.0], l2_sensitivity=1, epsilon=1, delta=1e-6, rng=seeded(7)).value


def test_the_release_says_what_it_cost_and_how_it_was_made() -> None:
    release = public_gaussian(5, l2_sensitivity=2, epsilon=0.5, delta=1e-9, integers=True, rng=seeded(7))
    assert isinstance(release.value, int)
    assert (release.cost.epsilon, release.cost.delta) == (Fraction(1, 2), Fraction(1, 10**9))
    assert {"noise", "zCDP", "grid", "policy"} <= dict(release.notes).keys()


def test_without_delta_it_points_to_laplace() -> None:
    with pytest.raises(MissingParameterError, match=laplace.__name__):
        public_gaussian(5, l2_sensitivity=1, epsilon=1, delta=0)


@pytest.mark.parametrize(
    "keywords", [{"delta": 0.7}, {"l2_sensitivity": 0}, {"epsilon": -1}, {"integers": True, "l2_sensitivity": 0.5}]
)
def test_parameters_out_of_range_are_refused(keywords: Any) -> None:
    with pytest.raises(InvalidParameterError):
        public_gaussian(5, **{"l2_sensitivity": 1, "epsilon": 1, "delta": 1e-6, **keywords})


def test_a_variance_must_be_positive() -> None:
    with pytest.raises(InvalidParameterError, match="positive"):
        sample_discrete_gaussian(Fraction(0), 1, seeded(7))
