"""Asking by documents: the same questions as the methods of sessions and groups, at the same price and from the same archive."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpstats.curator.asker import Asker, columns_among, priced_call, refuse_code
from dpstats.curator.desk import Priced
from dpstats.curator.documents.document import (
    LINEAR,
    PRICE_WORDS,
    REGRESSION,
    SCOPE_WORDS,
    VERSION,
    QuestionDocument,
    column_words,
)
from dpstats.curator.documents.reading import checked_document
from dpstats.curator.documents.values import named, plain_copy, refuse_unknown
from dpstats.curator.formulas import statistic_of
from dpstats.curator.scope import Scope
from dpstats.engines.moments import moment_text
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import OTHER_NAMES, find_statistic, refuse_surplus, statistic_names


def narrowed_scope(scope: Scope, document: QuestionDocument) -> Scope:
    """A scope with the derived columns, the conditions and the selection of a document."""
    for place, (name, expression) in enumerate(document.derived):
        with named(f"with_columns[{place}]"):
            scope = scope.with_columns({name: expression})
    for place, condition in enumerate(document.where):
        with named(f"where[{place}]"):
            scope = scope.where(condition)
    with named("select"):
        return scope.only(document.select) if document.select else scope


def refuse_scope(document: QuestionDocument) -> None:
    """Raise where a document that is put to groups narrows the table, or groups it, once more."""
    for word in SCOPE_WORDS:
        if word in document.to_dict():
            raise InvalidParameterError(f"{word}: these groups are made already: ask the session itself, or leave {word} out.")


def price_by_document(asker: Asker, scope: Scope, document: QuestionDocument, rng: RandomSource | None) -> Priced:
    """The question of a document, priced by an asker that is narrowed to the document's scope already."""
    keywords = {**document.parameters, **{word: getattr(document, word) for word in PRICE_WORDS}, "rng": rng}
    if document.formula is not None:
        by_formula = {"model": document.model, "levels": document.levels or None, **keywords}
        return priced_call(asker, REGRESSION, (document.formula,), by_formula)
    words = document.column_words()
    for word, names in words.items():
        with named(word):
            listed = [names] if isinstance(names, str) else names
            readable, listed = scope.with_conditions(find_statistic(document.statistic), listed)
            for name in listed:
                readable.kind_of(name)
    several = words and find_statistic(document.statistic).takes_only_columns
    columns = [words["columns"]] if several else words.get("columns", list(words.values()))
    return priced_call(asker, document.statistic, columns, keywords)


def record_question(
    scope: Scope, group: Mapping[str, Any], statistic: object, given: Sequence[object], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """The document of the question that a method call asks about a scope; `group` is what it says of groups."""
    words = dict(keywords)
    for word in words.keys() & {"rng", "neighbors", "unit"}:
        raise InvalidParameterError(f"a document has no {word}: leave it out.")
    price = {word: words.pop(word) for word in PRICE_WORDS if word in words}
    if statistic == REGRESSION:
        own = _formula_words(given, words)
    else:
        if type(statistic) is not str or statistic not in statistic_names():
            refuse_unknown("a session", statistic, [*statistic_names(), REGRESSION], OTHER_NAMES)
        own = _column_words(scope, statistic, given, words)
    every_column = list(scope.view.columns)
    narrowed = {
        "with_columns": [{"name": name, "expression": str(each)} for name, each in scope.view.derived.items()],
        "where": [str(each) for each in scope.view.conditions],
        "select": [] if list(scope.columns) == every_column else list(scope.columns),
    }
    document = {"version": VERSION, "statistic": statistic, **own, **price, **narrowed, **group}
    return checked_document(document).to_dict()


def grouped_words(columns: Sequence[str], keys: Sequence[Sequence[Any]] | None) -> dict[str, Any]:
    """What a document says of groups; None for keys that need not be listed."""
    if keys is None:
        return {"group_by": {"columns": list(columns)}}
    listed = [key[0] for key in keys] if len(columns) == 1 else [list(key) for key in keys]
    return {"group_by": plain_copy({"columns": list(columns), "keys": listed}, "group_by")}


def _column_words(scope: Scope, name: str, given: Sequence[object], words: dict[str, Any]) -> dict[str, Any]:
    """The columns and parameters of a statistic that is called like this."""
    statistic = find_statistic(name)
    columns, positional = columns_among(statistic, tuple(given), words)
    refuse_surplus(statistic, positional, "the columns")
    parameters = dict(zip((each.name for each in statistic.parameters), positional, strict=False))
    for twice in parameters.keys() & words.keys():
        raise InvalidParameterError(f"{name} got {twice} twice.")
    if columns or not statistic.takes_tables:
        scope, columns = scope.with_conditions(statistic, columns)
        scope.check(statistic, columns)
    return {**column_words(statistic, columns), "parameters": {**parameters, **words}}


def _formula_words(given: Sequence[object], words: dict[str, Any]) -> dict[str, Any]:
    """The formula, model, levels and parameters of a regression that is called like this."""
    if len(given) > 1:
        raise InvalidParameterError("a regression takes its formula, and all the rest by name.")
    formula = given[0] if given else words.pop("formula", None)
    model, levels = words.pop("model", LINEAR), words.pop("levels", None) or {}
    refuse_code(statistic_of(model), (), words)
    if not isinstance(levels, Mapping):
        raise InvalidParameterError("levels must be a dict from columns to their labels, such as {'region': ['north', 'south']}.")
    listed = {name: [_plain_level(level) for level in labels] for name, labels in levels.items()}
    return {"formula": formula, "model": model, "levels": listed, "parameters": words}


def _plain_level(level: Any) -> Any:
    """A label of a category as JSON: dates as texts."""
    if isinstance(level, np.generic):
        level = level.item()
    return moment_text(level) if isinstance(level, datetime.date) else level
