"""Tables in Postgres, read by psycopg.

All passes of a question run in one read-only transaction that begins with its first read and ends with its answer, so that they
see the same rows, whatever is written meanwhile; between questions nothing is held that others could wait for. Outside of all
questions a store has one such transaction of its own, until it is closed. A plain table comes in ranges of its pages, each
aggregated by the server into a few long strings of bytes, in the order in which the rows lie. A partitioned table comes row by
row, sorted by where its rows lie. A view comes row by row in whatever order the server finds them: its rows lie nowhere, so they
cannot be bounded per unit. Every statement has a savepoint of its own: one that fails leaves the transaction, and its rows, as
they were.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dpstats.engines.complaints import check_column_name, one_error_for, require, shown
from dpstats.engines.stores.filtering import SqlColumn
from dpstats.engines.stores.postgres_columns import PostgresColumn
from dpstats.engines.stores.postgres_server import PLAIN, VIEWS, connect, encoding_of, find_relation, place_of, quoted
from dpstats.engines.stores.postgres_snapshots import Snapshot, Snapshots, close_all
from dpstats.engines.stores.postgres_states import plan_of
from dpstats.engines.stores.store import Batch, LocalStore, Store
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.engines.units.contributions import Bound, BoundedStore
from dpstats.foundations.addresses import HOW_TO_WRITE
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.working import current_work

if TYPE_CHECKING:
    import psycopg

    from dpstats.engines.expressions.language import Node

_PAGES = 1024
_ROWS = 1 << 17
_TUPLES = 1 << 16  # places in a page that a row's address can name
_serials = count()


class PostgresStore(LocalStore):
    """A table of a Postgres database: its URL, and the table's name as SQL would have it."""

    def __init__(self, url: str, table: str, batch_pages: int = _PAGES) -> None:
        """Reads the names and types of the columns from the catalog, and no row.

        `table` is a name such as `visits` or `clinic.visits`; capitals and odd characters need double quotes, as in SQL.
        """
        require("tables in Postgres need", "postgres", "psycopg", "pyarrow")
        self._batch_pages = batch_pages
        self._lock = threading.Lock()
        self._lasting: list[Snapshot] = []
        with connect(url) as connection, one_error_for("the Postgres table", "could not be opened"):
            self._relation = find_relation(connection, table)
            self._places = place_of(connection, self._relation)
            self._may_compare_texts = encoding_of(connection)[1]
        self._snapshots = Snapshots(url, self._relation)
        weakref.finalize(self, close_all, self._snapshots.idle)
        weakref.finalize(self, close_all, self._lasting)
        self._condition = ""
        self._whole: PostgresStore | None = None
        self.columns = {column.name: column.type for column in self._relation.columns}
        self.name = f"{self._relation.schema}.{self._relation.name}"
        if self._relation.is_computed:
            self.doubt = (
                f"{shown(self.name)} is a view, a foreign table, or has virtual columns or a policy for its rows: make a table "
                "of it, with CREATE TABLE ... AS, or a materialized view"
            )

    @classmethod
    def from_url(cls, url: str) -> PostgresStore:
        """A table in one text: the URL of the database, `#`, and the table: `postgresql://host/database#clinic.visits`.

        User, password and port stand where they do in every such URL; libpq's own sources for them (`.pgpass`, PGPASSWORD) work.
        """
        address, _, table = url.partition("#")
        if "@" in table and not table.startswith("%22"):  # a # in the password, of which the rest is here
            raise InvalidParameterError(f"this is no URL of a Postgres table: write {HOW_TO_WRITE}.")
        if not table:
            raise InvalidParameterError(
                "the URL of a Postgres table ends in # and the table's name, such as postgresql://host/database#clinic.visits."
            )
        return cls(address, unquote(table))

    def repeatable(self) -> PostgresStore:
        """This store: rows come in the order in which they lie. An error for a view, whose rows lie nowhere."""
        if self._relation.kind in VIEWS:
            raise DataTypeError(
                f"{shown(self._relation.name)} is a view or a foreign table: rows per unit can be bounded in plain tables, "
                "partitioned tables and materialized views only."
            )
        return self

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit; a view is refused at once."""
        return BoundedStore(self.repeatable(), bound)

    def filtered(self, condition: Node) -> PostgresStore | None:
        """The same table, in the same transaction, with those rows alone of which the condition certainly holds."""
        from dpstats.engines.stores.sql_conditions import sql_of

        text = None if self.doubt else sql_of(condition, self._compared)
        if text is None:
            return None
        narrowed = copy(self)
        narrowed._whole = self._whole or self
        narrowed._condition = f"{self._condition} AND {text}" if self._condition else text
        return narrowed

    def _compared(self, name: str) -> SqlColumn | None:
        found = next((column for column in self._relation.columns if column.name == name), None)
        return None if found is None else found.compared(quoted(name), texts=self._may_compare_texts)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows; in the same order at every call, unless it is a view."""
        for name in columns:
            check_column_name(name, list(self.columns))
        wanted = [column for column in self._relation.columns if column.name in columns]
        snapshot = self._snapshot()
        if self._relation.kind in PLAIN and self._comes_in_ranges(snapshot, wanted):
            return self._ranges(snapshot, wanted)
        return self._rows(snapshot, wanted)

    def expected_rows(self) -> int | None:
        """As many as the server last estimated; None where it did not, or where conditions leave some out."""
        if self._condition:
            return None
        estimate, snapshot = "SELECT reltuples::int8 FROM pg_class WHERE oid = %s", self._snapshot()
        with snapshot.lock, snapshot.connection.transaction():
            [(rows,)] = snapshot.connection.execute(estimate, [self._relation.oid]).fetchall()
        return rows if rows > 0 else None

    def moment(self) -> object:
        """Equal at two times only if the rows are the same, in the same order."""
        return self._snapshot().moment()

    def check_reachable(self) -> None:
        """Raise unless the table is there as it was opened, and may be read; looks at the catalog alone."""
        self._snapshots.check()

    def whereabouts(self) -> Whereabouts:
        """The server, the database and the table."""
        return Whereabouts(self._places, self._places)

    def close(self) -> None:
        """Ends the transaction; nothing can be read any more."""
        self._snapshots.close()
        close_all(self._lasting)

    def _snapshot(self) -> Snapshot:
        """The rows as the question that is worked on sees them."""
        if self._whole is not None:
            return self._whole._snapshot()
        work = current_work()
        if work is not None:
            return work.hold(self, self._snapshots.begin, self._snapshots.end)
        with self._lock:
            if not self._lasting:
                self._lasting.append(self._snapshots.begin())
            return self._lasting[0]

    def _ranges(self, snapshot: Snapshot, columns: Sequence[PostgresColumn]) -> Iterator[Batch]:
        """A plain table in ranges of pages."""
        statement = self._aggregates(columns)
        size = "SELECT pg_relation_size(%s) / current_setting('block_size')::int8"
        with snapshot.lock, snapshot.connection.transaction():
            [(pages,)] = snapshot.connection.execute(size, [self._relation.oid]).fetchall()
        is_empty = True
        for page in range(0, pages, self._batch_pages):
            ends = page * _TUPLES, (page + self._batch_pages) * _TUPLES
            for raw_rows, *raw_strings in self._fetch(snapshot, statement, *ends):
                if raw_rows:
                    is_empty = False
                    yield self._batch(snapshot, columns, raw_strings, raw_rows)
        if is_empty:  # which tells the types
            yield self._batch(snapshot, columns, [b""] * (2 * len(columns)), 0)

    def _fetch(self, snapshot: Snapshot, statement: str, low: int, high: int) -> Iterator[tuple[Any, ...]]:
        """The strings of a range of rows, in halves where they are too long for the server."""
        from psycopg import errors

        raw_answer = None
        try:
            with snapshot.lock, snapshot.connection.transaction():
                [raw_answer] = _ask(snapshot.connection, statement.format(_address(low), _address(high)), snapshot.encoding)
        except (errors.ProgramLimitExceeded, errors.OutOfMemory):
            if high - low == 1:
                raise
        if raw_answer is not None:
            yield raw_answer
            return
        middle = (low + high) // 2
        yield from self._fetch(snapshot, statement, low, middle)
        yield from self._fetch(snapshot, statement, middle, high)

    def _rows(self, snapshot: Snapshot, columns: Sequence[PostgresColumn]) -> Iterator[Batch]:
        """A table or view row by row."""
        selected = ", ".join(self._expressions(columns)) or "NULL"
        order = "" if self._relation.kind in VIEWS else " ORDER BY tableoid, ctid"
        where = f" WHERE {self._condition}" if self._condition else ""
        statement = f"SELECT {selected} FROM {quoted(self._relation.schema, self._relation.name)}{where}{order}"
        name = f"dpstats_{next(_serials)}"  # not a cursor of psycopg's, which reads a statement in the connection's encoding
        connection = snapshot.connection
        with snapshot.lock, connection.transaction():
            connection.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {statement}".encode(snapshot.encoding))
        is_empty = True
        try:
            while True:
                with snapshot.lock, connection.transaction():
                    raw_rows = _ask(connection, f"FETCH FORWARD {_ROWS} FROM {name}", snapshot.encoding)
                if not raw_rows and not is_empty:
                    return
                if not raw_rows:  # a batch without rows tells the types
                    yield self._batch(snapshot, columns, [b""] * (2 * len(columns)), 0)
                    return
                is_empty = False
                yield self._batch(
                    snapshot, columns, [b"".join(filter(None, part)) for part in zip(*raw_rows, strict=True)], len(raw_rows)
                )
        finally:
            with suppress(Exception), snapshot.lock, connection.transaction():  # after a failure the cursor may be gone
                connection.execute(f"CLOSE {name}".encode())

    def _batch(
        self, snapshot: Snapshot, columns: Sequence[PostgresColumn], raw_strings: Sequence[bytes | None], raw_rows: int
    ) -> Batch:
        raw_pairs = zip(raw_strings[::2], raw_strings[1::2], strict=False)
        assembled = {
            column.name: column.assemble(raw_values or b"", raw_marks or b"", None if snapshot.is_good else snapshot.encoding)
            for column, (raw_values, raw_marks) in zip(columns, raw_pairs, strict=False)
        }
        return Batch(assembled, raw_rows)

    def _expressions(self, columns: Sequence[PostgresColumn]) -> list[str]:
        return [text for column in columns for text in column.expressions(quoted(column.name))]

    def _aggregates(self, columns: Sequence[PostgresColumn]) -> str:
        """The statement for a range of rows, with places for its ends."""
        strings = [f"string_agg({text}, ''::bytea)" for text in self._expressions(columns)]
        aggregates = ", ".join(["count(*)", *strings]).replace("{", "{{").replace("}", "}}")
        table = quoted(self._relation.schema, self._relation.name).replace("{", "{{").replace("}", "}}")
        condition = f" AND {self._condition}".replace("{", "{{").replace("}", "}}") if self._condition else ""
        return f"SELECT {aggregates} FROM {table} WHERE ctid >= {{}}::tid AND ctid < {{}}::tid{condition}"

    def _comes_in_ranges(self, snapshot: Snapshot, columns: Sequence[PostgresColumn]) -> bool:
        """Whether the server goes from row to row as they lie, straight into the aggregates; it says so before it reads any."""
        statement = self._aggregates(columns).format(_address(0), _address(self._batch_pages * _TUPLES))
        with snapshot.lock, snapshot.connection.transaction():
            plan = plan_of(snapshot.connection, statement, snapshot.encoding)
        sources = [part["Node Type"] for part in plan.get("Plans", ()) if part.get("Parent Relationship") == "Outer"]
        return plan["Node Type"] == "Aggregate" and sources == ["Tid Range Scan"]


def _ask(connection: psycopg.Connection[Any], statement: str, encoding: str) -> list[tuple[Any, ...]]:
    with connection.cursor(binary=True) as cursor:
        return cursor.execute(statement.encode(encoding)).fetchall()


def _address(place: int) -> str:
    """Where a row lies, from one number: its page and its place there."""
    return "'({},{})'".format(*divmod(place, _TUPLES))
