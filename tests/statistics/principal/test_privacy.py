"""The statistic asks the same questions of neighbouring tables if the same numbers are forced on both, and moves are small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpstats.statistics.principal_components as statistic
from dpstats.foundations.registry import Answer, Question, ask
from dpstats.statistics.frame import frame
from dpstats.statistics.frame.sided_distances import SidedDistances
from dpstats.statistics.principal.moments import HeldMoments, PointSizes
from dpstats.statistics.regression import octaves
from dpstats.statistics.regression.points import Floats
from dpstats.testing import seeded
from tests.statistics.principal.moments_of_rows import allows
from tests.statistics.regression.transcripts import Noisy, ScriptedBudgetSplit, ScriptedTable, Transcript, table_of
from tests.twins.principal import MomentsClippedAfterwards


def question_of(method: str) -> Question:
    delta = 0 if method == "laplace_moments" else 1e-6
    return ask("pca", epsilon=2, delta=delta, method=method, column=["a", "b", "c"])


def run(raw_rows: Floats, method: str, released: Sequence[Any] = ()) -> tuple[Transcript, Any]:
    """The outcome, and all that was asked and released on the way."""
    transcript, question = Transcript(released), question_of(method)
    real = statistic.budget_split_for
    table: Any = ScriptedTable(table_of(raw_rows), transcript)
    with _scripted(transcript):
        scripted = patch.object(statistic, "budget_split_for", lambda *given: ScriptedBudgetSplit(real(*given), transcript))
        with scripted:
            outcome = question.run(table, seeded(6))
    return transcript, outcome.value.to_dict() if isinstance(outcome, Answer) else outcome


@contextmanager
def _scripted(transcript: Transcript) -> Iterator[None]:
    real_draw, real_quantile, real_laplace = octaves.draw_piece, frame.draw_quantile, statistic._with_laplace

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip, pieces[0].start, pieces[-1].start + pieces[-1].length)
        return pieces[0], transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    def with_laplace(raw_sums: Sequence[int], sensitivity: int, epsilon: Fraction, rng: Any) -> Any:
        return transcript.release(
            (len(raw_sums), sensitivity, epsilon), lambda: real_laplace(raw_sums, sensitivity, epsilon, rng), raw_sums
        )

    with (
        patch.object(octaves, "draw_piece", draw_piece),
        patch.object(frame, "draw_quantile", draw_quantile),
        patch.object(statistic, "_with_laplace", with_laplace),
    ):
        yield


def moves_are_small(first: Transcript, second: Transcript) -> bool:
    """Whether what lies behind two runs differs by no more than is claimed."""
    for question, raw, raw_other in zip(first.questions, first.raw, second.raw, strict=True):
        raw_move = [after - before for before, after in zip(raw, raw_other, strict=True)]
        if isinstance(question, Noisy) and sum(moved**2 for moved in raw_move) > question.l2_units**2:
            return False
        if isinstance(question, SidedDistances):
            columns = np.array(raw_move).reshape(len(question.middles), -1)
            if max(np.abs(columns).sum(axis=1)) > 1:
                return False
        if isinstance(question, PointSizes) and sum(map(abs, raw_move)) > 1:
            return False
        if isinstance(question, HeldMoments) and not allows(question, raw_move):
            return False
    return True


def rows() -> Floats:
    generator = np.random.default_rng(5)
    first = generator.normal(size=3000)
    return np.column_stack([first, first + 0.5 * generator.normal(size=3000), generator.normal(size=3000)])


@pytest.mark.parametrize("method", ["laplace_moments", "gaussian_moments"])
@pytest.mark.parametrize("raw_row", [[0.1, 0.2, -0.3], [1e300, -1e300, 0.0], [np.inf, 1.0, -np.inf], [5.0, 5.0, 5.0]])
def test_a_row_more_asks_the_same_and_moves_no_more_than_is_said(method: str, raw_row: list[float]) -> None:
    first, told = run(rows(), method)
    second, again = run(np.vstack([rows(), [raw_row]]), method, first.released)
    assert second.questions == first.questions
    assert again == told
    assert moves_are_small(first, second)
    assert isinstance(told, dict)


@pytest.mark.parametrize("method", ["laplace_moments", "gaussian_moments"])
def test_moments_that_are_clipped_after_summing_are_refuted(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistic, "HeldMoments", MomentsClippedAfterwards)
    first, _ = run(rows(), method)
    second, _ = run(np.vstack([rows(), [[1e300, -1e300, 0.0]]]), method, first.released)
    assert not moves_are_small(first, second)


@pytest.mark.parametrize("method", ["laplace_moments", "gaussian_moments"])
def test_a_budget_is_spent_and_no_more(method: str) -> None:
    transcript, _ = run(rows(), method)
    shares = [question.share for question in transcript.questions if isinstance(question, Noisy)]
    assert 0 < sum(shares) <= 1
