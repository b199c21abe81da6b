"""Whether a ledger is sound: its entries, its signatures, its store, and what its witness has seen of it."""

from __future__ import annotations

from dataclasses import replace

from dpstats.curator.ledger.books import Past
from dpstats.curator.ledger.entries import HEAD
from dpstats.curator.ledger.heads import below_witness
from dpstats.curator.ledger.readers import all_entries
from dpstats.curator.ledger.signed_heads import Signatures, check_heads, public_key
from dpstats.curator.ledger.verification import Verification, verify_entries
from dpstats.curator.ledger.writer import Writer
from dpstats.foundations.errors import LedgerError

_ANY_HEAD = ("", HEAD, None)


class Soundness:
    """What is to be thought of one ledger."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._verified: tuple[int, str] | None = None

    def verify(self, head: str | None = None, key: str | None = None) -> Verification:
        """Check everything that can be checked; see `verification`. `key` is a public key that must have signed the ledger, by
        default the one that the witness knows.
        """
        found = verify_entries(all_entries(self._writer), head=head, damages=self.doubts())
        if key is None and not found.complaints and (witness := self._writer.store.witness) and (known := witness.read()):
            key = known.key or None
        return _with_signatures(found, check_heads(found.heads, key))

    def doubts(self) -> list[str]:
        """What makes one doubt that all entries are here, in words: damages of the store, and what the witness has seen."""
        with self._writer.turn():
            damages = self._writer.store.damages()
        return [*damages, *self.lost()]

    def verify_since(self, sequence: int, hash: str) -> Verification:
        """Check the entries after one up to which the ledger was verified before; all of it, if that one is not there."""
        if self._writer.read(lambda table: table.hash_at(sequence)) != hash:
            return self.verify()
        past = Past(self._writer.read, sequence, hash)
        head = self._writer.read(lambda table: table.latest_of([_ANY_HEAD], until=sequence)[_ANY_HEAD])
        found = verify_entries(all_entries(self._writer, after=sequence), damages=self.lost(), past=past)
        return _with_signatures(found, check_heads(found.heads, before=public_key(head)))

    def check(self) -> None:
        """Raise unless the ledger is sound: from where it or its witness knows that it was, or in full where nobody knows."""
        if self._writer.read(lambda table: table.last()) is None:
            return
        witness = self._writer.store.witness
        known = None if witness is None else witness.read()
        verified = self._verified or ((known.verified, known.verified_hash) if known is not None and known.verified else None)
        found = self.verify() if verified is None else self.verify_since(*verified)
        if found.sound:
            self._verified = found.entries, str(found.head)
            if witness is not None and not self._writer.store.read_only:
                witness.note_verified(*self._verified)
        if not found.sound:
            raise LedgerError(
                f"the ledger {self._writer.store.address} is not sound: {found.complaints[0]}. Nothing can be asked; "
                "`dpstats ledger verify` says all that is wrong. Restore a copy, or begin another ledger."
            )

    def lost(self) -> list[str]:
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


def _with_signatures(found: Verification, signatures: Signatures) -> Verification:
    return replace(found, complaints=(*found.complaints, *signatures.complaints), signatures=signatures)
