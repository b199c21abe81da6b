"""The ceiling on what one plan simulates, counted in rows: a plan that would take hours is refused before it begins."""

from __future__ import annotations

from collections.abc import Sequence

from dpstats.foundations.errors import InvalidParameterError

MOST_WORK = 10**9
"""Rows that the tables of a plan have drawn, all together: some minutes for most statistics."""
TABLE_WORK = 10_000
"""What a table takes whatever it holds, in rows."""


def refuse_too_much(tables: int, repeats: int, drawn: Sequence[int] = ()) -> None:
    """Raise where `tables` of `repeats` tables each are too many; `drawn` has the rows that one table of each line draws."""
    of_each = tables * TABLE_WORK + sum(drawn)
    if of_each * repeats <= MOST_WORK:
        return
    most = MOST_WORK // of_each
    lower = f"repeats={most:,} can be done" if most else "plan fewer lines, or smaller tables, with n="
    rows = f" of up to {max(drawn):,} rows" if drawn else ""
    raise InvalidParameterError(
        f"this plan would simulate {tables * repeats:,} tables{rows}, which is more than plan does at once: {lower}. Without "
        "repeats= and rng=, usual questions are read off stored tables."
    )


class WorkLeft:
    """What a search may still simulate."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left = most

    def spend(self, drawn: int) -> None:
        """Count a table of which so many rows were drawn; raise where nothing is left."""
        self._left -= TABLE_WORK + drawn
        if self._left < 0:
            raise InvalidParameterError(
                "this search has simulated as much as plan does at once: name fewer sizes with n=, fewer shapes, or epsilon in "
                "place of half_width."
            )
