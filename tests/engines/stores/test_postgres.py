"""What is particular to tables in Postgres: its own types, one snapshot for all passes, and errors that keep secrets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

from dpstats.engines import complaints
from dpstats.engines.cells import ColumnType
from dpstats.engines.reading import read_identities
from dpstats.engines.stores import postgres as home
from dpstats.engines.stores import postgres_snapshots as snapshots
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.postgres import PostgresStore
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.engines.units.ids import UnitIds
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError, MissingExtraError, UnknownNameError
from tests.engines.stores.makers import MAKERS
from tests.engines.stores.makers_postgres import postgres_view
from tests.engines.stores.ugly import ROW, UGLY, CountRows, Gather, expected_cells, plain_cells, ugly_frame

INTEGER, NUMBER, BOOLEAN, TEXT, MOMENT, OTHER = (
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.BOOLEAN,
    ColumnType.TEXT,
    ColumnType.MOMENT,
    ColumnType.OTHER,
)


class Database:
    """A schema that only this test uses."""

    def __init__(self, url: str) -> None:
        self.url = url

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode())

    def store(self, table: str, **options: Any) -> PostgresStore:
        return PostgresStore(self.url, table, **options)


@pytest.fixture
def database(postgres_schema_url: str) -> Database:
    return Database(postgres_schema_url)


@pytest.fixture
def people(database: Database) -> Database:
    database.run("CREATE TABLE people AS SELECT i AS id, i * 1.5::float8 AS income FROM generate_series(0, 9999) i")
    return database


def cells(store: PostgresStore, name: str, kind: ColumnType) -> list[Any]:
    return [cell for batch in store.batches([name]) for cell in plain_cells(batch.cells(name, kind))]


def ids(store: PostgresStore) -> list[Any]:
    return cells(store, "id", INTEGER)


def micros(text: str) -> int:
    return int(np.datetime64(text, "us").astype(np.int64))


TINY = "0." + "0" * 323
CASES: list[tuple[str, list[str], ColumnType, list[Any]]] = [
    ("int2", ["-32768", "NULL", "32767"], INTEGER, [-32768, None, 32767]),
    ("int8", [str(-(2**63)), str(2**63 - 1), "NULL"], INTEGER, [-(2**63), 2**63 - 1, None]),
    ("oid", ["4294967295", "NULL"], INTEGER, [4294967295, None]),
    ("float4", ["'NaN'", "'-Infinity'", "0.1", "NULL"], NUMBER, [None, -math.inf, float(np.float32(0.1)), None]),
    (
        "float8",
        ["'Infinity'", "5e-324", "-0.0", "1.7976931348623157e308"],
        NUMBER,
        [math.inf, 5e-324, 0.0, 1.7976931348623157e308],
    ),
    ("numeric", ["'NaN'", "'Infinity'", "'-Infinity'", "NULL"], NUMBER, [None, math.inf, -math.inf, None]),
    ("numeric", ["1e400", "-1e400", "1e-400", "0.10"], NUMBER, [math.inf, -math.inf, 0.0, 0.1]),
    ("numeric", ["9007199254740993", TINY + "25", TINY + "24"], NUMBER, [9007199254740992.0, 5e-324, 0.0]),
    ("numeric(12, 2)", ["1234567890.12", "NULL"], NUMBER, [1234567890.12, None]),
    ("bool", ["true", "NULL", "false"], BOOLEAN, [1, None, 0]),
    ("date", ["'infinity'", "'-infinity'", "'0044-03-15 BC'"], MOMENT, [None, None, (micros("-0043-03-15"), False)]),
    ("timestamp", ["'infinity'", "'-infinity'", "'1970-01-01 00:00:01'"], MOMENT, [None, None, (1_000_000, False)]),
    ("timestamp", ["'294276-12-31 23:59:59'", "'4713-01-01 BC'"], MOMENT, [None, (micros("-4712-01-01"), False)]),
    ("timestamptz", ["'1970-01-01 01:00:00+01'", "NULL", "'infinity'"], MOMENT, [(0, True), None, None]),
    ("time", ["'12:00:00.5'", "NULL"], TEXT, ["12:00:00.5", None]),
    ("timetz", ["'12:00:00+02'", "NULL"], TEXT, ["12:00:00+02", None]),
    ("interval", ["'25 hours'", "'14 months'", "'1 month -2 days'", "NULL"], TEXT, ["P1DT1H", "P14M", "P1M-2D", None]),
    ("varchar(9)", ["''", "NULL", r"'\N'", "E'a\\tb\\\\'"], TEXT, ["", None, r"\N", "a\tb\\"]),
    ("char(4)", ["'ab'", "NULL"], TEXT, ["ab", None]),
    ("uuid", ["'6f1ed002-ab5c-4f0d-8b0b-2b2d5e3e5a10'", "NULL"], TEXT, ["6f1ed002-ab5c-4f0d-8b0b-2b2d5e3e5a10", None]),
    ("inet", ["'10.0.0.1'", "NULL"], TEXT, ["10.0.0.1/32", None]),
    ("bytea", [r"'\xff00'", "NULL", "''"], OTHER, [True, False, True]),
    ("bytea", [r"'\xff61'", "NULL", "''"], TEXT, ["\ufffda", None, ""]),
    ("jsonb", ["'[1, 2]'", "NULL"], OTHER, [True, False]),
    ("jsonb", ["'[1, 2]'", "NULL"], TEXT, ["[1, 2]", None]),
    ("int4[]", ["'{1,NULL}'", "NULL", "'{}'"], OTHER, [True, False, True]),
    ("pair", ["ROW(NULL, NULL)", "NULL", "ROW(1, 2)"], OTHER, [True, False, True]),
    ("short", ["7", "NULL"], INTEGER, [7, None]),
    ("date_", ["'x'", "NULL"], TEXT, ["x", None]),
]


def test_every_type_of_postgres_has_its_cells(database: Database) -> None:
    database.run(
        "CREATE TYPE pair AS (a int, b int); CREATE DOMAIN wide AS int8; CREATE DOMAIN short AS wide; CREATE DOMAIN date_ AS text"
    )
    for place, (declared, values, kind, expected) in enumerate(CASES):
        rows = ", ".join(f"({value})" for value in values)
        database.run(f"CREATE TABLE odd_{place} (x {declared}); INSERT INTO odd_{place} VALUES {rows}")
        database.run(f"CREATE VIEW seen_{place} AS SELECT * FROM odd_{place}")
        for table in ("odd", "seen"):
            store = database.store(f"{table}_{place}")
            assert store.columns["x"] is kind or kind is TEXT, declared
            assert cells(store, "x", kind) == expected, declared
            store.close()


def test_a_type_that_only_has_the_name_of_one_is_none(database: Database) -> None:
    database.run("CREATE TYPE int4 AS ENUM ('one', 'two')")
    database.run(
        "DO $$ BEGIN EXECUTE format('CREATE TABLE odd (x %I.int4)', current_schema()); END $$; INSERT INTO odd VALUES ('two')"
    )
    assert database.store("odd").columns == {"x": TEXT}
    assert cells(database.store("odd"), "x", TEXT) == ["two"]


def test_long_numerics_stay_apart_as_ids(database: Database) -> None:
    database.run("CREATE TABLE wide AS SELECT x FROM (VALUES (12345678901234567890.1), (12345678901234567890.2), (7.00)) wide(x)")
    [batch] = database.store("wide").batches(["x"])
    assert plain_cells(read_identities(batch._raw_columns["x"], NUMBER)) == [
        "12345678901234567890.1",
        "12345678901234567890.2",
        "7",
    ]


def test_all_passes_see_the_rows_of_the_first_in_the_order_in_which_they_lie(people: Database) -> None:
    store = people.store("people", batch_pages=2)
    people.run("DELETE FROM people WHERE id = 5; UPDATE people SET income = 0 WHERE id % 3 = 0; CREATE INDEX ON people (id)")
    with psycopg.connect(people.url) as connection:
        expected = [row[0] for row in connection.execute("SELECT id FROM people ORDER BY ctid")]
    assert expected != sorted(expected)
    assert ids(store) == expected
    people.run("DELETE FROM people WHERE id < 5000; INSERT INTO people VALUES (-1, 0)")
    people.run("UPDATE people SET income = 1")
    assert ids(store) == expected
    assert [cell for batch in store.batches(["id", "income"]) for cell in plain_cells(batch.cells("id", INTEGER))] == expected
    assert store.repeatable() is store
    assert -1 in ids(people.store("people"))


def test_passes_may_run_at_once(people: Database) -> None:
    store = people.store("people", batch_pages=10)
    pairs = list(zip(store.batches(["id"]), store.batches(["income"]), strict=True))
    assert sum(a.rows for a, _ in pairs) == sum(b.rows for _, b in pairs) == 10_000
    assert len(pairs) > 3
    next(store.batches(["id"]))
    assert len(ids(store)) == 10_000


def test_strings_too_long_for_the_server_are_fetched_in_halves(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    people.run("DELETE FROM people WHERE id BETWEEN 15 AND 9980")
    store = people.store("people")
    expected = ids(store)
    assert len(expected) == 34
    ask = home._ask

    def ask_little(connection: Any, statement: str, encoding: str) -> Any:
        answer = ask(connection, statement, encoding)
        if answer[0][0] > 3:
            connection.execute("SELECT repeat('x', 1073741824)")  # the server's own refusal, which ends a transaction
        return answer

    monkeypatch.setattr(home, "_ask", ask_little)
    batches = [batch.rows for batch in store.batches(["id"])]
    assert max(batches) <= 3
    assert ids(store) == expected
    monkeypatch.setattr(home, "_ask", lambda *_, **__: (_ for _ in ()).throw(errors.ProgramLimitExceeded()))
    monkeypatch.setattr(store, "_comes_in_ranges", lambda *_: True)
    with pytest.raises(errors.ProgramLimitExceeded):
        ids(store)


def test_a_view_is_read_but_has_no_order(people: Database) -> None:
    people.run("CREATE VIEW rich AS SELECT * FROM people WHERE income > 14990")
    store = people.store("rich")
    assert sorted(ids(store)) == list(range(9994, 10_000))
    with pytest.raises(DataTypeError, match="rich is a view or a foreign table: rows per unit can be bounded in plain tables"):
        store.bounded(Bound("id", INTEGER, 1, (("id", INTEGER),), MissingUnit.DROP, bytes(16)))


def test_rows_per_unit_are_bounded(people: Database) -> None:
    people.run("UPDATE people SET id = id / 4")
    bound = Bound("id", INTEGER, 3, (("id", INTEGER), ("income", NUMBER)), MissingUnit.DROP, bytes(range(32)))
    local: Any = open_store({"id": [row // 4 for row in range(10_000)], "income": [row * 1.5 for row in range(10_000)]})[0]
    stores: list[Any] = [people.store("people", batch_pages=3).bounded(bound), bounded(local, bound)]
    kept = [
        [cell for batch in store.batches(["income"]) for cell in plain_cells(batch.cells("income", NUMBER))] for store in stores
    ]
    assert len(kept[0]) == 7_500
    assert sorted(kept[0]) == sorted(kept[1])


def test_a_view_has_the_cells_of_its_table(request: pytest.FixtureRequest, tmp_path: Any) -> None:
    frame = ugly_frame().drop(MAKERS["postgres table"].lacks)
    store: Any = postgres_view(frame, tmp_path, request)
    assert store.run(CountRows(), [])[0] == frame.height
    for name in frame.columns[1:]:
        for kind in UGLY[name].readings:
            assert store.run(Gather(name, kind), [ROW, name]) == expected_cells(name, kind), name


def test_materialized_views_partitions_and_inheriting_tables_can_be_repeated(people: Database) -> None:
    people.run("CREATE MATERIALIZED VIEW kept AS SELECT * FROM people WHERE id < 7")
    assert ids(people.store("kept").repeatable()) == list(range(7))
    people.run("CREATE TABLE parent (id int); CREATE TABLE child () INHERITS (parent)")
    people.run("INSERT INTO parent VALUES (1); INSERT INTO child VALUES (2)")
    store = people.store("parent").repeatable()
    assert sorted(ids(store)) == [1, 2]
    assert ids(store) == ids(store)


def test_a_server_that_does_not_go_along_the_pages_is_asked_row_by_row(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(snapshots.SETTINGS, "enable_tidscan", "off")
    people.run("UPDATE people SET income = 0 WHERE id % 3 = 0")
    with psycopg.connect(people.url) as connection:
        expected = [row[0] for row in connection.execute("SELECT id FROM people ORDER BY ctid")]
    assert ids(people.store("people")) == expected


def test_names_are_those_of_sql(database: Database) -> None:
    database.run('CREATE SCHEMA "Odd ""s"; CREATE TABLE "Odd ""s"."T.{0} %s" ("a ""b"" {c} %s" int, "select" int)')
    database.run('INSERT INTO "Odd ""s"."T.{0} %s" VALUES (1, 2)')
    store = database.store('"Odd ""s"."T.{0} %s"')
    assert cells(store, 'a "b" {c} %s', INTEGER) == [1]
    assert cells(store, "select", INTEGER) == [2]
    database.run('DROP TABLE IF EXISTS "Odd ""s".gone')
    store.close()
    database.run('DROP SCHEMA "Odd ""s" CASCADE')


def test_texts_of_other_encodings_are_decoded_here(postgres_url: str) -> None:
    name = "latin"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0".encode())
    url = postgres_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, client_encoding="UTF8") as connection:
        made = 'CREATE TABLE "Wörter" AS SELECT x AS "ö" FROM (VALUES (chr(233)), (NULL), (chr(255))) words(x)'
        connection.execute(made.encode())
    store = PostgresStore(url, '"Wörter"')
    assert cells(store, "ö", TEXT) == ["é", None, "ÿ"]
    store.close()


def test_texts_of_no_encoding_are_mended_one_by_one(postgres_url: str) -> None:
    name = "anything"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0".encode())
    url = postgres_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, client_encoding="SQL_ASCII") as connection:
        connection.execute('CREATE TABLE "Wörter" ("ö" text, amount numeric)'.encode())
        rows = rb"(E'\xff', 1), (E'\\xff', 2), ('a', 3), (NULL, 4), (E'\xc3\xa9', NULL), (E'\xfe', 'NaN')"
        connection.execute('INSERT INTO "Wörter" VALUES '.encode() + rows)
        connection.execute('CREATE VIEW seen AS SELECT * FROM "Wörter"'.encode())
    for table in ('"Wörter"', "seen"):
        store = PostgresStore(url, table)
        assert cells(store, "ö", TEXT) == ["\ufffd", r"\xff", "a", None, "é", "\ufffd"]
        assert cells(store, "amount", NUMBER) == [1.0, 2.0, 3.0, 4.0, None, None]
        [batch] = store.batches(["ö"])
        ids = UnitIds.of(batch, "ö", TEXT)
        assert plain_cells(ids.cells) == [None, r"\xff", "a", None, "é", None]
        assert ids.raw_unreadable.tolist() == [True, False, False, False, False, True]
        store.close()


@pytest.mark.parametrize("table", ["persons", "nowhere.people", "a.b.c.d", "", "people; drop table people", '"', "People\x00"])
def test_a_table_that_is_not_there_is_named(people: Database, table: str) -> None:
    with pytest.raises(InvalidParameterError, match="there is no table") as caught:
        people.store(table)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_what_is_no_table_is_refused(people: Database) -> None:
    people.run("CREATE INDEX by_id ON people (id)")
    with pytest.raises(DataTypeError, match="by_id is neither a table nor a view"):
        people.store("by_id")


def test_a_table_that_may_not_be_read_is_refused(people: Database, postgres_url: str) -> None:
    people.run(
        "DO $$ BEGIN CREATE ROLE stranger LOGIN; EXECUTE format('GRANT USAGE ON SCHEMA %I TO stranger', current_schema()); END $$"
    )
    with pytest.raises(InvalidParameterError, match="may not read people"):
        PostgresStore(people.url.replace("postgres@", "stranger@"), "people")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@127.0.0.1:1/db",
        "postgresql://me:s3cret@no.such.host.invalid/db?connect_timeout=1",
        "postgresql://me:s3cret@/db?host=/no/such/folder",
        "postgresql://me:s3cret@127.0.0.1:99999999/db",
        "postgresql://me:s3cret@host/db?no_such_option=1",
    ],
)
def test_no_password_is_repeated_when_there_is_no_server(url: str) -> None:
    with pytest.raises((DataFileError, InvalidParameterError)) as caught:
        PostgresStore(url, "people")
    seen = [str(caught.value), str(caught.value.__cause__), str(caught.value.__context__)]
    assert not any("s3cret" in text for text in seen)


def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with pytest.raises(DataFileError, match="database lost: check that the server runs there, and the user and the password"):
        PostgresStore(postgres_url.replace("/postgres?", "/lost?"), "people")


def test_a_table_in_one_text_is_the_url_and_the_name(people: Database) -> None:
    store, types = open_store(people.url + "#people", {"id": "text"})
    assert isinstance(store, PostgresStore)
    assert (types["id"], store.columns["income"]) == (TEXT, NUMBER)
    assert len(ids(store)) == 10_000
    people.run('CREATE TABLE "Odd one#" (id int)')
    assert ids(PostgresStore.from_url(people.url + "#%22Odd%20one%23%22")) == []
    with pytest.raises(InvalidParameterError, match="ends in # and the table's name"):
        PostgresStore.from_url(people.url)


def test_opening_reads_no_row(database: Database) -> None:
    database.run("CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'read'; END $$")
    database.run("CREATE VIEW trap AS SELECT fail() AS id")
    store = database.store("trap")
    assert store.columns == {"id": INTEGER}
    with pytest.raises(psycopg.Error):
        ids(store)


def test_an_unknown_column_is_named(people: Database) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean income"):
        people.store("people").batches(["incomes"])


def test_nothing_can_be_written_and_a_closed_store_is_read_no_more(people: Database) -> None:
    store = people.store("people")
    ids(store)
    with pytest.raises(errors.ReadOnlySqlTransaction):
        store._snapshot().connection.execute("DELETE FROM people")
    store.close()
    with pytest.raises(DataFileError, match="was closed: open the table anew"):
        ids(store)


def test_without_the_libraries_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complaints, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"dpstats\[postgres\]"):
        PostgresStore("postgresql://host/db", "people")
