"""Universes, their queries and their multisets against what counting one by one says."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, UnknownNameError
from dpstats.statistics.universe.multisets import Multisets
from dpstats.statistics.universe.universe import Universe
from dpstats.statistics.universe.workload import Workload
from tests.laws.universes import counted, databases, marginal_queries

MIXED = Universe(("town", "age", "sick"), (("Ayr", "Bree", "Cork"), (1, 2), (False, True)))


def test_cells_are_rows_in_the_order_of_a_product() -> None:
    assert [MIXED.row(cell) for cell in (0, 1, 2, 11)] == [
        ("Ayr", 1, False),
        ("Ayr", 1, True),
        ("Ayr", 2, False),
        ("Cork", 2, True),
    ]


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(3, 2, 2), (2, 2, 2, 2), (1, 4, 2)])
def test_a_workload_is_all_cells_of_all_marginal_tables(sizes: tuple[int, ...], ways: int) -> None:
    universe = Universe(tuple("abcd"[: len(sizes)]), tuple(tuple(range(size)) for size in sizes))
    workload, queries = Workload(universe, ways), marginal_queries(sizes, ways)
    counts = np.random.default_rng(1).integers(0, 100, universe.cells)
    assert workload.queries == len(queries)
    assert [tuple(workload.inside(number).astype(int)) for number in range(workload.queries)] == queries
    assert workload.answers(counts).tolist() == [counted(query, counts.tolist()) for query in queries]
    for number, query in enumerate(queries):
        columns, levels = workload.query(number)
        rows = [dict(zip(universe.columns, universe.row(cell), strict=True)) for cell in range(universe.cells)]
        assert query == tuple(int(all(row[c] == v for c, v in zip(columns, levels, strict=True))) for row in rows)


def test_a_marginal_names_levels_in_the_order_of_its_columns() -> None:
    counts = np.arange(12)
    shares = MIXED.shares(counts, ("sick", "town"))
    assert list(shares)[:2] == [(False, "Ayr"), (False, "Bree")]
    assert shares[(True, "Bree")] == (5 + 7) / counts.sum()
    assert MIXED.shares(counts, "age") == {(1,): (0 + 1 + 4 + 5 + 8 + 9) / 66, (2,): (2 + 3 + 6 + 7 + 10 + 11) / 66}


@pytest.mark.parametrize(("cells", "size"), [(1, 3), (2, 5), (3, 2), (4, 3), (4, 4), (6, 2), (5, 1), (3, 7)])
def test_numbers_name_every_multiset_once(cells: int, size: int) -> None:
    multisets = Multisets(cells, size)
    found = [tuple(multisets.counts(number).tolist()) for number in range(multisets.number)]
    assert multisets.number == math.comb(cells + size - 1, size)
    assert Counter(found) == Counter(databases(cells, size))
    rows = np.random.default_rng(2).integers(0, 9, (cells, 3)).astype(np.uint64)
    assert (multisets.sums(np.arange(multisets.number), rows) == np.array(found).astype(np.uint64) @ rows).all()


@pytest.mark.parametrize(
    ("columns", "levels", "complaint"),
    [
        ((), (), "at least one column"),
        (("a", "a"), ((1,), (1,)), "a name of its own"),
        (("a",), ((1,), (2,)), "for each column"),
        (("a",), ((),), "at least one level"),
        (("a",), ((1, 1),), "listed once"),
        (("a", "b"), (tuple(range(2000)),) * 2, "combinations of levels"),
    ],
)
def test_a_universe_that_cannot_be_is_refused(
    columns: tuple[str, ...], levels: tuple[tuple[int, ...], ...], complaint: str
) -> None:
    with pytest.raises(InvalidParameterError, match=complaint):
        Universe(columns, levels)


def test_queries_and_counts_that_do_not_fit_are_refused() -> None:
    for ways in (0, 4, True, 1.0):
        with pytest.raises(InvalidParameterError, match="ways"):
            Workload(MIXED, ways)
    wide = Universe(tuple(f"c{place}" for place in range(20)), ((0, 1),) * 20)
    with pytest.raises(InvalidParameterError, match="fewer ways"):
        Workload(wide, 10)
    with pytest.raises(UnknownNameError, match="no column 'wealth'"):
        MIXED.shares(np.arange(12), "wealth")
    with pytest.raises(InvalidParameterError, match="once"):
        MIXED.shares(np.arange(12), ("age", "age"))
    for counts in (np.zeros(11, dtype=np.int64), np.zeros(12)):
        with pytest.raises(DataTypeError, match="12 cells"):
            MIXED.checked_counts(counts)


def test_a_universe_comes_back_from_plain_values() -> None:
    assert Universe.from_dict(MIXED.to_dict()) == MIXED
