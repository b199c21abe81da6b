"""Group keys: the labels that rows have in one or several columns, together.

A key is a tuple of labels, one for each column, in the form that `most_common` gives labels. Rows without a label in one of the
columns have no key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers
from dpstats.engines.exact.tallies import number_labels
from dpstats.engines.groups.lookups import Codes, Label, Lookup, canonical_label
from dpstats.engines.kinds import Kind, not_labels
from dpstats.engines.moments import label_texts
from dpstats.engines.passes.collectors import counted_codes
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.views import CountedCells, TableView, ViewedBatch
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.text_tables import counted

Key = tuple[Label, ...]


@dataclass(frozen=True)
class GroupKeys:
    """A public list of keys: only rows with a key on it belong to a group."""

    columns: tuple[str, ...]
    kinds: tuple[ColumnType, ...]
    """What each of the columns is read as."""
    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        """Every key once, and one label for each column."""
        if not self.columns or len(self.columns) != len(self.kinds):
            raise InvalidParameterError("groups need one or more columns, each with a type.")
        if any(len(key) != len(self.columns) for key in self.keys):
            raise InvalidParameterError(f"every group key must have {counted(len(self.columns), 'label')}, one for each column.")
        _check_labelled(self.kinds)
        once = {_canonical(key): tuple(key) for key in reversed(self.keys)}
        object.__setattr__(self, "keys", tuple(once.values())[::-1])

    def codes(self, viewed: ViewedBatch) -> Codes:
        """For each row of a batch the place of its key in the list; -1 for rows without, or outside of the view."""
        codes: Codes | None = None
        for (lookup, width, table), name, kind in zip(self._levels, self.columns, self.kinds, strict=True):
            places = _places(lookup, viewed.parts(name, kind))
            if codes is None:
                codes = places  # of one column, the first labels are the prefixes themselves
            else:
                codes = table.places(Numbers(np.where((codes < 0) | (places < 0), -1, codes * width + places)))
        assert codes is not None
        return codes

    @cached_property
    def _levels(self) -> list[tuple[Lookup, int, Lookup]]:
        """For each column the list of its labels, their number, and the list of codes that the keys' beginnings have."""
        keys = [_canonical(key) for key in self.keys]
        levels = []
        prefixes: dict[Key, int] = {(): 0}
        for position in range(len(self.columns)):
            labels = {label: place for place, label in enumerate(dict.fromkeys(key[position] for key in keys))}
            longer = dict.fromkeys(key[: position + 1] for key in keys)
            codes = [prefixes[key[:-1]] * len(labels) + labels[key[-1]] for key in longer]
            prefixes = {key: place for place, key in enumerate(longer)}
            levels.append((Lookup(list(labels)), len(labels), Lookup(codes)))
        return levels


@dataclass(frozen=True)
class KeyCount:
    """A job: every key of the rows in a view, with their number."""

    view: TableView
    columns: tuple[str, ...]
    kinds: tuple[ColumnType, ...]

    def scan(self, batches: Iterable[Batch]) -> Counter[Key]:
        """Count the keys of some batches."""
        tally: Counter[Key] = Counter()
        for batch in batches:
            viewed = self.view.on(batch)
            for key, count in _counted_keys([viewed.parts(*pair) for pair in zip(self.columns, self.kinds, strict=True)]):
                tally[key] += count
        return tally

    def merge(self, parts: Sequence[Counter[Key]]) -> Counter[Key]:
        """Add the counts up."""
        tally: Counter[Key] = Counter()
        for part in parts:
            tally.update(part)
        return tally


def count_keys(store: Store, view: TableView, columns: Sequence[str], kinds: Sequence[ColumnType]) -> Counter[Key]:
    """Every key that rows of a view have, with the number of its rows: raw, exact, and the same from every store."""
    _check_labelled(kinds)
    return store.run(KeyCount(view, tuple(columns), tuple(kinds)), view.needs(columns))


def _check_labelled(kinds: Iterable[ColumnType]) -> None:
    if ColumnType.OTHER in kinds:
        raise not_labels(Kind.OTHER)


def _canonical(key: Iterable[Any]) -> Key:
    return tuple(canonical_label(label) for label in key)


def _places(lookup: Lookup, parts: Sequence[CountedCells]) -> Codes:
    """Where the label of each row stands in a list; -1 for those that have none there, or do not count."""
    places: Codes | None = None
    for cells, raw_taken in parts:
        found = lookup.places(cells)
        if raw_taken is not None:
            found = np.where(raw_taken, found, -1)
        places = found if places is None else np.maximum(places, found)  # a row counts in one part only
    assert places is not None
    return places


def _counted_keys(columns: Sequence[Sequence[CountedCells]]) -> Iterable[tuple[Key, int]]:
    """The keys of one batch; a key may come twice."""
    codes: Codes | None = None
    keys: list[Key] = [()]
    raw_rows: NDArray[Any] | None = None
    for parts in columns:
        places, labels = _label_codes(parts)
        codes = np.zeros(places.size, dtype=np.int64) if codes is None else codes
        raw_rows = np.arange(places.size) if raw_rows is None else raw_rows
        here = places[raw_rows]
        raw_rows, codes = raw_rows[here >= 0], codes[here >= 0] * len(labels) + here[here >= 0]
        distinct, codes = _dense(codes, len(keys) * len(labels))
        keys = [(*keys[code // len(labels)], labels[code % len(labels)]) for code in distinct]
    assert codes is not None
    found, counts = counted_codes(codes, len(keys))
    return [(keys[code], count) for code, count in zip(found, counts, strict=True)]


def _dense(codes: Codes, limit: int) -> tuple[list[int], Codes]:
    """The distinct codes, and codes as places among them."""
    if limit <= 4 * codes.size:
        seen = np.bincount(codes, minlength=1) > 0
        return np.flatnonzero(seen).tolist(), (np.cumsum(seen) - 1)[codes]
    distinct, places = np.unique(codes, return_inverse=True)
    return distinct.tolist(), places


def _label_codes(parts: Sequence[CountedCells]) -> tuple[Codes, list[Label]]:
    """Labels, and for each row the place of its own among them; -1 for rows that do not count."""
    labels: list[Label] = []
    codes: Codes | None = None
    for cells, raw_taken in parts:
        found, more = _distinct_labels(cells, raw_taken)
        found = np.where(found >= 0, found + len(labels), -1)
        if raw_taken is not None:
            found = np.where(raw_taken, found, -1)
        codes = found if codes is None else np.maximum(codes, found)
        labels += more
    assert codes is not None
    return codes, labels


def _distinct_labels(cells: Cells, raw_taken: NDArray[np.bool_] | None) -> tuple[Codes, Sequence[Label]]:
    if isinstance(cells, Labels):
        return cells.raw_codes, cells.raw_labels
    assert isinstance(cells, (Numbers, Moments))
    raw_values = cells.raw_values if isinstance(cells, Numbers) else cells.raw_values.view(np.int64)
    raw_distinct, places = _distinct_values(raw_values if raw_taken is None else raw_values[raw_taken])
    codes = places
    if raw_taken is not None:
        codes = np.full(raw_values.size, -1, dtype=np.int64)
        codes[raw_taken] = places
    if isinstance(cells, Numbers):
        return codes, number_labels(raw_distinct)
    return codes, label_texts(raw_distinct.view(cells.raw_values.dtype), zoned=cells.zoned)


def _distinct_values(raw_values: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The distinct numbers among some, and for each of these the place of its own; by counting where they lie close together."""
    if raw_values.dtype.kind in "iu" and raw_values.size:
        first, last = int(raw_values.min()), int(raw_values.max())
        if last - first < 4 * raw_values.size:
            wide = raw_values if raw_values.dtype == np.uint64 else raw_values.astype(np.int64)
            distinct, places = _dense((wide - wide.dtype.type(first)).astype(np.int64), last - first + 1)
            return np.array([offset + first for offset in distinct], dtype=raw_values.dtype), places
    raw_distinct, places = np.unique(raw_values, return_inverse=True)
    return raw_distinct, places
