"""What can be asked: the statistics of the registry as methods on named columns."""

from __future__ import annotations

import datetime
import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.classifier_words import ClassifierWords
from dpstats.curator.desk import Document, Priced
from dpstats.curator.documents.document import CLASSIFICATION, REGRESSION
from dpstats.curator.formula_classifiers import classifier_call
from dpstats.curator.formula_words import FormulaWords
from dpstats.foundations.arguments import (
    check_columns,
    column_words,
    refuse_parameters_among_columns,
    split_parameters,
    take_columns,
)
from dpstats.foundations.calls import FIXED, Caller, documentation, signature
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.registry import AUTO, INTERVAL, OTHER_NAMES, Statistic, find_statistic, statistic_names
from dpstats.foundations.words import likely_name, taken_words

if TYPE_CHECKING:
    from dpstats.curator.desk import Desk
    from dpstats.curator.scope import Scope

_OTHER_NAMES = {"filter": "where", "query": "where", "groupby": "group_by", **OTHER_NAMES}


class Asker:
    """Something that answers questions about a protected table: its statistics are methods."""

    _table: Desk
    _scope: Scope

    def document(self, statistic: str, *given: object, **keywords: Any) -> dict[str, Any]:
        """A question as a document, from what its method takes. Asks nothing."""
        raise NotImplementedError

    def _price(
        self, statistic: Statistic, columns: tuple[str, ...], positional: tuple[object, ...], keywords: Mapping[str, Any]
    ) -> Priced:
        """Check and price one question; `keywords` has epsilon, delta, method, interval, rough, rng and the statistic's own
        parameters.

        There are as many columns as the statistic reads, or where it only counts rows perhaps none; features come before the
        outcome. What is in `positional` are parameters, a first one among them.
        """
        raise NotImplementedError

    def _price_regression(self, asked: FormulaWords) -> Priced:
        """Check and price a regression by a formula."""
        raise NotImplementedError

    def _price_classification(self, asked: ClassifierWords) -> Priced:
        """Check and price a classifier by a formula: the question of the classifier itself about columns that are derived."""
        call = classifier_call(asked, self._scope, self._table.public_keys, [self._table.protection.unit])
        asker = copy(self)
        asker._scope = call.scope
        *features, outcome = call.columns
        words = {**call.parameters, **asked.common(), "rng": asked.rng}
        return priced_call(asker, call.statistic.name, (features, outcome), words).finished_by(call.attached)

    def _recorded(self, statistic: str, given: Sequence[object], keywords: Mapping[str, Any]) -> Document:
        """Makes the document of the question that a call asks."""
        return partial(self.document, statistic, *given, **{name: value for name, value in keywords.items() if name != "rng"})

    if not TYPE_CHECKING:  # a type checker reads what there is in statistic_methods.pyi

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("_") or name not in statistic_names():
                near = None if name.startswith("_") else likely_name(name, dir(self), _OTHER_NAMES)
                hint = f"did you mean {near}?" if near else "dir() lists what there is."
                raise AttributeError(f"a {type(self).__name__} has no {name!r}; {hint}")
            return _method(self, find_statistic(name))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *statistic_names()})


def _method(asker: Asker, statistic: Statistic) -> Callable[..., Any]:
    """The statistic as a method of an asker."""

    def answer(*given: object, **words: object) -> Any:
        return asker._table.answer(priced_call(asker, statistic.name, given, words))

    answer.__name__ = answer.__qualname__ = statistic.name
    answer.__doc__, answer.__signature__ = _described(statistic)  # type: ignore[attr-defined]
    return answer


def priced_call(asker: Asker, name: str, given: Sequence[object], words: Mapping[str, Any]) -> Priced:
    """The question that a method of an asker would ask if it were called like this, at its price; nothing is read or spent."""
    if name == SKETCH:
        return priced_call(asker, "synthesize", given, sketched(**words))
    if name in _BY_FORMULA:
        taken, price = _BY_FORMULA[name]
        return price(asker, taken_words(name, taken, given, words))
    statistic, parameters = find_statistic(name), {word: value for word, value in words.items() if word not in _COMMON}
    refuse_fixed_words(parameters)
    keywords = {**_COMMON, **words}
    document = asker._recorded(name, given, keywords)
    columns, positional = columns_among(statistic, tuple(given), parameters)
    common = {word: keywords[word] for word in _COMMON}
    return replace(asker._price(statistic, columns, positional, {**common, **parameters}), document=document)


def sketched(*, epsilon: Any = 0.1, **words: Any) -> dict[str, Any]:
    """What `synthesize` takes for rough rows to write formulas on."""
    return {**words, "epsilon": epsilon, "guide": True, "rough": True}


SKETCH = "sketch"
_COMMON = {"epsilon": None, "delta": 0, "method": AUTO, "interval": INTERVAL, "rough": False, "rng": None}
"""What all statistics take by name, with what a method takes where it is left out."""
_BY_FORMULA: dict[str, tuple[Any, Callable[[Any, Any], Priced]]] = {
    REGRESSION: (FormulaWords, lambda asker, asked: asker._price_regression(asked)),
    CLASSIFICATION: (ClassifierWords, lambda asker, asked: asker._price_classification(asked)),
}
"""Questions by a formula, with their words and what prices them."""

_DESCRIBED: dict[str, tuple[Statistic, str, inspect.Signature]] = {}


def _described(statistic: Statistic) -> tuple[str, inspect.Signature]:
    """The help and the signature of a statistic's method, worked out once: a service makes such a method for every question."""
    known = _DESCRIBED.get(statistic.name)
    if known is None or known[0] is not statistic:
        known = (statistic, documentation(statistic, Caller.METHOD), signature(statistic, Caller.METHOD))
        _DESCRIBED[statistic.name] = known
    return known[1:]


def refuse_fixed_words(keywords: Mapping[str, Any]) -> None:
    """Raise about words that were said when the table was protected."""
    for word in keywords.keys() & set(FIXED):
        raise InvalidParameterError(f"{word} was fixed when the table was protected: leave it out.")


def columns_among(
    statistic: Statistic, given: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of a question's columns, and what comes by position after them; an error where they are none."""
    words = column_words(statistic, "column")
    columns, positional = take_columns(statistic, "column", given, keywords)
    refuse_code(statistic, positional, keywords)
    if statistic.only_counts and columns in ([], [None]):
        return (), positional
    if statistic.takes_tables and columns in ([], [None]):
        return (), positional
    if statistic.takes_only_columns:
        return _one_or_several(statistic, columns), positional
    if statistic.takes_features:
        return _features_and_outcome(statistic, columns), positional
    if len(columns) < len(words) or None in columns:
        needs, names = ("a column", "'income'") if len(words) == 1 else ("two columns", "'income', 'age'")
        if statistic.takes_conditions:
            needs, names = "a column or a condition", "'hours > 0'"
        raise MissingParameterError(f"{statistic.name} needs {needs}: for example {statistic.name}({names}, epsilon=0.2).")
    if any(type(column) is not str for column in columns):
        takes = "the name of a column, such as 'income'" if len(words) == 1 else "the names of two columns"
        raise InvalidParameterError(f"{statistic.name} takes {takes}, and then its parameters.")
    return tuple(columns), positional


def _features_and_outcome(statistic: Statistic, given: list[Any]) -> tuple[str, ...]:
    """The names of the features, of which there may be one without a list around it, and after them that of the outcome."""
    example = f"{statistic.name}(['age', 'schooling'], 'income', epsilon=0.2)"
    if len(given) < 2 or any(each is None for each in given):
        raise MissingParameterError(f"{statistic.name} needs features and an outcome: for example {example}.")
    features, outcome = given
    names = (*features, outcome) if isinstance(features, (list, tuple)) else (features, outcome)
    if any(type(name) is not str for name in names):
        raise InvalidParameterError(f"{statistic.name} takes the names of its features, and of its outcome: {example}.")
    check_columns(statistic, names)
    return names


def _one_or_several(statistic: Statistic, given: list[Any]) -> tuple[str, ...]:
    """The names of columns without an outcome, each by itself or in a list."""
    first = "".join(f"{each.name}, " for each in split_parameters(statistic)[0])
    example = f"{statistic.name}({first}'income', epsilon=0.2), or for several columns ['age', 'income']"
    if not given or given[0] is None:
        raise MissingParameterError(f"{statistic.name} needs a column: for example {example}.")
    refuse_parameters_among_columns(statistic, given)
    names = tuple(name for each in given for name in (each if isinstance(each, (list, tuple)) else [each]))
    if any(type(name) is not str for name in names):
        raise InvalidParameterError(f"{statistic.name} takes the names of its columns: {example}.")
    check_columns(statistic, names)
    return names


def refuse_code(statistic: Statistic, positional: Sequence[object], keywords: Mapping[str, object]) -> None:
    """Raise where a parameter is something that could run: who asks brings texts, numbers, and lists or dicts of them."""
    own = dict(zip((each.name for each in statistic.parameters), positional, strict=False))
    own |= {each.name: keywords[each.name] for each in statistic.parameters if each.name in keywords}
    for name, value in own.items():
        if not _is_plain(value):
            raise InvalidParameterError(
                f"a session runs no code of its own askers: give {name} by name, or by plain texts and numbers, "
                f"not by a {type(value).__name__}."
            )


def _is_plain(value: Any) -> bool:
    if value is None or isinstance(value, (str, Number, datetime.date, datetime.time, datetime.timedelta, enum.Enum)):
        return True
    if isinstance(value, Mapping):
        return all(map(_is_plain, [*value, *value.values()]))
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return all(map(_is_plain, value))
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None) or getattr(value, "to_pylist", None)
    return not callable(value) and callable(to_list) and _is_plain(to_list())  # an array, or a Series
