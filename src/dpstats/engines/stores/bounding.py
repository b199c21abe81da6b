"""Bounding: any store with at most a given number of rows of each unit."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dpstats.engines.stores.store import LocalStore, Store
from dpstats.engines.units.contributions import Bound, BoundedStore


@runtime_checkable
class BoundsItself(Protocol):
    """A store that has a way of its own to bound its rows."""

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit."""
        ...


def bounded(store: Store, bound: Bound) -> Store:
    """The same table with at most `bound.rows` rows of each unit; nothing is read before a job runs."""
    if isinstance(store, BoundsItself):
        return store.bounded(bound)
    if isinstance(store, LocalStore):
        return BoundedStore(store, bound)
    raise NotImplementedError("units are bounded before rows are put into groups.")
