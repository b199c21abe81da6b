"""Kept codes: the codes of all rows, so that the many passes of one question read their store once.

Codes take a byte or two for each cell. They are kept in this process while a question is worked on if they take at most
KEPT_BYTES; where they take more, or rows must stay where they are, every pass reads the store. What comes out is the same
either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.passes.codes import CodedRows, CodeTotals
from dpstats.engines.passes.columns import is_remote
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.tables.kept import KEPT_BYTES
from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE

RawCodes = NDArray[np.signedinteger]


@dataclass(frozen=True)
class CodeList:
    """A job: the codes of all rows, in pieces; None where they take more than `most` bytes."""

    rows: CodedRows
    most: int

    def scan(self, batches: Iterable[Batch]) -> list[RawCodes] | None:
        """Gather the codes of some batches."""
        raw_pieces: list[RawCodes] = []
        size = 0
        for raw_codes in self.rows.pieces(batches, MOST_ROWS_AT_ONCE):
            size += raw_codes.nbytes
            if size > self.most:
                return None
            raw_pieces.append(raw_codes.copy())
        return raw_pieces

    def merge(self, parts: Sequence[list[RawCodes] | None]) -> list[RawCodes] | None:
        """All pieces, or None where they are too many."""
        raw_pieces = [raw_codes for part in parts if part is not None for raw_codes in part]
        too_many = None in parts or sum(raw_codes.nbytes for raw_codes in raw_pieces) > self.most
        return None if too_many else raw_pieces


class KeptCodes:
    """Runs sums over the codes of a table's rows, which are kept for as long as the same codes are asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: CodedRows | None = None
        self._raw_pieces: list[RawCodes] | None = None

    def totals(self, job: CodeTotals, columns: Sequence[str]) -> tuple[int, ...]:
        """The sums of a job over all rows."""
        if self._asked != job.rows:
            self._asked = job.rows
            can_keep = not is_remote(self._store)
            self._raw_pieces = self._store.run(CodeList(job.rows, KEPT_BYTES), columns) if can_keep else None
        width = len(job.rows.columns)
        if self._raw_pieces is None:
            return self._store.run(job, columns).totals(width)
        return job.over(self._raw_pieces).totals(width)
