"""Pearson's correlation by scores: what a row adds, what a run releases, and how near it comes on tables that are not normal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

import dpstats as dp
from dpstats.statistics.paired import scores
from dpstats.statistics.paired.scores import UNITS, PairDistances, PairScores, PairUnits, PointMoments, ScoreSizes, ScoreSums
from dpstats.statistics.regression import octaves
from dpstats.statistics.regression.budget_split import PureBudgetSplit
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Noisy, ScriptedBudgetSplit, ScriptedTable, Transcript, table_of
from tests.twins.scores import ScoresOfCutColumns, UnboundedMoments

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
        sums = ScoreSums(chosen, float(generator.choice([2.0**-400, 0.5, 3.0, 1e9])))
        assert all(np.abs(sums(row[None])).max() <= UNITS for row in rows)
        for counts, cells in ((ScoreSizes(chosen), 1), (PairDistances(chosen.units.middles), 2)):
            assert all(counts(row[None]).sum() <= cells for row in rows)
        for each in (moments, sums, ScoreSizes(chosen), PairDistances(chosen.units.middles)):
            assert (each(rows[:17]) + each(rows[17:])).tolist() == each(rows[::-1]).tolist()


def test_moments_without_a_ball_and_scores_of_cut_columns_are_refuted() -> None:
    units, corner = PairUnits((0.0, 0.0), (1.0, 1.0)), np.array([[9.0, -9.0]])
    assert longest(UnboundedMoments(units, 2.0), corner) > UnboundedMoments(units, 2.0).l2_units
    assert longest(PointMoments(units, 2.0), corner) <= PointMoments(units, 2.0).l2_units
    assert abs(ScoresOfCutColumns(PairScores(units, 0.5), 3.0)(corner)[0]) > UNITS


@contextmanager
def scripted_draws(transcript: Transcript) -> Iterator[None]:
    real_draw, real_quantile = octaves.draw_piece, scores.draw_quantile

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip, pieces[0].start, pieces[-1].start + pieces[-1].length)
        return pieces[0], transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    with patch.object(octaves, "draw_piece", draw_piece), patch.object(scores, "draw_quantile", draw_quantile):
        yield


def walk(rows: Floats, epsilon: Fraction, released: Sequence[Any] | None = None, noisy_rows: int | None = None) -> Any:
    transcript = Transcript(released)
    budget = ScriptedBudgetSplit(PureBudgetSplit(epsilon, seeded(5)), transcript, noisy_rows)
    table: Any = ScriptedTable(table_of(rows), transcript)
    with scripted_draws(transcript):
        walking = scores.CorrelationWalk(table, budget, seeded(6))
        found = walking.arrive() if walking.has_enough_rows else None
    return found, budget.left, transcript


PAIRS = {
    "a far outlier": (1e12, -1e9),
    "infinities": (math.inf, -math.inf),
    "one like the others": (0.3, 1.2),
    "far in one column": (0.0, 1e308),
}


@pytest.mark.parametrize("added", PAIRS)
@pytest.mark.parametrize("shape", ["normal", "marks", "ugly", "alike"])
def test_all_but_the_released_numbers_is_the_same_for_a_neighbour(added: str, shape: str) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(500, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    if shape == "marks":
        rows = np.column_stack([rows[:, 0] > 0.5, np.floor(np.exp(rows[:, 1]))]).astype(float)
    elif shape == "ugly":
        rows = ugly_rows(generator, 500, 2)
    elif shape == "alike":
        rows = np.ones((500, 2))
    found, left, transcript = walk(rows, Fraction(4))
    again, left_again, second = walk(np.vstack([rows, PAIRS[added]]), Fraction(4), transcript.released)
    assert (repr(again), left_again, second.questions) == (repr(found), left, transcript.questions)
    for question, raw, raw_other in zip(transcript.questions, transcript.raw, second.raw, strict=True):
        if isinstance(question, Noisy):
            assert sum((after - before) ** 2 for before, after in zip(raw, raw_other, strict=True)) <= question.l2_units**2


@pytest.mark.parametrize("noisy_rows", [1, 90, 800, 2000, 10**6])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
def test_no_run_spends_more_than_there_is(noisy_rows: int, epsilon: Fraction) -> None:
    rows = ugly_rows(np.random.default_rng(4), 300, 2)
    found, left, _ = walk(rows, epsilon, noisy_rows=noisy_rows)
    assert 0 <= left < 1
    assert found is None or left == 0


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


@pytest.mark.parametrize(("under", "seldom"), [(scores.REACH_UNDER, True), (Fraction(1, 2), False)], ids=["as drawn", "evenly"])
def test_a_column_seldom_seems_not_to_vary_because_its_reach_was_drawn_where_no_row_is(under: Fraction, seldom: bool) -> None:
    epsilon, rows = scores.COLUMN_REACH, 2000
    beyond = Fraction(scores.COLUMN_NATS) / epsilon
    over, _ = octaves.rank_slopes(1 - beyond / rows, epsilon, under)
    assert (scores.WINDOW * math.exp(-over * beyond) < 1 / 2000) == seldom  # all cells without rows against the right one
