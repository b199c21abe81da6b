"""A session on a Postgres table: lost connections come back, one question sees one state, nothing is held between questions."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.postgres import PostgresStore
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.foundations.working import one_question
from tests.curator.test_reach import end_sessions
from tests.engines.stores.ugly import plain_cells


@pytest.fixture
def url(postgres_schema_url: str) -> str:
    run(
        postgres_schema_url,
        "CREATE TABLE people AS SELECT i AS who, i % 3 AS region, i::float8 AS income FROM generate_series(1, 999) i",
    )
    return postgres_schema_url


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def protected(url: str, **words: Any) -> Session:
    return dp.protect(
        f"{url}#people",
        budget=dp.Budget(epsilon=100, delta=0.1),
        ledger=":memory:",
        allow_seeded=True,
        **{"unit": "who", "max_rows_per_unit": 1, **words},
    )


def ask_everything(table: Session) -> list[Any]:
    """One question of each kind; seeded, so that errors are raised."""
    rng = dp.testing.seeded(7)
    return [
        table.count(epsilon=1, rng=rng),
        table.median("income", epsilon=1, rng=rng),
        table.where("region == 1").mean("income", epsilon=1, rng=rng),
        table.group_by("region", keys=[0, 1]).median("income", epsilon=1, rng=rng),
        table.group_by("region").count(epsilon=1, delta=1e-3, rng=rng),
        table.correlation("income", "region", epsilon=1, rng=rng),
    ]


def test_a_lost_connection_is_opened_again(url: str) -> None:
    table = protected(url)
    for _ in range(3):
        end_sessions(url)
        assert isinstance(table.median("income", epsilon=0.8), dp.Release)
        end_sessions(url)
        ask_everything(table)


def test_no_session_sits_in_a_transaction_between_questions(url: str) -> None:
    table = protected(url, types="infer")
    ask_everything(table)
    with psycopg.connect(url, autocommit=True) as connection:
        states = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND query LIKE '%people%'"
        assert connection.execute(states).fetchall() == [(0,)]
        connection.execute("SET lock_timeout = '1s'")
        for statement in ("VACUUM FULL people", "ALTER TABLE people RENAME TO persons", "TRUNCATE persons", "DROP TABLE persons"):
            connection.execute(statement.encode())


def ids(store: Any) -> list[Any]:
    return sorted(cell for batch in store.batches(["who"]) for cell in plain_cells(batch.cells("who", ColumnType.INTEGER)))


def test_one_question_sees_one_state_and_the_next_one_what_was_written_since(url: str) -> None:
    store = PostgresStore(url, "people")
    with one_question():
        before = ids(store)
        run(url, "DELETE FROM people WHERE who > 500", "UPDATE people SET income = 1")
        assert ids(store) == before == list(range(1, 1000))
        with one_question():  # a part of the same
            assert ids(store) == before
        waits = threading.Thread(target=run, args=(url, "TRUNCATE people", "INSERT INTO people VALUES (-1, 0, 0)"))
        waits.start()  # it would empty the table for whoever has an older snapshot, and has to wait
        assert ids(store) == before
    waits.join()
    with one_question():
        assert ids(store) == [-1]


def test_rows_per_unit_are_bounded_in_every_state_of_the_table(url: str) -> None:
    bound = Bound("who", ColumnType.INTEGER, 2, (("income", ColumnType.NUMBER),), MissingUnit.DROP, bytes(32))
    store = bounded(PostgresStore(url, "people"), bound)
    with one_question():
        assert len(ids(store)) == 999
    run(url, "UPDATE people SET who = 7 WHERE who <= 500")  # as many rows as before, of which one unit has 500 now
    with one_question():
        assert ids(store) == [7, 7, *range(501, 1000)]
    with one_question():  # nothing was written since
        assert ids(store) == [7, 7, *range(501, 1000)]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One element for each time that rows were chosen."""
    from dpstats.engines.units import contributions

    found: list[Any] = []
    look = contributions._find_rows

    def count_looks(*given: Any) -> Any:
        found.append(given)
        return look(*given)

    monkeypatch.setattr(contributions, "_find_rows", count_looks)
    return found


def test_the_choice_of_rows_is_made_once_for_a_state(url: str, looks: list[Any]) -> None:
    table = protected(url)
    table.count(epsilon=1)
    table.median("income", epsilon=1)
    assert len(looks) == 1
    run(url, "INSERT INTO people VALUES (-1, 0, 0)")
    table.median("income", epsilon=2)
    assert len(looks) == 2


def test_debits_in_the_database_of_the_table_leave_the_choice_of_rows_as_it_was(url: str, looks: list[Any]) -> None:
    table = dp.protect(f"{url}#people", unit="who", max_rows_per_unit=1, budget=dp.Budget(epsilon=100), ledger=url)
    table.median("income", epsilon=1)
    table.where("region == 1").mean("income", epsilon=1)
    table.median("income", epsilon=2)
    assert len(looks) == 1
    run(url, "UPDATE people SET income = income + 1")
    table.median("income", epsilon=3)
    assert len(looks) == 2


def test_questions_of_several_threads_have_a_state_each(url: str) -> None:
    table = protected(url)
    replies: list[Any] = []
    threads = [threading.Thread(target=lambda: replies.extend(ask_everything(table))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 24
