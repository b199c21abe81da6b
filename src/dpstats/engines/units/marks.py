"""Marks: keyed 64-bit hashes of cells, the same for the same value whatever type holds it.

What they must give: nobody who lays out the rows of a table without knowing the key can choose which of them have small marks and
are kept, nor make the marks of different values fall together more often than chance has them. Numbers and dates go through
SipHash, texts through BLAKE2b, both keyed.

What they need not give: they are no message authentication, they never leave the library, and privacy does not rest on them, with
one exception: two units whose pairs of marks (128 bits) fall together would share one bound. Among n units that happens with a
probability of about n**2 / 2**129.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Labels, Moments, Numbers, Opaque
from dpstats.engines.columns.instants import have_seconds
from dpstats.engines.exact.wholes import are_exact
from dpstats.engines.units.siphash import Words, siphash

_TWO_TO_53 = np.uint64(1 << 53)
_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
_UNITS = ["Y", "M", *_SECONDS, *_PARTS]


def mark_cells(cells: Cells, key: bytes, salt: int) -> Words:
    """One mark for each cell. The key has up to 64 bytes; another salt gives marks that have nothing to do with these.

    7, 7.0 and True are one number, and a day is the same as its midnight (as long as 64 bits can count its seconds). Missing
    cells have a mark of their own.
    """
    return _marks(cells, [_Keys(key, salt, 0)])[0]


def mark_pairs(cells: Cells, key: bytes, salt: int) -> tuple[Words, Words]:
    """Two marks for each cell, 128 bits in all."""
    first, second = _marks(cells, [_Keys(key, salt, 0), _Keys(key, salt, 1)])
    return first, second


def mark_firsts(cells: Cells, key: bytes, salt: int) -> Words:
    """The first mark of each pair, with no more work than that takes."""
    return mark_pairs(cells, key, salt)[0] if isinstance(cells, Labels) else mark_cells(cells, key, salt)


def combine_marks(marks: Sequence[Words], key: bytes, salt: int) -> Words:
    """One mark for each row from the marks of its cells, which must come from different salts.

    The sums of keyed marks of two different rows agree with probability 2**-64; hashed once more they are as good as random.
    """
    raw_sums = marks[0].copy()
    for raw_marks in marks[1:]:
        raw_sums += raw_marks
    return siphash([raw_sums], _Keys(key, salt, 0).derived(b"row"))


@dataclass(frozen=True)
class _Keys:
    """The keys of one word of marks, one for each purpose."""

    key: bytes
    salt: int
    place: int

    def derived(self, purpose: bytes, size: int = 16) -> bytes:
        return blake2b(
            key=self.key, salt=self.salt.to_bytes(8, "little"), person=purpose + bytes([self.place]), digest_size=size
        ).digest()

    def word(self, purpose: bytes) -> np.uint64:
        """A mark of its own."""
        return np.uint64(int.from_bytes(self.derived(purpose, 8), "little"))


def _marks(cells: Cells, keys: Sequence[_Keys]) -> list[Words]:
    """One array of marks for each word."""
    if isinstance(cells, Labels):
        return _label_marks(cells, keys)
    if isinstance(cells, Opaque):
        return [np.where(cells.raw_present, own.word(b"present"), own.word(b"missing")) for own in keys]
    if isinstance(cells, Moments):
        raw_missing: Any = np.isnat(cells.raw_values)
        marks = [_moment_marks(cells.raw_values, own) for own in keys]
    else:
        raw_missing = [] if cells.raw_present is None else ~cells.raw_present
        marks = [_number_marks(cells, own) for own in keys]
    for raw_marks, own in zip(marks, keys, strict=True):
        raw_marks[raw_missing] = own.word(b"missing")
    return marks


def _label_marks(cells: Labels, keys: Sequence[_Keys]) -> list[Words]:
    """The marks of texts; those that no cell has are not looked at."""
    raw_used = np.zeros(len(cells.raw_labels) + 1, dtype=np.bool_)
    raw_used[cells.raw_codes] = True  # -1, the code of missing cells, is the last place
    raw_found = np.flatnonzero(raw_used[:-1])
    raw_texts = cells.raw_labels if raw_found.size == len(cells.raw_labels) else [cells.raw_labels[code] for code in raw_found]
    raw_words = _text_words(raw_texts, keys[0].derived(b"text", 64), len(keys))
    marks = []
    for raw, own in zip(raw_words, keys, strict=True):
        raw_table = np.full(raw_used.size, own.word(b"missing"))
        raw_table[raw_found] = raw
        marks.append(raw_table[cells.raw_codes])
    return marks


def _text_words(raw_labels: Sequence[str], key: bytes, how_many: int) -> Sequence[Words]:
    """`how_many` words for each text."""
    fresh = blake2b(key=key, digest_size=8 * how_many)
    raw_digests = []
    for text in raw_labels:
        digest = fresh.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        raw_digests.append(digest.digest())
    raw_words = np.frombuffer(b"".join(raw_digests), dtype="<u8").reshape(-1, how_many)
    return list(raw_words.astype(np.uint64).T)


def _number_marks(cells: Numbers, keys: _Keys) -> Words:
    """The marks of numbers by the bits of the float64 that equals them, or, where none does, by the bits of the whole number."""
    raw_values = cells.raw_values
    with np.errstate(all="ignore"):
        raw_floats = raw_values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    raw_marks = siphash([raw_floats.view(np.uint64)], keys.derived(b"number"))
    if raw_values.dtype.kind in "iu" and not are_exact(raw_values):
        raw_between = _no_float_equals(raw_values)
        raw_bits = raw_values[raw_between].astype(np.uint64)
        raw_negative = (raw_values[raw_between] < 0).astype(np.uint64)
        raw_marks[raw_between] = siphash([raw_bits, raw_negative], keys.derived(b"whole"))
    return raw_marks


def _no_float_equals(raw_values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which whole numbers have more than 53 bits from their first to their last 1."""
    raw_bits = raw_values.astype(np.uint64)  # modulo 2**64
    raw_sizes = np.where(raw_values < 0, ~raw_bits + np.uint64(1), raw_bits)
    raw_lowest = np.maximum(raw_sizes & (~raw_sizes + np.uint64(1)), np.uint64(1))
    found: NDArray[np.bool_] = raw_sizes // raw_lowest >= _TWO_TO_53
    return found


def _moment_marks(raw_times: NDArray[np.datetime64], keys: _Keys) -> Words:
    """The marks of dates and times by their second and what is left of it, so that the unit that holds them does not matter.

    Those without a second of 64 bits are marked by their unit and their count of it.
    """
    raw_near = have_seconds(raw_times)
    if raw_near.all():
        return _near_marks(raw_times, keys)
    raw_marks = np.empty(raw_times.size, dtype=np.uint64)
    raw_marks[raw_near] = _near_marks(raw_times[raw_near], keys)
    raw_counts = raw_times[~raw_near].view(np.uint64)
    unit = np.full_like(raw_counts, _UNITS.index(np.datetime_data(raw_times.dtype)[0]))
    raw_marks[~raw_near] = siphash([raw_counts, unit], keys.derived(b"far"))
    return raw_marks


def _near_marks(raw_times: NDArray[np.datetime64], keys: _Keys) -> Words:
    unit, _ = np.datetime_data(raw_times.dtype)
    if unit in ("Y", "M"):
        raw_times, unit = raw_times.astype("M8[D]"), "D"
    raw_ticks = raw_times.view(np.int64)
    if unit in _PARTS:
        raw_seconds, raw_rest = np.divmod(raw_ticks, _PARTS[unit])
        raw_rest = raw_rest * (_PARTS["as"] // _PARTS[unit])
    else:
        raw_seconds, raw_rest = raw_ticks * _SECONDS[unit], np.zeros_like(raw_ticks)
    return siphash([raw_seconds.view(np.uint64), raw_rest.view(np.uint64)], keys.derived(b"moment"))
