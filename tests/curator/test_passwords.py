"""No password of a connection string is repeated: not in errors, cards, texts of objects, ledgers, logs, on the command line."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.addresses import without_passwords
from tests.curator.test_postgres_sessions import run

CANARY = "kanari"
"""Stands in every half of a password, so that no part of one is repeated unseen."""
ADDRESSES = [
    "postgresql://me:{0}@127.0.0.1:1/db",
    "postgres://me:{0}@127.0.0.1:1/db",
    "postgresql://me:{0}@127.0.0.1:99999999/db",
    "postgresql://me:{0}@127.0.0.1:port/db",
    "postgresql://me:{0}",
    "postgresql://me:{0}/db",
    "postgresql://me:12{0}@/db?host=/no/such/folder",
    "postgresql://me:{0}@{0}@127.0.0.1:1/db",
    "postgresql://me:12/{0}@127.0.0.1:1/db",
    "postgresql://me:{0}/{0}@127.0.0.1:1/db",
    "postgresql://me:12#{0}@127.0.0.1:1/db",
    "postgresql://me:{0}#{0}@127.0.0.1:1/db",
    "postgresql://me:12?{0}@127.0.0.1:1/db",
    "postgresql://me:12?host={0}@127.0.0.1:1/db",
    "postgresql://127.0.0.1:1/db?user=me&password={0}",
    "postgresql://me:{0}@[::1/db",
    "postgresql://me:{0} {0}@127.0.0.1:1/db",
    " postgresql://me:{0}@127.0.0.1:1/db",
    "Postgresql://me:{0}@127.0.0.1:1/db",
    "postgresql:/me:{0}@127.0.0.1:1/db",
    "postgresql:me:{0}@127.0.0.1:1/db",
    "postgresql//me:{0}@127.0.0.1:1/db",
    "postgresql+psycopg://me:{0}@127.0.0.1:1/db",
    "mysql://me:{0}@127.0.0.1:1/db",
    "s3://me:{0}@bucket/people.parquet",
    "s3://me/{0}@bucket/people.parquet",
    "s3://bucket/people.parquet?access_key=me&secret_key={0}",
    "s3://bucket/people.parquet?{0}",
    "S3://me:{0}@bucket/people.parquet",
    "s3:/me:{0}@bucket/people.parquet",
    "host=127.0.0.1 port=1 user=me password={0}",
    "host=127.0.0.1 port=1 user=me password='{0} {0}'",
    "password={0}",
    "user = me host = 127.0.0.1 pwd={0}",
]


def protect(table: Any, ledger: str) -> Any:
    return dp.protect(table, unit="row", budget=dp.Budget(epsilon=1), ledger=ledger)


def ledger_at(address: str) -> Any:
    return protect({"x": [1.0]}, address)


DOORS: dict[str, Callable[[str], Any]] = {
    "a table": lambda address: protect(f"{address}#people", ":memory:"),
    "a table without its name": lambda address: protect(address, ":memory:"),
    "a list of tables": lambda address: open_store([address, address]),
    "a ledger": ledger_at,
    "a ledger to be read": lambda address: open_ledger(address, read_only=True),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_wrong_is_refused_without_its_password(
    address: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    address = address.format(CANARY)
    seen = []
    for door in DOORS.values():
        with pytest.raises(dp.DpstatsError) as complaint:
            door(address)
        seen += [*traceback.format_exception_only(complaint.value), repr(complaint.value)]
        error: BaseException | None = complaint.value
        while error is not None:
            seen += map(str, error.args)
            error = error.__cause__ or error.__context__
    for arguments in (
        ["ask", f"{address}#people", "median(x)", "--epsilon", "1"],
        ["ask", "people.csv", "median(x)", "--epsilon", "1", address],
        ["synthesize", f"{address}#people", "--epsilon", "1", "--out", "rows.csv"],
        ["ledger", "show", address],
        ["ledger", "verify", address],
    ):
        assert main(arguments) != 0
    heard = capfd.readouterr()
    assert CANARY not in "\n".join([*seen, heard.out, heard.err, caplog.text])
    assert not list(tmp_path.iterdir())  # no file of that name either


def test_a_session_repeats_no_password(postgres_schema_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The server of the tests takes any password."""
    url = postgres_schema_url.replace("postgres@", f"postgres:{quote(CANARY + '@/' + CANARY, safe='')}@")
    run(url, "CREATE TABLE people AS SELECT i::float8 AS x FROM generate_series(1, 999) i")
    with pytest.raises(dp.DpstatsError) as complaint:
        protect(f"{url}#peple", url)
    table = protect(f"{url}#people", url)
    reply = table.median("x", epsilon=0.5)
    seen = [complaint.value, table, table.describe(), reply, reply.card(), table.ledger, table.remaining, table._table.store]
    ledger = open_ledger(url)
    seen += [ledger, ledger.address, *ledger.entries(), *ledger.statements(), ledger.verify()]
    assert main(["ask", f"{url}#people", "median(x)", "--epsilon", "1", "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["file"].startswith("postgresql://")
    assert main(["ledger", "show", url]) == main(["ledger", "verify", url]) == 0
    texts = [printed, capsys.readouterr().out, *map(str, seen), *map(repr, seen)]
    assert CANARY not in "\n".join(texts)


@pytest.mark.parametrize("name", ["user=me.ledger", "year=2026.ledger", "c.ledger", "a@b.ledger", "host survey.ledger"])
def test_a_file_may_have_any_other_name(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_ledger(name) as ledger:
        assert ledger.address == name


def test_what_is_no_password_stays() -> None:
    for text in [
        "a:b@c",
        "median(x) = 3",
        "people.csv",
        "C:/data/people.csv",
        "https://example.org/x",
        "region=north/part.parquet",
    ]:
        assert without_passwords(text) == text
    assert without_passwords("at postgresql://host:5433/db, or not") == "at postgresql://host:5433/db, or not"
    assert without_passwords("see postgresql://me:x@host/db#clinic.visits now") == "see postgresql://host/db#clinic.visits now"


def test_settings_of_a_catalog_repeat_no_password(tmp_path: Any) -> None:
    file = tmp_path / "catalog.toml"
    for address in (f"host=127.0.0.1 password={CANARY}", f"postgresql:/me:{CANARY}@127.0.0.1/db"):
        file.write_text(f'ledger = "{address}"\nregistrations = "catalog.sqlite"\nroots = []\n')
        with pytest.raises(dp.DpstatsError) as complaint:
            dp.open_catalog(file)
        assert CANARY not in str(complaint.value)
