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
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.secret import put_into_postgres, secret_in_postgres
from dpstats.curator.ledger.stores import (
    ADD_ACTORS,
    CREATE_INDEXES,
    CREATE_TABLE,
    INSERT,
    LAST,
    LAST_NUMBER,
    PAGE,
    VALUES,
    EntryTable,
    Sought,
    closed_on_failure,
    latest_statement,
)
from dpstats.curator.ledger.witness import Witness
from dpstats.foundations.addresses import shown_url
from dpstats.foundations.errors import LedgerError, MissingExtraError

if TYPE_CHECKING:
    import psycopg

SCHEMES = ("postgresql://", "postgres://")
PATIENCE = 30
"""Seconds to wait for another writer, or for a server to answer."""
_CREATION = 0x64706C67  # the advisory lock under which tables are made: "dplg"
_TRIGGER = """\
CREATE FUNCTION dpstats_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a ledger is append-only'; END $$;
CREATE TRIGGER dpstats_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dpstats_ledger
EXECUTE FUNCTION dpstats_ledger_refuse()"""
_TURN = (
    "CREATE TABLE dpstats_ledger_turn (only_row INTEGER PRIMARY KEY CHECK (only_row = 1))",
    "INSERT INTO dpstats_ledger_turn VALUES (1)",
)
# A look at the catalog's rows; to_regclass may still remember what it saw before another writer made the table.
_LOOK = """\
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_tables WHERE tablename = 'dpstats_ledger' AND schemaname = ANY (current_schemas(false))
)"""
_HAS_ACTORS = """\
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_attribute WHERE attrelid = 'dpstats_ledger'::regclass AND attname = 'actor' AND NOT attisdropped
)"""
# Each statement sees what was committed before it began, so the last one sees the end of the chain as it is in our turn.
_IDENTITY = "SELECT coalesce(to_regclass('dpstats_ledger')::oid::bigint, 0)"
_STEPS = {"turn": "SELECT only_row FROM dpstats_ledger_turn FOR UPDATE", "identity": _IDENTITY, "last": LAST}
_TAKE_TURN = f"BEGIN ISOLATION LEVEL READ COMMITTED; {'; '.join(f'EXECUTE dpstats_ledger_{name}' for name in _STEPS)}"
_ROW = VALUES.replace("?", "%s")


class _Turn(EntryTable):
    """The entries in a transaction that has the turn. What is inserted goes to the server together with the commit."""

    def __init__(
        self, connection: psycopg.Connection[Any], last: list[Any], expected: Collection[Sought], found: list[Any]
    ) -> None:
        """`last` and `found` are the rows that came with the turn, of the last entry and of what was `expected` to be needed."""
        super().__init__(lambda statement, parameters: _run(connection, statement, parameters))
        self.connection = connection
        self._last = Entry(*last[0]) if last else None
        self._came_along = self._latest(expected, found)
        self._inserted: list[Entry] = []

    def last(self) -> Entry | None:
        """The end of the chain, which came with the turn."""
        return self._last

    def latest_of(self, sought: Collection[Sought], until: int = LAST_NUMBER) -> dict[Sought, Entry | None]:
        """The last entry about each of several accounts, kinds and keys; nothing is asked for what came with the turn."""
        if until == LAST_NUMBER and all(each in self._came_along for each in sought):
            return {each: self._came_along[each] for each in sought}
        return super().latest_of(sought, until)

    def insert(self, entries: Sequence[Entry]) -> None:
        """Add entries at the end."""
        self._inserted += entries
        if len(self._inserted) >= PAGE:
            self.connection.execute(self._insertion())
            self._inserted = []

    def ending(self) -> bytes:
        """Everything that is left to be said to the server, as one message."""
        return self._insertion() + b"; COMMIT" if self._inserted else b"COMMIT"

    def _insertion(self) -> bytes:
        cursor = _driver().ClientCursor(self.connection)
        rows = [cursor.mogrify(_ROW, entry) for entry in self._inserted]
        return f"{INSERT}{', '.join(rows)}".encode()


class PostgresEntryStore:
    """Entries in a table of a Postgres database."""

    def __init__(self, url: str, *, read_only: bool = False, witness: Path | None = None) -> None:
        self._url = url
        self.read_only = read_only
        self.witness = None if witness is None else Witness(witness)
        self._connection: psycopg.Connection[Any] | None = None
        self._apart: psycopg.Connection[Any] | None = None
        self._identity: int | None = None
        self._planned: dict[str, str] = {}  # statements that the connection for writing knows, by name
        self._locks = AdvisoryLocks(self._connect)
        self.claims = Claims(self._locks)
        _driver()

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
            put_into_postgres(connection, secret, _CREATION)

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
                except _driver().Error:
                    self._hang_up()
                raise

    reads_apart = True

    @contextmanager
    def reading(self) -> Iterator[EntryTable]:
        """The entries as they are now, on a connection of its own: whoever reads does not wait for writers."""
        with self._our_words():
            run = self._run_or_reconnect
            has_actors = not self.read_only or bool(next(iter(run(_HAS_ACTORS, ())))[0])
            yield EntryTable(run, has_actors=has_actors)

    reading_apart = reading

    def damages(self) -> list[str]:
        """Nothing: the server looks after its tables."""
        return []

    def disconnect(self) -> None:
        """Close the connections."""
        self._hang_up()
        apart, self._apart = self._apart, None
        if apart is not None:
            with suppress(_driver().Error):
                apart.close()
        self._locks.close_if_idle()

    close = disconnect

    def _hang_up(self) -> None:
        """Close the connection for writing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(_driver().Error):
                connection.close()

    def _with_turn(self, expected: Collection[Sought]) -> _Turn:
        """A connection whose transaction has the turn. One that broke while it was idle is made anew: nothing is lost by that."""
        was_connected = self._connection is not None
        try:
            return self._take_turn(expected)
        except _driver().OperationalError as error:
            if not was_connected or isinstance(error, _driver().errors.LockNotAvailable):
                raise
        return self._take_turn(expected)

    def _take_turn(self, expected: Collection[Sought]) -> _Turn:
        connection = self._connected()
        try:
            cursor = connection.execute(f"{_TAKE_TURN}{self._asking(connection, expected)}".encode())
            _, identity, last, *found = [cursor.fetchall() for _ in iter(cursor.nextset, None)]  # of all that follows BEGIN
            self._check_identity(identity[0])
            return _Turn(connection, last, expected, found[0] if found else [])
        except BaseException:
            self._hang_up()  # a transaction that failed at its first step must not stay open
            raise

    def _asking(self, connection: psycopg.Connection[Any], expected: Collection[Sought]) -> str:
        """The statement that asks for what is expected to be needed, as the end of a message."""
        if not expected:
            return ""
        statement, parameters = latest_statement(expected)
        name = self._planned.get(statement)
        if name is None:
            name = self._planned[statement] = f"latest_{len(self._planned)}"
            _prepare(connection, name, statement)
        places = ", ".join(["%s"] * len(parameters))
        return f"; {_driver().ClientCursor(connection).mogrify(f'EXECUTE dpstats_ledger_{name} ({places})', parameters)}"

    def _check_identity(self, row: Any) -> None:
        """Raise unless the table is the one that was written to first."""
        [found] = row
        if self._identity is None:
            self._identity = found
        if found != self._identity:
            raise LedgerError(self._gone())

    def _gone(self) -> str:
        return (
            f"the table of the ledger {self.address} was dropped or replaced while it was in use. Nothing more is answered. "
            "Restore a backup with `dpstats ledger restore`, and open a new session."
        )

    def _commit(self, table: _Turn) -> None:
        try:
            table.connection.execute(table.ending())
        except _driver().Error:
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
            return _run(self._apart, statement, parameters)
        except _driver().OperationalError:
            if not self._apart.closed:
                raise
        self._apart = self._connect()
        return _run(self._apart, statement, parameters)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            connection = self._connect()
            with closed_on_failure(connection):
                for name, statement in _STEPS.items():
                    _prepare(connection, name, statement)
            self._planned = {}
            self._connection = connection
        return self._connection

    def _connect(self) -> psycopg.Connection[Any]:
        options: dict[str, Any] = {} if "connect_timeout=" in self._url else {"connect_timeout": PATIENCE}
        try:
            connection: psycopg.Connection[Any] = _driver().connect(self._url, autocommit=True, client_encoding="UTF8", **options)
        except _driver().Error:
            raise LedgerError(
                f"nobody answers at {self.address}, or not to this user: check address, user and password, and whether it runs."
            ) from None
        with closed_on_failure(connection):
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = '{PATIENCE}s'")
            if self.read_only:
                connection.execute("SET default_transaction_read_only = on")
            if not _says(connection, _LOOK):
                if self.read_only:
                    raise LedgerError(f"there is no ledger at {self.address}.")
                self._check_that_none_was_there()
                _create(connection)
            if not self.read_only and not _says(connection, _HAS_ACTORS):
                _add_actors(connection)
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
        errors = _driver().errors
        try:
            yield
        except errors.LockNotAvailable:
            complaint = f"the ledger {self.address} was locked by another writer for {PATIENCE} seconds: try again later."
        except errors.InsufficientPrivilege:
            complaint = f"this user may not write to the ledger {self.address}: ask the database's owner for the right to."
        except errors.UndefinedTable:
            complaint = self._gone()
        except _driver().Error:
            complaint = f"the ledger {self.address} could not be read or written; nothing was debited."
        else:
            return
        raise LedgerError(complaint) from None


def _prepare(connection: psycopg.Connection[Any], name: str, statement: str) -> None:
    """Let the server plan a statement once for a connection."""
    parts = statement.split("?")
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    connection.execute(f"PREPARE dpstats_ledger_{name} AS {numbered}".encode())


def _run(connection: psycopg.Connection[Any], statement: str, parameters: Sequence[Any]) -> list[Any]:
    return connection.execute(statement.replace("?", "%s").encode(), parameters).fetchall()


def _says(connection: psycopg.Connection[Any], question: str) -> bool:
    row = connection.execute(question.encode()).fetchone()
    return bool(row and row[0])


def _create(connection: psycopg.Connection[Any]) -> None:
    """Make the tables, unless another writer is faster."""
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({_CREATION})".encode())
        if not _says(connection, _LOOK):
            for statement in (CREATE_TABLE.format(whole="BIGINT"), *CREATE_INDEXES, *_TURN, _TRIGGER):
                connection.execute(statement.encode())


def _add_actors(connection: psycopg.Connection[Any]) -> None:
    """Let a table of an earlier release say who, unless another writer is faster."""
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({_CREATION})".encode())
        if not _says(connection, _HAS_ACTORS):
            for statement in ADD_ACTORS:
                connection.execute(statement.encode())


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError.about("a ledger in Postgres needs psycopg", "postgres") from None
    return psycopg
