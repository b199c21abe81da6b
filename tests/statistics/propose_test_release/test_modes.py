"""The mode: released as it is where it leads clearly, refused otherwise, whatever the labels are."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.statistics.propose_test_release.modes import _distance
from dpstats.testing import seeded

SEEDS = range(40)
LABELS = ("b", "a", "c", "d")


def modes(data: object, **options: Any) -> Counter[object]:
    """What several runs release; None for a refusal."""
    settings = {"epsilon": 1, "delta": 1e-6, **options}
    outcomes = [dp.mode(data, **settings, rng=seeded(seed)) for seed in SEEDS]
    return Counter(outcome.value if isinstance(outcome, dp.Release) else None for outcome in outcomes)


def column_of(*counts: int) -> list[str]:
    return [label for label, count in zip(LABELS, counts, strict=False) for _ in range(count)]


def reply_rate(lead: int, neighbors: Neighbors) -> float:
    """How often the mode is released at a lead, by the test's own chances."""
    steps = lead if neighbors is Neighbors.ADD_REMOVE else -(-lead // 2)
    return BestTest(Fraction(1), Fraction(1, 10**6), unstable_at=1).pass_probability(steps)


def test_a_clear_lead_is_always_released_and_a_tie_never() -> None:
    assert modes(column_of(500, 300, 200)) == {"b": len(SEEDS)}
    assert modes(column_of(300, 300, 200)) == {None: len(SEEDS)}


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_replies_are_as_frequent_as_the_chances_say(neighbors: Neighbors) -> None:
    for lead in (10, 14, 28):
        replies = modes(column_of(100 + lead, 100), neighbors=neighbors)["b"]
        expected = len(SEEDS) * reply_rate(lead, neighbors)
        assert abs(replies - expected) <= 4 * max(1.0, expected * (1 - expected / len(SEEDS))) ** 0.5


def test_a_changed_row_counts_for_two_of_the_lead() -> None:
    data = column_of(124, 100)
    assert modes(data, neighbors="add_remove")["b"] == len(SEEDS)
    assert modes(data, neighbors="change_one")["b"] < len(SEEDS) / 2


def mode_of(rows: tuple[str, ...]) -> str | None:
    """The most common label, of several the smallest."""
    return min(rows, key=lambda label: (-rows.count(label), label)) if rows else None


def neighbours(rows: tuple[str, ...], labels: str, relation: Neighbors) -> set[tuple[str, ...]]:
    smaller = {rows[:place] + rows[place + 1 :] for place in range(len(rows))}
    if relation is Neighbors.ADD_REMOVE:
        return smaller | {tuple(sorted((*rows, label))) for label in labels}
    return {tuple(sorted((*rest, label))) for rest in smaller for label in labels}


@pytest.mark.parametrize("relation", list(Neighbors))
def test_the_distance_is_the_fewest_changes_to_another_mode(relation: Neighbors) -> None:
    """Brute force over all tables of up to five rows with the labels b, c, d; "a" is a label that nobody has."""
    labels = "abcd"
    for size in range(1, 6):
        for rows in itertools.combinations_with_replacement("bcd", size):
            seen, frontier, steps = {rows}, {rows}, 0
            while all(mode_of(table) == mode_of(rows) for table in frontier):
                frontier = {near for table in frontier for near in neighbours(table, labels, relation)} - seen
                seen |= frontier
                steps += 1
            leaders = as_column(list(rows), numeric=False).most_common(2)
            question = ask("mode", epsilon=1, delta=1e-6, neighbors=relation)
            assert _distance(leaders, question) == steps


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (["north"] * 90 + ["south"] * 9, "north"),
        ([True] * 90 + [False] * 9, 1),
        (np.array([True] * 90 + [False] * 9), 1),
        (np.repeat([2.5, 1.0], [90, 9]), 2.5),
        (np.repeat([7, 1], [90, 9]), 7),
        (np.repeat(np.array([12.99, 1], dtype=np.float32), [90, 9]), 12.99),
        ([datetime.date(2020, 2, 29)] * 90 + [datetime.date(2021, 1, 1)] * 9, "2020-02-29"),
        (pd.Series(["x", "y"]).repeat([90, 9]).astype("category"), "x"),
        (pl.Series(["x"] * 90 + ["y"] * 9), "x"),
        ([None] * 500 + ["x"] * 90, "x"),
        (np.array([np.nan] * 500 + [3.0] * 90), 3.0),
        (np.repeat([-0.0, 0.0, 1.0], [50, 50, 9]), 0.0),
        (np.repeat([np.inf, 1.0], [90, 9]), np.inf),
        (np.repeat(np.array([2**62, 1]), [90, 9]), 4.61168601842739e18),
    ],
    ids=lambda value: str(value)[:20].replace("\n", " "),
)
def test_labels_of_every_type_leave_as_they_are(data: object, label: object) -> None:
    released = modes(data)
    assert released == {label: len(SEEDS)}
    assert type(next(iter(released))) in (int, float, str)


def test_whole_numbers_that_no_float_tells_apart_are_one_label() -> None:
    data = np.repeat(np.array([2**62, 2**62 + 1, 5]), [40, 40, 60])
    assert modes(data) == {4.61168601842739e18: len(SEEDS)}


def test_no_rows_and_a_single_row_are_refused_in_the_same_words() -> None:
    outcomes = [dp.mode(data, epsilon=1, delta=1e-6, rng=seeded(1)) for data in ([], ["x"], ["x", "y"], [None], column_of(9, 9))]
    assert all(isinstance(outcome, dp.NoReply) for outcome in outcomes)
    assert len({(outcome.reason, outcome.advice) for outcome in outcomes}) == 1


def test_the_mode_needs_delta_and_says_why_its_method_was_taken() -> None:
    with pytest.raises(dp.MissingParameterError, match="mode by method 'stable' needs delta"):
        ask("mode", epsilon=1)
    release = dp.mode(column_of(500), epsilon=1, delta=1e-6, rng=seeded(1))
    assert (release.method, release.cost) == ("stable", dp.PrivacyCost(1, 1e-6))
    assert "chosen because" in dict(release.notes)
    assert dict(release.notes)["test"] == "replies with probability 1/2 from a lead of 14 rows on, 0.95 from 16 on"


@pytest.mark.parametrize("other", [0.5, 2**60, 2**70, None, True, np.float32(0.1)])
def test_one_other_row_does_not_change_how_the_mode_looks(other: object) -> None:
    for mode in (5, 2.5, 2**60):
        alone, together = (dp.mode(rows, epsilon=1, delta=1e-6, rng=seeded(1)) for rows in ([mode] * 900, [mode] * 900 + [other]))
        assert isinstance(alone, dp.Release)
        assert isinstance(together, dp.Release)
        assert repr(alone.value) == repr(together.value)
        assert alone.to_json() == together.to_json()


def test_one_huge_row_of_a_whole_number_column_does_not_change_how_the_mode_looks() -> None:
    released = [dp.mode(np.array([5] * 900 + [last]), epsilon=1, delta=1e-6, rng=seeded(1)) for last in (6, 2**60)]
    assert [repr(release.value) for release in released if isinstance(release, dp.Release)] == ["5", "5"]
