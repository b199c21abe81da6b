"""No column, however ugly, makes a method fail: no method ends in an error, and most answer where rough answers are wanted."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.results import NoReply, Release
from dpstats.testing import seeded
from tests.refuted.every_method import Asked, every_method

INF, NAN = np.inf, np.nan
CHANCE = np.random.default_rng(11)
NUMBERS: dict[str, Any] = {
    "infinite, huge and zero": np.array([INF, -INF, 1e300, -1e300, 0.0] * 100),
    "infinite": np.array([INF] * 300 + [-INF] * 200),
    "all infinite": np.full(200, INF),
    "the largest": np.array([1.7976931348623157e308, -1.7976931348623157e308] * 150),
    "huge": np.full(300, 1e300),
    "tiny": np.array([1e-300, -1e-300, 2e-300] * 100),
    "huge and tiny": np.array([1e300, 1e-300, -1e300, -1e-300] * 100),
    "subnormal": np.array([5e-324, -5e-324, 1e-310, 0.0] * 100),
    "one subnormal": np.full(300, 5e-324),
    "all equal": np.full(400, 12.99),
    "nearly all equal": np.array([0.1] * 399 + [0.1 + 2**-54]),
    "zeros of both signs": np.array([0.0, -0.0] * 200),
    "empty": np.array([], dtype=np.float64),
    "one row": np.array([3.5]),
    "two rows": np.array([-1e308, 1e308]),
    "all missing": np.full(300, NAN),
    "mostly missing": np.array([NAN] * 300 + [INF, -INF, 1.0]),
    "near 2^63": np.array([2**63 - 1, -(2**63), 2**63 - 2, 0] * 80, dtype=np.int64),
    "near 2^64": np.array([2**64 - 1, 2**64 - 2, 0] * 90, dtype=np.uint64),
    "a bulk and an outlier": np.concatenate([CHANCE.normal(0, 1, 500), [1e308, -INF]]),
    "every size": CHANCE.choice([-1.0, 1.0], 600) * 10.0 ** CHANCE.integers(-320, 308, 600),
    "32 bits": np.array([3.4028235e38, -3.4028235e38, 1e-45, INF] * 80, dtype=np.float32),
}
LABELS = ("a", "b", "rare", None)
EPSILONS = (Fraction(1, 100), Fraction(1), Fraction(60))
ASKED = [each for each in every_method() if each.statistic.name != "sample_and_aggregate"]
"""Functions of blocks run in processes of their own, and have tests of their own."""
UNREFUSED = [each for each in ASKED if "no refusal" in each.method.claim]
FLOORED = {"universal", "clipped", "laplace"}
"""Methods that refuse for nothing but too few rows, or limits that were far off: wanted roughly, they answer."""
ROUGH = [each for each in ASKED if each in UNREFUSED or each.method.name in FLOORED or each.statistic.name == "correlation"]


def labels_beside(numbers: Any, name: str) -> np.ndarray[Any, Any]:
    """As many labels; all missing or all alike beside some columns."""
    if name in ("all missing", "all equal"):
        return np.array([None if name == "all missing" else "a"] * len(numbers), dtype=object)
    return np.array([LABELS[place % len(LABELS)] for place in range(len(numbers))], dtype=object)


WAYS = list(itertools.product(EPSILONS, (0.95, None), ("add_remove", "change_one")))
LEAST_NOISE = range(len(WAYS))[-4:]
"""The ways of the largest epsilon: the less noise, the more of a column's oddness comes through."""
EVERY = 5
"""Of every method, and the next one from another column on, each fifth column is tried; `make long` tries all, in all ways."""


def reply(asked: Asked, name: str, way: int, *, rough: bool = False) -> Any:
    """The reply to one of the ways to ask about a column; with a seeded source errors pass through."""
    epsilon, interval, neighbors = WAYS[way % len(WAYS)]
    numbers = NUMBERS[name]
    words = {"epsilon": epsilon, "interval": interval, "neighbors": neighbors, "rough": rough}
    return asked.of(numbers, labels_beside(numbers, name), **words, rng=seeded(way))


def names_for(asked: Asked) -> list[str]:
    return list(NUMBERS)[ASKED.index(asked) % EVERY :: EVERY]


def test_enough_statistics_answer_for_every_column() -> None:
    assert len({each.statistic.name for each in ROUGH}) >= 20
    assert len({each.statistic.name for each in UNREFUSED}) >= 7


@pytest.mark.floors
@pytest.mark.parametrize("asked", ROUGH, ids=str)
def test_where_a_rough_answer_is_wanted_there_is_one_for_every_column(asked: Asked) -> None:
    for way, name in enumerate(NUMBERS):
        found = reply(asked, name, way, rough=True)
        assert isinstance(found, Release)
        assert found.question in str(found)


@pytest.mark.floors
@pytest.mark.parametrize("asked", UNREFUSED, ids=str)
def test_a_method_that_claims_no_refusal_answers_for_every_column(asked: Asked) -> None:
    for way, name in enumerate(NUMBERS):
        found = reply(asked, name, way)
        assert isinstance(found, Release)
        assert found.question in str(found)


@pytest.mark.parametrize("asked", [each for each in ASKED if each not in ROUGH], ids=str)
def test_a_method_that_may_refuse_ends_in_no_error_for_any_column(asked: Asked) -> None:
    for place, name in enumerate(names_for(asked)):
        assert isinstance(reply(asked, name, LEAST_NOISE[place % len(LEAST_NOISE)]), (Release, NoReply))


@pytest.mark.long
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_no_method_ends_in_an_error_whichever_way_it_is_asked(asked: Asked, name: str) -> None:
    for way in range(len(WAYS)):
        found = reply(asked, name, way)
        assert isinstance(found, Release if asked in UNREFUSED else (Release, NoReply))
