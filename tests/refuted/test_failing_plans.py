"""A table is stored, or its owner is told before it is opened that it is not; and a read that failed leaves nothing behind."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores import duckdb as duckdb_store
from dpstats.engines.stores.duckdb import DuckDBStore
from tests.postgres import url_of_new_schema

HUGE = 10_000  # an epsilon at which noise vanishes
SECRET = "Xanthippe"
ROWS = 100


def protect(table: Any, **changes: Any) -> Any:
    settings: dict[str, Any] = {"budget": dp.Budget(epsilon=10**9, delta=0.01), "ledger": ":memory:", "name": "visits", **changes}
    return dp.protect(table, **{"unit": "row", **settings})


def frame(odd: str) -> pl.DataFrame:
    return pl.DataFrame({"person": range(ROWS), "size": [*["7"] * (ROWS - 1), odd]})


def lazy_cast(odd: str, *_: Any) -> Any:
    return frame(odd).lazy().with_columns(pl.col("size").cast(pl.Int64))


def duckdb_query(odd: str, *_: Any) -> Any:
    connection = duckdb.connect()
    arrow = frame(odd).to_arrow()  # noqa: F841  (DuckDB finds it by its name)
    connection.execute("CREATE TABLE visits AS FROM arrow")
    return connection.sql("SELECT person, size::INTEGER AS size FROM visits")


def duckdb_view(odd: str, *_: Any) -> Any:
    query = duckdb_query(odd)
    query.create_view("seen")
    return query._con.table("seen") if hasattr(query, "_con") else query


def postgres_view(odd: str, _: Path, request: pytest.FixtureRequest) -> Any:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS person, '7' AS size FROM generate_series(1, 99) i")
        connection.execute("INSERT INTO visits VALUES (100, %s)", [odd])
        connection.execute("CREATE VIEW seen AS SELECT person, size::int AS size FROM visits")
    return f"{url}#seen"


def postgres_policy(odd: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    url = postgres_view(odd, folder, request).partition("#")[0]
    reader = f"reader_{ord(odd[0])}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE IF EXISTS {reader}")
        [(schema,)] = connection.execute("SELECT current_schema()").fetchall()
        for statement in (
            f"CREATE ROLE {reader} LOGIN",
            f"GRANT USAGE ON SCHEMA {schema} TO {reader}",
            f"GRANT SELECT ON visits TO {reader}",
            "ALTER TABLE visits ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY small ON visits USING (size::int < 100)",
        ):
            connection.execute(statement.encode())
    return url.replace("postgres@", f"{reader}@") + "#visits"


def spark_cast(odd: str, _: Path, request: pytest.FixtureRequest) -> Any:
    spark = request.getfixturevalue("spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = spark.createDataFrame(frame(odd).to_arrow())
    return rows.selectExpr("person", "CAST(size AS INT) AS size")


def spark_rows(odd: str, _: Path, request: pytest.FixtureRequest) -> Any:
    """Rows from Python, which may be computed by any function."""
    spark = request.getfixturevalue("spark")
    rows = spark.sparkContext.parallelize(frame(odd).rows(), 2)
    return spark.createDataFrame(rows.map(lambda row: (row[0], int(row[1]))), "person long, size long")


PLANS: dict[str, Callable[..., Any]] = {
    plan.__name__: plan for plan in (lazy_cast, duckdb_query, duckdb_view, postgres_view, postgres_policy, spark_cast, spark_rows)
}


@pytest.mark.parametrize("odd", ["7", SECRET])
@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_that_can_fail_is_refused_whether_it_does_or_not(
    plan: str, odd: str, tmp_path: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    table = PLANS[plan](odd, tmp_path, request)
    capfd.readouterr()
    with pytest.raises(dp.DataTypeError, match=r"pass may_fail=True, which the ledger records\.$") as complaint:
        protect(table)
    heard = capfd.readouterr()
    assert SECRET not in f"{complaint.value}{complaint.value.__cause__}{heard.out}{heard.err}"


@pytest.mark.parametrize("unit", ["row", "person"])
@pytest.mark.parametrize("plan", ["lazy_cast", "duckdb_query", "spark_cast", "spark_rows"])
def test_a_plan_that_fails_opens_in_silence_and_gives_a_charged_refusal(
    plan: str, unit: str, tmp_path: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    table = PLANS[plan](SECRET, tmp_path, request)
    capfd.readouterr()
    visits = protect(table, unit=unit, max_rows_per_unit=1, may_fail=True)
    assert isinstance(visits.median("size", epsilon=1), dp.NoReply)
    assert visits.ledger.spent.epsilon == 1
    heard = capfd.readouterr()
    assert SECRET not in heard.out + heard.err


def test_spark_computes_no_constant_of_a_plan_before_the_debit(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    spark = request.getfixturevalue("spark")
    rows = spark.sql(f"SELECT CAST(size AS INT) AS size, person FROM VALUES ('7', 1), ('{SECRET}', 2) AS visits(size, person)")
    capfd.readouterr()
    visits = protect(rows, unit="person", max_rows_per_unit=1, may_fail=True)
    assert isinstance(visits.count(epsilon=1), dp.NoReply)
    assert visits.ledger.spent.epsilon == 1
    heard = capfd.readouterr()
    assert SECRET not in heard.out + heard.err


def test_after_a_failed_read_of_postgres_questions_are_answered_by_the_rows_that_are_there(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = postgres_view(SECRET, tmp_path, request)
    visits = protect(url, may_fail=True)
    assert visits.count(epsilon=HUGE).value == ROWS
    with psycopg.connect(url.partition("#")[0]) as connection:
        connection.execute("INSERT INTO visits SELECT i, '8' FROM generate_series(101, 200) i")
    assert isinstance(visits.median("size", epsilon=1), dp.NoReply)
    assert visits.count("person", epsilon=HUGE).value == 2 * ROWS
    assert isinstance(visits.median("person", epsilon=HUGE), dp.Release)


def test_the_ledger_records_that_a_table_may_fail(tmp_path: Path) -> None:
    query, ledger = lazy_cast("7"), tmp_path / "visits.ledger"
    visits = protect(query, may_fail=True, ledger=ledger)
    assert "not whether a row makes the table fail to be read" in str(visits.describe())
    with pytest.raises(dp.LedgerError, match=r"'may_fail' true"):
        protect(query.collect(), ledger=ledger)
    assert protect(query.collect(), may_fail=True, ledger=ledger).count(epsilon=HUGE).value == ROWS


def stored_in_duckdb(kind: str) -> Any:
    connection = duckdb.connect()
    rows = f"SELECT i AS person, 'seven' AS size, i AS generated_at FROM range({ROWS}) rows(i)"
    connection.execute(f"CREATE {kind} TABLE visits AS {rows}")
    return connection.table("visits")


@pytest.mark.parametrize("kind", ["", "TEMPORARY"])
def test_a_table_of_duckdb_is_stored(kind: str) -> None:
    assert protect(stored_in_duckdb(kind), unit="person", max_rows_per_unit=1).count(epsilon=HUGE).value == ROWS


def test_a_table_of_duckdb_with_a_generated_column_is_computed() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits(size VARCHAR, number INTEGER GENERATED ALWAYS AS (size::INTEGER))")
    with pytest.raises(dp.DataTypeError, match="not a plain table"):
        protect(connection.table("visits"))


@pytest.mark.parametrize("kind", ["table", "partitions", "materialized"])
def test_a_table_of_postgres_is_stored(kind: str, request: pytest.FixtureRequest) -> None:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    making = {
        "table": ["CREATE TABLE visits AS SELECT i AS person FROM generate_series(1, 100) i"],
        "materialized": ["CREATE MATERIALIZED VIEW visits AS SELECT i AS person FROM generate_series(1, 100) i"],
        "partitions": [
            "CREATE TABLE visits (person int) PARTITION BY HASH (person)",
            "CREATE TABLE part PARTITION OF visits FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
            "INSERT INTO visits SELECT i FROM generate_series(1, 100) i",
        ],
    }
    with psycopg.connect(url) as connection:
        for statement in making[kind]:
            connection.execute(statement.encode())
    assert protect(f"{url}#visits", unit="person", max_rows_per_unit=1).count(epsilon=HUGE).value == ROWS


def test_partitions_of_postgres_on_another_server_are_computed(request: pytest.FixtureRequest) -> None:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    [name] = re.findall(r"search_path%3D(\w+)", url)
    with psycopg.connect(url) as connection:
        for statement in (
            f"CREATE FOREIGN DATA WRAPPER wrapper_{name}",
            f"CREATE SERVER server_{name} FOREIGN DATA WRAPPER wrapper_{name}",
            "CREATE TABLE visits (person int) PARTITION BY HASH (person)",
            f"CREATE FOREIGN TABLE part PARTITION OF visits FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER server_{name}",
        ):
            connection.execute(statement.encode())
    for table in ("visits", "part"):
        with pytest.raises(dp.DataTypeError, match=r"a foreign table.*CREATE TABLE \.\.\. AS"):
            protect(f"{url}#{table}")


def test_a_type_of_postgres_whose_text_is_made_by_a_function_is_only_counted(request: pytest.FixtureRequest) -> None:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url) as connection:
        for statement in (
            "CREATE TYPE mood AS ENUM ('fine', 'Xanthippe')",
            "CREATE FUNCTION told(mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$",
            "CREATE CAST (mood AS text) WITH FUNCTION told(mood)",
            "CREATE TABLE visits AS SELECT i AS person, 'fine'::mood AS mood FROM generate_series(1, 100) i",
        ):
            connection.execute(statement.encode())
    visits = protect(f"{url}#visits", unit="person", max_rows_per_unit=1)
    assert visits.columns["mood"] == "other"
    assert visits.count("mood", epsilon=HUGE).value == ROWS


@pytest.mark.parametrize("form", ["parquet", "renamed", "table", "checkpoint", "rows in the plan"])
def test_stored_frames_of_spark_open(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    spark = request.getfixturevalue("spark")
    frame("7").write_parquet(tmp_path / "visits.parquet")
    read = spark.read.parquet(str(tmp_path / "visits.parquet"))
    if form == "renamed":
        read = read.withColumnRenamed("size", "length").select("person", "length").repartition(2)
    elif form == "table":
        read.write.mode("overwrite").saveAsTable("stored_visits")
        read = spark.table("stored_visits")
    elif form == "checkpoint":
        read = read.selectExpr("person", "CAST(size AS INT) AS size").localCheckpoint()
    elif form == "rows in the plan":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = spark.createDataFrame(frame("7").to_arrow())
    assert protect(read, unit="person", max_rows_per_unit=1).count(epsilon=HUGE).value == ROWS


@pytest.mark.parametrize("form", ["filter", "csv", "lazy checkpoint", "cached", "folders", "old dates"])
def test_frames_of_spark_that_are_computed_are_refused(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    spark = request.getfixturevalue("spark")
    frame("7").write_parquet(tmp_path / "visits.parquet")
    read = spark.read.parquet(str(tmp_path / "visits.parquet"))
    if form == "filter":
        read = read.filter("size / person > 0")
    elif form == "csv":
        frame("7").write_csv(tmp_path / "visits.csv")
        read = spark.read.csv(str(tmp_path / "visits.csv"), header=True, inferSchema=True)
    elif form == "lazy checkpoint":
        read = read.selectExpr("CAST(size AS INT) AS size").localCheckpoint(eager=False)
    elif form == "cached":
        read = read.selectExpr("CAST(size AS INT) AS size").persist()
    elif form == "folders":
        read.write.partitionBy("size").parquet(str(tmp_path / "folders"))
        read = spark.read.parquet(str(tmp_path / "folders"))
    elif form == "old dates":
        read = spark.read.option("datetimeRebaseMode", "EXCEPTION").parquet(str(tmp_path / "visits.parquet"))
    with pytest.raises(dp.DataTypeError, match="computed while it is read"):
        protect(read)


@pytest.mark.parametrize("kind", ["", "TEMPORARY"])
def test_texts_of_duckdb_that_arrow_does_not_take_at_once_are_read_in_parts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_store, "_BYTES", 64)
    connection = duckdb.connect()
    connection.execute(f"CREATE {kind} TABLE visits AS SELECT i, repeat('x', 4 * i) AS note FROM range(20) rows(i)")
    store = DuckDBStore(connection.table("visits"))
    batches = list(store.batches(["note"]))
    assert sum(batch.rows for batch in batches) == 20
    assert len(batches) > 4
    texts = [
        cells.raw_labels[code]
        for batch in batches
        for cells in [batch.cells("note", ColumnType.TEXT)]
        for code in cells.raw_codes
    ]
    assert texts == [*("x" * (4 * i) for i in range(16)), *["\ufffd"] * 4]


@pytest.mark.parametrize("odd", ["7", SECRET])
@pytest.mark.parametrize("plan", ["lazy_cast", "duckdb_query"])
def test_a_regression_of_a_plan_that_can_fail_is_refused(plan: str, odd: str) -> None:
    with pytest.raises(dp.DataTypeError, match=r"answers would show that row\.$"):
        dp.regression("size ~ person", PLANS[plan](odd), epsilon=1)
