"""The desk of a data set whose owner says what is allowed: what is checked before a debit, and what analysts are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpstats.curator.archive import Result
from dpstats.curator.catalog.ceilings import groups_of, values_of
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.desk import Desk, Missed, Priced, Request
from dpstats.curator.documents.document import QuestionDocument
from dpstats.curator.jobs.pool import JobPool
from dpstats.curator.jobs.reply_times import Departure, reply_seconds, waiting_seconds
from dpstats.curator.ledger.grants import Grant
from dpstats.foundations.errors import AccessError, DataFileError, DpstatsError, InvalidParameterError, LedgerError


@dataclass(frozen=True)
class PolicedDesk(Desk):
    """A desk that debits nothing which the owner does not allow."""

    policy: Policy = field(default_factory=Policy)
    pool: JobPool | None = None
    table: str = ""
    """The recipe by which workers know the table."""

    def check_before_debit(self) -> None:
        """Raise where the data set is frozen, or its table cannot be reached, or nobody can work on it; no place is named."""
        if self.policy.frozen:
            raise InvalidParameterError("this data set is frozen by its owner: only what was answered before can be had.")
        try:
            super().check_before_debit()
        except DpstatsError:
            raise unreadable(self.name) from None
        if self.pool is not None and not self.pool.wait_until_ready(self.table):
            raise LedgerError("nobody can work on questions now.")

    def longest_wait(self, requests: Sequence[Request]) -> float:
        """As long as the reply of whoever has asked the same may take, by public numbers."""
        return waiting_seconds(sum(seconds_of(self.policy, each) for each in requests))


@dataclass(frozen=True)
class PreparedQuestion:
    """A question that was checked and priced for somebody, and can be asked."""

    document: QuestionDocument
    actor: str
    table: Desk
    policy: Policy
    priced: Priced
    missed: Missed | None = None
    """That the archive was looked into."""
    departure: Departure = field(default_factory=Departure)

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The document, in its canonical form."""
        return self.document.to_dict()

    @property
    def seconds(self) -> float:
        """When its reply leaves, after its debit."""
        return seconds_of(self.policy, self.priced.request)


@dataclass(frozen=True)
class PaidAnswer:
    """An answer to somebody who may have it, and what was granted to them at that moment."""

    result: Result
    grant: Grant


def seconds_of(policy: Policy, request: Request) -> float:
    """When the reply to a request leaves, after its debit."""
    question = request.question
    return reply_seconds(
        question.statistic.name,
        rows=policy.rows,
        groups=groups_of(request.scope),
        values=values_of(question.arguments),
        pace=float(policy.pace),
    )


def no_access(name: object) -> AccessError:
    """What is said of a data set that there is not, or on which nothing is granted."""
    return AccessError(f"there is no data set {name!r} that you may ask about: ask the data holder.")


def unreadable(name: object) -> DataFileError:
    """What analysts are told where a table cannot be opened or read; why and where, its owner sees."""
    return DataFileError(f"the table of {name} cannot be read now: ask the data holder. Nothing was spent.")
