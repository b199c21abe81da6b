"""Published answers, as the ledger has them: the entry that publishes, the answer, and the debit that paid for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dpstats.curator.archive import Result
from dpstats.curator.archived import results_of
from dpstats.curator.ledger.entries import PUBLISH, Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.readers import archived_document
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import LedgerError
from dpstats.foundations.privacy import PrivacyCost

WORDS = "words"
"""The fact of a publication that describes it in a sentence or two."""
PARTS = "parts"
"""The fact that says which answers of a batch are published, by their places from 0; all of them where it is missing."""
MOST_KEPT = 256


@dataclass(frozen=True, eq=False)
class PublishedAnswer:
    """An answer, or those of a batch, that somebody has published; read once, and the same for all who look at it."""

    entry: Entry
    """That publishes it."""
    answer: Entry
    debit: Entry
    title: str
    words: str
    results: tuple[Result, ...]

    @property
    def number(self) -> int:
        """By which it is found: the number of the entry that publishes it."""
        return self.entry.sequence

    @property
    def cost(self) -> PrivacyCost:
        """What all of it cost together."""
        first, *others = (each.cost for each in self.results)
        return sum(others, start=first)

    @property
    def dataset(self) -> str:
        """The data set that it is about."""
        return self.entry.dataset


def find_published(ledger: Ledger, number: int) -> PublishedAnswer | None:
    """The published answer of a number; None where there is none."""
    entry = ledger.entry(number) if 0 < number <= LAST_NUMBER else None
    return None if entry is None or entry.kind != PUBLISH else read_published(ledger, entry)


def read_published(ledger: Ledger, entry: Entry) -> PublishedAnswer:
    """What an entry publishes."""
    answer = _numbered(ledger, entry.read(lambda content: int(content["answer"]), "publishes no answer"))
    debit = _numbered(ledger, answer.read(lambda content: int(content["debit"]), "names no debit"))
    return _read(entry, answer, debit)


def publications(ledger: Ledger, dataset: str) -> list[Entry]:
    """The entries that publish answers about a data set, the oldest first."""
    return ledger.reader(dataset).entries(kinds=[PUBLISH])


@lru_cache(MOST_KEPT)
def _read(entry: Entry, answer: Entry, debit: Entry) -> PublishedAnswer:
    """Read from entries that never change, so that it is done once for each."""
    title, words, parts = entry.read(
        lambda content: (str(content["title"]), str(content.get(WORDS, "")), content.get(PARTS)), "has no title"
    )
    details = debit.read(lambda content: dict(content["details"]), "has no details")
    results = results_of(details, archived_document(answer))
    chosen = results if parts is None else [results[place] for place in parts]
    return PublishedAnswer(entry, answer, debit, title, words, tuple(chosen))


def _numbered(ledger: Ledger, sequence: int) -> Entry:
    found = ledger.entry(sequence)
    if found is None:
        raise LedgerError(f"the ledger has no entry {sequence}: run `dpstats ledger verify`.")
    return found
