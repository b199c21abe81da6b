"""A chain as a file: every entry of a ledger as a line of JSON, which anybody can verify without the ledger.

Answers may be withheld from whoever gets the file: their lines have no body, and keep their hash, so that everything else can be
verified as in the ledger itself. What an answer was cannot be checked without its body; that it was not changed since it was
written can, as soon as the body is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpstats.curator.ledger.audit import WITHHELD
from dpstats.curator.ledger.entries import ANSWER, Entry
from dpstats.curator.ledger.signed_heads import check_heads
from dpstats.curator.ledger.verification import Verification, verify_entries
from dpstats.foundations.errors import LedgerError

SUFFIX = ".jsonl"


def chain_lines(entries: Iterable[Entry], is_withheld: Callable[[Entry], bool]) -> Iterator[bytes]:
    """The lines of a chain file; of answers that are withheld all but the body."""
    for entry in entries:
        fields = entry.to_dict()
        if entry.kind == ANSWER and is_withheld(entry):
            fields["body"] = None
        yield f"{json.dumps(fields)}\n".encode()


class ChainFile:
    """The entries of a ledger in such a file, to be verified."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        """Where it is."""
        return str(self._path)

    def entries(self) -> Iterator[Entry]:
        """Every entry, in order; a withheld body is a word that no ledger has there."""
        try:
            with self._path.open(encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    yield _entry(line, number)
        except (OSError, UnicodeDecodeError):
            raise LedgerError(f"{self._path} cannot be read as a file of entries.") from None

    def entry(self, sequence: int) -> Entry | None:
        """The entry of that number."""
        return next((each for each in self.entries() if each.sequence == sequence), None)

    def verify(self, head: str | None = None, key: str | None = None) -> Verification:
        """Check everything that can be checked; see `Ledger.verify`."""
        found = verify_entries(self.entries(), head=head, may_withhold=True)
        signatures = check_heads(found.heads, key)
        return replace(found, complaints=(*found.complaints, *signatures.complaints), signatures=signatures)


def _entry(line: str, number: int) -> Entry:
    try:
        fields: dict[str, Any] = json.loads(line)
        entry = Entry(**fields)
        return entry._replace(body=WITHHELD) if fields["body"] is None else entry
    except (ValueError, TypeError, KeyError, RecursionError):
        raise LedgerError(f"line {number} of this file is no entry of a ledger.") from None
