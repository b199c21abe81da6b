"""Private statistics of graphs: how far off they are, and how long they take.

    python benchmarks/graphs.py [--facebook FILE] [--epsilons 1 0.3] [--repeats 40] [--large 10000000]

`--facebook` is SNAP's ego-Facebook (facebook_combined.txt.gz: two numbers a line; a line of names is skipped). A graph with a
power law and clusters (10,000 nodes, made here by attaching nodes to others of high degree, and closing triangles) is always
measured. Beside our answers stand the usual ways, at the same epsilon, computed here: triangles and stars by smooth sensitivity
with noise of density 1 / (1 + z**4) (Nissim, Raskhodnikova & Smith 2007; its scale from the same rungs), and by Laplace noise of
the largest degree, which is *not* private; sorted degrees with Laplace noise and isotonic regression (Hay et al. 2009); edges for
nodes by Laplace noise for n - 1 edges, which takes n as public; degrees for nodes by a projection to the best limit, as if it and
n were known, and Laplace noise on every count (Day, Li & Lyu 2016). Medians over repeats; a relative error for numbers, the mean
error of a sorted degree, the largest error of a distribution function. `--large` is the number of edges of a random graph that is
read and asked.
"""

from __future__ import annotations

import argparse
import gzip
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import dpstats as dp
from dpstats.engines.graphs.given import given_graph
from dpstats.engines.graphs.reading import read_graph
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.graphs.common_neighbors import common_neighbors
from dpstats.statistics.graphs.isotonic import isotonic
from dpstats.statistics.graphs.projections import at_most_counts_below, projected_degrees
from dpstats.statistics.graphs.stars import star_count

Pairs = NDArray[np.int64]


def facebook(path: str) -> tuple[Pairs, int]:
    """The pairs of a file, and how many nodes they name."""
    with gzip.open(path, "rt") if path.endswith(".gz") else Path(path).open() as lines:
        pairs = np.array([line.split() for line in lines if line[0].isdigit()], dtype=np.int64)
    return pairs, int(pairs.max()) + 1


def power_law(size: int, edges: int, closing: float, seed: int) -> tuple[Pairs, int]:
    """A graph that grows: every node joins others by their degrees, or a neighbour of the last one it joined."""
    rng = np.random.default_rng(seed)
    ends, neighbours = list(range(edges)), [list[int]() for _ in range(size)]
    found: set[tuple[int, int]] = set()
    for node in range(edges, size):
        last = node
        for _ in range(edges):
            close = rng.random() < closing and last != node
            other = neighbours[last][rng.integers(len(neighbours[last]))] if close else ends[rng.integers(len(ends))]
            if other != node and (min(node, other), max(node, other)) not in found:
                found.add((min(node, other), max(node, other)))
                neighbours[node].append(other)
                neighbours[other].append(node)
                ends += [node, other]
                last = other
    return np.array(sorted(found)), size


def median_error(measure: Callable[[], float], repeats: int) -> float:
    """The median of several errors."""
    return float(np.median([measure() for _ in range(repeats)]))


def fitted(noisy: NDArray[Any]) -> NDArray[np.float64]:
    """The isotonic fit to numbers, for peers."""
    runs = isotonic([round(1000 * each) for each in noisy.tolist()], [1] * len(noisy))
    return np.repeat([total / weight / 1000 for total, weight, _ in runs], [count for _, _, count in runs])


class Peers:
    """The usual ways, in floats, for comparison alone."""

    def __init__(self, graph: SimpleGraph, seed: int) -> None:
        self.graph, self.rng = graph, np.random.default_rng(seed)
        self.rungs = common_neighbors(graph).raw_rungs(4000)

    def smooth(self, rungs: NDArray[Any], epsilon: float) -> float:
        """An error of smooth sensitivity with noise of density 1 / (1 + z**4), which is pure."""
        beta = epsilon / 10
        scale = float(np.max(np.exp(-beta * np.arange(len(rungs))) * rungs)) * 10 / epsilon
        while True:  # by rejection from a Cauchy density
            z = self.rng.standard_cauchy()
            if self.rng.random() < (1 + z * z) / (1 + z**4) / 1.3:
                return abs(z) * scale

    def laplace(self, scale: float, size: int | None = None) -> Any:
        """Laplace noise."""
        return self.rng.laplace(0, scale, size)

    def sorted_degrees(self, epsilon: float) -> float:
        """The mean error of sorted degrees with noise, fitted."""
        truth = np.sort(self.graph.raw_degrees)
        return float(np.abs(np.clip(fitted(truth + self.laplace(2 / epsilon, len(truth))), 0, None) - truth).mean())

    def projected(self, epsilon: float, limit: int, repeats: int) -> float:
        """The largest error of the distribution function of a projection to a limit that happens to be known."""
        counts = at_most_counts_below(projected_degrees(self.graph, limit), limit)
        truth = np.cumsum(np.bincount(self.graph.raw_degrees))
        errors = []
        for _ in range(repeats):
            noisy = np.clip(fitted(counts + self.laplace((limit + 1) / epsilon, limit)), 0, self.graph.size)
            whole = np.append(noisy, np.full(max(0, len(truth) - limit), self.graph.size))[: len(truth)]
            errors.append(np.abs(whole - truth).max() / self.graph.size)
        return float(np.median(errors))


def row(name: str, ours: float, *peers: tuple[str, float]) -> None:
    beside = ";  ".join(f"{peer} {error:.3g} ({error / ours:.1f} times ours)" for peer, error in peers)
    print(f"  {name:<44} {ours:>9.3g}   {beside}")


def measure(name: str, pairs: Pairs, size: int, epsilons: list[float], repeats: int) -> None:
    """All statistics of one graph, beside the usual ways."""
    graph = read_graph(given_graph(pairs), size)
    truth, peers = np.sort(graph.raw_degrees), Peers(graph, 1)
    stars, corners = star_count(graph, 2), common_neighbors(graph).raw_triangles
    largest, parts = int(truth[-1]), np.cumsum(np.bincount(graph.raw_degrees)) / size
    print(f"{name}: {size:,} nodes, {graph.raw_edges:,} edges, {corners:,} triangles, largest degree {largest:,}")
    for epsilon in epsilons:

        def ask(statistic: str, protect: str, epsilon: float = epsilon, **words: Any) -> Any:
            return getattr(dp.graphs, statistic)(pairs, nodes=size, protect=protect, epsilon=epsilon, **words).value

        def relative(statistic: str, protect: str, of: float, ask: Callable[..., Any] = ask) -> float:
            return median_error(lambda: abs(float(ask(statistic, protect)) - of) / of, repeats)

        def distribution(protect: str, ask: Callable[..., Any] = ask) -> float:
            released = ask("degree_distribution", protect)
            return max(float(abs(released(degree) - part)) for degree, part in enumerate(parts.tolist()))

        print(f" epsilon {epsilon:g}, for an edge")
        row("edges", relative("edge_count", "edge", graph.raw_edges))
        row(
            "triangles",
            relative("triangles", "edge", corners),
            ("smooth sensitivity", median_error(lambda e=epsilon: peers.smooth(peers.rungs, e), 400) / corners),  # type: ignore[misc]
            ("global sensitivity", math.log(2) * (size - 2) / epsilon / corners),
            ("[not private] largest degree", math.log(2) * largest / epsilon / corners),
        )
        tops = np.minimum(2 * largest + np.arange(4000), 2 * (size - 2))
        row(
            "2-stars",
            relative("k_stars", "edge", stars),
            ("smooth sensitivity", median_error(lambda e=epsilon, t=tops: peers.smooth(t, e), 400) / stars),  # type: ignore[misc]
        )
        row("clustering coefficient", relative("clustering_coefficient", "edge", 3 * corners / stars))
        row(
            "sorted degrees, mean error",
            median_error(lambda: float(np.abs(ask("degree_sequence", "edge").sorted_degrees() - truth).mean()), repeats),
            ("isotonic sorted degrees", median_error(lambda e=epsilon: peers.sorted_degrees(e), 5)),  # type: ignore[misc]
            ("raw Laplace", 2 / epsilon),
        )
        row("degree distribution, largest error", median_error(lambda: distribution("edge"), repeats))
        print(f" epsilon {epsilon:g}, for a node")
        row(
            "edges",
            relative("edge_count", "node", graph.raw_edges),
            ("Laplace for n - 1 edges", math.log(2) * (size - 1) / epsilon / graph.raw_edges),
        )
        best = min((peers.projected(epsilon, 2**power, 5), 2**power) for power in range(3, 11))
        row(
            "degree distribution, largest error",
            median_error(lambda: distribution("node"), repeats),
            (f"counts at the best limit, {best[1]}, known", peers.projected(epsilon, best[1], 20)),
        )


def measure_large(edges: int) -> None:
    """Seconds of a processor of each question about a random graph, reading included."""
    size = edges // 10
    pairs = np.random.default_rng(3).integers(0, size, (edges, 2))
    print(f"a random graph of {edges:,} rows and {size:,} nodes; seconds of a processor, reading included")
    asked = [("edge_count", "edge"), ("degree_distribution", "edge"), ("degree_sequence", "edge"), ("k_stars", "edge")]
    asked += [("triangles", "edge"), ("edge_count", "node"), ("degree_distribution", "node")]
    for statistic, protect in asked:
        before = time.process_time()
        getattr(dp.graphs, statistic)(pairs, nodes=size, protect=protect, epsilon=1)
        print(f"  {statistic} for {protect}s".ljust(40), f"{time.process_time() - before:6.1f}", flush=True)


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facebook", default="")
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 0.3])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--large", type=int, default=0)
    arguments = parser.parse_args()
    graphs = {"power law": power_law(10_000, 4, 0.3, 1)}
    if arguments.facebook:
        graphs["ego-Facebook"] = facebook(arguments.facebook)
    for name, (pairs, size) in graphs.items():
        measure(name, pairs, size, arguments.epsilons, arguments.repeats)
    if arguments.large:
        measure_large(arguments.large)


if __name__ == "__main__":
    main()
