"""What cannot be opened, read or written is refused in our words, without a password and without another library's text."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from dpstats.curator.ledger import postgres, sqlite_connections
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.foundations.errors import InvalidParameterError, LedgerError, MissingExtraError
from tests.curator.ledger.conftest import TERMS, cost, small_ledger

PASSWORD = "Xanthippe"


def complaint(address: Any, *, read_only: bool = False) -> str:
    with pytest.raises(LedgerError) as caught:
        open_ledger(address, read_only=read_only)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_no_ledger_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("these are no entries\n" * 100)
    assert "no ledger of dpstats" in complaint(file)
    assert "no ledger of dpstats" in complaint(file, read_only=True)
    assert file.read_text() == "these are no entries\n" * 100


def test_anybody_elses_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    before = file.read_bytes()
    for read_only in (False, True):
        assert "is a database, but no ledger" in complaint(file, read_only=read_only)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["other.db"]


def test_a_folder_and_a_file_in_no_folder_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in complaint(tmp_path)
    assert "does not exist: make it first" in complaint(tmp_path / "gone" / "survey.ledger")
    assert not (tmp_path / "gone").exists()


def test_reading_needs_a_ledger_and_makes_none(tmp_path: Path) -> None:
    file = tmp_path / "survey.ledger"
    assert f"there is no ledger {file}" in complaint(file, read_only=True)
    assert not file.exists()
    file.touch()
    assert "is empty" in complaint(file, read_only=True)


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    """A writer that was killed at its very first step leaves one."""
    file = tmp_path / "survey.ledger"
    file.touch()
    with open_ledger(file) as ledger:
        ledger.account("survey", TERMS)
        assert ledger.verify().sound


def test_a_locked_file_is_refused_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = small_ledger(tmp_path / "survey.ledger")
    account = open_ledger(file).account("survey", TERMS)
    blocker = sqlite3.connect(file, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(sqlite_connections, "PATIENCE", 0.05)
    before = account.spent
    with pytest.raises(LedgerError, match="locked by another process"):
        account.debit("key", "count()", cost("0.1"))
    assert account.spent == before
    blocker.execute("ROLLBACK")
    blocker.close()
    account.debit("key", "count()", cost("0.1"))
    assert open_ledger(file).verify().sound


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = small_ledger(tmp_path / "survey.ledger")
    raw = bytearray(file.read_bytes())
    raw[100:4096] = bytes(len(raw[100:4096]))
    file.write_bytes(raw)
    assert "damaged" in complaint(file)


def test_nothing_is_built_on_an_entry_that_was_changed(tmp_path: Path) -> None:
    file = small_ledger(tmp_path / "survey.ledger")
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("DROP TRIGGER dpstats_ledger_no_UPDATE")
        connection.execute("UPDATE dpstats_ledger SET body = replace(body, '1/50', '1/99') WHERE kind = 'debit'")
    connection.close()
    with open_ledger(file) as ledger:
        with pytest.raises(LedgerError, match="does not match its hash"):
            ledger.account("survey", TERMS)
        with pytest.raises(LedgerError, match="run `dpstats ledger verify`"):
            ledger.reader("survey")


def test_an_entry_of_a_later_version_is_reported_and_not_guessed(tmp_path: Path) -> None:
    file = small_ledger(tmp_path / "survey.ledger")
    connection = sqlite3.connect(file)
    with connection:
        last = list(connection.execute("SELECT * FROM dpstats_ledger ORDER BY sequence DESC LIMIT 1").fetchone())
        following = [last[0] + 1, 4, *last[2:7], last[8], "f" * 64, "", ""]
        connection.execute(f"INSERT INTO dpstats_ledger VALUES ({', '.join('?' * 11)})", following)
    connection.close()
    with open_ledger(file) as ledger:
        assert [str(each) for each in ledger.verify().complaints] == [
            f"entry {following[0]}: has the format version 4, which this release of dpstats does not know"
        ]
        with pytest.raises(LedgerError, match="format version 4"):
            ledger.account("new", TERMS)


@pytest.mark.parametrize("statement", ["UPDATE dpstats_ledger SET body = ''", "DELETE FROM dpstats_ledger"])
def test_sqlite_itself_refuses_to_change_entries(tmp_path: Path, statement: str) -> None:
    file = small_ledger(tmp_path / "survey.ledger")
    connection = sqlite3.connect(file)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement", ["UPDATE dpstats_ledger SET body = ''", "DELETE FROM dpstats_ledger", "TRUNCATE dpstats_ledger"]
)
def test_postgres_itself_refuses_to_change_entries(postgres_schema_url: str, statement: str) -> None:
    import psycopg

    open_ledger(postgres_schema_url).account("survey", TERMS)
    with psycopg.connect(postgres_schema_url) as connection, pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        connection.execute(statement.encode())
    assert open_ledger(postgres_schema_url, read_only=True).verify().entries == 1


def test_a_url_that_nobody_answers_is_refused_without_its_password(tmp_path: Path) -> None:
    said = complaint(f"postgresql://me:{PASSWORD}@/database?host={tmp_path}&password={PASSWORD}")
    assert "nobody answers at postgresql:///database" in said
    assert "nobody answers" in complaint(f"postgresql://me:{PASSWORD}@localhost:1/database?connect_timeout=2")
    for odd in (f"postgresql://me:{PASSWORD}@localhost:port/database", f"postgresql://[{PASSWORD}/database"):
        with pytest.raises(InvalidParameterError, match="no URL of a Postgres database"):
            open_ledger(odd)


def test_a_database_without_a_ledger_is_refused_when_reading(postgres_schema_url: str) -> None:
    assert "there is no ledger at postgresql:///postgres" in complaint(postgres_schema_url, read_only=True)


def test_a_reader_writes_nothing(address: str) -> None:
    open_ledger(address).account("survey", TERMS)
    with open_ledger(address, read_only=True) as ledger:
        assert ledger.verify().sound
        with pytest.raises(LedgerError, match="reading only"):
            ledger.account("another", TERMS)
        assert ledger.verify().entries == 1


def test_a_turn_that_is_never_given_up_is_an_error(postgres_schema_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.setattr(postgres, "PATIENCE", 1)
    account = open_ledger(postgres_schema_url).account("survey", TERMS)
    with psycopg.connect(postgres_schema_url) as blocker:
        blocker.execute("SELECT 1 FROM dpstats_ledger_turn FOR UPDATE")
        with pytest.raises(LedgerError, match="locked by another writer"):
            account.debit("key", "count()", cost(1))
    account.debit("key", "count()", cost(1))
    assert account.spent == cost(1)


def test_a_connection_that_broke_while_it_was_idle_is_made_anew(postgres_url: str, postgres_schema_url: str) -> None:
    import psycopg

    account = open_ledger(postgres_schema_url).account("survey", TERMS)
    schema = postgres_schema_url.rpartition("%3D")[2]
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE %s AND pid <> pg_backend_pid()"
    store = account._writer.store
    uses: dict[str, Callable[[], object]] = {
        "_turns.connection": lambda: account.debit("key", "count()", cost(1)),
        "_apart": lambda: account.spent,
    }
    for connection, use in uses.items():
        attrgetter(connection)(store).execute(f"SELECT '{schema}'")  # marks the connection as ours
        with psycopg.connect(postgres_url, autocommit=True) as other:
            assert other.execute(cut, [f"%'{schema}'%"]).fetchone() == (True,)
        use()
    assert account.spent == cost(1)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dpstats\[postgres\]'"):
        open_ledger("postgresql://localhost/database")


@pytest.mark.parametrize("address", ["", "a\0b", b"survey.ledger", "mysql://localhost/database"])
def test_an_address_is_a_path_or_a_postgres_url(address: Any) -> None:
    with pytest.raises(InvalidParameterError, match="postgresql://"):
        open_ledger(address)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://me:{PASSWORD}@db.example.org:5433/survey?sslmode=require", "postgresql://db.example.org:5433/survey"),
        (f"postgres://me:{PASSWORD}@/survey?host=/run&password={PASSWORD}", "postgresql:///survey"),
        (f"postgresql://me:{PASSWORD}@host:{PASSWORD}/survey", "postgresql://..."),
    ],
)
def test_a_url_is_shown_without_user_password_and_options(url: str, shown: str) -> None:
    assert postgres.shown_url(url) == shown
