"""Triangulation and junction trees, against what defines them."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.synthetic.junction_tree import JunctionTree, cells_of, model_cells, triangulated

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=8)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    sizes = draw(SIZES)
    columns = st.integers(0, len(sizes) - 1)
    cliques = st.lists(st.lists(columns, min_size=1, max_size=3, unique=True).map(tuple), max_size=8)
    return sizes, draw(cliques)


@given(graph=graphs())
def test_every_column_and_every_asked_clique_has_a_home(graph: tuple[list[int], list[tuple[int, ...]]]) -> None:
    sizes, cliques = graph
    tree = JunctionTree.of(sizes, cliques)
    for columns in [*cliques, *((column,) for column in range(len(sizes)))]:
        home = tree.home(columns)
        assert home is not None
        assert {column for column in columns if sizes[column] > 1} <= set(tree.cliques[home])
    assert set(range(len(sizes))) == set().union(*tree.cliques)
    for one, other in itertools.permutations(tree.cliques, 2):
        assert not set(one) <= set(other)


@given(graph=graphs())
def test_what_two_cliques_share_lies_in_every_clique_between_them(graph: tuple[list[int], list[tuple[int, ...]]]) -> None:
    tree = JunctionTree.of(*graph)
    assert tree.parents[0] == -1
    assert all(parent < clique for clique, parent in enumerate(tree.parents))
    for clique in range(1, len(tree.cliques)):
        drawn = set().union(*tree.cliques[:clique])
        assert drawn & set(tree.cliques[clique]) == set(tree.separators[clique])


@given(graph=graphs(), most=st.integers(1, 200))
def test_cells_are_counted_before_a_model_is_made(graph: tuple[list[int], list[tuple[int, ...]]], most: int) -> None:
    sizes, cliques = graph
    cells = sum(cells_of(sizes, clique) for clique in triangulated(sizes, cliques))
    assert JunctionTree.of(sizes, cliques).cells == model_cells(sizes, cliques) == cells
    assert (model_cells(sizes, cliques, most) <= most) == (cells <= most)


def test_a_cycle_of_four_columns_gets_the_cheaper_chord() -> None:
    cycle = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert sorted(triangulated([10, 2, 10, 2], cycle)) == [(0, 1, 3), (1, 2, 3)]
    assert model_cells([10, 2, 10, 2], cycle) == 80


def test_a_column_of_one_level_joins_no_clique() -> None:
    tree = JunctionTree.of([3, 1, 4], [(0, 1), (1, 2)])
    assert sorted(tree.cliques) == [(0,), (1,), (2,)]
    assert tree.cells == 8


def test_neighbors_are_parents_and_children() -> None:
    tree = JunctionTree.of([2] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    for clique, beside in enumerate(tree.neighbors):
        assert all(tree.parents[other] == clique or tree.parents[clique] == other for other in beside)
    assert sum(map(len, tree.neighbors)) == 2 * (len(tree.cliques) - 1)
