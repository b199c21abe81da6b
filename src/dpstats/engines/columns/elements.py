"""Columns of Python objects: lists, tuples, object arrays.

Each element is read on its own, by its class: numbers, texts, dates; everything else is missing, and no element can make this
raise. What the other elements are changes nothing, unlike in `engines.untyped`, where the majority decides about a column.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Moments, Numbers
from dpstats.engines.columns.digits import exact_text, number_text
from dpstats.engines.columns.distinct import labels_of
from dpstats.engines.columns.native import no_moments, no_numbers, numbers_of
from dpstats.engines.columns.texts import number_of_text, whole_of_number, whole_of_text
from dpstats.engines.kinds import Kind, kind_of_element
from dpstats.engines.tallies import label_text
from dpstats.engines.untyped import nearest_float, plain_number
from dpstats.foundations.units import LARGEST_EXACT

_COUNTABLE = {str, bytes, int, float, bool, type(None), datetime.date}
"""Classes of Python's own whose elements are equal only if they have one text."""
_PLAIN_NUMBERS = {int, float, bool, type(None)}


class ElementColumn:
    """A sequence of Python objects."""

    is_exact = False

    def __init__(self, rows: Sequence[Any], type: ColumnType = ColumnType.UNDECLARED) -> None:
        """`type` is TEXT where the container says that all elements are texts or missing."""
        self._raw_rows = rows
        self.type = type

    def __len__(self) -> int:
        return len(self._raw_rows)

    def present(self) -> NDArray[np.bool_]:
        """Which elements are not missing, whatever they are."""
        return np.fromiter(map(_is_present, self._raw_rows), dtype=np.bool_, count=len(self))

    def numbers(self) -> Numbers:
        """Nothing: no element declares a number type."""
        return no_numbers(len(self), np.float64)

    def moments(self) -> Moments:
        """Nothing: no element declares a type of dates."""
        return no_moments(len(self))

    def labels(self, exact: bool = False) -> Labels:
        """Numbers, texts and dates by their text; others are missing."""
        places: dict[Any, int] = {}
        rows: Any = self._raw_rows
        if not self._are(_COUNTABLE):
            rows = [element_text(row, exact) for row in rows]
        raw_codes = np.fromiter((places.setdefault(row, len(places)) for row in rows), dtype=np.int64, count=len(self))
        texts = [element_text(row, exact) for row in places] if rows is self._raw_rows else list(places)
        return labels_of(raw_codes, texts)

    def parsed(self, whole: bool) -> Numbers:
        """Numbers, and texts that are numbers."""
        if whole:
            return self._wholes()
        raw_values = self._plain_floats()
        if raw_values is None:
            raw_values = np.fromiter(map(_float_of, self._raw_rows), dtype=np.float64, count=len(self))
        return numbers_of(raw_values)

    def _plain_floats(self) -> NDArray[np.float64] | None:
        """Python's own numbers in one step; None where there are others, or larger ones than float64 holds."""
        if not self._are(_PLAIN_NUMBERS):
            return None
        try:
            raw_values = np.array(self._raw_rows, dtype=np.float64)
        except OverflowError:
            return None
        for place in np.flatnonzero(np.abs(raw_values) > LARGEST_EXACT).tolist():
            raw_values[place] = nearest_float(self._raw_rows[place])
        return raw_values

    def _wholes(self) -> Numbers:
        try:
            if self._are({int, bool}):
                return numbers_of(np.array(self._raw_rows, dtype=np.int64))
        except OverflowError:
            pass
        raw_wholes = [_whole_of(row) for row in self._raw_rows]
        raw_present = np.array([whole is not None for whole in raw_wholes], dtype=np.bool_)
        return numbers_of(np.array([whole or 0 for whole in raw_wholes], dtype=np.int64), raw_present)

    def _are(self, classes: set[type]) -> bool:
        """Whether all elements are of those classes; by identity, because a hostile class may not even be hashable."""
        return set(map(id, map(type, self._raw_rows))) <= set(map(id, classes))


def element_text(row: Any, exact: bool = False) -> str | None:
    """The text of one element: a number, a text, a date, a UUID; None for everything else."""
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        return _number_text(row, exact)
    if kind in (Kind.TEXT, Kind.DATE):
        return label_text(row)
    return uuid.UUID.__str__(row) if type(row) is uuid.UUID else None


def _number_text(row: Any, exact: bool) -> str | None:
    number = plain_number(row)
    if number is None or not exact:
        return None if number is None else number_text(number)
    try:
        return exact_text(Decimal(row) if issubclass(type(row), Decimal) else number)
    except Exception:  # an element that misbehaves is a missing row
        return None


def _float_of(row: Any) -> float:
    """One element as a number; NaN where it is none."""
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        number = plain_number(row)
        return np.nan if number is None else nearest_float(number)
    text = label_text(row) if kind is Kind.TEXT else None
    number = None if text is None else number_of_text(text)
    return np.nan if number is None else number


def _whole_of(row: Any) -> int | None:
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        number = plain_number(row)
        return None if number is None else whole_of_number(number)
    text = label_text(row) if kind is Kind.TEXT else None
    return None if text is None else whole_of_text(text)


def _is_present(row: Any) -> bool:
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        return plain_number(row) is not None
    if kind is Kind.DATE:
        return label_text(row) is not None
    return kind is not Kind.MISSING
