"""The ledger: opened by a path, a Postgres URL or ":memory:", with an account for each data set in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.books import Past
from dpstats.curator.ledger.changes import amend_budget, amend_policy, checked_reason, grant, revoke
from dpstats.curator.ledger.debits import Receipt, standing_in
from dpstats.curator.ledger.entries import DEBIT, HEAD, OPEN, Entry
from dpstats.curator.ledger.file_identity import FileIdentity
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.heads import below_witness
from dpstats.curator.ledger.openings import (
    ANALYST,
    GROUP,
    POPULATION,
    Opening,
    cap_name,
    checked_name,
    opening_of,
    population_name,
)
from dpstats.curator.ledger.postgres import SCHEMES, PostgresEntryStore
from dpstats.curator.ledger.readers import AccountReader, all_entries
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.secret import new_secret
from dpstats.curator.ledger.signed_heads import Seal, Signatures, check_heads, public_key
from dpstats.curator.ledger.signing import Signer
from dpstats.curator.ledger.sources import Fingerprinter, SourcePrints, content_by_stamp, note_source, refuse_known
from dpstats.curator.ledger.sqlite import MEMORY, SqliteEntryStore
from dpstats.curator.ledger.standing import Standing
from dpstats.curator.ledger.statements import Statement, StatementLine, lines_of, statements
from dpstats.curator.ledger.stores import Chosen
from dpstats.curator.ledger.terms import Terms
from dpstats.curator.ledger.verification import Verification, verify_entries
from dpstats.curator.ledger.witness import Testimony
from dpstats.curator.ledger.writer import EntryStore, Page, Writer
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.addresses import HOW_TO_WRITE, is_plain_url, looks_like_postgres
from dpstats.foundations.errors import InvalidParameterError, LedgerError, MissingParameterError, UnknownNameError

__all__ = ["Account", "Ledger", "Receipt", "Terms", "open_ledger"]

_ANY_HEAD = ("", HEAD, None)


class Ledger:
    """An append-only, hash-chained list of entries. Threads may share one, and child processes that were forked."""

    def __init__(self, store: EntryStore, key: Path | None = None) -> None:
        """`key` is a file with the key that signs the ledger; there need not be one."""
        self._writer = Writer(store)
        self._key = key
        lost = [] if store.read_only else self._lost()
        self._writer.read(lambda table: table.last())  # whoever opens it learns at once that it cannot be opened
        if lost:
            raise LedgerError(f"{lost[0]}.")
        if key is not None and key.exists() and not store.read_only:
            self._sign_with(Signer.load(key))

    @property
    def address(self) -> str:
        """Where it is; never with a password."""
        return self._writer.store.address

    @property
    def last(self) -> Entry | None:
        """The last entry."""
        return self._writer.read(lambda table: table.last())

    @property
    def head(self) -> str | None:
        """The hash of the last entry, which stands for all of them: whoever remembers it notices if any is removed."""
        last = self.last
        return last.hash if last else None

    def hash_at(self, sequence: int) -> str | None:
        """The hash of the entry of that number, None where there is none."""
        return self._writer.read(lambda table: table.hash_at(sequence))

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
                note_source(page, dataset, prints)
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

    def reader(self, name: str, *, checked: bool = True) -> AccountReader:
        """Any account by its name, to be looked at: `account_names` has them. Raises `LedgerError` where what it stands on was
        changed, unless with `checked=False`, for whoever looks for what is wrong.
        """
        if checked:
            return AccountReader(self._writer, name, self._writer.read(lambda table: standing_in(table, name, {})).opening)
        opened = self._writer.read(lambda table: table.latest(name, OPEN))
        if opened is None:
            raise UnknownNameError(f"the ledger has no account {name!r}.")
        return AccountReader(self._writer, name, opening_of(opened))

    def cap(self, dataset: str, *, analyst: str | None = None, group: str | None = None) -> AccountReader | None:
        """The account of an analyst's or a group's own cap on a data set; None where they have none."""
        kind, holder = _holder(analyst, group)
        name = cap_name(dataset, kind, holder)
        opened = self._writer.read(lambda table: table.latest(name, OPEN))
        return None if opened is None else AccountReader(self._writer, name, opening_of(opened))

    @property
    def account_names(self) -> list[str]:
        """The names of all accounts."""
        return self._writer.read(lambda table: [name for name in table.names() if name])

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
        kind, holder = _holder(analyst, None if analyst is not None else group)
        given = Grant(budget, checked_name(group, "group") if analyst is not None and group is not None else None)
        said = checked_reason(actor, why)
        self._writer.write(lambda page: grant(page, dataset, kind, holder, given, *said))

    def revoke(self, dataset: str, *, analyst: str | None = None, group: str | None = None, actor: str, why: str) -> None:
        """Take back what an analyst or a group was granted on a data set."""
        kind, holder = _holder(analyst, group)
        said = checked_reason(actor, why)
        self._writer.write(lambda page: revoke(page, dataset, kind, holder, *said))

    def _open_once(self, page: Page, name: str, asked: Opening) -> Standing:
        """How an account stands that is opened if there is none; raises where it is there on other terms."""
        if asked.population is not None:
            paying = page.latest(population_name(asked.population), OPEN)
            if paying is None:
                raise UnknownNameError(f"the ledger has no population {asked.population!r}: open it first.")
            if complaint := asked.complaint_about(opening_of(paying).terms):
                raise InvalidParameterError(f"{name} cannot belong to the population {asked.population}: {complaint}.")
        if page.latest(name, OPEN) is None:
            page.append(name, OPEN, "", asked.content())
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

    def entry(self, sequence: int) -> Entry | None:
        """The entry of that number."""
        return self._writer.read(lambda table: table.numbered(sequence))

    def receipt(self, entry: Entry) -> KeptReceipt:
        """What anybody may keep of an entry, to show later that the ledger had it: signed, if the ledger has a key here."""
        return KeptReceipt.of(entry, self._writer.signer)

    def signed_heads(self, after: int | None = None, limit: int | None = None) -> list[Entry]:
        """The entries that sign all entries before them, in order, in pages."""
        return list(all_entries(self._writer, Chosen("", kinds=(HEAD,)), after=after, limit=limit))

    @property
    def last_signed(self) -> Entry | None:
        """The last entry that signs all before it; None where nothing is signed."""
        return self._writer.read(lambda table: table.latest("", HEAD))

    @property
    def testimony(self) -> Testimony | None:
        """What the witness has seen; None where there is none, or where it has seen nothing."""
        witness = self._writer.store.witness
        return None if witness is None else witness.read()

    def page(self, after: int | None) -> list[Entry]:
        """Some entries in order, from the first or from `after` on; none after the last."""
        return self._writer.read(lambda table: table.page(after))

    def entries(self) -> list[Entry]:
        """Every entry, in order."""
        return list(all_entries(self._writer))

    def questions(
        self,
        name: str,
        *,
        actor: str | None = None,
        start: str | None = None,
        end: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> list[StatementLine]:
        """What was paid for out of an account, with the answers, in pages: see `AccountReader.entries`."""
        reader = self.reader(name)
        debits = reader.entries(actor=actor, kinds=[DEBIT], start=start, end=end, after=after, limit=limit)
        return self._writer.read(lambda table: lines_of(table, debits, reader.opened_with.terms))

    def statements(self) -> list[Statement]:
        """What the ledger says about each account, for people."""
        return statements(all_entries(self._writer))

    def verify(self, head: str | None = None, key: str | None = None) -> Verification:
        """Check everything that can be checked; see `verification`. `key` is a public key that must have signed the ledger, by
        default the one that the witness knows.
        """
        found = verify_entries(all_entries(self._writer), head=head, damages=self.doubts())
        if key is None and not found.complaints and (witness := self._writer.store.witness) and (known := witness.read()):
            key = known.key or None
        return _with_signatures(found, check_heads(found.heads, key))

    def make_key(self) -> tuple[str, Path]:
        """Have the ledger signed from now on, with a new key; the public key, and the file that has the private one."""
        if self._key is None:
            raise MissingParameterError("say in which file the key of a ledger in Postgres is: --key-file PATH.")
        if known := self.public_key:
            raise LedgerError(f"the ledger {self.address} is signed already, with the key {known}.")
        signer = Signer.new()
        signer.save(self._key)
        self._sign_with(signer)
        self._writer.write(Seal(signer).sign)
        if self._writer.store.witness is not None:
            self._writer.store.witness.note_key(signer.public)
        return signer.public, self._key

    def sign(self) -> None:
        """Sign all entries there are, if the ledger has a key here; else they are signed now and then, and when it is closed."""
        if self._writer.signer is not None:
            self._writer.write(Seal(self._writer.signer).sign_end)

    @property
    def public_key(self) -> str | None:
        """The public key that signs the ledger, in hexadecimal digits."""
        return self._writer.read(lambda table: public_key(table.latest("", HEAD)))

    def _sign_with(self, signer: Signer) -> None:
        known = self.public_key
        if known not in (None, signer.public):
            raise LedgerError(f"the ledger {self.address} is signed with the key {known}; {self._key} is another one.")
        seal = Seal(signer)
        self._writer.sign_with(signer, seal.sign_if_due, seal.sign_end)

    def doubts(self) -> list[str]:
        """What makes one doubt that all entries are here, in words: damages of the store, and what the witness has seen."""
        with self._writer.turn():
            damages = self._writer.store.damages()
        return [*damages, *self._lost()]

    def verify_since(self, sequence: int, hash: str) -> Verification:
        """Check the entries after one up to which the ledger was verified before; all of it, if that one is not there."""
        if self._writer.read(lambda table: table.hash_at(sequence)) != hash:
            return self.verify()
        past = Past(self._writer.read, sequence, hash)
        head = self._writer.read(lambda table: table.latest_of([_ANY_HEAD], until=sequence)[_ANY_HEAD])
        found = verify_entries(all_entries(self._writer, after=sequence), damages=self._lost(), past=past)
        return _with_signatures(found, check_heads(found.heads, before=public_key(head)))

    def check(self) -> None:
        """Raise unless the ledger is sound: from where its witness knows that it was, or in full where nobody knows."""
        if self.head is None:
            return
        witness = self._writer.store.witness
        known = None if witness is None else witness.read()
        found = self.verify_since(known.verified, known.verified_hash) if known is not None and known.verified else self.verify()
        if found.sound and witness is not None and not self._writer.store.read_only:
            witness.note_verified(found.entries, str(found.head))
        if not found.sound:
            raise LedgerError(
                f"the ledger {self.address} is not sound: {found.complaints[0]}. Nothing can be asked; "
                "`dpstats ledger verify` says all that is wrong. Restore a copy, or begin another ledger."
            )

    def _lost(self) -> list[str]:
        """What the witness has seen, and is not there."""
        store = self._writer.store
        if (witness := store.witness) is None:
            return []
        try:
            known = witness.read()
        except LedgerError as error:
            return [str(error).rstrip(".")]
        lost = self._writer.read(lambda table: below_witness(store.address, witness, known, table))
        return [lost] if lost else []

    def close(self) -> None:
        """Let go of the file or the connection. A ledger in memory is kept until nothing refers to it."""
        self._writer.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.address})"


def _with_signatures(found: Verification, signatures: Signatures) -> Verification:
    return replace(found, complaints=(*found.complaints, *signatures.complaints), signatures=signatures)


def _holder(analyst: str | None, group: str | None) -> tuple[str, str]:
    """The kind and the name of whoever is granted something."""
    if (analyst is None) == (group is None):
        raise MissingParameterError("name an analyst or a group, such as analyst='alice'.")
    if analyst is not None:
        return ANALYST, checked_name(analyst, "analyst")
    return GROUP, checked_name(group, "group")


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
    if "://" in text or looks_like_postgres(text):
        raise InvalidParameterError("a ledger is at a postgresql:// URL, at no other one, or in a file such as survey.ledger.")
    store = SqliteEntryStore(text, read_only=read_only, witness=known)
    return Ledger(store, named or (None if text == MEMORY else FileIdentity(text).key))
