"""Columns in pyarrow arrays, whole or in chunks."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Moments, Numbers, present_cells
from dpstats.engines.columns.distinct import joined_labels, labels_of, moment_labels, number_labels, texts_at, tick_labels
from dpstats.engines.columns.native import NOT_A_TIME, NativeColumn, no_labels, no_numbers, numbers_of, times_where
from dpstats.engines.columns.texts import PLAIN_NUMBER, PLAIN_WHOLE, completed, exact_label, identity_of_text, parsed_labels
from dpstats.engines.exact.tallies import label_text
from dpstats.engines.kinds import Kind
from dpstats.engines.moments import clock_texts, moment_texts

_MILLISECONDS_OF_DAY = 86_400_000
_UUID, _TRUTH = "arrow.uuid", "arrow.bool8"


class ArrowColumn(NativeColumn):
    """A pyarrow Array or ChunkedArray."""

    def __init__(self, data: Any) -> None:
        chunks = data.chunks if isinstance(data, pa.ChunkedArray) else [data]
        self._extension = getattr(data.type, "extension_name", "")
        self._raw_chunks = [_stored(chunk) for chunk in chunks] or [_stored(pa.array([], type=_stored_type(data.type)))]
        self._stored = self._raw_chunks[0].type
        self.type = self._declared()
        self.is_exact = not pa.types.is_decimal(self._stored)

    def __len__(self) -> int:
        return sum(len(chunk) for chunk in self._raw_chunks)

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not missing."""
        if self.type.is_numeric:
            return super().present()
        if pa.types.is_dictionary(self._stored):
            return np.concatenate([_present_categories(chunk) for chunk in self._raw_chunks])
        return np.concatenate([_valid(chunk) for chunk in self._raw_chunks])

    def numbers(self) -> Numbers:
        """The rows in their own number type."""
        if pa.types.is_null(self._stored):
            return no_numbers(len(self), np.float64)
        if pa.types.is_decimal(self._stored):
            return _joined([_parsed_texts(chunk.cast(pa.string()), whole=False) for chunk in self._raw_chunks])
        return _joined([self._chunk_numbers(chunk) for chunk in self._raw_chunks])

    def moments(self) -> Moments:
        """The dates and times."""
        if self.type is not ColumnType.MOMENT:
            return super().moments()
        if pa.types.is_timestamp(self._stored):
            return Moments(self._ticks(f"M8[{self._stored.unit}]"), self._stored.tz is not None)
        raw_days = self._ticks("M8[D]")
        if self._stored == pa.date64():
            raw_wholes = raw_days.view(np.int64)
            raw_days = np.where(np.isnat(raw_days), NOT_A_TIME, raw_wholes // _MILLISECONDS_OF_DAY).view("M8[D]")
        return Moments(raw_days)

    def labels(self, exact: bool = False) -> Labels:
        """The rows by their text."""
        if self.type.is_numeric:
            return self._exact_labels() if exact and not self.is_exact else number_labels(self.numbers(), exact)
        if self.type is ColumnType.MOMENT:
            return moment_labels(self.moments())
        if pa.types.is_time(self._stored):
            raw_clocks = self._ticks(f"M8[{self._stored.unit}]")
            return tick_labels(_within_a_day(raw_clocks) if exact else raw_clocks, clock_texts)
        if pa.types.is_duration(self._stored):
            return tick_labels(self._ticks(f"m8[{self._stored.unit}]"), moment_texts)
        if pa.types.is_dictionary(self._stored):
            return joined_labels([_dictionary_labels(chunk, exact) for chunk in self._raw_chunks])
        if _is_written(self._stored):
            return joined_labels([self._written_labels(chunk, exact) for chunk in self._raw_chunks])
        return no_labels(len(self))

    def parsed(self, whole: bool) -> Numbers:
        """The texts as numbers."""
        if _is_text(self._stored):
            return _joined([_parsed_texts(chunk, whole) for chunk in self._raw_chunks])
        return parsed_labels(self.labels(exact=whole), whole)

    def _declared(self) -> ColumnType:
        if pa.types.is_boolean(self._stored) or self._extension == _TRUTH:
            return ColumnType.BOOLEAN
        if pa.types.is_integer(self._stored):
            return ColumnType.INTEGER
        if pa.types.is_floating(self._stored) or pa.types.is_decimal(self._stored) or pa.types.is_null(self._stored):
            return ColumnType.NUMBER
        if pa.types.is_date(self._stored) or pa.types.is_timestamp(self._stored):
            return ColumnType.MOMENT
        is_category = pa.types.is_dictionary(self._stored) and not pa.types.is_nested(self._stored.value_type)
        is_span = pa.types.is_time(self._stored) or pa.types.is_duration(self._stored)
        is_text = _is_text(self._stored) or is_category or is_span or self._extension == _UUID
        return ColumnType.TEXT if is_text else ColumnType.OTHER

    @property
    def holds(self) -> Kind:
        """What the array's type says that it holds."""
        if self.type is ColumnType.MOMENT or pa.types.is_time(self._stored) or pa.types.is_duration(self._stored):
            return Kind.DATE
        if pa.types.is_dictionary(self._stored):
            return Kind.CATEGORY
        if _is_written(self._stored):
            return Kind.TEXT
        if pa.types.is_struct(self._stored):
            return Kind.RECORD
        return Kind.NESTED if pa.types.is_nested(self._stored) else Kind.NUMBER if self.type.is_numeric else Kind.OTHER

    def _chunk_numbers(self, chunk: Any) -> Numbers:
        if self._extension == _TRUTH:
            chunk = chunk.cast(pa.bool_())
        raw_filled = chunk.cast(pa.uint8()) if pa.types.is_boolean(chunk.type) else chunk
        if not chunk.null_count:
            return numbers_of(raw_filled.to_numpy(zero_copy_only=False))
        zero = pa.scalar(0, type=raw_filled.type) if not pa.types.is_float16(raw_filled.type) else np.float16(0)
        return numbers_of(raw_filled.fill_null(zero).to_numpy(zero_copy_only=False), _valid(chunk))

    def _ticks(self, dtype: str) -> NDArray[Any]:
        """The whole numbers behind dates, times or durations, as numpy's."""
        whole = pa.int32() if self._stored.bit_width == 32 else pa.int64()
        raw_wholes = [chunk.view(whole).cast(pa.int64()).fill_null(NOT_A_TIME).to_numpy() for chunk in self._raw_chunks]
        return np.concatenate(raw_wholes).view(dtype)

    def _written_labels(self, chunk: Any, exact: bool = False) -> Labels:
        """Texts or bytes, by a dictionary of their bytes: no text is decoded more than once."""
        encoded = chunk.cast(pa.large_binary()).dictionary_encode()
        raw_distinct = encoded.dictionary.to_pylist()
        if self._extension == _UUID:
            return labels_of(_places(encoded.indices), [str(uuid.UUID(bytes=octets)) for octets in raw_distinct])
        read = exact_label if exact else label_text
        return labels_of(_places(encoded.indices), [read(octets) for octets in raw_distinct])

    def _exact_labels(self) -> Labels:
        cells = joined_labels([self._written_labels(chunk.cast(pa.string())) for chunk in self._raw_chunks])
        return labels_of(cells.raw_codes, [identity_of_text(text) for text in cells.raw_labels])


def _stored_type(declared: Any) -> Any:
    """The type that arrow stores for one that others have put on top of it."""
    if isinstance(declared, pa.BaseExtensionType):
        return _stored_type(declared.storage_type)
    return _stored_type(declared.value_type) if pa.types.is_run_end_encoded(declared) else declared


def _stored(chunk: Any) -> Any:
    if isinstance(chunk.type, pa.BaseExtensionType):
        return _stored(chunk.storage)
    return _stored(pc.run_end_decode(chunk)) if pa.types.is_run_end_encoded(chunk.type) else chunk


def _is_text(stored: Any) -> bool:
    return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored) or pa.types.is_string_view(stored))


def _is_written(stored: Any) -> bool:
    """Whether a type holds texts or bytes."""
    views = pa.types.is_binary_view(stored) or pa.types.is_fixed_size_binary(stored)
    return bool(_is_text(stored) or views or pa.types.is_binary(stored) or pa.types.is_large_binary(stored))


def _valid(chunk: Any) -> NDArray[np.bool_]:
    return np.asarray(chunk.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def _places(indices: Any) -> NDArray[np.int64]:
    return np.asarray(indices.cast(pa.int64()).fill_null(-1).to_numpy(), dtype=np.int64)


def _dictionary_labels(chunk: Any, exact: bool) -> Labels:
    """Categories by the text of their value."""
    return labels_of(_places(chunk.indices), texts_at(ArrowColumn(chunk.dictionary).labels(exact)))


def _present_categories(chunk: Any) -> NDArray[np.bool_]:
    """Which rows have a category that is not missing itself, be it one without a text."""
    found: NDArray[np.bool_] = np.append(ArrowColumn(chunk.dictionary).present(), False)[_places(chunk.indices)]
    return found


def _within_a_day(raw_clocks: NDArray[Any]) -> NDArray[Any]:
    """The same times of day, NaT where they are none: their text would be that of another one."""
    raw_first_day = raw_clocks.astype("M8[D]").view(np.int64) == 0
    return times_where(raw_first_day, raw_clocks)


def _joined(parts: list[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    raw_present = None
    if any(part.raw_present is not None for part in parts):
        raw_present = np.concatenate([present_cells(part) for part in parts])
    return Numbers(np.concatenate([part.raw_values for part in parts]), raw_present)


def _parsed_texts(chunk: Any, whole: bool) -> Numbers:
    """Texts as numbers: plain ones by arrow, all at once, and the others one by one."""
    octets = chunk.cast(pa.large_binary())
    raw_is_plain = pc.match_substring_regex(octets, PLAIN_WHOLE if whole else PLAIN_NUMBER).fill_null(False)
    raw_texts = pc.if_else(raw_is_plain, octets, pa.scalar(None, pa.large_binary())).cast(pa.large_string())
    raw_plain = raw_texts.cast(pa.int64() if whole else pa.float64()).fill_null(0)
    raw_rest = pc.and_(octets.is_valid(), pc.invert(raw_is_plain))
    rest = ArrowColumn(octets.filter(raw_rest)).labels()
    raw_read = raw_is_plain.to_numpy(zero_copy_only=False)
    return completed(raw_plain.to_numpy(zero_copy_only=False), raw_read, rest, raw_rest.to_numpy(zero_copy_only=False))
