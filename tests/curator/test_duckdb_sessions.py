"""A session on a DuckDB table: one question sees one state, between questions nothing is held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.duckdb import DuckDBStore
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.foundations.working import one_question
from tests.curator.test_postgres_sessions import ids

BOUND = Bound("who", ColumnType.INTEGER, 2, (("who", ColumnType.INTEGER),), MissingUnit.DROP, bytes(32))


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    connection = duckdb.connect(str(tmp_path / "a.duckdb"))
    connection.execute("CREATE TABLE people AS SELECT range AS who, range::double AS x FROM range(999)")
    return connection


def test_a_session_keeps_nobody_waiting_between_questions(connection: Any) -> None:
    table = dp.protect(
        connection.table("people"), unit="who", max_rows_per_unit=1, budget=dp.Budget(epsilon=9), ledger=":memory:", name="people"
    )
    table.median("x", epsilon=1)
    table.where("x > 7").count(epsilon=1)
    for statement in ("INSERT INTO people VALUES (-1, 0)", "CHECKPOINT", "ALTER TABLE people ADD COLUMN y INT", "CHECKPOINT"):
        connection.execute(statement)
    with pytest.raises(dp.DpstatsError, match=r"has other columns: open it anew\. Nothing was spent\.$"):
        table.mean("x", epsilon=1)
    assert table.ledger.spent.epsilon == 2


def test_one_question_sees_one_state_and_rows_per_unit_are_bounded_in_each(connection: Any) -> None:
    store = DuckDBStore(connection.table("people"))
    few = bounded(store, BOUND)
    with one_question():
        assert ids(store) == ids(few) == list(range(999))
        connection.execute("UPDATE people SET who = 7 WHERE who < 500")
        assert ids(store) == ids(few) == list(range(999))
    with one_question():
        assert ids(few) == [7, 7, *range(500, 999)]
    assert ids(few) == [7, 7, *range(500, 999)]  # outside of all questions too


def test_a_table_that_nobody_can_write_to_is_looked_at_once(connection: Any, tmp_path: Path) -> None:
    connection.close()
    store = DuckDBStore.from_file(tmp_path / "a.duckdb", "people")
    moments = []
    for _ in range(2):
        with one_question():
            moments.append(store.moment())
    assert moments == [None, None]
