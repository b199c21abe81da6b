"""The desk: a question's way from its price to its answer.

A question is checked and priced from public things alone (`price`), which makes a `Priced`: a plain value until somebody settles
it. `settle` is the only place where anything is spent. If the question was asked before, the archive answers it; else, if the
table can be reached, its cost is debited, and only when the ledger has that on disk is a row read; the answer is archived and
handed out, also to others who asked the same meanwhile. What goes wrong after the debit because of the data is one charged
`NoReply`. A desk without an account takes the same steps but for the ledger's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from dpstats.accounting.groups import steps_between, unit_loss
from dpstats.curator.archive import FROM_ARCHIVE, NOT_ARCHIVED, Result, document_of, noted, result_of
from dpstats.curator.ledger.reservations import LONGEST_WAIT, Delivery, Goods, recall_or_reserve
from dpstats.curator.open_columns import OpenColumns
from dpstats.curator.protection import BY_ROW, Protection
from dpstats.curator.question_forms import QuestionForm, form_of_question
from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.language import Node, columns_of
from dpstats.engines.kinds import not_first, unreadable_element
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.filtering import filter_there
from dpstats.engines.stores.reach import check_reachable
from dpstats.engines.stores.store import Store
from dpstats.engines.tables.table import open_columns
from dpstats.engines.units.sums import UnitSteps
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, SeededSource, SystemSource
from dpstats.foundations.registry import (
    COULD_NOT,
    PURE_LOSS,
    Answer,
    Outcome,
    Question,
    Refusal,
    Statistic,
    advice_of,
    ask,
    outcome_of,
)
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.summaries import CodedTable, Column, Table

if TYPE_CHECKING:
    from dpstats.curator.ledger.debits import DebitOrder
    from dpstats.curator.ledger.ledger import Account


Compute = Callable[[], Result]
Document = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Desk:
    """Where questions about one table are answered: its rows, what is public about it, whom it protects, and its account."""

    store: Store
    """The rows that may be read: bounded already."""
    schema: Mapping[str, ColumnType]
    protection: Protection = BY_ROW
    account: Account | None = None
    """What questions are charged to; None for a table whose holder asks by himself, and keeps count by himself."""
    name: str = ""
    public_keys: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """For some columns the list of values, where that is public."""
    edition: str = ""
    """Names the state of the rows; a question about another edition is another question."""
    source: str = ""
    """Tells tables of one name apart, without saying where they are."""
    audience: str = ""
    """Who shares the archive's answers, where not everybody does."""
    allow_seeded: bool = False
    """Whether answers may be drawn from a seeded source, which protects nobody."""
    library: str = ""
    """Whose table was given, such as "pandas": synthetic rows come back as such a table."""
    open_columns: OpenColumns | None = None
    """The columns that stay open, where one thread answers many questions about a small table."""

    def asked(
        self,
        scope: Scope,
        statistic: Statistic,
        columns: Sequence[str],
        positional: Sequence[object],
        keywords: Mapping[str, Any],
    ) -> Question:
        """A question at the price of the unit; every error about it is raised here."""
        unit, neighbors = self.protection.unit, self.protection.neighbors
        question = ask(statistic.name, *positional, neighbors=neighbors, unit=unit, column=columns, **keywords)
        return scope.settled(question, self.public_keys)

    def text_of(self, scope: Scope, asked: Question | str, by: Sequence[str] = ()) -> str:
        """A question, or what it is in words, with its filter, its groups, and how many rows of each unit it is about."""
        narrowed = scope.is_narrowed or bool(by)
        return f"{scope.text_of(asked, by)}{self.protection.in_line(asked, narrowed=narrowed)}"

    def price(
        self,
        scope: Scope,
        question: Question,
        source: RandomSource,
        columns: Sequence[str] | None = None,
        document: Document | None = None,
    ) -> Priced:
        """A question with its price and what computes its answer; nothing is read. `columns` are those of the table, where the
        question calls them otherwise."""
        names = question.columns if columns is None else tuple(columns)
        self.check_elements(scope, question, names)
        row_question = self.protection.row_question(question, narrowed=scope.is_narrowed)
        text = self.text_of(scope, question)
        request = Request(question, text, scope.to_dict(*names), question.cost, scope.former_dict(*names))
        opened = self.opened(scope, question, names)
        units = self.protection.units(question, self.schema)

        def compute() -> Release | NoReply:
            return request.reply(row_question.run(of_units(opened, units), source), row_question, self.protection, source)

        return Priced(request, compute, source, self.as_given, document)

    def answer(self, priced: Priced) -> Any:
        """The reply to a priced question, as it is handed out."""
        return priced.finish(self.settle(priced))

    def as_given(self, result: Result) -> Result:
        """A result whose rows, if it has some, are a table of the kind that was given."""
        if isinstance(result, GroupedRelease):
            return replace(result, replies={key: self._as_given(each) for key, each in result.items()})
        return self._as_given(result)

    def _as_given(self, reply: Release | NoReply) -> Release | NoReply:
        if isinstance(reply, Release) and hasattr(reply.value, "as_kind"):
            return replace(reply, value=reply.value.as_kind(self.library))
        return reply

    def opened(self, scope: Scope, question: Question, columns: Sequence[str]) -> Column | Table | CodedTable:
        """The column that a question is about, or the table of several, or of features; without one, the rows themselves."""
        statistic = question.statistic
        if self.open_columns is None or len(columns) > 1 or statistic.takes_tables or statistic.takes_features:
            return self._opened(scope, question, columns)
        numeric = scope.reads_numbers(question, columns) if columns else ()
        reading = [statistic.only_counts, question.method.tells_truths]
        key = json.dumps([columns, numeric, *reading, scope.to_dict(*columns)], sort_keys=True)
        found: Column = self.open_columns.find(key, lambda: self._opened(scope, question, columns))
        return found

    def _opened(self, scope: Scope, question: Question, columns: Sequence[str]) -> Column | Table | CodedTable:
        if not columns:
            return RowsOf(open_column(*filter_there(self.store, scope.view), next(iter(self.schema)), False))
        statistic, numeric = question.statistic, scope.reads_numbers(question, columns)
        store, view = filter_there(self.store, scope.view_for(question))
        return open_columns(store, view, columns, numeric, statistic)

    def settle(self, priced: Priced, missed: Missed | None = None) -> Result:
        """Recall the answer of a priced question, or debit it and compute one; whatever goes wrong because of the data is one
        refusal.

        What a seeded source has drawn is not kept. Where the archive was looked into just now, `missed` says so.
        """
        request, source = priced.request, priced.source
        if self.account is None:
            return priced.computed()
        details, keys = (missed.details, missed.keys) if missed else (None, ())
        if details is None:
            form = form_of(self, request)
            details, keys = form.details, form.keys
        order = self.account.order(keys[0], request.text, request.cost, details, loss_of(self, request), keys[1:])
        if not source.private:
            self.check_before_debit()
            self.account.write(partial(self.account.spend, order=order))
            return priced.computed()
        goods = Goods(
            check=self.check_before_debit,
            compute=priced.computed,
            revive=lambda document: result_of(document, request.question.statistic),
            refuse=lambda: request.or_refusal(COULD_NOT, source),
            document=archive_form,
            patience=self.longest_wait([request]),
        )
        return settled(self.account, order, goods, None if missed is None else missed.seen)

    def check_elements(self, scope: Scope, question: Question, columns: Sequence[str]) -> None:
        """Raise where a column that declares no type begins with an element that the question cannot read, by its class.

        Only the first element is looked at. One that is missing says nothing.
        """
        if not self._first_classes:
            return
        read = columns if columns and not question.statistic.only_counts else ()
        numeric = scope.reads_numbers(question, columns) if read else ()
        for place, name in enumerate(read):
            called = question.columns[place] if place < len(question.columns) else ""
            self._check_first(name, called, numeric=numeric[place])
        self.check_expressions(scope, scope.nodes_behind(columns))

    def check_expressions(self, scope: Scope, nodes: Iterable[Node]) -> None:
        """As `check_elements`, for the columns that expressions read."""
        if self._first_classes:
            for column in (column for node in nodes for column in columns_of(node)):
                self._check_first(column.name, column.name, numeric=column.type.is_numeric)

    @property
    def _first_classes(self) -> Mapping[str, type]:
        return getattr(self.store, "first_classes", {})

    def _check_first(self, name: str, called: str, *, numeric: bool) -> None:
        cls = self._first_classes.get(name)
        if cls is None or self.schema.get(name) is not ColumnType.UNDECLARED:
            return
        if (kind := unreadable_element(cls, numeric=numeric)) is not None:
            raise not_first(kind, shown(called) if called else "", numeric=numeric)

    def check_before_debit(self) -> None:
        """Raise where a question must not be paid for now, for reasons that are public."""
        check_reachable(self.store)

    def longest_wait(self, requests: Sequence[Request]) -> float:
        """Seconds to wait for somebody else who has asked the same, and whose reply is still to come."""
        return LONGEST_WAIT

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
class Missed:
    """That the archive had no answer to a question."""

    keys: tuple[str, ...]
    """Of the question (`QuestionForm.keys`)."""
    seen: int
    """The number of the last entry that says that there will be none; 0 without one."""
    details: Mapping[str, object] | None = None
    """Of the question (`QuestionForm.details`), where they are known."""


@dataclass(frozen=True)
class Request:
    """A checked and priced question about a table, as the asker sees it."""

    question: Question
    text: str
    """The question with its filter and its groups, for people."""
    scope: Mapping[str, object]
    """Filter, derived columns and groups in canonical form, for the archive."""
    cost: PrivacyCost
    """What all of it costs the unit."""
    former_scope: Mapping[str, object] = field(default_factory=dict)
    """What earlier releases wrote otherwise of the scope."""

    def reply(self, outcome: Outcome, row_question: Question, protection: Protection, source: RandomSource) -> Release | NoReply:
        """What a method made of the rows at the price of a row, for the unit: as it was asked, its cost, whose rows count."""
        notes: list[tuple[str, str]] = []
        if not protection.is_by_row:
            notes.append(("rows used", protection.rows_note()))
            if isinstance(outcome, Answer):
                interval = None if outcome.interval is None else _of_used_rows(outcome.interval, protection)
                intervals = tuple(_of_used_rows(each, protection) for each in outcome.intervals)
                outcome = replace(outcome, interval=interval, intervals=intervals)
        if row_question.epsilon != self.cost.epsilon:
            row = f"epsilon = {decimal_text(row_question.epsilon)} for one row, which makes {self.cost} for a {self.cost.unit}"
            row += ", steps by unit included" if protection.unit_steps(self.question) and "by" not in self.scope else ""
            notes.append(("price of a row", row))
        if protection.rows_per_unit > 1 and isinstance(outcome, Answer):
            steps, grouped = protection.unit_steps(self.question), "by" in self.scope
            notes += protection.notes_on_errors(self.question.method, outcome, steps, grouped=grouped)
        return row_question.reply(outcome, private=source.private, text=self.text, cost=self.cost, notes=tuple(notes))

    def or_refusal(self, result: Result | Refusal, source: RandomSource) -> Result:
        """A result as it is, and the refusal of all of it as a reply."""
        if not isinstance(result, Refusal):
            return result
        return NoReply(
            self.text, self.cost, self.question.method.name, result.reason, advice_of(result, self.cost), source.private
        )


@dataclass(frozen=True)
class Priced:
    """A priced question with what its answer takes; nothing is read or spent before somebody settles it."""

    request: Request
    compute: Compute
    """Reads rows and draws; called once the price is paid."""
    source: RandomSource
    finish: Callable[[Result], Any] = lambda result: result
    """Makes of a result what is handed out, such as a fit that knows its formula."""
    document: Document | None = None
    """Makes the question's document, for those who send it on."""

    def computed(self) -> Result:
        """The answer; whatever the data make go wrong is one refusal."""
        return self.request.or_refusal(outcome_of(self.compute, self.source), self.source)

    def finished_by(self, finish: Callable[[Any], Any]) -> Priced:
        """The same question, of whose result something more is made."""
        return replace(self, finish=lambda result: finish(self.finish(result)))


def settled(account: Account, order: DebitOrder, goods: Goods[Result], seen: int | None = None) -> Result:
    """What an order is about, recalled or paid for, with the receipt of its debit and a word on the archive."""
    found = recall_or_reserve(account, order, goods, seen)
    result = _receipted(found, account)
    if has_failed(result):
        return result
    if not found.archived:
        return noted(result, *NOT_ARCHIVED)
    return noted(result, *FROM_ARCHIVE) if found.recalled else result


def archive_form(result: Result) -> dict[str, Any] | None:
    """What the archive keeps of a result; None for one that could not be computed, which may be asked again."""
    return None if has_failed(result) else document_of(result)


def _receipted(found: Delivery[Result], account: Account) -> Result:
    """A result with the receipt of its debit. It was paid for, so it is handed out also where that cannot be had."""
    try:
        receipt = account.receipt(found.debit) if found.paid is None else account.receipt_of(found.paid)
        return replace(found.value, receipt=receipt.to_dict())
    except DpstatsError:
        return found.value


def loss_of(desk: Desk, request: Request) -> Fraction:
    """rho / epsilon**2 of a request, for the unit; 1/2 where group keys are chosen privately beside the method."""
    if "by" in request.scope and request.scope["keys"] is None:
        return PURE_LOSS
    steps = steps_between(desk.protection.neighbors, desk.protection.rows_per_unit)
    return unit_loss(request.question.method.loss, request.cost.delta, steps)


def of_units(opened: Column | Table | CodedTable, units: UnitSteps | None) -> Column | Table | CodedTable:
    """What was opened, told whose rows it has where that matters and it can ask by unit."""
    if units is not None and hasattr(opened, "take_units"):
        opened.take_units(units)
    return opened


def library_of(table: object) -> str:
    """The library that a table comes from."""
    return type(table).__module__.partition(".")[0]


def has_failed(result: Result) -> bool:
    """Whether an answer, or a part of it, could not be computed at all; that is not archived, and may be asked again."""
    replies = result.values() if isinstance(result, GroupedRelease) else [result]
    return any(isinstance(reply, NoReply) and reply.reason == COULD_NOT.reason for reply in replies)


def form_of(desk: Desk, request: Request) -> QuestionForm:
    """A request at a desk as the archive knows it: the same for identical ones."""
    circumstances = {
        "edition": desk.edition,
        "source": desk.source,
        "epsilon": str(request.cost.epsilon),
        "delta": str(request.cost.delta),
        "rows": desk.choice_of_rows(),
        **({"audience": desk.audience} if desk.audience else {}),
        **request.scope,
    }
    return form_of_question(request.question, circumstances, {**circumstances, **request.former_scope})


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


def _of_used_rows(interval: Interval, protection: Protection) -> Interval:
    return replace(interval, covers=f"{interval.covers}, for the rows that are used: {protection.rows_used()}")
