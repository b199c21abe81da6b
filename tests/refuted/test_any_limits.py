"""Whatever limits and quantiles are drawn, the statistics that are read off them answer, with a finite value."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.results import Release
from dpstats.statistics import correlations, means, winsorized
from dpstats.statistics.clipped.clips import FINEST, LARGEST, clip_between
from dpstats.statistics.clipped.margins import Frame
from dpstats.statistics.testing import group_cuts
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, fraction_of, ordinal_of
from dpstats.statistics.universal.limits import EMPTY, Limits, Side
from dpstats.statistics.universal.order import Place
from dpstats.testing import seeded

ROWS = np.array([np.inf, -np.inf, 1e300, -1e300, 0.0, 1.0, 5e-324, np.nan] * 5)
BY = np.array(["a", "b"] * 20)
ORDINALS = [
    *(sign * ordinal for sign in (-1, 1) for ordinal in (HIGHEST_ORDINAL, HIGHEST_ORDINAL - 1, 1, 2)),
    *(ordinal_of(value) for value in (0.0, 1.0, -3.5, 1e150, -1e150, 1e-150, 6e307, -6e307)),
]
"""The ends of the line of all decimals, and places between them."""
WORDS: dict[str, dict[str, Any]] = {
    "mean": {},
    "sum": {},
    "variance": {},
    "std": {},
    "t_test": {},
    "two_sample_t_test": {"groups": ["a", "b"]},
    "covariance": {},
    "correlation": {"method": "cells"},
    "winsorized_mean": {},
    "trimmed_mean": {},
}
COLUMNS = {"two_sample_t_test": (ROWS, BY), "covariance": (ROWS, -ROWS), "correlation": (ROWS, -ROWS)}
QUANTILES = ("winsorized_mean", "trimmed_mean")
TIMES = 50


def any_side(chooser: random.Random, middle: int, upward: bool) -> Side:
    """Rows on one side of the middle: none, or a scale and a reach that may lie anywhere on that side."""
    beyond = sorted(each for each in ORDINALS if (each > middle if upward else each < middle))
    if not beyond or chooser.random() < 0.15:
        return EMPTY
    scale, reach = (abs(fraction_of(chooser.choice(beyond)) - fraction_of(middle)) for _ in range(2))
    return Side(chooser.choice([1, 6, 10**4, 10**9]), scale, reach, Fraction(chooser.choice([1, 50, 10**4]), 3))


def any_limits(chooser: random.Random, epsilon: Fraction) -> Limits:
    middle = chooser.choice(ORDINALS)
    sides = [any_side(chooser, middle, upward) for upward in (False, True)]
    return Limits(fraction_of(middle), sides[0], sides[1], chooser.choice([1, 10**6]), epsilon / 2)


def any_place(chooser: random.Random, middle: Place, upward: bool) -> int:
    """A decimal on one side of the middle, or at it."""
    beyond = [each for each in ORDINALS if (each >= middle.ordinal if upward else each <= middle.ordinal)]
    return chooser.choice([*beyond, middle.ordinal])


@pytest.fixture
def any_draws(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """What is drawn privately lies anywhere, by the chooser that comes back."""
    chooser = random.Random(4)
    monkeypatch.setattr(correlations, "draw_limits", lambda _column, epsilon, _rng: any_limits(chooser, epsilon))
    monkeypatch.setattr(group_cuts, "draw_limits", lambda _column, epsilon, _rng, **_: any_limits(chooser, epsilon))
    monkeypatch.setattr(means, "limits_around", lambda _middle, epsilon, _spent, **_: any_limits(chooser, epsilon))
    monkeypatch.setattr(
        winsorized,
        "draw_share",
        lambda order, part, share, epsilon: Place(0, chooser.choice(ORDINALS), 0),
    )
    monkeypatch.setattr(winsorized, "draw_scales", lambda *drawn: [Fraction(1), Fraction(1)])
    monkeypatch.setattr(
        winsorized, "_draw_beyond", lambda order, middle, *others: [any_place(chooser, middle, up) for up in (False, True)]
    )
    return chooser


@pytest.mark.parametrize("name", WORDS)
def test_a_statistic_answers_whatever_limits_are_drawn(name: str, any_draws: random.Random) -> None:
    for seed in range(TIMES):
        columns, epsilon = COLUMNS.get(name, (ROWS,)), any_draws.choice([0.01, 1, 50])
        reply = getattr(dp, name)(*columns, **WORDS[name], epsilon=epsilon, rough=True, rng=seeded(seed))
        assert isinstance(reply, Release)
        if isinstance(reply.value, float):
            assert math.isfinite(reply.value)
        for interval in (*([reply.interval] if reply.interval else []), *reply.intervals):
            assert interval.low <= interval.high


@pytest.mark.parametrize(
    ("low", "high"),
    [(-LARGEST, LARGEST), (LARGEST - 1, LARGEST), (-LARGEST, -LARGEST / 2), (-FINEST, FINEST), (Fraction(0), 3 * FINEST)],
)
def test_a_frame_of_any_clip_is_made_of_finite_numbers(low: Fraction, high: Fraction) -> None:
    clip = clip_between(low, high)
    assert clip is not None
    frame = Frame.of(clip)
    assert math.isfinite(frame.centre)
    assert 0 < frame.radius < math.inf
