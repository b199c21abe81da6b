"""Limits: the exact privacy loss of whole courses, what they spend, and how they behave on ugly columns."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import PURE_LOSS, find_statistic
from dpstats.foundations.summaries import Column
from dpstats.statistics.clipped import shells
from dpstats.statistics.clipped.zeros_and_ones import spent_by_looks
from dpstats.statistics.means import CLIPPED_LOSS, clipped_for
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.bands import Band, Bands, DigitBands, DistanceBands
from dpstats.statistics.universal.decimals import DIGITS, HIGHEST_ORDINAL, ordinal_of
from dpstats.statistics.universal.draw import RankLoss
from dpstats.statistics.universal.limits import (
    GIVING_WAY,
    MIDDLE,
    OCTAVES_SHARE,
    REACH,
    RECOUNT_SHARE,
    ROWS_SHARE,
    SCALE,
    SIDE,
    Limits,
    Share,
    draw_limits,
    largest_loss,
)
from dpstats.statistics.universal.measure import MIXED
from tests.laws.mechanisms import exponential_of_minus
from tests.replays.limits import nats_lost, privacy_loss
from tests.statistics.tables import ugly_columns
from tests.twins.cells import BandsOfRows, overlapping_ranks

SLACK = 1e-9
EPSILON = Fraction(2)
WAVE = [float(value) for value in np.random.default_rng(3).normal(0, 10, 40).round(1)]
PAIRS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "nothing or one row": (np.array([]), np.array([1e9])),
    "one row or two": (np.array([3.5]), np.array([3.5, -2.0])),
    "all alike": (np.full(30, 12.99), np.full(31, 12.99)),
    "one of them far out": (np.full(30, 12.99), np.array([12.99] * 30 + [1e300])),
    "an outlier": (np.array(WAVE), np.array([*WAVE, -1e300])),
    "an infinite row": (np.array(WAVE), np.array([*WAVE, math.inf])),
    "infinite rows": (np.array([math.inf] * 9), np.array([math.inf] * 10)),
    "a row at the middle": (np.array(WAVE), np.array([*WAVE, float(np.median(WAVE))])),
    "32-bit floats": (np.array(WAVE, dtype=np.float32), np.array([*WAVE, 12.99], dtype=np.float32)),
    "large whole numbers": (np.arange(2**60, 2**60 + 40), np.arange(2**60, 2**60 + 41)),
    "ties at many digits": (np.array([1 / 3] * 30 + [1 / 7] * 20), np.array([1 / 3] * 30 + [1 / 7] * 21)),
    "one of them close by": (np.full(30, 1 / 3), np.array([1 / 3] * 30 + [1 / 3 + 1e-12])),
    "a thin side": (np.array([0.0] * 60 + [1.0] * 20), np.array([0.0] * 60 + [1.0] * 21)),
}
PUSHES: dict[str, tuple[float, ...]] = {
    "up": (3.0,),
    "down": (-3.0,),
    "little": (-0.3, 0.3),
    "mixed": (-4.0, -1.0, 1.0, 4.0, 12.0),
}


def pushing(name: str, seed: int) -> Callable[[Fraction], int]:
    """Noise of so many scales, chosen from a list."""
    chooser = random.Random(seed)
    return lambda scale: round(chooser.choice(PUSHES[name]) * scale)


def clipped(epsilon: Fraction, seed: int) -> Callable[[Column], object]:
    """Limits and cells, all that a mean is made from."""
    return lambda column: clipped_for(column, epsilon, seeded(seed), 3, 0.1)


# Privacy


@pytest.mark.parametrize("name", PAIRS)
def test_no_course_of_limits_and_cells_tells_a_row_by_more_than_epsilon(name: str) -> None:
    table, neighbour = (as_column(data) for data in PAIRS[name])
    losses = [
        privacy_loss(clipped(EPSILON, seed), *pair, pushing(push, seed))
        for seed, push in enumerate(PUSHES)
        for pair in ((table, neighbour), (neighbour, table))
    ]
    assert max(map(abs, losses)) <= EPSILON + SLACK
    assert max(map(abs, losses)) > EPSILON / 5


def test_shells_in_which_a_row_counts_more_than_once_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = shells.raw_counts_between
    monkeypatch.setattr(shells, "raw_counts_between", lambda *asked: np.cumsum(real(*asked)).tolist())
    table, neighbour = (as_column(data) for data in PAIRS["an outlier"])  # below all others: in every count
    losses = [privacy_loss(clipped(EPSILON, seed), neighbour, table, pushing("down", seed)) for seed in range(4)]
    assert max(map(abs, losses)) > EPSILON + SLACK


def test_some_course_comes_close_to_epsilon() -> None:
    table, neighbour = (as_column(data) for data in PAIRS["an outlier"])
    losses = [privacy_loss(clipped(Fraction(20), seed), neighbour, table, pushing("up", seed)) for seed in range(4)]
    assert 0.6 * 20 < max(losses) <= 20 + SLACK


def test_a_changed_row_costs_at_most_twice_that() -> None:
    table = as_column(np.array(WAVE))
    for seed, value in enumerate((1e300, math.inf, 0.0, math.nan)):
        changed = as_column(np.array([value, *WAVE[1:]]))
        loss = privacy_loss(clipped(EPSILON / 2, seed), table, changed, pushing("up", seed))
        assert abs(loss) <= EPSILON + SLACK


def test_a_missing_row_makes_no_difference() -> None:
    table, neighbour = as_column(np.array(WAVE)), as_column(np.array([*WAVE, math.nan]))
    assert privacy_loss(clipped(EPSILON, 1), table, neighbour, pushing("mixed", 1)) == 0


def test_sides_that_share_the_rows_at_the_middle_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    table, neighbour = as_column(np.full(11, 5.0)), as_column(np.full(10, 5.0))
    seen: list[Limits] = []

    def mechanism(rows: Column) -> None:
        seen.append(draw_limits(rows, Fraction(20), seeded(1)))

    def sides_loss() -> float:
        """Of a course in which the middle is sure and both sides count as thin."""
        return abs(privacy_loss(mechanism, table, neighbour, lambda scale: round(-25 * scale)))

    loss = sides_loss()
    claimed = float(seen[0].spent - 20 * MIDDLE.most)
    assert seen[0].middle == 5
    assert loss <= claimed
    monkeypatch.setattr(limits, "_ranks_at", overlapping_ranks)
    assert sides_loss() > 1.5 * claimed


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("steep", [Fraction(1, 5), Fraction(30)])  # the steep one leaves most rows outside the window
@pytest.mark.parametrize("digits", [4, DIGITS])
def test_a_draw_on_one_side_has_the_law_of_that_sides_rows_alone(name: str, steep: Fraction, digits: int) -> None:
    data = ugly_columns()[name]
    column = as_column(data)
    ordinals = sorted(ordinal_of(value) for value in data if value == value)
    middle = ordinals[len(ordinals) // 3] if ordinals else 0
    first, last = DigitBands(digits).band(middle)
    raw_below, raw_up_to = limits._ranks_at(column, Band(first, last))
    line = limits._Line(column, seeded(1))
    below = limits._LinePart(line, (-HIGHEST_ORDINAL, first - 1), (0, raw_below), DistanceBands(middle, upward=False))
    inside = limits._LinePart(line, (first, last), (raw_below, raw_up_to), DigitBands(DIGITS))
    above = limits._LinePart(line, (last + 1, HIGHEST_ORDINAL), (raw_up_to, len(ordinals)), DistanceBands(middle, upward=True))
    for part in (below, inside, above):
        own = [stretch_of(part, ordinal) for ordinal in ordinals if part.first <= ordinal <= part.last]
        assert part.raw_rows == len(own)
        for share in (Fraction(1, 2), Fraction(9, 10), Fraction(0)):
            loss = RankLoss(Fraction(part.raw_first + math.floor(share * len(own))), steep, steep / 2, Fraction(20))
            pieces = part.pieces(loss)
            assert sum(piece.length for piece in pieces) == part.high - part.low
            for piece in pieces:
                below_it = sum(end <= piece.start for _, end in own)
                up_to = sum(start < piece.start + piece.length for start, _ in own)
                if piece.length and up_to > below_it and not piece.hidden:
                    assert (piece.start, piece.start + piece.length) in own  # rows lie in pieces of their own
                over = max(Fraction(0), below_it - (loss.target - part.raw_first)) * loss.slope_over
                under = max(Fraction(0), loss.target - part.raw_first - up_to) * loss.slope_under
                lost = min(loss.clip, over + under) if not piece.hidden else loss.clip
                assert not piece.length or nats_lost(piece, loss) == lost


def stretch_of(part: limits._LinePart, ordinal: int) -> tuple[int, int]:
    """Where the band of a decimal starts and ends on the line of a part, from the definition."""
    first, last = part.bands.band(ordinal)
    (start, _), (last_start, width) = (MIXED.span(end) for end in (max(first, part.first), min(last, part.last)))
    return start, last_start + width


@pytest.mark.parametrize("value", [5.0, 1 / 3, 1e-300, 1e300])
def test_no_place_of_a_draw_in_bands_tells_a_row_by_more_than_epsilon(value: float) -> None:
    assert largest_ratio_in_bands(DistanceBands, value) <= 1 + SLACK


def test_bands_that_end_at_rows_are_refuted() -> None:
    assert largest_ratio_in_bands(BandsOfRows, 5.0) > 5


def largest_ratio_in_bands(kind: Callable[[int, bool], Bands], value: float) -> float:
    """Of the probabilities of places above 0 to be drawn as the median, at an epsilon of 1, with and without a row."""
    tied = [10.0] * 30 + [1 / 7] * 10
    laws = []
    for rows in (tied, [*tied, value]):
        part = limits._LinePart(
            limits._Line(as_column(np.array(rows)), seeded(1)), (1, HIGHEST_ORDINAL), (0, len(rows)), kind(0, True)
        )
        loss = RankLoss(Fraction(len(rows), 2), Fraction(1), Fraction(1))
        weights = [(piece, exponential_of_minus(nats_lost(piece, loss))) for piece in part.pieces(loss)]
        total = sum((weight * piece.length for piece, weight in weights), Fraction(0))
        laws.append([(piece.start, weight / total) for piece, weight in weights if piece.length])
    places = {start for law in laws for start, _ in law}
    ratios = [Fraction(*(_density(law, place) for law in laws)) for place in places]
    return max(abs(math.log(ratio)) for ratio in ratios)


def _density(law: list[tuple[int, Fraction]], place: int) -> Fraction:
    return next(density for start, density in reversed(law) if start <= place)


# Spending


noisy_numbers = st.integers(-(10**6), 10**9)


@given(st.sampled_from([MIDDLE, SIDE, SCALE, REACH]), st.fractions(-(10**9), 10**12))
def test_a_share_stays_in_its_range(share: Share, noisy_nats: Fraction) -> None:
    assert share.least <= share.of(noisy_nats) <= share.most


def test_all_shares_together_leave_something_for_the_cells() -> None:
    sides = SIDE.most + RECOUNT_SHARE + max(SCALE.most + REACH.most, OCTAVES_SHARE)
    for looks in spent_by_looks():
        assert ROWS_SHARE + MIDDLE.most + sum(looks) + max(REACH.most, sides * (1 - GIVING_WAY * sum(looks))) < 1


@settings(max_examples=40)
@given(st.lists(noisy_numbers, min_size=5, max_size=5), st.sampled_from([Fraction(1, 50), Fraction(1), Fraction(9)]))
def test_what_is_spent_is_what_the_steps_were_given_and_less_than_epsilon(noisy: list[int], epsilon: Fraction) -> None:
    column = as_column(np.array(WAVE))
    counts: list[Fraction] = []
    draws: list[tuple[limits._LinePart, Fraction]] = []
    replies = iter(noisy)

    def watch_count(raw_count: int, given_epsilon: Fraction, rng: RandomSource) -> int:
        counts.append(given_epsilon)
        return next(replies)

    def watch_draw(part: limits._LinePart, loss: RankLoss, stretches: object = ()) -> Band:
        draws.append((part, loss.slope_over + loss.slope_under))
        return real_draw(part, loss, stretches)  # type: ignore[arg-type]

    real_draw = limits._LinePart.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "noisy_count", watch_count)
        patch.setattr(limits._LinePart, "draw", watch_draw)
        found = draw_limits(column, epsilon, seeded(2))
    assert 0 < found.spent < epsilon
    whole = draws[0][1] / 2  # a median's slopes add up to twice its epsilon
    upward, downward = (
        [slopes for part, slopes in draws[1:] if getattr(part.bands, "upward", None) is side] for side in (True, False)
    )
    by_draws = max((slopes[0] / 2 + slopes[1] for slopes in (upward, downward) if slopes), default=Fraction(0))
    inner = sum((slopes / 2 for part, slopes in draws[1:] if isinstance(part.bands, DigitBands)), Fraction(0))
    rows_epsilon, side_epsilon, *others = counts
    recounted = epsilon * RECOUNT_SHARE if epsilon * RECOUNT_SHARE in others else Fraction(0)
    assert rows_epsilon + whole + max(inner, side_epsilon + by_draws) <= found.spent
    assert found.spent <= rows_epsilon + whole + max(inner, side_epsilon + by_draws + recounted)


def test_the_loss_is_the_largest_over_all_shares() -> None:
    chooser = random.Random(5)
    largest = largest_loss()
    assert largest <= CLIPPED_LOSS < PURE_LOSS
    assert find_statistic("mean").methods["clipped"].loss == find_statistic("sum").methods["clipped"].loss == CLIPPED_LOSS

    def within(share: Share) -> Fraction:
        return share.least + (share.most - share.least) * Fraction(chooser.randint(0, 100), 100)

    for looks in spent_by_looks():
        part = 1 - GIVING_WAY * sum(looks)
        for _ in range(500):
            middle, side, recount = within(MIDDLE), within(SIDE), chooser.choice([Fraction(0), RECOUNT_SHARE])
            draws = chooser.choice([(Fraction(0), Fraction(0)), (within(SCALE), within(REACH))])
            octaves = Fraction(0) if any(draws) else chooser.choice([Fraction(0), OCTAVES_SHARE])
            noises = [ROWS_SHARE, *looks, *(part * share for share in (side, recount, octaves))]
            exponential = [middle, *(part * share for share in draws)]
            noises.append(1 - sum(noises) - sum(exponential))
            assert noises[-1] > 0
            rho = sum(share**2 for share in noises) / 2 + sum(share**2 for share in exponential) / 8
            assert rho <= (CLIPPED_LOSS if looks else largest)
        if looks:  # all the rest counts zeros and ones
            noises = [ROWS_SHARE, *looks, 1 - ROWS_SHARE - MIDDLE.least - sum(looks)]
            assert sum(share**2 for share in noises) / 2 + MIDDLE.least**2 / 8 <= CLIPPED_LOSS


# Behaviour


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(20)])
def test_every_column_has_limits(name: str, epsilon: Fraction) -> None:
    found = draw_limits(as_column(ugly_columns()[name]), epsilon, seeded(6))
    assert found.noisy_rows >= 1
    for side in (found.below, found.above):
        assert side.scale >= 0
        assert side.reach >= 0
        assert (side.rows_beyond > 0) == (side is not limits.EMPTY)


def test_a_constant_column_has_its_value_as_the_middle_and_empty_sides() -> None:
    for seed in range(20):
        found = draw_limits(as_column(np.full(2000, 12.99)), Fraction(1), seeded(seed))
        assert found.middle == Fraction(1299, 100)
        assert found.below == found.above == limits.EMPTY


@pytest.mark.parametrize("value", [1 / 3, 1e9 * math.log(2), -1 / 7, 12.99])
def test_so_has_one_of_few_rows_whatever_the_number_of_digits(value: float) -> None:
    for seed in range(10):
        found = draw_limits(as_column(np.full(700, value)), Fraction(1), seeded(seed))
        assert ordinal_of(float(found.middle)) == ordinal_of(value)
        assert found.below == found.above == limits.EMPTY


@pytest.mark.parametrize("pair", [(1 / 3, 1 / 7), (math.log(2), math.log(3)), (0.0, 1.0), (-1e-9 / 3, 1e9 / 3)])
def test_reaches_of_two_values_end_at_them(pair: tuple[float, float]) -> None:
    low, high = sorted(pair)
    for seed in range(10):
        data = np.where(np.random.default_rng(seed).random(4000) < 0.7, *pair)
        found = draw_limits(as_column(data), Fraction(1), seeded(seed))
        lowest, highest = float(found.middle - found.below.reach), float(found.middle + found.above.reach)
        apart = high - low
        assert low - 10 * apart < lowest <= low + 1e-9 * apart
        assert high - 1e-9 * apart <= highest < high + 10 * apart


def test_numbers_below_the_resolution_of_the_middle_count_as_one() -> None:
    data = 1e6 + 1e-9 * np.random.default_rng(1).integers(0, 5, 1000)
    for seed in range(10):
        found = draw_limits(as_column(data), Fraction(1), seeded(seed))
        assert float(found.middle) == 1e6
        assert found.below == found.above == limits.EMPTY


def test_a_reach_leaves_about_as_many_rows_beyond_as_it_says() -> None:
    rows = np.random.default_rng(8).normal(3, 1, 20_000)
    beyond = []
    for seed in range(12):
        found = draw_limits(as_column(rows), Fraction(1), seeded(seed))
        beyond.append((rows > float(found.middle + found.above.reach)).sum() / float(found.above.rows_beyond))
    assert 0.5 < np.median(beyond) < 2


def test_weights_of_a_toy_draw_follow_the_definition() -> None:
    column = as_column(np.array([1.0, 2.0, 2.0, 5.0]))
    line = limits._Line(column, seeded(1))
    loss = RankLoss(Fraction(2), Fraction(1), Fraction(1, 2), Fraction(20))
    pieces = limits._LinePart(line, (-HIGHEST_ORDINAL, HIGHEST_ORDINAL), (0, 4), DigitBands(DIGITS)).pieces(loss)
    lost = [nats_lost(piece, loss) for piece in pieces]
    assert lost == [1, Fraction(1, 2), Fraction(1, 2), 0, 1, 1, 2]
    assert [exponential_of_minus(nats) <= 1 for nats in lost] == [True] * 7
