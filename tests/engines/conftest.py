"""Ugly columns, the containers that hold them, and the oracle: what a sorted Python list says about them."""

from __future__ import annotations

import bisect
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.exact import samples
from dpstats.foundations.summaries import OrderWindow, WindowRequest

INF, NAN = float("inf"), float("nan")
LARGE = 70_003  # more than the 2**16 rows that jobs take at once


class Oracle:
    """The truth about some rows, from a sorted list."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.present = [row + 0 for row in rows if row is not None and row == row]  # + 0: -0.0 is 0.0, True is 1
        self.ordered = sorted(self.present)
        self.counts = Counter(self.ordered)

    def window(self, request: WindowRequest) -> tuple[int, int, list[Any], list[int]]:
        """Rows, rows below, values and counts, trimmed to the values that touch the requested ranks."""
        rows = len(self.ordered)
        first, last = request.ranks(rows)
        if first > last:  # the target falls between two rows and the margin is 0: both of them
            first, last = max(1, last), min(rows, first)
        wanted = self.ordered[first - 1 : last]
        values = list(dict.fromkeys(wanted))
        below = bisect.bisect_left(self.ordered, values[0]) if values else 0
        return rows, below, values, [self.counts[value] for value in values]

    def count_below(self, cut: float | int) -> int:
        """Rows strictly below a cut."""
        return 0 if cut != cut else bisect.bisect_left(self.ordered, cut)

    def check(self, window: OrderWindow, request: WindowRequest) -> None:
        """Demand the very same window."""
        rows, below, values, counts = self.window(request)
        assert (window.raw_rows, window.raw_below) == (rows, below)
        assert [repr(value) for value in window.raw_values.tolist()] == [repr(value) for value in values]  # repr tells -0.0
        assert window.raw_counts.tolist() == counts
        assert window.raw_counts.dtype == np.int64
        assert window.raw_above == rows - below - sum(counts)


@dataclass(frozen=True)
class Ugly:
    """A column that has broken somebody's code before: rows, None where missing, and the type that holds them."""

    name: str
    rows: Sequence[Any]
    type: str = "float64"

    @cached_property
    def oracle(self) -> Oracle:
        """What a sorted list says about the rows."""
        return Oracle([float(row) if isinstance(row, Decimal) else row for row in self.rows])


def _ugly_columns() -> list[Ugly]:
    chance = random.Random(20240229)
    normal = [chance.gauss(50, 15) for _ in range(LARGE)]
    organ_pipe = [float(min(index, LARGE - index)) for index in range(LARGE)]
    killer = [float(index + 1 if index % 2 == 0 else LARGE // 2 + index) for index in range(LARGE // 2)]
    killer += [float(2 * index) for index in range(LARGE // 2)]
    holes = [None if chance.random() < 0.3 else value for value in normal]
    return [
        Ugly("no rows", []),
        Ugly("no rows of int", [], "int64"),
        Ugly("one row", [3.5]),
        Ugly("two rows", [2.0, -1.0]),
        Ugly("all missing", [None] * 5),
        Ugly("all missing of int", [None] * 5, "int64"),
        Ugly("all missing, large", [None] * LARGE),
        Ugly("two rows among missing ones, large", [1.0, *[None] * LARGE, 2.0]),
        Ugly("nan", [NAN, 1.0, NAN, 0.5, None]),
        Ugly("infinities", [INF, -INF, 0.0, INF, 1e308, -INF, -1e308]),
        Ugly("infinities, large", [chance.choice((INF, -INF, 1.0, 2.0, NAN)) for _ in range(LARGE)]),
        Ugly("zeros of both signs", [-0.0, 0.0, -0.0, 1.0, -1.0]),
        Ugly("zeros of both signs, large", [chance.choice((-0.0, 0.0, -1.0, 5e-324)) for _ in range(LARGE)]),
        Ugly("denormals", [5e-324 * chance.randrange(-300, 300) for _ in range(LARGE)]),
        Ugly("neighbouring floats", [1.0 + 2.0**-52 * chance.randrange(1000) for _ in range(LARGE)]),
        Ugly("normal", normal),
        Ugly("normal with holes", holes),
        Ugly("sorted", sorted(normal)),
        Ugly("reversed", sorted(normal, reverse=True)),
        Ugly("organ pipe", organ_pipe),
        Ugly("median of 3 killer", killer),
        Ugly("constant", [7.25] * LARGE),
        Ugly("constant but one", [7.25] * LARGE + [-1.0]),
        Ugly("ties", [float(round(value)) for value in normal]),
        Ugly("three values, heavy middle", [chance.choice((0.0, 1.0, 1.0, 1.0, 2.0)) for _ in range(LARGE)]),
        Ugly("two values half and half", [float(index % 2) for index in range(LARGE + 1)]),
        Ugly("heavy tie in noise", [0.0 if chance.random() < 0.4 else value - 50 for value in normal]),
        Ugly("float32", [float(np.float32(value)) for value in normal], "float32"),
        Ugly("whole numbers", [chance.randrange(-40, 400) for _ in range(LARGE)], "int64"),
        Ugly("beyond 2**53", [2**53 + chance.randrange(5000) for _ in range(LARGE)], "int64"),
        Ugly("beyond 2**53 with holes", [chance.choice((2**53 + 1, 2**62 + 1, None, -(2**60) - 1)) for _ in range(99)], "int64"),
        Ugly("int64 ends", [chance.choice((-(2**63), 2**63 - 1, 2**63 - 2, 0)) for _ in range(LARGE)], "int64"),
        Ugly("uint64 ends", [chance.choice((0, 1, 2**63, 2**64 - 1, 2**64 - 2)) for _ in range(LARGE)], "uint64"),
        Ugly("int8", [chance.randrange(-128, 128) for _ in range(LARGE)], "int8"),
        Ugly("booleans", [chance.random() < 0.3 for _ in range(LARGE)], "bool"),
        Ugly("booleans with holes", [True, None, False, True], "bool"),
        Ugly("decimals", [Decimal(chance.randrange(10**15)).scaleb(-2) for _ in range(2000)], "decimal"),
        Ugly("decimals with holes", [Decimal("0.1"), None, Decimal("-0.30"), Decimal("12345678901234.5")], "decimal"),
    ]


def _as_numpy(ugly: Ugly) -> Any:
    if ugly.type == "decimal":
        return np.array(ugly.rows, dtype=object)
    if ugly.type.startswith("float"):
        return np.array(ugly.rows, dtype=ugly.type)
    holes = [row is None for row in ugly.rows]
    array = np.array([0 if row is None else row for row in ugly.rows], dtype=ugly.type)
    return np.ma.array(array, mask=holes) if any(holes) else array


def _arrow_type(ugly: Ugly) -> Any:
    return pa.decimal128(30, 4) if ugly.type == "decimal" else getattr(pa, ugly.type + "_" * (ugly.type == "bool"))()


def _as_pandas(ugly: Ugly) -> Any:
    return pd.Series(list(ugly.rows), dtype=object if ugly.type == "decimal" or None in ugly.rows else ugly.type)


def _as_pandas_nullable(ugly: Ugly) -> Any:
    if ugly.type == "decimal":
        return pd.array(_as_pandas_arrow(ugly))
    names = {"bool": "boolean", "uint64": "UInt64"}
    return pd.Series(list(ugly.rows), dtype=names.get(ugly.type, ugly.type.capitalize()))


def _as_pandas_arrow(ugly: Ugly) -> Any:
    return pd.Series(list(ugly.rows), dtype=pd.ArrowDtype(_arrow_type(ugly)))


def _as_polars(ugly: Ugly) -> Any:
    types: dict[str, Any] = {"bool": pl.Boolean, "decimal": pl.Decimal(30, 4), "uint64": pl.UInt64}
    return pl.Series(list(ugly.rows), dtype=types.get(ugly.type) or getattr(pl, ugly.type.capitalize()))


def _as_polars_chunks(ugly: Ugly) -> Any:
    whole = _as_polars(ugly)
    third = len(whole) // 3
    return pl.concat([whole[:third], whole[third:third], whole[third:]], rechunk=False)


def _as_arrow(ugly: Ugly) -> Any:
    return pa.array(list(ugly.rows), type=_arrow_type(ugly))


def _as_arrow_chunks(ugly: Ugly) -> Any:
    whole = _as_arrow(ugly)
    third = len(whole) // 3
    return pa.chunked_array([whole[:third], whole[third:third], whole[third:]], type=whole.type)


CONTAINERS: dict[str, Callable[[Ugly], Any]] = {
    "list": lambda ugly: list(ugly.rows),
    "numpy": _as_numpy,
    "pandas": _as_pandas,
    "pandas nullable": _as_pandas_nullable,
    "pandas arrow": _as_pandas_arrow,
    "polars": _as_polars,
    "polars chunks": _as_polars_chunks,
    "pyarrow": _as_arrow,
    "pyarrow chunks": _as_arrow_chunks,
}


@pytest.fixture(autouse=True)
def _repeatable_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples decide no result; repeating them makes a failure repeat."""
    monkeypatch.setattr(samples, "urandom", random.Random(7).randbytes)


@pytest.fixture(scope="session", params=_ugly_columns(), ids=lambda ugly: ugly.name)
def ugly(request: pytest.FixtureRequest) -> Any:
    """Each ugly column in turn."""
    return request.param


@pytest.fixture(scope="session", params=list(CONTAINERS.values()), ids=list(CONTAINERS))
def container(request: pytest.FixtureRequest) -> Any:
    """Each way to hold a column in turn: a function from an ugly column to the object that holds it."""
    return request.param


@pytest.fixture(scope="session")
def oracle() -> type[Oracle]:
    """What a sorted list says about some rows."""
    return Oracle
