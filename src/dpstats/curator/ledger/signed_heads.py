"""Signed heads: entries that sign all entries before them, written now and then and when a ledger is closed.

The first one brings its own public key. Every later one is signed by the key that the one before it named, so that a key can be
followed by another, but only by whoever had it. Whoever knows one of these keys from elsewhere can tell the ledger from one that
was written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpstats.curator.ledger.complaints import Complaint
from dpstats.curator.ledger.entries import BEFORE_THE_FIRST, HEAD, Entry
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.signing import Signer, SigningKey, can_check, is_signed

EVERY = 1000
"""Entries after which a head is signed while a ledger is being written to."""


class Seal:
    """Signs the end of a chain where that is due."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def sign_if_due(self, page: Page) -> None:
        """Sign what the page ends with, if the last signature is long ago."""
        if page.appended and page.last is not None:
            head = page.latest("", HEAD)
            if page.last.sequence - (head.sequence if head else 0) >= EVERY:
                self.sign(page)

    def sign_end(self, page: Page) -> None:
        """Sign what the page ends with, unless that is a signature."""
        if page.last is not None and page.last.kind != HEAD:
            self.sign(page)

    def sign(self, page: Page, key: str | None = None) -> None:
        """Sign what the page ends with; `key` is the public key that signs from now on, if it is another."""
        signer = self._key.named(public_key(page.latest("", HEAD)))
        sequence, hash = (page.last.sequence, page.last.hash) if page.last else (0, BEFORE_THE_FIRST)
        signature = signer.sign(sequence, hash, key)
        content = {"sequence": sequence, "hash": hash, "key": key or signer.public, "signature": signature}
        page.append("", HEAD, "", content)


def rotate(page: Page, old: Signer, new: Signer) -> None:
    """Let a key be followed by another: the old one signs that, and the new one signs at once, to show that it is there."""
    Seal(old).sign(page, new.public)
    Seal(new).sign(page)


def public_key(head: Entry | None) -> str | None:
    """The public key that signs after a head."""
    return None if head is None else head.read(lambda content: str(content["key"]), "names no key")


@dataclass(frozen=True)
class Signatures:
    """What the signed heads of a ledger say."""

    signed: int = 0
    """The number of the last entry that is signed."""
    key: str = ""
    """The public key that signs, in hexadecimal digits; none where nothing is signed."""
    checked: bool = True
    """Whether the signatures were checked, which takes the extra `signing`."""
    keys: tuple[str, ...] = ()
    """All keys that have signed, the first one first."""
    followed: Mapping[str, int] = field(default_factory=dict)
    """The keys that were followed by another, each with the number of the entry that says so."""
    complaints: tuple[Complaint, ...] = ()


def check_heads(heads: Iterable[Entry], expected: str | None = None, before: str | None = None) -> Signatures:
    """Check the signatures of heads, in order; `expected` is a public key that must have signed, `before` the one that earlier
    heads have named.
    """
    checked, signed, key = can_check(), 0, before or ""
    keys: list[str] = []
    followed: dict[str, int] = {}
    complaints = []
    for head in heads:
        try:
            content = head.content()
            by = key or content["key"]
            if checked and not is_signed(by, content["signature"], content["sequence"], content["hash"], content["key"]):
                complaints.append(Complaint(head.sequence, f"is not signed with the key {by}: somebody else has written it"))
                continue
            keys += [by] if by not in keys else []
            if expected is None or expected in keys:
                signed = content["sequence"]
            key = content["key"]
            if key != by:
                followed[by] = head.sequence
            followed.pop(key, None)
        except (ValueError, KeyError, TypeError):
            complaints.append(Complaint(head.sequence, "has a signature that cannot be read"))
    if expected is not None and expected not in keys:
        complaints.append(Complaint(None, f"nothing is signed with the key {expected}: this is not the ledger that it signs"))
    return Signatures(signed if checked else 0, key, checked, tuple(keys), followed, tuple(complaints))
