"""Graphs are read the same from every container, and nothing that a row holds is an error."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from dpstats.engines.graphs.given import given_graph
from dpstats.engines.graphs.labels import distinct_labels, places_of_labels
from dpstats.engines.graphs.reading import read_graph
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.simple_graphs import SimpleGraph

PAIRS = [(0, 1), (1, 0), (2, 1), (3, 3), (0, 1), (4, 2)]
EDGES = {(0, 1), (1, 2), (2, 4)}
SIZE = 6


class Network:
    """What networkx's graphs have."""

    def edges(self) -> Iterator[tuple[int, int]]:
        return iter(PAIRS)

    @property
    def nodes(self) -> list[int]:
        return list(range(SIZE))


def sparse() -> Any:
    first, second = zip(*PAIRS, strict=True)
    matrix = scipy.sparse.coo_array((np.ones(len(PAIRS)), (first, second)), shape=(SIZE, SIZE)).tolil()
    matrix[5, 0] = 0
    return matrix.tocsr()


COLUMNS = {"a": [low for low, _ in PAIRS], "b": [high for _, high in PAIRS]}
MAKERS: dict[str, Callable[[], Any]] = {
    "list": lambda: PAIRS,
    "generator": lambda: (pair for pair in PAIRS),
    "array": lambda: np.array(PAIRS),
    "floats": lambda: np.array([*PAIRS, (np.nan, 1)]),
    "objects": lambda: np.array(PAIRS, dtype=object),
    "dict": lambda: COLUMNS,
    "pandas": lambda: pandas.DataFrame(COLUMNS),
    "polars": lambda: polars.DataFrame(COLUMNS),
    "arrow": lambda: pyarrow.table(COLUMNS),
    "masked array": lambda: np.ma.array([*PAIRS, (3, 4)], mask=[[False, False]] * len(PAIRS) + [[False, True]]),
    "dict of masked arrays": lambda: {
        "a": np.array([*COLUMNS["a"], 3]),
        "b": np.ma.array([*COLUMNS["b"], 4], mask=[*[False] * 6, True]),
    },
    "dict of arrow columns": lambda: {name: pyarrow.array([*column, None]) for name, column in COLUMNS.items()},
    "dict of arrow columns, half a row": lambda: {
        "a": pyarrow.array([*COLUMNS["a"], 3]),
        "b": pyarrow.chunked_array([COLUMNS["b"], [None]]),
    },
    "scipy": sparse,
    "networkx": Network,
    "rows that are none": lambda: [*PAIRS, None, 5, (1,), (1, 2, 3), "ab", (None, 1), ([], 1), (float("nan"), 2), (1, 99)],
}


def edges_of(graph: SimpleGraph) -> set[tuple[int, int]]:
    return set(zip(graph.raw_low.tolist(), graph.raw_high.tolist(), strict=True))


@pytest.mark.parametrize("kind", MAKERS)
def test_every_container_is_the_same_graph(kind: str) -> None:
    found = given_graph(MAKERS[kind]())
    graph = read_graph(found, None if found.nodes else SIZE)
    assert graph.size == SIZE
    assert edges_of(graph) == EDGES
    assert graph.raw_degrees.tolist() == [1, 2, 2, 0, 1, 0]


@pytest.mark.parametrize(
    "nodes", [range(SIZE), list(range(SIZE)), np.arange(SIZE), pandas.Series(range(SIZE)), (0, 1, 2, 3, 4, 5)]
)
def test_nodes_may_be_listed_in_any_form(nodes: Any) -> None:
    assert edges_of(read_graph(given_graph(PAIRS), nodes)) == EDGES
    assert edges_of(read_graph(given_graph([*PAIRS, ("x", 1)]), nodes)) == EDGES


def test_ends_that_are_not_listed_are_nobodys() -> None:
    graph = read_graph(given_graph(PAIRS), [1, 2, 9])
    assert (graph.size, edges_of(graph)) == (3, {(0, 1)})


def test_texts_and_numbers_are_labels() -> None:
    graph = read_graph(given_graph([("ann", "bob"), ("bob", "ann"), ("cy", 3)]), ["cy", "bob", "ann", 3, "dan"])
    assert (graph.size, edges_of(graph)) == (5, {(1, 2), (0, 3)})


def test_pairs_name_their_own_nodes_where_none_are_listed() -> None:
    assert read_graph(given_graph([(7, 9), (9, 11)])).size == 3
    assert read_graph(given_graph([("a", "b")])).size == 2
    assert read_graph(given_graph([])).size == 0


def test_the_order_of_labels_does_not_depend_on_who_else_is_there() -> None:
    labels = [3, "b", 1.5, "a", (1, 2), b"x", 10**30]
    order = list(distinct_labels(labels))
    for left_out in labels:
        assert list(distinct_labels([each for each in labels if each != left_out])) == [
            each for each in order if each != left_out
        ]


class Person:
    """A label without an order or a representation of its own."""

    def __init__(self, name: int) -> None:
        self.name = name

    def __repr__(self) -> str:
        raise RuntimeError("Ann")


def test_labels_without_an_order_keep_their_place_in_the_list_whoever_else_is_there() -> None:
    people = [Person(name) for name in range(8)]
    people.sort(key=id, reverse=True)
    listed = [people[0], 3, *people[1:5], "b", 1, *people[5:], "a"]
    assert list(distinct_labels(listed)) == [1, 3, "a", "b", *people]
    for left_out in listed:
        assert list(distinct_labels([each for each in listed if each is not left_out])) == [
            each for each in (1, 3, "a", "b", *people) if each is not left_out
        ]


@given(st.permutations([(0, 1), (1, 2), (2, 3), (0, 4), (3, 5), (4, 1)]), st.integers(0, 5))
def test_rows_do_not_decide_the_order_of_a_list(pairs: list[tuple[int, int]], left_out: int) -> None:
    people = [Person(name) for name in range(6)]
    whole = read_graph(given_graph([(people[one], people[other]) for one, other in pairs]), people)
    assert edges_of(whole) == {(min(pair), max(pair)) for pair in pairs}
    rest = [(people[one], people[other]) for one, other in pairs if left_out not in (one, other)]
    smaller = read_graph(given_graph(rest), [each for each in people if each.name != left_out])
    kept = [name for name in range(6) if name != left_out]
    assert {(kept[low], kept[high]) for low, high in edges_of(smaller)} == {
        pair for pair in edges_of(whole) if left_out not in pair
    }


class Raising:
    """Whatever is done with it fails."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> int:
        raise RuntimeError("row 17 is Ann's")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("row 17 is Ann's")


class Quarrelsome:
    """A label that is itself, and fails where it is compared with others."""

    def __hash__(self) -> int:
        return 3

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        raise RuntimeError("Ann")


ODD_ROWS: list[Any] = [
    Raising(),
    Quarrelsome(),
    (Quarrelsome(), 1),
    (1, Person(1)),
    "ab",
    b"ab",
    bytearray(b"\1\3"),
    {1: 2, 3: 4},
]
ODD_ROWS += [(np.array(1), 3), (2**70, 1), (2.5, 1), ("x", 3), iter([1]), itertools.count(), [[1], [3]], (3, 3), (True, 5, 5)]


@pytest.mark.parametrize("row", ODD_ROWS, ids=lambda row: type(row).__name__)
@pytest.mark.parametrize("nodes", [SIZE, list(range(SIZE))])
def test_no_row_decides_how_others_are_read(row: Any, nodes: Any) -> None:
    several = [(9, 9), row, {4, 5}, frozenset((3, 5)), np.array([0, 5]), [0, 3]]
    found = read_graph(given_graph([*PAIRS, *several]), nodes)
    assert edges_of(found) == EDGES | {(4, 5), (3, 5), (0, 5), (0, 3)}
    assert edges_of(read_graph(given_graph([*PAIRS, row]), SIZE)) == EDGES


def test_no_label_hides_a_number_or_a_text() -> None:
    class Text(str):
        __slots__ = ()

    assert list(distinct_labels([Quarrelsome(), 3, Text("a"), "a", Decimal(2), 2, 1])) == [1, 2, 3, "a"]
    assert type(next(iter(distinct_labels([Text("a"), "a"])))) is str


def test_missing_cells_of_a_frame_leave_large_numbers_as_they_are() -> None:
    large = 2**60
    columns: dict[str, list[Any]] = {"a": [large, large + 2, None], "b": [large + 1, large + 3, large]}
    for frame in (polars.DataFrame(columns), pyarrow.table(columns), pandas.DataFrame(columns, dtype="Int64")):
        assert edges_of(read_graph(given_graph(frame), [large + step for step in range(4)])) == {(0, 1), (2, 3)}
    listed = polars.Series([None, *(large + step for step in range(4))])
    assert edges_of(read_graph(given_graph([(large, large + 1)]), listed)) == {(0, 1)}


@pytest.mark.parametrize(
    "end", [2.5, "x", Decimal(1), Fraction(1), 1.0, Decimal("1e999999"), complex(1, 0), -1, 10**30, math.inf]
)
def test_a_number_of_nodes_takes_no_memory_whatever_an_end_is(end: Any) -> None:
    number = 2**31 - 1
    assert places_of_labels([end, number - 1], number).tolist() == [1 if end == 1 else -1, number - 1]
    tracemalloc.start()
    graph = read_graph(given_graph([(end, 0), (2, 0)]), 10**6)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert edges_of(graph) == ({(0, 2), (0, 1)} if end == 1 else {(0, 2)})
    assert used < 10**6


def test_huge_numbers_are_labels_too() -> None:
    assert edges_of(read_graph(given_graph([(2**70, 1), (1, 2**70)]), [1, 2**70])) == {(0, 1)}
    unsigned = np.array([[2**64 - 1, 1]], dtype=np.uint64)
    assert edges_of(read_graph(given_graph(unsigned), [1, 2**64 - 1])) == {(0, 1)}


@pytest.mark.parametrize("bad", [5, None, "edges", np.zeros((3, 3)), np.zeros(4), {"a": [1]}, scipy.sparse.eye_array(2, 3)])
def test_what_has_no_edges_is_refused_by_its_type(bad: Any) -> None:
    with pytest.raises(DataTypeError):
        given_graph(bad)
