"""Checks of a service's ledger from outside: by receipts and signed heads, which were kept where nobody there can change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from dpstats.client.connection import Connection
from dpstats.curator.ledger.entries import HEAD, VERSION, Entry, canonical_json
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import Signatures, check_heads
from dpstats.curator.ledger.signing import can_check, is_signed
from dpstats.foundations.errors import ServiceError
from dpstats.foundations.results import Card
from dpstats.foundations.text_tables import counted

HEADS = "heads.txt"
NOT_CHECKED = "signatures were not checked: pip install 'dpstats[signing]'"


@dataclass(frozen=True)
class PublishedHead:
    """A signed head as a service tells it everybody: it stands for every entry up to that number."""

    sequence: int
    hash: str
    signature: str
    key: str

    def entry(self) -> Entry:
        """The head as a ledger has it, as far as it is known here."""
        return Entry(self.sequence, VERSION, "", "", HEAD, "", canonical_json(asdict(self)), "", "")


@dataclass(frozen=True)
class LedgerCheck:
    """What was found; it is true where nothing is wrong."""

    dataset: str
    receipts: int
    """How many were looked up."""
    heads: tuple[PublishedHead, ...]
    """All signed heads of the ledger: keep them, and give them the next time."""
    key: str
    """The public key that signs the ledger; empty where it has none."""
    complaints: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.complaints

    def card(self) -> Card:
        """What was checked, in words."""
        signed = f"{len(self.heads):,} signed, up to entry {self.heads[-1].sequence:,}" if self.heads else "none are signed"
        by = [("key", self.key or "none: receipts show that an entry is gone, but not who wrote them")]
        lines = [("receipts", f"{self.receipts:,} looked up"), ("heads", signed), *by]
        lines += [] if can_check() else [("signatures", NOT_CHECKED)]
        return Card(str(self), (*lines, *(("wrong", each) for each in self.complaints)))

    def __str__(self) -> str:
        number = len(self.complaints)
        verdict = "nothing is wrong" if not number else f"{counted(number, 'complaint')}: {'; '.join(self.complaints)}"
        return f"the ledger of {self.dataset}, by {counted(self.receipts, 'receipt')}: {verdict}"

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def check_ledger(
    connection: Connection, dataset: str, receipts: Iterable[object], key: str | None, heads: Sequence[PublishedHead]
) -> LedgerCheck:
    """Whether a ledger still has what receipts and earlier heads say, by its own signatures and word."""
    kept = [KeptReceipt.from_dict(each) for each in receipts]
    now = tuple(_published(connection))
    signatures = check_heads([head.entry() for head in now], key)
    complaints = [str(each) for each in signatures.complaints]
    complaints += [f"the head of entry {each.sequence} is no longer there" for each in heads if each not in now]
    for receipt in kept:
        said = _complaint(connection, receipt, dataset, signatures, {each.sequence: each.hash for each in now})
        complaints += [] if said is None else [f"receipt of entry {receipt.sequence}: {said}"]
    return LedgerCheck(dataset, len(kept), now, signatures.key, tuple(complaints))


def _complaint(
    connection: Connection, receipt: KeptReceipt, dataset: str, signatures: Signatures, known: Mapping[int, str]
) -> str | None:
    """What is wrong with a receipt, or with the ledger by it; what can be told here is not asked of the service."""
    if receipt.dataset != dataset:
        return f"it is about {receipt.dataset}"
    if receipt.signature and can_check():
        if not is_signed(receipt.signed_by, receipt.signature, receipt.sequence, receipt.hash):
            return "its signature is wrong"
        if signatures.keys and receipt.signed_by not in (*signatures.keys, signatures.key):
            return "its key never signed this ledger"
        if signatures.followed.get(receipt.signed_by, receipt.sequence) < receipt.sequence:
            return "its key was followed by another before that entry: whoever signed it had an old key"
    if known.get(receipt.sequence, receipt.hash) != receipt.hash:
        return "a signed head says otherwise: the ledger was written anew"
    said = connection.post("receipts", body={"receipt": receipt.to_dict()})
    return None if said["found"] is True else str(said["complaint"])


def _published(connection: Connection) -> Iterator[PublishedHead]:
    """All heads that the service tells, in order, page by page."""
    after: str | None = None
    while True:
        next_page = None
        for line in connection.text(HEADS, after=after).splitlines():
            if line.startswith("#"):
                next_page = line.partition(f"{HEADS}?after=")[2] or next_page
            else:
                yield _read(line)
        if next_page is None:
            return
        if not next_page.isdecimal() or next_page == after:
            raise ServiceError(f"{connection.url} does not tell its heads as a service of dpstats does.")
        after = next_page


def _read(line: str) -> PublishedHead:
    try:
        sequence, hash, signature, key, _ = line.split(" ")
        return PublishedHead(int(sequence), hash, signature, key)
    except ValueError:
        raise ServiceError(f"a head of the service cannot be read: {line[:80]!r}.") from None
