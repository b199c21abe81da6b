"""The reader of documents: checks everything about a question that can be known without its table.

Every complaint names the place in the document that it is about, and an unknown name gets the nearest one that there is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.documents.document import (
    AMOUNT,
    COLUMN_WORDS,
    FORMULA_WORDS,
    LINEAR,
    REGRESSION,
    VERSION,
    WORDS,
    QuestionDocument,
)
from dpstats.curator.documents.values import (
    canonical_parameters,
    named,
    plain_copy,
    read_json,
    refuse_unknown,
    refuse_unknown_one,
)
from dpstats.curator.formulas import MODELS, statistic_of
from dpstats.engines.complaints import shown
from dpstats.foundations.arguments import check_columns
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.json_types import fits, json_type_of
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon
from dpstats.foundations.registry import (
    AUTO,
    INTERVAL,
    OTHER_NAMES,
    Parameter,
    checked_level,
    checked_rough,
    find_statistic,
    statistic_names,
)


def read_document(given: object) -> QuestionDocument:
    """The question that a document states: a dict of plain JSON values, or JSON text, whose numbers are read as written.

    One that was read already is taken as it is.
    """
    if isinstance(given, QuestionDocument):
        return given
    plain = plain_copy(read_json(given) if isinstance(given, (str, bytes)) else given)
    if not isinstance(plain, dict):
        raise InvalidParameterError('the document must be an object such as {"version": 1, "statistic": "median", ...}.')
    found = checked_document(plain)
    for parameter in own_parameters(found.statistic, found.model):
        value = plain.get("parameters", {}).get(parameter.name)
        if parameter.name in plain.get("parameters", {}) and not fits(value, json_type_of(parameter)):
            raise InvalidParameterError(f"parameters.{parameter.name} is of another JSON type than it can be: {parameter.help}.")
    return found


def checked_document(plain: Mapping[str, Any]) -> QuestionDocument:
    """The question that a document states, whose parameters may be values of Python too."""
    for name in plain:
        if name not in WORDS:
            refuse_unknown("a question", name, WORDS)
    if type(plain.get("version")) is not int or plain["version"] != VERSION:
        raise InvalidParameterError(f'version must be {VERSION}, which is the form of documents that is read here: "version": 1.')
    statistic = _statistic_name(plain.get("statistic"))
    formula, model = _formula(statistic, plain)
    method = plain.get("method", AUTO)
    behind = statistic_of(model) if statistic == REGRESSION else find_statistic(statistic)
    if method != AUTO and method not in [*behind.methods]:
        behind.refuse_retired(method)
        refuse_unknown(f"method of {statistic}", method, [AUTO, *behind.methods])
    parameters = _object(plain, "parameters")
    if statistic == REGRESSION and "intercept" in parameters:
        raise InvalidParameterError("parameters.intercept: a formula says itself whether it has an intercept: write - 1 in it.")
    if "epsilon" not in plain:
        raise MissingParameterError('epsilon is missing, the privacy that the answer may spend: for example "epsilon": "0.5".')
    group = _object(plain, "group_by")
    for name in group:
        if name not in ("columns", "keys"):
            refuse_unknown("group_by", name, ("columns", "keys"))
    with named("interval"):
        interval = checked_level(plain.get("interval", INTERVAL))
    with named("rough"):
        rough = checked_rough(plain.get("rough", False))
    return QuestionDocument(
        statistic,
        _columns(statistic, plain),
        canonical_parameters(own_parameters(statistic, model), parameters, model if formula else statistic),
        spendable_epsilon(_amount(plain["epsilon"], "epsilon")),
        spendable_delta(_amount(plain.get("delta", 0), "delta")),
        method,
        interval,
        formula,
        model,
        _labels_by_name(_object(plain, "levels"), "levels"),
        _derived(_list(plain, "with_columns")),
        _texts(plain, "where"),
        _texts(plain, "select"),
        _texts(group, "columns", "group_by.", required="group_by" in plain),
        _keys(group.get("keys")),
        rough,
    )


def own_parameters(statistic: str, model: str) -> tuple[Parameter, ...]:
    """The parameters of a statistic; of a formula those of its model, but for the intercept."""
    if statistic != REGRESSION:
        return find_statistic(statistic).parameters
    return tuple(each for each in statistic_of(model).parameters if each.name != "intercept")


def _statistic_name(name: object) -> str:
    names = [*statistic_names(), REGRESSION]
    if name is None:
        raise MissingParameterError('statistic is missing: for example "statistic": "median".')
    if type(name) is not str or name not in names:
        refuse_unknown_one("statistic", name, names, OTHER_NAMES)
    return name


def _formula(statistic: str, plain: Mapping[str, Any]) -> tuple[str | None, str]:
    """The formula of a regression, and its model; None for a statistic of columns."""
    if statistic != REGRESSION:
        for name in FORMULA_WORDS:
            if name in plain:
                raise InvalidParameterError(f'{name} is for the statistic "{REGRESSION}": leave it out.')
        return None, LINEAR
    for name in COLUMN_WORDS:
        if name in plain:
            raise InvalidParameterError(f"{name}: the formula names the columns of a regression: leave it out.")
    formula, model = plain.get("formula"), plain.get("model", LINEAR)
    if type(formula) is not str or not formula:
        raise MissingParameterError('formula must be a text such as "income ~ age + C(region)".')
    if type(model) is not str or model not in MODELS:
        refuse_unknown_one("model", model, MODELS)
    return formula, model


def _columns(statistic: str, plain: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a statistic; features and then their outcome."""
    if statistic == REGRESSION:
        return ()
    found = find_statistic(statistic)
    wanted = ("features", "outcome") if found.has_outcome else ("columns",)
    for name in COLUMN_WORDS:
        if name in plain and name not in wanted:
            raise InvalidParameterError(f"{name}: {statistic} takes {' and '.join(wanted)}: leave it out.")
    if not found.has_outcome:
        names = _texts(plain, "columns")
        if found.takes_tables and not names:  # all columns of the table
            return names
        if found.takes_only_columns:
            with named("columns"):
                check_columns(found, names)
        elif len(names) != len(found.reads) and (names or not found.only_counts):
            example = '["income"]' if len(found.reads) == 1 else '["income", "age"]'
            raise InvalidParameterError(f"columns must be a list of {len(found.reads)} for {found.name}, such as {example}.")
        return names
    outcome = plain.get("outcome")
    if type(outcome) is not str or not outcome:
        raise MissingParameterError(f'outcome must name a column: {statistic} takes features and "outcome": "income".')
    names = (*_texts(plain, "features", required=True), outcome)
    with named("features"):
        check_columns(found, names)
    return names


def _amount(value: Any, name: str) -> Any:
    """What a document gives for epsilon or delta; texts are written in one way."""
    if isinstance(value, str) and not re.fullmatch(AMOUNT, value):
        raise InvalidParameterError(f'{name} must be a number, or a text such as "0.2", "1e-7" or "1/3".')
    return value


def _object(plain: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = plain.get(name, {})
    if not isinstance(value, dict):
        raise InvalidParameterError(f"{name} must be an object.")
    return value


def _list(plain: Mapping[str, Any], name: str, place: str = "") -> list[Any]:
    value = plain.get(name, [])
    if not isinstance(value, list):
        raise InvalidParameterError(f"{place}{name} must be a list.")
    return value


def _texts(plain: Mapping[str, Any], name: str, place: str = "", *, required: bool = False) -> tuple[str, ...]:
    """A list of texts, none of them empty; `required` asks for one at least."""
    listed = _list(plain, name, place)
    for number, each in enumerate(listed):
        if type(each) is not str or not each:
            raise InvalidParameterError(f"{place}{name}[{number}] must be a text.")
    if required and not listed:
        raise MissingParameterError(f"{place}{name} must list a column at least.")
    return tuple(listed)


def _derived(listed: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    for place, each in enumerate(listed):
        if (
            not isinstance(each, dict)
            or each.keys() != {"name", "expression"}
            or not all(type(text) is str for text in each.values())
        ):
            raise InvalidParameterError(
                f'with_columns[{place}] must be an object such as {{"name": "rate", "expression": "income / hours"}}.'
            )
    return tuple((each["name"], each["expression"]) for each in listed)


def _labels_by_name(labelled: Mapping[str, Any], place: str) -> dict[str, list[Any]]:
    for name, labels in labelled.items():
        _check_labels(labels, f"{place}.{shown(name)}")
    return {name: [*labels] for name, labels in labelled.items()}


def _keys(keys: Any) -> Any:
    """Public keys of groups: a list of labels, or of one list of labels for each group, or the labels of each column by name."""
    if keys is None:
        return None
    if isinstance(keys, dict):
        return _labels_by_name(keys, "group_by.keys")
    if isinstance(keys, list) and keys and all(isinstance(key, list) for key in keys):
        for place, key in enumerate(keys):
            _check_labels(key, f"group_by.keys[{place}]")
        return keys
    _check_labels(keys, "group_by.keys")
    return keys


def _check_labels(labels: Any, path: str) -> None:
    if not isinstance(labels, list) or not labels:
        raise InvalidParameterError(f'{path} must be a list of labels, such as ["north", "south"].')
    for place, label in enumerate(labels):
        if type(label) not in (bool, int, float, str):
            raise InvalidParameterError(f"{path}[{place}] must be a text, a number, true or false.")
