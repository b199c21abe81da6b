"""Stores: where the entries of a ledger are kept, and the few questions that are put to them.

The table has one row for each entry and is the same in every store. Nothing here updates or deletes a row, and triggers in the
store refuse to. A store is used by one thread at a time, and holds no connection while the process forks: what `disconnect` lets
go of, the next use connects to anew, and finds everything that was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dpstats.curator.ledger.entries import Entry

Run = Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]]
"""Runs one statement with its parameters (marked by question marks) and returns its rows."""

CREATE_TABLE = """\
CREATE TABLE dpstats_ledger (
    sequence {whole} PRIMARY KEY,
    version {whole} NOT NULL,
    time TEXT NOT NULL,
    dataset TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE
)"""
CREATE_INDEXES = (
    "CREATE INDEX dpstats_ledger_by_kind ON dpstats_ledger (dataset, kind, sequence)",
    "CREATE INDEX dpstats_ledger_by_key ON dpstats_ledger (dataset, kind, key, sequence)",
)
PAGE = 1000
_AT_ONCE = 50
_FIRST = -(2**63)
_COLUMNS = ", ".join(Entry._fields)
_SELECT = f"SELECT {_COLUMNS} FROM dpstats_ledger"
LAST = f"{_SELECT} ORDER BY sequence DESC LIMIT 1"
INSERT = f"INSERT INTO dpstats_ledger ({_COLUMNS}) VALUES "
VALUES = f"({', '.join('?' * len(Entry._fields))})"


@contextmanager
def closed_on_failure(connection: Any) -> Iterator[None]:
    """Closes a new connection where what follows fails."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


class EntryTable:
    """The entries as one transaction sees them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.highest: Entry | None = None
        """The highest entry that was found so far."""

    def last(self) -> Entry | None:
        """The end of the chain."""
        return self._first(LAST, ())

    def latest(self, dataset: str, kind: str) -> Entry | None:
        """The last entry of one kind about one data set."""
        return self._first(f"{_SELECT} WHERE dataset = ? AND kind = ? ORDER BY sequence DESC LIMIT 1", (dataset, kind))

    def with_key(self, dataset: str, kind: str, key: str) -> list[Entry]:
        """All entries of one kind about one question, the oldest first."""
        return self._all(f"{_SELECT} WHERE dataset = ? AND kind = ? AND key = ? ORDER BY sequence", (dataset, kind, key))

    def hash_at(self, sequence: int) -> str | None:
        """The hash of the entry of that number."""
        return next((row[0] for row in self._run("SELECT hash FROM dpstats_ledger WHERE sequence = ?", (sequence,))), None)

    def page(self, after: int | None) -> list[Entry]:
        """Some entries in order, from the first or from `after` on."""
        start = _FIRST if after is None else after + 1
        return self._all(f"{_SELECT} WHERE sequence >= ? ORDER BY sequence LIMIT {PAGE}", (start,))

    def insert(self, entries: Sequence[Entry]) -> None:
        """Add entries at the end, in as few statements as the stores take."""
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            self._run(INSERT + ", ".join([VALUES] * len(some)), [field for entry in some for field in entry])

    def _first(self, statement: str, parameters: Sequence[Any]) -> Entry | None:
        return next(iter(self._all(statement, parameters)), None)

    def _all(self, statement: str, parameters: Sequence[Any]) -> list[Entry]:
        found = [Entry(*row) for row in self._run(statement, parameters)]
        if found and (self.highest is None or found[-1].sequence > self.highest.sequence):
            self.highest = found[-1]
        return found
