"""Functions of blocks that can be asked for by name: what a curator runs for its analysts, who bring no code of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, UnknownNameError
from dpstats.foundations.text_tables import counted
from dpstats.statistics.aggregation.row_blocks import Floats


@dataclass(frozen=True)
class NamedFunction:
    """A function of a block of rows with some columns."""

    name: str
    of_block: Callable[[Floats], Any]
    """Rows by columns to numbers; may raise, warn or return NaN, which is no answer."""
    outputs: Callable[[int], int]
    """How many numbers, by the number of columns."""
    columns: tuple[int, int] = (1, 100)
    """The fewest and the most columns."""

    def check(self, columns: int) -> int:
        """How many numbers the function returns for `columns` columns; raises where it does not take that many."""
        least, most = self.columns
        if not least <= columns <= most:
            takes = counted(least, "column") if least == most else f"from {least} to {most} columns"
            raise InvalidParameterError(f"the function {self.name} takes {takes}.")
        return self.outputs(columns)

    def of_container(self, raw_rows: Any, *others: Any) -> Any:
        """The same of a block as somebody hands it over: an array, a frame, columns."""
        raw_block = _matrix(raw_rows, others)
        raw_complete = ~np.isnan(raw_block).any(axis=1)
        return self.of_block(raw_block[raw_complete])

    def check_container(self, no_rows: Any, *others: Any) -> int:
        """How many numbers the function returns for such containers, by their types alone; raises where they do not fit."""
        try:
            columns = _matrix(no_rows, others).shape[1]
        except (TypeError, ValueError):
            raise DataTypeError(
                f"the function {self.name} takes columns of numbers: pass one column, a two-dimensional array, a frame or a dict"
                " of columns, and the outcome of a regression last, as in (X, y)."
            ) from None
        return self.check(columns)


def named_function(name: str) -> NamedFunction:
    """The function of that name."""
    if name not in NAMED:
        near = get_close_matches(name, NAMED, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMED)}."
        raise UnknownNameError(f"there is no function {name!r} of blocks; {hint}")
    return NAMED[name]


def _matrix(raw_first: Any, raw_others: tuple[Any, ...]) -> Floats:
    """Rows by columns of all containers, side by side; raises where one has texts, or more than two dimensions."""
    raw_columns = [part for each in (raw_first, *raw_others) for part in (each.values() if isinstance(each, dict) else [each])]
    raw_block: Floats = np.column_stack([_numbers(each) for each in raw_columns])
    if raw_block.ndim != 2:
        raise ValueError("more than two dimensions")
    return raw_block


def _numbers(raw_column: Any) -> Floats:
    raw_array = np.asarray(raw_column)
    if raw_array.dtype.kind not in "biufO":
        raise TypeError("no numbers")
    return raw_array.astype(np.float64)


def _moment(power: int) -> Callable[[Floats], Any]:
    def moment(raw_rows: Floats) -> Any:
        raw_off = raw_rows - raw_rows.mean(axis=0)
        return (raw_off**power).mean(axis=0) / (raw_off**2).mean(axis=0) ** (power / 2)

    return moment


def _correlation(raw_rows: Floats) -> Any:
    raw_first, raw_second = (raw_rows - raw_rows.mean(axis=0)).T
    return (raw_first @ raw_second) / np.sqrt((raw_first @ raw_first) * (raw_second @ raw_second))


def _least_squares(raw_rows: Floats) -> Any:
    if not np.isfinite(raw_rows).all():
        return None  # LAPACK would print a complaint
    raw_design = np.column_stack([np.ones(len(raw_rows)), raw_rows[:, :-1]])
    solution, _, rank, _ = np.linalg.lstsq(raw_design, raw_rows[:, -1], rcond=None)
    return solution if rank == raw_design.shape[1] else None


def _each(columns: int) -> int:
    return columns


NAMED: dict[str, NamedFunction] = {
    function.name: function
    for function in (
        NamedFunction("mean", lambda rows: rows.mean(axis=0), _each),
        NamedFunction("median", lambda rows: np.median(rows, axis=0), _each),
        NamedFunction("std", lambda rows: rows.std(axis=0, ddof=1), _each),
        NamedFunction("variance", lambda rows: rows.var(axis=0, ddof=1), _each),
        NamedFunction("minimum", lambda rows: rows.min(axis=0), _each),
        NamedFunction("maximum", lambda rows: rows.max(axis=0), _each),
        NamedFunction("iqr", lambda rows: np.diff(np.quantile(rows, [0.25, 0.75], axis=0), axis=0)[0], _each),
        NamedFunction("mad", lambda rows: np.median(np.abs(rows - np.median(rows, axis=0)), axis=0), _each),
        NamedFunction("skewness", _moment(3), _each),
        NamedFunction("kurtosis", _moment(4), _each),
        NamedFunction("correlation", _correlation, lambda columns: 1, (2, 2)),
        NamedFunction("least_squares", _least_squares, _each, (2, 41)),
    )
}
"""Numbers of each column, of two columns, or the coefficients of the last column by the others, intercept first."""
