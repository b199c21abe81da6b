"""Kept rows: the complete rows of a view, decoded, so that the many passes of one question read their store once.

A question about several columns makes a dozen passes or more. Its rows are read, decoded and put through the view's expressions
once, and kept as arrays in the columns' own number types for as long as the question is worked on. Rows that come through this
process are kept in its memory if they take at most KEPT_BYTES; where they take more, none are kept, and every pass reads the
store. Rows that stay where they are (Spark) are kept there, in Spark's own storage. dpstats itself writes nothing to a disk. What
comes out is the same either way: the passes see the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from dpstats.engines.cells import Numbers
from dpstats.engines.passes.collectors import merged
from dpstats.engines.passes.columns import is_remote
from dpstats.engines.passes.pairs import P
from dpstats.engines.passes.rows import R, RowScan
from dpstats.engines.passes.scans import C, feed
from dpstats.engines.stores.keeping import KeepsParts
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.views import TableView

Summary = TypeVar("Summary")

KEPT_BYTES = 1 << 28
"""Memory for the rows of a question about several columns; the limit is public and the same for every table."""


@dataclass(frozen=True)
class KeptPiece:
    """The complete rows of one batch."""

    raw_columns: list[NDArray[Any]]
    stored: int
    """Rows of the batch that belong to the view, missing ones included."""


class PieceJob(Protocol[Summary]):
    """What to do with kept rows. Stores may pickle it."""

    def scan(self, parts: Iterable[KeptPiece]) -> Summary:
        """Go through some of the pieces, once."""
        ...

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """Put together what came back from several scans (at least one)."""
        ...


class DecodedRows(Protocol):
    """Kept rows, wherever they are kept."""

    def run(self, job: PieceJob[Summary]) -> Summary:
        """Run a job over all pieces."""
        ...


def keep_rows(store: Store, view: TableView, columns: Sequence[str]) -> DecodedRows | None:
    """The complete rows of a view, all of whose complete columns are of numbers; None where they are too many to be kept."""
    if is_remote(store):
        return store.keep(PieceMaker(view), columns) if isinstance(store, KeepsParts) else None
    raw_pieces = store.run(KeepJob(view, None if store.in_memory else KEPT_BYTES), columns)
    return None if raw_pieces is None else RowsInMemory(raw_pieces)


@dataclass(frozen=True)
class RowsInMemory:
    """Rows that are kept in this process."""

    raw_pieces: list[KeptPiece]

    def run(self, job: PieceJob[Summary]) -> Summary:
        """Run a job over all pieces."""
        return job.scan(self.raw_pieces)


@dataclass(frozen=True)
class KeepJob:
    """A job: the complete rows of a view; None where they take more than `limit` bytes."""

    view: TableView
    limit: int | None
    """None where rows lie in memory as they are: then those of a batch that are all complete are not copied."""

    def scan(self, batches: Iterable[Batch]) -> list[KeptPiece] | None:
        """Keep the rows of some batches; it reads no further where they are too many."""
        pieces: list[KeptPiece] = []
        held = 0
        for piece in complete_pieces(self.view, batches, copied=self.limit is not None):
            pieces.append(piece)
            held += sum(raw_values.nbytes for raw_values in piece.raw_columns)
            if self.limit is not None and held > self.limit:
                return None
        return pieces

    def merge(self, parts: Sequence[list[KeptPiece] | None]) -> list[KeptPiece] | None:
        """All pieces; the parts come from one stream, which has kept to the limit."""
        pieces: list[KeptPiece] = []
        for part in parts:
            if part is None:
                return None
            pieces += part
        return pieces


@dataclass(frozen=True)
class PieceMaker:
    """What a store that keeps rows where they are makes of its batches."""

    view: TableView

    def __call__(self, batches: Iterable[Batch]) -> Iterator[KeptPiece]:
        """The complete rows of each batch."""
        return complete_pieces(self.view, batches, copied=False)


@dataclass(frozen=True)
class ColumnPieces(Generic[C]):
    """A job: one collector, and one column of kept rows."""

    place: int
    collector: C

    def scan(self, parts: Iterable[KeptPiece]) -> C:
        """Show every piece to a fresh collector."""
        filled = self.collector.fresh()
        for piece in parts:
            feed(filled, [Numbers(piece.raw_columns[self.place])], piece.stored)
        return filled

    def merge(self, parts: Sequence[C]) -> C:
        """All parts in one."""
        return merged(self.collector, parts)


@dataclass(frozen=True)
class RowPieces(Generic[R]):
    """A job: one collector of rows, and kept rows."""

    rows: RowScan[R]

    def scan(self, parts: Iterable[KeptPiece]) -> R:
        """Show all rows to a fresh collector."""
        return self.rows.over(piece.raw_columns for piece in parts)

    def merge(self, parts: Sequence[R]) -> R:
        """All parts in one."""
        return self.rows.merge(parts)


@dataclass(frozen=True)
class PairPieces(Generic[P]):
    """A job: one collector of pairs, and kept rows of two columns."""

    collector: P

    def scan(self, parts: Iterable[KeptPiece]) -> P:
        """Show every piece to a fresh collector."""
        filled = self.collector.fresh()
        for piece in parts:
            filled.take(*piece.raw_columns)
        return filled

    def merge(self, parts: Sequence[P]) -> P:
        """All parts in one."""
        return merged(self.collector, parts)


@dataclass(frozen=True)
class KeptRun:
    """Passes over one column of kept rows."""

    kept: DecodedRows
    place: int

    def __call__(self, collector: C, /) -> C:
        """Make one pass."""
        return self.kept.run(ColumnPieces(self.place, collector))


def complete_pieces(view: TableView, batches: Iterable[Batch], *, copied: bool) -> Iterator[KeptPiece]:
    """For each batch the rows of a view that are missing in none of its complete columns, which are all of numbers."""
    for batch in batches:
        viewed = view.on(batch)
        raw_columns, raw_taken = viewed.complete_numbers()
        if raw_taken is not None:
            raw_columns = [raw_values[raw_taken] for raw_values in raw_columns]
        elif copied:  # a part of a larger buffer would keep all of that
            raw_columns = [raw_values.copy() for raw_values in raw_columns]
        yield KeptPiece(raw_columns, viewed.rows)
