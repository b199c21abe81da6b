"""The desk of a table that somebody else holds: questions are checked and priced here, and sent to be answered there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpstats.curator.archive import Result, result_of
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.desk import Desk, Missed, Priced, Request
from dpstats.curator.protection import Protection
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.units.contributions import MissingUnit
from dpstats.foundations.errors import ServiceError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.proposals import SendProposal
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.results import NoReply

Document = dict[str, Any]
Send = Callable[[Document, Request], Result]
"""Sends the document of a priced question, and returns its result."""


class RowsElsewhere(LocalStore):
    """A table of which only the columns are known."""

    def __init__(self, columns: Mapping[str, ColumnType]) -> None:
        self.columns = columns

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """There are no rows here."""
        raise ServiceError("the rows of this table are elsewhere.")


@dataclass(frozen=True)
class SendingDesk(Desk):
    """A desk that sends the document of every priced question on."""

    policy: Policy = field(default_factory=Policy)
    """What decides when replies leave; the rest of it the service keeps to."""
    send: Send | None = None

    def settle(self, priced: Priced, missed: Missed | None = None) -> Result:
        """The result that comes back for the question."""
        assert self.send is not None
        return self.send(document_of(priced), priced.request)


def document_of(priced: Priced) -> Document:
    """The document of a question that a method was called with."""
    assert priced.document is not None
    return priced.document()


def desk_of(plain: Mapping[str, Any], send: Send) -> SendingDesk:
    """The desk of a data set, from what the service says of it."""
    schema = {name: ColumnType(kind) for name, kind in plain["columns"].items()}
    protects = plain["protection"]
    return SendingDesk(
        RowsElsewhere(schema),
        schema,
        Protection(
            protects["unit"],
            protects["max_rows_per_unit"],
            MissingUnit(protects["missing_unit"]),
            Neighbors(protects["neighbors"]),
            protects.get("may_fail", False),
            protects.get("found", ""),
            protects.get("share", ""),
        ),
        name=plain["name"],
        public_keys=plain["keys"],
        policy=Policy(rows=plain["policy"]["rows"], pace=Fraction(plain["policy"]["pace"])),
        send=send,
    )


def received(reply: Mapping[str, Any], send_proposal: SendProposal) -> Result:
    """The result that the service's answer to a question stands for, with its receipt and a way to the owner."""
    result = result_of(reply["answer"], find_statistic(reply["statistic"]))
    if isinstance(result, NoReply):
        return replace(result, receipt=reply["receipt"])
    return replace(result, receipt=reply["receipt"], send_proposal=send_proposal)
