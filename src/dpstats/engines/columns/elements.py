"""Columns of Python objects: lists, tuples, object arrays.

Each element is read on its own, by its class: numbers, texts, dates; everything else is missing, and no element can make this
raise. What the other elements are changes nothing.
"""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Numbers
from dpstats.engines.columns.digits import exact_text
from dpstats.engines.columns.distinct import labels_of
from dpstats.engines.columns.instants import have_seconds
from dpstats.engines.columns.native import NativeColumn, numbers_of
from dpstats.engines.columns.texts import exact_label, number_of_text, whole_of_number, whole_of_text
from dpstats.engines.exact.tallies import label_text
from dpstats.engines.kinds import Kind, kind_of_element
from dpstats.foundations.keys import number_text
from dpstats.foundations.units import LARGEST_EXACT, float_of_whole

_COUNTABLE = {str, bytes, int, float, bool, type(None), datetime.date}
"""Classes of Python's own whose elements, if they are equal and of one class, have one text; 2**60 and 2.0**60 have two."""
_PLAIN_NUMBERS = {int, float, bool, type(None)}
_MIDNIGHT = "T00:00:00"


class ElementColumn(NativeColumn):
    """A sequence of Python objects."""

    is_exact = False

    def __init__(self, rows: Sequence[Any], type: ColumnType = ColumnType.UNDECLARED) -> None:
        """`type` is TEXT where the container says that all elements are texts or missing."""
        self._raw_rows = rows
        self.type = type

    @property
    def holds(self) -> Kind:
        """Texts, or whatever the elements are."""
        return Kind.TEXT if self.type is ColumnType.TEXT else Kind.OTHER

    def __len__(self) -> int:
        return len(self._raw_rows)

    def present(self) -> NDArray[np.bool_]:
        """Which elements are not missing, whatever they are."""
        return np.fromiter(map(_is_present, self._raw_rows), dtype=np.bool_, count=len(self))

    def labels(self, exact: bool = False) -> Labels:
        """Numbers, texts and dates by their text; others are missing."""
        places: dict[Any, int] = {}
        rows = self._raw_rows
        is_countable = self._are(_COUNTABLE)
        keys = zip(map(type, rows), rows, strict=True) if is_countable else (element_text(row, exact) for row in rows)
        raw_codes = np.fromiter((places.setdefault(key, len(places)) for key in keys), dtype=np.int64, count=len(self))
        return labels_of(raw_codes, [element_text(row, exact) for _, row in places] if is_countable else list(places))

    def parsed(self, whole: bool) -> Numbers:
        """Numbers, and texts that are written like numbers."""
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
    if exact:
        return _exact_text(row, kind)
    if kind is Kind.NUMBER:
        number = plain_number(row)
        return None if number is None else number_text(number)
    text = label_text(row) if kind in (Kind.TEXT, Kind.DATE) else None
    if kind is Kind.DATE and text is not None:
        return text.removesuffix(_MIDNIGHT)  # as in a column of dates
    return uuid.UUID.__str__(row) if type(row) is uuid.UUID else text


def _exact_text(row: Any, kind: Kind) -> str | None:
    """The text of one element in full; None where there is none that tells it apart."""
    try:
        if kind is Kind.NUMBER:
            number = _exact_number(row)
            return None if number is None else exact_text(number)
        if kind is Kind.TEXT:
            return str.__str__(row) if isinstance(row, str) else exact_label(bytes.__getitem__(row, slice(None)))
        if kind is Kind.DATE and not (isinstance(row, np.datetime64) and not have_seconds(np.asarray(row).reshape(1))[0]):
            return label_text(row)
        return uuid.UUID.__str__(row) if type(row) is uuid.UUID else None
    except Exception:  # an element that misbehaves cannot be told apart
        return None


def _exact_number(row: Any) -> int | float | Decimal | Fraction | None:
    """A plain number that equals an element of a number class; None for NaN, and where there is no such number."""
    cls = type(row)
    if issubclass(cls, Decimal):
        decimal = Decimal(row)
        return None if decimal.is_nan() else decimal
    if issubclass(cls, Fraction):
        return Fraction(*Fraction.as_integer_ratio(row))
    if issubclass(cls, np.floating) and not issubclass(cls, float):
        number = float(row)
        return number if row == number else None
    return plain_number(row)


def _float_of(row: Any) -> float:
    """One element as a number, be it written as text; NaN where it is none."""
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        number = plain_number(row)
        return np.nan if number is None else nearest_float(number)
    text = label_text(row) if kind is Kind.TEXT else None
    parsed = None if text is None else number_of_text(text)
    return np.nan if parsed is None else parsed


def _whole_of(row: Any) -> int | None:
    kind = kind_of_element(type(row))
    if kind is Kind.NUMBER:
        number = plain_number(row)
        whole = None if number is None else whole_of_number(number)
        return whole if whole is not None and _equals(row, whole) else None
    text = label_text(row) if kind is Kind.TEXT else None
    return None if text is None else whole_of_text(text)


def _equals(row: Any, whole: int) -> bool:
    """Whether an element of a number class is that whole number, and was not rounded to it."""
    try:
        return bool(_exact_number(row) == whole)
    except Exception:
        return False


def _is_present(row: Any) -> bool:
    """Whether an element is something, be it something that has no text: only None, NaN, NaT and the like are nothing."""
    kind = kind_of_element(type(row))
    try:
        if kind is Kind.NUMBER:
            return not _is_nan(row)
        return not (np.isnat(row) if isinstance(row, (np.datetime64, np.timedelta64)) else kind is Kind.MISSING)
    except Exception:  # an element that misbehaves is there
        return True


def _is_nan(row: Any) -> bool:
    cls = type(row)
    if issubclass(cls, float):
        return float.__ne__(row, row)
    return Decimal(row).is_nan() if issubclass(cls, Decimal) else issubclass(cls, np.floating) and bool(np.isnan(row))


def plain_number(row: Any) -> int | float | None:
    """One element of a number class as a plain int or float; None where it is NaN or turns out to be no number."""
    try:
        number = _plain(row)
        return None if number != number else number
    except Exception:  # an element that misbehaves is a missing row
        return None


def _plain(row: Any) -> int | float:
    cls = type(row)
    if issubclass(cls, int):
        return int.__int__(row)  # not int(row): a subclass may have put anything there
    if issubclass(cls, float):
        return float.__float__(row)
    if issubclass(cls, (np.bool_, np.integer)):
        return int(row)
    if issubclass(cls, Fraction):
        return nearest_float(row)
    if issubclass(cls, (np.float16, np.float32)):
        return float(str(row))
    if issubclass(cls, Decimal):
        row = Decimal(row)  # a plain one: a subclass may have put anything into its methods
    return math.nan if isinstance(row, Decimal) and row.is_nan() else float(row)


def nearest_float(number: Any) -> float:
    """The nearest float64; Python's own conversion rounds correctly, and raises only beyond the largest float."""
    try:
        return float_of_whole(number) if isinstance(number, int) else float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
