"""Truths: for each row whether a condition holds, does not hold, or is unknown (Kleene's three values, as in SQL)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Numbers

Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Truth:
    """The rows where a condition certainly holds, and those where it certainly does not; the others are unknown."""

    raw_yes: Rows
    raw_no: Rows

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.raw_yes & other.raw_yes, self.raw_no | other.raw_no)

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.raw_yes | other.raw_yes, self.raw_no & other.raw_no)

    def __invert__(self) -> Truth:
        return Truth(self.raw_no, self.raw_yes)

    def cells(self) -> Numbers:
        """1 where it holds, 0 where it does not, missing where it is unknown."""
        return Numbers(np.asarray(self.raw_yes, dtype=np.uint8), np.asarray(self.raw_yes | self.raw_no))


def truth_where(raw_holds: NDArray[Any], raw_present: Rows | None) -> Truth:
    """What was found of the rows, unknown where something that it needs is missing."""
    raw_holds = np.asarray(raw_holds, dtype=np.bool_)
    if raw_present is None:
        return Truth(raw_holds, ~raw_holds)
    return Truth(raw_holds & raw_present, ~raw_holds & raw_present)
