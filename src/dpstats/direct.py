"""`dp.median(x)`, `dp.covariance(x, y)`, `dp.linear_regression(X, y)`, `dp.mle("gamma", x)`: arrays, one question, no ledger.

Each function here is made from the registry. It checks and prices the question first, and only then looks at the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.desk import Desk, library_of
from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.formulas.design import declared_levels
from dpstats.engines.kinds import not_truths
from dpstats.engines.stores.opening import check_stored, open_store
from dpstats.engines.tables.features import Feature, features_of
from dpstats.engines.tables.given import GivenStore
from dpstats.engines.views import TableView
from dpstats.foundations.arguments import (
    call_words,
    check_columns,
    refuse_missing,
    refuse_parameters_among_columns,
    take_columns,
)
from dpstats.foundations.calls import Caller, documentation, signature
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import Question, Statistic, ask, find_statistic
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.text_tables import free_name, shortened

StatisticFunction = Callable[..., Release | NoReply]

_LONGEST_LABEL = 60
_BY_POSITION = ("table", "columns")
"""What functions of whole tables take by position."""
_COLUMNS_OF_A_FRAME = {"X": "df[['age', 'schooling']]", "y": "df['wage']"}


def function_for(name: str) -> StatisticFunction:
    """The statistic of that name as a function of an array, or of several of the same rows."""
    statistic = find_statistic(name)

    def answer(*given: object, rng: RandomSource | None = None, **words: Any) -> Release | NoReply:
        source = source_or_system(rng)
        if statistic.takes_tables:
            return answer_table(statistic, given, words, source)
        return answer_given(*priced(statistic, given, words), source)

    answer.__name__ = answer.__qualname__ = name
    answer.__module__ = "dpstats"
    answer.__doc__ = documentation(statistic, Caller.FUNCTION)
    answer.__signature__ = signature(statistic, Caller.FUNCTION)  # type: ignore[attr-defined]
    return answer


def priced(statistic: Statistic, given: tuple[object, ...], words: dict[str, Any]) -> tuple[Question, list[object]]:
    """The question, with everything public about it checked, and its columns, of which names and types have been looked at."""
    for unknown in words.keys() & {"name", "column"}:  # words of `ask` that are no parameters
        raise UnknownNameError(f"{statistic.name} has no parameter {unknown!r}.")
    data, positional = take_columns(statistic, "data", given, words)
    refuse_missing(statistic, "data", len(data))
    refuse_parameters_among_columns(statistic, data)
    if statistic.takes_only_columns:
        _refuse_names(statistic, data)
    columns = [] if statistic.takes_features else [_label(each) for each in data]
    question = ask(statistic.name, *positional, column=columns, **words)
    return _on_columns(question, data) if statistic.takes_features else (question, data)


def answer_given(question: Question, data: Sequence[object], source: RandomSource) -> Release | NoReply:
    """The reply to a priced question about containers of the same rows: a desk without a ledger over a store of them."""
    statistic, store = question.statistic, GivenStore(data)
    scope = Scope(store.columns, TableView(store.columns))
    if statistic.reads_codes:
        question = _settled_by_name(question, tuple(store.columns.values()))
        return _answered(Desk(store, store.columns), scope, question, source, store.names)
    numeric = scope.reads_numbers(question, store.names)
    if statistic.takes_conditions and store.columns[store.names[0]] is ColumnType.TEXT:
        raise not_truths(store.holds(0))
    if not statistic.only_counts:
        store.check(numeric, question.columns if statistic.takes_features else (), has_outcome=statistic.has_outcome)
    boolean = store.columns[store.names[0]] is ColumnType.BOOLEAN
    return _answered(Desk(store, store.columns), scope, question.settled(numeric[0], boolean=boolean), source, store.names)


def _settled_by_name(question: Question, kinds: Sequence[ColumnType]) -> Question:
    """The question about columns of these types; features that declare none, such as arrays of objects, have labels."""
    *features, outcome = kinds
    told = [ColumnType.TEXT if kind is ColumnType.UNDECLARED else kind for kind in features]
    named = dict(zip(question.columns, (*told, outcome), strict=True))
    return Scope(named, TableView(named)).settled(question)


def answer_table(
    statistic: Statistic, given: tuple[object, ...], words: dict[str, Any], source: RandomSource
) -> Release | NoReply:
    """The reply to a question about a whole table, or some columns of it: a desk without a ledger over it."""
    if len(given) > len(_BY_POSITION):
        raise InvalidParameterError(f"{statistic.name} takes a table and its columns, and all else by name.")
    for word, value in zip(_BY_POSITION, given, strict=False):
        if word in words:
            raise InvalidParameterError(f"{statistic.name} got {word} twice.")
        words[word] = value
    if "table" not in words:
        example = f"{statistic.name}(df, columns=['age', 'region'], epsilon=1)"
        raise MissingParameterError(f"{statistic.name} needs a table: for example {example}.")
    table, columns, types = (words.pop(word, None) for word in (*_BY_POSITION, "types"))
    store, schema = open_store(table, types)
    check_stored(store)
    scope = Scope(schema, TableView(schema))
    named = tuple(schema) if columns is None else column_names(columns)
    check_columns(statistic, named)
    desk = Desk(store, schema, public_keys=declared_levels(table), library=library_of(table))
    question = ask(statistic.name, column=named, **words)
    return _answered(desk, scope, scope.settled(question, desk.public_keys), source)


def _answered(
    desk: Desk, scope: Scope, question: Question, source: RandomSource, columns: Sequence[str] | None = None
) -> Release | NoReply:
    """The reply of a desk without a ledger."""
    reply: Release | NoReply = desk.answer(desk.price(scope, question, source, columns))
    return reply


def column_names(columns: object) -> tuple[str, ...]:
    """The names of columns: of one, or of several in a list."""
    named = (columns,) if isinstance(columns, str) else tuple(columns) if isinstance(columns, Iterable) else ()
    if not named or not all(isinstance(name, str) for name in named):
        raise InvalidParameterError("columns must list names of columns, such as ['age', 'region'].")
    return named


def _refuse_names(statistic: Statistic, data: Sequence[object]) -> None:
    """Raise where a text stands for rows: it is a column's name, or the data came before the first parameter."""
    if any(isinstance(each, str) for each in data):
        words = ", ".join(call_words(statistic, "data"))
        raise DataTypeError(
            f"data must hold rows, got a single str: call {statistic.name}({words}), with data such as df['wage']."
        )


def _on_columns(question: Question, given: Sequence[object]) -> tuple[Question, list[object]]:
    """The question with the names of its columns, the outcome last, and these columns; an error where they do not fit it."""
    if question.statistic.has_outcome:
        return _with_features(question, *given)
    features = [each for container in given for each in features_of(container)]
    names = [_feature_name(each) for each in features]
    check_columns(question.statistic, names)
    return question.on(names), [each.raw_values for each in features]


def _with_features(question: Question, raw_features: object, raw_outcome: object) -> tuple[Question, list[object]]:
    """The same, of features and their outcome."""
    for word, given in (("y", raw_outcome), ("X", raw_features)):
        if isinstance(given, str):
            raise DataTypeError(
                f"{word} must hold rows, got a single str: pass {_COLUMNS_OF_A_FRAME[word]}, "
                "or name columns in a formula: dp.regression('wage ~ age', df)."
            )
    features = features_of(raw_features)
    names = [_feature_name(each) for each in features]
    check_columns(question.statistic, [*names, _name(raw_outcome)], "leave one out, or rename one: y.rename('...')")
    named = (*names, _label(raw_outcome))
    if question.statistic.reads_codes:  # their columns are known by name
        named = _all_named(named)
    return question.on(named), [*(each.raw_values for each in features), raw_outcome]


def _all_named(names: Sequence[str]) -> tuple[str, ...]:
    """Names for all columns: those without one are called x1, x2 ... and the outcome y, or like that where it is taken."""
    *features, outcome = names
    given = [name or free_name(f"x{place}", names) for place, name in enumerate(features, 1)]
    return (*given, outcome or free_name("y", given))


def _feature_name(feature: Feature) -> str:
    """What its container calls a column, or it calls itself."""
    return _name(feature.raw_values) if feature.name is None else _printable(feature.name)


def _label(data: Any) -> str:
    """The name that a Series carries, cut off where it is long."""
    return shortened(_name(data), _LONGEST_LABEL)


def _name(data: Any) -> str:
    """The name that a Series carries, which is as public as a column name; empty where it has none."""
    try:
        return _printable(getattr(data, "name", ""))
    except Exception:  # a container's own property may raise, and its text may carry data
        return ""


def _printable(name: object) -> str:
    """A name, if it could not break a card's lines."""
    return name if isinstance(name, str) and name.isprintable() else ""
