"""Codes by cuts: a table says what a search would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.engines.passes import cut_tables
from dpstats.engines.passes.cut_tables import CutTable

TINY = 5e-324


@pytest.fixture(autouse=True)
def _few_rows_get_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_tables, "_MANY", 1)


def check(edges: NDArray[Any], values: NDArray[Any]) -> None:
    np.testing.assert_array_equal(CutTable(edges).codes(values), np.searchsorted(edges, values, side="right"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("also", [[], [0.0], [-0.0, np.inf], [-np.inf, TINY, -TINY, np.inf]])
def test_floats_of_all_sizes_and_signs(dtype: Any, also: list[float]) -> None:
    chance = np.random.default_rng(len(also))
    edges = np.unique(np.array([*chance.normal(size=40) * 10.0 ** chance.integers(-20, 20, 40), *also], dtype=dtype))
    near = [np.nextafter(edges, dtype(np.inf)), np.nextafter(edges, dtype(-np.inf)), edges]
    others = chance.normal(size=2000) * 10.0 ** chance.integers(-20, 20, 2000)
    check(edges, np.concatenate([*near, others.astype(dtype), np.array([0.0, -0.0, np.inf, -np.inf, TINY, -TINY], dtype=dtype)]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint32, np.uint64])
def test_whole_numbers_up_to_the_ends_of_their_type(dtype: Any) -> None:
    ends = np.iinfo(dtype)
    for low in (ends.min, max(ends.min, -50), ends.max - 100):
        values = np.array([low + step % 101 for step in range(1000)], dtype=dtype)
        check(np.unique(np.array([ends.min, low + 3, low + 50, ends.max], dtype=dtype)), values)
    check(np.array([3], dtype=dtype), np.array([ends.min, ends.max], dtype=dtype))  # too far apart for a table


def test_no_cuts_give_one_code() -> None:
    check(np.array([], dtype=np.float64), np.array([1.0, -2.0]))
