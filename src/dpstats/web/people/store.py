"""The file in which the service keeps its people: SQLite, with numbered changes of its form."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.foundations.errors import InvalidParameterError, LedgerError

PATIENCE = 30.0

FORMS = (
    """
    CREATE TABLE people (
        name TEXT PRIMARY KEY,
        roles TEXT NOT NULL,
        password TEXT NOT NULL,
        created TEXT NOT NULL,
        is_barred INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE sign_ins (
        digest TEXT PRIMARY KEY,
        person TEXT NOT NULL REFERENCES people (name),
        begun TEXT NOT NULL,
        ends TEXT NOT NULL
    );
    CREATE TABLE tokens (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        person TEXT NOT NULL REFERENCES people (name),
        label TEXT NOT NULL,
        scope TEXT NOT NULL,
        created TEXT NOT NULL,
        ends TEXT NOT NULL,
        is_revoked INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE asked (
        dataset TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        person TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (dataset, sequence, person)
    );
    CREATE TABLE letters (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        person TEXT NOT NULL,
        sent TEXT NOT NULL,
        content TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'open',
        decided_by TEXT NOT NULL DEFAULT '',
        decided TEXT NOT NULL DEFAULT '',
        reply TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX letters_by_dataset ON letters (dataset, state);
    """,
    """
    CREATE TABLE verifications (
        id INTEGER PRIMARY KEY,
        time TEXT NOT NULL,
        person TEXT NOT NULL,
        report TEXT NOT NULL
    );
    """,
)
"""Each makes the next form of the file out of the one before; `PRAGMA user_version` says how many were made."""


class PeopleStore:
    """The service's own file. Threads and processes may share it; every thread has a connection of its own."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise InvalidParameterError(f"the folder of {self._path} does not exist: make it first.")
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # it has digests of passwords
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        with self.writing() as connection:
            (made,) = connection.execute("PRAGMA user_version").fetchone()
            if made > len(FORMS):
                raise LedgerError(f"{self._path} was written by a newer dpstats: use that one.")
            for form in FORMS[made:]:
                for statement in filter(str.strip, form.split(";")):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(FORMS)}")

    def rows(self, question: str, *given: object) -> list[tuple[object, ...]]:
        """The rows that a SELECT finds."""
        try:
            return self._connection().execute(question, given).fetchall()
        except sqlite3.Error:
            raise self._unusable() from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing."""
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.Error:
            raise self._unusable() from None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        known: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if known is None:
            known = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            known.execute("PRAGMA journal_mode = WAL")
            known.execute("PRAGMA foreign_keys = ON")
            self._local.connection = known
            with self._lock:
                self._all.append(known)
        return known

    def _unusable(self) -> LedgerError:
        return LedgerError(f"the service's file {self._path} cannot be read or written: check its permissions.")
