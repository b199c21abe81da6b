"""Ledgers in SQLite: a file, or the memory of one process.

Every transaction is on the disk before it counts (write-ahead log, synchronous=FULL), and begins as a writer (BEGIN IMMEDIATE),
so that what it reads at the end of the chain is the end until it is done. The main file says whether entries may lie in the log
beside it (`in_use`). SQLite's own messages are not passed on.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from dpstats.curator.ledger.claims import Claims, claims_at
from dpstats.curator.ledger.file_identity import FileIdentity, make_name_durable
from dpstats.curator.ledger.in_use import APPLICATION, InUseMark, Rows, clear, holds, lacks_its_log
from dpstats.curator.ledger.secret import IN_MEMORY, put_into_file, secret_in_file
from dpstats.curator.ledger.stores import ADD_ACTORS, CREATE_INDEXES, CREATE_TABLE, EntryTable, Sought, closed_on_failure
from dpstats.curator.ledger.witness import Witness
from dpstats.foundations.errors import LedgerError

MEMORY = ":memory:"
PATIENCE = 30.0
"""Seconds to wait for another writer."""
_PATIENCE_AT_CLOSE = 1.0
_LONGEST_PAUSE = 0.002
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_CUT = (
    "the file says that it is in use, and its log (-wal) is not beside it: it may be cut, because the last entries were in that "
    "log. "
    "Copy ledgers with `dpstats ledger backup`"
)
_TRIGGERS = [
    f"CREATE TRIGGER dpstats_ledger_no_{word} BEFORE {word} ON dpstats_ledger BEGIN "
    "SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    for word in ("UPDATE", "DELETE")
]


class SqliteEntryStore:
    """Entries in one SQLite file; `read_only` writes nothing, not even beside the file where its folder forbids it."""

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False, witness: Path | None = None) -> None:
        self._in_memory = os.fspath(path) == MEMORY
        self._path = Path(path)
        self.read_only = read_only
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._apart: sqlite3.Connection | None = None
        self._openings = self._opening_apart = 0
        self._mark: InUseMark | None = None
        self._is_cut = False
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._identity = FileIdentity(path)
        self.witness = None if self._in_memory else Witness(witness or self._identity.witness, like=self._identity.path)
        self.claims = Claims() if self._in_memory else claims_at(os.path.realpath(self._identity.path))
        if self._in_memory and read_only:
            raise LedgerError("a ledger in memory is only in the process that made it: name a file or a postgresql:// URL.")
        if not self._in_memory:
            self._check_path()

    @property
    def address(self) -> str:
        """The path."""
        return "in memory" if self._in_memory else str(self._path)

    def secret(self) -> bytes | None:
        """What fingerprints are made with; None where there is none yet."""
        return IN_MEMORY if self._in_memory else secret_in_file(self._identity.secret)

    def keep_secret(self, secret: bytes) -> None:
        """Make fingerprints with this, unless there is a secret already."""
        if not self._in_memory:
            put_into_file(self._identity.secret, secret)

    @contextmanager
    def writing(self, expected: Collection[Sought] = ()) -> Iterator[EntryTable]:
        """A transaction that no other writer can enter; durable when it is left. What is `expected` to be needed is asked for
        when it is: that takes no message here.
        """
        if self.read_only:
            raise LedgerError(f"the ledger {self.address} was opened for reading only.")
        with self._our_words():
            connection = self._connected()
            run = _patient(connection)
            try:
                self._begin(run)
                yield EntryTable(run)
                run("COMMIT", ())
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            if not self._in_memory:
                self._identity.check()
                self._identity.check_log()

    @contextmanager
    def reading(self) -> Iterator[EntryTable]:
        """The entries as they are now."""
        with self._our_words():
            connection = self._connected()
            yield EntryTable(_patient(connection), has_actors=not self.read_only or _has_actors(connection))

    @property
    def reads_apart(self) -> bool:
        """Whether entries can be read while another thread writes: from a file that is open, in its log's way of doing things."""
        return self._connection is not None and self._mark is not None and self._identity.has_its_log()

    @contextmanager
    def reading_apart(self) -> Iterator[EntryTable]:
        """The entries as they are now, on a connection of its own; all that is read is of one moment."""
        with self._our_words():
            self._identity.check()
            if self._opening_apart != self._openings:  # the log that it reads was removed, and made anew
                self._close_apart()
            if self._apart is None:
                self._opening_apart = self._openings
                self._apart = _connect(f"{self._identity.path.as_uri()}?mode=ro")
            run = _patient(self._apart)
            run("BEGIN", ())
            try:
                yield EntryTable(run)
            finally:
                with suppress(sqlite3.Error):
                    self._apart.execute("ROLLBACK")

    def _close_apart(self) -> None:
        connection, self._apart = self._apart, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def damages(self) -> list[str]:
        """What SQLite's own check of the file finds, without its words."""
        with self._our_words():
            found = _patient(self._connected())("PRAGMA integrity_check(1)", ())
        damages = [] if found == [("ok",)] else ["the file is damaged: its tables and indexes do not agree"]
        return [*damages, *([_CUT] if self._is_cut else [])]

    def disconnect(self) -> None:
        """Close the file. A ledger in memory would be lost by that and stays open."""
        if not self._in_memory:
            self.close()

    def close(self) -> None:
        """Close the file, or forget what was in memory."""
        self._close_apart()
        connection, self._connection = self._connection, None
        if connection is not None:
            is_whole = self._mark is not None and self._cleared(connection)
            self._let_go(connection, keep_log=self._mark is not None and not is_whole)
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _check_path(self) -> None:
        if self._path.is_dir():
            raise LedgerError(f"{self._path} is a folder; a ledger is a file, such as survey.ledger.")
        if not self._path.exists() and self.read_only:
            raise LedgerError(f"there is no ledger {self._path}.")
        if not self._path.absolute().parent.is_dir():
            raise LedgerError(f"the folder of the ledger {self._path} does not exist: make it first.")

    def _connected(self) -> sqlite3.Connection:
        if self._in_memory and self._process != os.getpid():
            raise LedgerError("a ledger in memory belongs to the process that opened it; give a file to share one.")
        if not self._in_memory:
            self._identity.check()
        if self._connection is not None and not self._identity.has_its_log():
            connection, self._connection = self._connection, None
            self._let_go(connection, keep_log=True)  # whoever removed the log has moved it to the main file before
        if self._connection is None:
            self._connection = self._open_to_read() if self.read_only else self._open_to_write()
        return self._connection

    def _open_to_write(self) -> sqlite3.Connection:
        if self._in_memory:
            connection = _connect(MEMORY)
            self._create(connection)
            return connection
        path, is_new = self._identity.path, not self._identity.path.exists()
        if is_new:
            self._check_that_none_was_there()
        elif self._found_cut():
            raise LedgerError(
                f"the ledger {self.address} cannot be used: {_CUT}. Put the whole ledger back, with its log, or restore a backup."
            )
        connection = _connect(str(path))
        with closed_on_failure(connection):
            if self._is_empty(connection):
                self._create(connection)
            _add_actors(connection)
            mode = _patient(connection)("PRAGMA journal_mode = WAL", ())
            self._identity.remember()
            if mode == [("wal",)]:
                self._mark = InUseMark()
                self._openings += 1
                self._reader = _connect(f"{path.as_uri()}?mode=ro")
                _patient(self._reader)("SELECT count(*) FROM sqlite_master", ())
        if is_new:
            make_name_durable(path)
        return connection

    def _begin(self, run: Rows) -> None:
        if self._mark is None:
            run("BEGIN IMMEDIATE", ())
        else:
            self._mark.begin(run)
            self._identity.remember_log()

    def _cleared(self, connection: sqlite3.Connection) -> bool:
        """Have everything in the main file, and say so there. Where that cannot be, the log stays and is taken up again."""
        if connection.in_transaction:  # of a thread that the end of its process has stopped
            return False
        try:
            is_whole = clear(_patient(connection, _PATIENCE_AT_CLOSE))
            self._identity.check()  # at the path, SQLite would remove the log of another ledger
            return is_whole and self._identity.has_its_log()
        except (sqlite3.Error, LedgerError):
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            return False

    def _let_go(self, connection: sqlite3.Connection, *, keep_log: bool) -> None:
        """Close the connections. Whoever is the last one to close removes the log, but not if that one may only read."""
        reader, self._reader, self._mark = self._reader, None, None
        for each in (connection, reader) if keep_log else (reader, connection):
            if each is not None:
                with suppress(sqlite3.Error):
                    each.close()

    def _check_that_none_was_there(self) -> None:
        if self.witness is not None and (known := self.witness.read()):
            raise LedgerError(
                f"there is no ledger {self.address}, but its witness {self.witness.path} has seen {known.sequence} of its "
                f"entries: it was moved or deleted. Put it back, or restore a backup: `dpstats ledger restore BACKUP "
                f"{self.address}`. A new ledger takes another name."
            )

    def _found_cut(self) -> bool:
        """Whether the last entries may be in a log that is not here. What holds all that its witness has seen is taken as it is:
        another program has opened it, and moved the log to the main file.
        """
        assert self.witness is not None
        if not lacks_its_log(self._identity.path, self._identity.log):
            return False
        try:
            return not holds(self._identity.path, self.witness.read())
        except (sqlite3.Error, LedgerError):
            return True

    def _open_to_read(self) -> sqlite3.Connection:
        self._is_cut = self._found_cut()
        self._identity.remember()
        try:
            return self._open_unchanged(self._identity.path)
        except sqlite3.OperationalError as error:
            if _code(error) not in _NOT_WRITABLE:
                raise
        # A write-ahead log can only be read where files can be made beside it, so the file and its log are read elsewhere.
        self._copy = tempfile.TemporaryDirectory(prefix="dpstats-ledger-")
        copy = Path(self._copy.name) / "ledger"
        log = self._identity.log
        try:
            shutil.copyfile(self._identity.path, copy)
            if log.exists():
                shutil.copyfile(log, copy.with_name("ledger-wal"))
        except OSError:
            raise LedgerError(f"the ledger {self._path} cannot be read: check its permissions.") from None
        return self._open_unchanged(copy)

    def _open_unchanged(self, path: Path) -> sqlite3.Connection:
        connection = _connect(f"{path.as_uri()}?mode=ro")
        with closed_on_failure(connection):
            if self._is_empty(connection):
                raise LedgerError(f"the ledger {self._path} is empty: nothing was ever written to it.")
        return connection

    def _is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether nothing was ever written there; anybody else's database is refused, and left as it is."""
        run = _patient(connection)
        [(tables,)] = run("SELECT count(*) FROM sqlite_master", ())
        [(application,)] = run("PRAGMA application_id", ())
        if application == APPLICATION:
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
            run(f"PRAGMA application_id = {APPLICATION}", ())
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


def _patient(connection: sqlite3.Connection, patience: float | None = None) -> Rows:
    """Runs statements, each until no other process is in its way. Pauses are random and do not grow with waiting: all who wait
    have the same chance.
    """

    def run(statement: str, parameters: Sequence[Any]) -> list[Any]:
        deadline = time.monotonic() + (PATIENCE if patience is None else patience)
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


def make_single_file(path: Path) -> None:
    """Have a closed ledger kept without a log, so that reading it makes no files beside it; whoever writes to it makes one."""
    with closing(_connect(str(path))) as connection:
        _patient(connection)("PRAGMA journal_mode = DELETE", ())
