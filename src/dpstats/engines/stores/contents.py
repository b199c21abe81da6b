"""Contents: a digest of everything that questions can read of columns in memory, in the order of the rows.

Columns of declared types have the same digest in every library that holds the same cells: float32 and float64, or categories and
texts, do not differ. Lists and columns of objects go by their elements. The index of a frame and the order of its columns are no
part of it.

The digest stays with the curator, who writes down a keyed fingerprint of it: whoever knows all rows but one could try them out.
"""

from __future__ import annotations

import hashlib
import marshal
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque, present_cells
from dpstats.engines.reading import read_cells, read_identities

_ROWS = 1 << 20
"""Rows that are digested at a time, so that what is converted on the way stays small."""
_MARSHAL_VERSION = 2
"""The last version in which equal elements have equal octets; later ones refer back to objects that were there before."""


def content_of(raw_columns: Mapping[str, Any], types: Mapping[str, ColumnType]) -> str:
    """A digest of columns by name; one that nothing else has where a column cannot be digested."""
    digest = hashlib.sha256()
    try:
        for name in sorted(raw_columns):
            data, kind = raw_columns[name], types[name]
            for octets in (_text(name), _text(kind.value), _text(str(len(data))), *_octets(data, kind)):
                digest.update(octets)
    except Exception:  # an element that fails must not decide whether there is a session
        return secrets.token_hex(32)
    return digest.hexdigest()


def _octets(data: Any, kind: ColumnType) -> Iterator[bytes]:
    if kind is not ColumnType.UNDECLARED:
        yield from _of_cells(read_cells(data, kind))
        return
    try:
        for start in range(0, len(data), _ROWS):
            yield marshal.dumps(_elements(data, start), _MARSHAL_VERSION)
    except ValueError:  # elements that are no plain values: by what questions make of them
        yield b"\0cells"
        for cells in (read_identities(data, ColumnType.TEXT), *(read_cells(data, each) for each in _READINGS)):
            yield from _of_cells(cells)


_READINGS = (ColumnType.TEXT, ColumnType.NUMBER, ColumnType.MOMENT)


def _elements(data: Any, start: int) -> list[Any]:
    """Some elements of a list, of an array or of a Series of objects."""
    if isinstance(data, (list, tuple)):
        return list(data[start : start + _ROWS])
    values = np.asarray(data, dtype=object)[start : start + _ROWS]
    return list(values.tolist())


def _of_cells(cells: Cells) -> Iterator[bytes]:
    """The octets of cells, the same for equal ones: those of missing cells are 0."""
    present = present_cells(cells)
    yield from _of_array(present)
    if isinstance(cells, Opaque):
        return
    if isinstance(cells, Labels):
        yield from _of_labels(cells)
    elif isinstance(cells, Moments):
        unit = np.datetime_data(cells.raw_values.dtype)
        yield _text(f"{unit} {cells.zoned}")
        yield from _of_array(cells.raw_values.view(np.int64))
    else:
        yield from _of_numbers(cells, present)


def _of_numbers(cells: Numbers, present: NDArray[np.bool_]) -> Iterator[bytes]:
    values = cells.raw_values
    if values.dtype.kind == "f":
        for start in range(0, values.size, _ROWS):
            piece = values[start : start + _ROWS].astype(np.float64) + 0.0  # -0.0 is 0
            yield np.where(present[start : start + _ROWS], piece, 0.0).tobytes()
        return
    wide = np.uint64 if values.dtype == np.uint64 else np.int64
    for start in range(0, values.size, _ROWS):
        piece = values[start : start + _ROWS].astype(wide)
        yield np.where(present[start : start + _ROWS], piece, wide(0)).tobytes()


def _of_labels(cells: Labels) -> Iterator[bytes]:
    """Texts by their order among those that are used, whichever order the codes have."""
    codes, labels = cells.raw_codes, cells.raw_labels
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(labels))).tolist()
    ordered = sorted(used, key=labels.__getitem__)
    ranks = np.full(len(labels) + 1, -1, dtype=np.int64)  # the last one is that of code -1
    ranks[ordered] = np.arange(len(ordered))
    yield from map(_text, _joined(labels[place] for place in ordered))
    for start in range(0, codes.size, _ROWS):
        yield ranks[codes[start : start + _ROWS]].tobytes()


def _joined(texts: Iterable[str], at_once: int = 10_000) -> Iterator[str]:
    """Texts with their lengths, many at a time."""
    held: list[str] = []
    for text in texts:
        held.append(f"{len(text)} {text}")
        if len(held) == at_once:
            yield "\n".join(held)
            held = []
    yield "\n".join(held)


def _of_array(values: NDArray[Any]) -> Iterator[bytes]:
    for start in range(0, values.size, _ROWS):
        yield values[start : start + _ROWS].tobytes()


def _text(text: str) -> bytes:
    octets = text.encode("utf-8", "surrogatepass")
    return b"%d " % len(octets) + octets
