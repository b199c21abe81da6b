"""The table of a ledger in SQLite: made once, and told from other people's databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from dpstats.curator.ledger.in_use import APPLICATION
from dpstats.curator.ledger.sqlite_connections import connect, patient
from dpstats.curator.ledger.stores import ADD_ACTORS, CREATE_INDEXES, CREATE_TABLE
from dpstats.foundations.errors import LedgerError

_TRIGGERS = [
    f"CREATE TRIGGER dpstats_ledger_no_{word} BEFORE {word} ON dpstats_ledger BEGIN "
    "SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    for word in ("UPDATE", "DELETE")
]


def is_empty(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether nothing was ever written there; anybody else's database is refused, and left as it is."""
    run = patient(connection)
    [(tables,)] = run("SELECT count(*) FROM sqlite_master", ())
    [(application,)] = run("PRAGMA application_id", ())
    if application == APPLICATION:
        return False
    if tables or application:
        raise LedgerError(f"{path} is a database, but no ledger of dpstats: name another file.")
    return True


def create(connection: sqlite3.Connection, path: Path) -> None:
    """Make the table, unless another process is faster."""
    run = patient(connection)
    run("BEGIN IMMEDIATE", ())
    if is_empty(connection, path):
        for statement in (CREATE_TABLE.format(whole="INTEGER"), *CREATE_INDEXES, *_TRIGGERS):
            run(statement, ())
        run(f"PRAGMA application_id = {APPLICATION}", ())
    run("COMMIT", ())


def has_actors(connection: sqlite3.Connection) -> bool:
    """Whether the table says who: those of earlier releases do not."""
    return any(row[1] == "actor" for row in patient(connection)("PRAGMA table_info(dpstats_ledger)", ()))


def add_actors(connection: sqlite3.Connection) -> None:
    """Let a table of an earlier release say who, unless another process is faster."""
    if has_actors(connection):
        return
    run = patient(connection)
    run("BEGIN IMMEDIATE", ())
    if not has_actors(connection):
        for statement in ADD_ACTORS:
            run(statement, ())
    run("COMMIT", ())


def make_single_file(path: Path) -> None:
    """Have a closed ledger kept without a log, so that reading it makes no files beside it; whoever writes to it makes one."""
    with closing(connect(str(path))) as connection:
        patient(connection)("PRAGMA journal_mode = DELETE", ())
