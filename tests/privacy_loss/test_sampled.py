"""The sampled bound: it refutes too little noise, spares the right noise, and knows how little it knows."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import binom

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from tests.privacy_loss.sampled import epsilon_lower_bound


def neighbours(scale: Fraction, size: int = 40_000) -> tuple[list[int], list[int]]:
    rng = seeded(7)
    return (1 + sample_discrete_laplace(scale, size, rng)).tolist(), sample_discrete_laplace(scale, size, rng).tolist()


def test_too_little_noise_is_refuted_and_the_right_amount_is_not() -> None:
    assert epsilon_lower_bound(*neighbours(Fraction(1)), lambda z: z >= 1).at_least < 1
    assert epsilon_lower_bound(*neighbours(Fraction(9, 10)), lambda z: z >= 1).at_least > 1
    assert epsilon_lower_bound(*neighbours(Fraction(1)), lambda z: z >= 1).at_least > 0.95


def test_delta_is_taken_off_first() -> None:
    samples = neighbours(Fraction(1, 2))
    plain = epsilon_lower_bound(*samples, lambda z: z >= 1)
    assert epsilon_lower_bound(*samples, lambda z: z >= 1, delta=0.1).at_least < plain.at_least
    assert plain.hits > plain.neighbour_hits
    assert plain.confidence == 0.95


def test_an_event_that_never_happens_says_nothing() -> None:
    assert epsilon_lower_bound([0] * 10, [0] * 10, lambda z: z > 5).at_least == -math.inf


def test_an_event_seen_under_one_neighbour_only_has_the_bound_of_clopper_and_pearson() -> None:
    found = epsilon_lower_bound([1] * 100, [0] * 100, lambda z: z == 1, confidence=0.9).at_least
    surely, at_most = 0.05 ** (1 / 100), 1 - 0.05 ** (1 / 100)
    assert found == pytest.approx(math.log(surely / at_most))


def test_the_bound_exceeds_the_truth_no_more_often_than_stated() -> None:
    p, q, size = 0.4, 0.2, 60
    exceeded = 0.0
    for hits in range(size + 1):
        for neighbour_hits in range(size + 1):
            weight = binom.pmf(hits, size, p) * binom.pmf(neighbour_hits, size, q)
            if weight > 1e-6:
                first = [True] * hits + [False] * (size - hits)
                second = [True] * neighbour_hits + [False] * (size - neighbour_hits)
                found = epsilon_lower_bound(first, second, bool, confidence=0.9).at_least
                exceeded += weight * (found > math.log(p / q))
    assert exceeded <= 0.1


def test_samples_of_both_neighbours_are_needed() -> None:
    with pytest.raises(InvalidParameterError, match="both"):
        epsilon_lower_bound([], [1], bool)
