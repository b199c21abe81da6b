"""Report noisy max: its exact law, its privacy, and that no score makes it fail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.mechanisms import noisy_max
from dpstats.mechanisms.grid import Grid
from dpstats.mechanisms.noisy_max import UNITS, first_largest, noise_scale
from tests.laws.mechanisms import noisy_max_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.mechanisms import half_noise_max_scale

HALF = UNITS // 2
BASES = [(0, 0, 0), (0, UNITS, 0), (3 * UNITS, 0, HALF), (0, 1, 2), (0, 40 * UNITS, 40 * UNITS)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("base", BASES)
def test_no_neighbour_changes_a_winner_by_more_than_epsilon(epsilon: Any, base: tuple[int, ...]) -> None:
    law = noisy_max_law(base, noise_scale(epsilon, False))
    for moves in itertools.product((-UNITS, 0, UNITS), repeat=3):
        moved = [score + move for score, move in zip(base, moves, strict=True)]
        assert largest_log_ratio(law, noisy_max_law(moved, noise_scale(epsilon, False))) <= float(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("base", BASES)
def test_monotonic_neighbours_need_only_half_the_noise(epsilon: Any, base: tuple[int, ...]) -> None:
    law = noisy_max_law(base, noise_scale(epsilon, True))
    for moves in itertools.product((0, HALF, UNITS), repeat=3):
        moved = [score + move for score, move in zip(base, moves, strict=True)]
        assert largest_log_ratio(law, noisy_max_law(moved, noise_scale(epsilon, True))) <= float(epsilon) * (1 + 1e-12)


def test_the_twin_with_half_the_noise_is_refuted() -> None:
    epsilon = Fraction(1)
    laws = [noisy_max_law(scores, half_noise_max_scale(epsilon, False)) for scores in [(0, 0, 0), (-UNITS, UNITS, UNITS)]]
    assert largest_log_ratio(*laws) > 1.5


@pytest.mark.parametrize("scores", [(0, 0), (0, 3, 1), (2, 2, 2), (5, 0, 5, 1)])
def test_the_law_agrees_with_plain_summation(scores: Any) -> None:
    scale = Fraction(3)
    ratio = math.exp(-1 / 3)
    reach = 150
    law = dict.fromkeys(range(len(scores)), 0.0)
    for winner in law:
        for noise in range(reach):
            others = 1.0
            for place, score in enumerate(scores):
                if place != winner:
                    top = scores[winner] + noise - score - (place < winner)  # the largest noise that still loses
                    others *= 1 - ratio ** max(0, top + 1)
            law[winner] += (1 - ratio) * ratio**noise * others
    assert {winner: float(p) for winner, p in noisy_max_law(scores, scale).items()} == pytest.approx(law, abs=1e-12)


def test_winners_fit_the_exact_law_and_none_with_a_fifth_more_or_less_noise(fit: Callable[..., float]) -> None:
    scores, rng = [1, 0.5, 0, 3], seeded(7)
    winners = [noisy_max(scores, sensitivity=1, epsilon=1, rng=rng).value for _ in range(6_000)]
    units = [int(score * UNITS) for score in scores]
    assert fit(winners, noisy_max_law(units, noise_scale(Fraction(1), False))) > 1e-3
    for wrong in (Fraction(8, 10), Fraction(12, 10)):
        assert fit(winners, noisy_max_law(units, wrong * noise_scale(Fraction(1), False))) < 1e-4


@given(scores=st.lists(st.integers(-5, 5), min_size=2, max_size=4), epsilon=st.sampled_from([Fraction(1, 2), Fraction(2)]))
@settings(max_examples=30)
def test_the_expected_score_is_never_below_the_exponential_mechanism(scores: Any, epsilon: Any) -> None:
    law = noisy_max_law([score * UNITS for score in scores], noise_scale(epsilon, False))
    ours = sum(float(probability) * scores[winner] for winner, probability in law.items())
    weights = [math.exp(float(epsilon) * score / 2) for score in scores]
    theirs = sum(weight * score for weight, score in zip(weights, scores, strict=True)) / sum(weights)
    assert ours >= theirs - 2e-4  # the grid breaks ties by index


@given(score=st.floats(-1e9, 1e9), moved=st.fractions(-1, 1))
@settings(max_examples=60)
def test_rounding_down_keeps_the_sensitivity_at_exactly_its_units(score: Any, moved: Any) -> None:
    sensitivity = Fraction(1, 3)
    grid = Grid(sensitivity / UNITS)
    assert abs(grid.floor_units(Fraction(score) + moved * sensitivity) - grid.floor_units(score)) <= UNITS


@pytest.mark.parametrize("scores", [[3, 5, 5, 1], [7], [2, 2, 2], [-(10**40), 0]])
def test_ties_go_to_the_smallest_index(scores: Any) -> None:
    assert first_largest(scores) == scores.index(max(scores))


@pytest.mark.parametrize("low", [float("nan"), None, "many", -math.inf])
def test_a_score_that_is_no_number_loses_to_every_number(low: Any) -> None:
    assert noisy_max([low, -1e300, low], sensitivity=1, epsilon=1, rng=seeded(7)).value == 1


def test_scores_of_every_size_and_none_at_all_make_no_error() -> None:
    for scores in ([float("nan")] * 3, [math.inf, -math.inf], [1e308, -1e308], np.array([1, 2]), (Fraction(1, 3), 2)):
        assert noisy_max(scores, sensitivity=1e-9, epsilon=1, rng=seeded(7)).value in (0, 1, 2)


def test_many_tied_scores_choose_without_underflow() -> None:
    winners = {noisy_max([0] * 1491 + [1], sensitivity=1, epsilon=1, rng=seeded(seed)).value for seed in range(5)}
    assert len(winners) > 1


def test_labels_name_the_winner() -> None:
    release = noisy_max([0, 1000], sensitivity=1, epsilon=1, labels=["red", "blue"], rng=seeded(7))
    assert release.value == "blue"
    assert release.cost.epsilon == 1
    assert "same direction" in noisy_max([0], sensitivity=1, epsilon=1, monotonic=True, rng=seeded(7)).claim


@pytest.mark.parametrize(
    ("scores", "keywords", "words"),
    [
        ([], {}, "at least one candidate"),
        ([1, 2], {"labels": ["a"]}, "1 label for 2 scores"),
        ([1, 2], {"sensitivity": 0}, "sensitivity must be a positive"),
        ([1, 2], {"epsilon": 0}, "epsilon must be a positive"),
    ],
)
def test_errors_speak_of_parameters_only(scores: Any, keywords: Any, words: Any) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        noisy_max(scores, **{"sensitivity": 1, "epsilon": 1, **keywords})
