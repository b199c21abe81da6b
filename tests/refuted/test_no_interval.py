"""An interval is released where one is asked for, at the level that is asked for, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.statistics import means, winsorized
from dpstats.statistics.clipped.cells import release_cells
from dpstats.testing import seeded
from tests.refuted.every_method import Asked, every_method

ASKED = list(every_method())
LEVEL = 0.8
CHANCE = np.random.default_rng(1)
ROWS = 3000
X = CHANCE.gamma(3, 1, ROWS).round(1)
TABLE = {
    "x": X,
    "y": (0.5 * X + CHANCE.normal(0, 1, ROWS)).round(1),
    "l": CHANCE.choice(["a", "b"], ROWS, p=[0.3, 0.7]),
    "m": CHANCE.choice(["a", "b"], ROWS),
    "g": CHANCE.choice(["one", "two"], ROWS),
}
FRAME = pl.DataFrame(TABLE)
MAY_REFUSE = {"stable", "dwork-lei", "counts"}
"""Methods that need more rows than these, or other ones."""


def protected() -> Any:
    return dp.protect(FRAME, unit="row", budget=dp.Budget(epsilon=10_000, delta=0.4), ledger=":memory:", allow_seeded=True)


def intervals_of(reply: Release | NoReply) -> list[Interval]:
    """All intervals that a release has, on its card or in its value."""
    if isinstance(reply, NoReply):
        return []
    return [*([] if reply.interval is None else [reply.interval]), *reply.intervals]


def replies_of(asked: Asked, **words: Any) -> Iterator[Release | NoReply]:
    """The reply of a function, of a session, and of groups whose keys are public or not."""
    words = {"epsilon": 40, "rng": seeded(5), **words}
    yield asked.of(TABLE["x"], TABLE["l"], **words)
    yield asked.by(protected(), **words)
    grouped = [asked.by(protected().group_by("g", keys=["one", "two"]), **words)]
    grouped.append(asked.by(protected().group_by("g"), **{"delta": 1e-3, **words}))
    for release in grouped:
        assert isinstance(release, GroupedRelease)
        yield from release.values()


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_without_an_interval_there_is_none_on_any_way_to_an_answer(asked: Asked) -> None:
    replies = list(replies_of(asked, interval=None))
    assert len(replies) == 6
    assert [intervals_of(reply) for reply in replies] == [[]] * 6
    assert asked.method.name in MAY_REFUSE or any(isinstance(reply, Release) for reply in replies)
    for reply in replies:
        assert isinstance(reply, NoReply) or getattr(reply.value, "level", None) is None
        assert "%" not in str(reply)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_all_intervals_have_the_level_that_was_asked_for(asked: Asked) -> None:
    replies = islice(replies_of(asked, interval=LEVEL), 2)  # groups ask as sessions do
    assert {each.level for reply in replies for each in intervals_of(reply)} <= {LEVEL}


@pytest.mark.parametrize("name", ["mean", "sum", "winsorized_mean", "trimmed_mean"])
def test_without_an_interval_no_powers_are_bought_that_only_intervals_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    degrees = []

    def watched(column: Any, clip: Any, degree: int, *others: Any) -> Any:
        degrees.append(degree)
        return release_cells(column, clip, degree, *others)

    for module in (means, winsorized):
        monkeypatch.setattr(module, "release_cells", watched)
    for level in (None, 0.95):
        assert isinstance(getattr(dp, name)(X, epsilon=1, interval=level, rng=seeded(1)), Release)
    assert degrees[0] == 1
    assert degrees[1] == {"mean": 2, "sum": 1}.get(name, 3)


def test_a_count_has_the_interval_that_was_asked_for_and_the_usual_one_otherwise() -> None:
    reaches = []
    for level in (0.5, 0.95, 0.99):
        release = dp.count(X, epsilon=0.1, interval=level, rng=seeded(1))
        assert isinstance(release, Release)
        assert release.interval is not None
        assert release.interval.level == level
        reaches.append(release.interval.high - release.value)
    assert reaches == sorted(set(reaches))
    assert dp.count(X, epsilon=0.1, rng=seeded(1)) == dp.count(X, epsilon=0.1, interval=0.95, rng=seeded(1))
