"""Contenders: rows of units that compete for the few places that each unit has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.bitmaps import Bitmap
from dpstats.engines.siphash import Words


@dataclass(frozen=True)
class Contenders:
    """Rows that may stay, in the order of the table: two words of their unit's mark, their own mark, their place."""

    raw_units: Words
    raw_seconds: Words
    raw_marks: Words
    raw_places: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.raw_places.size)

    def at(self, raw_rows: NDArray[Any]) -> Contenders:
        """Some of them, in order: a mask, or ascending places among them."""
        return Contenders(
            self.raw_units[raw_rows], self.raw_seconds[raw_rows], self.raw_marks[raw_rows], self.raw_places[raw_rows]
        )


def thinned(held: Sequence[Contenders], rows: int, raw_dropped: Bitmap) -> Contenders:
    """Those that are among the first `rows` of their unit, by their mark and then by their place; the others are dropped.

    The parts stand in the order of the table. The first of the first of parts are the first of the whole, so thinning may be done
    in between and as often as one likes.
    """
    contenders = Contenders(
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_units for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_seconds for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_marks for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.raw_places for part in held)]),
    )
    raw_crowded = _crowded(contenders.raw_units, rows)
    raw_beaten = raw_crowded[_beaten(contenders.at(raw_crowded), rows)]
    raw_dropped.mark(contenders.raw_places[raw_beaten])
    raw_stay = np.ones(len(contenders), dtype=np.bool_)
    raw_stay[raw_beaten] = False
    return contenders.at(raw_stay)


def _crowded(raw_units: Words, rows: int) -> NDArray[np.int64]:
    """Those whose first word more than `rows` of them have; all others stay without further ado."""
    raw_order = np.argsort(raw_units)
    raw_ordered = raw_units[raw_order]
    raw_starts = np.flatnonzero(np.append(True, raw_ordered[1:] != raw_ordered[:-1])[: raw_ordered.size])
    raw_sizes = np.diff(np.append(raw_starts, raw_ordered.size))
    return np.sort(raw_order[np.repeat(raw_sizes > rows, raw_sizes)])


def _beaten(contenders: Contenders, rows: int) -> NDArray[np.bool_]:
    """Which of them are not among the first `rows` of their unit."""
    raw_order = np.lexsort((contenders.raw_marks, contenders.raw_seconds, contenders.raw_units))  # stable: then by place
    raw_units, raw_seconds = contenders.raw_units[raw_order], contenders.raw_seconds[raw_order]
    raw_opens = np.ones(raw_order.size, dtype=np.bool_)
    raw_opens[1:] = (raw_units[1:] != raw_units[:-1]) | (raw_seconds[1:] != raw_seconds[:-1])
    raw_numbers = np.arange(raw_order.size)
    raw_ranks = raw_numbers - np.maximum.accumulate(np.where(raw_opens, raw_numbers, 0))
    raw_beaten = np.zeros(raw_order.size, dtype=np.bool_)
    raw_beaten[raw_order] = raw_ranks >= rows
    return raw_beaten
