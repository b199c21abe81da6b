"""Public group keys: the list of groups that an asker or the data holder gives."""

from __future__ import annotations

import datetime
import itertools
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.groups.lookups import canonical_label
from dpstats.engines.moments import moment_text
from dpstats.foundations.errors import DataTypeError, InvalidParameterError

MOST_KEYS = 1_000_000

Key = tuple[Any, ...]


def listed_keys(scope: Scope, columns: Sequence[str], given: Any, declared: Mapping[str, Sequence[Any]]) -> list[Key] | None:
    """The public keys of some columns, or None where they have to be chosen privately."""
    if given is None:
        truths = {name: (False, True) if scope.kind_of(name) is ColumnType.BOOLEAN else None for name in columns}
        domains = [declared.get(name, truths[name]) for name in columns]
        return None if any(domain is None for domain in domains) else _combinations([domain or () for domain in domains])
    if isinstance(given, Mapping):
        if set(given) != set(columns):
            raise InvalidParameterError(
                f"keys must have a list for each of the columns {', '.join(map(shown, columns))}, and no other."
            )
        return _combinations([checked_values(name, scope.kind_of(name), given[name]) for name in columns])
    if len(columns) == 1:
        return [(value,) for value in checked_values(columns[0], scope.kind_of(columns[0]), given)]
    rows = [tuple(row) if isinstance(row, (list, tuple)) else (row,) for row in _items(given)]
    if not rows:
        raise InvalidParameterError("keys must name at least one group.")
    if any(len(row) != len(columns) for row in rows):
        raise InvalidParameterError(
            f"each key must have {len(columns)} values, one for each of {', '.join(map(shown, columns))}."
        )
    checked = [
        checked_values(name, scope.kind_of(name), values, distinct=False)
        for name, values in zip(columns, zip(*rows, strict=True), strict=True)
    ]
    return list(dict.fromkeys(zip(*checked, strict=True)))


def checked_values(name: str, kind: ColumnType, values: Any, *, distinct: bool = True) -> list[Any]:
    """A list of values of one column in the form that its labels have: plain numbers, texts, ISO dates."""
    checked = [_label(name, kind, value) for value in _items(values)]
    if not checked:
        raise InvalidParameterError(f"keys for column {shown(name)} must name at least one value.")
    return list(dict.fromkeys(checked)) if distinct else checked


def _combinations(domains: Sequence[Sequence[Any]]) -> list[Key]:
    count = math.prod(map(len, domains))
    if count > MOST_KEYS:
        raise InvalidParameterError(f"these keys make {count:,} groups; at most {MOST_KEYS:,} can be asked at once.")
    return list(itertools.product(*domains))


def _items(values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameterError("keys must be a list of values, such as ['north', 'south'].")
    return list(values)


def _label(name: str, kind: ColumnType, value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if kind is ColumnType.BOOLEAN and value in (0, 1) and isinstance(value, numbers.Number):
        return bool(value)
    if kind.is_numeric and isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value:
        return canonical_label(value)
    if kind is ColumnType.MOMENT and isinstance(value, (datetime.date, str)):
        return _moment_label(name, value)
    if kind in (ColumnType.TEXT, ColumnType.UNDECLARED) and isinstance(value, str):
        return str.__str__(value)
    if kind is ColumnType.UNDECLARED:
        raise DataTypeError(
            f"column {shown(name)} has no declared type, so that its keys are texts; got {type(value).__name__}. Declare it: "
            f"protect(..., types={{{name!r}: 'number'}}), or 'integer', 'boolean' or 'date'."
        )
    raise DataTypeError(f"a key of column {shown(name)} must be of its type, {kind.value}; got {type(value).__name__}.")


def _moment_label(name: str, value: datetime.date | str) -> str:
    """The label of a date or time, which is written in one way only: midnight as its date, and times with a zone in UTC."""
    try:
        moment = value if isinstance(value, datetime.date) else _parsed(value)
        text = moment_text(moment)
        assert text is not None
        return text.removesuffix("T00:00:00")
    except (ValueError, AssertionError, OverflowError):
        raise DataTypeError(
            f"a key of column {shown(name)} must be a date such as '2024-01-31', or a time in ISO form."
        ) from None


def _parsed(text: str) -> datetime.date:
    moment = datetime.datetime.fromisoformat(text)
    return moment.date() if len(text) <= len("2024-01-31") else moment
