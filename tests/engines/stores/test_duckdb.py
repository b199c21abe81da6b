"""What is particular to tables in DuckDB: its own types, its own connection, one snapshot for all passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from dpstats.engines import complaints
from dpstats.engines.cells import ColumnType
from dpstats.engines.reading import read_identities
from dpstats.engines.stores.duckdb import DuckDBStore
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataFileError, InvalidParameterError, MissingExtraError, UnknownNameError
from tests.engines.stores.ugly import plain_cells

INTEGER, NUMBER, TEXT, MOMENT, OTHER = (
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.TEXT,
    ColumnType.MOMENT,
    ColumnType.OTHER,
)
WIDE = 170141183460469231731687303715884105727


@pytest.fixture
def connection() -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, i * 1.5 AS income FROM range(1000) numbers(i)").fetchall()
        yield connection


def cells(store: DuckDBStore, name: str, kind: ColumnType) -> list[Any]:
    return [cell for batch in store.batches([name]) for cell in plain_cells(batch.cells(name, kind))]


def ids(store: DuckDBStore) -> list[Any]:
    return cells(store, "id", INTEGER)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (
            f"(1::HUGEINT), ({WIDE}), (-{WIDE} - 1), (NULL), (9007199254740993)",
            INTEGER,
            [1, 1.70141183460469e38, -1.70141183460469e38, None, 9007199254740990.0],
        ),
        ("(340282366920938463463374607431768211455::UHUGEINT), (NULL)", INTEGER, [3.40282366920938e38, None]),
        (f"('{'9' * 400}'::BIGNUM), (-('{'9' * 400}'::BIGNUM)), (12::BIGNUM)", INTEGER, [math.inf, -math.inf, 12]),
        ("(255::UTINYINT), (NULL)", INTEGER, [255, None]),
        ("(0.1::DECIMAL(38, 10)), (NULL)", NUMBER, [0.1, None]),
        ("('nan'::DOUBLE), ('-inf'), (1e308)", NUMBER, [None, -math.inf, 1e308]),
        ("(NULL), (NULL)", NUMBER, [None, None]),
        ("('infinity'::DATE), ('-infinity'), ('1970-01-02')", MOMENT, [None, None, (86_400_000_000, False)]),
        ("('0044-03-15 (BC)'::DATE), (NULL)", MOMENT, [(np.datetime64("-0043-03-15", "us").astype(int), False), None]),
        ("('infinity'::TIMESTAMP), ('1970-01-01 00:00:01')", MOMENT, [None, (1_000_000, False)]),
        ("('1970-01-01 00:00:01'::TIMESTAMP_S), ('-infinity')", MOMENT, [(1_000_000, False), None]),
        ("('1970-01-01 00:00:01'::TIMESTAMP_MS), (NULL)", MOMENT, [(1_000_000, False), None]),
        ("('1970-01-01 00:00:01'::TIMESTAMP_NS), ('infinity')", MOMENT, [(1_000_000, False), None]),
        ("('1970-01-01 01:00:00+01'::TIMESTAMPTZ), ('infinity')", MOMENT, [(0, True), None]),
        ("('12:00:00.5'::TIME), (NULL)", TEXT, ["12:00:00.5", None]),
        ("('12:00:00+02'::TIMETZ), (NULL)", TEXT, ["12:00:00+02", None]),
        (
            "(INTERVAL '25 hours'), (INTERVAL '14 months'), (INTERVAL '1 month' - INTERVAL '2 days'), (NULL), (INTERVAL '0 day')",
            TEXT,
            ["P1DT1H", "P14M", "P1M-2D", None, "PT0S"],
        ),
        ("('a'::ENUM ('b', 'a')), (NULL)", TEXT, ["a", None]),
        ("('6f1ed002-ab5c-4f0d-8b0b-2b2d5e3e5a10'::UUID), (NULL)", TEXT, ["6f1ed002-ab5c-4f0d-8b0b-2b2d5e3e5a10", None]),
        ("('\\xFF'::BLOB), (NULL)", OTHER, [True, False]),
        ("('[1, 2]'::JSON), (NULL)", OTHER, [True, False]),
        ("('101'::BIT), (NULL)", OTHER, [True, False]),
        ("([1, NULL]), (NULL), ([])", OTHER, [True, False, True]),
        ("({'a': NULL}), (NULL)", OTHER, [True, False]),
        ("(MAP {'a': 1}), (NULL)", OTHER, [True, False]),
    ],
)
@pytest.mark.parametrize("form", ["table", "query"])
def test_every_type_of_duckdb_has_its_cells(
    connection: Any, form: str, values: str, kind: ColumnType, expected: list[Any]
) -> None:
    connection.execute(f"CREATE TABLE odd AS SELECT * FROM (VALUES {values}) odd(x)").fetchall()
    store = DuckDBStore(connection.table("odd") if form == "table" else connection.sql("SELECT * FROM odd"))
    assert store.columns == {"x": kind}
    assert cells(store, "x", kind) == expected


def test_wide_numbers_stay_apart_as_ids(connection: Any) -> None:
    store = DuckDBStore(connection.sql(f"SELECT * FROM (VALUES ({WIDE}::HUGEINT), ({WIDE - 1}), (7)) wide(x)"))
    [batch] = store.batches(["x"])
    assert plain_cells(read_identities(batch._raw_columns["x"], INTEGER)) == [str(WIDE), str(WIDE - 1), "7"]


def test_a_table_is_read_where_it_is_and_a_query_is_kept(connection: Any) -> None:
    connection.execute(
        "CREATE SCHEMA other; CREATE TABLE other.people AS SELECT 1 AS id; CREATE VIEW adults AS FROM people"
    ).fetchall()
    connection.execute("CREATE TEMPORARY TABLE passing AS SELECT 2 AS id; CREATE TABLE numbered AS SELECT 5 AS rowid").fetchall()
    assert DuckDBStore(connection.table("main.people"))._table == '"memory"."main"."people"'
    assert DuckDBStore(connection.table("other.people"))._table == '"memory"."other"."people"'
    assert ids(DuckDBStore(connection.table("other.people"))) == [1]
    for relation in (connection.table("adults"), connection.table("people").filter("id < 3"), connection.table("passing")):
        assert DuckDBStore(relation)._table is None
    assert ids(DuckDBStore(connection.table("passing"))) == [2]
    assert cells(DuckDBStore(connection.table("numbered")), "rowid", INTEGER) == [5]


def test_a_temporary_table_hides_a_table_of_its_name(connection: Any) -> None:
    connection.execute("CREATE TEMPORARY TABLE people AS SELECT 77 AS id, 1.5 AS income").fetchall()
    assert ids(DuckDBStore(connection.table("people"))) == [77]


def test_what_the_caller_has_not_committed_is_found_all_the_same(connection: Any) -> None:
    connection.begin()
    connection.execute("CREATE TABLE fresh AS SELECT 3 AS id").fetchall()
    assert ids(DuckDBStore(connection.table("fresh"))) == [3]
    connection.rollback()


def test_a_query_with_parameters_and_python_tables_is_run(connection: Any) -> None:
    import pyarrow

    given = pyarrow.table({"id": [1, 2, 3]})
    assert given.num_rows == 3
    store = DuckDBStore(connection.sql("SELECT id FROM given WHERE id > $least", params={"least": 1}))
    assert ids(store) == [2, 3]


def test_opening_runs_no_query_of_the_caller(connection: Any) -> None:
    store = DuckDBStore(connection.sql("SELECT error('read') AS id"))
    assert set(store.columns) == {"id"}
    with pytest.raises(duckdb.Error):
        ids(store)


@pytest.mark.parametrize("form", ["table", "query"])
def test_all_passes_see_the_rows_of_the_first(connection: Any, form: str) -> None:
    relation = connection.table("people") if form == "table" else connection.sql("SELECT * FROM people WHERE random() < 0.5")
    store = DuckDBStore(relation, batch_rows=100)
    first = ids(store)
    connection.execute("DELETE FROM people WHERE id % 2 = 0; INSERT INTO people VALUES (5000, 1)").fetchall()
    assert ids(store) == first
    connection.execute("DROP TABLE people").fetchall()
    assert ids(store) == first


def test_passes_may_run_at_once_and_the_caller_too(connection: Any) -> None:
    store = DuckDBStore(connection.table("people"), batch_rows=100)
    connection.execute("SELECT * FROM people")
    assert connection.fetchone() is not None
    pairs = zip(store.batches(["id"]), store.batches(["id", "income"]), strict=True)
    assert [(a.rows, b.rows) for a, b in pairs] == [(100, 100)] * 10
    assert connection.fetchone()[0] == 1
    half_read = store.batches(["id"])
    next(half_read)
    assert len(ids(store)) == 1000


def test_rows_come_in_the_order_of_their_numbers_even_if_duckdb_does_not_care(connection: Any) -> None:
    connection.execute("SET preserve_insertion_order = false").fetchall()
    connection.execute("CREATE TABLE many AS SELECT i AS id FROM range(400000) numbers(i)").fetchall()
    store = DuckDBStore(connection.table("many"))
    [batch] = store.batches(["id"])
    first = batch.cells("id", INTEGER).raw_values
    [again] = store.batches(["id"])
    assert np.array_equal(first, again.cells("id", INTEGER).raw_values)
    assert np.array_equal(np.sort(first), np.arange(400_000))


def test_rows_that_were_deleted_leave_no_gap(connection: Any) -> None:
    connection.execute("DELETE FROM people WHERE id BETWEEN 100 AND 899").fetchall()
    store = DuckDBStore(connection.table("people"), batch_rows=50)
    assert ids(store) == [*range(100), *range(900, 1000)]


def test_odd_names_are_quoted(connection: Any) -> None:
    connection.execute('CREATE TABLE "we""ird.table" ("a ""b"" {c} %s" INTEGER, "select" INTEGER)').fetchall()
    connection.execute('INSERT INTO "we""ird.table" VALUES (1, 2)').fetchall()
    store = DuckDBStore(connection.table('"we""ird.table"'))
    assert store._table is not None
    assert cells(store, 'a "b" {c} %s', INTEGER) == [1]
    assert cells(store, "select", INTEGER) == [2]


def test_a_name_that_comes_twice_is_refused(connection: Any) -> None:
    with pytest.raises(InvalidParameterError, match="more than one column named a"):
        DuckDBStore(connection.sql('SELECT 1 AS a, 2 AS "A"'))


def test_an_unknown_column_is_named(connection: Any) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean income"):
        list(DuckDBStore(connection.table("people")).batches(["incomes"]))


def test_a_closed_connection_is_our_own_error(connection: Any) -> None:
    relation = connection.table("people")
    connection.close()
    with pytest.raises(DataFileError, match="could not be opened: check that its connection is open") as caught:
        DuckDBStore(relation)
    assert caught.value.__suppress_context__


def test_a_store_in_a_file_is_opened_by_name(tmp_path: Path) -> None:
    file = tmp_path / "kept.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 5 AS id; CREATE VIEW adults AS FROM people").fetchall()
    assert ids(DuckDBStore.from_file(file, "people")) == [5]
    assert ids(DuckDBStore.from_file(file, "adults")) == [5]
    with pytest.raises(InvalidParameterError, match="persons is no table or view in"):
        DuckDBStore.from_file(file, "persons")
    with pytest.raises(DataFileError, match="there is no file"):
        DuckDBStore.from_file(tmp_path / "lost.duckdb", "people")
    (tmp_path / "text.duckdb").write_text("no database, but a secret")
    with pytest.raises(DataFileError, match="could not be opened as a DuckDB file") as caught:
        DuckDBStore.from_file(tmp_path / "text.duckdb", "people")
    assert "secret" not in str(caught.value)


def test_relations_are_opened_by_what_they_are(connection: Any) -> None:
    store, types = open_store(connection.table("people"), {"id": "text"})
    assert isinstance(store, DuckDBStore)
    assert types["id"] is TEXT


def test_without_the_libraries_the_error_says_what_to_install(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complaints, "find_spec", lambda name: None if name == "pyarrow" else name)
    with pytest.raises(MissingExtraError, match=r"dpstats\[duckdb\]"):
        DuckDBStore(connection.table("people"))


def test_a_closed_store_is_read_no_more(connection: Any) -> None:
    store = DuckDBStore(connection.table("people"))
    assert len(ids(store)) == 1000
    store.close()
    with pytest.raises(duckdb.Error):
        ids(store)
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(1000,)]
