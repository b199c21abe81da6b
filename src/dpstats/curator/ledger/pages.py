"""Pages: what a transaction sees of a ledger, with what it is about to add."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpstats.curator.ledger.entries import Entry, chained
from dpstats.curator.ledger.stores import EntryTable, Sought
from dpstats.foundations.errors import LedgerError

_MOST_KEPT = 100


class SoundEntries:
    """Entries that match their hashes. One that is the same in every field as when it was checked need not be hashed again."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}

    def add(self, entry: Entry) -> None:
        """Remember an entry that was checked, or made here."""
        if len(self._entries) >= _MOST_KEPT:
            self._entries.clear()
        self._entries[entry.sequence] = entry

    def fault(self, entry: Entry) -> str | None:
        """What is wrong with an entry taken by itself, or None."""
        if self._entries.get(entry.sequence) == entry:
            return None
        if (fault := entry.fault()) is None:
            self.add(entry)
        return fault


class Page:
    """The end of the chain inside one transaction: what the store has, and what is about to be added."""

    def __init__(self, table: EntryTable, address: str, known: SoundEntries | None = None) -> None:
        """`known` are entries that were checked before."""
        self.appended: list[Entry] = []
        self.asked: list[Sought] = []
        """What the store was asked for: most often the next page needs the same."""
        self._table = table
        self._address = address
        self._known = SoundEntries() if known is None else known
        self.last = self._sound(table.last())
        self._latest: dict[Sought, Entry | None] = {}
        if self.last is not None:
            self._keep(self.last)

    def latest_of(self, sought: Collection[Sought]) -> dict[Sought, Entry | None]:
        """The last entry about each of several accounts, kinds and keys; what is not known yet is asked in one statement."""
        if missing := [each for each in sought if each not in self._latest]:
            self.asked += missing
            found = self._table.latest_of(missing)
            self._latest.update({each: self._sound(entry) for each, entry in found.items()})
        return {each: self._latest[each] for each in sought}

    def latest(self, dataset: str, kind: str, key: str | None = None) -> Entry | None:
        """The last entry of one kind about one account, or the last with that key."""
        return self.latest_of([(dataset, kind, key)])[dataset, kind, key]

    def with_key(self, dataset: str, kind: str, key: str) -> list[Entry]:
        """All entries of one kind about one question."""
        new = [each for each in self.appended if (each.dataset, each.kind, each.key) == (dataset, kind, key)]
        return [*self._table.with_key(dataset, kind, key), *new]

    def with_request(self, actor: str, request: str) -> Entry | None:
        """The first entry that an actor's request made."""
        new = (each for each in self.appended if (each.actor, each.request) == (actor, request))
        return self._table.with_request(actor, request) or next(new, None)

    def numbered(self, sequence: int) -> Entry | None:
        """The entry of that number."""
        new = (each for each in self.appended if each.sequence == sequence)
        return next(new, None) or self._table.numbered(sequence)

    def names(self) -> list[str]:
        """The names of all accounts."""
        return list(dict.fromkeys([*self._table.names(), *(each.dataset for each in self.appended)]))

    def append(
        self, dataset: str, kind: str, key: str, content: Mapping[str, object], *, actor: str = "", request: str = ""
    ) -> Entry:
        """Add an entry; it counts once the transaction has been written."""
        entry = chained(self.last, dataset, kind, key, content, actor=actor, request=request)
        self.appended.append(entry)
        self.last = entry
        self._keep(entry)
        return entry

    def _keep(self, last: Entry) -> None:
        """The last entry of all is the last of its kind and of its key, too."""
        self._latest[last.dataset, last.kind, None] = self._latest[last.dataset, last.kind, last.key] = last

    def _sound(self, entry: Entry | None) -> Entry | None:
        """Nothing is built on an entry that is not what was written."""
        if entry is not None and (fault := self._known.fault(entry)):
            raise LedgerError(
                f"entry {entry.sequence} of the ledger {self._address} {fault}. Nothing more can be asked; "
                "`dpstats ledger verify` says all that is wrong."
            )
        return entry
