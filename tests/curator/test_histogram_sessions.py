"""Histograms in sessions: their price is known from public types before the debit, and the archive gives them back whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.statistics.binned.histogram import Histogram


@pytest.fixture
def people(tmp_path: Path) -> Any:
    table = pl.DataFrame(
        {
            "age": [20 + place % 60 for place in range(900)],
            "region": ["north" if place % 3 else "south" for place in range(900)],
            "born": pl.Series(["1990-01-01"] * 600 + ["1991-01-01"] * 300).str.to_date(),
        }
    )
    budget = dp.Budget(epsilon=50, delta=1e-3)
    return dp.protect(table, unit="row", budget=budget, ledger=tmp_path / "ledger", name="people")


def test_numbers_are_priced_without_delta_and_labels_with_it(people: Any) -> None:
    assert people.histogram("age", epsilon=1, delta=1e-6).cost == dp.PrivacyCost(1)
    assert people.histogram("region", epsilon=1, delta=1e-6).cost.delta == dp.PrivacyCost(1, 1e-6).delta
    assert people.histogram("region", ["north"], epsilon=1, delta=1e-6).cost == dp.PrivacyCost(1)
    assert people.histogram("born", epsilon=1, delta=1e-6).value.labels == ("1990-01-01", "1991-01-01")


@pytest.mark.parametrize(("column", "bins", "words"), [("region", 10, "or delta, such as"), ("age", ["a"], "holds numbers")])
def test_what_does_not_fit_the_type_is_an_error_before_the_debit(people: Any, column: str, bins: Any, words: str) -> None:
    before = str(people.remaining)
    with pytest.raises(dp.DataTypeError, match=words):
        people.histogram(column, bins, epsilon=1)
    with pytest.raises(dp.DataTypeError, match=words):
        people.group_by("age", keys=[20, 21]).histogram(column, bins, epsilon=1)
    assert str(people.remaining) == before


@pytest.mark.parametrize(("column", "bins"), [("age", 10), ("age", [30, 40]), ("region", 10), ("region", ["south", "west"])])
def test_the_archive_gives_the_same_histogram_back(people: Any, column: str, bins: Any) -> None:
    first, again = (people.histogram(column, bins, epsilon=1, delta=1e-6) for _ in range(2))
    assert isinstance(again.value, Histogram)
    assert again.value == first.value
    assert again.intervals == first.intervals
    assert any(heading == "archive" for heading, _ in again.notes)


def test_groups_have_a_histogram_each_and_private_keys_leave_delta_for_labels(people: Any) -> None:
    listed = people.group_by("region", keys=["north", "south"]).histogram("age", [40, 60], epsilon=2)
    assert [len(reply.value.counts) for reply in listed.values()] == [3, 3]
    assert listed.cost.delta == 0
    private = people.group_by("region").histogram("age", [40, 60], epsilon=2, delta=1e-6)
    assert list(private) == ["north", "south"]
    labels = people.group_by("region").histogram("born", epsilon=4, delta=1e-6)
    assert {reply.value.labels for reply in labels.values()} == {("1990-01-01", "1991-01-01")}


def test_rows_of_a_unit_make_the_noise_wider(tmp_path: Path) -> None:
    table = pl.DataFrame({"person": [place // 2 for place in range(600)], "age": [place % 50 for place in range(600)]})
    budget = dp.Budget(epsilon=5)
    people = dp.protect(table, unit="person", max_rows_per_unit=2, budget=budget, ledger=tmp_path / "ledger", name="visits")
    assert people.histogram("age", [10, 20], epsilon=1).value.noise == 2.0
