"""A table in Postgres has one name in the ledger, however it is written."""

from __future__ import annotations

import psycopg

import dpstats as dp
from tests.postgres import url_of_new_schema


def test_a_table_has_one_account_however_its_name_is_written(postgres_url: str) -> None:
    url = url_of_new_schema(postgres_url)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS x FROM generate_series(1, 100) i")
        schema = connection.execute("SELECT current_schema()").fetchone()
        assert schema is not None
    names = {
        dp.protect(f"{url}#{name}", unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:").name
        for name in ("visits", "VISITS", f"{schema[0]}.visits")
    }
    assert names == {f"{schema[0]}.visits"}
