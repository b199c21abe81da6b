"""The stores of the shared suite, each made once: the whole ugly table, an empty one, and one of a single row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from dpstats.engines.stores.store import Store
from tests.engines.stores.makers import MAKERS, Maker
from tests.engines.stores.ugly import ugly_frame
from tests.object_store import ObjectServer, name_store, object_server


@dataclass(frozen=True)
class Shelf:
    """The stores that one maker makes."""

    maker: Maker
    store: Callable[[int], Store]
    """The ugly table with so many rows."""


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectServer]:
    """An object store that the environment names from now on."""
    with object_server() as server, pytest.MonkeyPatch.context() as patch:
        name_store(patch, server.url)
        yield server


@pytest.fixture(scope="session", params=MAKERS)
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Each kind of store in turn."""
    maker = MAKERS[request.param]

    @cache
    def store(rows: int) -> Store:
        return maker.make(ugly_frame(rows).drop(maker.lacks), tmp_path_factory.mktemp("store"), request)

    return Shelf(maker, store)
