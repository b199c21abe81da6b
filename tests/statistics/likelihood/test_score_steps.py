"""Score steps: what one row moves behind released numbers, what is spent, and where the steps lead."""

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

import dpstats as dp
from dpstats.engines.tables.given import as_table
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood import bounded_scores, public_rows, score_steps
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, BoundedScores
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.score_steps import ScoreEstimate, ScoreWalk
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit
from dpstats.statistics.regression.walk import FitContext
from dpstats.statistics.universal.decimals import ordinal_of
from dpstats.statistics.universal.many import levels_of
from dpstats.testing import seeded
from tests.statistics.likelihood.score_rows import WITH_SCORES, Case
from tests.statistics.regression.transcripts import Noisy, ScriptedBudgetSplit, ScriptedTable, Transcript, told
from tests.twins.likelihood import RawStartWalk, UnboundedScores

EPSILON, RHO = Fraction(2), Fraction(1, 10)
ROWS = 1500
WALKED = [case for case in WITH_SCORES if str(case) != "scipy.genextreme"]
"""Scores of a law with three parameters by differences take longer, and say no more than those with two."""


def case_of(name: str) -> Case:
    return next(case for case in WALKED if str(case) == name)


def table_of(raw_rows: Floats) -> Any:
    """A table in memory, also of one column."""
    columns = [column.copy() for column in raw_rows.T]
    return as_table(columns)


def budgets() -> list[BudgetSplit]:
    return [PureBudgetSplit(EPSILON, seeded(5)), ConcentratedBudgetSplit(RHO, seeded(5))]


def walk(case: Case, raw_rows: Floats, budget: BudgetSplit, table: Any = None) -> ScoreEstimate | None:
    context = FitContext(table or table_of(raw_rows), budget, seeded(7), Progress(None))
    return ScoreWalk(case.family, context).walk(case.columns)


@pytest.fixture
def few_public_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that ask what a walk reads and spends, not where it leads."""
    monkeypatch.setattr(public_rows, "CELLS", 128)
    monkeypatch.setattr(public_rows, "_places", public_rows._places.__wrapped__)
    monkeypatch.setattr(public_rows, "SIMULATED", 1 << 12)


quick = pytest.mark.usefixtures("few_public_rows")

# Transcripts


@dataclass(frozen=True)
class Run:
    """Where a walk led, what it left, and its transcript."""

    estimate: ScoreEstimate | None
    left: Fraction
    transcript: Transcript

    def tells(self) -> object:
        """All that anybody sees of it, to the last bit."""
        return self.transcript.questions, told(self.estimate), self.left  # type: ignore[arg-type]


def run(case: Case, raw_rows: Floats, released: Sequence[Any] | None = None, walker: Any = ScoreWalk) -> Run:
    """A walk with quick noise, or with numbers that are forced upon it."""
    transcript = Transcript(released)
    budget = ScriptedBudgetSplit(PureBudgetSplit(EPSILON, seeded(5)), transcript)
    table: Any = ScriptedTable(table_of(raw_rows), transcript)
    with scripted_draws(transcript):
        estimate = walker(case.family, FitContext(table, budget, seeded(6), Progress(None))).walk(case.columns)
    return Run(estimate, budget.left, transcript)


@contextmanager
def scripted_draws(transcript: Transcript) -> Iterator[None]:
    real = score_steps.draw_quantiles

    def draw(column: Any, *public: Any) -> Any:
        return transcript.release(("quantiles", *public[:-1]), lambda: real(column, *public))

    with patch.object(score_steps, "draw_quantiles", draw):
        yield


def moves_are_small(first: Run, second: Run) -> bool:
    """Whether all raw numbers behind the same questions differ by no more than is claimed."""
    for question, raw, raw_other in zip(first.transcript.questions, first.transcript.raw, second.transcript.raw, strict=True):
        raw_moves = [after - before for before, after in zip(raw, raw_other, strict=True)]
        if isinstance(question, Noisy) and sum(moved**2 for moved in raw_moves) > question.l2_units**2:
            return False
        if isinstance(question, BoundedScores):
            *moved, counted = raw_moves
            if sum(each**2 for each in moved) > L2_UNITS**2 or abs(counted) > 1:
                return False
    return True


def rows_more(case: Case) -> list[Floats]:
    """An ordinary row, absurd ones and a missing one."""
    ugly = case.ugly_rows()
    return [case.rows(1, seed=77), *(ugly[place][None, :] for place in (0, 2, -6)), np.full((1, case.columns), np.nan)]


@quick
@pytest.mark.parametrize("case", WALKED, ids=str)
def test_one_row_moves_what_is_bought_by_no_more_than_is_claimed_and_nothing_else(case: Case) -> None:
    rows = case.rows(ROWS)
    first = run(case, rows)
    assert len(first.transcript.released) >= 5
    assert first.left == 0
    for row in rows_more(case):
        second = run(case, np.vstack([rows, row]), first.transcript.released)
        assert second.tells() == first.tells()
        assert moves_are_small(first, second)


def test_scores_without_a_ball_are_refuted_by_an_absurd_row() -> None:
    case = case_of("gamma")
    rows = case.rows(ROWS)
    with patch.object(bounded_scores, "BoundedScores", UnboundedScores):
        first = run(case, rows)
        second = run(case, np.vstack([rows, [[1e16]]]), first.transcript.released)
    assert second.tells() == first.tells()
    assert not moves_are_small(first, second)


def test_a_start_from_raw_quartiles_is_refuted() -> None:
    case = case_of("gamma")
    rows = case.rows(ROWS)
    first = run(case, rows, walker=RawStartWalk)
    second = run(case, np.vstack([rows, [[1e16]]]), first.transcript.released, walker=RawStartWalk)
    assert second.tells() != first.tells()


# What is spent


@quick
@pytest.mark.parametrize("case", WALKED, ids=str)
@pytest.mark.parametrize("kind", [0, 1])
def test_shares_add_up_to_all_there_is(case: Case, kind: int) -> None:
    if kind == 1 and case.family.name.startswith("scipy"):
        return
    budget = budgets()[kind]
    assert walk(case, case.rows(ROWS), budget) is not None
    assert budget.left == 0


def test_too_few_rows_by_their_noisy_number_get_no_reply_and_nothing_more_is_bought() -> None:
    case = case_of("gamma")
    for budget in budgets():
        scripted = ScriptedBudgetSplit(budget, Transcript(), rows=20)
        assert walk(case, case.rows(ROWS), scripted) is None
        assert scripted.left == 1 - score_steps.ROWS_SHARE
    assert all(walk(case, case.rows(2), budget) is None for budget in budgets())


def test_a_last_step_that_is_still_long_gets_no_reply() -> None:
    assert walk(case_of("normal"), case_of("normal").rows(100), AbsurdBudgetSplit(budgets()[0], -(10**40))) is None


def test_levels_of_draws_are_as_many_as_are_paid_for() -> None:
    """A tree of draws has a level for every halving of the quantiles that are left."""
    for name, shares, levels in (
        ("gamma", score_steps.QUARTILES, score_steps.LEVELS),
        ("normal_mixture(components=2)", score_steps.MANY, score_steps.MANY_LEVELS),
    ):
        case = case_of(name)
        (draw,) = (each for each in run(case, case.rows(ROWS)).transcript.questions if isinstance(each, tuple))
        assert draw[1] == shares
        assert draw[3] is Neighbors.ADD_REMOVE
        assert levels_of(shares) == levels


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_changed_row_costs_twice_as_much(delta: float) -> None:
    rows = WALKED[0].rows(3000)[:, 0]
    seen: list[Any] = []

    def nowhere(family: Any, context: FitContext) -> _Nowhere:
        seen.append(context.budget)
        return _Nowhere()

    for walker, method in (("ReachWalk", "scores"), ("ScoreWalk", "bounded_scores")):
        seen.clear()
        with patch(f"dpstats.statistics.maximum_likelihood.{walker}", nowhere):
            for neighbors in ("add_remove", "change_one"):
                how = f"gaussian_{method}" if delta else method
                dp.mle("normal", rows, epsilon=2, delta=delta, neighbors=neighbors, method=how, rng=seeded(1))
        one, two = (budget.deviation(Fraction(1), 1) for budget in seen)
        assert two == pytest.approx(2 * one)


class _Nowhere:
    """A walk that ends at once."""

    noisy_rows = 0

    def walk(self, columns: int) -> None:
        return None


# Absurd numbers

ABSURD = [(-1e300,) * 3, (0.0, 0.0, 0.0), (1e-300, 1e-300, 1e300), (1.0, 1.0, 1.0)]


class AbsurdBudgetSplit(ScriptedBudgetSplit):
    """A budget with plenty of rows at first, and then the same number for everything."""

    def __init__(self, budget: BudgetSplit, number: int) -> None:
        super().__init__(budget, Transcript(), rows=2000)
        self._number = number

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        noisy_sums, deviation = super().noisy(raw_sums, l2_units, share)
        return (noisy_sums if len(self._transcript.released) == 1 else [self._number] * len(raw_sums)), deviation


@quick
@pytest.mark.parametrize("case", WALKED, ids=str)
def test_absurd_quartiles_and_sums_end_inside_the_space_or_nowhere(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = case.rows(100)
    for place, quartiles in enumerate(ABSURD):
        ordinals = [ordinal_of(each) for each in quartiles]
        monkeypatch.setattr(
            score_steps,
            "draw_quantiles",
            lambda _, shares, *__, drawn=ordinals: {share: drawn[math.floor(share * 3)] for share in shares},
        )
        estimate = walk(case, rows, AbsurdBudgetSplit(budgets()[0], (-(10**40), 0, 10**40)[place % 3]))
        if estimate is not None:
            assert np.isfinite(estimate.theta).all()
            assert all(low <= each <= high for each, (low, high) in zip(estimate.theta, case.family.space, strict=True))


@pytest.mark.parametrize(
    ("family", "column"),
    [("multivariate_normal", np.full((3000, 2), -1e300)), ("negative_binomial", np.ones(3000)), ("normal", np.full(3000, 1e300))],
)
def test_absurd_columns_get_an_answer_or_no_reply(family: str, column: Floats) -> None:
    for seed in range(2):
        found = dp.mle(family, column, epsilon=1, rng=seeded(seed))
        assert isinstance(found, dp.NoReply) or np.isfinite(found.value.params).all()


# Where steps lead


@pytest.mark.parametrize(
    ("name", "theta"), [("gamma", (2.0, 3.0)), ("normal", (5.0, 2.0)), ("poisson", (4.0,)), ("weibull", (1.5, 2.0))]
)
def test_estimates_are_close_and_their_errors_are_those_that_are_told(name: str, theta: tuple[float, ...]) -> None:
    case, generator = case_of(name), np.random.default_rng(3)
    coordinates, offs = Coordinates(case.family.space), list[float]()
    best = np.sqrt(np.diag(np.linalg.inv(case.family.information(np.array(theta)) * 3000)))
    for seed in range(4):
        rows = case.family.sample(np.array(theta), 3000, generator)
        estimate = walk(case, rows, PureBudgetSplit(EPSILON, seeded(seed)))
        assert estimate is not None
        assert np.abs(estimate.theta - theta).max() < 5 * best.max()
        assert estimate.noisy_rows == pytest.approx(3000, rel=0.15)
        errors = np.sqrt(np.diag(estimate.covariance))
        offs.extend((coordinates.free(estimate.theta) - coordinates.free(np.array(theta))) / errors)
    assert 0.4 < np.sqrt(np.mean(np.square(offs))) < 1.8
