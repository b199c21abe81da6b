"""When a Postgres table is known to be as it was: writes elsewhere do not count, and no change of its own is missed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from dpstats.engines.stores import postgres_states as home
from dpstats.engines.stores.postgres import PostgresStore
from dpstats.foundations.working import one_question
from tests.postgres import binaries, running_server

PLAIN = (
    "CREATE TABLE seen (id int, income float8, spare int); INSERT INTO seen SELECT i, i, i FROM generate_series(1, 500) i;"
    "CREATE INDEX seen_id ON seen (id DESC)"
)
PARTED = (
    "CREATE TABLE seen (id int, income float8, spare int) PARTITION BY RANGE (id);"
    "CREATE TABLE low PARTITION OF seen FOR VALUES FROM (0) TO (100);"
    "CREATE TABLE high PARTITION OF seen FOR VALUES FROM (100) TO (900);"
    "CREATE TABLE apart AS SELECT i AS id, i::float8 AS income, i AS spare FROM generate_series(900, 950) i;"
    "INSERT INTO seen SELECT i, i, i FROM generate_series(1, 500) i"
)
INHERITED = (
    "CREATE TABLE seen (id int, income float8, spare int); CREATE TABLE low () INHERITS (seen);"
    "INSERT INTO seen SELECT i, i, i FROM generate_series(1, 500) i; INSERT INTO low SELECT i, i, i FROM generate_series(1, 90) i"
)
VIEWED = (
    "CREATE TABLE origin AS SELECT i AS id, i::float8 AS income FROM generate_series(1, 500) i;"
    "CREATE MATERIALIZED VIEW seen AS SELECT * FROM origin"
)
ENUMS = "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE seen AS SELECT 'sad'::mood AS id FROM generate_series(1, 9)"

LASTING = [
    (PLAIN, "INSERT INTO elsewhere VALUES (1)"),
    (PLAIN, "BEGIN; UPDATE seen SET income = 0; ROLLBACK"),
    (PLAIN, "BEGIN; SELECT FROM seen FOR UPDATE; INSERT INTO elsewhere VALUES (1); COMMIT"),
    (PLAIN, "VACUUM FREEZE seen"),
    (PLAIN, "ANALYZE seen"),
    (PLAIN, "CREATE INDEX ON seen (income)"),
    (PARTED, "INSERT INTO elsewhere VALUES (1); UPDATE apart SET income = 0"),
    (INHERITED, "INSERT INTO elsewhere VALUES (1)"),
    (VIEWED, "UPDATE origin SET income = 0"),
    (ENUMS, "INSERT INTO elsewhere VALUES (1)"),
]
CHANGING = [
    *(
        (made, statement)
        for made in (PLAIN, PARTED, INHERITED)
        for statement in (
            "INSERT INTO seen VALUES (1, 1, 1)",
            "UPDATE seen SET income = 0 WHERE id = 7",
            "UPDATE seen SET income = income WHERE id = 7",
            "DELETE FROM seen WHERE id = 7",
            "DELETE FROM seen WHERE id = 7; INSERT INTO seen VALUES (7, 7, 7)",
            "TRUNCATE seen",
            "BEGIN; SAVEPOINT a; DELETE FROM seen; ROLLBACK TO a; UPDATE seen SET income = 0 WHERE id = 7; COMMIT",
            "BEGIN; SAVEPOINT a; UPDATE seen SET income = 0 WHERE id = 7; RELEASE a; COMMIT",
            "BEGIN; DELETE FROM seen; ROLLBACK; DELETE FROM seen WHERE id = 7; INSERT INTO seen VALUES (7, 7, 7)",
            "ALTER TABLE seen DROP COLUMN spare; ALTER TABLE seen ADD COLUMN spare int",
            "ALTER TABLE seen DROP COLUMN spare; ALTER TABLE seen ADD COLUMN spare int DEFAULT 3",
        )
    ),
    (PLAIN, "CLUSTER seen USING seen_id"),
    (PLAIN, "DELETE FROM seen WHERE id < 9; VACUUM FULL seen"),
    (PLAIN, "BEGIN; TRUNCATE seen; COMMIT; INSERT INTO seen SELECT i, i, i FROM generate_series(1, 500) i"),
    (PARTED, "UPDATE low SET income = 0 WHERE id = 7"),
    (PARTED, "UPDATE seen SET id = 400 WHERE id = 7"),
    (PARTED, "TRUNCATE low"),
    (PARTED, "ALTER TABLE seen DETACH PARTITION low"),
    (PARTED, "ALTER TABLE seen ATTACH PARTITION apart FOR VALUES FROM (900) TO (1000)"),
    (
        PARTED,
        "ALTER TABLE seen ATTACH PARTITION apart FOR VALUES FROM (900) TO (1000); DELETE FROM seen WHERE id BETWEEN 100 AND 150",
    ),
    (INHERITED, "INSERT INTO low VALUES (7, 7, 7)"),
    (INHERITED, "UPDATE ONLY seen SET income = 0 WHERE id = 7"),
    (INHERITED, "ALTER TABLE low NO INHERIT seen; CREATE TABLE other () INHERITS (seen); INSERT INTO other SELECT * FROM low"),
    (VIEWED, "REFRESH MATERIALIZED VIEW seen"),
    (ENUMS, "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'"),
]


def run(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements.split(";"):
            connection.execute(statement.encode())


@pytest.fixture
def opened(postgres_schema_url: str) -> Iterator[Callable[[str], PostgresStore]]:
    """Makes the table `seen` as statements say, and opens it."""
    stores: list[PostgresStore] = []

    def make(statements: str) -> PostgresStore:
        run(postgres_schema_url, f"{statements}; CREATE TABLE elsewhere (i int)")
        stores.append(PostgresStore(postgres_schema_url, "seen"))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def moment(store: PostgresStore) -> object:
    with one_question():
        return store.moment()


@pytest.mark.parametrize(("made", "statements"), LASTING)
def test_a_state_outlasts_what_changes_none_of_its_rows(
    opened: Callable[[str], PostgresStore], postgres_schema_url: str, made: str, statements: str
) -> None:
    store = opened(made)
    before = moment(store)
    for _ in range(2):
        run(postgres_schema_url, statements)
        assert moment(store) is before


@pytest.mark.parametrize(("made", "statements"), CHANGING)
def test_every_change_of_a_table_ends_its_state(
    opened: Callable[[str], PostgresStore], postgres_schema_url: str, made: str, statements: str
) -> None:
    store = opened(made)
    before = moment(store)
    run(postgres_schema_url, statements)
    after = moment(store)
    assert after is not before
    run(postgres_schema_url, "INSERT INTO elsewhere VALUES (1)")
    assert moment(store) is after


@pytest.mark.parametrize("statement", ["UPDATE seen SET income = 0 WHERE id = 7", "INSERT INTO seen VALUES (7, 7, 7)"])
@pytest.mark.parametrize("point", ["", "SAVEPOINT a"])
def test_a_change_under_way_at_one_look_and_committed_by_the_next_is_seen(
    opened: Callable[[str], PostgresStore], postgres_schema_url: str, statement: str, point: str
) -> None:
    """Also that of a subtransaction, whose number no snapshot lists."""
    store = opened(PLAIN)
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute(b"INSERT INTO elsewhere VALUES (1)")
        if point:
            connection.execute(point.encode())
        connection.execute(statement.encode())
        run(postgres_schema_url, "INSERT INTO elsewhere VALUES (2)")  # so that a later number is over
        before = moment(store)
        assert moment(store) is before
    assert moment(store) is not before


def test_a_state_is_of_one_backend(opened: Callable[[str], PostgresStore]) -> None:
    """Numbers of transactions may come again after a crash, which no backend outlives."""
    store = opened(PLAIN)
    before = moment(store)
    with one_question():
        assert store.moment() is before
        assert PostgresStore.moment(store) is before
    for snapshot in store._snapshots.idle:
        snapshot.connection.close()
    assert moment(store) is not before


def test_a_standby_whose_snapshots_do_not_list_transactions_misses_no_change(
    opened: Callable[[str], PostgresStore], postgres_url: str, postgres_schema_url: str
) -> None:
    programs = binaries()
    if programs is None or not (programs / "pg_basebackup").exists():
        pytest.skip("no pg_basebackup, which makes standbys")
    opened(PLAIN)
    with running_server(programs, postgres_url) as standby:
        url = postgres_schema_url.replace(postgres_url, standby.url)
        store = PostgresStore(url, "seen")
        with psycopg.connect(url, autocommit=True) as there, psycopg.connect(postgres_schema_url) as early:
            early.execute("INSERT INTO elsewhere VALUES (1)")  # the oldest number stays under way
            with psycopg.connect(postgres_schema_url) as connection:
                connection.execute("UPDATE seen SET income = 0 WHERE id = 7")
                run(postgres_schema_url, "INSERT INTO elsewhere VALUES (2)")  # and the newest one is over
                wait_for(there, postgres_schema_url)
                listed, before = there.execute("SELECT txid_current_snapshot()::text").fetchall(), moment(store)
            wait_for(there, postgres_schema_url)
            assert there.execute("SELECT txid_current_snapshot()::text").fetchall() == listed
            assert moment(store) is not before
        for is_same in (False, True):  # of the transaction that was under way nothing is known
            run(postgres_schema_url, "INSERT INTO elsewhere VALUES (3)")
            with psycopg.connect(url, autocommit=True) as there:
                wait_for(there, postgres_schema_url)
            before, last = moment(store), before
            assert (before is last) is is_same
        store.close()


def wait_for(standby: psycopg.Connection[Any], url: str) -> None:
    """Return when a standby has repeated all that was written so far."""
    with psycopg.connect(url, autocommit=True) as connection:
        [written] = connection.execute("SELECT pg_current_wal_lsn()").fetchall()
    while standby.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written).fetchall() != [(True,)]:
        time.sleep(0.01)


def test_columns_that_the_catalog_speaks_for_end_with_every_transaction(
    opened: Callable[[str], PostgresStore], postgres_schema_url: str
) -> None:
    store = opened("CREATE TABLE seen AS SELECT 'pg_class'::regclass AS id")
    before = moment(store)
    assert moment(store) is before
    run(postgres_schema_url, "INSERT INTO elsewhere VALUES (1)")
    assert moment(store) is not before


def test_rows_that_are_computed_have_a_state_for_each_question(
    opened: Callable[[str], PostgresStore],
) -> None:
    """What another server has may change although nothing is written on this one."""
    store = opened(
        "CREATE FOREIGN DATA WRAPPER wrapper; CREATE SERVER away FOREIGN DATA WRAPPER wrapper;"
        "CREATE TABLE seen (id int) PARTITION BY RANGE (id);"
        "CREATE FOREIGN TABLE far PARTITION OF seen FOR VALUES FROM (0) TO (9) SERVER away"
    )
    with one_question():
        before = store.moment()
        assert store.moment() is before
    assert moment(store) is not before


def test_numbers_of_transactions_that_may_have_begun_again_tell_nothing() -> None:
    assert home._are_near(5, 1073741828)
    assert not home._are_near(5, 1073741829)
    assert not home._are_near(5, 4)


STEPS = [
    "INSERT INTO seen VALUES ({0}, {0}, 1)",
    "UPDATE seen SET income = income + 1 WHERE id = {0}",
    "UPDATE seen SET income = income WHERE id = {0}",
    "DELETE FROM seen WHERE id = {0}",
    "BEGIN; DELETE FROM seen; ROLLBACK",
    "BEGIN; SAVEPOINT a; UPDATE seen SET income = 0 WHERE id = {0}; RELEASE a; COMMIT",
    "VACUUM seen",
    "INSERT INTO elsewhere VALUES (1)",
    "INSERT INTO elsewhere VALUES (1)",
]


def walk(store: PostgresStore, url: str) -> int:
    """How often a state lasted although the rows, or their places, did not."""
    chance, missed = random.Random(5), 0
    content = "SELECT ctid::text, * FROM seen ORDER BY ctid"
    with psycopg.connect(url, autocommit=True) as connection:
        before, rows = moment(store), connection.execute(content).fetchall()
        for _ in range(40):
            for statement in chance.choice(STEPS).format(chance.randrange(1, 510)).split(";"):
                connection.execute(statement.encode())
            after, found = moment(store), connection.execute(content).fetchall()
            missed += after is before and found != rows
            before, rows = after, found
    return missed


def test_along_random_writes_a_state_has_one_content(opened: Callable[[str], PostgresStore], postgres_schema_url: str) -> None:
    assert walk(opened(PLAIN), postgres_schema_url) == 0


def test_without_a_look_at_who_made_rows_changes_would_be_missed(
    opened: Callable[[str], PostgresStore], postgres_schema_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "_NEW", "FALSE AND {} = '{}'::xid")
    assert walk(opened(PLAIN), postgres_schema_url) > 5
