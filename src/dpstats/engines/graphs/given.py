"""A graph as somebody hands it over: its columns of ends, and how many nodes it has where its shape says so.

What a container is, and how many columns it has, is public and checked at once. Its edges are looked at when a question has been
paid for: `ends` hands them out as two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    nodes: int | None = None
    """How many nodes the container has by its shape; None where it has none that its edges did not bring in."""


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
    return GivenGraph(lambda: (plain_column(first), plain_column(second)))


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

    return GivenGraph(ends, int(shape[0]))


def _of_networkx(graph: Any) -> GivenGraph | None:
    if not callable(getattr(graph, "edges", None)) or not hasattr(graph, "nodes") or isinstance(graph, type):
        return None
    return GivenGraph(lambda: _pairs(graph.edges()))  # its nodes may be there because of an edge, so they are not taken from it


def _of_array(graph: Any) -> GivenGraph | None:
    if not isinstance(graph, np.ndarray):
        return None
    if graph.ndim != 2 or graph.shape[1] != 2:
        raise DataTypeError("graph as an array must have two columns, the two ends of each edge.")
    table = graph if isinstance(graph, np.ma.MaskedArray) else np.asarray(graph)  # a column of a np.matrix is a matrix
    return GivenGraph(lambda: (plain_column(table[:, 0]), plain_column(table[:, 1])))


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

    def ends() -> tuple[Any, Any]:
        whole = frame.drop_nulls(
            [first, second]
        )  # a missing cell would turn whole numbers into floats, and large ones into others
        return whole[first].to_numpy(), whole[second].to_numpy()

    return GivenGraph(ends)


def plain_column(column: Any) -> Any:
    """A column whose missing cells are None: arrow has nulls that are labels like others, and a mask is forgotten by arrays."""
    if isinstance(column, np.ma.MaskedArray):
        return column.tolist()
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def _two(columns: list[Any]) -> tuple[Any, Any]:
    if len(columns) != 2:
        raise DataTypeError(f"graph must have two columns, the two ends of each edge, and has {len(columns)}.")
    return columns[0], columns[1]


def _pairs(raw_rows: Iterable[Any]) -> tuple[Any, Any]:
    """The two columns of a list of pairs; whatever is no pair has missing ends. No row decides how another one is read."""
    rows = raw_rows if isinstance(raw_rows, list) else list(raw_rows)
    numbers = _whole_pairs(rows)
    if numbers is not None:
        return numbers[:, 0], numbers[:, 1]
    ends = [_ends(row) for row in rows]
    return [first for first, _ in ends], [second for _, second in ends]


def _whole_pairs(rows: list[Any]) -> NDArray[np.int64] | None:
    """Pairs of whole numbers as an array, which reads faster; None where one row is anything else."""
    if not rows or not set(map(type, rows)) <= {tuple, list} or set(map(len, rows)) != {2}:
        return None
    if not set(map(type, chain.from_iterable(rows))) <= {int, np.int64}:
        return None
    try:
        return np.array(rows, dtype=np.int64)
    except OverflowError:
        return None


def _ends(row: Any) -> tuple[Any, Any]:
    """The two ends of a row, None for both where it is no pair; a row's own methods may raise, and must not be able to tell."""
    try:
        if isinstance(row, (str, bytes, bytearray, Mapping)):
            return None, None
        first, second = row
    except Exception:
        return None, None
    return first, second
