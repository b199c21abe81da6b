"""Features by noisy correlations: what a run releases, what it spends, and what it finds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

import dpstats as dp
from dpstats.statistics.regression import octaves
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit
from dpstats.statistics.selection import noisy_correlations
from dpstats.statistics.selection.lasso_sets import EXTRA_OF_NOISY, Correlations, _gains, noisy_set_of
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Noisy, ScriptedBudgetSplit, ScriptedTable, Transcript, table_of
from tests.twins.steps import LeveragePoints

Floats = NDArray[np.float64]


def counts_of_visits(rows: int, seed: int) -> tuple[Floats, Floats]:
    """Seven skewed features, of which the first two matter much and the third a little, and an outcome of counts."""
    generator = np.random.default_rng(seed)
    x = np.floor(generator.gamma(1.0, 1.5, (rows, 7)))
    mean = np.exp(1 + 0.12 * x[:, 0] + 0.12 * x[:, 1] + 0.07 * x[:, 2])
    return x, generator.negative_binomial(1.5, 1.5 / (1.5 + mean)).astype(float)


@contextmanager
def scripted_draws(transcript: Transcript) -> Iterator[None]:
    real_draw, real_quantile = octaves.draw_piece, noisy_correlations.draw_quantile

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip, pieces[0].start, pieces[-1].start + pieces[-1].length)
        return pieces[0], transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    with patch.object(octaves, "draw_piece", draw_piece), patch.object(noisy_correlations, "draw_quantile", draw_quantile):
        yield


def released(rows: Floats, budget: BudgetSplit, forced: Sequence[Any] | None = None, counted: int | None = None) -> Any:
    transcript = Transcript(forced)
    scripted = ScriptedBudgetSplit(budget, transcript, counted)
    table: Any = ScriptedTable(table_of(rows), transcript)
    with scripted_draws(transcript):
        noisy_rows = noisy_correlations.noisy_row_count(table, scripted)
        found = noisy_correlations.noisy_correlations(table, rows.shape[1], noisy_rows, scripted, seeded(2))
    told = None
    if found is not None:
        told = found.noise, found.known.rows, *(each.tobytes() for each in (found.known.among, found.known.outcome))
    return told, scripted.left, transcript


def moves_are_small(first: Transcript, second: Transcript) -> bool:
    for question, raw, raw_other in zip(first.questions, first.raw, second.raw, strict=True):
        moved = sum((after - before) ** 2 for before, after in zip(raw, raw_other, strict=True))
        if isinstance(question, Noisy) and moved > question.l2_units**2:
            return False
    return True


@pytest.mark.parametrize("row", [[1e12, -1e9, 1e300], [math.inf, -math.inf, math.inf], [0.0, 1.0, 2.0]])
@pytest.mark.parametrize("shape", ["normal", "ugly"])
def test_all_but_the_released_numbers_is_the_same_for_a_neighbour(shape: str, row: list[float]) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(700, 3)) if shape == "normal" else ugly_rows(generator, 700, 3)
    for budget in (lambda: PureBudgetSplit(Fraction(4), seeded(5)), lambda: ConcentratedBudgetSplit(Fraction(1), seeded(5))):
        told, left, transcript = released(rows, budget())
        again, left_again, second = released(np.vstack([rows, row]), budget(), transcript.released)
        assert (again, left_again, second.questions) == (told, left, transcript.questions)
        assert moves_are_small(transcript, second)


def test_points_without_a_ball_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).normal(size=(700, 3))
    monkeypatch.setattr(noisy_correlations, "Points", LeveragePoints)
    _, _, transcript = released(rows, PureBudgetSplit(Fraction(4), seeded(5)))
    _, _, second = released(np.vstack([rows, [1e6, -1e6, 1e6]]), PureBudgetSplit(Fraction(4), seeded(5)), transcript.released)
    assert not moves_are_small(transcript, second)


@pytest.mark.parametrize("noisy_rows", [1, 90, 2000, 10**6])
@pytest.mark.parametrize("columns", [2, 8, 40])
def test_no_run_spends_more_than_there_is(noisy_rows: int, columns: int) -> None:
    told, left, _ = released(
        ugly_rows(np.random.default_rng(4), 60, columns), PureBudgetSplit(Fraction(2), seeded(5)), None, noisy_rows
    )
    assert left == 0 or told is None
    assert 0 <= left < 1


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_table_on_which_blocks_did_not_agree_gets_a_reply(delta: float) -> None:
    found = []
    for seed in range(6):
        release = dp.select_features(*counts_of_visits(4400, seed), epsilon=2, delta=delta, rng=seeded(seed))
        assert isinstance(release, dp.Release)
        found.append(set(release.value.indices))
    assert sum({0, 1} <= each for each in found) >= 5
    assert sum(bool(each - {0, 1, 2}) for each in found) <= 2


def alike(features: int, correlation: float, noise: float, chance: np.random.Generator) -> Correlations:
    """Correlations of features that are all correlated alike, of which the first three count, with symmetric noise."""
    among = np.full((features, features), correlation) + (1 - correlation) * np.eye(features)
    slopes = np.array([0.5, 0.75, 1.0] + [0.0] * (features - 3))
    outcome = among @ slopes / math.sqrt(slopes @ among @ slopes + 1)
    drawn = chance.normal(size=(features + 1, features + 1))
    drawn = noise * (drawn + drawn.T) / math.sqrt(2)
    loads = np.full(features + 1, math.sqrt(noise))
    return Correlations(10**6, among + drawn[:-1, :-1], outcome + drawn[:-1, -1], np.arange(features), loads)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_the_noise_of_a_gain_is_what_it_is_taken_for(correlation: float) -> None:
    chance, noise, chosen = np.random.default_rng(1), 0.002, (0, 1, 2)
    squares = [_gains(alike(6, correlation, noise, chance), chosen)[0][3:] for _ in range(400)]
    assert np.mean(squares) == pytest.approx(1, abs=0.12)  # about three deviations of a mean of 1,200 squares of normal numbers


def test_noise_alone_makes_no_feature_significant() -> None:
    chance = np.random.default_rng(2)
    known = [alike(20, 0.5, 0.012, chance) for _ in range(40)]
    assert [noisy_set_of(each, 20, None, EXTRA_OF_NOISY) for each in known].count((0, 1, 2)) >= 39
    twins = [replace(each, noise=0.8 * each.noise) for each in known]  # as if features were not correlated with each other
    assert [noisy_set_of(each, 20, None, EXTRA_OF_NOISY) for each in twins].count((0, 1, 2)) < 39


def test_with_few_rows_there_is_no_reply_at_the_same_cost() -> None:
    reply = dp.select_features(*counts_of_visits(60, 1), epsilon=1, rng=seeded(1))
    assert isinstance(reply, dp.NoReply)
    assert reply.cost.epsilon == 1


def test_more_features_than_points_can_have_are_left_to_blocks() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(4000, 45))
    release = dp.select_features(x, 3 * x[:, 7] + generator.normal(size=4000), epsilon=4, rng=seeded(1))
    assert release.value.indices == (7,)
    assert "blocks" in dict(release.notes)
