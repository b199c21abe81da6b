"""How every test runs: with which noise, in which order, and with which examples of hypothesis."""

from __future__ import annotations

import gc
import hashlib
import itertools
from collections.abc import Generator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from tests.slow import is_slow, is_slow_file, starts_spark

pytest_plugins = ["tests.postgres", "tests.spark"]

SHOWN = {"test_readme.py", "test_examples.py"}
"""Tests that run documents and examples, which must show what a reader gets."""

# No verdict depends on how fast or how busy the machine is, and none on luck. `--hypothesis-profile=search` draws new examples.
settings.register_profile("anywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", settings.get_profile("anywhere"), derandomize=False)
settings.load_profile("anywhere")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Draw the noise of a test from a stream of its own, and let tables of a few rows be answered.

    Tests of foundations and what documents show get neither, and what is about floors has them.
    """
    if item.path.name in SHOWN or item.path.parent.name == "foundations":
        return (yield)
    from dpstats.foundations.randomness import SystemSource  # here: tests of foundations start without statistics
    from dpstats.statistics.floors import Floor

    draws = itertools.count()

    def octets(_: SystemSource, count: int) -> bytes:  # without a lock, which a forked process might find held
        return hashlib.shake_256(f"{item.nodeid}/{next(draws)}".encode()).digest(count)

    with patch.object(SystemSource, "octets", octets):
        if item.get_closest_marker("floors"):
            return (yield)
        with patch.object(Floor, "refuse", staticmethod(lambda question, answer, refusal, why: answer)):
            return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, before others are chosen by their marks, and put them first, those of Spark before the files that are
    slow: short files fill the end of a run.
    """
    slow_files = set()
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)
            slow_files.add(item.path)
    items.sort(key=lambda item: (not starts_spark(item.nodeid), item.path not in slow_files))


def pytest_collection_finish() -> None:
    """Collected tests stay to the end: the search for garbage need not look at them again and again."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """At the end all is garbage, and libraries complain of what is left."""
    gc.unfreeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read slow files where they are not wanted; None leaves the choice to others."""
    return True if "not slow" in config.option.markexpr and is_slow_file(collection_path) else None
