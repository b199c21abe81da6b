"""Nobody can tell from synthetic rows whether a row was in the table, unless a known mistake is made: `make long`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.synthetic import finding, measuring
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.testing import seeded
from tests.privacy_loss.membership import Views, lower_bound, views_of
from tests.twins.synthesis import TenthOfNoise, as_many_as_there_are, found_without_noise

pytestmark = pytest.mark.long

EPSILON, CONFIDENCE = 3, 0.99
GENERATOR = np.random.default_rng(1)
OTHERS = {"kind": np.array(["a", "b"])[GENERATOR.integers(0, 2, 60)], "pay": np.round(GENERATOR.normal(40, 10, 60))}
TARGET = {"kind": "z", "pay": 1e6}
"""A row that nobody is like."""
WITH_TARGET = {name: np.append(values, TARGET[name]) for name, values in OTHERS.items()}
WORDS = {"pure": {"levels": {"kind": ["a", "b", "z"]}}, "with delta": {"delta": 0.01}}
Mistake = Callable[[SyntheticData, int], SyntheticData]


def attacked(method: str, releases: int, training: int, mistake: Mistake = lambda data, _: data) -> float:
    """The bound that an attack finds, which learns on some of the releases of each side."""
    views: list[Views] = []
    for table, seed in ((OTHERS, 1), (WITH_TARGET, 2)):
        rng, seen = seeded(seed), []
        for _ in range(releases):
            release = dp.synthesize(table, epsilon=EPSILON, rough=True, rng=rng, **WORDS[method])
            assert isinstance(release, dp.Release)
            seen.append(views_of(mistake(release.value, len(table["pay"])), OTHERS, TARGET))
        views.append(np.array(seen))
    delta = float(WORDS[method].get("delta", 0.0))  # type: ignore[arg-type]
    without, with_target = views
    found = lower_bound(without, with_target, training, confidence=CONFIDENCE, delta=delta)
    return found.at_least


@pytest.mark.parametrize("method", WORDS)
def test_no_row_is_given_away(method: str) -> None:
    found = attacked(method, 1400, 500)
    assert found <= EPSILON
    assert found > 0.25  # the attack sees something (0.27 of rows by pure privacy): a claim of less is refuted


@contextmanager
def too_little_noise() -> Iterator[None]:
    with patch.object(measuring, "PureTableBudget", TenthOfNoise):
        yield


@contextmanager
def labels_of_all() -> Iterator[None]:
    with patch.object(finding, "choose_by_count", found_without_noise):
        yield


def test_as_many_rows_as_there_are_give_a_row_away() -> None:
    assert attacked("pure", 300, 100, as_many_as_there_are) > EPSILON


def test_a_tenth_of_the_noise_gives_a_row_away() -> None:
    with too_little_noise():
        assert attacked("pure", 400, 100) > EPSILON


def test_labels_that_are_found_without_noise_give_a_row_away() -> None:
    with labels_of_all():
        assert attacked("with delta", 300, 100) > EPSILON
