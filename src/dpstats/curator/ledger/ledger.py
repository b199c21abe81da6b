"""The ledger: opened by a path, a Postgres URL or ":memory:", with an account for each data set in it."""

from __future__ import annotations

import os

from dpstats.curator.ledger.accounts import Account, Receipt, all_entries
from dpstats.curator.ledger.entries import OPEN, Entry
from dpstats.curator.ledger.postgres import SCHEMES, PostgresEntryStore
from dpstats.curator.ledger.sqlite import SqliteEntryStore
from dpstats.curator.ledger.statements import Statement, statements
from dpstats.curator.ledger.terms import Terms, terms_of
from dpstats.curator.ledger.verification import Verification, verify_entries
from dpstats.curator.ledger.writer import EntryStore, Page, Writer
from dpstats.foundations.addresses import HOW_TO_WRITE, is_plain_url, looks_like_postgres
from dpstats.foundations.errors import InvalidParameterError, LedgerError

__all__ = ["Account", "Ledger", "Receipt", "Terms", "open_ledger"]

LONGEST_NAME = 200
MOST_CHECKED = 100_000
"""Entries up to which a ledger is verified whenever a session opens it; that takes some seconds."""


class Ledger:
    """An append-only, hash-chained list of entries. Threads may share one, and child processes that were forked."""

    def __init__(self, store: EntryStore) -> None:
        self._writer = Writer(store)
        self._writer.read(lambda table: table.last())  # whoever opens it learns at once that it cannot be opened

    @property
    def address(self) -> str:
        """Where it is; never with a password."""
        return self._writer.store.address

    @property
    def head(self) -> str | None:
        """The hash of the last entry, which stands for all of them: whoever remembers it notices if any is removed."""
        last = self._writer.read(lambda table: table.last())
        return last.hash if last else None

    def account(self, dataset: str, terms: Terms) -> Account:
        """The account of a data set: opened if there is none yet, and otherwise only if its terms are the same."""
        if not isinstance(dataset, str) or not dataset.strip() or not dataset.isprintable() or len(dataset) > LONGEST_NAME:
            raise InvalidParameterError(
                f"a data set's name must be one line of printable text, of {LONGEST_NAME} letters at most."
            )

        def open_once(page: Page) -> Terms:
            entry = page.latest(dataset, OPEN)
            if entry is not None:
                return terms_of(entry)
            page.append(dataset, OPEN, "", terms.content())
            return terms

        found = self._writer.write(open_once)
        if differences := found.differences(terms):
            raise LedgerError(
                f"the terms of {dataset} were fixed when it was first opened: {'; '.join(differences)}. "
                "Ask for the ledger's terms, or keep another data set under another name."
            )
        return Account(self._writer, dataset, found)

    def entries(self) -> list[Entry]:
        """Every entry, in order."""
        return all_entries(self._writer)

    def statements(self) -> list[Statement]:
        """What the ledger says about each data set, for people."""
        return statements(self.entries())

    def verify(self, head: str | None = None) -> Verification:
        """Check everything that can be checked; see `verification`."""
        with self._writer.turn():
            damages = self._writer.store.damages()
        return verify_entries(self.entries(), head=head, damages=damages)

    def check(self) -> None:
        """Raise unless the ledger is sound. A very long one is only looked at where it is written to, and takes `verify`."""
        last = self._writer.read(lambda table: table.last())
        if last is None or not isinstance(last.sequence, int) or last.sequence > MOST_CHECKED:
            return
        found = self.verify()
        if not found.sound:
            raise LedgerError(
                f"the ledger {self.address} is not sound: {found.complaints[0]}. Nothing can be asked; "
                "`dpstats ledger verify` says all that is wrong. Restore a copy, or begin another ledger."
            )

    def close(self) -> None:
        """Let go of the file or the connection. A ledger in memory is kept until nothing refers to it."""
        self._writer.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.address})"


def open_ledger(address: str | os.PathLike[str], *, read_only: bool = False) -> Ledger:
    """The ledger at a path, a postgresql:// URL, or ":memory:" for this process only; made if there is none.

    With `read_only` there must be one, and nothing is written to it.
    """
    text = os.fspath(address)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidParameterError("a ledger is given by a path such as survey.ledger, a postgresql:// URL, or ':memory:'.")
    if text.startswith(SCHEMES) and not is_plain_url(text):
        raise InvalidParameterError(f"this is no URL of a Postgres database: write {HOW_TO_WRITE}.")
    if text.startswith(SCHEMES):
        return Ledger(PostgresEntryStore(text, read_only=read_only))
    if "://" in text or looks_like_postgres(text):
        raise InvalidParameterError("a ledger is at a postgresql:// URL, at no other one, or in a file such as survey.ledger.")
    return Ledger(SqliteEntryStore(text, read_only=read_only))
