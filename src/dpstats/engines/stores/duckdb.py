"""Tables in DuckDB: a relation of DuckDB's, read where it is.

A table is read on a connection of the store's own, in one transaction for each question, which begins with its first read: all
passes see the same rows, and nothing that was not committed by then; between questions nothing is held that a checkpoint of
DuckDB's would wait for. Outside of all questions a store has one such transaction, until it is closed. Rows come in ranges of
DuckDB's row numbers, in their order; each is fetched whole, so that any number of passes may run at once, and halved where a
column has more bytes of text than Arrow takes at once.

Anything else (a query, a view, a temporary table) is run once, at the first read and on the caller's connection, which must
have no unfinished result then. Its rows are kept in a temporary table of DuckDB's, so that a query is one table for all passes.
Only tables of DuckDB's own are known to give the same rows whatever is in them; of all else there is a `doubt`.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpstats.engines.complaints import check_column_name, one_error_for, require, shown
from dpstats.engines.stores.duckdb_columns import DuckDBColumn, quoted
from dpstats.engines.stores.filtering import SqlColumn
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import DataFileError, InvalidParameterError
from dpstats.foundations.working import current_work

if TYPE_CHECKING:
    import pyarrow

    from dpstats.engines.expressions.language import Node

_NEEDED = ("tables in DuckDB need", "duckdb", "duckdb", "pyarrow")
_ROWS = 983_040  # eight of DuckDB's row groups
_BYTES = 1 << 31  # of texts in one column, which Arrow does not take at once
_DOUBT = (
    "this DuckDB relation is not a plain table: make one of it, with CREATE TABLE visits AS ..., and pass "
    "connection.table('visits'); of a file or a frame pass that itself"
)
_IDENTIFIER = r'"((?:[^"]|"")*)"'
_PLAIN_TABLE = re.compile(rf"SELECT \* FROM {_IDENTIFIER}(?:\.{_IDENTIFIER})?(?:\.{_IDENTIFIER})?")
_LISTING = """\
SELECT database_name, schema_name, table_name, temporary, type = 'duckdb' AND upper(sql) NOT LIKE '%GENERATED ALWAYS AS%'
FROM duckdb_tables() JOIN duckdb_databases() USING (database_name)
UNION ALL SELECT database_name, schema_name, view_name, temporary, FALSE FROM duckdb_views()"""
_KEPT = "dpstats_kept"
_INCOMING = "dpstats_incoming"


class DuckDBStore(LocalStore):
    """A table or query of DuckDB: `con.table("visits")`, `con.sql("select ...")`."""

    def __init__(self, relation: Any, batch_rows: int = _ROWS) -> None:
        """Reads the names and types of the relation, and no row."""
        require(*_NEEDED)
        import duckdb

        self._batch_rows = batch_rows
        with one_error_for(
            "the DuckDB relation",
            "could not be opened: check that its connection is open, that its table is there, and that no result of it "
            "is left to be fetched",
        ):
            names, types = relation.columns, relation.types
            _check_names(names)
            self._described = list(names), list(map(str, types))
            self._columns = list(map(DuckDBColumn, range(len(names)), names, types))
            self._relation = relation
            connection = getattr(relation, "_con", None)  # where DuckDB does not tell, we take a database of our own
            self._connection = duckdb.connect() if connection is None else connection.cursor()
            listed = self._listed()
            self._table = self._find_table(listed)
        self.doubt = None if listed and all(is_stored for *_, is_stored in listed) else _DOUBT
        self.columns = {column.name: column.type for column in self._columns}
        self._lock = threading.RLock()
        self._lasting: _Reading | None = None
        self._condition = ""
        self._whole: DuckDBStore | None = None

    @classmethod
    def from_file(cls, path: str | PathLike[str], table: str) -> DuckDBStore:
        """A table in a DuckDB file, which is opened for reading only."""
        require(*_NEEDED)
        import duckdb

        file = Path(fspath(path))
        if not file.is_file():
            raise DataFileError(f"there is no file {shown(file)}.")
        with one_error_for(file, "could not be opened as a DuckDB file: check that no other process is writing to it"):
            connection = duckdb.connect(str(file), read_only=True)
        with one_error_for(table, f"is no table or view in {shown(file)}", InvalidParameterError):
            relation = connection.table(table)
        return cls(relation)

    def filtered(self, condition: Node) -> DuckDBStore | None:
        """The same table, in the same transaction, with those rows alone of which the condition certainly holds."""
        from dpstats.engines.stores.sql_conditions import sql_of

        text = None if self.doubt or self._table is None else sql_of(condition, self._compared)
        if text is None:
            return None
        narrowed = copy(self)
        narrowed._whole = self._whole or self
        narrowed._condition = f"{self._condition} AND {text}"
        return narrowed

    def _compared(self, name: str) -> SqlColumn | None:
        return next((column.compared() for column in self._columns if column.name == name), None)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows, in the same order at every call."""
        for name in columns:
            check_column_name(name, list(self.columns))
        wanted = [column for column in self._columns if column.name in columns]
        reading = self._reading()
        is_empty = True
        for low in range(0, max(reading.raw_top, 1), self._batch_rows):  # also where there is no row at all
            for raw_rows in self._fetch(reading, wanted, low, low + self._batch_rows):
                is_last = low + self._batch_rows >= reading.raw_top
                if raw_rows.num_rows or (is_empty and is_last):  # a batch without rows tells the types
                    is_empty = False
                    assembled = {column.name: column.assemble(raw_rows.column(column.alias)) for column in wanted}
                    yield Batch(assembled, raw_rows.num_rows)

    def expected_rows(self) -> int | None:
        """One more than the largest row number; unknown where conditions leave some out."""
        return None if self._condition else self._reading().raw_top

    def moment(self) -> object:
        """Another one for each transaction, unless nobody can write to the table or it was copied."""
        return None if self._table is None or self._is_read_only() else self._reading().number

    def check_reachable(self) -> None:
        """Raise where the connection is closed or the table is gone; nothing is run but a look at the catalog."""
        whole = self._whole or self
        with (
            self._lock,
            one_error_for("the DuckDB table", "cannot be reached any more: was it dropped, or its connection closed?"),
        ):
            if whole._table is None and whole._lasting is not None:  # it was copied
                self._connection.execute("SELECT 1").fetchall()
            elif whole._table is None:
                self._relation.limit(0).fetchall()
            elif not self._is_visible(self._connection):
                raise DataFileError("the DuckDB table is not there any more, or has other columns: open it anew.")

    def whereabouts(self) -> Whereabouts:
        """The file and the table; none for a database in memory, and for what is no table."""
        if self._table is None:
            return Whereabouts()
        path, _ = self._database()
        table = self._table.partition(".")[2]
        places = (f"duckdb {os.path.realpath(path)} {table}",) if path else ()
        return Whereabouts(places, places)

    def _is_read_only(self) -> bool:
        return self._database()[1]

    def _database(self) -> tuple[str | None, bool]:
        """The file in which the table lies, if any, and whether nobody can write to it."""
        with self._lock:  # asked every time: somebody may attach it anew
            listed = self._connection.execute("SELECT database_name, path, readonly FROM duckdb_databases()").fetchall()
        for database, path, is_read_only in listed:
            if (self._table or "").startswith(f"{quoted(database)}."):
                return path, bool(is_read_only)
        return None, False

    def close(self) -> None:
        """Ends the transaction and drops what was kept; the store can be read no more."""
        with self._lock:
            if self._lasting is not None:
                self._lasting.end()
            self._connection.close()

    def _listed(self) -> list[tuple[Any, ...]]:
        """The tables and views of the catalog that the relation may be; none where it is a query.

        Each has its database, schema and name, whether it is temporary, and whether its rows are stored by DuckDB itself.
        """
        named = _PLAIN_TABLE.fullmatch(self._relation.sql_query()) if self._relation.type == "TABLE_RELATION" else None
        if named is None:
            return []
        parts = [part.replace('""', '"').casefold() for part in named.groups() if part is not None]
        tables = self._relation.query(_INCOMING, _LISTING).fetchall()  # on the caller's connection: it may have temporary ones
        return [table for table in tables if table[2].casefold() == parts[-1] and _is_within(table, parts[:-1])]

    def _find_table(self, listed: Sequence[tuple[Any, ...]]) -> str | None:
        """The full name of the table that the relation is, where a connection of our own can read it; None for all else."""
        if len(listed) != 1 or listed[0][3] or any(column.name.casefold() == "rowid" for column in self._columns):
            return None
        self._table = ".".join(map(quoted, listed[0][:3]))
        return self._table if self._is_visible(self._connection) else None

    def _is_visible(self, connection: Any) -> bool:
        """Whether a connection of our own sees the table with the very columns that were opened."""
        import duckdb

        try:
            seen = connection.sql(f"SELECT * FROM {self._table}")
        except duckdb.Error:  # not committed yet
            return False
        return (list(seen.columns), list(map(str, seen.types))) == self._described

    def _reading(self) -> _Reading:
        """The rows as the question that is worked on sees them; a query is run and kept at the first call."""
        if self._whole is not None:
            return self._whole._reading()
        work = current_work()
        if work is not None and self._table is not None:
            return work.hold(self, self._begin, _Reading.end)
        with self._lock:
            if self._lasting is None:
                self._lasting = self._begin()
            return self._lasting

    def _begin(self) -> _Reading:
        """A transaction, on a connection of its own; what is kept lies on ours, and needs none."""
        with self._lock:
            if self._table is None:
                self._keep()
            connection = self._connection if self._table is None else self._connection.cursor()
        if self._table is not None:
            connection.execute("BEGIN TRANSACTION READ ONLY")
            if not self._is_visible(connection):
                raise DataFileError("the DuckDB table is not there any more, or has other columns: open it anew.")
        [(raw_last,)] = connection.execute(f"SELECT max(rowid) FROM {self._table or _KEPT}").fetchall()
        return _Reading(connection, 0 if raw_last is None else raw_last + 1)

    def _keep(self) -> None:
        """Runs the query on the caller's connection, straight into a temporary table on our own."""
        relation = self._relation.project(", ".join(column.selected() for column in self._columns))
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        reader = read(self._rows_at_once())
        try:
            self._connection.register(_INCOMING, reader)
            self._connection.execute(f"CREATE TEMPORARY TABLE {_KEPT} AS SELECT * FROM {_INCOMING}").fetchall()
            self._connection.unregister(_INCOMING)
        finally:
            reader.close()

    def _rows_at_once(self) -> int:
        """How many rows of a temporary table Arrow takes at once, whichever they are; a query is not run for that."""
        sizes = [size for column in self._columns if (size := column.size())]
        if self.doubt or not sizes:
            return _ROWS
        raw_longest = self._relation.project(f"greatest(0, {', '.join(sizes)}) AS size").aggregate("max(size)").fetchall()[0][0]
        return max(1, min(_ROWS, (_BYTES - 1) // max(1, raw_longest or 0)))

    def _fetch(self, reading: _Reading, columns: Sequence[DuckDBColumn], low: int, high: int) -> Iterator[pyarrow.Table]:
        """A range of rows in the order of their numbers, in halves where their texts are too long for Arrow."""
        if not self._is_too_long(reading, columns, low, high):
            yield self._fetch_whole(reading, columns, low, high)
        elif high - low > 1:
            middle = (low + high) // 2
            yield from self._fetch(reading, columns, low, middle)
            yield from self._fetch(reading, columns, middle, high)
        else:
            yield self._fetch_whole(reading, columns, low, high, longest=_BYTES - 1)

    def _is_too_long(self, reading: _Reading, columns: Sequence[DuckDBColumn], low: int, high: int) -> bool:
        sizes = [f"sum({size})" for column in columns if (size := column.size(kept=self._table is None))]
        if not sizes:
            return False
        where = f"WHERE rowid >= {low} AND rowid < {high}{self._condition}"
        statement = f"SELECT greatest(0, {', '.join(sizes)}) FROM {self._table or _KEPT} {where}"
        with reading.lock:
            [(raw_size,)] = reading.connection.sql(statement).fetchall()
        return bool(raw_size >= _BYTES)

    def _fetch_whole(
        self, reading: _Reading, columns: Sequence[DuckDBColumn], low: int, high: int, longest: int | None = None
    ) -> pyarrow.Table:
        """A range of rows in the order of their numbers; texts beyond the longest are none that could be told from others."""
        wanted = ", ".join(["rowid", *(column.selected(kept=self._table is None, longest=longest) for column in columns)])
        where = f"WHERE rowid >= {low} AND rowid < {high}{self._condition}"
        with reading.lock:
            raw_rows = reading.connection.sql(f"SELECT {wanted} FROM {self._table or _KEPT} {where}").to_arrow_table()
        raw_numbers = raw_rows.column(0).to_numpy()
        in_order = bool((np.diff(raw_numbers) > 0).all())  # so it is, unless somebody told DuckDB not to preserve it
        return raw_rows if in_order else raw_rows.take(np.argsort(raw_numbers))


@dataclass(frozen=True)
class _Reading:
    """A table as one transaction sees it; threads take turns by its lock."""

    connection: Any
    raw_top: int
    """One more than the largest row number."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    number: int = field(default_factory=count().__next__)

    def end(self) -> None:
        """Let go of it."""
        with suppress(Exception):
            self.connection.close()


def _is_within(table: tuple[Any, ...], parts: Sequence[str]) -> bool:
    """Whether a table of the catalog lies in the database and the schema that a name begins with."""
    database, schema = table[0].casefold(), table[1].casefold()
    return list(parts) in ([], [schema], [database], [database, schema])


def _check_names(names: Sequence[str]) -> None:
    for name, times in Counter(name.casefold() for name in names).items():
        if times > 1:
            raise InvalidParameterError(
                f"the DuckDB relation has more than one column named {shown(name)}: give each its own name, with AS. "
                "Capitals make no difference there."
            )
