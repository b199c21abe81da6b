"""Ledgers in Postgres: for writers on several machines.

All writers take turns at one row (SELECT ... FOR UPDATE), so that what a transaction reads at the end of the chain is the end
until it is done, and a transaction counts only when the server has it on disk (synchronous_commit). The server is asked as seldom
as can be while others wait: one message takes the turn and brings the end of the chain, one more inserts and commits. The
server's messages are not passed on, and neither is the password in a URL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpstats.curator.ledger.advisory_locks import AdvisoryLocks
from dpstats.curator.ledger.claims import Claims
from dpstats.curator.ledger.postgres_tables import CREATION, HAS_ACTORS, IS_THERE, add_actors, create, driver, run, says
from dpstats.curator.ledger.postgres_turns import Turns, TurnTable
from dpstats.curator.ledger.secret import put_into_postgres, secret_in_postgres
from dpstats.curator.ledger.stores import EntryTable, Sought, closed_on_failure
from dpstats.curator.ledger.witness import Witness
from dpstats.foundations.addresses import shown_url
from dpstats.foundations.errors import LedgerError

if TYPE_CHECKING:
    import psycopg

SCHEMES = ("postgresql://", "postgres://")
PATIENCE = 30
"""Seconds to wait for another writer, or for a server to answer."""


class PostgresEntryStore:
    """Entries in a table of a Postgres database."""

    def __init__(self, url: str, *, read_only: bool = False, witness: Path | None = None) -> None:
        self._url = url
        self.read_only = read_only
        self.witness = None if witness is None else Witness(witness)
        self._turns: Turns | None = None
        self._apart: psycopg.Connection[Any] | None = None
        self._identity: int | None = None
        self._locks = AdvisoryLocks(self._connect)
        self.claims = Claims(self._locks)
        driver()

    @property
    def address(self) -> str:
        """The URL without user, password and options."""
        return shown_url(self._url)

    def secret(self) -> bytes | None:
        """What fingerprints are made with; None where there is none yet."""
        with self._our_words(), closing(self._connect()) as connection:
            return secret_in_postgres(connection)

    def keep_secret(self, secret: bytes) -> None:
        """Make fingerprints with this, unless there is a secret already."""
        with self._our_words(), closing(self._connect()) as connection:
            put_into_postgres(connection, secret, CREATION)

    @contextmanager
    def writing(self, expected: Collection[Sought] = ()) -> Iterator[EntryTable]:
        """A transaction that no other writer can enter; durable when it is left. What is `expected` to be needed comes along with
        the turn.
        """
        if self.read_only:
            raise LedgerError(f"the ledger {self.address} was opened for reading only.")
        with self._our_words():
            table = self._with_turn(expected)
            try:
                yield table
                self._commit(table)
            except BaseException:
                try:
                    table.connection.execute("ROLLBACK")
                except driver().Error:
                    self._hang_up()
                raise

    reads_apart = True

    @contextmanager
    def reading(self) -> Iterator[EntryTable]:
        """The entries as they are now, on a connection of its own: whoever reads does not wait for writers."""
        with self._our_words():
            has_actors = not self.read_only or bool(next(iter(self._run_or_reconnect(HAS_ACTORS, ())))[0])
            yield EntryTable(self._run_or_reconnect, has_actors=has_actors)

    reading_apart = reading

    def damages(self) -> list[str]:
        """Nothing: the server looks after its tables."""
        return []

    def disconnect(self) -> None:
        """Close the connections."""
        self._hang_up()
        apart, self._apart = self._apart, None
        if apart is not None:
            with suppress(driver().Error):
                apart.close()
        self._locks.close_if_idle()

    close = disconnect

    def _hang_up(self) -> None:
        """Close the connection for writing."""
        turns, self._turns = self._turns, None
        if turns is not None:
            with suppress(driver().Error):
                turns.connection.close()

    def _with_turn(self, expected: Collection[Sought]) -> TurnTable:
        """A connection whose transaction has the turn. One that broke while it was idle is made anew: nothing is lost by that."""
        was_connected = self._turns is not None
        try:
            return self._take_turn(expected)
        except driver().OperationalError as error:
            if not was_connected or isinstance(error, driver().errors.LockNotAvailable):
                raise
        return self._take_turn(expected)

    def _take_turn(self, expected: Collection[Sought]) -> TurnTable:
        turns = self._connected()
        try:
            identity, table = turns.take(expected)
            self._check_identity(identity)
            return table
        except BaseException:
            self._hang_up()  # a transaction that failed at its first step must not stay open
            raise

    def _check_identity(self, found: int) -> None:
        """Raise unless the table is the one that was written to first."""
        if self._identity is None:
            self._identity = found
        if found != self._identity:
            raise LedgerError(self._gone())

    def _gone(self) -> str:
        return (
            f"the table of the ledger {self.address} was dropped or replaced while it was in use. Nothing more is answered. "
            "Restore a backup with `dpstats ledger restore`, and open a new session."
        )

    def _commit(self, table: TurnTable) -> None:
        try:
            table.connection.execute(table.ending())
        except driver().Error:
            if not table.connection.closed:
                raise  # the server has refused, and so has committed nothing
            raise LedgerError(
                f"the connection to the ledger {self.address} broke while it was writing. Whether the cost was debited, "
                "`dpstats ledger show` says; nothing was answered."
            ) from None

    def _run_or_reconnect(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a statement that only reads. A connection that broke while it was idle is made anew."""
        if self._apart is None:
            self._apart = self._connect()
        try:
            return run(self._apart, statement, parameters)
        except driver().OperationalError:
            if not self._apart.closed:
                raise
        self._apart = self._connect()
        return run(self._apart, statement, parameters)

    def _connected(self) -> Turns:
        if self._turns is None:
            connection = self._connect()
            with closed_on_failure(connection):
                self._turns = Turns(connection)
        return self._turns

    def _connect(self) -> psycopg.Connection[Any]:
        options: dict[str, Any] = {} if "connect_timeout=" in self._url else {"connect_timeout": PATIENCE}
        try:
            connection: psycopg.Connection[Any] = driver().connect(self._url, autocommit=True, client_encoding="UTF8", **options)
        except driver().Error:
            raise LedgerError(
                f"nobody answers at {self.address}, or not to this user: check address, user and password, and whether it runs."
            ) from None
        with closed_on_failure(connection):
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = '{PATIENCE}s'")
            if self.read_only:
                connection.execute("SET default_transaction_read_only = on")
            if not says(connection, IS_THERE):
                if self.read_only:
                    raise LedgerError(f"there is no ledger at {self.address}.")
                self._check_that_none_was_there()
                create(connection)
            if not self.read_only and not says(connection, HAS_ACTORS):
                add_actors(connection)
        return connection

    def _check_that_none_was_there(self) -> None:
        if self._identity is not None:
            raise LedgerError(self._gone())
        if self.witness is not None and (known := self.witness.read()):
            raise LedgerError(
                f"there is no ledger at {self.address}, but its witness {self.witness.path} has seen {known.sequence} of its "
                "entries: it was moved or dropped. Restore a backup: `dpstats ledger restore BACKUP URL`."
            )

    @contextmanager
    def _our_words(self) -> Iterator[None]:
        errors = driver().errors
        try:
            yield
        except errors.LockNotAvailable:
            complaint = f"the ledger {self.address} was locked by another writer for {PATIENCE} seconds: try again later."
        except errors.InsufficientPrivilege:
            complaint = f"this user may not write to the ledger {self.address}: ask the database's owner for the right to."
        except errors.UndefinedTable:
            complaint = self._gone()
        except driver().Error:
            complaint = f"the ledger {self.address} could not be read or written; nothing was debited."
        else:
            return
        raise LedgerError(complaint) from None
