"""The ledger: opened by a path, a Postgres URL or ":memory:", with an account for each data set in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from types import NoneType

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.changes import amend_budget, amend_policy, checked_reason, grant, revoke
from dpstats.curator.ledger.debits import Receipt, standing_in
from dpstats.curator.ledger.entries import OPEN
from dpstats.curator.ledger.file_identity import FileIdentity
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.ledger_key import LedgerKey
from dpstats.curator.ledger.ledger_reader import LedgerReader, named_holder
from dpstats.curator.ledger.openings import POPULATION, Opening, checked_name, opening_of, population_name
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.postgres import SCHEMES, PostgresEntryStore
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.ledger.secret import new_secret
from dpstats.curator.ledger.soundness import Soundness
from dpstats.curator.ledger.sources import Fingerprinter, SourcePrints, content_by_stamp, note_source, refuse_known
from dpstats.curator.ledger.sqlite import MEMORY, SqliteEntryStore
from dpstats.curator.ledger.standing import Standing
from dpstats.curator.ledger.terms import Terms
from dpstats.curator.ledger.verification import Verification
from dpstats.curator.ledger.writer import EntryStore, Writer
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.addresses import HOW_TO_WRITE, is_no_path, is_plain_url
from dpstats.foundations.errors import InvalidParameterError, LedgerError, UnknownNameError

__all__ = ["Account", "Ledger", "Receipt", "Terms", "open_ledger"]


class Ledger(LedgerReader):
    """An append-only, hash-chained list of entries. Threads may share one, and child processes that were forked."""

    def __init__(self, store: EntryStore, key: Path | None = None) -> None:
        """`key` is a file with the key that signs the ledger; there need not be one."""
        super().__init__(Writer(store))
        self._actor = ""
        self._key = LedgerKey(self._writer, key)
        self._soundness = Soundness(self._writer)
        lost = [] if store.read_only else self._soundness.lost()
        self._writer.read(lambda table: table.last())  # whoever opens it learns at once that it cannot be opened
        if lost:
            raise LedgerError(f"{lost[0]}.")
        if not store.read_only:
            self._key.take_up()

    def acting_for(self, actor: str) -> Ledger:
        """The same ledger in somebody's name: entries that open accounts and note editions say so."""
        ledger = copy(self)
        ledger._actor = checked_name(actor, "actor")
        return ledger

    def account(
        self,
        dataset: str,
        terms: Terms,
        *,
        population: str | None = None,
        sources: Sequence[str] = (),
        prints: SourcePrints | None = None,
    ) -> Account:
        """The account of a data set: opened if there is none yet, and otherwise only if its terms are the same.

        `population` is one that was opened before, and pays along with the data set. `sources` are fingerprints of where the rows
        are, which a new account keeps. `prints` are such, of the content too: they are written down whenever they are new, and
        refused where they are known under another name.
        """
        checked_name(dataset, "a data set's name")
        asked = Opening(terms, population=population, sources=tuple(sources) if prints is None else prints.places)

        def open_known(page: Page) -> Standing:
            if prints is not None:
                refuse_known(page, dataset, population, prints)
            found = self._open_once(page, dataset, asked)
            if prints is not None:
                note_source(page, dataset, prints, self._actor)
            return found

        return Account(self._writer, dataset, self._writer.write(open_known).opening)

    def prints_of(self, dataset: str, table: Whereabouts, label: str = "") -> SourcePrints:
        """Fingerprints of a table; its content is read only where the data set was not opened with its stamp before."""
        maker = Fingerprinter(self.secret or self._with_secret(new_secret()))
        stamp = maker.stamp_of(table)
        known = self._writer.read(lambda found: content_by_stamp(Page(found, self.address), dataset, stamp)) if stamp else ""
        return maker.of(table, label, known)

    @property
    def secret(self) -> bytes | None:
        """What fingerprints of tables are made with; None where none was made yet."""
        return self._writer.store.secret()

    def _with_secret(self, secret: bytes) -> bytes:
        self._writer.store.keep_secret(secret)
        kept = self.secret
        assert kept is not None
        return kept

    def population(self, name: str, terms: Terms) -> AccountReader:
        """The account of a population: one budget for several data sets of the same persons. Opened if there is none yet, and
        otherwise only if its terms are the same.
        """
        account = population_name(checked_name(name, "a population's name"))
        found = self._writer.write(lambda page: self._open_once(page, account, Opening(terms, POPULATION)))
        return AccountReader(self._writer, account, found.opening)

    def amend(self, name: str, *, budget: Budget | None, actor: str, why: str) -> None:
        """Set the budget of an account; None closes it. What was spent stays spent: below that, nothing is left."""
        if not isinstance(budget, (Budget, NoneType)):
            raise InvalidParameterError("budget must be a dp.Budget, or None to close the account.")
        said = checked_reason(actor, why)
        self._writer.write(lambda page: amend_budget(page, name, budget, *said))

    def amend_policy(self, dataset: str, policy: Mapping[str, object], *, actor: str, why: str) -> None:
        """Set the policy of a data set: plain values, which take the place of the former ones."""
        said = checked_reason(actor, why)
        self._writer.write(lambda page: amend_policy(page, dataset, policy, *said))

    def grant(
        self,
        dataset: str,
        *,
        analyst: str | None = None,
        group: str | None = None,
        budget: Budget | None = None,
        actor: str,
        why: str,
    ) -> None:
        """Let an analyst ask about a data set, as one of a group if that is named too, or grant something to a group alone.

        `budget` is their own cap, beside that of the data set. It takes the place of what they were granted before.
        """
        kind, holder = named_holder(analyst, None if analyst is not None else group)
        given = Grant(budget, checked_name(group, "group") if analyst is not None and group is not None else None)
        said = checked_reason(actor, why)
        self._writer.write(lambda page: grant(page, dataset, kind, holder, given, *said))

    def revoke(self, dataset: str, *, analyst: str | None = None, group: str | None = None, actor: str, why: str) -> None:
        """Take back what an analyst or a group was granted on a data set."""
        kind, holder = named_holder(analyst, group)
        said = checked_reason(actor, why)
        self._writer.write(lambda page: revoke(page, dataset, kind, holder, *said))

    def publish(self, dataset: str, answer: int, title: str, *, actor: str, facts: Mapping[str, object] | None = None) -> int:
        """Write down that the answer in an entry was published; see `Account.note_publication`."""
        account = Account(self._writer, dataset, self.reader(dataset).opened_with, checked_name(actor, "actor"))
        return account.note_publication(answer, title, facts)

    def _open_once(self, page: Page, name: str, asked: Opening) -> Standing:
        """How an account stands that is opened if there is none; raises where it is there on other terms."""
        if asked.population is not None:
            paying = page.latest(population_name(asked.population), OPEN)
            if paying is None:
                raise UnknownNameError(f"the ledger has no population {asked.population!r}: open it first.")
            if complaint := asked.complaint_about(opening_of(paying).terms):
                raise InvalidParameterError(f"{name} cannot belong to the population {asked.population}: {complaint}.")
        if page.latest(name, OPEN) is None:
            page.append(name, OPEN, "", asked.content(), actor=self._actor)
        found = standing_in(page, name, {})
        if found.opening.account != asked.account:
            raise LedgerError(f"the name {name!r} is taken by another account of this ledger, of a {found.opening.account}.")
        differences = found.terms.differences(asked.terms)
        if found.opening.population != asked.population:
            words = [each or "none" for each in (found.opening.population, asked.population)]
            differences.append(f"the ledger has population {words[0]}, this session asks for {words[1]}")
        if differences:
            raise LedgerError(
                f"the terms of {name} were fixed when it was first opened: {'; '.join(differences)}. "
                "Ask for the ledger's terms, or keep another data set under another name."
            )
        return found

    def verify(self, head: str | None = None, key: str | None = None) -> Verification:
        """Check everything that can be checked; see `verification`. `head` is a hash that was once seen at its end, `key` a
        public key that must have signed the ledger, by default the one that the witness knows.
        """
        return self._soundness.verify(head, key)

    def verify_since(self, sequence: int, hash: str) -> Verification:
        """Check the entries after one up to which the ledger was verified before; all of it, if that one is not there."""
        return self._soundness.verify_since(sequence, hash)

    def check(self) -> None:
        """Raise unless the ledger is sound: from where it or its witness knows that it was, or in full where nobody knows."""
        self._soundness.check()

    def doubts(self) -> list[str]:
        """What makes one doubt that all entries are here, in words: damages of the store, and what the witness has seen."""
        return self._soundness.doubts()

    def make_key(self) -> tuple[str, Path]:
        """Have the ledger signed from now on, with a new key; the public key, and the file that has the private one."""
        return self._key.make()

    def rotate_key(self) -> tuple[str, Path]:
        """Let the key that signs the ledger be followed by a new one, which the old one signs; the new public key, and the file
        of the private one, in which it takes the place of the old.
        """
        return self._key.rotate()

    def sign(self) -> None:
        """Sign all entries there are, if the ledger has a key here; else they are signed now and then, and when it is closed."""
        self._key.sign()

    @property
    def public_key(self) -> str | None:
        """The public key that signs the ledger, in hexadecimal digits."""
        return self._key.public

    def close(self) -> None:
        """Let go of the file or the connection. A ledger in memory is kept until nothing refers to it."""
        self._writer.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.address})"


def open_ledger(
    address: str | os.PathLike[str],
    *,
    read_only: bool = False,
    witness: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
) -> Ledger:
    """The ledger at a path, a postgresql:// URL, or ":memory:" for this process only; made if there is none.

    With `read_only` there must be one, and nothing is written to it. `witness` is the file that remembers how far the ledger
    went, `key` the one with the key that signs it, if it is signed. A ledger in a file has both beside it, and one in Postgres
    has neither unless it is named here.
    """
    text = os.fspath(address)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidParameterError("a ledger is given by a path such as survey.ledger, a postgresql:// URL, or ':memory:'.")
    known = None if witness is None else Path(witness).absolute()
    named = None if key is None else Path(key).absolute()
    if text.startswith(SCHEMES) and not is_plain_url(text):
        raise InvalidParameterError(f"this is no URL of a Postgres database: write {HOW_TO_WRITE}.")
    if text.startswith(SCHEMES):
        return Ledger(PostgresEntryStore(text, read_only=read_only, witness=known), named)
    if is_no_path(text):
        raise InvalidParameterError("a ledger is at a postgresql:// URL, at no other one, or in a file such as survey.ledger.")
    store = SqliteEntryStore(text, read_only=read_only, witness=known)
    return Ledger(store, named or (None if text == MEMORY else FileIdentity(text).key))
