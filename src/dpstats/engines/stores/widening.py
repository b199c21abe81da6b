"""Widening: one type for a column that has several types in several files, and its cells in that type.

Claim      Which type a column gets depends on the set of its types alone, not on the order of the files or on what is in them;
           which cell a row becomes then depends on that row and on the type. No value makes widening fail.
Numerics   Whole numbers get the narrowest type that holds all of theirs; with floats they become float64, decimals too. Times get
           the finest unit; those that it cannot hold are missing. Texts and categories of texts stay as they are stored.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as kinds

_UNITS = ("s", "ms", "us", "ns")
_MOST_DIGITS = 76
_EXACT_BITS = 32  # of whole numbers that float64 has room for


def widened_type(types: Collection[pa.DataType]) -> pa.DataType | None:
    """The one type that holds what all of these do; None where there is none."""
    distinct = {each for each in types if not kinds.is_null(each)}
    if len(distinct) < 2:
        return next(iter(distinct), pa.null())
    if all(map(_is_text, distinct)):
        return pa.large_string()
    if all(map(kinds.is_timestamp, distinct)):
        return _widened_time(distinct)
    if all(map(_is_number, distinct)):
        return _widened_number(distinct)
    return None


def is_exact(types: Collection[pa.DataType]) -> bool:
    """Whether different values stay different in the widened type."""
    distinct = {each for each in types if not kinds.is_null(each)}
    if all(map(kinds.is_timestamp, distinct)):
        return len({each.unit for each in distinct}) < 2
    if not any(map(kinds.is_floating, distinct)):
        return True
    others = [each for each in distinct if not kinds.is_floating(each)]
    return all(kinds.is_integer(each) and each.bit_width <= _EXACT_BITS for each in others)


def widened(raw_cells: Any, wanted: pa.DataType) -> Any:
    """Cells of some type in the one that they were widened to."""
    stored = raw_cells.type
    if stored == wanted or _is_text(wanted):
        return pa.nulls(len(raw_cells), wanted) if kinds.is_null(stored) else raw_cells
    if kinds.is_timestamp(wanted) and kinds.is_timestamp(stored):
        return _finer(raw_cells, wanted)
    if kinds.is_decimal(stored) and kinds.is_floating(wanted):
        return pc.cast(raw_cells, wanted, safe=False)
    return pc.cast(raw_cells, wanted, safe=not kinds.is_floating(wanted))


def repeated(value: Any, wanted: pa.DataType, rows: int) -> Any:
    """A column of one and the same cell; None is missing."""
    if value is None:
        return pa.nulls(rows, wanted)
    if _is_text(wanted):  # once, however many rows there are
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([value], pa.large_string()))
    return pa.repeat(pa.scalar(value, wanted), rows)


def _widened_number(types: Collection[pa.DataType]) -> pa.DataType | None:
    if any(map(kinds.is_floating, types)):
        floats = [each for each in types if kinds.is_floating(each)]
        return max(floats, key=lambda each: each.bit_width) if len(floats) == len(types) else pa.float64()
    if any(map(kinds.is_decimal, types)):
        scale = max(_digits(each)[1] for each in types)
        whole = max(digits - places for digits, places in map(_digits, types))
        if whole + scale > _MOST_DIGITS:
            return None
        return pa.decimal128(whole + scale, scale) if whole + scale <= 38 else pa.decimal256(whole + scale, scale)
    signed = [each.bit_width for each in types if kinds.is_signed_integer(each)]
    unsigned = [each.bit_width for each in types if kinds.is_unsigned_integer(each)]
    if not signed:
        return {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}[max(unsigned)]
    width = max([*signed, *(2 * each for each in unsigned)])
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(width, pa.decimal128(20, 0))


def _widened_time(types: Collection[pa.DataType]) -> pa.DataType | None:
    if len({each.tz is None for each in types}) > 1:  # a time without a zone is no instant
        return None
    zones = {each.tz for each in types}
    unit = max((each.unit for each in types), key=_UNITS.index)
    return pa.timestamp(unit, zones.pop() if len(zones) == 1 else "UTC")


def _finer(raw_cells: Any, wanted: pa.DataType) -> Any:
    factor = 1000 ** (_UNITS.index(wanted.unit) - _UNITS.index(raw_cells.type.unit))
    raw_ticks, most = raw_cells.view(pa.int64()), (2**63 - 1) // factor
    raw_held = pc.and_(pc.less_equal(raw_ticks, most), pc.greater_equal(raw_ticks, -most))
    raw_scaled = pc.multiply(pc.if_else(raw_held, raw_ticks, pa.scalar(None, pa.int64())), factor)
    return raw_scaled.view(wanted)


def _is_text(type_: pa.DataType) -> bool:
    if kinds.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(kinds.is_string(type_) or kinds.is_large_string(type_) or type_ == pa.string_view())


def _is_number(type_: pa.DataType) -> bool:
    return bool(kinds.is_integer(type_) or kinds.is_floating(type_) or kinds.is_decimal(type_))


def _digits(type_: pa.DataType) -> tuple[int, int]:
    """How many digits a whole number or a decimal may have, and how many of them after the point."""
    if kinds.is_decimal(type_):
        return type_.precision, max(type_.scale, 0)
    return {8: 3, 16: 5, 32: 10, 64: 20}[type_.bit_width], 0
