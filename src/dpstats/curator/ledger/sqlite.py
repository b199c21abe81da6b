"""Ledgers in SQLite: a file, or the memory of one process.

Every transaction is on the disk before it counts (write-ahead log, synchronous=FULL), and begins as a writer (BEGIN IMMEDIATE),
so that what it reads at the end of the chain is the end until it is done. SQLite's own messages are not passed on.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpstats.curator.ledger.stores import ADD_ACTORS, CREATE_INDEXES, CREATE_TABLE, EntryTable, Run, closed_on_failure
from dpstats.foundations.errors import LedgerError

MEMORY = ":memory:"
PATIENCE = 30.0
"""Seconds to wait for another writer."""
_APPLICATION = 0x64706C67  # "dplg"
_LONGEST_PAUSE = 0.002
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_TRIGGERS = [
    f"CREATE TRIGGER dpstats_ledger_no_{word} BEFORE {word} ON dpstats_ledger BEGIN "
    "SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    for word in ("UPDATE", "DELETE")
]


class SqliteEntryStore:
    """Entries in one SQLite file; `read_only` writes nothing, not even beside the file where its folder forbids it."""

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self._in_memory = os.fspath(path) == MEMORY
        self._path = Path(path)
        self._read_only = read_only
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if self._in_memory and read_only:
            raise LedgerError("a ledger in memory is only in the process that made it: name a file or a postgresql:// URL.")
        if not self._in_memory:
            self._check_path()

    @property
    def address(self) -> str:
        """The path."""
        return "in memory" if self._in_memory else str(self._path)

    @contextmanager
    def writing(self) -> Iterator[EntryTable]:
        """A transaction that no other writer can enter; durable when it is left."""
        if self._read_only:
            raise LedgerError(f"the ledger {self.address} was opened for reading only.")
        with self._our_words():
            connection = self._connected()
            run = _patient(connection)
            try:
                run("BEGIN IMMEDIATE", ())
                yield EntryTable(run)
                run("COMMIT", ())
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[EntryTable]:
        """The entries as they are now."""
        with self._our_words():
            connection = self._connected()
            yield EntryTable(_patient(connection), has_actors=not self._read_only or _has_actors(connection))

    def damages(self) -> list[str]:
        """What SQLite's own check of the file finds, without its words."""
        with self._our_words():
            found = _patient(self._connected())("PRAGMA integrity_check(1)", ())
        return [] if found == [("ok",)] else ["the file is damaged: its tables and indexes do not agree"]

    def disconnect(self) -> None:
        """Close the file. A ledger in memory would be lost by that and stays open."""
        if not self._in_memory:
            self.close()

    def close(self) -> None:
        """Close the file, or forget what was in memory."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _check_path(self) -> None:
        if self._path.is_dir():
            raise LedgerError(f"{self._path} is a folder; a ledger is a file, such as survey.ledger.")
        if not self._path.exists() and self._read_only:
            raise LedgerError(f"there is no ledger {self._path}.")
        if not self._path.absolute().parent.is_dir():
            raise LedgerError(f"the folder of the ledger {self._path} does not exist: make it first.")

    def _connected(self) -> sqlite3.Connection:
        if self._in_memory and self._process != os.getpid():
            raise LedgerError("a ledger in memory belongs to the process that opened it; give a file to share one.")
        if self._connection is None:
            self._connection = self._open_to_read() if self._read_only else self._open_to_write()
        return self._connection

    def _open_to_write(self) -> sqlite3.Connection:
        is_new = not self._in_memory and not self._path.exists()
        connection = _connect(MEMORY if self._in_memory else str(self._path.absolute()))
        with closed_on_failure(connection):
            if self._is_empty(connection):
                self._create(connection)
            _add_actors(connection)
            _patient(connection)("PRAGMA journal_mode = WAL", ())
        if is_new:
            _make_name_durable(self._path)
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        try:
            return self._open_unchanged(self._path)
        except sqlite3.OperationalError as error:
            if _code(error) not in _NOT_WRITABLE:
                raise
        # A write-ahead log can only be read where files can be made beside it, so the file and its log are read elsewhere.
        self._copy = tempfile.TemporaryDirectory(prefix="dpstats-ledger-")
        copy = Path(self._copy.name) / "ledger"
        log = self._path.with_name(f"{self._path.name}-wal")
        try:
            shutil.copyfile(self._path, copy)
            if log.exists():
                shutil.copyfile(log, copy.with_name("ledger-wal"))
        except OSError:
            raise LedgerError(f"the ledger {self._path} cannot be read: check its permissions.") from None
        return self._open_unchanged(copy)

    def _open_unchanged(self, path: Path) -> sqlite3.Connection:
        connection = _connect(f"{path.absolute().as_uri()}?mode=ro")
        with closed_on_failure(connection):
            if self._is_empty(connection):
                raise LedgerError(f"the ledger {self._path} is empty: nothing was ever written to it.")
        return connection

    def _is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether nothing was ever written there; anybody else's database is refused, and left as it is."""
        run = _patient(connection)
        [(tables,)] = run("SELECT count(*) FROM sqlite_master", ())
        [(application,)] = run("PRAGMA application_id", ())
        if application == _APPLICATION:
            return False
        if tables or application:
            raise LedgerError(f"{self._path} is a database, but no ledger of dpstats: name another file.")
        return True

    def _create(self, connection: sqlite3.Connection) -> None:
        run = _patient(connection)
        run("BEGIN IMMEDIATE", ())
        if self._is_empty(connection):  # no other process was faster
            for statement in (CREATE_TABLE.format(whole="INTEGER"), *CREATE_INDEXES, *_TRIGGERS):
                run(statement, ())
            run(f"PRAGMA application_id = {_APPLICATION}", ())
        run("COMMIT", ())

    @contextmanager
    def _our_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(self._complaint(_code(error))) from None

    def _complaint(self, code: int) -> str:
        if code in _LOCKED:
            return f"the ledger {self.address} was locked by another process for {PATIENCE:.0f} seconds: try again later."
        if code in _DAMAGED:
            return f"{self.address} is no ledger of dpstats, or is damaged: name another file, or restore a copy and verify it."
        if code in _NOT_WRITABLE:
            return f"the ledger {self.address} cannot be opened for writing: check the permissions of the file and its folder."
        if code == sqlite3.SQLITE_FULL:
            return f"the disk of the ledger {self.address} is full; nothing was debited."
        return f"the ledger {self.address} could not be read or written; `dpstats ledger verify` may say more."


def _connect(place: str) -> sqlite3.Connection:
    """A connection for whichever thread has the turn, in which transactions begin and end only where we say so."""
    connection = sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False, uri=place.startswith("file:"))
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")  # stray bytes are a wrong hash, not a crash
    run = _patient(connection)
    with closed_on_failure(connection):
        run("PRAGMA synchronous = FULL", ())
        run("PRAGMA fullfsync = ON", ())  # where plain fsync does not reach the disk
    return connection


def _patient(connection: sqlite3.Connection) -> Run:
    """Runs statements, each until no other process is in its way. Pauses are random and do not grow with waiting: all who wait
    have the same chance.
    """

    def run(statement: str, parameters: Sequence[Any]) -> list[Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if _code(error) not in _LOCKED or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(0, _LONGEST_PAUSE))

    return run


def _has_actors(connection: sqlite3.Connection) -> bool:
    """Whether the table says who: those of earlier releases do not."""
    return any(row[1] == "actor" for row in _patient(connection)("PRAGMA table_info(dpstats_ledger)", ()))


def _add_actors(connection: sqlite3.Connection) -> None:
    """Let a table of an earlier release say who, unless another process is faster."""
    if _has_actors(connection):
        return
    run = _patient(connection)
    run("BEGIN IMMEDIATE", ())
    if not _has_actors(connection):
        for statement in ADD_ACTORS:
            run(statement, ())
    run("COMMIT", ())


def _code(error: sqlite3.Error) -> int:
    """The primary code of what SQLite reports; 0 where the complaint is Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _make_name_durable(path: Path) -> None:
    """Have the folder remember a new file, where folders can be synchronised."""
    with suppress(OSError):
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
