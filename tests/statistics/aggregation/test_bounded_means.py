"""Means of votes within ranges: one changed vote moves them by what the noise is for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.statistics.aggregation import aggregators, bounded_means
from dpstats.statistics.aggregation.aggregators import Aggregated, Aggregator, aggregate_numbers, aggregator_for
from dpstats.statistics.aggregation.bounded_means import SPREAD_SHARE, VoteCut, release_means
from dpstats.statistics.aggregation.ranges import STEPS, Range, checked_ranges
from dpstats.statistics.aggregation.row_blocks import toss_blocks
from dpstats.statistics.aggregation.turnout import TURNOUT_SHARE, Turnout
from dpstats.testing import seeded
from tests.laws.aggregates import cube_weight
from tests.laws.spherical import box, output_odds
from tests.privacy_loss.exact import largest_log_ratio
from tests.statistics.aggregation.vote_tables import (
    BOUNDED,
    EPSILON,
    HARD_VOTES,
    INF,
    LEVEL,
    NAN,
    TENTH,
    Floats,
    normal_votes,
    reply,
    votes,
)
from tests.twins.aggregates import contiguous_blocks, mean_of_answers_law, unprojected_steps


@pytest.mark.parametrize("trim", [Fraction(0), Fraction(1, 5), Fraction(1, 3), Fraction(2, 5), Fraction(49, 100)])
@pytest.mark.parametrize("winsorized", [False, True])
@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 6])
def test_one_changed_vote_moves_a_sum_by_the_sensitivity_at_most_and_some_by_that(
    blocks: int, winsorized: bool, trim: Fraction
) -> None:
    cut, width, largest = VoteCut(trim, winsorized), 3, 0
    for raw in itertools.combinations_with_replacement(range(width + 1), blocks):
        here = _sum(raw, cut)
        for place, new in itertools.product(range(blocks), range(width + 1)):
            largest = max(largest, abs(here - _sum((*raw[:place], new, *raw[place + 1 :]), cut)))
    assert largest == cut.sensitivity(blocks) * width


def _sum(raw: Sequence[int], cut: VoteCut) -> int:
    return int(cut.kept(np.array(raw, dtype=np.int64)[:, None]).sum())


def test_means_are_those_of_scipy() -> None:
    from scipy.stats import mstats, trim_mean

    raw = np.random.default_rng(1).integers(0, 1000, 37)
    for trim in (Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)):
        kept, pulled = VoteCut(trim), VoteCut(trim, winsorized=True)
        assert _sum(raw.tolist(), kept) / kept.counted(37) == pytest.approx(trim_mean(raw, float(trim)))
        assert _sum(raw.tolist(), pulled) / 37 == pytest.approx(mstats.winsorize(raw, (float(trim), float(trim))).mean())


def test_the_printed_winsorized_sensitivity_fails_where_one_vote_is_kept() -> None:
    cut = VoteCut(Fraction(2, 5), winsorized=True)
    assert cut.votes(3) == 1
    assert abs(_sum((0, 0, 9), cut) - _sum((0, 9, 9), cut)) == 3 * 9 > (cut.votes(3) + 1) * 9


@given(raw=st.lists(st.integers(0, 9), min_size=2, max_size=9), new=st.integers(0, 9), data=st.data())
@settings(max_examples=100)
def test_one_changed_vote_moves_the_sum_of_kept_squares_by_one_square_at_most(raw: Any, new: int, data: st.DataObject) -> None:
    cut = VoteCut(data.draw(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(2, 5)])))
    other = [*raw]
    other[data.draw(st.integers(0, len(raw) - 1))] = new
    sums = [int(((2 * cut.kept(np.array(each)[:, None]) - 9) ** 2).sum()) for each in (raw, other)]
    assert abs(sums[0] - sums[1]) <= 9**2


def noiseless(monkeypatch: pytest.MonkeyPatch, raw_votes: Floats, how: Aggregator, level: Fraction | None) -> list[Any]:
    """What every noisy sum was before its noise, with the scale of that noise."""
    seen: list[Any] = []

    def watch(raw_numbers: Any, sensitivity: int, epsilon: Fraction, rng: Any) -> list[int]:
        sums = [int(raw) for raw in raw_numbers.astype(object).sum(axis=0)]
        seen.append((sums, sensitivity / epsilon))
        return sums

    monkeypatch.setattr(bounded_means, "_noisy_sums", watch)
    monkeypatch.setattr(aggregators, "count_answers", lambda raw, blocks, *_: Turnout(blocks, blocks, 0))
    reply(raw_votes, how, level=level)
    return seen


@pytest.mark.parametrize("level", [None, LEVEL])
@pytest.mark.parametrize("how", BOUNDED, ids=lambda how: how.name)
@pytest.mark.parametrize("pair", HARD_VOTES)
def test_sums_of_neighbouring_votes_cost_what_is_left_of_epsilon_at_most(
    pair: str, how: Aggregator, level: Fraction | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All coordinates move at once; the loss of cube Laplace noise is the largest move over its scale."""
    steps = [noiseless(monkeypatch, votes(raw, raw[::-1], raw), how, level) for raw in HARD_VOTES[pair]]
    assert len(steps[0]) == (2 if level and how.name != "winsorized" else 1)
    loss = Fraction(0)
    for (first, scale), (second, other_scale) in zip(*steps, strict=True):
        assert scale == other_scale
        loss += max(abs(a - b) for a, b in zip(first, second, strict=True)) / scale
    assert loss <= EPSILON * (1 - TURNOUT_SHARE)


def test_the_exact_law_of_two_noisy_means_keeps_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_means, "STEPS", 2)
    monkeypatch.setattr("dpstats.statistics.aggregation.ranges.STEPS", 2)
    how = aggregator_for("mean", range=(0, 10))
    here, there = (noiseless(monkeypatch, votes(raw, raw), how, None)[0] for raw in ([0, 5, 5], [0, 5, 1e9]))
    laws = [output_odds(tuple(sums), box(2, 9), scale, cube_weight) for sums, scale in (here, there)]
    assert largest_log_ratio(*laws) <= EPSILON * (1 - TURNOUT_SHARE) + Fraction(1, 10**12)


def test_votes_beyond_a_range_are_as_its_ends_and_none_is_in_the_middle() -> None:
    within = Range(0.0, 10.0)
    places = within.places(np.array([-INF, -1.0, 0.0, 5.0, 10.0, 1e308, INF, NAN]))
    assert places.tolist() == [0, 0, 0, STEPS // 2, STEPS, STEPS, STEPS, STEPS // 2]
    assert within.places(np.array([NAN]), 10.0).tolist() == [STEPS]
    assert within.places(np.array([NAN]), 99.0).tolist() == [STEPS]


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20), st.floats(-1e9, 1e9), st.floats(1e-3, 1e9)
)
@settings(max_examples=100)
def test_a_step_depends_on_its_own_vote_alone(raw: list[float], low: float, width: float) -> None:
    (within,) = checked_ranges((low, low + width))
    together = within.places(np.array(raw))
    assert together.tolist() == [int(within.places(np.array([vote]))[0]) for vote in raw]
    assert together.min() >= 0
    assert together.max() <= STEPS


def test_without_projection_a_rate_of_a_block_of_tiny_rows_breaks_any_epsilon() -> None:
    """T* of Smith 2008 for the rate of an exponential law, Theta = [0, 10]: one block has the mean 1e-9, its rate is 1e9."""
    within = Range(0.0, 10.0)
    rates, changed = np.full(50, 2.0), np.array([*[2.0] * 49, 1 / 1e-9])
    scale = STEPS / Fraction(1)
    moved = sum(unprojected_steps(changed, within)) - sum(unprojected_steps(rates, within))
    assert moved / scale > 10**7
    moved = int(within.places(changed).sum() - within.places(rates).sum())
    assert abs(moved) / scale <= 1


def test_dropping_blocks_without_an_answer_breaks_epsilon() -> None:
    here, there = np.array([0.0, 10.0, 10.0]), np.array([0.0, 10.0, NAN])
    laws = [mean_of_answers_law(raw, Fraction(1), -50, 60) for raw in (here, there)]
    assert largest_log_ratio(*laws) > 1.5
    moved = np.abs(Range(0.0, 10.0).places(here).sum() - Range(0.0, 10.0).places(there).sum())
    assert moved <= STEPS


def test_blocks_by_position_change_with_one_row_more_and_tossed_ones_but_one() -> None:
    rows = np.arange(1.0, 96.0)[:, None]
    more = np.vstack([[[500.0]], rows])
    changed = _means(contiguous_blocks(more, 10)) != _means(contiguous_blocks(rows, 10))
    assert changed.sum() == 10 // 2 + 1
    tossed, with_one = toss_blocks(rows, 10, seeded(3)), toss_blocks(np.vstack([rows, [[500.0]]]), 10, seeded(3))
    assert (tossed.raw_places == with_one.raw_places[:95]).all()  # the same coins for the rows that they share
    assert (_means(tossed) != _means(with_one)).sum() == 1


def _means(raw_blocks: Any) -> Floats:
    means: Floats = raw_blocks.means(raw_blocks.raw_rows[:, 0])
    return means


@pytest.mark.parametrize("how", BOUNDED, ids=lambda how: how.name)
def test_means_are_near_and_their_intervals_cover_them(how: Aggregator) -> None:
    hits, errors = 0, []
    for seed in range(150):
        found = reply(normal_votes(300, seed), how, seed)
        hits += sum(i.low <= truth <= i.high for i, truth in zip(found.intervals, (3, 6), strict=True))
        errors.append(found.values[0] - 3)
    assert hits / 300 > 0.94
    if how.name != "winsorized":
        assert np.std(errors) < 0.12


def test_intervals_cost_a_tenth_and_none_is_paid_for_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = [
        [scale for _, scale in noiseless(monkeypatch, normal_votes(20), aggregator_for("mean", range=(0, 10)), level)]
        for level in (None, LEVEL)
    ]
    rest = EPSILON * (1 - TURNOUT_SHARE)
    assert scales[0] == [STEPS / rest]
    assert scales[1] == [STEPS / (rest * (1 - SPREAD_SHARE)), STEPS**2 / (rest * SPREAD_SHARE)]


def test_the_mean_stays_within_its_range() -> None:
    for seed in range(20):
        values, intervals = release_means(votes([10.0]), (Range(0.0, 10.0),), VoteCut(), (None,), TENTH, LEVEL, seeded(seed))
        assert 0 <= intervals[0].low <= values[0] <= intervals[0].high <= 10


def test_blocks_without_an_answer_widen_the_interval_by_their_share() -> None:
    raw = np.column_stack([np.where(np.arange(2000) % 5 < 2, math.nan, 9.0)])
    found = aggregate_numbers(raw, aggregator_for("mean", range=(0, 10)), epsilon=Fraction(4), rng=seeded(1))
    assert isinstance(found, Aggregated)
    assert found.intervals[0].low < found.values[0] < 9.0 < found.intervals[0].high
