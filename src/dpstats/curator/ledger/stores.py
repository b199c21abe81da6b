"""Stores: where the entries of a ledger are kept, and the few questions that are put to them.

The table has one row for each entry and is the same in every store. Nothing here updates or deletes a row, and triggers in the
store refuse to. A store is used by one thread at a time, and read by one more at the same time where it `reads_apart`; it holds no
connection while the process forks: what `disconnect` lets go of, the next use connects to anew, and finds everything that was
written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dpstats.curator.ledger.entries import Entry

Sought = tuple[str, str, str | None]
"""An account, a kind of entry, and a key or None for any."""
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
    hash TEXT NOT NULL UNIQUE,
    actor TEXT NOT NULL DEFAULT '',
    request TEXT NOT NULL DEFAULT ''
)"""
_INDEXES_OF_ACTORS = (
    "CREATE INDEX dpstats_ledger_by_actor ON dpstats_ledger (actor, sequence) WHERE actor <> ''",
    "CREATE INDEX dpstats_ledger_by_request ON dpstats_ledger (actor, request, sequence) WHERE request <> ''",
)
CREATE_INDEXES = (
    "CREATE INDEX dpstats_ledger_by_kind ON dpstats_ledger (dataset, kind, sequence)",
    "CREATE INDEX dpstats_ledger_by_key ON dpstats_ledger (dataset, kind, key, sequence)",
    *_INDEXES_OF_ACTORS,
)
ADD_ACTORS = (
    *(f"ALTER TABLE dpstats_ledger ADD COLUMN {name} TEXT NOT NULL DEFAULT ''" for name in ("actor", "request")),
    *_INDEXES_OF_ACTORS,
)
"""Makes a table of earlier releases, which had no actors, one of ours."""
PAGE = 1000
_AT_ONCE = 50
_FIRST = -(2**63)
LAST_NUMBER = 2**63 - 1
_COLUMNS = ", ".join(Entry._fields)
_SELECT = f"SELECT {_COLUMNS} FROM dpstats_ledger"
_WITHOUT_ACTORS = f"SELECT {_COLUMNS} FROM (SELECT *, '' AS actor, '' AS request FROM dpstats_ledger) AS dpstats_ledger"
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

    def __init__(self, run: Run, *, has_actors: bool = True) -> None:
        """`has_actors` is False for a table of earlier releases that nothing may be written to."""
        self._run = run
        self._select = _SELECT if has_actors else _WITHOUT_ACTORS
        self.highest: Entry | None = None
        """The highest entry that was found so far."""

    def last(self) -> Entry | None:
        """The end of the chain."""
        return self._first("ORDER BY sequence DESC LIMIT 1", ())

    def latest(self, dataset: str, kind: str, key: str | None = None) -> Entry | None:
        """The last entry of one kind about one account, or the last with that key."""
        return self.latest_of([(dataset, kind, key)])[dataset, kind, key]

    def latest_of(self, sought: Collection[Sought], until: int = LAST_NUMBER) -> dict[Sought, Entry | None]:
        """The last entry about each of several accounts, kinds and keys, in one statement; a key of None stands for any. Entries
        after number `until` do not count.
        """
        parts, parameters = [], list[Any]()
        for number, (dataset, kind, key) in enumerate(sought):
            keyed = "" if key is None else " AND key = ?"
            one = f"{self._select} WHERE dataset = ? AND kind = ?{keyed} AND sequence <= ? ORDER BY sequence DESC LIMIT 1"
            parts.append(f"SELECT {number} AS number, found.* FROM ({one}) AS found")
            parameters += [dataset, kind, *(() if key is None else (key,)), until]
        found = {number: self._found(row) for number, *row in self._run(" UNION ALL ".join(parts), parameters)}
        return {each: found.get(number) for number, each in enumerate(sought)}

    def with_key(self, dataset: str, kind: str, key: str) -> list[Entry]:
        """All entries of one kind about one question, the oldest first."""
        return self._all("WHERE dataset = ? AND kind = ? AND key = ? ORDER BY sequence", (dataset, kind, key))

    def with_request(self, actor: str, request: str) -> Entry | None:
        """The first entry that an actor's request made."""
        return self._first("WHERE actor = ? AND request = ? AND request <> '' ORDER BY sequence LIMIT 1", (actor, request))

    def numbered(self, sequence: int) -> Entry | None:
        """The entry of that number."""
        return self._first("WHERE sequence = ?", (sequence,))

    def hash_at(self, sequence: int) -> str | None:
        """The hash of the entry of that number."""
        return next((row[0] for row in self._run("SELECT hash FROM dpstats_ledger WHERE sequence = ?", (sequence,))), None)

    def page(self, after: int | None) -> list[Entry]:
        """Some entries in order, from the first or from `after` on."""
        start = _FIRST if after is None else after + 1
        return self._all(f"WHERE sequence >= ? ORDER BY sequence LIMIT {PAGE}", (start,))

    def names(self) -> list[str]:
        """The names of all accounts, by a few steps along an index."""
        following = "SELECT min(dataset) FROM dpstats_ledger"
        return [
            name
            for (name,) in self._run(
                f"WITH RECURSIVE names(name) AS ({following} UNION ALL SELECT ({following} WHERE dataset > name) FROM names "
                "WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL",
                (),
            )
        ]

    def insert(self, entries: Sequence[Entry]) -> None:
        """Add entries at the end, in as few statements as the stores take."""
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            self._run(INSERT + ", ".join([VALUES] * len(some)), [field for entry in some for field in entry])

    def _first(self, clauses: str, parameters: Sequence[Any]) -> Entry | None:
        return next(iter(self._all(clauses, parameters)), None)

    def _all(self, clauses: str, parameters: Sequence[Any]) -> list[Entry]:
        return [self._found(row) for row in self._run(f"{self._select} {clauses}", parameters)]

    def _found(self, row: Sequence[Any]) -> Entry:
        entry = Entry(*row)
        if self.highest is None or entry.sequence > self.highest.sequence:
            self.highest = entry
        return entry
