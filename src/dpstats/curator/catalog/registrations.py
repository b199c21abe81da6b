"""Registrations: what a catalog knows of each table beside the ledger: where it is, whose it is, and whether it is open.

They are kept in a SQLite file of the catalog's own, because they say where rows lie, and drafts have column names that nobody but
their owner may see: a CSV file without a header has a person in its first line. What is public is in the ledger.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, LedgerError

DRAFT, OPENED = "draft", "open"
PATIENCE = 30.0
_CREATE = """\
CREATE TABLE IF NOT EXISTS registrations (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL
)"""


@dataclass(frozen=True)
class PlannedGrant:
    """What an analyst or a group is to be granted when a draft is opened; amounts are exact texts."""

    analyst: str | None
    group: str | None = None
    epsilon: str | None = None
    """Of their own cap; None where they are to have none."""
    delta: str = "0"


@dataclass(frozen=True)
class Registration:
    """One table of a catalog."""

    name: str
    owner: str
    address: str
    """Where the rows are; nobody but the catalog reads it."""
    protection: Mapping[str, Any]
    """Whom it protects: unit, max_rows_per_unit, missing_unit, neighbors; of a draft whose number of rows is to be found its cap
    and rows_per_unit_epsilon, and once it was found, in words, how (`drafts.protection_words`)."""
    budget: Mapping[str, str]
    types: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    population: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    """With which it is to be opened; once it is open, the ledger has it."""
    grants: tuple[PlannedGrant, ...] = ()
    """Who is to be let in when it is opened; from then on, the ledger has it."""
    second: str = ""
    """Who is to confirm it, where that takes somebody else than the owner; empty for anybody."""
    undecided: tuple[str, ...] = ()
    """What its owner has not decided yet; it cannot be confirmed before."""
    state: str = DRAFT

    @property
    def is_open(self) -> bool:
        """Whether its owner has confirmed it."""
        return self.state == OPENED


class Registrations:
    """The file in which a catalog keeps its registrations; threads and processes may share it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if not self._path.absolute().parent.is_dir():
            raise InvalidParameterError(f"the folder of {self._path} does not exist: make it first.")
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # it says where tables are
        with self._writing() as connection:
            connection.execute(_CREATE)

    def find(self, name: str) -> Registration | None:
        """The registration of that name."""
        with self._connected() as connection:
            row = connection.execute("SELECT state, document FROM registrations WHERE name = ?", (name,)).fetchone()
        return None if row is None else _read(*row)

    def all(self) -> list[Registration]:
        """All of them, by name."""
        with self._connected() as connection:
            rows = connection.execute("SELECT state, document FROM registrations ORDER BY name").fetchall()
        return [_read(*row) for row in rows]

    def add(self, registration: Registration) -> None:
        """Keep a draft; there must be none of its name that is open, or somebody else's."""
        with self._writing() as connection:
            row = connection.execute("SELECT state, owner FROM registrations WHERE name = ?", (registration.name,)).fetchone()
            if row is not None and (row[0] == OPENED or row[1] != registration.owner):
                raise InvalidParameterError(f"there is a data set {registration.name!r} already: choose another name.")
            connection.execute(
                "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?)",
                (registration.name, registration.state, registration.owner, written(registration)),
            )

    def open(self, name: str, protection: Mapping[str, Any]) -> Registration:
        """Mark a draft as open, for good; `protection` is whom it protects, with the number of rows that may have been found."""
        with self._writing() as connection:
            row = connection.execute("SELECT document FROM registrations WHERE name = ?", (name,)).fetchone()
            document = json.dumps({**json.loads(row[0]), "protection": dict(protection)}, sort_keys=True)
            connection.execute("UPDATE registrations SET state = ?, document = ? WHERE name = ?", (OPENED, document, name))
        found = self.find(name)
        assert found is not None
        return found

    def remove_draft(self, name: str) -> None:
        """Forget a draft. What is open stays."""
        with self._writing() as connection:
            connection.execute("DELETE FROM registrations WHERE name = ? AND state = ?", (name, DRAFT))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)) as connection:
                yield connection
        except sqlite3.Error:
            raise LedgerError(f"the catalog's file {self._path} cannot be read or written: check its permissions.") from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")


def written(registration: Registration) -> str:
    """Everything but the state, as JSON."""
    plain = {
        **{name: dict(value) if isinstance(value, Mapping) else value for name, value in vars(registration).items()},
        "grants": [vars(each) for each in registration.grants],
    }
    del plain["state"]
    return json.dumps(plain, sort_keys=True)


def _read(state: str, document: str) -> Registration:
    plain = json.loads(document)
    grants = tuple(PlannedGrant(**each) for each in plain.pop("grants", ()))
    undecided = tuple(plain.pop("undecided", ()))
    return Registration(**plain, grants=grants, undecided=undecided, state=state)
