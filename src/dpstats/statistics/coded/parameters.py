"""Parameters of questions about whole tables: which levels and which bins their columns have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.json_types import LABEL, NOTHING, NUMBER, WHOLE, either, list_of, object_of
from dpstats.foundations.keys import are_distinct, plain_key
from dpstats.foundations.registry import Parameter, Question
from dpstats.statistics.histograms import checked_bins

Levels = tuple[tuple[str, tuple[Any, ...]], ...]
Bins = int | tuple[tuple[str, int | tuple[Fraction, ...]], ...]

MOST_LEVELS = 10_000
DEFAULT_BINS = 8
BOOLEAN, UNDECLARED, NUMERIC = "boolean", "undeclared", ("number", "integer")
"""Types of columns as a table declares them."""


def checked_levels(value: object) -> Levels:
    """The labels of columns, by their names."""
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InvalidParameterError("levels must give the labels of columns by name: {'region': ['north', 'south']}.")
    return tuple((name, _checked_labels(name, labels)) for name, labels in value.items())


def _checked_labels(name: str, labels: object) -> tuple[Any, ...]:
    if isinstance(labels, (str, Mapping)) or not isinstance(labels, Iterable):
        raise InvalidParameterError(f"levels[{name!r}] must be a list of labels, such as ['north', 'south'].")
    given = [plain_key(label) for label in labels]
    plain = [label for label in given if label is not None and not isinstance(label, tuple)]
    if len(plain) < len(given):
        raise InvalidParameterError(f"levels[{name!r}] must list texts, numbers, or True and False.")
    if not 1 <= len(plain) <= MOST_LEVELS or not are_distinct(plain):
        raise InvalidParameterError(f"levels[{name!r}] must list from 1 to {MOST_LEVELS:,} labels, each once.")
    return tuple(plain)


def checked_bins_by_column(value: object) -> Bins:
    """About how many bins columns of numbers have, or for each column by name a number of bins or a list of edges."""
    if not isinstance(value, Mapping):
        found = checked_bins(value)
        if not isinstance(found, int):
            raise InvalidParameterError("bins must be a number of bins, or give bins by column: {'age': [18, 30, 65]}.")
        return _at_least_two(found)
    return tuple((str(name), _checked_bins_of(str(name), bins)) for name, bins in value.items())


def _checked_bins_of(name: str, value: object) -> int | tuple[Fraction, ...]:
    found = checked_bins(value)
    if isinstance(found, int):
        return _at_least_two(found)
    edges = tuple(edge for edge in found if isinstance(edge, Fraction))
    if len(edges) < len(found):
        raise InvalidParameterError(f"bins[{name!r}] must be a number or edges; labels go into levels.")
    return edges


def _at_least_two(bins: int) -> int:
    if bins < 2:
        raise InvalidParameterError("bins must be 2 or more.")
    return bins


LEVELS = Parameter(
    "levels",
    "the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns "
    "of True and False have theirs; all others are found privately, which needs delta",
    checked_levels,
    None,
    either(object_of(list_of(LABEL)), NOTHING),
    by_name=True,
    takes=Mapping[str, Elements] | None,
)
BINS = Parameter(
    "bins",
    "about how many bins a column of numbers gets, which are found privately; or by column a number or a list of edges: "
    "{'age': [18, 30, 65]}",
    checked_bins_by_column,
    DEFAULT_BINS,
    either(WHOLE, object_of(either(WHOLE, list_of(NUMBER)))),
    by_name=True,
    takes=int | Mapping[str, int | Elements],
)


def levels_of(question: Question) -> dict[str, tuple[Any, ...]]:
    """The labels of columns that are known, by name."""
    return dict(question.arguments["levels"])


def bins_of(question: Question, name: str) -> int | tuple[Fraction, ...]:
    """How many bins a column of numbers gets, or their edges."""
    bins: Bins = question.arguments["bins"]
    return bins if isinstance(bins, int) else dict(bins).get(name, DEFAULT_BINS)


def settle_levels(question: Question, kinds: Mapping[str, str], keys: Mapping[str, Sequence[Any]]) -> Question:
    """The question about columns of these types, of which some have public keys: with all the levels that are known.

    Raises where a column declares no type, or where its levels must be found and there is no delta for that.
    """
    known = known_levels(question, kinds, keys)
    for name, kind in kinds.items():
        if kind == UNDECLARED and name not in known:
            raise DataTypeError(
                f"column {name!r} declares no type: declare it, such as types={{{name!r}: 'number'}}, or --types {name}=number "
                f"on the command line; or list its labels: levels={{{name!r}: [...]}}."
            )
    for name in _names_in(question.arguments.get("bins")):
        if name in levels_of(question):
            raise InvalidParameterError(f"levels and bins both name {name!r}: give its labels, or its bins.")
        if kinds[name] not in NUMERIC:
            raise DataTypeError(f"bins names column {name!r}, which is of type {kinds[name]}: list its labels in levels.")
    unknown = [name for name, kind in kinds.items() if name not in known and kind not in NUMERIC]
    if unknown and not question.delta:
        raise MissingParameterError(
            f"the labels of {', '.join(map(repr, unknown))} are not known. List them if they are public: "
            f"levels={{{unknown[0]!r}: [...]}}; or have them found privately, which needs delta: for example delta=1e-6."
        )
    return with_levels(question, known)


def known_levels(question: Question, kinds: Mapping[str, str], keys: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    """The labels of columns that are public: of True and False, declared keys, and those that are listed."""
    for name in [name for parameter in ("levels", "bins") for name in _names_in(question.arguments.get(parameter))]:
        if name not in kinds:
            raise InvalidParameterError(f"levels and bins name {name!r}, which is not one of the columns that are asked about.")
    known = {name: (False, True) for name, kind in kinds.items() if kind == BOOLEAN}
    known |= {name: _checked_labels(name, [*keys[name]]) for name in kinds if name in keys}
    known |= levels_of(question)
    return {name: known[name] for name in kinds if name in known}


def with_levels(question: Question, known: Mapping[str, tuple[Any, ...]]) -> Question:
    """The question with all the levels that are known."""
    return replace(question, arguments={**question.arguments, "levels": tuple(known.items())})


def _names_in(value: object) -> list[str]:
    return [name for name, _ in value] if isinstance(value, tuple) else []
