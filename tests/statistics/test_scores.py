"""Correlation and covariance by scores: what a row adds, what a run releases, and how near they come."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpstats as dp
from dpstats.statistics.paired import walk as walks
from dpstats.statistics.paired.apart import PLACE, OtherScores, RowsApart
from dpstats.statistics.paired.covariances import CovarianceWalk, PairProducts
from dpstats.statistics.paired.scores import CorrelationWalk, PairBalance, PairScores
from dpstats.statistics.paired.walk import (
    UNITS,
    PairDistances,
    PairUnits,
    PairWalk,
    PointMoments,
    ScoreOctaves,
    ScoreSizes,
    ScoreSums,
)
from dpstats.statistics.regression import octaves
from dpstats.statistics.regression.budget_split import PureBudgetSplit
from dpstats.testing import seeded
from tests.laws.pairs import joint_law
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Noisy, ScriptedBudgetSplit, ScriptedTable, Transcript, table_of
from tests.twins.scores import RowsBeyond, ScoresOfAllRows, ScoresOfCutColumns, UnboundedMoments

Floats = NDArray[np.float64]


def some_scores(generator: np.random.Generator) -> PairScores:
    middles = generator.choice([0.0, 1.0, -3.25, 1e308, -1e-300], 2).tolist()
    scales = generator.choice([1.0, 0.37, 2.0**-400, 2.0**399, 1e6], 2).tolist()
    return PairScores(PairUnits((middles[0], middles[1]), (scales[0], scales[1])), float(generator.uniform(-1, 1)))


def longest(row_sum: Any, rows: Floats) -> float:
    """The greatest length of what one row adds."""
    return max(math.sqrt(sum(int(each) ** 2 for each in row_sum(row[None]))) for row in rows)


def test_no_row_adds_more_than_is_claimed_and_rows_add_up() -> None:
    generator = np.random.default_rng(3)
    for _ in range(60):
        rows, chosen = ugly_rows(generator, 40, 2), some_scores(generator)
        moments = PointMoments(chosen.units, float(generator.choice([1e-3, 1.2, 6.0])))
        assert longest(moments, rows) <= moments.l2_units
        place = float(generator.choice([2.0**-400, 0.5, 3.0, 1e9]))
        said = chosen, PairBalance(chosen.units), PairProducts(chosen.units, chosen.correlation)
        sums = [ScoreSums(each, place) for each in said]
        assert all(np.abs(each(row[None])).max() <= UNITS for row in rows for each in sums)
        counted: list[tuple[Any, int]] = [(PairDistances(chosen.units.middles), 2)]
        counted += [(counts, 1) for each in said for counts in (ScoreSizes(each), ScoreOctaves(each, place))]
        for counts, cells in counted:
            assert all(counts(row[None]).sum() <= cells for row in rows)
        for each in (moments, *sums, *(counts for counts, _ in counted)):
            assert (each(rows[:17]) + each(rows[17:])).tolist() == each(rows[::-1]).tolist()


def test_moments_without_a_ball_scores_of_cut_columns_and_counts_of_all_rows_beyond_are_refuted() -> None:
    units, corner = PairUnits((0.0, 0.0), (1.0, 1.0)), np.array([[9.0, -9.0]])
    assert longest(UnboundedMoments(units, 2.0), corner) > UnboundedMoments(units, 2.0).l2_units
    assert longest(PointMoments(units, 2.0), corner) <= PointMoments(units, 2.0).l2_units
    for each in PairScores(units, 0.5), PairProducts(units, 0.5):
        assert abs(ScoresOfCutColumns(each, 3.0, units)(corner)[0]) > UNITS
        assert abs(ScoreSums(each, 3.0)(corner)[0]) <= UNITS
    assert RowsBeyond(PairScores(units, 0.5), 1.0)(corner).sum() > 1
    assert ScoreOctaves(PairScores(units, 0.5), 1.0)(corner).sum() == 1


def test_a_row_is_apart_or_has_a_score_and_never_both() -> None:
    generator = np.random.default_rng(5)
    for _ in range(60):
        rows, chosen = ugly_rows(generator, 40, 2), some_scores(generator)
        apart = RowsApart(PairUnits(chosen.units.middles, (2.0, float(generator.choice([1e-3, 5.0])))))
        asked: list[Any] = [ScoreSizes(OtherScores(chosen, apart)), ScoreOctaves(OtherScores(chosen, apart), 3.0)]
        asked.append(ScoreSums(OtherScores(chosen, apart), 3.0))
        for row in rows:
            counted = ScoreOctaves(apart, PLACE)(row[None]).sum()
            assert counted == (apart.of(row[None])[0] != 0)
            assert not counted or all(not np.any(each(row[None])) for each in asked)


def law_of_both_parts(others: type[OtherScores], rows: Sequence[tuple[float, float]]) -> Any:
    """The exact law of how many rows are apart, and of a sum of scores of the others, both at epsilon 1 / 2."""
    units = PairUnits((0.0, 0.0), (1.0, 1.0))
    apart = RowsApart(PairUnits((0.0, 0.0), (4.0, 4.0)))
    table = np.array(rows, dtype=float).reshape(-1, 2)
    counted = int(ScoreOctaves(apart, PLACE)(table).sum())
    held = int(ScoreSums(others(PairScores(units, 0.5), apart), 3.0)(table)[0]) // (UNITS // 4)
    return joint_law([4 * counted, held], Fraction(8), [range(-24, 25, 4), range(-24, 25, 4)])


def test_both_parts_together_cost_what_one_does_in_the_exact_law_and_a_row_in_both_is_refuted() -> None:
    kinds = [(0.2, -0.4), (2.0, 2.5), (9.0, 1.0), (0.5, -7.0), (8.0, 8.0), (1e9, 0.0)]
    worst = {}
    for others in OtherScores, ScoresOfAllRows:
        ratios = []
        for rows in ([], [kinds[0]], [kinds[1], kinds[2]]):
            before = law_of_both_parts(others, rows)
            for added in kinds:
                after = law_of_both_parts(others, [*rows, added])
                ratios += [max(after[each] / before[each], before[each] / after[each]) for each in before]
        worst[others] = float(max(ratios))
    assert worst[OtherScores] <= math.exp(0.5) * (1 + 1e-12)
    assert worst[ScoresOfAllRows] > math.exp(0.9)


def with_rows_of_another_kind(rows: int, seed: int) -> tuple[Floats, Floats]:
    """A normal pair of correlation .6, 1% of one column of which is six times as large: together .52."""
    generator = np.random.default_rng(seed)
    x, noise = generator.normal(size=(2, rows))
    return np.where(generator.random(rows) < 0.01, 6 * x, x), 0.6 * x + 0.8 * noise


@pytest.mark.floors
def test_rows_far_out_in_one_column_are_made_room_for() -> None:
    truth = 0.6 * (0.99 + 0.01 * 6) / math.sqrt(0.99 + 0.01 * 36)
    replies: list[Any] = [
        dp.correlation(*with_rows_of_another_kind(10_000, seed), epsilon=0.5, rng=seeded(seed)) for seed in range(20)
    ]
    held = [reply.interval.low <= truth <= reply.interval.high for reply in replies if isinstance(reply, dp.Release)]
    assert len(held) >= 18
    assert sum(held) >= len(held) - 3  # half of them before


@dataclass(frozen=True)
class Counted:
    """Noisy counts of octaves around a place."""

    place: float
    epsilon: Fraction


@contextmanager
def scripted_draws(transcript: Transcript) -> Iterator[None]:
    real_draw, real_quantile, real_tails = octaves.draw_piece, walks.draw_quantile, walks.release_tails

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip, pieces[0].start, pieces[-1].start + pieces[-1].length)
        return pieces[0], transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    def release_tails(raw_counts: Any, place: float, epsilon: Fraction, rng: Any) -> Any:
        question = Counted(place, epsilon)
        return transcript.release(question, lambda: real_tails(raw_counts, place, epsilon, rng), raw_counts)

    with (
        patch.object(octaves, "draw_piece", draw_piece),
        patch.object(walks, "draw_quantile", draw_quantile),
        patch.object(walks, "release_tails", release_tails),
    ):
        yield


def walk(
    along: type[PairWalk], rows: Floats, epsilon: Fraction, released: Sequence[Any] | None = None, noisy_rows: int | None = None
) -> Any:
    transcript = Transcript(released)
    budget = ScriptedBudgetSplit(PureBudgetSplit(epsilon, seeded(5)), transcript, noisy_rows)
    table: Any = ScriptedTable(table_of(rows), transcript)
    with scripted_draws(transcript):
        walking: Any = along(table, budget, seeded(6))
        found = walking.arrive() if walking.has_enough_rows else None
    return found, budget.left, transcript


WALKS = (CorrelationWalk, CovarianceWalk)
PAIRS = {
    "a far outlier": (1e12, -1e9),
    "infinities": (math.inf, -math.inf),
    "one like the others": (0.3, 1.2),
    "far in one column": (0.0, 1e308),
}


@pytest.mark.parametrize("along", WALKS)
@pytest.mark.parametrize("added", PAIRS)
@pytest.mark.parametrize("shape", ["normal", "marks", "ugly", "alike"])
def test_all_but_the_released_numbers_is_the_same_for_a_neighbour(along: type[PairWalk], added: str, shape: str) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(900, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    if shape == "marks":
        rows = np.column_stack([rows[:, 0] > 0.5, np.floor(np.exp(rows[:, 1]))]).astype(float)
    elif shape == "ugly":
        rows = ugly_rows(generator, 900, 2)
    elif shape == "alike":
        rows = np.ones((900, 2))
    found, left, transcript = walk(along, rows, Fraction(4))
    again, left_again, second = walk(along, np.vstack([rows, PAIRS[added]]), Fraction(4), transcript.released)
    assert (repr(again), left_again, second.questions) == (repr(found), left, transcript.questions)
    for question, raw, raw_other in zip(transcript.questions, transcript.raw, second.raw, strict=True):
        if isinstance(question, Noisy):
            assert sum((after - before) ** 2 for before, after in zip(raw, raw_other, strict=True)) <= question.l2_units**2
        elif isinstance(question, Counted):
            assert sum(abs(after - before) for before, after in zip(raw, raw_other, strict=True)) <= 1


@pytest.mark.parametrize("along", WALKS)
@pytest.mark.parametrize("noisy_rows", [1, 90, 800, 2000, 10**6])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
def test_no_run_spends_more_than_there_is(along: type[PairWalk], noisy_rows: int, epsilon: Fraction) -> None:
    rows = ugly_rows(np.random.default_rng(4), 300, 2)
    found, left, _ = walk(along, rows, epsilon, noisy_rows=noisy_rows)
    assert 0 <= left < 1
    assert found is None or isinstance(found, float) or left == 0


def skewed_pairs(rows: int, seed: int) -> tuple[Floats, Floats]:
    """Two columns as of prices and weights: skewed, and closely together."""
    generator = np.random.default_rng(seed)
    size = np.exp(generator.normal(0, 0.6, rows))
    return size, 4000 * size**1.4 * np.exp(generator.normal(0, 0.25, rows))


def test_close_and_skewed_columns_get_a_short_interval_that_holds() -> None:
    truth = np.corrcoef(*skewed_pairs(400_000, 1))[0, 1]
    widths: list[float] = []
    held = 0
    for seed in range(20):
        release: Any = dp.correlation(*skewed_pairs(4000, seed + 2), epsilon=1, rng=seeded(seed))
        low, high = release.interval
        held, widths = held + (low <= truth <= high), [*widths, high - low]
    assert held >= 18
    assert np.median(widths) < 0.12  # cells gave 0.5


@pytest.mark.floors
def test_below_the_floor_there_is_no_reply_unless_a_rough_one_is_wanted() -> None:
    x, y = skewed_pairs(200, 1)
    reply = dp.correlation(x, y, epsilon=1, rng=seeded(1))
    assert isinstance(reply, dp.NoReply)
    assert reply.cost.epsilon == 1
    rough = dp.correlation(x, y, epsilon=1, rough=True, rng=seeded(1))
    assert rough.rough
    assert -1 <= rough.value <= 1


def test_a_column_that_does_not_vary_gets_no_reply() -> None:
    x, y = np.random.default_rng(1).normal(size=3000), np.full(3000, 7.0)
    assert isinstance(dp.correlation(x, y, epsilon=1, rng=seeded(1)), dp.NoReply)


@pytest.mark.parametrize("epsilon", [4, 100])
def test_columns_of_two_floats_of_many_digits_correlate_as_others(epsilon: float) -> None:
    generator = np.random.default_rng(2)
    x = np.where(generator.random(4000) < 0.8, np.log(2), np.log(3))
    y = np.where(generator.random(4000) < 0.3, x, np.where(generator.random(4000) < 0.5, np.log(2), np.log(3)))
    found = dp.correlation(x, y, epsilon=epsilon, rng=seeded(3))
    assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.05)


@pytest.mark.parametrize(("under", "seldom"), [(walks.REACH_UNDER, True), (Fraction(1, 2), False)], ids=["as drawn", "evenly"])
def test_a_column_seldom_seems_not_to_vary_because_its_reach_was_drawn_where_no_row_is(under: Fraction, seldom: bool) -> None:
    epsilon, rows = walks.COLUMN_REACH, 2000
    beyond = Fraction(walks.COLUMN_NATS) / epsilon
    over, _ = octaves.rank_slopes(1 - beyond / rows, epsilon, under)
    assert (walks.WINDOW * math.exp(-over * beyond) < 1 / 2000) == seldom  # all cells without rows against the right one


@pytest.mark.parametrize("ask", [dp.correlation, dp.covariance])
def test_a_column_that_reaches_many_scales_still_varies(ask: Any) -> None:
    for seed in range(5):
        generator = np.random.default_rng(seed)
        schooling = generator.integers(8, 21, 50_000).astype(float)
        wages = np.exp(9.9 + 0.08 * schooling + generator.normal(0, 0.6, 50_000))
        wages[generator.random(50_000) < 0.001] = 1.1e6
        assert isinstance(ask(schooling, wages, epsilon=4, rng=seeded(seed)), dp.Release)


def far_codes(rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Years of schooling, of which one row in a hundred has the code 98, and hours."""
    schooling = generator.choice([11.0, 12.0, 12.0, 12.0, 13.0, 16.0], rows)
    return np.where(generator.random(rows) < 0.01, 98.0, schooling), generator.normal(0, 1, rows)


def counts(rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Two counts with many zeros."""
    return generator.negative_binomial(0.7, 0.15, rows).astype(float), generator.poisson(1, rows).astype(float)


@pytest.mark.parametrize("ask", [dp.correlation, dp.covariance])
@pytest.mark.parametrize("draw", [far_codes, counts])
def test_columns_that_reach_many_deviations_are_looked_at_again_and_get_a_reply(ask: Any, draw: Any) -> None:
    replies = [ask(*draw(3000, np.random.default_rng(seed)), epsilon=1.7, rng=seeded(seed)) for seed in range(20)]
    assert sum(isinstance(reply, dp.Release) for reply in replies) >= 19


@pytest.mark.parametrize("along", WALKS)
@pytest.mark.parametrize("varies", [True, False])
def test_a_smaller_ball_is_bought_where_a_column_seems_not_to_vary(along: type[PairWalk], varies: bool) -> None:
    rows = np.random.default_rng(1).normal(size=(9000, 2))
    if not varies:
        rows[:, 0] = 7.0
    _, left, transcript = walk(along, rows, Fraction(4))
    balls = [question for question in transcript.questions if isinstance(question, Noisy) and question.l2_units > 5 * UNITS**2]
    assert (len(balls) > 1) is not varies
    assert varies or left < walks.AGAIN + walks.ENOUGH


def pareto_pairs(index: float, rows: int, seed: int) -> tuple[Floats, Floats]:
    """Two columns with tails of a power, that go together as in a Gaussian copula of correlation 0.6."""
    first, second = np.random.default_rng(seed).standard_normal((2, rows))
    x, y = stats.norm.sf([first, 0.6 * first + 0.8 * second]) ** (-1 / index)
    return x, y


@pytest.mark.floors
def test_tails_that_no_cut_can_know_are_refused_with_what_to_ask_instead() -> None:
    replies = [dp.correlation(*pareto_pairs(1.2, 10_000, seed), epsilon=4, rng=seeded(seed)) for seed in range(6)]
    refused = [reply for reply in replies if isinstance(reply, dp.NoReply)]
    assert len(refused) >= 5
    assert all("spearman" in reply.advice for reply in refused)
    rough = dp.correlation(*pareto_pairs(1.2, 10_000, 0), epsilon=4, rough=True, rng=seeded(0))
    assert isinstance(rough, dp.Release)


@pytest.mark.floors
def test_more_rows_of_heavy_tails_do_not_lose_the_truth() -> None:
    truth = np.corrcoef(*pareto_pairs(3, 4000, 1))[0, 1]
    table = np.column_stack(pareto_pairs(3, 4000, 1))
    held, answered = 0, 0
    for seed in range(15):
        x, y = table[np.random.default_rng(seed).integers(0, 4000, 10_000)].T
        reply = dp.correlation(x, y, epsilon=4, rng=seeded(seed))
        if isinstance(reply, dp.Release):
            answered += 1
            held += reply.interval.low <= truth <= reply.interval.high
    assert answered >= 7
    assert held >= answered - 2  # 53% before


@pytest.mark.floors
def test_a_covariance_of_heavy_tails_holds_the_truth_or_is_refused() -> None:
    first, second = np.random.default_rng(2).standard_normal((2, 8000))
    table = np.exp(np.column_stack([first, 0.6 * first + 0.8 * second]))
    truth, held, answered = np.cov(table.T)[0, 1], 0, 0
    for seed in range(25):
        x, y = table[np.random.default_rng(seed).integers(0, 8000, 10_000)].T
        reply = dp.covariance(x, y, epsilon=1, rng=seeded(seed))
        if isinstance(reply, dp.Release):
            answered += 1
            held += reply.interval.low <= truth <= reply.interval.high
    assert answered >= 20
    assert held >= answered - 3  # none of 25 by product cells
    refusals = [dp.covariance(*pareto_pairs(1.2, 10_000, seed), epsilon=1, rng=seeded(seed)) for seed in range(6)]
    assert all(isinstance(reply, dp.NoReply) for reply in refusals)
    assert any("spearman" in reply.advice for reply in refusals)


def marks(share: float, rows: int, seed: int) -> tuple[Floats, Floats]:
    """Two columns of 0 and 1 with that share of ones, that go together as in a Gaussian copula of correlation 0.6."""
    first, second = np.random.default_rng(seed).standard_normal((2, rows))
    x, y = stats.norm.sf([first, 0.6 * first + 0.8 * second]) < share
    return x.astype(float), y.astype(float)


@pytest.mark.floors
@pytest.mark.parametrize(
    ("share", "epsilon", "is_answered"), [(0.02, 1.7, False), (0.02, 0.5, False), (0.2, 0.5, True), (0.2, 1.7, True)]
)
def test_a_pair_of_0_and_1_columns_gets_a_correlation_if_there_are_enough_ones(
    share: float, epsilon: float, is_answered: bool
) -> None:
    replies = [dp.correlation(*marks(share, 3000, seed), epsilon=epsilon, rng=seeded(seed)) for seed in range(12)]
    held = [
        reply.interval.low <= 0.37 <= reply.interval.high for reply in replies if isinstance(reply, dp.Release) and reply.interval
    ]
    if is_answered:
        assert len(held) >= 11
        assert sum(held) >= len(held) - 2
    else:
        assert len(held) <= 1  # all before, and some were off by 7,700 intervals


@pytest.mark.floors
def test_heavy_tails_that_counts_cannot_show_are_allowed_for() -> None:
    first, second = np.random.default_rng(2).standard_normal((2, 4000))
    table = np.exp(1.2 * np.column_stack([first, 0.6 * first + 0.8 * second]))
    truth = np.corrcoef(table.T)[0, 1]
    held = []
    for seed in range(25):
        x, y = table[np.random.default_rng(seed).integers(0, 4000, 3000)].T
        reply = dp.correlation(x, y, epsilon=1.7, rng=seeded(seed))
        if isinstance(reply, dp.Release) and reply.interval:
            held.append(reply.interval.low <= truth <= reply.interval.high)
    assert len(held) >= 20
    assert sum(held) >= len(held) - 2  # 17 of 25 before
