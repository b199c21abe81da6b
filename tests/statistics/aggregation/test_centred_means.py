"""Means of votes around a private middle: what one vote moves, what is spent, and how close they come."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.privacy import Neighbors
from dpstats.statistics.aggregation import bounded_means, centred_means
from dpstats.statistics.aggregation.centred_means import centre_share, fewest_blocks, release_centred
from dpstats.statistics.aggregation.ranges import LARGEST, Range
from dpstats.statistics.universal.decimals import ordinal_of
from dpstats.testing import seeded
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.statistics.aggregation.vote_tables import EPSILON, HARD_VOTES, INF, LEVEL, NAN, Floats, normal_votes, votes
from tests.twins.likelihood import range_by_raw_votes


def watched(raw_votes: Floats, middle: float, spread: float) -> tuple[list[Any], list[Any], list[Any]]:
    """With a forced middle and spread: columns of votes and counts of distances, each with its cost, and sums with the scale of
    their noise."""
    columns: list[Any] = []
    distances: list[Any] = []
    means: list[Any] = []

    def draw(column: Any, share: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: Any) -> int:
        assert neighbors is Neighbors.CHANGE_ONE
        columns.append((column, epsilon))
        return ordinal_of(middle)

    def magnitude(raw_counts: Any, epsilon: Fraction, rng: Any, *, likely: float) -> float:
        distances.append((np.array(raw_counts), epsilon))
        return spread

    def sums(raw_numbers: Any, sensitivity: int, epsilon: Fraction, rng: Any) -> list[int]:
        means.append(([int(raw) for raw in raw_numbers.astype(object).sum(axis=0)], sensitivity / epsilon))
        return list(means[-1][0])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(centred_means, "VotesColumn", lambda raw: raw)
        patched.setattr(centred_means, "draw_quantile", draw)
        patched.setattr(centred_means, "draw_magnitude", magnitude)
        patched.setattr(bounded_means, "_noisy_sums", sums)
        release_centred(raw_votes, EPSILON, LEVEL, seeded(1))
    return columns, distances, means


@pytest.mark.parametrize(("middle", "spread"), [(1.0, 2.0), (5.0, 2.0**-300), (-1e300, 1e200), (1e300, 1.0), (0.0, 2.0**-300)])
@pytest.mark.parametrize("pair", HARD_VOTES)
def test_one_changed_vote_is_one_changed_number_everywhere_and_costs_epsilon_at_most(
    pair: str, middle: float, spread: float
) -> None:
    here, there = (watched(votes(raw, raw), middle, spread) for raw in HARD_VOTES[pair])
    spent = Fraction(0)
    for (column, epsilon), (other, other_epsilon) in zip(here[0], there[0], strict=True):
        assert epsilon == other_epsilon
        assert len(column) == len(other) == len(HARD_VOTES[pair][0])
        assert not np.isnan(column).any()
        assert (column != other).sum() <= 1
        spent += epsilon
    for (counts, epsilon), (other, other_epsilon) in zip(here[1], there[1], strict=True):
        assert epsilon == other_epsilon
        assert np.maximum(counts - other, 0).sum() <= 1  # one vote removed
        assert np.maximum(other - counts, 0).sum() <= 1  # and one added
        spent += 2 * epsilon
    for (sums, scale), (moved, other_scale) in zip(here[2], there[2], strict=True):
        assert scale == other_scale
        spent += max(abs(one - other) for one, other in zip(sums, moved, strict=True)) / scale
    assert spent <= EPSILON
    assert len(here[0]) == len(here[1]) == 2


def outcomes(raw: list[float], runs: int, seed: int, within: Callable[[Floats], Range] | None = None) -> list[float]:
    """Means at epsilon 1, or where a range is given of the twin that reads it off the votes."""
    rng = seeded(seed)
    with pytest.MonkeyPatch.context() as patched:
        if within is not None:
            patched.setattr(centred_means, "_range", lambda raw_column, *_: within(raw_column))
        return [release_centred(votes(raw), Fraction(1), None, rng)[0][0] for _ in range(runs)]


PAIR = ([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1e9])
EVENTS: tuple[Callable[[float], bool], ...] = (lambda value: value > 1e3, lambda value: value < 0, lambda value: value > 1)


def test_samples_do_not_refute_the_claim_and_refute_ranges_by_raw_votes() -> None:
    runs = 300
    for first, second in (PAIR, PAIR[::-1]):
        here, there = outcomes(first, runs, 1), outcomes(second, runs, 2)
        assert max(epsilon_lower_bound(here, there, event, confidence=1 - 1e-6).at_least for event in EVENTS) <= 1
    here, there = (outcomes(raw, runs, 3, range_by_raw_votes) for raw in PAIR[::-1])
    assert epsilon_lower_bound(here, there, EVENTS[0], confidence=1 - 1e-6).at_least > 1


def test_means_of_normal_votes_are_close_and_their_intervals_cover() -> None:
    hits, errors = 0, []
    for seed in range(40):
        values, intervals = release_centred(normal_votes(800, seed), Fraction(3), LEVEL, seeded(seed))
        errors.append(values[0] - 3)
        hits += sum(each.low <= truth <= each.high for each, truth in zip(intervals, (3, 6), strict=True))
    assert hits / 80 > 0.88
    assert np.std(errors) < 3 * 0.3 / math.sqrt(800)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-300, 1e60, -1e100])
def test_votes_that_agree_are_told(value: float) -> None:
    ((found,), _) = release_centred(np.full((900, 1), value), Fraction(4), None, seeded(1))
    assert found == pytest.approx(max(-LARGEST, min(LARGEST, value)), rel=1e-2, abs=1)  # nothing tells how finely they agree


@pytest.mark.parametrize("rest", [NAN, INF, -INF])
def test_a_few_votes_without_an_answer_or_without_end_hardly_move_the_mean(rest: float) -> None:
    raw = normal_votes(900)
    raw[:9] = rest
    values, intervals = release_centred(raw, Fraction(4), LEVEL, seeded(2))
    assert values == pytest.approx((3, 6), abs=0.2)
    assert all(math.isfinite(each.low) and math.isfinite(each.high) for each in intervals)


@pytest.mark.parametrize("raw", [[NAN] * 6, [INF] * 6, [-INF] * 3 + [INF] * 3, [1e308, -1e308], [NAN]])
def test_absurd_votes_end_in_numbers(raw: list[float]) -> None:
    for seed in range(5):
        (values, intervals) = release_centred(votes(raw, raw), Fraction(1), LEVEL, seeded(seed))
        assert np.isfinite(values).all()
        assert len(intervals) == 2


def test_shares_depend_on_public_numbers_alone_and_leave_half_to_the_mean() -> None:
    for blocks in (1, 100, 10**4, 10**6):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(10)):
            assert centred_means.LEAST_SHARE <= centre_share(blocks, 2, epsilon) <= centred_means.MOST_SHARE <= Fraction(1, 2)
    assert fewest_blocks(2, Fraction(1)) == 640
    assert centre_share(640, 2, Fraction(1)) == centred_means.MOST_SHARE > centre_share(641, 2, Fraction(1))
