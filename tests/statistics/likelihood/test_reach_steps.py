"""Reach steps: what one row moves behind released numbers, what is spent, and that they lead to maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood import public_rows, reach_steps, score_steps
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, Stand
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.families import Options, family_for
from dpstats.statistics.likelihood.reach_steps import ReachWalk, is_exponential, solve_scores
from dpstats.statistics.likelihood.score_sums import LengthCells, ScoreProducts, ScoreSlopes, matrix_of_triangle, slopes_at
from dpstats.statistics.likelihood.score_tails import ScoreTail
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit
from dpstats.statistics.regression.octaves import CELLS
from dpstats.statistics.regression.walk import FitContext
from dpstats.testing import seeded
from tests.statistics.likelihood.score_rows import WITH_SCORES, Case, engine_sheet
from tests.statistics.likelihood.test_score_steps import Run, case_of, moves_are_small, rows_more, table_of
from tests.statistics.regression.transcripts import ScriptedBudgetSplit, ScriptedTable, Transcript
from tests.twins.likelihood import RawReachWalk, UncutSlopes

EPSILON, RHO = Fraction(2), Fraction(1, 10)
ROWS = 1500
WALKED = [case for case in WITH_SCORES if str(case) != "scipy.genextreme"]


@pytest.fixture
def few_public_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that ask what a walk reads and spends, not where it leads."""
    monkeypatch.setattr(public_rows, "CELLS", 128)
    monkeypatch.setattr(public_rows, "_places", public_rows._places.__wrapped__)
    monkeypatch.setattr(public_rows, "SIMULATED", 1 << 12)


quick = pytest.mark.usefixtures("few_public_rows")


@contextmanager
def scripted_draws(transcript: Transcript) -> Iterator[None]:
    quantiles, magnitude = score_steps.draw_quantiles, reach_steps.draw_magnitude

    def draw_quantiles(column: Any, *public: Any) -> Any:
        return transcript.release(("quantiles", *public[:-1]), lambda: quantiles(column, *public))

    def draw_magnitude(raw_counts: Sequence[int], epsilon: Fraction, rng: Any, **public: Any) -> Any:
        return transcript.release(("magnitude", epsilon, public), lambda: magnitude(raw_counts, epsilon, rng, **public))

    with (
        patch.object(score_steps, "draw_quantiles", draw_quantiles),
        patch.object(reach_steps, "draw_magnitude", draw_magnitude),
    ):
        yield


def run(case: Case, raw_rows: Floats, released: Sequence[Any] | None = None, walker: Any = ReachWalk) -> Run:
    """A walk with quick noise, or with numbers that are forced upon it."""
    transcript = Transcript(released)
    budget = ScriptedBudgetSplit(PureBudgetSplit(EPSILON, seeded(5)), transcript)
    table: Any = ScriptedTable(table_of(raw_rows), transcript)
    with scripted_draws(transcript):
        estimate = walker(case.family, FitContext(table, budget, seeded(6), Progress(None))).walk(case.columns)
    return Run(estimate, budget.left, transcript)


def sums_move_little(first: Run, second: Run) -> bool:
    """Whether a row moved no more than is claimed, in noisy sums and in what they are made of."""
    for question, raw, raw_other in zip(first.transcript.questions, first.transcript.raw, second.transcript.raw, strict=True):
        moves = [after - before for before, after in zip(raw, raw_other, strict=True)]
        if isinstance(question, (ScoreSlopes, ScoreProducts)) and sum(moved**2 for moved in moves) > L2_UNITS**2:
            return False
        if isinstance(question, LengthCells) and any(
            sorted(set(moves[begin : begin + CELLS])) not in ([0], [0, 1]) or sum(moves[begin : begin + CELLS]) > 1
            for begin in range(0, len(moves), CELLS)
        ):
            return False
    return moves_are_small(first, second)


@quick
@pytest.mark.parametrize("case", WALKED, ids=str)
def test_one_row_moves_what_is_bought_by_no_more_than_is_claimed_and_nothing_else(case: Case) -> None:
    rows = case.rows(ROWS)
    first = run(case, rows)
    assert len(first.transcript.released) >= 7
    assert first.left == 0
    for row in rows_more(case):
        second = run(case, np.vstack([rows, row]), first.transcript.released)
        assert second.tells() == first.tells()
        assert sums_move_little(first, second)


def test_a_reach_from_raw_lengths_is_refuted() -> None:
    case = case_of("gamma")
    rows = case.rows(ROWS)
    first = run(case, rows, walker=RawReachWalk)
    second = run(case, np.vstack([rows, np.full((40, 1), 1e16)]), first.transcript.released, walker=RawReachWalk)
    honest = run(case, rows)
    assert second.tells() != first.tells()
    assert run(case, np.vstack([rows, np.full((40, 1), 1e16)]), honest.transcript.released).tells() == honest.tells()


def test_slopes_that_are_not_cut_off_are_refuted_by_an_absurd_row() -> None:
    case = case_of("weibull")
    rows = case.rows(ROWS)
    with patch.object(reach_steps, "slopes_at", lambda stand: UncutSlopes(slopes_at(stand).sides)):
        first = run(case, rows)
        second = run(case, np.vstack([rows, [[1e6]]]), first.transcript.released)
    assert second.tells() == first.tells()
    assert not sums_move_little(first, second)


@quick
@pytest.mark.parametrize("case", WALKED, ids=str)
@pytest.mark.parametrize("kind", [0, 1])
def test_shares_add_up_to_all_there_is(case: Case, kind: int) -> None:
    if kind == 1 and case.family.name.startswith("scipy"):
        return
    budgets: list[BudgetSplit] = [PureBudgetSplit(EPSILON, seeded(5)), ConcentratedBudgetSplit(RHO, seeded(5))]
    budget = budgets[kind]
    ReachWalk(case.family, FitContext(table_of(case.rows(ROWS)), budget, seeded(7), Progress(None))).walk(case.columns)
    assert budget.left == 0


# Sums of single rows


def row_sums_of(case: Case, theta: Floats) -> list[Any]:
    stand = Stand(case.family, Coordinates(case.family.space), theta)
    slopes = slopes_at(stand)
    return [ScoreProducts(stand.scores(2.0)), ScoreSlopes(slopes.sides, 3.0), LengthCells(stand.scores(math.inf), slopes)]


@pytest.mark.parametrize("case", WITH_SCORES, ids=str)
def test_a_row_stays_in_the_ball_and_is_by_itself(case: Case) -> None:
    rows = np.vstack([case.ugly_rows()[::2], case.rows(6)])
    for row_sum in row_sums_of(case, case.theta * 1.03):
        parts = [row_sum(engine_sheet(rows[place : place + 1])) for place in range(len(rows))]
        limit = 2 if isinstance(row_sum, LengthCells) else L2_UNITS**2
        assert all(sum(int(each) ** 2 for each in one) <= limit for one in parts)
        for order in (rows, rows[::-1]):
            assert row_sum(engine_sheet(order)).tolist() == np.sum(parts, axis=0).tolist()


@pytest.mark.parametrize("name", ["weibull", "negative_binomial", "gamma", "scipy.gumbel_r"])
def test_slopes_of_rows_of_the_family_are_about_those_expected(name: str) -> None:
    case = case_of(name)
    stand = Stand(case.family, Coordinates(case.family.space), case.theta)
    mean = slopes_at(stand).triangles(case.rows(20_000)).mean(axis=0)
    assert matrix_of_triangle(mean, len(case.theta)) == pytest.approx(np.eye(len(case.theta)), abs=0.1)


# Where steps lead

EXPONENTIAL = [case for case in WITH_SCORES if is_exponential(case.family)]


@pytest.mark.parametrize("case", EXPONENTIAL, ids=str)
def test_the_mean_score_anywhere_tells_the_estimate_of_an_exponential_family(case: Case) -> None:
    rows = case.rows(4000)
    family: Any = case.family
    best = family.solve(family.statistics(rows).mean(axis=0))
    coordinates = Coordinates(family.space)
    away = coordinates.held(coordinates.free(best) + 0.2)
    stand = Stand(family, coordinates, away)
    solved = solve_scores(family, stand, stand.scores(math.inf).turned(rows).mean(axis=0))
    assert solved is not None
    assert solved[0].theta == pytest.approx(best, rel=1e-4, abs=1e-4)


def heavy_rows() -> Floats:
    """Lengths of stay: whole numbers with a tail that no usual family has."""
    chance = np.random.default_rng(17)
    return np.ceil(np.where(chance.random(60_000) < 0.97, chance.gamma(1.7, 5.0, 60_000), chance.gamma(2.0, 25.0, 60_000)))


@pytest.mark.parametrize(
    ("family", "epsilon", "times"),
    [("weibull", 4, 10), ("negative_binomial", 4, 4), ("gamma", 2, 10), ("normal", 6, 10), ("poisson", 2, 10)],
)
def test_intervals_hold_maximum_likelihood_of_a_population_that_the_family_does_not_fit(
    family: str, epsilon: float, times: int
) -> None:
    population = heavy_rows()
    blocks = RowBlocks(population[:, None], np.zeros(len(population), dtype=np.int64), 1)
    whole = family_for(family, Options(1)).fit_blocks(blocks)[0]
    chance, held, replies = np.random.default_rng(3), np.zeros(len(whole)), 0
    for seed in range(times):
        release = dp.mle(family, chance.choice(population, 3000), epsilon=epsilon, rng=seeded(seed))
        if not isinstance(release, dp.NoReply):
            replies += 1
            held += [each.low <= value <= each.high for each, value in zip(release.intervals, whole, strict=True)]
    assert replies >= 0.8 * times
    assert (held >= 0.8 * replies).all()


def test_the_fit_of_the_bulk_is_elsewhere_and_says_so() -> None:
    rows = heavy_rows()[:6000]
    population, bulk = (dp.mle("normal", rows, epsilon=6, method=way, rng=seeded(1)) for way in ("auto", "bounded_scores"))
    assert population.value.std > 1.15 * bulk.value.std
    assert "whether or not the family fits" in population.summary()
    assert "bulk of the rows" in bulk.summary()
    assert dict(population.notes)["parameters"] == population.value.estimates


@pytest.mark.floors
def test_few_rows_for_their_epsilon_get_no_reply_or_a_rough_one() -> None:
    rows = np.random.default_rng(2).gamma(2, 3, 1000)
    refused = dp.mle("gamma", rows, epsilon=1, rng=seeded(1))
    assert isinstance(refused, dp.NoReply)
    assert "rough=True" in refused.advice
    assert refused.cost.epsilon == 1
    assert dp.mle("gamma", rows, epsilon=1, rough=True, rng=seeded(1)).rough
    assert not dp.mle("gamma", rows, epsilon=1.8, rng=seeded(1)).rough
    assert not dp.mle("gamma", rows, epsilon=4, rng=seeded(1)).rough


# Tails


def test_a_tail_loses_less_further_out_and_is_cut_where_noise_is_bearable() -> None:
    for seen in (1.3, 2.0, 4.0):
        tail = ScoreTail(10_000, 2.0, 500, 2.0 * seen, 100)
        ends = [tail.reach * 2**place for place in range(6)]
        lost, squares = [tail.lost(end) for end in ends], [tail.square(end) for end in ends]
        assert lost == sorted(lost, reverse=True)
        assert squares == sorted(squares)
        cuts = [tail.cut(noise, 2, tail.bearable) for noise in (1e-6, 1e-4, 1e-3, 1.0)]
        assert cuts == sorted(cuts, reverse=True)
        assert cuts[-1] == tail.reach


def test_lengths_that_say_little_make_a_tail_all_the_same() -> None:
    for near, reach in ((1.0, 1.0), (1e-100, 1e-99), (1e90, 1e91)):
        tail = ScoreTail(2000, near, 1000, reach, 200)
        assert math.isfinite(tail.lost(reach))
        assert math.isfinite(tail.square(reach))
        assert tail.cut(1e-3, 2, 0.5) >= reach


def test_where_only_a_near_reach_is_known_noise_may_be_larger() -> None:
    near, far = (ScoreTail(1500, 1.4, 5 * beyond, 3.0, beyond) for beyond in (90.0, 10.0))
    assert far.bearable_unseen < near.bearable_unseen < 1
    noise = 0.5 / math.sqrt(1500) / 3.0
    assert near.cut(noise, 2, 0.1) > near.reach
    assert far.cut(noise, 2, 0.1) == far.reach


@pytest.mark.parametrize("far", [2.0**390, 1e20])
def test_a_length_drawn_where_no_row_is_makes_no_error_and_no_absurd_answer(far: float) -> None:
    """One draw in a few hundred, where rows are few, lands far beyond all rows."""
    rows, draws = case_of("gamma").rows(3000), iter([far])
    draw = reach_steps.draw_magnitude

    def astray(*args: Any, **public: Any) -> float:
        drawn = draw(*args, **public)
        return drawn if public["likely"] < 4 else next(draws, drawn)

    with patch.object(reach_steps, "draw_magnitude", astray):
        release = dp.mle("gamma", rows, epsilon=1, rng=seeded(4))
    assert next(draws, None) is None
    assert 0.5 < release.value.shape / case_of("gamma").theta[0] < 2


def test_lengths_that_are_all_absurd_make_no_error() -> None:
    with patch.object(reach_steps, "draw_magnitude", lambda *args, **public: 2.0**399):
        for name in ("gamma", "weibull"):
            dp.mle(name, case_of(name).rows(3000), epsilon=2, rough=True, rng=seeded(4))
