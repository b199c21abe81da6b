"""The columns among the arguments of a statistic: what they are called, and which arguments they are.

A parameter that comes first stands before them. Where a statistic takes columns without an outcome, everything by position is a
column, and its other parameters go by name: mle("linear", X, y, blocks=100).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.registry import Parameter, Reads, Statistic

_TWO_WORDS = {
    (Reads.NUMBERS, Reads.LABELS): ("values", "by"),
    (Reads.LABELS, Reads.LABELS): ("rows", "columns"),
    (Reads.FEATURES, Reads.NUMBERS): ("X", "y"),
    (Reads.FEATURES, Reads.LABELS): ("X", "y"),
    (Reads.COLUMNS, Reads.LABELS): ("X", "y"),
}

TABLE_WORDS = {"data": "table", "column": "columns", "a column": "columns"}
"""What the columns of a whole table are called, where a single column is called so."""


def column_words(statistic: Statistic, single: str) -> tuple[str, ...]:
    """What the columns of a statistic are called, where a single one is called `single`."""
    if statistic.takes_tables:
        return (TABLE_WORDS[single],)
    if len(statistic.reads) == 1:
        return (single,)
    first, second = statistic.reads
    return _TWO_WORDS.get((first, second), ("x", "y"))


def call_words(statistic: Statistic, single: str) -> tuple[str, ...]:
    """What a statistic takes by position up to its last column: median(data), mle(family, data)."""
    first, _ = split_parameters(statistic)
    return (*(each.name for each in first), *column_words(statistic, single))


def split_parameters(statistic: Statistic) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """The parameters that come before the columns, of which there is one or none, and those after them."""
    place = int(statistic.parameter_first)
    return statistic.parameters[:place], statistic.parameters[place:]


def take_columns(
    statistic: Statistic, single: str, given: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[list[Any], tuple[Any, ...]]:
    """The columns, given by position or by their words, and the parameters by position; fewer columns where some are left out.

    Those that were given by their words are taken out of `keywords`.
    """
    words = column_words(statistic, single)
    before, after = take_first(statistic, given, keywords)
    at_most = len(after) if statistic.takes_only_columns else len(words)
    columns = list(after[:at_most])
    for word in words[len(columns) :]:
        if word not in keywords:
            break
        columns.append(keywords.pop(word))
    return columns, (*before, *after[at_most:])


def take_first(statistic: Statistic, given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What was given by position before the columns, and what from there on; a first parameter may also be given by name."""
    place = int(statistic.parameter_first and statistic.parameters[0].name not in keywords)
    return given[:place], given[place:]


def refuse_missing(statistic: Statistic, single: str, columns: int) -> None:
    """Raise where fewer columns are given than the statistic has words for."""
    words = column_words(statistic, single)
    for missing in words[columns:]:
        several = f": it takes {' and '.join(words)}, columns of the same rows" if len(words) > 1 else ""
        if statistic.parameter_first:
            several = f" after its {statistic.parameters[0].name}: {statistic.name}({', '.join(call_words(statistic, single))})"
        raise MissingParameterError(f"{statistic.name} needs {missing}{several}.")


def refuse_parameters_among_columns(statistic: Statistic, columns: Sequence[object]) -> None:
    """Raise where something after the first column is a number or nothing at all, and so is meant for a parameter."""
    if statistic.takes_only_columns and any(each is None or isinstance(each, (bool, int, float)) for each in columns[1:]):
        names = [f"{each.name}=" for each in split_parameters(statistic)[1]]
        raise InvalidParameterError(
            f"{statistic.name} takes its parameters by name after the columns: {', '.join([*names, 'epsilon='])}."
        )


def check_columns(statistic: Statistic, columns: Sequence[str], remedy: str = "leave one out") -> None:
    """Raise unless a statistic of features can take columns of these names; `remedy` as in `check_features`."""
    if statistic.has_outcome:
        check_features(statistic, columns, statistic.most_features, remedy)
        return
    if not 1 <= len(columns) <= statistic.most_features:
        raise InvalidParameterError(f"{statistic.name} takes from 1 to {statistic.most_features} columns.")
    _refuse_twins(statistic, columns, "column")


def check_features(statistic: Statistic, columns: Sequence[str], most: int, remedy: str = "leave one out") -> None:
    """Raise unless there are from one to `most` features before the outcome, each of them named once and none the outcome.

    Columns without a name, "", may be any. `remedy` says what to do about an outcome that is also a feature.
    """
    *features, outcome = columns
    if not 1 <= len(features) <= most:
        raise InvalidParameterError(f"{statistic.name} takes from 1 to {most} features.")
    if outcome and outcome in features:
        raise InvalidParameterError(f"{outcome!r} is the outcome of {statistic.name} and one of its features: {remedy}.")
    _refuse_twins(statistic, features, "feature")


def _refuse_twins(statistic: Statistic, names: Sequence[str], word: str) -> None:
    for name in names:
        if name and names.count(name) > 1:
            raise InvalidParameterError(f"{statistic.name} got the {word} {name!r} twice: name each once.")
