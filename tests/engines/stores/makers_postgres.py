"""Makers of Postgres stores for the shared suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
from psycopg import sql

from dpstats.engines.stores.postgres import PostgresStore
from dpstats.engines.stores.store import Store
from tests.postgres import url_of_new_schema

_TYPES = {
    pl.Float64: "float8",
    pl.Float32: "float4",
    pl.Int64: "int8",
    pl.Int32: "int4",
    pl.Boolean: "bool",
    pl.Decimal: "numeric",
    pl.Date: "date",
    pl.String: "text",
    pl.Enum: "sizes",
    pl.Time: "time",
    pl.List: "int8[]",
    pl.Binary: "bytea",
}
NOT_IN_POSTGRES = frozenset({"unsigned", "zero bytes", "nothing"})


def _type(dtype: Any) -> str:
    if dtype.base_type() is pl.Datetime:
        return "timestamptz" if dtype.time_zone else "timestamp"
    return _TYPES[dtype.base_type()]


def _filled(frame: pl.DataFrame, request: pytest.FixtureRequest, partitions: str = "") -> str:
    """The URL of a database with a table `ugly`."""
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TYPE sizes AS ENUM ('small', 'large')")
        columns = [sql.SQL("{} " + _type(column.dtype)).format(sql.Identifier(column.name)) for column in frame]
        connection.execute(
            sql.SQL("CREATE TABLE ugly ({}) " + (partitions or "WITH (fillfactor = 10)")).format(sql.SQL(", ").join(columns))
        )
        if partitions:
            for part in range(3):
                connection.execute(
                    f"CREATE TABLE part_{part} PARTITION OF ugly FOR VALUES WITH (MODULUS 3, REMAINDER {part})".encode()
                )
        places = sql.SQL(", ").join([sql.Placeholder()] * frame.width)
        connection.cursor().executemany(sql.SQL("INSERT INTO ugly VALUES ({})").format(places), frame.rows())
    return url


def postgres_table(frame: pl.DataFrame, _: Path, request: pytest.FixtureRequest) -> Store:
    return PostgresStore(_filled(frame, request), "ugly", batch_pages=1)


def postgres_partitions(frame: pl.DataFrame, _: Path, request: pytest.FixtureRequest) -> Store:
    return PostgresStore(_filled(frame, request, "PARTITION BY HASH (row)"), "ugly")


def postgres_view(frame: pl.DataFrame, _: Path, request: pytest.FixtureRequest) -> Store:
    url = _filled(frame, request)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM ugly")
    return PostgresStore(url, "seen")
