"""Stores: where the entries of a ledger are kept, and the few questions that are put to them.

The table has one row for each entry and is the same in every store. Nothing here updates or deletes a row, and triggers in the
store refuse to. A store is used by one thread at a time, and read by one more meanwhile where it `reads_apart`. It holds no
connection while the process forks: what `disconnect` lets go of, the next use connects to anew, and finds everything that was
written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpstats.curator.ledger.entries import KINDS, Entry

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
"""Entries that are read at once, unless fewer are asked for."""
_AT_ONCE = 50
_FIRST = -(2**63)
LAST_NUMBER = 2**63 - 1
_COLUMNS = ", ".join(Entry._fields)
_SELECT = f"SELECT {_COLUMNS} FROM dpstats_ledger"
_WITHOUT_ACTORS = f"SELECT {_COLUMNS} FROM (SELECT *, '' AS actor, '' AS request FROM dpstats_ledger) AS dpstats_ledger"
LAST = f"{_SELECT} ORDER BY sequence DESC LIMIT 1"
INSERT = f"INSERT INTO dpstats_ledger ({_COLUMNS}) VALUES "
VALUES = f"({', '.join('?' * len(Entry._fields))})"


@dataclass(frozen=True)
class Chosen:
    """Which entries to read."""

    dataset: str | None = None
    actor: str | None = None
    kinds: tuple[str, ...] = KINDS
    start: str | None = None
    """The earliest time, as entries have it."""
    end: str | None = None
    """The time before which entries were written."""

    def conditions(self) -> tuple[str, list[str]]:
        """What is asked of the store beside the number, with its values; kinds are asked for one by one."""
        asked = {"dataset = ?": self.dataset, "actor = ?": self.actor, "time >= ?": self.start, "time < ?": self.end}
        texts = [text for text, value in asked.items() if value is not None]
        if self.actor:
            texts.append("actor <> ''")  # by which the store sees that the index of actors will do
        values = [value for value in asked.values() if value is not None]
        if self.kinds != KINDS and (self.dataset is None or self.actor is not None):
            texts.append(f"kind IN ({', '.join('?' * len(self.kinds))})")
            values += self.kinds
        return "".join(f" AND {text}" for text in texts), values


def latest_statement(sought: Collection[Sought], until: int = LAST_NUMBER, select: str = _SELECT) -> tuple[str, list[Any]]:
    """Asks for the last entry about each of several accounts, kinds and keys, each with its place in the list."""
    parameters = [value for each in sought for value in (*each, until) if value is not None]
    return _latest_text(select, tuple(key is None for _, _, key in sought)), parameters


@lru_cache
def _latest_text(select: str, with_any_key: tuple[bool, ...]) -> str:
    parts = []
    for number, is_any in enumerate(with_any_key):
        keyed = "" if is_any else " AND key = ?"
        one = f"{select} WHERE dataset = ? AND kind = ?{keyed} AND sequence <= ? ORDER BY sequence DESC LIMIT 1"
        parts.append(f"SELECT {number} AS number, found.* FROM ({one}) AS found")
    return " UNION ALL ".join(parts)


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
        statement, parameters = latest_statement(sought, until, self._select)
        return self._latest(sought, self._run(statement, parameters))

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

    def page(self, after: int | None, limit: int = PAGE, chosen: Chosen | None = None) -> list[Entry]:
        """At most `limit` entries in order, from the first or from `after` on; only those that are `chosen`, if that is given."""
        start = _FIRST if after is None else after + 1
        if chosen is None:
            return self._all("WHERE sequence >= ? ORDER BY sequence LIMIT ?", (start, limit))
        conditions, values = chosen.conditions()
        end, bounds = f"sequence >= ?{conditions} ORDER BY sequence LIMIT ?", (start, *values, limit)
        if chosen.dataset is None or chosen.actor is not None:  # by the order of the chain, or by the index of actors
            return self._all(f"WHERE {end}", bounds)
        parts = [f"SELECT * FROM ({self._select} WHERE kind = ? AND {end}) AS entries_{kind}" for kind in chosen.kinds]
        parameters = [value for kind in chosen.kinds for value in (kind, *bounds)]
        rows = self._run(f"{' UNION ALL '.join(parts)} ORDER BY sequence LIMIT ?", [*parameters, limit])
        return [self._found(row) for row in rows]

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

    def _latest(self, sought: Collection[Sought], rows: Iterable[Sequence[Any]]) -> dict[Sought, Entry | None]:
        """What a `latest_statement` has found."""
        found = {number: self._found(row) for number, *row in rows}
        return {each: found.get(number) for number, each in enumerate(sought)}

    def _first(self, clauses: str, parameters: Sequence[Any]) -> Entry | None:
        return next(iter(self._all(clauses, parameters)), None)

    def _all(self, clauses: str, parameters: Sequence[Any]) -> list[Entry]:
        return [self._found(row) for row in self._run(f"{self._select} {clauses}", parameters)]

    def _found(self, row: Sequence[Any]) -> Entry:
        entry = Entry(*row)
        if self.highest is None or entry.sequence > self.highest.sequence:
            self.highest = entry
        return entry
