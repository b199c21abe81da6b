"""Whatever an engine has to say when it fails after the debit, the analyst hears the same charged refusal."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from tests.postgres import url_of_new_schema

SECRET = 812_345_678
ROWS = 50_000


def frame() -> pl.DataFrame:
    return pl.DataFrame({"x": np.arange(ROWS) + SECRET, "g": ["north", "south"] * (ROWS // 2)})


def session(table: Any) -> Session:
    return dp.protect(table, unit="row", budget=dp.Budget(epsilon=100, delta=0.01), ledger=":memory:", may_fail=True)


def damaged_parquet(folder: Path, _: pytest.FixtureRequest) -> Session:
    file = folder / "table.parquet"
    frame().write_parquet(file, compression="zstd")
    octets = bytearray(file.read_bytes())
    octets[4:-2000] = os.urandom(len(octets) - 2004)  # all but the footer
    file.write_bytes(octets)
    return session(file)


def failing_lazy_frame(_: Path, __: pytest.FixtureRequest) -> Session:
    def fail(rows: pl.DataFrame) -> pl.DataFrame:
        raise ValueError(f"the value {rows['x'][0]} is out of range")

    lazy = frame().lazy()
    return session(lazy.map_batches(fail, schema=lazy.collect_schema()))


def failing_duckdb_query(_: Path, __: pytest.FixtureRequest) -> Session:
    connection = duckdb.connect()
    arrow = frame().to_arrow()  # noqa: F841  (DuckDB finds it by its name)
    connection.execute("CREATE TABLE visits AS SELECT * FROM arrow")
    return session(connection.sql("SELECT CASE WHEN x % 999 = 0 THEN error('the value ' || x) ELSE x END AS x, g FROM visits"))


def failing_postgres_view(_: Path, request: pytest.FixtureRequest) -> Session:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE VIEW visits AS SELECT 1 / (i - 50) + 812345678 AS x, ('word ' || i)::int::text AS g "
            "FROM generate_series(1, 100) i"
        )
    return session(f"{url}#visits")


def failing_spark_frame(_: Path, request: pytest.FixtureRequest) -> Session:
    spark = request.getfixturevalue("spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = spark.range(0, 1000, 1, 2)
    return session(
        rows.selectExpr("CASE WHEN id = 700 THEN raise_error(concat('the value ', id + 812345678)) ELSE id END x", "'a' g")
    )


FAILURES: dict[str, Callable[[Path, pytest.FixtureRequest], Session]] = {
    function.__name__: function
    for function in (
        damaged_parquet,
        failing_lazy_frame,
        failing_duckdb_query,
        failing_postgres_view,
        failing_spark_frame,
    )
}
QUESTIONS: dict[str, Callable[[Session], Any]] = {
    "a median": lambda table: table.median("x", epsilon=1),
    "a filter": lambda table: table.where("x > 3 and g != 'west'").count("g", epsilon=1),
    "public groups": lambda table: table.group_by("g", keys=["north"]).median("x", epsilon=1),
    "private groups": lambda table: table.group_by("g").median("x", epsilon=1, delta=1e-6),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_engine_gives_one_charged_refusal(
    failure: str, request: pytest.FixtureRequest, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = FAILURES[failure](tmp_path, request)
    capfd.readouterr()
    words = set()
    for number, ask in enumerate(QUESTIONS.values(), start=1):
        reply = ask(table)
        replies = list(reply.values()) if isinstance(reply, dp.GroupedRelease) else [reply]
        assert all(isinstance(each, dp.NoReply) for each in replies)
        words |= {(each.reason, each.advice) for each in replies}
        assert table.ledger.spent.epsilon == number
        for each in [reply, *replies]:
            assert not {"812", "word", "range", "secret"} & set(f"{each} {each.card()}".replace("'", " ").split())
    assert words == {("The answer could not be computed.", "The cost is spent; ask again or ask the data holder.")}
    heard = capfd.readouterr()
    assert str(SECRET)[:6] not in heard.out + heard.err
    assert "word" not in heard.out + heard.err
