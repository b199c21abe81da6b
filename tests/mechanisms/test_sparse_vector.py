"""Sparse vector: the law of the first "above", its privacy, and the mistakes others made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.errors import DpstatsError, InvalidParameterError, SpentError
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.mechanisms import AboveThreshold
from dpstats.mechanisms.sparse_vector import MONOTONIC_SHARE, THRESHOLD_SHARE, UNITS, noise_scales
from tests.laws.mechanisms import above_threshold_law, replies_probability
from tests.privacy_loss.exact import largest_log_ratio
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.twins.mechanisms import EndlessThreshold, QuietThreshold, StaleThreshold, TellingThreshold

COARSE = 8  # grid units in one sensitivity where a test sums many laws; the claim does not depend on it


def coarse_scales(epsilon: Any, monotonic: Any = False) -> tuple[Fraction, Fraction]:
    threshold_scale, answer_scale = noise_scales(epsilon, monotonic)
    return threshold_scale * COARSE / UNITS, answer_scale * COARSE / UNITS


STREAMS = [(0, 0, 0), (-COARSE, 0, COARSE), (COARSE, -3 * COARSE, 0), (5, -2, 3)]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("answers", STREAMS)
def test_no_neighbour_changes_a_run_by_more_than_epsilon(epsilon: Any, answers: Sequence[int]) -> None:
    law = above_threshold_law(answers, 0, *coarse_scales(epsilon))
    for moves in itertools.product((-COARSE, 0, COARSE), repeat=3):
        moved = [answer + move for answer, move in zip(answers, moves, strict=True)]
        assert largest_log_ratio(law, above_threshold_law(moved, 0, *coarse_scales(epsilon))) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("answers", STREAMS)
def test_monotonic_neighbours_change_a_run_by_no_more_than_epsilon_with_less_noise(answers: Sequence[int]) -> None:
    epsilon = Fraction(1)
    law = above_threshold_law(answers, 0, *coarse_scales(epsilon, True))
    for moves in itertools.product((0, 3, COARSE), repeat=3):
        moved = [answer + move for answer, move in zip(answers, moves, strict=True)]
        assert largest_log_ratio(law, above_threshold_law(moved, 0, *coarse_scales(epsilon, True))) <= 1 + 1e-9
    assert noise_scales(epsilon, True)[1] < noise_scales(epsilon, False)[1]


def test_a_long_hard_stream_on_the_real_grid_stays_within_epsilon() -> None:
    epsilon = Fraction(4)
    low, high = [0] * 6 + [UNITS], [UNITS] * 6 + [0]
    replies = [False] * 6 + [True]
    probabilities = [replies_probability(answers, replies, 0, *noise_scales(epsilon, False)) for answers in (low, high)]
    assert 1 < abs(math.log(probabilities[0] / probabilities[1])) <= 4


def test_the_split_makes_the_noise_of_a_comparison_smallest() -> None:
    def spread(share: Any, factor: int) -> Any:
        return (1 / share) ** 2 + (factor / (1 - share)) ** 2

    shares = np.linspace(0.01, 0.99, 9801)
    assert shares[np.argmin(spread(shares, 2))] == pytest.approx(float(THRESHOLD_SHARE), abs=1e-3)
    assert shares[np.argmin(spread(shares, 1))] == pytest.approx(float(MONOTONIC_SHARE), abs=1e-3)
    threshold_scale, answer_scale = noise_scales(Fraction(1), False)
    assert UNITS / threshold_scale + 2 * UNITS / answer_scale == 1


# The twins


def test_without_noise_on_the_threshold_every_below_costs() -> None:
    assert not QuietThreshold.threshold_is_noisy
    epsilon = Fraction(1)
    scales = (Fraction(0), coarse_scales(epsilon)[1])
    replies = [False] * 12
    probabilities = [replies_probability([answer] * 12, replies, 0, *scales) for answer in (0, COARSE)]
    assert abs(math.log(probabilities[0] / probabilities[1])) > 2
    honest = [replies_probability([answer] * 12, replies, 0, *coarse_scales(epsilon)) for answer in (0, COARSE)]
    assert abs(math.log(honest[0] / honest[1])) <= 1


def test_going_on_after_above_breaks_epsilon() -> None:
    assert EndlessThreshold.threshold_is_noisy
    epsilon, count = Fraction(1), 10
    replies = [False] * count + [True] * count
    streams = [[0] * (2 * count), [COARSE] * count + [-COARSE] * count]
    probabilities = [replies_probability(stream, replies, 0, *coarse_scales(epsilon)) for stream in streams]
    assert math.log(probabilities[0] / probabilities[1]) > 2


def run_twin(twin: Any, answers: Sequence[int], rng: RandomSource) -> tuple[bool, ...]:
    asked = twin(0, Fraction(1), rng)
    return tuple(asked.ask(answer) for answer in answers)


def run_honest(answers: Sequence[int], rng: RandomSource, epsilon: Any = 1) -> tuple[bool, ...]:
    asked = AboveThreshold(0, sensitivity=UNITS, epsilon=epsilon, rng=rng)
    replies = []
    for answer in answers:
        replies.append(asked.ask(answer))
        if asked.spent:
            break
    return tuple(replies)


def test_one_noise_for_all_answers_is_refuted_by_samples_and_the_real_one_is_not() -> None:
    rising, falling = (0, UNITS), (UNITS, 0)

    def bound(run: Any) -> float:
        rng = seeded(7)
        samples, neighbours = ([run(answers, rng) for _ in range(1500)] for answers in (rising, falling))
        return epsilon_lower_bound(samples, neighbours, lambda replies: replies == (False, True), confidence=0.999).at_least

    assert bound(lambda answers, rng: run_twin(StaleThreshold, answers, rng)) > 2
    assert bound(run_honest) < 1


def test_telling_the_noisy_answer_breaks_epsilon() -> None:
    epsilon, count = Fraction(1), 8
    threshold_scale, answer_scale = (float(scale) for scale in coarse_scales(epsilon))

    def density(z: float, scale: float) -> float:
        return math.tanh(0.5 / scale) * math.exp(-abs(z) / scale)

    def below(m: int) -> float:
        tail = math.exp(-(1 - m if m <= 0 else m) / answer_scale) / (1 + math.exp(-1 / answer_scale))
        return tail if m <= 0 else 1 - tail

    def joint(answers: Sequence[int], told: int) -> float:
        """The chance of `count` replies "below" and then of being told exactly this number."""
        total = 0.0
        for noisy_threshold in range(told - 600, told + 1):
            total += density(noisy_threshold, threshold_scale) * math.prod(below(noisy_threshold - a) for a in answers[:-1])
        return total * density(told - answers[-1], answer_scale)

    told = -5 * COARSE
    laws = [joint([0] * count + [COARSE], told), joint([COARSE] * count + [0], told)]
    assert math.log(laws[0] / laws[1]) > 2
    twin = TellingThreshold(0, epsilon, seeded(7))
    assert twin.tell(-(10**9)) is None
    told_at_last = twin.tell(10**9)
    assert told_at_last is not None
    assert told_at_last > 10**8


# The object


def test_runs_fit_the_exact_law_and_none_with_a_fifth_more_or_less_noise(fit: Callable[..., float]) -> None:
    epsilon, rng = Fraction(4), seeded(7)
    answers = [-2 * UNITS, -UNITS, -2 * UNITS, 2 * UNITS]
    runs = [run_honest(answers, rng, epsilon) for _ in range(4000)]
    stops = [len(replies) - 1 if replies[-1] else None for replies in runs]
    assert fit(stops, above_threshold_law(answers, 0, *noise_scales(epsilon, False))) > 1e-3
    for wrong in (Fraction(8, 10), Fraction(12, 10)):
        scales = [wrong * scale for scale in noise_scales(epsilon, False)]
        assert fit(stops, above_threshold_law(answers, 0, *scales)) < 1e-4


def test_the_first_above_ends_the_run() -> None:
    asked = AboveThreshold(100, sensitivity=1, epsilon=1, rng=seeded(7))
    assert [asked.ask(answer) for answer in (0, 10, 10_000)] == [False, False, True]
    assert asked.spent
    with pytest.raises(SpentError, match="spent") as caught:
        asked.ask(0)
    assert isinstance(caught.value, DpstatsError)
    assert asked.asked == 3


@pytest.mark.parametrize("bad", [float("nan"), None, "x", -math.inf])
def test_an_answer_that_is_no_number_is_below(bad: Any) -> None:
    assert AboveThreshold(-1e9, sensitivity=1, epsilon=1, rng=seeded(7)).ask(bad) is False


def test_infinity_is_above_and_huge_answers_make_no_error() -> None:
    assert AboveThreshold(1e300, sensitivity=1e-3, epsilon=1, rng=seeded(7)).ask(math.inf) is True
    assert AboveThreshold(0, sensitivity=1e-3, epsilon=1, rng=seeded(7)).ask(10**400) is True


def test_the_cost_is_known_before_anything_is_asked_and_the_card_is_public() -> None:
    asked = AboveThreshold("1/3", sensitivity=2, epsilon=0.5, monotonic=True, neighbors="change_one", rng=seeded(7))
    assert asked.cost.epsilon == Fraction(1, 2)
    lines: dict[str, Any] = asked.card().to_dict()
    assert lines["reply"] == "none above so far"
    assert "same direction" in lines["claim"]
    assert "NOT PRIVATE" in lines["randomness"]
    asked.ask(10**6)
    assert asked.card().to_dict()["reply"] == "the last answer was above"


@pytest.mark.parametrize("keywords", [{"sensitivity": 0}, {"epsilon": 0}, {"threshold": math.nan}])
def test_parameters_out_of_range_are_refused(keywords: Any) -> None:
    given_keywords = {"threshold": 0, "sensitivity": 1, "epsilon": 1, **keywords}
    with pytest.raises(InvalidParameterError):
        AboveThreshold(given_keywords.pop("threshold"), **given_keywords)
