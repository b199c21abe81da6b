"""Kept rows: a question about several columns reads its store once, where its rows are few enough, and answers the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.store import Batch
from dpstats.engines.tables import kept
from dpstats.engines.tables.kept import KeepJob
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import Clip, WindowRequest
from tests.engines.cell_stores import CellStore, numbers
from tests.fresh_ledgers import forget_ledgers_in_memory

NUMBER, INTEGER = ColumnType.NUMBER, ColumnType.INTEGER
ROWS = 5000
ALL, NONE = kept.KEPT_BYTES, -1


def survey(rows: int = ROWS) -> pl.DataFrame:
    """Incomes that depend on age and hours; some cells are missing."""
    chance = np.random.default_rng(5)
    age, hours = chance.normal(45, 12, rows), chance.integers(0, 60, rows)
    income = 400.0 * age + 100.0 * hours + chance.normal(0, 3000, rows)
    frame = pl.DataFrame({"age": age, "hours": hours, "income": income, "person": np.arange(rows) // 2})
    return frame.with_columns(pl.when(pl.int_range(pl.len()) % 9 > 0).then("hours").alias("hours"))


def session(table: Any, **unit: Any) -> Any:
    forget_ledgers_in_memory()
    return dp.protect(
        table, **{"unit": "row", **unit}, budget=dp.Budget(epsilon=100, delta=1e-3), ledger=":memory:", allow_seeded=True
    )


def fit(asked: Any) -> Any:
    """A seeded answer to a question that goes over its rows many times."""
    return asked.linear_regression(["age", "hours"], "income", epsilon=4, rng=dp.testing.seeded(1)).value


def fits(asked: Any) -> list[Any]:
    """Seeded answers to questions about several columns."""
    return [
        fit(asked),
        asked.where("age > 40").quantile_regression("hours", "income", epsilon=4, rng=dp.testing.seeded(2)).value,
        asked.correlation("age", "income", epsilon=1, rng=dp.testing.seeded(3)).value,
        asked.covariance("age", "income", epsilon=1, rng=dp.testing.seeded(4)).value,
    ]


class CountedCsv(CsvStore):
    """A CSV file that counts its passes."""

    passes = 0

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        self.passes += 1
        return super().batches(columns)


def test_a_regression_reads_its_store_once_and_releases_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "survey.csv"
    survey().write_csv(file)
    passes, answers = {}, {}
    for limit in (ALL, NONE):
        monkeypatch.setattr(kept, "KEPT_BYTES", limit)
        store = CountedCsv([file])
        opened = dp.protect(
            store,  # type: ignore[arg-type]
            unit="row",
            types={"age": "number", "hours": "integer", "income": "number"},
            budget=dp.Budget(epsilon=100, delta=1e-3),
            ledger=":memory:",
            allow_seeded=True,
        )
        answers[limit] = fit(opened)
        passes[limit] = store.passes
    assert answers[ALL] == answers[NONE]
    assert passes[ALL] == 1
    assert passes[NONE] > 10


def test_answers_about_several_columns_are_the_same_with_kept_rows_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "survey.parquet"
    survey().write_parquet(file)
    found = fits(session(file))
    assert found == fits(session(survey()))
    monkeypatch.setattr(kept, "KEPT_BYTES", NONE)
    assert found == fits(session(file))


def test_what_is_kept_in_spark_gives_the_same_answers_and_is_freed(spark: Any, tmp_path: Path) -> None:
    file = tmp_path / "survey.parquet"
    survey(2000).write_parquet(file)  # Spark hands out seven rows at a time here
    for unit in ({}, {"unit": "person", "max_rows_per_unit": 1}):
        here, there = session(file, **unit), session(spark.read.parquet(str(file)), **unit)
        if unit:
            here._table.store._bound = there._table.store._bound  # the same secret key, so that the same rows stay
        assert fit(there) == fit(here)
    held = [storage for storage in spark.sparkContext._jsc.sc().getRDDStorageInfo() if storage.memSize() + storage.diskSize()]
    assert not [storage for storage in held if "Python" in storage.name()]


def test_rows_beyond_the_limit_are_not_kept_and_reading_stops_there() -> None:
    store = CellStore({"x": numbers([1.0] * 100), "y": numbers([2.0] * 100)}, {"x": NUMBER, "y": NUMBER}, range(0, 100, 10))
    view = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True])._view
    seen = []

    def watched() -> Iterator[Batch]:
        for batch in store.batches(["x", "y"]):
            seen.append(batch.rows)
            yield batch

    assert KeepJob(view, 16 * 30).scan(watched()) is None
    assert sum(seen) == 40
    pieces = KeepJob(view, 16 * 100).scan(store.batches(["x", "y"]))
    assert pieces is not None
    assert sum(piece.stored for piece in pieces) == 100


def test_columns_of_kept_rows_say_what_columns_of_the_store_say(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"x": numbers([1.0, None, 3.0, -0.0, 2.0] * 9), "y": numbers([7, 7, None, 1, 2] * 9, "int64")}
    request, clip = WindowRequest(Fraction(1, 2), 3), Clip(0, 64, Fraction(1, 16))
    said = []
    for limit in (ALL, NONE):
        monkeypatch.setattr(kept, "KEPT_BYTES", limit)
        store = CellStore(columns, {"x": NUMBER, "y": INTEGER}, [7, 30])
        table = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True])
        for place in (0, 1):
            column = table.column(place)
            (window,) = column.order_windows([request])
            said.append((limit, [column.stored(), column.count(), column.dtype, window.raw_below, window.raw_values.tolist()]))
            said.append((limit, [column.tally().raw_counts.tolist(), column.counts_below([2])]))
        said.append((limit, table.product_sums((clip, clip), 2)))
    half = len(said) // 2
    assert [each for _, each in said[:half]] == [each for _, each in said[half:]]
