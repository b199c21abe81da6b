"""Ledgers in memory: a table in files or in a database has one account in a process, however often it is protected there.

It is known by where it lies, not by its content.
"""

from __future__ import annotations

import threading

from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.ledger.sources import SourcePrints
from dpstats.foundations.errors import LedgerError

MEMORY = ":memory:"
_LEDGERS: dict[str, Ledger] = {}
_LOCK = threading.Lock()


def ledger_in_memory(prints: SourcePrints | None, population: str | None) -> Ledger:
    """The ledger that knows a table or its population, or a new one; those that know any are kept until the process ends."""
    known_by = [*(prints.sought if prints else ()), *_named(population)]
    with _LOCK:
        known = {id(found): found for text in known_by if (found := _LEDGERS.get(text)) is not None}
        if len(known) > 1:
            raise LedgerError(
                "parts of this table, or its population, were protected in memory before, each with a budget of its own: protect "
                "all of it first, or keep a ledger in a file."
            )
        ledger = next(iter(known.values())) if known else open_ledger(MEMORY)
        _LEDGERS.update(dict.fromkeys(_named(population), ledger))
        return ledger


def remember(ledger: Ledger, prints: SourcePrints | None) -> None:
    """Find this ledger from now on for this table."""
    with _LOCK:
        _LEDGERS.update(dict.fromkeys(prints.places if prints else (), ledger))


def _named(population: str | None) -> list[str]:
    return [] if population is None else [f"population {population}"]
