"""A ledger that was copied without its log, moved, deleted, replaced or put back is never taken for the whole one."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.ledger import UNSOUND
from dpstats.curator.ledger.in_use import main_file
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.foundations.errors import LedgerError
from tests.cli.conftest import Run
from tests.curator.ledger.conftest import TERMS, cost

TABLE = {"income": [float(number) for number in range(200)]}


def session(ledger: object) -> dp.Session:
    return dp.protect(TABLE, unit="row", budget=dp.Budget(epsilon=1), ledger=str(ledger), name="survey")


def ask(asked: dp.Session, times: int) -> None:
    for number in range(times):
        asked.count(epsilon=0.1 + number * 1e-9)


def shorten(ledger: Path, length: int) -> None:
    """Cut the end off, as whoever may write to the file can."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("DROP TRIGGER dpstats_ledger_no_DELETE")
        connection.execute("DELETE FROM dpstats_ledger WHERE sequence > ?", (length,))


def mark_of(ledger: Path) -> int:
    with main_file(ledger) as rows:
        return int(rows("PRAGMA user_version", ())[0][0])


def test_a_copy_without_its_log_is_not_sound_and_opens_no_session(run: Run, tmp_path: Path) -> None:
    asked = session(tmp_path / "survey.ledger")
    ask(asked, 9)
    copy, whole = tmp_path / "copy.ledger", tmp_path / "whole.ledger"
    shutil.copyfile(tmp_path / "survey.ledger", copy)
    for ending in ("", "-wal"):
        shutil.copyfile(tmp_path / f"survey.ledger{ending}", f"{whole}{ending}")
    for _ in range(2):  # reading leaves an empty log behind
        outcome = run("ledger", "verify", copy)
        assert outcome.code == UNSOUND
        assert "it may be cut" in outcome.out
        with pytest.raises(LedgerError, match=r"may be cut.*`dpstats ledger backup`"):
            session(copy)
    assert run("ledger", "verify", whole).code == exits.ANSWERED
    assert session(whole).ledger.spent == asked.ledger.spent
    del asked
    shutil.copyfile(tmp_path / "survey.ledger", tmp_path / "closed.ledger")
    assert run("ledger", "verify", tmp_path / "closed.ledger").code == exits.ANSWERED


@pytest.mark.parametrize("away", [os.remove, lambda path: os.rename(path, f"{path}.moved")])
def test_a_deleted_or_moved_ledger_ends_its_sessions_and_begins_no_new_one(tmp_path: Path, away: Callable[[str], None]) -> None:
    ledger = tmp_path / "survey.ledger"
    asked = session(ledger)
    ask(asked, 3)
    away(str(ledger))
    with pytest.raises(LedgerError, match="moved, deleted or replaced"):
        asked.count(epsilon=0.2)
    with pytest.raises(LedgerError, match="moved, deleted or replaced"):
        repr(asked.remaining)
    with pytest.raises(LedgerError, match=r"no ledger .* its witness .* has seen 7 of its entries"):
        session(ledger)
    assert not ledger.exists()
    del asked
    if (moved := tmp_path / "survey.ledger.moved").exists():  # what was moved was closed as a whole
        moved.rename(ledger)
        assert session(ledger).ledger.spent.epsilon > 0.3


def test_a_live_session_and_a_new_one_refuse_an_older_history(tmp_path: Path) -> None:
    ledger, older = tmp_path / "survey.ledger", tmp_path / "older.ledger"
    ask(session(ledger), 1)
    shutil.copyfile(ledger, older)
    for put_back in (lambda: shorten(ledger, 3), lambda: os.replace(older, ledger)):
        asked = session(ledger)
        ask(asked, 4)
        with closing(sqlite3.connect(ledger)) as connection:
            entries = connection.execute("SELECT * FROM dpstats_ledger").fetchall()
        put_back()
        with pytest.raises(LedgerError, match=r"older than what this session has seen|moved, deleted or replaced"):
            asked.count(epsilon=0.7)
        with pytest.raises(LedgerError, match=r"older than what this session has seen|moved, deleted or replaced"):
            repr(asked.ledger.spent)
        asked = None
        with pytest.raises(LedgerError, match=r"its witness .* has seen entry 9"):
            session(ledger)
        with closing(sqlite3.connect(ledger)) as connection, connection:
            length = connection.execute("SELECT count(*) FROM dpstats_ledger").fetchone()[0]
            marks = ", ".join("?" * len(entries[0]))
            connection.executemany(f"INSERT INTO dpstats_ledger VALUES ({marks})", entries[length:])
        assert session(ledger).ledger.spent.epsilon > 0.4  # once it is put back, all is well


def test_postgres_refuses_an_older_history_too(postgres_schema_url: str, tmp_path: Path) -> None:
    import psycopg

    witness = tmp_path / "survey.witness"
    ledger = open_ledger(postgres_schema_url, witness=witness)
    account = ledger.account("survey", TERMS)
    for number in range(4):
        account.debit(f"key-{number}", "count()", cost("0.1"))
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("ALTER TABLE dpstats_ledger DISABLE TRIGGER dpstats_ledger_append_only")
        connection.execute("DELETE FROM dpstats_ledger WHERE sequence > 3")
    for use in (lambda: account.debit("key", "count()", cost("0.1")), lambda: account.total):
        with pytest.raises(LedgerError, match="older than what this session has seen"):
            use()
    with pytest.raises(LedgerError, match=r"ends with entry 3, but its witness .* has seen entry 5"):
        open_ledger(postgres_schema_url, witness=witness)
    with open_ledger(postgres_schema_url, read_only=True, witness=witness) as reader:
        assert "its witness" in str(reader.verify().complaints[0])
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("ALTER TABLE dpstats_ledger RENAME TO dpstats_ledger_before")
        connection.execute("CREATE TABLE dpstats_ledger AS TABLE dpstats_ledger_before")
    with pytest.raises(LedgerError, match="dropped or replaced"):
        account.debit("key", "count()", cost("0.1"))
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("DROP TABLE dpstats_ledger")
    with pytest.raises(LedgerError, match="dropped or replaced"):
        account.debit("key", "count()", cost("0.1"))
    with pytest.raises(LedgerError, match=r"no ledger .* has seen 5 of its entries"):
        open_ledger(postgres_schema_url, witness=witness)
