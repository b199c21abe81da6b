"""A graph as somebody hands it over: its columns of ends, and its nodes where it has its own.

What a container is, and how many columns it has, is public and checked at once. Its edges are looked at when a question has been
paid for: `ends` hands them out as two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.engines.complaints import one_error_for
from dpstats.foundations.errors import DataTypeError

WHAT_TO_PASS = (
    "pass pairs of nodes: a list of pairs, an array or a data frame with two columns, a square matrix of scipy.sparse, or a "
    "graph of networkx"
)


@dataclass(frozen=True)
class GivenGraph:
    """A graph whose container is known, and whose edges have not been looked at."""

    ends: Callable[[], tuple[Any, Any]]
    """Reads the two columns of ends."""
    nodes: Callable[[], Any] | None = None
    """Reads the nodes that the container lists, isolated ones too: their labels, or how many; None for bare pairs."""


def given_graph(graph: Any) -> GivenGraph:
    """A graph of whatever kind; raises where it is of none that can be read."""
    if isinstance(graph, GivenGraph):
        return graph
    with one_error_for("graph", f"could not be read: {WHAT_TO_PASS}", DataTypeError):
        found = _of_mapping(graph) or _of_sparse(graph) or _of_networkx(graph) or _of_array(graph) or _of_list(graph)
        found = found or _of_frame(graph)
    if found is None:
        raise DataTypeError(f"graph must have edges, got {type(graph).__name__}: {WHAT_TO_PASS}.")
    return found


def _of_mapping(graph: Any) -> GivenGraph | None:
    if not isinstance(graph, Mapping) or hasattr(graph, "edges"):
        return None
    first, second = _two(list(graph.values()))
    return GivenGraph(lambda: (first, second))


def _of_sparse(graph: Any) -> GivenGraph | None:
    if not (hasattr(graph, "tocoo") and hasattr(graph, "shape")):
        return None
    shape = tuple(graph.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataTypeError("graph as a sparse matrix must be square: one row and one column for each node.")

    def ends() -> tuple[Any, Any]:
        entries = graph.tocoo()
        kept = np.asarray(entries.data) != 0
        return np.asarray(entries.row)[kept], np.asarray(entries.col)[kept]

    return GivenGraph(ends, lambda: int(shape[0]))


def _of_networkx(graph: Any) -> GivenGraph | None:
    if not callable(getattr(graph, "edges", None)) or not hasattr(graph, "nodes") or isinstance(graph, type):
        return None
    return GivenGraph(lambda: _pairs(graph.edges()), lambda: list(graph.nodes))


def _of_array(graph: Any) -> GivenGraph | None:
    if not isinstance(graph, np.ndarray):
        return None
    if graph.ndim != 2 or graph.shape[1] != 2:
        raise DataTypeError("graph as an array must have two columns, the two ends of each edge.")
    table = np.asarray(graph)
    return GivenGraph(lambda: (table[:, 0], table[:, 1]))


def _of_list(graph: Any) -> GivenGraph | None:
    is_several = isinstance(graph, Iterable) and not isinstance(graph, (str, bytes, bytearray))
    if not is_several or hasattr(graph, "columns") or hasattr(graph, "dtype"):
        return None
    return GivenGraph(lambda: _pairs(graph))


def _of_frame(graph: Any) -> GivenGraph | None:
    import narwhals

    frame: Any = narwhals.from_native(graph, eager_only=True, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        return None
    first, second = _two(list(frame.columns))
    return GivenGraph(lambda: (frame[first].to_numpy(), frame[second].to_numpy()))


def _two(columns: list[Any]) -> tuple[Any, Any]:
    if len(columns) != 2:
        raise DataTypeError(f"graph must have two columns, the two ends of each edge, and has {len(columns)}.")
    return columns[0], columns[1]


def _pairs(raw_rows: Iterable[Any]) -> tuple[Any, Any]:
    """The two columns of a list of pairs; whatever is no pair has missing ends."""
    rows = raw_rows if isinstance(raw_rows, list) else list(raw_rows)
    try:
        table = np.asarray(rows)
    except (TypeError, ValueError, OverflowError):
        table = np.empty(0)
    if table.ndim == 2 and table.shape[1] == 2 and table.dtype.kind in "iu":
        return table[:, 0], table[:, 1]
    pairs = [(row[0], row[1]) if _is_pair(row) else (None, None) for row in rows]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _is_pair(row: Any) -> bool:
    try:
        return not isinstance(row, (str, bytes, Mapping)) and len(row) == 2
    except Exception:  # a row's own method may raise, and must not be able to say anything
        return False
