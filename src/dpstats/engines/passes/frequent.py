"""Frequent numbers: those that at least so many rows have, by two passes that do not hold all different ones.

The first pass counts rows by a hash of their number. A number cannot have more rows than its hash has, so the second pass counts
only numbers whose hash has enough, exactly. What comes out does not depend on the hash.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Numbers
from dpstats.engines.exact.runs import Runs
from dpstats.engines.passes.collectors import NumberTally

HASH_BITS = 22
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class HashCount:
    """The number of rows for each hash of their number."""

    def __init__(self) -> None:
        self.counts = np.zeros(1 << HASH_BITS, dtype=np.int64)

    def fresh(self) -> HashCount:
        """No rows yet."""
        return HashCount()

    def take(self, cells: Cells, stored: int) -> None:
        """Count rows."""
        assert isinstance(cells, Numbers)
        np.add.at(self.counts, _hashes(cells.raw_values), 1)

    def absorb(self, other: HashCount) -> None:
        """Add other counts."""
        self.counts += other.counts


class FrequentTally:
    """The numbers that at least `least` rows have, with their counts."""

    def __init__(self, hashed: HashCount, least: int) -> None:
        """`hashed` has counted all rows."""
        self._raw_hashed = hashed
        self._raw_enough = hashed.counts >= least
        self._least = least
        self._tally = NumberTally()

    def fresh(self) -> FrequentTally:
        """The same hashes, and no rows."""
        return FrequentTally(self._raw_hashed, self._least)

    def take(self, cells: Cells, stored: int) -> None:
        """Count the numbers whose hash has enough rows."""
        assert isinstance(cells, Numbers)
        self._tally.add(cells.raw_values[self._raw_enough[_hashes(cells.raw_values)]])

    def absorb(self, other: FrequentTally) -> None:
        """Add another tally."""
        self._tally.absorb(other._tally)

    def runs(self) -> Runs:
        """The numbers, ascending, with their counts."""
        runs = self._tally.runs()
        raw_many = runs.counts >= self._least
        return Runs(0, runs.values[raw_many], runs.counts[raw_many])


def _hashes(raw_values: NDArray[Any]) -> NDArray[np.int64]:
    """A number below 2**HASH_BITS for each value, the same for values that are equal."""
    is_float = raw_values.dtype.kind == "f"
    raw_wide = raw_values.astype(np.float64) + 0.0 if is_float else raw_values.astype(np.int64)  # -0.0 is 0.0
    words = raw_wide.view(np.uint64)
    words = words ^ (words >> np.uint64(32))
    return ((words * _GOLDEN) >> np.uint64(64 - HASH_BITS)).astype(np.int64)
