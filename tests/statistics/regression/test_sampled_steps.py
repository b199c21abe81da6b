"""A sampled attack on regressions by noisy steps, through the public interface: `make long`.

The pair of tables differs by one far outlier, and events are chosen on other samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.regression import full_steps, walk
from dpstats.statistics.regression.points import Floats
from dpstats.testing import seeded
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.twins.reach import ResidualCutScores
from tests.twins.steps import LeveragePoints

pytestmark = pytest.mark.long

EPSILON, RUNS, PILOTS = 3, 750, 200
"""As many runs as refute the twins."""
CONFIDENCE = 1 - 1e-7
"""For each of at most 206 events a test looks at: other seeds raise a false alarm in fewer than one of 40,000 tests."""
Drawn = tuple[float, ...]
Event = Callable[[Drawn], bool]
OUTLIERS = {"far out in both": (1e6, -1e6), "far out in the feature": (-1e9, 0.0), "an infinite outcome": (0.0, np.inf)}


SIZES = {"huber": 200, "steps": 700}
"""Rows with which there is an answer."""


def table(method: str) -> Floats:
    generator = np.random.default_rng(0)
    x = generator.normal(size=SIZES[method])
    return np.column_stack([x, x + generator.normal(size=SIZES[method]) / 2])


def samples(rows: Floats, seed: int, runs: int, **keywords: Any) -> list[Drawn]:
    """Slope, intercept and rows of many answers; nothing where there was none."""
    rng, drawn = seeded(seed), list[Drawn]()
    for _ in range(runs):
        outcome = dp.linear_regression(rows[:, 0], rows[:, 1], epsilon=EPSILON, rng=rng, rough=True, **keywords)
        fit = outcome.value if isinstance(outcome, dp.Release) else None
        drawn.append(() if fit is None else (float(fit.coef[0]), fit.intercept, float(fit.rows)))
    return drawn


def events(pilots: list[Drawn]) -> list[Event]:
    """That there is no answer, and that a number of it lies below or above a cut."""
    found: list[Event] = [lambda drawn: not drawn]
    answers = [drawn for drawn in pilots if drawn]
    for place in range(3):
        for cut in np.unique(np.quantile([drawn[place] for drawn in answers], np.linspace(0.02, 0.98, 17))):
            found.append(lambda drawn, place=place, cut=cut: bool(drawn) and drawn[place] <= cut)  # type: ignore[misc]
            found.append(lambda drawn, place=place, cut=cut: bool(drawn) and drawn[place] > cut)  # type: ignore[misc]
    return found


def largest_epsilon(rows: Floats, neighbour: Floats, runs: int, **keywords: Any) -> float:
    """The largest epsilon that some event shows."""
    pilots = samples(rows, 3, PILOTS, **keywords) + samples(neighbour, 4, PILOTS, **keywords)
    first, second = samples(rows, 5, runs, **keywords), samples(neighbour, 6, runs, **keywords)
    delta = float(keywords.get("delta", 0))
    return max(
        epsilon_lower_bound(one, other, event, confidence=CONFIDENCE, delta=delta).at_least
        for event in events(pilots)
        for one, other in ((first, second), (second, first))
    )


@pytest.mark.parametrize("method", SIZES)
@pytest.mark.parametrize(("outlier", "delta"), [*((outlier, 0.0) for outlier in OUTLIERS), ("far out in both", 1e-3)])
def test_no_event_shows_more_than_epsilon_when_an_outlier_comes_in(outlier: str, delta: float, method: str) -> None:
    rows, named = table(method), f"gaussian_{method}" if delta else method
    assert largest_epsilon(rows, np.vstack([rows, OUTLIERS[outlier]]), RUNS, delta=delta, method=named) <= EPSILON


def test_and_a_twin_that_forgets_the_ball_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "Points", LeveragePoints)
    rows = table("huber")
    assert largest_epsilon(rows, np.vstack([rows, OUTLIERS["far out in both"]]), RUNS, method="huber") > EPSILON


def test_and_so_is_one_that_cuts_off_residuals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_steps, "CutScores", ResidualCutScores)
    rows = table("steps")
    neighbour = np.vstack([rows, OUTLIERS["far out in both"]])
    assert largest_epsilon(rows, neighbour, RUNS, method="steps", interval=None) > EPSILON
