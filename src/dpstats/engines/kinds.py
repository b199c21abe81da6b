"""Kinds: what a column holds by its declared type, or an element by its class, and what to pass instead of it."""

from __future__ import annotations

import datetime
import enum
import sys
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import DataTypeError


class Kind(enum.Enum):
    """What a column or an element holds."""

    NUMBER = "numbers"
    MISSING = "nothing"
    OTHER = "another type"
    TEXT = "text"
    DATE = "dates or times"
    CATEGORY = "categories"
    COMPLEX = "complex numbers"
    NESTED = "nested rows"
    RECORD = "records"


_ADVICE = {
    Kind.OTHER: "convert it to a column of float or int first",
    Kind.TEXT: "convert the text to numbers first, for example by x.astype(float) or [float(v) for v in x]",
    Kind.DATE: "pass numbers instead, for example days or seconds since a fixed day",
    Kind.CATEGORY: "pass the numbers behind the categories, for example by x.astype(float)",
    Kind.COMPLEX: "pass the real part, the imaginary part or the modulus",
    Kind.NESTED: "pass one column, for example [row[0] for row in x]",
    Kind.RECORD: "pass one field, for example x['income']",
}

_ELEMENT_KINDS: tuple[tuple[tuple[type, ...], Kind], ...] = (  # the first that fits: bool is an int, timedelta64 a np.integer
    ((type(None),), Kind.MISSING),
    ((np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta), Kind.DATE),
    ((int, float, np.bool_, np.integer, np.floating, Decimal, Fraction), Kind.NUMBER),
    ((str, bytes), Kind.TEXT),
    ((complex, np.complexfloating), Kind.COMPLEX),
    ((np.void,), Kind.RECORD),
    ((list, tuple, dict, set, frozenset, np.ndarray), Kind.NESTED),
)

_ARRAY_KINDS = {
    **dict.fromkeys("biuf", Kind.NUMBER),
    **dict.fromkeys("UST", Kind.TEXT),
    **dict.fromkeys("mM", Kind.DATE),
    "c": Kind.COMPLEX,
}

_DECLARED_KINDS = {
    **dict.fromkeys(("String", "Binary"), Kind.TEXT),
    **dict.fromkeys(("Date", "Datetime", "Duration", "Time"), Kind.DATE),
    **dict.fromkeys(("Categorical", "Enum"), Kind.CATEGORY),
    **dict.fromkeys(("List", "Array"), Kind.NESTED),
    "Struct": Kind.RECORD,
}


def kind_of_element(cls: type) -> Kind:
    """The kind of an element from its class alone, so that no code of the element runs."""
    try:
        hash(cls)  # classes are gathered in sets
        if cls.__name__ in ("NAType", "NaTType") and cls.__module__.startswith("pandas."):
            return Kind.MISSING
        if "numpy.ma" in sys.modules and issubclass(cls, type(np.ma.masked)):  # else nothing is of that class
            return Kind.MISSING
        for classes, kind in _ELEMENT_KINDS:
            if issubclass(cls, classes):
                return kind
    except Exception:  # a metaclass may break anything
        pass
    return Kind.OTHER


def unreadable_element(cls: type, *, numeric: bool) -> Kind | None:
    """The kind of an element that has no number, or no label, because of its class; None where it may have one, or is missing."""
    kind = kind_of_element(cls)
    readable = {Kind.MISSING, Kind.NUMBER, Kind.TEXT} if numeric else {Kind.MISSING, Kind.NUMBER, Kind.TEXT, Kind.DATE}
    return None if kind in readable or (cls is uuid.UUID and not numeric) else kind


def kind_of_array(dtype: np.dtype[Any]) -> Kind:
    """The kind behind a type of numpy's."""
    return Kind.RECORD if dtype.names else _ARRAY_KINDS.get(dtype.kind, Kind.OTHER)


def kind_of_type(name: str) -> Kind:
    """The kind behind the name of a column type that is no number type, as polars and narwhals name them."""
    return _DECLARED_KINDS.get(name, Kind.OTHER)


def not_numbers(kind: Kind) -> DataTypeError:
    """The complaint about a column of that kind where numbers are needed."""
    return DataTypeError(f"this needs a column of numbers and got one of {kind.value}: {_ADVICE[kind]}.")


def not_truths(kind: Kind) -> DataTypeError:
    """The complaint about a column of texts where true and false are needed."""
    return DataTypeError(f"this needs true and false, or 1 and 0, and got {kind.value}: pass a condition, such as x == 'yes'.")


def no_feature(kind: Kind, name: str) -> DataTypeError:
    """The complaint about a feature of that kind, by its name or place, which is public."""
    by_formula = "for categories use dp.regression with C(column) in its formula"
    advice = f"{by_formula}; else {_ADVICE[kind]}" if kind in (Kind.TEXT, Kind.CATEGORY) else _ADVICE[kind]
    return DataTypeError(f"feature {name} must be a column of numbers, and got one of {kind.value}: {advice}.")


def no_outcome(kind: Kind, name: str) -> DataTypeError:
    """The complaint about an outcome of that kind, by its name, which is public and may be empty."""
    outcome = f"the outcome {name!r}" if name else "the outcome"
    logistic = 'for a logistic regression pass y == "yes"'
    advice = f"{logistic}; else {_ADVICE[kind]}" if kind in (Kind.TEXT, Kind.CATEGORY) else _ADVICE[kind]
    return DataTypeError(f"{outcome} must be a column of numbers, and got one of {kind.value}: {advice}.")


def not_first(kind: Kind, name: str, *, numeric: bool) -> DataTypeError:
    """The complaint about a column without a declared type whose first element has no number, or no label."""
    needed = "numbers" if numeric else "numbers, text or dates"
    column = f"column {name}" if name else "the data given"
    advice = _ADVICE[kind] if numeric else _advice_for_labels(kind)
    return DataTypeError(f"this needs a column of {needed}, and {column} begins with {kind.value}: {advice}.")


def _advice_for_labels(kind: Kind) -> str:
    return "convert it to a column of text or numbers first" if kind is Kind.OTHER else _ADVICE[kind]


def not_labels(kind: Kind) -> DataTypeError:
    """The complaint about a column of that kind where labels are needed."""
    got = f"got one of {kind.value}: {_advice_for_labels(kind)}"
    return DataTypeError(f"this needs a column of numbers, text, dates or categories and {got}.")
