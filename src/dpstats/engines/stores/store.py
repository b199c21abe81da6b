"""The store: a table somewhere, that runs a job over its rows.

A job is a small program that sees rows in batches and hands back a summary. It goes to the rows, not they to it: a store in this
process runs it over one stream of batches, a distributed one ships it to wherever its partitions are and merges what comes back.
The job is the same code everywhere, so the answers are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType
from dpstats.engines.reading import read_cells, read_identities

Summary = TypeVar("Summary")


class Batch:
    """Some rows of a table: columns of one length, in whatever containers the store hands out."""

    def __init__(self, raw_columns: Mapping[str, Any], rows: int) -> None:
        """`raw_columns` holds at least the columns that were asked for; `rows` counts for a table of none."""
        self.rows = rows
        self._raw_columns = raw_columns
        self._read: dict[tuple[str, ColumnType], Cells] = {}

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column, read as that type."""
        if (name, kind) not in self._read:
            self._read[name, kind] = read_cells(self._raw_columns[name], kind)
        return self._read[name, kind]

    def identities(self, name: str, kind: ColumnType) -> Cells:
        """One column of ids, read as that type but never rounded: different ids stay different, or are missing."""
        return read_identities(self._raw_columns[name], kind)

    def broken(self) -> NDArray[np.bool_]:
        """Which rows could not be taken apart into cells, so that nobody can say whose they are; they have no identities."""
        return np.zeros(self.rows, dtype=np.bool_)


class Job(Protocol[Summary]):
    """What to do with the rows of a table. Stores may pickle it."""

    def scan(self, batches: Iterable[Batch]) -> Summary:
        """Go through some of the batches, once; runs where the rows are."""
        ...

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """Put together what came back from several scans (at least one); the order of the parts must not matter."""
        ...


class Store(Protocol):
    """A table, wherever it lives. Nothing about its rows is known before a job runs."""

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Names and declared types, which are public, in the table's order."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether the rows lie in this process's memory, so that a column of them may be kept whole."""
        ...

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job over all rows; the batches hold those columns (possibly none: then only their lengths count)."""
        ...


class LocalStore:
    """A store whose rows come through this process, batch by batch."""

    columns: Mapping[str, ColumnType]
    in_memory = False
    first_classes: Mapping[str, type] = {}
    """The classes of the first elements of columns in memory that declare no type."""
    slow = False
    """Whether a pass takes much longer than to add its rows up."""
    doubt: str | None = None
    """Why rows may be computed while they are read, and what to do about it; None where they are stored. A store may lack it."""

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows; in the same order at every call where the store is `repeatable`."""
        raise NotImplementedError

    def expected_rows(self) -> int | None:
        """About how many rows there are, where that costs next to nothing to know."""
        return None

    def repeatable(self) -> LocalStore:
        """The same table with its rows in one order at every call, which may cost a copy."""
        return self

    def moment(self) -> object:
        """Equal at two times only if the rows are the same, in the same order; None for a store whose rows stay what they are."""
        return None

    def check_reachable(self) -> None:
        """Raise, in words that say nothing of the rows, where they cannot be read now; looks at no row, and costs little."""

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job over one stream of batches."""
        return job.merge([job.scan(self.batches(columns))])
