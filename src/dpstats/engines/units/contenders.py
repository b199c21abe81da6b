"""Contenders: rows of units that compete for the few places that each unit has."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.units.bitmaps import Bitmap
from dpstats.engines.units.siphash import Words

_SIEVE_BITS = 24
_MARK_BITS = 24  # of the word by which contenders are put in order; the others are the unit's


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


class Sieve:
    """Lets the rows of crowded units through, and those of some others: it looks at the first bits of the unit's first word."""

    def __init__(self) -> None:
        self._shift = np.uint64(64 - _SIEVE_BITS)
        self._raw_open = np.zeros(1 << _SIEVE_BITS, dtype=np.bool_)
        self.raw_closed = True

    def open_for(self, raw_words: Words) -> None:
        """Let units with these first words through from now on."""
        self._raw_open[raw_words >> self._shift] = True
        self.raw_closed = self.raw_closed and not raw_words.size

    def lets_through(self, raw_words: Words) -> NDArray[np.bool_]:
        """Which of the units with these first words get through; equal words fare alike."""
        found: NDArray[np.bool_] = self._raw_open[raw_words >> self._shift]
        return found

    def absorb(self, other: Sieve) -> None:
        """Let through what another one does, too."""
        self._raw_open |= other._raw_open
        self.raw_closed = self.raw_closed and other.raw_closed

    def __getstate__(self) -> bytes:
        return zlib.compress(np.packbits(self._raw_open).tobytes(), 1)

    def __setstate__(self, raw_state: bytes) -> None:
        self.__init__()  # type: ignore[misc]
        raw_bits = np.frombuffer(zlib.decompress(raw_state), dtype=np.uint8)
        self._raw_open = np.unpackbits(raw_bits).view(np.bool_)
        self.raw_closed = not self._raw_open.any()


def few_of_each(held: Sequence[Words], most: int) -> Words:
    """All the words in ascending order, each at most `most` times."""
    raw_words = np.concatenate([np.zeros(0, dtype=np.uint64), *held])
    raw_words.sort()
    raw_stay = np.ones(raw_words.size, dtype=np.bool_)
    raw_stay[most:] = raw_words[most:] != raw_words[:-most]
    return raw_words if raw_stay.all() else raw_words[raw_stay]


def crowded(raw_ordered: Words, rows: int) -> Words:
    """The words that stand more than `rows` times among words in ascending order."""
    found: Words = raw_ordered[rows:][raw_ordered[rows:] == raw_ordered[:-rows]]
    return found


def thinned(held: Sequence[Contenders], rows: int, raw_dropped: Bitmap) -> Contenders:
    """Those that are among the first `rows` of their unit, by their mark and then by their place; the others are dropped.

    The parts stand in the order of the table. The first of the first of parts are the first of the whole, so thinning may be done
    in between and as often as one likes.
    """
    contenders = held[0] if len(held) == 1 else _together(held)
    raw_beaten = _beaten(contenders, rows)
    raw_dropped.mark(contenders.raw_places[raw_beaten])
    return contenders.at(~raw_beaten)


def _together(held: Sequence[Contenders]) -> Contenders:
    return Contenders(
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_units for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_seconds for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.uint64), *(part.raw_marks for part in held)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.raw_places for part in held)]),
    )


def _beaten(contenders: Contenders, rows: int) -> NDArray[np.bool_]:
    """Which of them are not among the first `rows` of their unit.

    They are put in order by one word: the first bits of their unit, then the first bits of their mark, and the place decides
    between equal ones. Only where this cannot tell who comes first are all three words compared.
    """
    raw_beaten = np.zeros(len(contenders), dtype=np.bool_)
    mark_bits = np.uint64(_MARK_BITS)
    raw_keys = contenders.raw_units >> mark_bits << mark_bits | contenders.raw_marks >> (np.uint64(64) - mark_bits)
    raw_order = np.argsort(raw_keys, kind="stable")
    raw_groups = raw_keys[raw_order] >> mark_bits
    raw_starts = np.flatnonzero(np.append(True, raw_groups[1:] != raw_groups[:-1])[: raw_groups.size])
    raw_sizes = np.diff(np.append(raw_starts, raw_groups.size))
    raw_large = raw_sizes > rows
    if not raw_large.any():
        return raw_beaten
    raw_order = raw_order[np.repeat(raw_large, raw_sizes)]
    raw_sizes = raw_sizes[raw_large]
    raw_starts = np.cumsum(raw_sizes) - raw_sizes
    raw_ranks = np.arange(raw_order.size) - np.repeat(raw_starts, raw_sizes)
    raw_beaten[raw_order[raw_ranks >= rows]] = True
    raw_unsure = _unsure(contenders, raw_order, raw_starts, raw_keys, rows)
    if raw_unsure.any():
        raw_again = np.sort(raw_order[np.repeat(raw_unsure, raw_sizes)])
        raw_beaten[raw_again] = _surely_beaten(contenders.at(raw_again), rows)
    return raw_beaten


def _unsure(
    contenders: Contenders, raw_order: NDArray[np.int64], raw_starts: NDArray[np.int64], raw_keys: Words, rows: int
) -> NDArray[np.bool_]:
    """In which groups of more than `rows` contenders there are several units, or the first ones may be others than it seems."""
    raw_units, raw_seconds = contenders.raw_units[raw_order], contenders.raw_seconds[raw_order]
    raw_mixed = _any_within((raw_units[1:] != raw_units[:-1]) | (raw_seconds[1:] != raw_seconds[:-1]), raw_starts)
    raw_tied = raw_keys[raw_order[raw_starts + rows - 1]] == raw_keys[raw_order[raw_starts + rows]]
    if not raw_tied.any():
        return raw_mixed
    raw_marks = contenders.raw_marks[raw_order]
    raw_mixed |= raw_tied & _any_within(raw_marks[1:] < raw_marks[:-1], raw_starts)
    return raw_mixed


def _any_within(raw_between: NDArray[np.bool_], raw_starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """In which groups something is so between neighbours; what is so between the groups does not count."""
    raw_flags = np.append(False, raw_between)
    raw_flags[raw_starts] = False
    found: NDArray[np.bool_] = np.logical_or.reduceat(raw_flags, raw_starts)
    return found


def _surely_beaten(contenders: Contenders, rows: int) -> NDArray[np.bool_]:
    """Which of them are not among the first `rows` of their unit, by all words."""
    raw_order = np.lexsort((contenders.raw_marks, contenders.raw_seconds, contenders.raw_units))  # stable: then by place
    raw_units, raw_seconds = contenders.raw_units[raw_order], contenders.raw_seconds[raw_order]
    raw_opens = np.ones(raw_order.size, dtype=np.bool_)
    raw_opens[1:] = (raw_units[1:] != raw_units[:-1]) | (raw_seconds[1:] != raw_seconds[:-1])
    raw_numbers = np.arange(raw_order.size)
    raw_ranks = raw_numbers - np.maximum.accumulate(np.where(raw_opens, raw_numbers, 0))
    raw_beaten = np.zeros(raw_order.size, dtype=np.bool_)
    raw_beaten[raw_order] = raw_ranks >= rows
    return raw_beaten
