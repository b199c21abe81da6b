"""`dp.median(x)`, `dp.covariance(x, y)`, `dp.linear_regression(X, y)`, `dp.mle("gamma", x)`: arrays, one question, no ledger.

Each function here is made from the registry. It checks and prices the question first, and only then looks at the data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import dpstats.statistics  # noqa: F401  (fills the registry)
from dpstats.curator.desk import Desk
from dpstats.curator.scope import Scope
from dpstats.engines.tables.features import Feature, features_of
from dpstats.engines.tables.given import GivenStore
from dpstats.engines.views import TableView
from dpstats.foundations.arguments import (
    call_words,
    check_columns,
    column_words,
    refuse_missing,
    refuse_parameters_among_columns,
    split_parameters,
    take_columns,
)
from dpstats.foundations.errors import DataTypeError, UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import AUTO, INTERVAL, Question, Reads, Statistic, ask, find_statistic
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.summaries import MISSING_POLICY
from dpstats.foundations.text_tables import headed_lines, shortened

StatisticFunction = Callable[..., Release | NoReply]

_LONGEST_LABEL = 60
_COMMON_HELP = {
    "epsilon": "the privacy that the answer spends; required, for example 0.5",
    "delta": "for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it",
    "neighbors": "'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)",
    "method": "the method by name; 'auto' takes the first one listed below, or the one that a given delta serves",
    "interval": "the confidence level of the interval, or None for none",
    "unit": "what one row stands for, in words, for the card",
    "rng": "dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise",
}
_CONTAINERS = "a list, a numpy array, a pandas or polars Series, an arrow array"
_SEVERAL = (
    "a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, "
    "a list of rows, a list of arrays or Series, each a column, or one column alone"
)
_MORE = "more"
"""The word for further columns."""
_COLUMNS_OF_A_FRAME = {"X": "df[['age', 'schooling']]", "y": "df['wage']"}
_KINDS = {
    Reads.NUMBERS: "numbers",
    Reads.LABELS: "values of any type",
    Reads.EITHER: "numbers, or values of any other type",
    Reads.FEATURES: "numbers",
}


def function_for(name: str) -> StatisticFunction:
    """The statistic of that name as a function of an array, or of several of the same rows."""
    statistic = find_statistic(name)

    def answer(*given: object, rng: RandomSource | None = None, **words: Any) -> Release | NoReply:
        source = source_or_system(rng)
        return answer_given(*priced(statistic, given, words), source)

    answer.__name__ = answer.__qualname__ = name
    answer.__module__ = "dpstats"
    answer.__doc__ = documentation(statistic)
    answer.__signature__ = signature(statistic)  # type: ignore[attr-defined]
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
    numeric = scope.reads_numbers(question, store.names)
    if not statistic.only_counts:
        store.check(numeric, question.columns if statistic.takes_features else (), has_outcome=statistic.has_outcome)
    return Desk(store, store.columns).answer(scope, question.settled(numeric[0]), source, store.names)


def signature(statistic: Statistic) -> inspect.Signature:
    """How the statistic's function is called, for `help` and editors."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            *_by_position(statistic),
            inspect.Parameter("epsilon", keyword, annotation=float),
            inspect.Parameter("delta", keyword, default=0, annotation=float),
            inspect.Parameter("neighbors", keyword, default=Neighbors.ADD_REMOVE.value, annotation=str),
            inspect.Parameter("method", keyword, default=AUTO, annotation=str),
            inspect.Parameter("interval", keyword, default=INTERVAL, annotation=float | None),
            inspect.Parameter("unit", keyword, default="row", annotation=str),
            inspect.Parameter("rng", keyword, default=None, annotation=RandomSource | None),
        ],
        return_annotation=Release | NoReply,
    )


def _by_position(statistic: Statistic) -> list[inspect.Parameter]:
    """The data and the statistic's own parameters; after columns without an outcome these go by name."""
    either, only_columns = inspect.Parameter.POSITIONAL_OR_KEYWORD, statistic.takes_only_columns
    first, others = split_parameters(statistic)
    data_kind = either if first else inspect.Parameter.POSITIONAL_ONLY
    own_kind = inspect.Parameter.KEYWORD_ONLY if only_columns else either
    more = inspect.Parameter(_MORE, inspect.Parameter.VAR_POSITIONAL, annotation=object)
    return [
        *(inspect.Parameter(parameter.name, either) for parameter in first),
        *(inspect.Parameter(word, data_kind, annotation=object) for word in column_words(statistic, "data")),
        *([more] if only_columns else []),
        *(inspect.Parameter(parameter.name, own_kind, default=parameter.default) for parameter in others),
    ]


def documentation(statistic: Statistic) -> str:
    """The docstring of the statistic's function: what it is, what it takes, what it claims."""
    first, others = split_parameters(statistic)
    rows = {parameter.name: parameter.help for parameter in first}
    rows |= _data_help(statistic)
    rows |= {parameter.name: parameter.help for parameter in others}
    lines = [
        f"{statistic.summary.rstrip('.')}.",
        "",
        "Parameters",
        *headed_lines(rows | _COMMON_HELP),
        "",
        "Methods and what they claim",
    ]
    lines += headed_lines({method.name: method.claim for method in statistic.methods.values()})
    lines += [
        "",
        f"Returns {f'{statistic.returns}, in ' if statistic.returns else ''}a Release, or a NoReply at the same cost.",
        "What several calls cost adds up, and nothing here keeps count.",
    ]
    return "\n".join(lines)


def _data_help(statistic: Statistic) -> dict[str, str]:
    """What the columns may be; the first one's line says what holds for all."""
    names = column_words(statistic, "data")
    helps = dict(zip(names, (_KINDS[reads] for reads in statistic.reads), strict=True))
    if statistic.takes_only_columns:
        return {
            names[0]: f"{helps[names[0]]}: {_CONTAINERS}; of several columns {_SEVERAL}; "
            f"a row that is missing in one column is left out of all; {MISSING_POLICY}",
            f"*{_MORE}": "further columns of the same rows in the same order, such as the outcome of a regression",
        }
    if len(names) == 1:
        return {name: f"{kind}: {_CONTAINERS}; {MISSING_POLICY}" for name, kind in helps.items()}
    if statistic.takes_features:
        return {
            names[0]: f"the features: {_SEVERAL}; a row that is missing in one column is left out of all; {MISSING_POLICY}",
            names[1]: f"the outcome, {helps[names[1]]}: {_CONTAINERS}, of the same rows in the same order",
        }
    helps[names[0]] += f": {_CONTAINERS}; a row that is missing in one column is left out of all; {MISSING_POLICY}"
    helps[names[1]] += ", of the same rows in the same order"
    return helps


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
    return question.on((*names, _label(raw_outcome))), [*(each.raw_values for each in features), raw_outcome]


def _feature_name(feature: Feature) -> str:
    """What its container calls a column, or it calls itself."""
    return _name(feature.raw_values) if feature.name is None else _printable(feature.name)


def _label(data: Any) -> str:
    """The name that a Series carries, cut off where it is long."""
    name = _name(data)
    return shortened(name, _LONGEST_LABEL)


def _name(data: Any) -> str:
    """The name that a Series carries, which is as public as a column name; empty where it has none."""
    try:
        return _printable(getattr(data, "name", ""))
    except Exception:  # a container's own property may raise, and its text may carry data
        return ""


def _printable(name: object) -> str:
    """A name, if it could not break a card's lines."""
    return name if isinstance(name, str) and name.isprintable() else ""
