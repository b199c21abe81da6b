"""The columns among the arguments of a statistic: what they are called, and which arguments they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import Reads, Statistic

_TWO_WORDS = {
    (Reads.NUMBERS, Reads.LABELS): ("values", "by"),
    (Reads.LABELS, Reads.LABELS): ("rows", "columns"),
    (Reads.FEATURES, Reads.NUMBERS): ("X", "y"),
}


def column_words(statistic: Statistic, single: str) -> tuple[str, ...]:
    """What the columns of a statistic are called, where a single one is called `single`."""
    if len(statistic.reads) == 1:
        return (single,)
    first, second = statistic.reads
    return _TWO_WORDS.get((first, second), ("x", "y"))


def take_columns(words: tuple[str, ...], given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """The columns, given by position or by their words, and what comes by position after them; fewer where some are left out.

    Those that were given by their words are taken out of `keywords`.
    """
    columns = list(given[: len(words)])
    for word in words[len(columns) :]:
        if word not in keywords:
            break
        columns.append(keywords.pop(word))
    return columns, given[len(words) :]


def check_features(statistic: Statistic, columns: Sequence[str], most: int, remedy: str = "leave one out") -> None:
    """Raise unless there are from one to `most` features before the outcome, each of them named once and none the outcome.

    Columns without a name, "", may be any. `remedy` says what to do about an outcome that is also a feature.
    """
    *features, outcome = columns
    if not 1 <= len(features) <= most:
        raise InvalidParameterError(f"{statistic.name} takes from 1 to {most} features.")
    if outcome and outcome in features:
        raise InvalidParameterError(f"{outcome!r} is the outcome of {statistic.name} and one of its features: {remedy}.")
    for name in features:
        if name and features.count(name) > 1:
            raise InvalidParameterError(f"{statistic.name} got the feature {name!r} twice: name each once.")
