"""Receipts and heads: by which anybody can tell that the ledger still has what it had."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import Signatures, check_heads
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import InvalidParameterError, LedgerError
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, FileReply, Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
HEADS = 1_000
"""On one page of heads."""
NOT_WHOLE = "the ledger cannot be read, or is older than it was: ask whoever keeps it"


class ReceiptQuery(Query):
    """A receipt, as JSON text."""

    receipt: str = ""


class ReceiptBody(Body):
    """A receipt: the JSON object, or its text."""

    receipt: dict[str, Any] | str


class HeadsQuery(Query):
    """The number of the entry after which to go on."""

    after: int = 0


@ROUTES.page("/receipts", Who.PUBLIC, "receipts.html", query=ReceiptQuery)
def receipts(visit: Visit) -> Plain:
    """Whether the ledger has what a receipt says."""
    text, ledger = visit.query.receipt, visit.office.ledger
    if not text.strip():
        return {"receipt": text, "checked": None}
    try:
        return {"receipt": text, "checked": _checked(ledger, text)}
    except InvalidParameterError as error:
        unread = {"found": False, "complaint": str(error).rstrip("."), "sequence": None, "head": None}
        return {"receipt": text, "checked": unread}


@ROUTES.act("/receipts", Who.PUBLIC, ReceiptBody, action=Action.READ, again="/receipts")
def check_receipt(visit: Visit) -> Done:
    """Whether the ledger has what a receipt says; nothing is changed."""
    given = visit.body.receipt
    text = given if isinstance(given, str) else json.dumps(given)
    return Done(f"/receipts?{urlencode({'receipt': text})}", _checked(visit.office.ledger, text))


@ROUTES.file("/heads.txt", Who.PUBLIC, query=HeadsQuery)
def heads(visit: Visit) -> FileReply:
    """The signed heads of the ledger: each stands for every entry before it."""
    after = min(max(visit.query.after, 0), LAST_NUMBER - 1)
    found = visit.office.ledger.signed_heads(after=after, limit=HEADS)
    lines = [
        "# Signed heads of the ledger. Each stands for every entry up to it: a ledger without it was cut or written anew.",
        "# entry, SHA-256 of that entry, Ed25519 signature, public key, time of signing",
        *(" ".join(str(each) for each in (*_named(head).values(), head.time)) for head in found),
    ]
    if not found and not after:
        lines.append("# Nothing is signed: the ledger has no key.")
    if len(found) == HEADS:
        lines.append(f"# more: /heads.txt?after={found[-1].sequence}")
    return FileReply("".join(f"{line}\n" for line in lines).encode(), "text/plain; charset=utf-8")


def head_values(ledger: Ledger) -> Plain:
    """The last signed head; of a ledger without a key its end."""
    head = ledger.last_signed
    if head is not None:
        return _named(head)
    last = ledger.last
    return {"sequence": last.sequence if last else 0, "hash": last.hash if last else "", "signature": "", "key": ""}


def _checked(ledger: Ledger, text: str) -> Plain:
    try:
        receipt = KeptReceipt.from_dict(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidParameterError):
            raise
        raise InvalidParameterError(
            "this is no receipt of a ledger: it is the JSON object that a release's receipt is."
        ) from None
    try:
        entry = ledger.entry(receipt.sequence) if 0 < receipt.sequence <= LAST_NUMBER else None
        signatures = _signatures(tuple(ledger.signed_heads(limit=HEADS)))
        complaint, head = receipt.complaint(entry, signatures), head_values(ledger)
    except LedgerError:
        complaint, head = NOT_WHOLE, None
    return {"found": complaint is None, "complaint": complaint, "sequence": receipt.sequence, "head": head}


@lru_cache(1)
def _signatures(heads: tuple[Entry, ...]) -> Signatures:
    """What heads say, checked once, because everybody may ask."""
    return check_heads(heads)


def _named(head: Entry) -> Plain:
    """A head by the entry that it signs."""
    words = ("sequence", "hash", "signature", "key")
    return head.read(lambda content: {word: content[word] for word in words}, "is no signature")
