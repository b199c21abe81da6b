"""Heads: the last entry of a chain stands for all before it, so whoever remembers one notices a chain that was cut or replaced.

A process remembers the highest head that it has seen, and so does the witness, a file that outlives it. A ledger that no longer
has that very entry is older than it was, or another one: nothing more is read from it or written to it.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.stores import EntryTable
from dpstats.curator.ledger.witness import Testimony, Witness
from dpstats.foundations.errors import LedgerError


class Head(NamedTuple):
    """An entry by its number and its hash."""

    sequence: int
    hash: str


class HighestHead:
    """The highest head that this process has seen, or was told by the witness. Threads may share it."""

    def __init__(self, address: str, witness: Witness | None) -> None:
        self._address = address
        self._witness = witness
        self._changing = threading.Lock()
        self._told: Head | None = None
        self.has_written = False
        """Whether this process has added to the ledger."""
        self.seen: Head | None = None
        """Taken before a transaction begins, and so in every state of the ledger that it may see."""

    def check(self, seen: Head | None, table: EntryTable, last: Entry | None = None) -> None:
        """Raise unless the ledger still has a head that was seen; `last` is its last entry, where that is known."""
        if seen is None or (last is not None and (last.sequence, last.hash) == seen):
            return
        if table.hash_at(seen.sequence) != seen.hash:
            raise LedgerError(
                f"the ledger {self._address} is older than what this session has seen, or another one: its entry {seen.sequence} "
                "was removed or replaced. Nothing more is answered, and nothing was spent. Put the newest copy back and open a "
                "new session; `dpstats ledger verify` says more."
            )

    def notice(self, entry: Entry | None) -> None:
        """Remember an entry, if it is the highest so far."""
        if entry is not None:
            with self._changing:
                if self.seen is None or entry.sequence > self.seen.sequence:
                    self.seen = Head(entry.sequence, entry.hash)

    def tell(self) -> None:
        """Tell the witness what was seen. Everything up to there is durable."""
        if self._witness is not None and self.seen != self._told:
            self._told = told = self.seen
            if told is not None:
                self._witness.raise_to(*told)


def below_witness(address: str, witness: Witness, known: Testimony | None, table: EntryTable) -> str | None:
    """In words, what the ledger lacks of what its witness has seen, and what to do; None where it has all of it. What is `known`
    was asked of the witness before the ledger was looked at, so that nothing can have been added between.
    """
    if known is None or table.hash_at(known.sequence) == known.hash:
        return None
    last = table.last()
    has = "has no entries" if last is None else f"ends with entry {last.sequence}"
    if last is not None and last.sequence >= known.sequence:
        has = f"has another entry {known.sequence}"
    return (
        f"the ledger {address} {has}, but its witness {witness.path} has seen entry {known.sequence}, {known.hash[:12]}...: "
        "its end was cut off, or an older copy was put back. Put the newest copy back, or restore a backup that has this entry "
        "(`dpstats ledger restore`; an older one takes --forfeit, and gives up what was left)"
    )
