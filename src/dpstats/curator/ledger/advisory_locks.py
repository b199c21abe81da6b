"""Locks that all who use one ledger in Postgres see: advisory locks of a connection, which the server lets go of with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpstats.foundations.errors import LedgerError

if TYPE_CHECKING:
    import psycopg

# Every ledger of a database has locks of its own.
_LOCK = "'dpstats_ledger'::regclass::oid::bigint << 20 # %s::bigint"
_TAKE = f"SELECT pg_try_advisory_lock(({_LOCK}))"
_LET_GO = f"SELECT pg_advisory_unlock(({_LOCK}))"


class AdvisoryLocks:
    """Locks by number, on a connection of their own. If it breaks, what was held is free for others."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._connection: psycopg.Connection[Any] | None = None
        self._held: set[int] = set()
        self._changing = threading.Lock()
        self._of_parents: list[object] = []

    def try_to_take(self, number: int) -> bool:
        """Take a lock if it is free."""
        with self._changing:
            if number in self._held:  # of another question of this process: a connection could take it twice
                return False
            try:
                taken = self._said(_TAKE, number)
            except LedgerError:
                raise
            except Exception:  # the connection broke while it was idle, and held nothing any more
                self._disconnect()
                taken = self._try_again(number)
            if taken:
                self._held.add(number)
            return taken

    def let_go(self, number: int) -> None:
        """Let go of a lock."""
        with self._changing:
            if number in self._held:
                self._held.discard(number)
                with suppress(Exception):  # of a broken connection, the server has let go
                    self._said(_LET_GO, number)

    def forget(self) -> None:
        """A child process holds none of its parent's locks, and must not close its connection."""
        self._changing = threading.Lock()
        self._held = set()
        self._of_parents.append(self._connection)
        self._connection = None

    def close_if_idle(self) -> None:
        """Close the connection, unless locks are held."""
        with self._changing:
            if not self._held:
                self._disconnect()

    def _try_again(self, number: int) -> bool:
        try:
            return self._said(_TAKE, number)
        except LedgerError:
            raise
        except Exception:
            raise LedgerError("the connection by which questions wait for each other broke: try again later.") from None

    def _said(self, statement: str, number: int) -> bool:
        if self._connection is None:
            self._connection = self._connect()
        row = self._connection.execute(statement.encode(), [number]).fetchone()
        return bool(row and row[0])

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._held = set()
        if connection is not None:
            with suppress(Exception):
                connection.close()
