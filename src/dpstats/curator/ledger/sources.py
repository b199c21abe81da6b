"""Sources: which tables a ledger knows, by keyed fingerprints of where they lie and of what is in them.

A data set's opening holds the fingerprints of its source, and an `edition` entry those of every other state and place that it was
opened with later. A table that is known under one name is refused under another, unless both belong to one population: two
names would be two budgets for the same persons.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dpstats.curator.ledger.entries import EDITION, OPEN
from dpstats.curator.ledger.openings import DATASET, opening_of
from dpstats.curator.ledger.pages import Page
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import LedgerError

_LENGTH = 32


@dataclass(frozen=True)
class SourcePrints:
    """Fingerprints of a table; all of them are texts that say nothing to whoever lacks the secret."""

    key: str
    """Tells the secret that they were made with from others."""
    places: tuple[str, ...] = ()
    """Where it lies, to be written down."""
    sought: tuple[str, ...] = ()
    """Where it may be known to lie, to be looked for."""
    stamp: str = ""
    content: str = ""
    label: str = ""
    """The data holder's own name for the edition."""

    @property
    def written(self) -> list[str]:
        """What an entry holds as the sources of a table."""
        return [*self.places, *([self.stamp] if self.stamp else [])]

    @property
    def state(self) -> str:
        """What tells one state of the table from another; of one whose content is not known, its place."""
        return self.content or (self.places[0] if self.places else "")


class Fingerprinter:
    """Makes fingerprints with the secret of a ledger."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._key = hmac.new(secret, b"name of this secret", hashlib.sha256).hexdigest()[:8]

    def of(self, table: Whereabouts, label: str, known_content: str = "") -> SourcePrints:
        """Those of a table; `known_content` saves reading it."""
        content = known_content
        if not content and table.content is not None:
            [content] = self._prints([f"content {table.content()}"])
        places, sought = self._prints(table.places), self._prints(table.sought)
        return SourcePrints(self._key, places, sought, self.stamp_of(table), content, label)

    def stamp_of(self, table: Whereabouts) -> str:
        """The fingerprint of a table's stamp; empty where it has none."""
        return self._prints([f"stamp {table.stamp}"])[0] if table.stamp else ""

    def _prints(self, texts: Iterable[str]) -> tuple[str, ...]:
        octets = (text.encode("utf-8", "surrogatepass") for text in texts)
        return tuple(f"{self._key}:{hmac.new(self._secret, each, hashlib.sha256).hexdigest()[:_LENGTH]}" for each in octets)


@dataclass(frozen=True)
class _Known:
    """What a ledger knows of a data set's source at one time."""

    sources: frozenset[str]
    content: str = ""
    label: str = ""


def content_by_stamp(page: Page, dataset: str, stamp: str) -> str:
    """The content that a data set had when it had that stamp; empty where it is not known."""
    return next((each.content for each in _known(page, dataset) if stamp in each.sources and each.content), "")


def refuse_known(page: Page, dataset: str, population: str | None, prints: SourcePrints) -> None:
    """Raise where the table is known under another name, unless both names belong to one population."""
    is_new = page.latest(dataset, OPEN) is None
    for name in page.names():
        opened = page.latest(name, OPEN)
        if name == dataset or opened is None:
            continue
        opening = opening_of(opened)
        if opening.account != DATASET or (population is not None and opening.population == population):
            continue
        known = list(_known(page, name))
        found = {text for each in known for text in [*each.sources, *([each.content] if each.content else [])]}
        if found & {*prints.sought, *([prints.content] if prints.content else [])}:
            raise LedgerError(
                f"this ledger knows these rows as {name!r}, which has its own budget: open them by that name (name={name!r}), or "
                "give all tables of the same persons one budget from the start, with population='persons'."
            )
        if is_new and found and not any(text.startswith(f"{prints.key}:") for text in found):
            raise LedgerError(
                f"the secret of this ledger is not the one with which {name!r} was written down, so nobody can tell whether "
                f"these rows are known: put the secret back (it lies beside the ledger), or open {name!r} once by its own name."
            )


def note_source(page: Page, dataset: str, prints: SourcePrints, actor: str = "") -> None:
    """Write down what is not known yet of a data set's source, in the name of whoever has opened it."""
    known = list(_known(page, dataset))
    sources = frozenset(text for each in known for text in each.sources)
    contents, labels = {each.content for each in known}, {each.label for each in known}
    is_known = set(prints.written) <= sources and prints.content in {*contents, ""} and prints.label in {*labels, ""}
    if not is_known:
        body = {"content": prints.content, "label": prints.label, **({"sources": prints.written} if prints.written else {})}
        page.append(dataset, EDITION, "", body, actor=actor)


def _known(page: Page, dataset: str) -> Iterator[_Known]:
    opened = page.latest(dataset, OPEN)
    if opened is not None:
        yield _Known(frozenset(opening_of(opened).sources))
    for entry in page.with_key(dataset, EDITION, ""):
        yield entry.read(lambda body: _Known(frozenset(body.get("sources", ())), body["content"], body["label"]), "is no edition")
