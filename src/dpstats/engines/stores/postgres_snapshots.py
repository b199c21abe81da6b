"""Snapshots of a Postgres table: one read-only transaction for each question, on a connection that is opened again where it was
lost.

A snapshot begins with a lock that only keeps the table from being altered, emptied or dropped while it is read, so that a change
comes before all passes of a question or after them; with the snapshot's end nothing of it is left on the server. Between
questions a connection is kept for the next one, outside of any transaction.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.postgres_server import Relation, connect, encoding_of, find_relation, quoted
from dpstats.engines.stores.postgres_states import State, state_of
from dpstats.foundations.errors import DataFileError, DpstatsError

if TYPE_CHECKING:
    import psycopg

SETTINGS = {  # rows in the order in which they lie, and a transaction that may wait for a pass of another thread
    "synchronize_seqscans": "off",
    "max_parallel_workers_per_gather": "0",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "enable_tidscan": "on",
    "jit": "off",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "'10s'",
}
_MOST_IDLE = 4


@dataclass(frozen=True)
class Snapshot:
    """A table as one transaction sees it; threads take turns by its lock."""

    relation: Relation
    connection: psycopg.Connection[Any]
    last: State | None
    """How an earlier snapshot on the same connection saw the table, where one looked."""
    encoding: str
    is_good: bool
    """Whether all texts are known to be good in the encoding."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    process: int = field(default_factory=os.getpid)
    _looked: list[State] = field(default_factory=list)

    def moment(self) -> object:
        """Equal for two snapshots only if they have the same rows in the same places; the first call looks."""
        with self.lock:
            if not self._looked:
                self._looked.append(state_of(self.connection, self.encoding, self.relation, self.last))
            return self._looked[0].token

    def latest(self) -> State | None:
        """How the table was when this snapshot or an earlier one looked last."""
        return self._looked[0] if self._looked else self.last


class Snapshots:
    """The way to one table: begins snapshots of it and ends them. Threads may share it."""

    def __init__(self, url: str, relation: Relation) -> None:
        self._url = url
        self._relation = relation
        self._idle: list[Snapshot] = []
        self._is_closed = False

    def check(self) -> None:
        """Raise unless the table is there as it was opened, and may be read; reads no row."""
        self.end(self.begin())

    def begin(self) -> Snapshot:
        """A new snapshot, on a kept connection or on a new one; an error in our own words where the table cannot be read."""
        if self._is_closed:
            raise DataFileError(f"{self._name} was closed: open the table anew.")
        import psycopg

        while self._idle:
            with suppress(IndexError):
                kept = self._idle.pop()
                if kept.process != os.getpid():  # of the process that this one was forked from: not ours to use or to close
                    _INHERITED.append(kept.connection)
                    continue
                try:
                    return self._entered(kept.connection, kept.latest())
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:  # most often lost while it was idle
                    if isinstance(error, psycopg.errors.LockNotAvailable):
                        raise self._complaint() from None
                except psycopg.Error:
                    raise self._complaint() from None
        connection = connect(self._url)
        with one_error_for(self._name, "could not be reached: is it locked, or did the server stop?"):
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            return self._entered(connection, None)

    def end(self, snapshot: Snapshot) -> None:
        """Let go of a snapshot, and keep its connection for another one."""
        with suppress(Exception):
            if snapshot.process == os.getpid():
                snapshot.connection.rollback()
                if not self._is_closed and len(self._idle) < _MOST_IDLE and not snapshot.connection.closed:
                    self._idle.append(snapshot)
                    return
        close_all([snapshot])

    def close(self) -> None:
        """Let go of all connections; nothing can be read any more."""
        self._is_closed = True
        close_all(self._idle)

    @property
    def idle(self) -> list[Snapshot]:
        """Connections without a transaction."""
        return self._idle

    @property
    def _name(self) -> str:
        return f"the Postgres table {shown(self._relation.schema)}.{shown(self._relation.name)}"

    def _entered(self, connection: psycopg.Connection[Any], last: State | None) -> Snapshot:
        """A snapshot at the beginning of a transaction; the connection is closed where that fails."""
        table = quoted(self._relation.schema, self._relation.name)
        settings = "; ".join(f"SET LOCAL {name} = {value}" for name, value in SETTINGS.items())
        lock = f"; LOCK TABLE {table} IN ACCESS SHARE MODE" if self._relation.can_be_locked else ""
        try:
            connection.execute(f"{settings}{lock}".encode())  # the rows are those of the first statement after it
            found = find_relation(connection, table)
            if found == self._relation:
                return Snapshot(self._relation, connection, last, *encoding_of(connection))
        except BaseException as error:
            _shut(connection)
            if isinstance(error, DpstatsError):
                raise self._complaint() from None
            raise
        _shut(connection)
        raise self._complaint()

    def _complaint(self) -> DataFileError:
        return DataFileError(
            f"{self._name} is locked by somebody, is not there any more, may not be read any more, or has other columns than "
            "when it was opened: look at it, or open it anew."
        )


_INHERITED: list[Any] = []
"""Connections of a parent process, which must not be closed here: that would end the parent's session."""


def close_all(snapshots: list[Snapshot]) -> None:
    """Close the connections of snapshots that this process began."""
    while snapshots:
        with suppress(IndexError):
            snapshot = snapshots.pop()
            if snapshot.process == os.getpid():
                _shut(snapshot.connection)
            else:
                _INHERITED.append(snapshot.connection)


def _shut(connection: psycopg.Connection[Any]) -> None:
    with suppress(Exception):
        connection.close()
