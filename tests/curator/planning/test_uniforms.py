"""Uniform order statistics drawn piece by piece are those of a sorted sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpstats as dp
from dpstats.curator.planning import uniforms
from dpstats.curator.planning.uniforms import DrawnUniforms, EvenUniforms

ROWS = 60
RANK_RUNS = st.tuples(st.integers(1, ROWS), st.integers(1, ROWS)).map(lambda pair: (min(pair), max(pair)))
PLACES = st.floats(-0.1, 1.1)


def drawn(rows: int, seed: int) -> DrawnUniforms:
    return DrawnUniforms(rows, np.random.default_rng(seed))


@given(st.lists(RANK_RUNS | PLACES, max_size=12), st.integers(0, 1000))
def test_whatever_is_asked_first_agrees_with_the_whole_sample_afterwards(questions: list[Any], seed: int) -> None:
    sample = drawn(ROWS, seed)
    answers = [sample.between(*asked) if isinstance(asked, tuple) else sample.below(asked) for asked in questions]
    whole = sample.between(1, ROWS)
    assert whole.size == ROWS
    assert (np.diff(whole) >= 0).all()
    for asked, answer in zip(questions, answers, strict=True):
        if isinstance(asked, tuple):
            np.testing.assert_array_equal(answer, whole[asked[0] - 1 : asked[1]])
        else:
            assert answer == np.count_nonzero(whole < asked)


@given(st.lists(PLACES, max_size=12), st.integers(0, 1000))
def test_counts_ascend_with_the_place_and_are_the_same_when_asked_again(places: list[float], seed: int) -> None:
    sample = drawn(10**9, seed)
    counts = {place: sample.below(place) for place in places}
    assert [counts[place] for place in sorted(counts)] == sorted(counts.values())
    assert counts == {place: sample.below(place) for place in places}


def piecewise(seed: int) -> tuple[float, int, float, int]:
    """Four dependent numbers about one sample of 40, asked in an order that leaves gaps to fill between knots."""
    sample = drawn(40, seed)
    low = float(sample.between(8, 9)[0])
    count = sample.below(0.5)
    high = float(sample.between(17, 24)[3])
    return low, count, high, sample.below(0.45)


def directly(seed: int) -> tuple[float, int, float, int]:
    ordered = np.sort(np.random.default_rng(seed).random(40))
    return float(ordered[7]), int((ordered < 0.5).sum()), float(ordered[19]), int((ordered < 0.45).sum())


def test_pieces_have_jointly_the_law_of_a_sorted_sample() -> None:
    mine, theirs = (
        np.array([draw(seed) for seed in range(begin, begin + 2000)]) for draw, begin in ((piecewise, 0), (directly, 9**9))
    )
    directions = [np.eye(4)[index] for index in range(4)]
    directions += [np.array([1, 0, -1, 0.0]), np.array([0, 1, 0, -1.0]), np.array([0, 0.02, 1, 0]), np.array([1, 0, 0, 0.02])]
    for direction in directions:
        assert stats.ks_2samp(mine @ direction, theirs @ direction, method="asymp").pvalue > 1e-4, direction


def test_a_wrong_law_would_be_noticed() -> None:
    mine = [drawn(40, seed).between(8, 8)[0] for seed in range(2000)]
    assert stats.kstest(mine, stats.beta(8, 33).cdf).pvalue > 1e-4
    assert stats.kstest(mine, stats.beta(8.5, 32.5).cdf).pvalue < 1e-4


def test_a_rank_of_a_billion_lies_where_it_must() -> None:
    rows = 10**9
    places = np.array([drawn(rows, seed).between(rows // 4, rows // 4)[0] for seed in range(400)])
    deviation = np.sqrt(0.25 * 0.75 / rows)
    assert stats.kstest((places - 0.25) / deviation, "norm").pvalue > 1e-4


def test_even_uniforms_are_spaced_evenly_and_counted_exactly() -> None:
    even = EvenUniforms(10)
    np.testing.assert_allclose(even.between(1, 10), np.arange(0.05, 1, 0.1))
    for rows in (1, 7, 10, 999, 10**6):
        places = EvenUniforms(rows).between(max(1, rows // 3), min(rows, rows // 3 + 50))
        for offset, place in enumerate(places.tolist()):
            rank = max(1, rows // 3) + offset
            assert EvenUniforms(rows).below(place) == rank - 1
            assert EvenUniforms(rows).below(float(np.nextafter(place, 1))) == rank


@pytest.mark.parametrize("sample", [drawn(0, 1), EvenUniforms(0)])
def test_a_sample_of_none_has_none_below_anything(sample: DrawnUniforms | EvenUniforms) -> None:
    assert [sample.below(place) for place in (-1, 0, 0.5, 1, 2)] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("sample", [drawn(10**9, 1), EvenUniforms(10**9)])
def test_more_rows_than_are_ever_drawn_are_refused_in_words(sample: DrawnUniforms | EvenUniforms) -> None:
    with pytest.raises(dp.InvalidParameterError, match=f"n up to {uniforms.MOST_DRAWN:,}"):
        sample.between(1, uniforms.MOST_DRAWN + 1)
