"""Verification: what an auditor can check of a ledger from its entries alone, without the data and without trust.

Every hash, the chain, the sequence, every running total by the account's accountant, that no total exceeds its budget as it was
then, that a debit is charged to everybody who has to pay for it, that who asked was granted it, that every answer belongs to a
debit and is the document that was archived, and that every change says who and why. A tail that was cut off leaves a sound,
shorter chain: only somebody who remembers an earlier head can notice, and so a head may be given. Nothing stops at the first
complaint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dpstats.curator.ledger.audit import Audit
from dpstats.curator.ledger.books import NoPast
from dpstats.curator.ledger.complaints import Complaint
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.signed_heads import Signatures

__all__ = ["Complaint", "Verification", "verify_entries"]


@dataclass(frozen=True)
class Verification:
    """What was found: sound, or every complaint."""

    entries: int
    """How many there are, those that were verified before included."""
    head: str | None
    complaints: tuple[Complaint, ...]
    heads: tuple[Entry, ...] = field(default=(), repr=False)
    """The entries among them that sign what is before them; whether the signatures are right is checked elsewhere."""
    signatures: Signatures = field(default_factory=Signatures)
    """Up to where the ledger is signed, and with which key."""
    withheld: int = 0
    """Answers whose bodies were not there: of these nothing was checked but their place in the chain."""

    @property
    def sound(self) -> bool:
        """Whether there is something, and no complaint about it."""
        return self.entries > 0 and not self.complaints


def verify_entries(
    entries: Iterable[Entry],
    *,
    head: str | None = None,
    damages: Sequence[str] = (),
    past: NoPast | None = None,
    may_withhold: bool = False,
) -> Verification:
    """Check entries in the order in which they are stored; `head` is a hash that was once seen at the end of this ledger.

    `past` is what was verified before; the entries are then those that follow. `may_withhold` lets answers be without bodies.
    """
    audit = Audit(past or NoPast(), may_withhold=may_withhold)
    has_head = head is None or head == audit.head
    for entry in entries:
        audit.check(entry)
        has_head = has_head or entry.hash == head
    audit.finish()
    complaints = [*(Complaint(None, damage) for damage in damages), *audit.complaints]
    if not has_head:
        complaints.append(Complaint(None, "the remembered head is not in the ledger: entries were removed or written anew since"))
    return Verification(audit.count, audit.head, tuple(complaints), tuple(audit.heads), withheld=audit.withheld)
