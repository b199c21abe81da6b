"""What auditors see and do: the state of the chain, its verification, every account, and the chain to take home."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import Field

from dpstats.curator.ledger.entries import KINDS
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import DATASET, LONGEST_NAME, checked_name
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import InvalidParameterError, LedgerError, UnknownNameError
from dpstats.web.auditing.lines import account_lines, totals
from dpstats.web.auditing.sight import chain_file
from dpstats.web.complaints import NOT_THERE
from dpstats.web.people.roles import Action, Who
from dpstats.web.routes import Body, Done, FileReply, Lane, Plain, Query, RouteTable, Visit
from dpstats.web.views.receipts import head_values

T = TypeVar("T")
ROUTES = RouteTable()
MOST_ACCOUNTS = 500
LINES = 50
"""On one page of an account."""
UNREADABLE = "cannot be read"
_TIME = r"^[0-9TZ:.-]*$"


class VerifyBody(Body):
    """How much to verify."""

    whole: bool = False


class AccountQuery(Query):
    """Which entries of an account to show."""

    actor: str = Field("", max_length=LONGEST_NAME, pattern=r"^[^\x00]*$")
    kind: str = ""
    start: str = Field("", max_length=30, pattern=_TIME)
    end: str = Field("", max_length=30, pattern=_TIME)
    after: int = 0


@ROUTES.page("/audit", Who.AUDITOR, "audit.html")
def audit(visit: Visit) -> Plain:
    """The state of the chain, the last verifications, and all accounts."""
    ledger = visit.office.ledger
    last, seen = ledger.last, _readable(lambda: ledger.testimony)
    names = ledger.account_names
    return {
        "entries": last.sequence if last else 0,
        "head": last.hash if last else None,
        "time": last.time if last else None,
        "signed": _readable(lambda: head_values(ledger) if ledger.last_signed else None),
        "witness": None if seen is None else {"sequence": seen.sequence, "hash": seen.hash, "verified": seen.verified},
        "verifications": visit.office.reports.latest(),
        "accounts": [_account(ledger, name) for name in names[:MOST_ACCOUNTS]],
        "more_accounts": max(0, len(names) - MOST_ACCOUNTS),
    }


@ROUTES.act("/audit/verify", Who.AUDITOR, VerifyBody, action=Action.OWN, again="/audit", lane=Lane.PAID)
def verify(visit: Visit) -> Done:
    """Verify the ledger: what is new in it, or all of it."""
    report = visit.office.reports.verify(visit.office.ledger, visit.name, whole=visit.body.whole)
    return Done("/audit", report)


@ROUTES.file("/audit/chain.jsonl", Who.AUDITOR)
def chain(visit: Visit) -> FileReply:
    """Every entry of the ledger as a line of JSON, for `dpstats ledger verify`."""
    return FileReply(chain_file(visit.office.ledger), "application/jsonl", "chain.jsonl")


@ROUTES.page("/audit/{name}", Who.AUDITOR, "audit_account.html", query=AccountQuery)
def account(visit: Visit) -> Plain:
    """An account entry by entry, with its running total recomputed beside the stated one."""
    ledger, name, asked = visit.office.ledger, visit.path["name"], visit.query
    try:
        reader = ledger.reader(checked_name(name, "an account's name"), checked=False)
    except (UnknownNameError, InvalidParameterError):
        raise NOT_THERE from None
    after = min(max(asked.after, 0), LAST_NUMBER - 1)
    found = reader.entries(
        actor=asked.actor or None,
        kinds=[asked.kind] if asked.kind in KINDS else KINDS,
        start=asked.start or None,
        end=asked.end or None,
        after=after or None,
        limit=LINES + 1,
    )
    return {
        **_account(ledger, name),
        "unit": reader.opened_with.terms.unit,
        "totals": totals(reader),
        "filters": {"actor": asked.actor, "kind": asked.kind, "start": asked.start, "end": asked.end},
        "kinds": list(KINDS[:-1]),
        "lines": account_lines(ledger, reader, found[:LINES]),
        "after": after,
        "next": found[LINES - 1].sequence if len(found) > LINES else None,
    }


def _account(ledger: Ledger, name: str) -> Plain:
    """How an account stands; where an entry was changed, what can be read of it."""
    reader = _readable(lambda: ledger.reader(name, checked=False))
    kind = UNREADABLE if reader is None else reader.opened_with.account
    said = {"name": name, "account": kind, "is_dataset": kind == DATASET}
    standing = None if reader is None else _readable(lambda: reader.standing)
    if standing is None:
        return {**said, "budget": UNREADABLE, "spent": UNREADABLE, "left": UNREADABLE}
    budget = "closed" if standing.closed else str(standing.budget)
    left = None if reader is None else _readable(lambda: reader.remaining)
    return {**said, "budget": budget, "spent": str(standing.spent), "left": left or UNREADABLE}


def _readable(look: Callable[[], T]) -> T | None:
    """What is found; None where it cannot be read, which a verification says more about."""
    try:
        return look()
    except LedgerError:
        return None
