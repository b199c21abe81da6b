"""`dp.graphs`: what a question must say, what comes back, and a ledger that does not mix relations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.engines.graphs.given import given_graph
from dpstats.engines.graphs.reading import read_graph
from dpstats.foundations.privacy import GraphNeighbors
from dpstats.statistics.graphs.asked import GRAPH_STATISTICS
from dpstats.statistics.graphs.degree_values import expanded
from dpstats.statistics.graphs.flows import doubled_edges

RING = [(place, (place + step) % 60) for place in range(60) for step in (1, 2, 3)]
EDGE_ONLY = ("triangles", "k_stars", "clustering_coefficient", "degree_sequence")
ALL = (*EDGE_ONLY, "edge_count", "degree_distribution")


def asked(name: str, protect: str = "edge", seed: int | None = 3, **words: Any) -> Any:
    rng = None if seed is None else dp.testing.seeded(seed)
    return getattr(dp.graphs, name)(
        words.pop("graph", RING), **{"nodes": 60, "protect": protect, "epsilon": 2, "rng": rng, **words}
    )


@pytest.mark.parametrize("name", ALL)
def test_every_statistic_answers_for_edges(name: str) -> None:
    release = asked(name, seed=None)
    assert isinstance(release, dp.Release)
    assert release.cost == dp.PrivacyCost(2, 0, "edge", "edge")
    assert release.private
    assert "not that a node is in it" in str(release.card())
    assert release.cost.neighbors is GraphNeighbors.EDGE


@pytest.mark.parametrize("name", ["edge_count", "degree_distribution"])
def test_some_answer_for_nodes(name: str) -> None:
    release = asked(name, "node", epsilon=20, unit="person")
    assert release.cost == dp.PrivacyCost(20, 0, "node", "person")
    assert "whether any one person is in the graph, with all edges of that person" in str(release.card())


@pytest.mark.parametrize("name", ALL)
def test_whom_to_protect_has_no_default(name: str) -> None:
    with pytest.raises(dp.MissingParameterError, match=r"friendship.*person"):
        asked(name, None)  # type: ignore[arg-type]
    with pytest.raises(dp.InvalidParameterError, match="'edge' or 'node'"):
        asked(name, "row")


@pytest.mark.parametrize("name", EDGE_ONLY)
def test_what_is_not_there_for_nodes_says_so(name: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match="protect='edge' only"):
        asked(name, "node")


@pytest.mark.parametrize("name", [each for each in ALL if each != "edge_count"])
def test_pairs_need_their_nodes_listed(name: str) -> None:
    with pytest.raises(dp.MissingParameterError, match="give nodes"):
        asked(name, nodes=None)
    assert asked("edge_count", nodes=None)


class Network:
    """A graph of networkx that was made of edges: these brought its nodes in."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.nodes = sorted({end for pair in pairs for end in pair})

    def __iter__(self) -> Iterator[int]:
        return iter(self.nodes)

    def edges(self) -> list[tuple[int, int]]:
        return self.pairs


@pytest.mark.parametrize("protect", ["edge", "node"])
def test_nodes_that_edges_brought_in_are_not_taken_for_public_ones(protect: str) -> None:
    network = Network(RING)
    with pytest.raises(dp.MissingParameterError, match=r"nodes=list\(graph\)"):
        asked("degree_distribution", protect, graph=network, nodes=None)
    listed = asked("degree_distribution", protect, graph=network, nodes=list(network), epsilon=50)
    assert listed.value.nodes == pytest.approx(60, abs=2)
    assert asked("edge_count", protect, graph=network, nodes=None)


NO_NODES: list[Any] = [
    2.5,
    np.float64(3),
    np.array(51),
    np.ones((3, 2)),
    {"a": 1}.items,
    {1, 2},
    frozenset((1, 2)),
    2**31,
    np.bool_(True),
]
NO_NODES += [pd.DataFrame({"a": range(51)}), pyarrow.table({"a": [1]}), polars.DataFrame({"a": [1]}), b"ab", object(), 1j]


@pytest.mark.parametrize("nodes", NO_NODES, ids=lambda nodes: type(nodes).__name__)
def test_nodes_of_a_wrong_kind_are_an_error_before_anything_is_spent(nodes: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="nodes must be"):
        asked("degree_distribution", nodes=nodes)
    with pytest.raises(dp.InvalidParameterError, match="nodes must be"):
        dp.graphs.protect(RING, nodes=nodes, protect="edge", budget=dp.Budget(epsilon=1), ledger=":memory:")


COLUMNS: list[Any] = [np.arange(60), np.arange(60.0), range(60), tuple(range(60)), dict.fromkeys(range(60)), np.int32(60)]
COLUMNS += [
    pd.Series(range(60)),
    pd.Series([*range(60), None], dtype="Int64"),
    polars.Series(range(60)),
    pyarrow.array(range(60)),
]


@pytest.mark.parametrize("nodes", COLUMNS, ids=lambda nodes: type(nodes).__name__)
def test_nodes_may_be_any_column(nodes: Any) -> None:
    assert asked("degree_distribution", nodes=nodes, seed=None).value.nodes == 60


def test_what_is_asked_without_nodes_for_the_privacy_of_a_node_does_not_go_by_their_order() -> None:
    """Projections go through edges in the order of a list; where there is none, no order could stay when a node leaves."""
    methods = [(each.name, method) for each in GRAPH_STATISTICS.values() for method in each.methods.values()]
    assert {name for name, method in methods if not method.needs_nodes} == {"edge_count"}
    order = np.random.default_rng(5).permutation(60)
    for limit in (1, 4, 5, 6):
        flows = {doubled_edges(read_graph(given_graph(pairs), 60), limit) for pairs in (RING, order[np.array(RING)])}
        assert len(flows) == 1


@pytest.mark.parametrize(
    "words", [{"epsilon": 0}, {"epsilon": None}, {"nodes": -1}, {"nodes": "abc"}, {"nodes": True}, {"interval": 2}, {"graph": 5}]
)
def test_what_is_public_and_wrong_is_an_error(words: dict[str, Any]) -> None:
    with pytest.raises(dp.DpstatsError):
        asked("triangles", **words)


@pytest.mark.parametrize("k", [1, 11, True, 2.5])
def test_k_is_a_whole_number_from_2_to_10(k: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="k must be"):
        asked("k_stars", k=k)


def test_a_tiny_epsilon_is_refused_where_a_ladder_would_be_endless() -> None:
    with pytest.raises(dp.InvalidParameterError, match="at least"):
        asked("triangles", epsilon="1e-5")


class Failing:
    """A graph whose edges cannot be read."""

    nodes = range(5)

    def edges(self) -> Iterator[tuple[int, int]]:
        raise RuntimeError("edge 17 of Ann is broken")


@pytest.mark.parametrize("name", ALL)
def test_what_goes_wrong_because_of_the_graph_is_one_refusal(name: str) -> None:
    reply = asked(name, graph=Failing(), seed=None)
    assert isinstance(reply, dp.NoReply)
    assert "Ann" not in str(reply)


@pytest.mark.parametrize("graph", [[], [(0, 0)], [(0, 1)]])
@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ALL)
def test_the_smallest_graphs_have_answers_or_refusals(name: str, nodes: int, graph: list[Any]) -> None:
    relations = ("edge",) if name in EDGE_ONLY else ("edge", "node")
    for protect in relations:
        assert asked(name, protect, graph=graph, nodes=nodes) is not None


@pytest.mark.parametrize("name", ALL)
def test_a_release_is_the_same_again_from_the_archive(name: str) -> None:
    release = asked(name, seed=None)
    again = result_of(document_of(release), GRAPH_STATISTICS[name])
    assert again == release
    assert str(again) == str(release)
    assert release.to_json()


def test_the_band_of_degrees_holds_all_of_them() -> None:
    sequence = asked("degree_sequence").value
    assert np.all(expanded(sequence.low) <= 6)
    assert np.all(expanded(sequence.high) >= 6)
    assert len(sequence) == len(sequence.sorted_degrees()) == 60
    assert "60 nodes" in str(sequence)
    distribution = asked("degree_distribution").value
    assert distribution(5) < 0.5 < distribution(6)
    assert distribution.quantile(0.5) == 6
    assert distribution(-1) == 0
    places = dict(zip(distribution.degrees, zip(distribution.low, distribution.high, strict=True), strict=True))
    assert all(low <= (60 if degree >= 6 else 0) <= high for degree, (low, high) in places.items())


def test_no_interval_is_made_where_none_is_wanted() -> None:
    assert asked("triangles", interval=None).interval is None
    assert asked("degree_sequence", interval=None).value.low == ()
    assert asked("edge_count", interval=None).interval is None
    assert asked("edge_count", "node", interval=None).interval is None
    assert asked("degree_distribution", interval=None).value.low == ()
    assert asked("clustering_coefficient", interval=None).interval is None


def test_the_clustering_coefficient_is_made_of_two_releases() -> None:
    release = asked("clustering_coefficient", epsilon=50)
    found = release.value
    assert float(release) == pytest.approx(3 * found.triangles / found.two_stars)
    assert release.interval.low <= 3 * 180 / 900 <= release.interval.high


@pytest.mark.parametrize("name", ["degree_distribution", "degree_sequence", "triangles"])
def test_releases_can_be_drawn(name: str, tmp_path: Path) -> None:
    asked(name).plot(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 1000


def protected(path: Path, whom: str = "edge", **words: Any) -> Any:
    return dp.graphs.protect(
        RING,
        nodes=60,
        protect=whom,
        budget=dp.Budget(epsilon=2),
        ledger=path,
        **{"name": "friends", **words},  # type: ignore[arg-type]
    )


def test_a_ledger_counts_and_remembers(tmp_path: Path) -> None:
    graph = protected(tmp_path / "friends.ledger")
    first = graph.triangles(epsilon=1)
    assert first.receipt is not None
    again = protected(tmp_path / "friends.ledger").triangles(epsilon=1)
    assert again.value == first.value
    assert "from the archive" in str(again)
    assert "epsilon = 1" in str(graph.remaining)
    others = [graph.k_stars(3, epsilon="0.5"), graph.degree_sequence(epsilon="0.1"), graph.degree_distribution(epsilon="0.1")]
    others.append(graph.clustering_coefficient(epsilon="0.1"))
    assert sum(each.cost for each in others).epsilon * 10 == 8
    with pytest.raises(dp.BudgetError):
        graph.edge_count(epsilon=1)
    assert "protects each edge" in repr(graph)


def test_a_ledger_knows_a_graph_by_its_edges(tmp_path: Path) -> None:
    def ask(edges: Any, name: str | None) -> Any:
        graph = dp.graphs.protect(
            edges, nodes=60, protect="edge", budget=dp.Budget(epsilon=5), ledger=tmp_path / "friends.ledger", name=name
        )
        return graph.edge_count(epsilon=1)

    for name in (None, "friends"):
        moved = {None: (3, 30), "friends": (4, 40)}[name]
        edges = [*RING, moved]
        first = ask(edges, name)
        assert "from the archive" in str(ask([(b, a) for a, b in reversed(edges)], name))
        assert "from the archive" not in str(ask(edges[1:], name))
        assert ask(edges, name).value == first.value
        with pytest.raises(dp.LedgerError, match="knows these rows as"):
            ask(edges, "another")


def test_a_ledger_does_not_mix_edges_and_nodes(tmp_path: Path) -> None:
    protected(tmp_path / "friends.ledger")
    with pytest.raises(dp.LedgerError, match="neighbors edge"):
        protected(tmp_path / "friends.ledger", "node")


def test_costs_of_edges_nodes_and_rows_do_not_add_up() -> None:
    costs = [
        dp.PrivacyCost(1, 0, "edge", "edge"),
        dp.PrivacyCost(1, 0, "node", "edge"),
        dp.PrivacyCost(1, 0, "add_remove", "edge"),
    ]
    for place, one in enumerate(costs):
        assert dp.PrivacyCost.from_dict(one.to_dict()) == one
        for other in costs[place + 1 :]:
            with pytest.raises(dp.InvalidParameterError, match="cannot be added"):
                one + other


@pytest.mark.parametrize("relation", ["edge", "node", GraphNeighbors.EDGE])
def test_questions_about_rows_know_no_relation_of_graphs(relation: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="add_remove"):
        dp.median([1.0, 2.0], epsilon=1, neighbors=relation)
    with pytest.raises(dp.InvalidParameterError, match="add_remove"):
        dp.protect({"x": [1]}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:", neighbors=relation)


def test_one_without_a_name_in_memory_is_no_other_graph() -> None:
    one, other = (protected(":memory:", name=None) for _ in range(2))  # type: ignore[arg-type]
    assert one.edge_count(epsilon="0.1")
    assert "archive" not in str(other.edge_count(epsilon="0.1"))
    with pytest.raises(dp.InvalidParameterError, match="Budget"):
        dp.graphs.protect(RING, protect="edge", budget=3, ledger=":memory:")  # type: ignore[arg-type]
    with pytest.raises(dp.MissingParameterError, match="ledger"):
        dp.graphs.protect(RING, protect="edge", budget=dp.Budget(epsilon=3))  # type: ignore[call-arg]
