"""The mark in the main file of a SQLite ledger that says whether entries may lie in the log beside it, and in no other file.

It is SQLite's `user_version`: odd while the ledger is in use, even when all of it is in the main file. It is odd in the main file
itself before anything is written to the log, and even again only after everything has come from there. It counts up, so that a
connection notices when others have cleared it and set it again. A main file that says "in use" and has no log was copied or moved
without it, and may lack the last entries. A writer that was killed leaves its log, from which SQLite takes up everything.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dpstats.curator.ledger.sqlite_connections import Rows
from dpstats.curator.ledger.witness import Testimony
from dpstats.foundations.errors import LedgerError

APPLICATION = 0x64706C67  # "dplg", in the header of every ledger

_SHORTEST_LOG = 32
"""Bytes of a log's header: a shorter log holds nothing."""
_PATIENCE = 30.0
_PATIENCE_AT_CLOSE = 1.0
_PAUSE = 0.001
_TRIES = 20


class InUseMark:
    """The mark as one connection sees it."""

    def __init__(self) -> None:
        self._in_main_file: int | None = None

    def begin(self, run: Rows) -> None:
        """Begin to write, in a transaction that finds the mark set; it is in the main file."""
        while True:
            run("BEGIN IMMEDIATE", ())
            mark = _mark(run)
            if mark == self._in_main_file:
                return
            if mark % 2 == 0:
                mark += 1
                run(f"PRAGMA user_version = {mark}", ())
            run("COMMIT", ())
            if not _moved_to_main_file(run, _PATIENCE):
                raise LedgerError(f"the ledger was being read by another process for {_PATIENCE:.0f} seconds: try again later.")
            self._in_main_file = mark


def clear(run: Rows) -> bool:
    """Move everything to the main file and clear the mark there; False where others keep us from it, or go on writing."""
    for _ in range(_TRIES):
        [(seen,)] = run("PRAGMA data_version", ())  # another number as soon as another connection has written
        if not _moved_to_main_file(run, _PATIENCE_AT_CLOSE):
            return False
        run("BEGIN IMMEDIATE", ())
        if run("PRAGMA data_version", ()) == [(seen,)]:
            if (mark := _mark(run)) % 2:
                run(f"PRAGMA user_version = {mark + 1}", ())
            run("COMMIT", ())
            run("PRAGMA wal_checkpoint(TRUNCATE)", ())  # where that fails SQLite does it, before it removes the log
            return True
        run("ROLLBACK", ())
    return False


def lacks_its_log(path: Path, log: Path) -> bool:
    """Whether the main file says that entries may be in its log, and there is none."""
    before = None
    for _ in range(_TRIES):
        if _size(log) >= _SHORTEST_LOG:
            return False
        try:
            with main_file(path) as run:
                mark = _mark(run) if run("PRAGMA application_id", ()) == [(APPLICATION,)] else 0
        except sqlite3.DatabaseError:  # somebody is writing to the main file, or it is none of ours
            mark = None
        if mark is not None and mark % 2 == 0:
            return False
        if mark is not None and mark == before:  # it was so at the moment between, when there was no log
            return True
        before = mark
        time.sleep(_PAUSE)
    return False


def holds(path: Path, known: Testimony | None) -> bool:
    """Whether the main file by itself has all that a witness has seen."""
    if known is None:
        return False
    with main_file(path) as run:
        return run("SELECT hash FROM dpstats_ledger WHERE sequence = ?", (known.sequence,)) == [(known.hash,)]


@contextmanager
def main_file(path: Path) -> Iterator[Rows]:
    """Looks into the main file alone, and makes no files beside it. To open it without SQLite would undo SQLite's locks in this
    process.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        yield lambda statement, parameters: connection.execute(statement, parameters).fetchall()


def _mark(run: Rows) -> int:
    [(mark,)] = run("PRAGMA user_version", ())
    return int(mark)


def _moved_to_main_file(run: Rows, patience: float) -> bool:
    """Move what is in the log now to the main file; a reader who looks at an earlier state may be in the way for a while."""
    deadline = time.monotonic() + patience
    while True:
        [(busy, in_log, moved)] = run("PRAGMA wal_checkpoint(PASSIVE)", ())
        if not busy and in_log == moved:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
