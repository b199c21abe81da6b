"""Ledgers in SQLite: a file, or the memory of one process.

Every transaction is on the disk before it counts (write-ahead log, synchronous=FULL), and begins as a writer (BEGIN IMMEDIATE),
so that what it reads at the end of the chain is the end until it is done. The main file says whether entries may lie in the log
beside it (`in_use`). SQLite's own messages are not passed on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpstats.curator.ledger.claims import Claims, claims_at
from dpstats.curator.ledger.file_identity import FileIdentity, make_name_durable
from dpstats.curator.ledger.in_use import InUseMark, clear, holds, lacks_its_log
from dpstats.curator.ledger.secret import IN_MEMORY, put_into_file, secret_in_file
from dpstats.curator.ledger.sqlite_connections import Rows, connect, in_our_words, patient
from dpstats.curator.ledger.sqlite_reading import Copy, open_to_read
from dpstats.curator.ledger.sqlite_tables import add_actors, create, has_actors, is_empty
from dpstats.curator.ledger.stores import EntryTable, Sought, closed_on_failure
from dpstats.curator.ledger.witness import Witness
from dpstats.foundations.errors import LedgerError

MEMORY = ":memory:"
_PATIENCE_AT_CLOSE = 1.0
_CUT = (
    "the file says that it is in use, and its log (-wal) is not beside it: it may be cut, because the last entries were in that "
    "log. "
    "Copy ledgers with `dpstats ledger backup`"
)


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
        self._copy: Copy | None = None
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
        with in_our_words(self.address):
            connection = self._connected()
            run = patient(connection)
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
        with in_our_words(self.address):
            connection = self._connected()
            yield EntryTable(patient(connection), has_actors=not self.read_only or has_actors(connection))

    @property
    def reads_apart(self) -> bool:
        """Whether entries can be read while another thread writes: from a file that is open, in its log's way of doing things."""
        return self._connection is not None and self._mark is not None and self._identity.has_its_log()

    @contextmanager
    def reading_apart(self) -> Iterator[EntryTable]:
        """The entries as they are now, on a connection of its own; all that is read is of one moment."""
        with in_our_words(self.address):
            self._identity.check()
            if self._opening_apart != self._openings:  # the log that it reads was removed, and made anew
                self._close_apart()
            if self._apart is None:
                self._opening_apart = self._openings
                self._apart = connect(f"{self._identity.path.as_uri()}?mode=ro")
            run = patient(self._apart)
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
        with in_our_words(self.address):
            found = patient(self._connected())("PRAGMA integrity_check(1)", ())
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
            if self.read_only:
                self._is_cut = self._found_cut()
                self._identity.remember()
                self._connection, self._copy = open_to_read(self._identity)
            else:
                self._connection = self._open_to_write()
        return self._connection

    def _open_to_write(self) -> sqlite3.Connection:
        if self._in_memory:
            connection = connect(MEMORY)
            create(connection, self._path)
            return connection
        path, is_new = self._identity.path, not self._identity.path.exists()
        if is_new:
            self._check_that_none_was_there()
        elif self._found_cut():
            raise LedgerError(
                f"the ledger {self.address} cannot be used: {_CUT}. Put the whole ledger back, with its log, or restore a backup."
            )
        connection = connect(str(path))
        with closed_on_failure(connection):
            if is_empty(connection, self._path):
                create(connection, self._path)
            add_actors(connection)
            mode = patient(connection)("PRAGMA journal_mode = WAL", ())
            self._identity.remember()
            if mode == [("wal",)]:
                self._mark = InUseMark()
                self._openings += 1
                self._reader = connect(f"{path.as_uri()}?mode=ro")
                patient(self._reader)("SELECT count(*) FROM sqlite_master", ())
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
            is_whole = clear(patient(connection, _PATIENCE_AT_CLOSE))
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
