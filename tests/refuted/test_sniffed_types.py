"""Types are declared and not found from rows, and ids of whatever type never fall together."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines.stores.opening import open_store
from tests.fresh_ledgers import forget_ledgers_in_memory
from tests.postgres import url_of_new_schema

HUGE = 10_000  # an epsilon at which noise vanishes
FAR = 2**61  # microseconds, which are a multiple of 2**64 nanoseconds apart from 0


def protect(table: Any, **changes: Any) -> Any:
    forget_ledgers_in_memory()
    settings: dict[str, Any] = {"budget": dp.Budget(epsilon=10**9, delta=0.01), "ledger": ":memory:", "name": "visits", **changes}
    return dp.protect(table, **{"unit": "row", **settings})


@pytest.mark.parametrize("odd", ["4", "none"])
@pytest.mark.parametrize("scan", ["duckdb read_csv", "duckdb query", "duckdb json", "polars scan_csv", "polars scan_ndjson"])
def test_a_scan_whose_types_are_found_from_rows_is_refused_whatever_they_are(tmp_path: Path, scan: str, odd: str) -> None:
    (tmp_path / "visits.csv").write_text(f"income\n1\n2\n3\n{odd}\n")
    (tmp_path / "visits.json").write_text("".join(f'{{"income": {each}}}\n' for each in ("1", "2", f'"{odd}"')))
    connection = duckdb.connect()
    scans: dict[str, Any] = {
        "duckdb read_csv": lambda: connection.read_csv(str(tmp_path / "visits.csv")),
        "duckdb query": lambda: connection.sql(f"SELECT * FROM '{tmp_path}/visits.csv'"),
        "duckdb json": lambda: connection.read_json(str(tmp_path / "visits.json")),
        "polars scan_csv": lambda: pl.scan_csv(tmp_path / "visits.csv"),
        "polars scan_ndjson": lambda: pl.scan_ndjson(tmp_path / "visits.json"),
    }
    with pytest.raises(dp.DataTypeError, match=r"may_fail=True") as complaint:
        protect(scans[scan]())
    assert odd not in str(complaint.value)


@pytest.mark.parametrize("form", ["table", "query"])
def test_intervals_of_duckdb_that_are_far_apart_are_different_ids(form: str) -> None:
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE visits AS SELECT to_microseconds(({FAR} * (i % 4))::BIGINT) AS id, i AS v FROM range(8) rows(i) "
        "UNION ALL SELECT INTERVAL '1 month' + to_microseconds(7), 9"
    )
    table = connection.table("visits") if form == "table" else connection.sql("FROM visits")
    assert protect(table, unit="id", max_rows_per_unit=1, may_fail=form == "query").count(epsilon=HUGE).value == 4 + 1


@pytest.mark.parametrize("microseconds", [0, 1, -1, FAR, -FAR, 2**63 - 1, -(2**63), 86_400_000_000])
@pytest.mark.parametrize(("months", "days"), [(0, 0), (14, -3), (-14, 3), (-1, 0), (2**31 - 1, 2**31 - 1)])
def test_intervals_of_duckdb_keep_all_their_microseconds(months: int, days: int, microseconds: int) -> None:
    from dpstats.engines.cells import ColumnType
    from dpstats.engines.stores.intervals import interval_text

    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE spans AS SELECT to_months({months}) + to_days({days}) + to_microseconds(({microseconds})::BIGINT) AS span"
    )
    store: Any = open_store(connection.table("spans"))[0]
    (batch,) = store.batches(["span"])
    assert batch.cells("span", ColumnType.TEXT).raw_labels == [interval_text(months, days, microseconds)]


def test_intervals_of_postgres_that_are_far_apart_are_different_ids(request: pytest.FixtureRequest) -> None:
    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT make_interval(hours => 640511947 * (i %% 4), secs => 13.693952 * (i %% 4)) AS id, "
            "i AS v FROM generate_series(0, 7) i".replace("%%", "%")
        )
    assert protect(f"{url}#visits", unit="id", max_rows_per_unit=1).count(epsilon=HUGE).value == 4


def test_intervals_of_spark_that_are_far_apart_are_different_ids(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    spark = request.getfixturevalue("spark")
    parts = spark.range(0, 8, 1, 2).selectExpr("(id % 4) * 640511947L AS hours", "(id % 4) * 13.693952 AS secs", "id AS v")
    long_ago = parts.selectExpr("make_interval(0, 0, 0, 0, int(hours), 0, secs) AS id", "v")
    assert protect(long_ago, unit="id", max_rows_per_unit=1, may_fail=True).count(epsilon=HUGE).value == 4
    months = spark.range(0, 8, 1, 2).selectExpr("make_ym_interval(int(id % 4), 0) AS id", "id AS v")
    assert protect(months, unit="id", max_rows_per_unit=1, may_fail=True).count(epsilon=HUGE).value == 4
    days = spark.range(0, 8, 1, 2).selectExpr("make_dt_interval(int((id % 4) * 26687997)) AS id", "id AS v")
    assert protect(days, unit="id", max_rows_per_unit=1, may_fail=True).count(epsilon=HUGE).value == 4


def test_old_times_of_parquet_keep_their_year_and_are_no_ids(tmp_path: Path) -> None:
    times = pa.array([datetime(3000, 1, 1), datetime(2415, 6, 12), datetime(1500, 1, 1)], pa.timestamp("us"))
    pq.write_table(pa.table({"at": times}), tmp_path / "visits.parquet", use_deprecated_int96_timestamps=True)
    visits = protect(tmp_path / "visits.parquet")
    assert visits.where("at == '3000-01-01'").count(epsilon=HUGE).value == 1
    assert visits.where("at < '1600-01-01'").count(epsilon=HUGE).value == 1
    with pytest.raises(dp.DataTypeError, match="cannot be the unit: it has times of 96 bits"):
        protect(tmp_path / "visits.parquet", unit="at", max_rows_per_unit=1)
