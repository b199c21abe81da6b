"""Every container gives the windows and the ranks that a sorted Python list gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.engines import arrays
from dpstats.engines.cells import ColumnType
from dpstats.engines.reading import type_of
from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import WindowRequest
from dpstats.foundations.units import float_of_whole

REQUESTS = [
    [WindowRequest(Fraction(1, 2), 30)],
    [WindowRequest(Fraction(1, 4), 100), WindowRequest(Fraction(3, 4), 100), WindowRequest(Fraction(1, 3), 1)],
    [WindowRequest(Fraction(0), 3), WindowRequest(Fraction(1), 3)],
    [WindowRequest(Fraction(0), 0), WindowRequest(Fraction(1, 2), 0), WindowRequest(Fraction(1), 0)],
    [WindowRequest(Fraction(99, 100), 2000), WindowRequest(Fraction(1, 1000), 5)],
]
CUTS = [0, 0.5, 1, 7.25, 50.0, 2**53 + 1, 2**53 + 1.5e4, -math.inf, math.inf, math.nan, 10**400, -(10**400), 2**64, -(2**64)]


BY_PASSES, FROM_A_SORTED_COPY = 10**9, 0
"""What columns do with much patience, and with none."""


@pytest.fixture
def columns(ugly: Any, container: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """A column that looks for its windows by passes, or from a sorted copy, and its oracle; of containers that become the
    array that numpy's is, by passes only.
    """
    data = container(ugly)
    both = container.__name__ in ("_as_numpy", "_as_arrow_chunks")
    monkeypatch.setattr(arrays, "SMALL_ROWS", 0)

    def each() -> Iterator[tuple[Any, Any]]:
        for patience in (BY_PASSES, FROM_A_SORTED_COPY)[: 1 + both]:
            monkeypatch.setattr(arrays, "PATIENCE", patience)
            yield as_column(data), oracle_of(data, ugly)

    return each()


def oracle_of(data: Any, ugly: Any) -> Any:
    """What a sorted list says about the rows of a container; without a declared type whole numbers are floats, one by one."""
    if type_of(data) is not ColumnType.UNDECLARED:
        return ugly.oracle
    return type(ugly.oracle)([float_of_whole(row) if isinstance(row, int) else float(row) for row in ugly.oracle.present])


def test_every_container_gives_the_windows_of_the_sorted_list(columns: Iterator[tuple[Any, Any]]) -> None:
    for column, oracle in columns:
        for requests in REQUESTS:
            windows = column.order_windows(requests)
            assert len(windows) == len(requests)
            for window, request in zip(windows, requests, strict=True):
                oracle.check(window, request)
                assert window.raw_values.dtype == column.dtype


def test_every_container_counts_the_rows_of_the_sorted_list(
    columns: Iterator[tuple[Any, Any]], ugly: Any, container: Callable[[Any], Any]
) -> None:
    for column, oracle in columns:
        cuts = [*CUTS, *oracle.ordered[:: max(1, len(oracle.ordered) // 5)]]
        assert column.counts_below(cuts) == [oracle.count_below(cut) for cut in cuts]
        assert column.count() == len(oracle.ordered)
    assert as_column(container(ugly), numeric=False).count() == len(ugly.oracle.ordered)


def test_typed_containers_keep_the_type(ugly: Any, container: Callable[[Any], Any]) -> None:
    data = container(ugly)
    expected = {"bool": "uint8", "decimal": "float64"}.get(ugly.type, ugly.type)
    if not isinstance(data, list) and getattr(data, "dtype", None) != np.dtype(object):
        assert as_column(data).dtype == expected


def test_a_window_wider_than_the_column_is_the_column(ugly: Any) -> None:
    column = as_column(ugly.rows)
    request = WindowRequest(Fraction(1, 2), 10**9)
    (window,) = column.order_windows([request])
    oracle_of(ugly.rows, ugly).check(window, request)
    assert (window.raw_below, window.raw_above) == (0, 0)
