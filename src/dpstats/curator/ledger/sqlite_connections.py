"""Connections to SQLite: statements that wait for other processes, and complaints in our words."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dpstats.curator.ledger.stores import closed_on_failure
from dpstats.foundations.errors import LedgerError

Rows = Callable[[str, Sequence[Any]], list[Any]]
"""Runs one statement with its parameters, and returns its rows."""
PATIENCE = 30.0
"""Seconds to wait for another writer."""
_LONGEST_PAUSE = 0.002
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def connect(place: str) -> sqlite3.Connection:
    """A connection for whichever thread has the turn, in which transactions begin and end only where we say so."""
    connection = sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False, uri=place.startswith("file:"))
    run = patient(connection)
    with closed_on_failure(connection):
        run("PRAGMA synchronous = FULL", ())
        run("PRAGMA fullfsync = ON", ())  # where plain fsync does not reach the disk
    return connection


def patient(connection: sqlite3.Connection, patience: float | None = None) -> Rows:
    """Runs statements, each until no other process is in its way. Pauses are random and do not grow with waiting: all who wait
    have the same chance.
    """

    def run(statement: str, parameters: Sequence[Any]) -> list[Any]:
        deadline = time.monotonic() + (PATIENCE if patience is None else patience)
        while True:
            try:
                return connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if code(error) == 0 and connection.text_factory is str:  # text that is no UTF-8: a wrong hash, and no crash
                    connection.text_factory = _with_stray_bytes
                    continue
                if code(error) not in _LOCKED or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(0, _LONGEST_PAUSE))

    return run


def _with_stray_bytes(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def code(error: sqlite3.Error) -> int:
    """The primary code of what SQLite reports; 0 where the complaint is Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def in_our_words(address: str) -> Iterator[None]:
    """What SQLite complains of, about the ledger at an address."""
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerError(_complaint(address, code(error))) from None


def _complaint(address: str, reported: int) -> str:
    if reported in _LOCKED:
        return f"the ledger {address} was locked by another process for {PATIENCE:.0f} seconds: try again later."
    if reported in _DAMAGED:
        return f"{address} is no ledger of dpstats, or is damaged: name another file, or restore a copy and verify it."
    if reported in NOT_WRITABLE:
        return f"the ledger {address} cannot be opened for writing: check the permissions of the file and its folder."
    if reported == sqlite3.SQLITE_FULL:
        return f"the disk of the ledger {address} is full; nothing was debited."
    return f"the ledger {address} could not be read or written; `dpstats ledger verify` may say more."
