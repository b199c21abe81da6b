"""Makers of Spark stores for the shared suite."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.spark import SparkStore
from dpstats.engines.stores.store import Batch, Store
from tests.engines.stores.ugly import ROW, UGLY, Gather

NOT_IN_SPARK = frozenset({"unsigned"})


def spark_table(session: Any, frame: pl.DataFrame) -> Any:
    """A Spark DataFrame of the same rows in three partitions; times without a zone stay so."""
    plain = frame.with_columns(column.cast(pl.String) for column in frame if column.dtype == pl.Enum).to_arrow()
    session.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = session.createDataFrame(plain)
    session.conf.unset("spark.sql.timestampType")
    return table.repartition(3)


@dataclass(frozen=True)
class Several:
    """Several jobs in one pass."""

    jobs: tuple[Any, ...]

    def scan(self, batches: Iterable[Batch]) -> list[Any]:
        held = list(batches)
        return [job.scan(held) for job in self.jobs]

    def merge(self, parts: Sequence[list[Any]]) -> list[Any]:
        return [job.merge(found) for job, found in zip(self.jobs, zip(*parts, strict=True), strict=True)]


class OncePerTable(SparkStore):
    """A Spark store that gathers all columns in one pass, because a pass takes a while to start."""

    gathered: dict[Any, Any] | None = None

    def run(self, job: Any, columns: Sequence[str]) -> Any:
        if not isinstance(job, Gather):
            return super().run(job, columns)
        if self.gathered is None:
            names = [name for name in UGLY if name in self.columns]
            jobs = tuple({Gather(name, kind): None for name in names for kind in (*UGLY[name].readings, ColumnType.TEXT)})
            several: Any = Several(jobs)
            self.gathered = dict(zip(jobs, super().run(several, [ROW, *names]), strict=True))
        return self.gathered[job]


def spark_frame(frame: pl.DataFrame, _: Path, request: pytest.FixtureRequest) -> Store:
    return OncePerTable(spark_table(request.getfixturevalue("spark"), frame))
