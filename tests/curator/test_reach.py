"""A table that cannot be reached is found out before the debit: a clear error, and nothing is spent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars as pl
import psycopg
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.foundations.errors import DataFileError
from tests.postgres import url_of_new_schema

Breakage = Callable[[Path, pytest.FixtureRequest], tuple[Session, Callable[[], object]]]


def session(table: Any, **words: Any) -> Session:
    return dp.protect(table, budget=dp.Budget(epsilon=100), ledger=":memory:", **{"unit": "row", **words})


def frame() -> pl.DataFrame:
    return pl.DataFrame({"who": range(100), "x": [812.0 + row for row in range(100)]})


def removed_csv(folder: Path, _: pytest.FixtureRequest) -> Any:
    file = folder / "table.csv"
    frame().write_csv(file)
    return session(file, types={"x": "number"}), file.unlink


def changed_parquet(folder: Path, _: pytest.FixtureRequest) -> Any:
    file = folder / "table.parquet"
    frame().write_parquet(file)
    return session(file, unit="who", max_rows_per_unit=1), lambda: frame().head(10).write_parquet(file)


def forbidden_parquet(folder: Path, request: pytest.FixtureRequest) -> Any:
    file = folder / "table.parquet"
    frame().write_parquet(file)

    def forbid() -> None:  # as chmod does it, also for root, who may read everything
        opened = os.open

        def refuse(path: Any, *rest: Any, **words: Any) -> int:
            if Path(path) == file:
                raise PermissionError(13, "Permission denied")
            return opened(path, *rest, **words)

        request.getfixturevalue("monkeypatch").setattr(os, "open", refuse)

    return session(file), forbid


def dropped_duckdb_table(_: Path, __: pytest.FixtureRequest) -> Any:
    connection = duckdb.connect()
    arrow = frame().to_arrow()  # noqa: F841  (DuckDB finds it by its name)
    connection.execute("CREATE TABLE visits AS SELECT * FROM arrow")
    return session(connection.table("visits"), unit="who", max_rows_per_unit=1), lambda: connection.execute("DROP TABLE visits")


def closed_duckdb_query(_: Path, __: pytest.FixtureRequest) -> Any:
    connection = duckdb.connect()
    return session(connection.sql("SELECT 812 AS x"), may_fail=True), connection.close


def postgres(change: str) -> Breakage:
    def breakage(_: Path, request: pytest.FixtureRequest) -> Any:
        url = url_of_new_schema(request.getfixturevalue("postgres_url"))
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE visits AS SELECT i AS who, 812.0 + i AS x FROM generate_series(1, 100) i")

        def alter() -> None:
            with psycopg.connect(url) as connection:
                connection.execute(change.encode())

        return session(f"{url}#visits", unit="who", max_rows_per_unit=1), alter

    return breakage


def stopped_server(folder: Path, request: pytest.FixtureRequest) -> Any:
    """A way to the server's socket that is taken away, and its sessions ended: what a client sees of a stopped server."""
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    socket = psycopg.conninfo.conninfo_to_dict(url)["host"]
    way = folder / "way"
    way.symlink_to(str(socket))
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS who, 812.0 + i AS x FROM generate_series(1, 100) i")
    table = session(f"{url.replace(quote(str(socket)), quote(str(way)))}#visits")

    def stop() -> None:
        way.unlink()
        end_sessions(url)

    return table, stop


def end_sessions(url: str) -> None:
    """End all other sessions on the server, as its restart does."""
    with psycopg.connect(url, autocommit=True) as connection:
        others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        connection.execute(f"SELECT pg_terminate_backend(pid) {others}".encode())


BREAKAGES: dict[str, Breakage] = {
    "removed file": removed_csv,
    "changed file": changed_parquet,
    "forbidden file": forbidden_parquet,
    "dropped DuckDB table": dropped_duckdb_table,
    "closed DuckDB connection": closed_duckdb_query,
    "dropped Postgres table": postgres("DROP TABLE visits"),
    "replaced Postgres table": postgres("ALTER TABLE visits RENAME TO old; CREATE TABLE visits AS SELECT * FROM old"),
    "altered Postgres table": postgres("ALTER TABLE visits ALTER COLUMN x TYPE text"),
    "stopped Postgres server": stopped_server,
}
QUESTIONS: list[Callable[[Session], Any]] = [
    lambda table: table.median("x", epsilon=1),
    lambda table: table.where("x > 3").count(epsilon=1),
    lambda table: table.group_by("x", keys=[812]).count(epsilon=1),
]


@pytest.mark.parametrize("breakage", BREAKAGES)
@pytest.mark.parametrize("asked_before", [False, True])
def test_what_cannot_be_reached_is_an_error_that_spends_nothing(
    breakage: str, asked_before: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table, make_unreachable = BREAKAGES[breakage](tmp_path, request)
    if asked_before:
        table.median("x", epsilon=2)
    spent = table.ledger.spent.epsilon
    make_unreachable()
    for ask in QUESTIONS:
        with pytest.raises(DataFileError, match=r"Nothing was spent\.$") as complaint:
            ask(table)
        assert "812" not in str(complaint.value)
        assert complaint.value.__cause__ is None
        assert complaint.value.__suppress_context__
    assert table.ledger.spent.epsilon == spent
    if asked_before:
        assert isinstance(table.median("x", epsilon=2), (dp.Release, dp.NoReply))  # the archive still answers
        assert table.ledger.spent.epsilon == spent


def test_a_stopped_spark_session_is_an_error_that_spends_nothing(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = session(spark.range(0, 100))
    monkeypatch.setattr(spark, "_sc", type("Stopped", (), {"_jsc": None})())
    with pytest.raises(DataFileError, match=r"its Spark session was stopped\. Nothing was spent\.$"):
        table.median("id", epsilon=1)
    assert table.ledger.spent.epsilon == 0
