"""Turns: transactions of a ledger in Postgres that no other writer can enter."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.postgres_tables import driver, run
from dpstats.curator.ledger.stores import INSERT, LAST, LAST_NUMBER, PAGE, VALUES, EntryTable, Sought, latest_statement

if TYPE_CHECKING:
    import psycopg

# Each statement sees what was committed before it began, so the last one sees the end of the chain as it is in our turn.
_IDENTITY = "SELECT coalesce(to_regclass('dpstats_ledger')::oid::bigint, 0)"
_STEPS = {"turn": "SELECT only_row FROM dpstats_ledger_turn FOR UPDATE", "identity": _IDENTITY, "last": LAST}
_TAKE_TURN = f"BEGIN ISOLATION LEVEL READ COMMITTED; {'; '.join(f'EXECUTE dpstats_ledger_{name}' for name in _STEPS)}"
_ROW = VALUES.replace("?", "%s")


class TurnTable(EntryTable):
    """The entries in a transaction that has the turn. What is inserted goes to the server together with the commit."""

    def __init__(
        self, connection: psycopg.Connection[Any], last: list[Any], expected: Collection[Sought], found: list[Any]
    ) -> None:
        """`last` and `found` are the rows that came with the turn, of the last entry and of what was `expected` to be needed."""
        super().__init__(lambda statement, parameters: run(connection, statement, parameters))
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
        cursor = driver().ClientCursor(self.connection)
        rows = [cursor.mogrify(_ROW, entry) for entry in self._inserted]
        return f"{INSERT}{', '.join(rows)}".encode()


class Turns:
    """A connection that takes turns; the server plans its statements once."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._names: dict[str, str] = {}
        for name, statement in _STEPS.items():
            self._plan(name, statement)

    def take(self, expected: Collection[Sought]) -> tuple[int, TurnTable]:
        """What tells the ledger's table from any other, and the entries, in a transaction that has the turn."""
        cursor = self.connection.execute(f"{_TAKE_TURN}{self._asking(expected)}".encode())
        _, [[identity]], last, *found = [cursor.fetchall() for _ in iter(cursor.nextset, None)]  # of all that follows BEGIN
        return identity, TurnTable(self.connection, last, expected, found[0] if found else [])

    def _asking(self, expected: Collection[Sought]) -> str:
        """The statement that asks for what is expected to be needed, as the end of a message."""
        if not expected:
            return ""
        statement, parameters = latest_statement(expected)
        if statement not in self._names:
            self._names[statement] = f"latest_{len(self._names)}"
            self._plan(self._names[statement], statement)
        call = f"EXECUTE dpstats_ledger_{self._names[statement]} ({', '.join(['%s'] * len(parameters))})"
        return f"; {driver().ClientCursor(self.connection).mogrify(call, parameters)}"

    def _plan(self, name: str, statement: str) -> None:
        first, *parts = statement.split("?")
        numbered = first + "".join(f"${number}{part}" for number, part in enumerate(parts, 1))
        self.connection.execute(f"PREPARE dpstats_ledger_{name} AS {numbered}".encode())
