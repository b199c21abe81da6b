"""The scope of a question: which rows and which columns of a protected table it is about; public, and nothing is read for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, shown
from dpstats.engines.expressions.language import Node
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.registry import Question, Reads, Statistic

_NUMERIC = (ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.UNDECLARED)


@dataclass(frozen=True)
class Scope:
    """The columns that can be named, and the view of the rows behind them."""

    columns: Mapping[str, ColumnType]
    view: TableView

    @property
    def is_narrowed(self) -> bool:
        """Whether some rows are left out, so that their number is private in every relation."""
        return bool(self.view.conditions)

    def where(self, text: str) -> Scope:
        """Only the rows for which a condition is true."""
        from dpstats.engines.expressions import condition

        return replace(self, view=replace(self.view, conditions=(*self.view.conditions, condition(text, self.columns))))

    def with_columns(self, derived: Mapping[str, str]) -> Scope:
        """With new columns; each expression may name those before it."""
        from dpstats.engines.expressions import parse_expression

        scope = self
        for name, text in derived.items():
            if name in scope.columns or name in scope.view.columns:
                raise InvalidParameterError(f"there is a column {shown(name)} already: choose another name.")
            expression = parse_expression(text, scope.columns)
            view = replace(scope.view, derived={**scope.view.derived, name: expression})
            scope = Scope({**scope.columns, name: expression.type}, view)
        return scope

    def with_conditions(self, statistic: Statistic, columns: Sequence[str]) -> tuple[Scope, tuple[str, ...]]:
        """The scope in which the columns of a question can be read, and their names: for a statistic that takes conditions, each
        condition among them is a derived column, and a column without a declared type holds true and false."""
        if not statistic.takes_conditions:
            return self, tuple(columns)
        scope, names = self, []
        for text in columns:
            scope, name = scope._with_condition(text, f"{statistic.name} takes a column or a condition")
            names.append(name)
        return scope, tuple(names)

    def _with_condition(self, text: str, place: str) -> tuple[Scope, str]:
        """The same for one text. The name of a column is no condition, and neither is a plain word, which may be a name that is
        wrong."""
        if self.columns.get(text) is ColumnType.UNDECLARED:
            truths = {text: ColumnType.BOOLEAN}
            return Scope({**self.columns, **truths}, replace(self.view, schema={**self.view.schema, **truths})), text
        if text in self.columns or text.isidentifier() or not text.strip():
            return self, text
        from dpstats.engines.expressions import condition

        expression = condition(text, self.columns, place)
        name = str(expression)
        if name in self.columns or name in self.view.columns:
            raise InvalidParameterError(f"there is a column {shown(name)} already: name the condition by with_columns.")
        view = replace(self.view, derived={**self.view.derived, name: expression})
        return Scope({**self.columns, name: expression.type}, view), name

    def only(self, names: Sequence[str]) -> Scope:
        """Only these columns can be named."""
        for name in names:
            self.kind_of(name)
        return replace(self, columns={name: self.columns[name] for name in names})

    def kind_of(self, name: object) -> ColumnType:
        """The type of a column; an error where there is none of that name."""
        if type(name) is not str:
            raise InvalidParameterError(f"a column is named by its text, such as 'income', got {type(name).__name__}.")
        check_column_name(name, tuple(self.columns))
        return self.columns[name]

    def view_for(self, question: Question) -> TableView:
        """The view that a question reads: one that only counts rows also counts untyped elements that have no label, and one that
        counts what is true and what is false also counts what is neither."""
        if question.method.tells_truths:
            return replace(self.view, tells_truths=True)
        if not question.statistic.only_counts:
            return self.view
        schema = self.view.schema.items()
        return replace(
            self.view,
            schema={name: ColumnType.OTHER if kind is ColumnType.UNDECLARED else kind for name, kind in schema},
        )

    def settled(self, question: Question, keys: Mapping[str, Sequence[Any]] | None = None) -> Question:
        """The question about columns of these names and types, some with public keys; raises where it cannot be asked of them."""
        self.check(question.statistic, question.columns)
        if question.statistic.reads_codes:
            kinds = {name: self.view.type_of(name).value for name in question.columns}
            return question.statistic.settle_columns(question, kinds, keys or {})
        if not question.columns:
            return question
        boolean = self.view.type_of(question.columns[0]) is ColumnType.BOOLEAN
        return question.settled(self.reads_numbers(question, question.columns)[0], boolean=boolean)

    def reads_numbers(self, question: Question, columns: Sequence[str]) -> tuple[bool, ...]:
        """Whether a question reads each of some columns as numbers, by their declared types and its own words."""
        kinds = [self.view.type_of(name) for name in columns]
        return question.reads_numbers([None if kind is ColumnType.UNDECLARED else kind.is_numeric for kind in kinds])

    def check(self, statistic: Statistic, columns: Sequence[str]) -> None:
        """Raise where a statistic cannot be asked of some columns, by their names or their types."""
        for column, reads in zip(columns, statistic.reads_of(len(columns)), strict=False):
            kind = self.kind_of(column)
            if reads is Reads.NUMBERS and kind not in _NUMERIC:
                way_on = _condition_on(column, kind) if statistic.takes_conditions else _way_on(column, kind)
                needed = "true and false, or numbers" if statistic.takes_conditions else "numbers"
                raise DataTypeError(
                    f"{statistic.name} needs {needed}, and column {shown(column)} is of type {kind.value}.{way_on}"
                )
            if kind is ColumnType.OTHER and not statistic.only_counts:
                raise DataTypeError(f"{statistic.name} cannot read column {shown(column)}: its type is nested or binary.")

    def condition_text(self) -> str:
        """The conditions in words; empty where there are none."""
        conditions = [str(each) for each in self.view.conditions]
        return conditions[0] if len(conditions) == 1 else " and ".join(f"({each})" for each in conditions)

    def text_of(self, question: Question | str, by: Sequence[str] = ()) -> str:
        """A question, or what it is in words, with its filter and its groups, for people."""
        rows = f" where {text}" if (text := self.condition_text()) else ""
        groups = f" by {', '.join(shown(name) for name in by)}" if by else ""
        return f"{question}{rows}{groups}"

    def to_dict(self, *used: str) -> dict[str, object]:
        """The canonical form of all that decides which numbers a question sees, beside the names of the columns it uses."""
        names, schema = self._needed(used), self.view.schema
        derived = {name: self.view.derived[name] for name in self._derived_among(names)}
        types = {name: schema[name].value for name in self.view.needs(names)}
        if not derived and not self.view.conditions:
            return {"where": [], "derived": {}, "types": types}
        from dpstats.engines.expressions.normal_form import conjuncts, normal_form, typed_text

        return {
            "where": [typed_text(each, schema) for each in conjuncts(each.node for each in self.view.conditions)],
            "derived": {name: typed_text(normal_form(each.node), schema) for name, each in derived.items()},
            "types": types,
        }

    def former_dict(self, *used: str) -> dict[str, object]:
        """What is otherwise in `to_dict` as releases wrote it whose questions had form 1: conditions as they were asked."""
        names = self._needed(used)
        return {
            "where": sorted({str(each) for each in self.view.conditions}),
            "derived": {name: str(self.view.derived[name]) for name in self._derived_among(names)},
        }

    def nodes_behind(self, used: Sequence[str]) -> list[Node]:
        """The expressions that a question about some columns reads: its conditions, and the derived columns behind all of it."""
        derived = [self.view.derived[name] for name in self._derived_among(self._needed(used))]
        return [each.node for each in (*self.view.conditions, *derived)]

    def _needed(self, used: Sequence[str]) -> set[str]:
        return {*used} | {name for each in self.view.conditions for name, _ in each.columns}

    def _derived_among(self, names: Iterable[str]) -> list[str]:
        """The derived columns that lie behind some columns, and behind those."""
        wanted = set(names)
        for name, expression in reversed(list(self.view.derived.items())):
            if name in wanted:
                wanted |= {each for each, _ in expression.columns}
        return sorted(wanted & self.view.derived.keys())


def _way_on(column: str, kind: ColumnType) -> str:
    """What to do about a column that has no numbers."""
    if kind is ColumnType.TEXT:
        by_name, option = f"types={{{column!r}: 'number'}}", f"--types {shown(column)}=number"
        return f" If its texts are numbers, declare that: {by_name}, or {option} on the command line."
    return " Derive a number first, such as with_columns(year='year(born)')." if kind is ColumnType.MOMENT else ""


def _condition_on(column: str, kind: ColumnType) -> str:
    """What to do about a column that holds neither true and false nor numbers."""
    from dpstats.engines.expressions.writing import column_name

    if kind is ColumnType.MOMENT:
        return f" Write a condition, such as {column_name(column)} >= '2024-01-31'."
    if kind is not ColumnType.TEXT:
        return ""
    by_name, option = f"types={{{column!r}: 'boolean'}}", f"--types {shown(column)}=boolean"
    declare = f"If its texts are true and false, declare that: {by_name}, or {option} on the command line"
    return f" Write a condition, such as {column_name(column)} == 'yes'. {declare}."
