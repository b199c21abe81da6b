"""Makers of Iceberg tables for the shared suite."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.store import Store

NOT_IN_ICEBERG = frozenset({"unsigned", "clocks", "nothing"})


def new_iceberg_table(folder: Path, schema: pa.Schema) -> Any:
    """A table without rows in clinic/visits; the test is skipped where there is no pyiceberg, and fails under DPSTATS_NO_SKIP."""
    if not os.environ.get("DPSTATS_NO_SKIP"):
        pytest.importorskip("pyiceberg")
        pytest.importorskip("sqlalchemy")
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("tests", warehouse=f"file://{folder}")
    catalog.create_namespace("clinic")
    return catalog.create_table("clinic.visits", schema=schema)


def iceberg_table(pieces: Sequence[pl.DataFrame], folder: Path) -> Store:
    """Some pieces of a table, each a file."""
    table = new_iceberg_table(folder, pieces[0].to_arrow().schema)
    for piece in pieces:
        table.append(piece.to_arrow())
    return open_store(folder / "clinic" / "visits")[0]
