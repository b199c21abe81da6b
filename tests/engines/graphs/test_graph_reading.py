"""Graphs are read the same from every container, and nothing that a row holds is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse

from dpstats.engines.graphs.given import given_graph
from dpstats.engines.graphs.labels import distinct_labels
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
    "scipy": sparse,
    "networkx": Network,
    "rows that are none": lambda: [*PAIRS, None, 5, (1,), (1, 2, 3), "ab", (None, 1), ([], 1), (float("nan"), 2), (1, 99)],
}


def edges_of(graph: SimpleGraph) -> set[tuple[int, int]]:
    return set(zip(graph.raw_low.tolist(), graph.raw_high.tolist(), strict=True))


@pytest.mark.parametrize("kind", MAKERS)
def test_every_container_is_the_same_graph(kind: str) -> None:
    given = given_graph(MAKERS[kind]())
    graph = read_graph(given, None if given.nodes else SIZE)
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


def test_huge_numbers_are_labels_too() -> None:
    assert edges_of(read_graph(given_graph([(2**70, 1), (1, 2**70)]), [1, 2**70])) == {(0, 1)}
    unsigned = np.array([[2**64 - 1, 1]], dtype=np.uint64)
    assert edges_of(read_graph(given_graph(unsigned), [1, 2**64 - 1])) == {(0, 1)}


@pytest.mark.parametrize("bad", [5, None, "edges", np.zeros((3, 3)), np.zeros(4), {"a": [1]}, scipy.sparse.eye_array(2, 3)])
def test_what_has_no_edges_is_refused_by_its_type(bad: Any) -> None:
    with pytest.raises(DataTypeError):
        given_graph(bad)
