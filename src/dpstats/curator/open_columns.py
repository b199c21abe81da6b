"""Open columns: columns that stay open from one question to the next, with what was found out about them.

A column's answers do not depend on what it was asked before, only the work behind them does. So a process that works on one
question after the other may keep the columns of a small table: what one has read, counted or sorted, the next one need not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from dpstats.engines.stores.reach import check_reachable
from dpstats.engines.stores.store import Store

MOST_COLUMNS = 32
"""Columns of one table that stay open, each for one set of conditions."""
MOST_ROWS = 1 << 18
"""Of a table whose columns stay open: so many are held whole."""


class OpenColumns:
    """The columns of one table that were used last. For one thread."""

    def __init__(self, store: Store) -> None:
        """`store` is the table's, which is looked at whenever a column is used again: it must not have changed."""
        self._store = store
        self._columns: OrderedDict[Hashable, Any] = OrderedDict()

    def find(self, key: Hashable, open_column: Callable[[], Any]) -> Any:
        """The column of that key; it is opened where it is not open yet."""
        if key in self._columns:
            check_reachable(self._store)
            self._columns.move_to_end(key)
        else:
            self._columns[key] = open_column()
            while len(self._columns) > MOST_COLUMNS:
                self._columns.popitem(last=False)
        return self._columns[key]
