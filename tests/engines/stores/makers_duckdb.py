"""Makers of DuckDB stores for the shared suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from dpstats.engines.stores.duckdb import DuckDBStore
from dpstats.engines.stores.store import Store


def filled(frame: pl.DataFrame) -> Any:
    """A connection to a database with a table `ugly`."""
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    connection.execute("CREATE TABLE ugly AS SELECT * FROM given").fetchall()
    connection.unregister("given")
    return connection


def duckdb_table(frame: pl.DataFrame, _: Path, __: pytest.FixtureRequest) -> Store:
    return DuckDBStore(filled(frame).table("ugly"), batch_rows=7)


def duckdb_query(frame: pl.DataFrame, _: Path, __: pytest.FixtureRequest) -> Store:
    return DuckDBStore(filled(frame).sql("SELECT * FROM ugly ORDER BY hash(row)"), batch_rows=7)


def duckdb_arrow(frame: pl.DataFrame, _: Path, __: pytest.FixtureRequest) -> Store:
    return DuckDBStore(duckdb.connect().from_arrow(frame.to_arrow()), batch_rows=7)


def duckdb_file(frame: pl.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Store:
    connection = filled(frame)
    file = str(folder / "table.duckdb")
    connection.execute(f"ATTACH '{file}' AS kept; CREATE TABLE kept.main.ugly AS SELECT * FROM ugly; DETACH kept").fetchall()
    return DuckDBStore.from_file(file, "ugly")
