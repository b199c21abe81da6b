"""Papers of the service: which documents were asked, and letters to owners (proposals to publish, requests for budget).

None of them decides what is spent or shown: that is the ledger. A lost file costs convenience only.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.web.people.store import PeopleStore

MOST_OPEN = 100
"""Letters of one person about one data set that wait for an answer."""


class LetterKind(Enum):
    """What an analyst wants of an owner."""

    PROPOSAL = "proposal"
    """That an answer be published."""
    REQUEST = "request"
    """More budget."""


class LetterState(Enum):
    """What became of a letter."""

    OPEN = "open"
    AGREED = "agreed"
    REFUSED = "refused"


@dataclass(frozen=True)
class Letter:
    """One letter of an analyst to the owner of a data set."""

    id: int
    kind: LetterKind
    dataset: str
    person: str
    sent: str
    content: Mapping[str, Any]
    state: LetterState
    decided_by: str
    decided: str
    reply: str


_LETTER = "SELECT id, kind, dataset, person, sent, content, state, decided_by, decided, reply FROM letters"


class Papers:
    """The papers in the service's file."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store
        self._to_note: deque[tuple[str, int, str, str]] = deque()
        self._noting = threading.Lock()

    def note_asked(self, dataset: str, sequence: int, person: str, document: Mapping[str, Any]) -> None:
        """Remember the document behind a debit, so that its asker can ask it again, or change it.

        Threads that come at the same time are written in one transaction: the one that has the turn writes for all who wait.
        """
        self._to_note.append((dataset, sequence, person, json.dumps(document)))
        with self._noting:
            waiting = [self._to_note.popleft() for _ in range(len(self._to_note))]
            if waiting:
                with self._store.writing() as file:
                    file.executemany("INSERT OR IGNORE INTO asked VALUES (?, ?, ?, ?)", waiting)

    def asked(self, dataset: str, person: str) -> dict[int, dict[str, Any]]:
        """The documents that somebody has asked about a data set, by the number of the debit."""
        rows = self._store.rows("SELECT sequence, document FROM asked WHERE dataset = ? AND person = ?", dataset, person)
        return {int(str(sequence)): json.loads(str(document)) for sequence, document in rows}

    def send(self, kind: LetterKind, dataset: str, person: str, content: Mapping[str, Any]) -> int:
        """Leave a letter for the owner of a data set; its number."""
        with self._store.writing() as file:
            (waiting,) = file.execute(
                "SELECT count(*) FROM letters WHERE dataset = ? AND person = ? AND state = ?",
                (dataset, person, LetterState.OPEN.value),
            ).fetchone()
            if waiting >= MOST_OPEN:
                raise InvalidParameterError(f"{MOST_OPEN} of your letters wait for an answer already: wait for these.")
            made = file.execute(
                "INSERT INTO letters (kind, dataset, person, sent, content) VALUES (?, ?, ?, ?, ?)",
                (kind.value, dataset, person, _now(), json.dumps(dict(content))),
            )
            assert made.lastrowid is not None
            return made.lastrowid

    def letters(self, *, dataset: str | None = None, person: str | None = None, kind: LetterKind | None = None) -> list[Letter]:
        """Letters about a data set, or of somebody, the newest first."""
        wanted = {"dataset": dataset, "person": person, "kind": None if kind is None else kind.value}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = ?" for name in given)
        rows = self._store.rows(f"{_LETTER} {f'WHERE {where}' if where else ''} ORDER BY id DESC", *given.values())
        return [_letter(row) for row in rows]

    def letter(self, number: int) -> Letter | None:
        """A letter by its number."""
        rows = self._store.rows(f"{_LETTER} WHERE id = ?", number)
        return _letter(rows[0]) if rows else None

    def decide(self, number: int, state: LetterState, person: str, reply: str) -> None:
        """Answer a letter, once."""
        with self._store.writing() as file:
            changed = file.execute(
                "UPDATE letters SET state = ?, decided_by = ?, decided = ?, reply = ? WHERE id = ? AND state = ?",
                (state.value, person, _now(), reply, number, LetterState.OPEN.value),
            ).rowcount
        if not changed:
            raise InvalidParameterError("this letter was answered already.")

    def reopen(self, number: int) -> None:
        """Take back that a letter was agreed to, because what it asks for could not be done."""
        with self._store.writing() as file:
            file.execute(
                "UPDATE letters SET state = ?, decided_by = '', decided = '', reply = '' WHERE id = ? AND state = ?",
                (LetterState.OPEN.value, number, LetterState.AGREED.value),
            )


def _letter(row: tuple[Any, ...]) -> Letter:
    number, kind, dataset, person, sent, content, state, decided_by, decided, reply = row
    return Letter(
        number, LetterKind(kind), dataset, person, sent, json.loads(content), LetterState(state), decided_by, decided, reply
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
