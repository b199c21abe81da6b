"""Tables of polars' lazy queries: each pass runs the query anew, for the columns that it needs and a batch at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from polars.selectors import by_name

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import one_error_along, one_error_for
from dpstats.engines.reading import type_of
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.foundations.errors import DataTypeError

BATCH_ROWS = 1 << 18
"""Rows in a batch: enough that batches cost nothing, few enough that a wide table stays small."""
_QUERY = "the lazy frame"
_FAILED = "could not be run"


class LazyStore(LocalStore):
    """A polars LazyFrame. The query must give the same rows whenever it runs, in whatever order."""

    doubt = "a LazyFrame is a query: collect() it first, or sink_parquet() it and pass the path of that file"

    def __init__(self, query: pl.LazyFrame, batch_rows: int = BATCH_ROWS) -> None:
        """Asks the query for its schema, which reads no rows."""
        self._query = query
        self._batch_rows = batch_rows
        with one_error_for(_QUERY, "has no schema: collect_schema() on it shows why", DataTypeError):
            self._schema = dict(query.collect_schema())
        types = {name: type_of(pl.Series(dtype=declared)) for name, declared in self._schema.items()}
        self.columns: Mapping[str, ColumnType] = types
        self._collected = _CollectedStore(self)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows, in the order in which the query comes upon them."""
        is_empty = True  # one batch at least, so that the types are seen even where there are no rows
        for frame in one_error_along(self._frames(columns), _QUERY, _FAILED):
            is_empty = False
            yield Batch({name: frame.get_column(name) for name in columns}, frame.height if columns else int(frame.item()))
        if is_empty:
            yield Batch({name: pl.Series(dtype=self._schema[name]) for name in columns}, 0)

    def _frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The result of the query piece by piece; of no columns, one frame that holds nothing but the number of rows."""
        if not columns:
            yield self._query.select(pl.len()).collect(engine="streaming")
            return
        named = self._query.select(by_name(*dict.fromkeys(columns)))  # col() would take names for patterns
        yield from named.collect_batches(chunk_size=self._batch_rows, maintain_order=False, lazy=True, engine="streaming")

    def repeatable(self) -> LocalStore:
        """The same rows in memory, collected when they are first asked for: a query does not promise an order of its rows."""
        return self._collected

    def collect(self) -> MemoryStore:
        """The rows in memory."""
        with one_error_for(_QUERY, _FAILED):
            frame = self._query.collect(engine="streaming")
        return MemoryStore({name: frame.get_column(name) for name in frame.columns})


class _CollectedStore(LocalStore):
    """A lazy query that is collected into memory at the first pass."""

    in_memory = True

    def __init__(self, store: LazyStore) -> None:
        self.columns = store.columns
        self._store = store
        self._collecting = threading.Lock()
        self._raw_rows: MemoryStore | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows, in one order."""
        with self._collecting:
            if self._raw_rows is None:
                self._raw_rows = self._store.collect()
        return self._raw_rows.batches(columns)
