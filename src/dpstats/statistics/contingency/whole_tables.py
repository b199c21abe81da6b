"""Whole tables: rows in whole numbers, none of them negative, whose tables are near to those that were measured.

The rows that each combination of all columns' codes has are found by a linear program, as near to all measured cells as
non-negative numbers can be, and then rounded: down, and up again where the remainders are largest, so that their number is right.
At most as many combinations have rows as there are measured cells, so that no cell moves by more than that. All of it looks at
released numbers.

Source     Barak, Chaudhuri, Dwork, Kale, McSherry & Talwar 2007, section 4
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.contingency.residuals import Columns, Floats
from dpstats.statistics.lazy_scipy import optimize, sparse

MOST_COMBINATIONS = 1 << 14
"""Of the codes of all columns; the linear program has an unknown for each."""


def whole_tables(sizes: Sequence[int], tables: Sequence[tuple[Columns, Floats]]) -> list[Floats]:
    """The tables of whole and non-negative rows that are near to these, which agree with each other."""
    places = [_cells(sizes, columns) for columns, _ in tables]
    sums = sparse.vstack([_sums(cells, table.size) for cells, (_, table) in zip(places, tables, strict=True)])
    rows = _rounded(_nearest(sums, np.concatenate([table.ravel() for _, table in tables])))
    return [
        np.bincount(cells, weights=rows, minlength=table.size).astype(np.float64).reshape(table.shape)
        for cells, (_, table) in zip(places, tables, strict=True)
    ]


def _cells(sizes: Sequence[int], columns: Columns) -> NDArray[np.int64]:
    """For each combination of codes its cell in the table of some columns."""
    codes = np.indices(sizes).reshape(len(sizes), -1)
    cells = np.zeros(codes.shape[1], dtype=np.int64)
    for column in columns:
        cells = cells * sizes[column] + codes[column]
    return cells


def _sums(cells: NDArray[np.int64], size: int) -> Any:
    """The matrix that adds combinations of codes up to the cells of a table."""
    return sparse.csr_array((np.ones(cells.size), (cells, np.arange(cells.size))), shape=(size, cells.size))


def _nearest(sums: Any, wanted: Floats) -> Floats:
    """Non-negative numbers whose largest distance from the wanted sums is least."""
    distance = sparse.csr_array(np.ones((wanted.size, 1)))
    limits = sparse.vstack([sparse.hstack([sums, -distance]), sparse.hstack([-sums, -distance])], format="csc")
    costs = np.append(np.zeros(sums.shape[1]), 1.0)
    solved = optimize.linprog(costs, A_ub=limits, b_ub=np.concatenate([wanted, -wanted]), bounds=(0, None), method="highs")
    return np.asarray(solved.x[:-1])


def _rounded(found: Floats) -> Floats:
    """Whole numbers with about the same sum, each less than 1 away from where it was."""
    rows = np.floor(found + 1e-6)
    missing = max(0, round(float(found.sum() - rows.sum())))
    rows[np.argsort(rows - found, kind="stable")[:missing]] += 1
    return rows
