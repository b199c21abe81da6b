"""The desk: a question's way from its price to its answer.

Every question takes the same steps in the same order: it is checked and priced from public things alone; if it was asked before,
the archive answers it; else its cost is debited, and only when the ledger has that on disk is a row read; the answer is archived
and handed out. Whatever goes wrong after the debit because of the data is one charged `NoReply`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpstats.accounting.groups import steps_between, unit_loss
from dpstats.curator.archive import FROM_ARCHIVE, NOT_ARCHIVED, Result, document_of, noted, result_of
from dpstats.curator.ledger.ledger import Account
from dpstats.curator.protection import Protection
from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.passes.columns import open_column, reads_numbers
from dpstats.engines.stores.store import Store
from dpstats.engines.tables.table import StoreTable
from dpstats.foundations.errors import InvalidParameterError, LedgerError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, SeededSource, SystemSource
from dpstats.foundations.registry import COULD_NOT, INTERVAL, PURE_LOSS, Question, Statistic, argument_name, ask, checked_level
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.summaries import Column, Table


@dataclass(frozen=True)
class ProtectedTable:
    """A table behind the curator: where its rows are, what is public about it, whom it protects, and its account."""

    name: str
    store: Store
    """The rows that may be read: bounded already."""
    schema: Mapping[str, ColumnType]
    protection: Protection
    account: Account
    public_keys: Mapping[str, Sequence[Any]]
    """For some columns the list of values, where that is public."""
    edition: str
    """Names the state of the rows; a question about another edition is another question."""
    source: str
    """Tells tables of one name apart, without saying where they are."""
    allow_seeded: bool = False
    """Whether answers may be drawn from a seeded source, which protects nobody."""

    def priced(
        self,
        scope: Scope,
        statistic: Statistic,
        columns: Sequence[str],
        positional: Sequence[object],
        keywords: Mapping[str, Any],
    ) -> Question:
        """A question at the price of the unit; every complaint about it is raised here."""
        unit, neighbors = self.protection.unit, self.protection.neighbors
        question = ask(statistic.name, *positional, neighbors=neighbors, unit=unit, column=columns, **keywords)
        scope.check(statistic, columns)
        return question.settled(lambda: reads_numbers(scope.view, columns[0], statistic.reads[0]))

    def choice_of_rows(self) -> str:
        """What decides which rows are used: nothing, or the types of all columns, whose contents choose among a unit's rows."""
        if self.protection.is_by_row:
            return ""
        types = ", ".join(f"{name}: {kind.value}" for name, kind in sorted(self.schema.items()))
        return hashlib.sha256(types.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def source_of_noise(self, rng: object) -> RandomSource:
        """Where noise comes from: the operating system, or a seed where the data holder allows that. Nobody brings their own."""
        if rng is None:
            return SystemSource()
        if type(rng) is not SeededSource:
            raise InvalidParameterError("rng must come from dpstats.testing.seeded, or be left out.")
        if not self.allow_seeded:
            raise InvalidParameterError(
                "this table answers with secret noise only: leave rng out. (Tests of invented tables may protect them with "
                "allow_seeded=True.)"
            )
        return rng


@dataclass(frozen=True)
class Request:
    """A checked and priced question about a protected table."""

    question: Question
    text: str
    """The question with its filter and its groups, for people."""
    scope: Mapping[str, object]
    """Filter, derived columns and groups in canonical form, for the archive."""
    cost: PrivacyCost
    """What all of it costs the unit."""


def serve(table: ProtectedTable, request: Request, answer: Callable[[], Result], *, archived: bool) -> Result:
    """Recall the answer of a request, or debit it and get one; `archived` says whether the archive is used."""
    account, details = table.account, details_of(table, request)
    key = hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()
    if archived and (document := account.recall(key)) is not None:
        return noted(result_of(document, request.question.statistic), *FROM_ARCHIVE)
    receipt = account.debit(key, request.text, request.cost, details, loss_of(table, request))
    result = answer()
    if archived and not has_failed(result):
        try:
            account.record(receipt, document_of(result))
        except LedgerError:  # it was paid for, so it is handed out all the same
            return noted(result, *NOT_ARCHIVED)
    return result


def loss_of(table: ProtectedTable, request: Request) -> Fraction:
    """rho / epsilon**2 of a request, for the unit; 1/2 where group keys are chosen privately beside the method."""
    if "by" in request.scope and request.scope["keys"] is None:
        return PURE_LOSS
    steps = steps_between(table.protection.neighbors, table.protection.rows_per_unit)
    return unit_loss(request.question.method.loss, request.cost.delta, steps)


def could_not(request: Request) -> NoReply:
    """The one refusal for whatever goes wrong after the debit because of the data."""
    return NoReply(request.text, request.cost, request.question.method.name, COULD_NOT.reason, COULD_NOT.advice, True)


def has_failed(result: Result) -> bool:
    """Whether an answer, or a part of it, could not be computed at all; that is not archived, and may be asked again."""
    replies = result.values() if isinstance(result, GroupedRelease) else [result]
    return any(isinstance(reply, NoReply) and reply.reason == COULD_NOT.reason for reply in replies)


def details_of(table: ProtectedTable, request: Request) -> dict[str, object]:
    """Everything that tells one question from another; the same for identical ones."""
    question, cost = request.question, request.cost
    return {
        "edition": table.edition,
        "source": table.source,
        "method": f"{question.statistic.name}_{question.method.name}/{question.method.version}",
        "column": question.column if len(question.columns) < 2 else list(question.columns),
        "arguments": {name: _canonical(value) for name, value in question.arguments.items()},
        "epsilon": str(cost.epsilon),
        "delta": str(cost.delta),
        "rows": table.choice_of_rows(),
        **({} if question.interval == checked_level(INTERVAL) else {"interval": str(question.interval)}),
        **request.scope,
    }


def open_for(table: ProtectedTable, scope: Scope, statistic: Statistic, columns: Sequence[str]) -> Column | Table:
    """The column that a question is about, or the table of several, or of features; without one, the rows themselves."""
    view = scope.view
    if not columns:
        return RowsOf(open_column(table.store, view, next(iter(table.schema)), False))
    numeric = [
        reads_numbers(view, column, reads) for column, reads in zip(columns, statistic.reads_of(len(columns)), strict=True)
    ]
    if len(columns) == 1 and not statistic.takes_features:
        return open_column(table.store, view, columns[0], numeric[0])
    return StoreTable(table.store, view, columns, numeric)


class RowsOf:
    """The rows of a table as a column of which only the number can be asked; whether a cell is missing does not matter."""

    dtype = None

    def __init__(self, column: Column) -> None:
        """`column` is any column of the table."""
        self._column = column

    def count(self) -> int:
        """Rows."""
        return self._column.stored()

    stored = count

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"rows have no {name}.")


def relabelled(reply: Release | NoReply, request: Request, row_question: Question, protection: Protection) -> Release | NoReply:
    """A reply that was made at the price of a row, as the unit's: as it was asked, what it cost, and whose rows count."""
    reply = replace(reply, question=request.text, cost=request.cost)
    if isinstance(reply, NoReply):
        return reply
    notes: list[tuple[str, str]] = []
    interval, intervals = reply.interval, reply.intervals
    if not protection.is_by_row:
        notes.append(("rows used", protection.rows_used()))
        interval = None if interval is None else _of_used_rows(interval, protection)
        intervals = tuple(_of_used_rows(each, protection) for each in intervals)
    if row_question.epsilon != request.cost.epsilon:
        row = f"epsilon = {decimal_text(row_question.epsilon)} for one row, which makes {request.cost} for a {request.cost.unit}"
        notes.append(("price of a row", row))
    return replace(reply, interval=interval, intervals=intervals, notes=(*reply.notes, *notes))


def _of_used_rows(interval: Interval, protection: Protection) -> Interval:
    return replace(interval, covers=f"{interval.covers}, for the rows that are used: {protection.rows_used()}")


def _canonical(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _canonical(item) for name, item in value.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Fraction):
        return str(value)
    has_own = type(value).__repr__ is not object.__repr__  # the one that all objects have tells where they lie in memory
    return repr(value) if has_own else argument_name(value) or repr(value)
