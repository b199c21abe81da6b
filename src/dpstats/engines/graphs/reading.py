"""Reading a graph: from what was given to a `SimpleGraph`.

Row map    Every row names two ends; the order of the two does not matter. A row with a missing end, with twice the same end, or
           with an end that is not among the nodes (where these were given) is no edge, and all rows with the same two ends are
           one edge. So the smallest change under edge privacy is that of *all* rows that name one pair of nodes, and under node
           privacy of all rows that name one node, together with its place in the list of nodes.
Errors     None goes by what a row holds.
Cost       Integers are sorted once: 1e7 edges take about two seconds of a processor
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import numpy as np

from dpstats.engines.graphs.given import GivenGraph, plain_column
from dpstats.engines.graphs.labels import (
    distinct_labels,
    places_of_labels,
    places_of_numbers,
    whole_numbers,
)
from dpstats.foundations.simple_graphs import SimpleGraph, ascending, simple_graph


def read_graph(given: GivenGraph, nodes: Any = None) -> SimpleGraph:
    """The graph, on the nodes that were given: labels, or a number n for 0 ... n - 1; None for those that the graph names."""
    raw_first, raw_second = given.ends()
    listed = given.nodes if nodes is None else nodes
    first, second = whole_numbers(raw_first), whole_numbers(raw_second)
    if isinstance(listed, int):
        known: Any = listed
    elif listed is not None:
        listed = _column(listed)
        numbers = whole_numbers(listed)
        known = None if numbers is None else ascending(numbers[0][numbers[1]])
    elif first is not None and second is not None:
        known = ascending(np.concatenate([values[there] for values, there in (first, second)]))
    else:
        known = None
    if first is not None and second is not None and known is not None:
        size = known if isinstance(known, int) else len(known)
        return simple_graph(size, places_of_numbers(*first, known), places_of_numbers(*second, known))
    labels: dict[Any, int] | int
    if isinstance(listed, int):
        size = labels = listed
    else:
        labels = distinct_labels([*raw_first, *raw_second] if listed is None else listed)
        size = len(labels)
    return simple_graph(size, places_of_labels(raw_first, labels), places_of_labels(raw_second, labels))


def graph_content(given: GivenGraph, nodes: Any = None) -> str:
    """A digest of the graph that questions see, whatever its nodes are called; a new one each time where it cannot be read.

    It stays with the curator, who writes down a keyed fingerprint of it.
    """
    try:
        graph = read_graph(given, nodes)
    except Exception:  # an edge that fails must not decide whether there is an account
        return secrets.token_hex(32)
    digest = hashlib.sha256(b"graph %d " % graph.size)
    for raw_ends in (graph.raw_low, graph.raw_high):
        digest.update(raw_ends.tobytes())
    return digest.hexdigest()


def _column(listed: Any) -> Any:
    """A list of nodes as plain labels, and as a numpy column where it is one of whole numbers."""
    if isinstance(listed, np.ndarray):
        return plain_column(listed)
    if isinstance(listed, range):
        return np.arange(listed.start, listed.stop, listed.step, dtype=np.int64)
    plain = next((getattr(listed, name)() for name in ("to_pylist", "to_list") if hasattr(listed, name)), None)
    labels = list(listed) if plain is None else plain
    if labels and set(map(type, labels)) == {int}:
        try:
            return np.asarray(labels, dtype=np.int64)
        except OverflowError:
            return labels
    return labels
