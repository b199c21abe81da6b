"""Receipts that analysts keep: which entry a question was paid with, signed where the ledger has a key.

An entry's hash stands for everything before it. Whoever has a receipt can show that a ledger has lost the entry, or was written
anew, whoever keeps the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpstats.curator.ledger.debits import Receipt
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.signed_heads import Signatures
from dpstats.curator.ledger.signing import Signer, can_check, is_signed
from dpstats.foundations.errors import InvalidParameterError

_FORM = "dpstats receipt 1"


@dataclass(frozen=True)
class KeptReceipt:
    """A debit of a ledger, as whoever paid for it remembers it."""

    dataset: str
    sequence: int
    key: str
    """Names the question: the same for identical ones."""
    hash: str
    time: str
    signed_by: str = ""
    """The ledger's public key; empty where it has none."""
    signature: str = ""

    @classmethod
    def of(cls, debit: Entry | Receipt, signer: Signer | None) -> KeptReceipt:
        """The receipt of a debit."""
        signed = (signer.public, signer.sign(debit.sequence, debit.hash)) if signer else ("", "")
        return cls(debit.dataset, debit.sequence, debit.key, debit.hash, debit.time, *signed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"form": _FORM, **vars(self)}

    @classmethod
    def from_dict(cls, plain: object) -> KeptReceipt:
        """The receipt that `to_dict` wrote."""
        try:
            assert isinstance(plain, Mapping)
            receipt = cls(**{name: value for name, value in plain.items() if name != "form"})
            types = [type(value) for value in asdict(receipt).values()]
            if plain["form"] == _FORM and types == [str, int, *[str] * 5]:
                return receipt
        except (AssertionError, KeyError, TypeError):
            pass
        raise InvalidParameterError("this is no receipt of a ledger: it is the JSON object that a release's receipt is.")

    def complaint(self, entry: Entry | None, signatures: Signatures) -> str | None:
        """What is wrong with the ledger by this receipt, or with the receipt; None if all is well. `entry` is what the ledger has
        under the receipt's number, `signatures` are those of the ledger.
        """
        if self.signature and can_check():
            if not is_signed(self.signed_by, self.signature, self.sequence, self.hash):
                return "its signature is wrong: it was not made by whoever has the ledger's key, or was changed since"
            if signatures.followed.get(self.signed_by, self.sequence) < self.sequence:
                return "its key was followed by another before that entry: whoever signed it had an old key"
            if self.signed_by not in signatures.keys and (entry is None or entry.hash != self.hash):
                return "not found, and its key never signed this ledger: the receipt is of another one, or this one is older"
        if entry is None:
            return "not found: the entry was removed"
        ours = (self.dataset, self.key, self.hash, self.time)
        if (entry.dataset, entry.key, entry.hash, entry.time) != ours:
            return "not found: another entry is in its place, so the ledger was written anew from there or before"
        return None
