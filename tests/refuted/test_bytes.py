"""No byte of a text can make reading fail: one cell that is no UTF-8 costs its own row its text, and nobody else anything.

DuckDB is not among the stores: it takes no such text into a table.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType, Labels
from dpstats.engines.stores.opening import open_store
from tests.postgres import url_of_new_schema

HUGE = 10_000  # an epsilon at which noise vanishes
OTHERS = 500
STRAY = b"\xff\xfe\x80"


def text_of(raw_octets: list[bytes | None], text: Any = None) -> Any:
    """A column that is declared as text, whatever its bytes are."""
    declared = text or pa.string()
    octets = pa.array(raw_octets, pa.large_binary() if declared == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(declared, len(octets), octets.buffers())


def visits(text: Any = None) -> pa.Table:
    """One person has two rows, and in one of them two cells that are no UTF-8."""
    notes = [*[b"fine", None] * (OTHERS // 2), STRAY, b"fine"]
    return pa.table(
        {
            "person": pa.array([*range(OTHERS), OTHERS, OTHERS]),
            "note": text_of(notes, text),
            "size": text_of([*[b"12"] * OTHERS, STRAY, b"12"], text),
            "tags": pa.ListArray.from_arrays(pa.array(range(OTHERS + 3)), text_of(notes, text)),
            "income": pa.array([float(row) for row in range(OTHERS + 2)]),
            "day": pa.array([dt.date(2024, 1, 1)] * (OTHERS + 2)),
        }
    )


def in_parquet(folder: Path, _: Any, **settings: Any) -> Path:
    pq.write_table(visits(), folder / "visits.parquet", row_group_size=77, **settings)
    return folder / "visits.parquet"


def in_plain_parquet(folder: Path, _: Any) -> Path:
    return in_parquet(folder, _, use_dictionary=False, store_schema=False)


def in_categories(folder: Path, _: Any) -> Path:
    table = visits()
    table = table.set_column(1, "note", table.column("note").dictionary_encode())
    pq.write_table(table, folder / "visits.parquet")
    return folder / "visits.parquet"


def in_arrow(_: Path, __: Any) -> pa.Table:
    return visits()


def in_large_arrow(_: Path, __: Any) -> pa.Table:
    return visits(pa.large_string())


def in_polars(_: Path, __: Any) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(visits()))


def in_pandas(_: Path, __: Any) -> Any:
    import pandas as pd

    return visits().to_pandas(types_mapper=pd.ArrowDtype)


def in_csv(folder: Path, _: Any) -> Path:
    lines = [b"person,note,size,income"]
    lines += [b"%d,fine,12,%d" % (row, row) for row in range(OTHERS)]
    lines += [b"%d,%s,%s,7" % (OTHERS, STRAY, STRAY), b"%d,fine,12,8" % OTHERS]
    (folder / "visits.csv").write_bytes(b"\n".join(lines))
    return folder / "visits.csv"


def in_postgres(_: Path, request: Any) -> str:
    """A database without an encoding, which takes any bytes for text."""
    import psycopg

    url = url_of_new_schema(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS any_bytes")
        connection.execute("CREATE DATABASE any_bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    url = request.getfixturevalue("postgres_url").replace("/postgres?", "/any_bytes?")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS person, 'fine' AS note, '12' AS size, i::float8 AS income "
            "FROM generate_series(1, 501) i UNION ALL SELECT 501, E'\\xff\\xfe\\x80', E'\\xff', 7"
        )
    return f"{url}#visits"


def in_spark(folder: Path, request: Any) -> Any:
    spark = request.getfixturevalue("spark")
    return spark.read.parquet(str(in_parquet(folder, request)))


STORES: dict[str, Callable[[Path, Any], Any]] = {
    make.__name__: make
    for make in (
        in_parquet,
        in_plain_parquet,
        in_categories,
        in_arrow,
        in_large_arrow,
        in_polars,
        in_pandas,
        in_csv,
        in_postgres,
        in_spark,
    )
}
TYPES = {"note": "text", "size": "number", "income": "number"}


def session(table: Any, unit: str, **changes: Any) -> Any:
    types = TYPES if isinstance(table, Path) and table.suffix == ".csv" else {"size": "number"}
    settings: dict[str, Any] = {"budget": dp.Budget(epsilon=10**9, delta=0.01), "ledger": ":memory:", "types": types, **changes}
    return dp.protect(table, unit=unit, max_rows_per_unit=1, name="visits", **settings)


@pytest.mark.parametrize("store", STORES)
def test_a_cell_of_stray_bytes_is_a_label_of_its_own_row(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    table = session(STORES[store](tmp_path, request), "row")
    with_notes = table.where("note == 'fine'").count(epsilon=HUGE).value
    assert table.count(epsilon=HUGE).value == OTHERS + 2
    assert table.count("note", epsilon=HUGE).value == with_notes + 1
    assert table.count("size", epsilon=HUGE).value == OTHERS + 1
    assert table.median("size", epsilon=HUGE).value == 12
    assert table.mode("note", epsilon=HUGE, delta=1e-6).value == "fine"
    assert isinstance(table.median("income", epsilon=HUGE), dp.Release)


@pytest.mark.parametrize("store", STORES)
def test_a_person_of_stray_bytes_does_not_stop_the_bounding_of_rows(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = session(STORES[store](tmp_path, request), "person")
    assert table.count(epsilon=HUGE).value == OTHERS + 1
    assert isinstance(table.median("income", epsilon=HUGE), dp.Release)


@pytest.mark.parametrize("store", STORES)
def test_a_person_whose_id_is_stray_bytes_adds_no_more_rows_than_the_bound(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = session(STORES[store](tmp_path, request), "size", types={"size": "text"}, missing_unit="each")
    assert 1 <= table.count(epsilon=HUGE).value <= 2


@pytest.mark.parametrize("store", ["in_parquet", "in_plain_parquet", "in_categories", "in_arrow", "in_polars"])
def test_nested_columns_of_stray_bytes_are_counted(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    table = session(STORES[store](tmp_path, request), "row")
    assert table.count("tags", epsilon=HUGE).value == OTHERS + 2


def test_parquet_texts_are_mended_byte_by_byte(tmp_path: Path) -> None:
    table = pa.table({"note": text_of([b"a\xffb", b"\xc3\xa9", None, b"a\xef\xbf\xbdb", b""])})
    pq.write_table(table, tmp_path / "notes.parquet")
    store: Any = open_store(tmp_path / "notes.parquet")[0]
    (batch,) = store.batches(["note"])
    cells = batch.cells("note", ColumnType.TEXT)
    assert isinstance(cells, Labels)
    assert [None if code < 0 else cells.raw_labels[code] for code in cells.raw_codes] == ["a\ufffdb", "é", None, "a\ufffdb", ""]
