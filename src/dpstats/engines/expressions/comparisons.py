"""Comparisons of cells with each other and with literals, exact wherever both sides are whole numbers, texts or moments.

A literal is compared in the column's own number type (see `engines/exact/cuts.py`), so that no whole number is rounded on the
way. Among floats a whole literal is the float that it is in a column of floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Labels, Moments, Numbers
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.expressions.dates import counted, nanoseconds_of, settled, split, unit_of
from dpstats.engines.expressions.numbers import floats
from dpstats.engines.expressions.texts import gathered, united
from dpstats.engines.expressions.truths import Rows
from dpstats.foundations.units import float_of_whole

Comparable = Numbers | Labels | Moments
Find = Callable[[], Rows]

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne},
}


def compare(sign: str, left: Comparable, right: Comparable) -> Rows:
    """Cells with cells of the same family; what it says of missing ones does not matter."""
    if isinstance(left, Labels) and isinstance(right, Labels):
        one, other = united([left, right])
        return np.asarray(_COMPARED[sign](one.raw_codes, other.raw_codes))
    if isinstance(left, Moments) and isinstance(right, Moments):
        return _compare_moments(sign, settled(left), settled(right))
    assert isinstance(left, Numbers)
    assert isinstance(right, Numbers)
    if left.raw_values.dtype.kind in "iu" and right.raw_values.dtype.kind in "iu":
        return np.asarray(_COMPARED[sign](left.raw_values, right.raw_values))
    return np.asarray(_COMPARED[sign](floats(left), floats(right)))


def compare_with(sign: str, cells: Comparable, literal: int | float | str) -> Rows:
    """Cells with a literal of the same family."""
    if isinstance(cells, Labels):
        return gathered(cells, lambda label: _COMPARED[sign](label, literal), False, np.bool_)
    if isinstance(cells, Moments):
        return _compare_with_moment(sign, settled(cells), str(literal))
    assert not isinstance(literal, str)
    return _compare_with_cut(sign, cells.raw_values, _cut(literal, cells.raw_values.dtype))


def is_among(cells: Comparable, literals: Sequence[int | float | str]) -> Rows:
    """Whether a cell is one of some literals of the same family."""
    if isinstance(cells, Labels):
        wanted = set(literals)
        return gathered(cells, wanted.__contains__, False, np.bool_)
    if isinstance(cells, Moments):
        raw_counts, size = counted(settled(cells))
        instants = [divmod(nanoseconds_of(str(literal)), size) for literal in literals]
        return _is_one_of(raw_counts, [count for count, rest in instants if not rest])
    dtype = cells.raw_values.dtype
    return _is_one_of(cells.raw_values, [_cut(literal, dtype) for literal in literals if not isinstance(literal, str)])


def _cut(literal: int | float, dtype: np.dtype[Any]) -> int | float:
    return float_of_whole(literal) if isinstance(literal, int) and dtype.kind == "f" else literal


def _by_order(sign: str, below: Find, same: Find) -> Rows:
    """What a sign asks for, from the rows that lie below and those that are the same."""
    if sign in ("==", "!="):
        return same() if sign == "==" else ~same()
    holds = below() if sign in ("<", ">=") else below() | same()
    return holds if sign in ("<", "<=") else ~holds


def _compare_with_cut(sign: str, raw_values: NDArray[Any], cut: int | float) -> Rows:
    edge = edge_at(cut, raw_values.dtype)
    if edge is None:
        return np.full(raw_values.shape, sign in ("<", "<=", "!="))
    on_edge = edge.item() == cut
    return _by_order(
        sign,
        lambda: np.asarray(raw_values < edge),
        lambda: np.asarray(raw_values == edge) if on_edge else np.zeros(raw_values.shape, dtype=np.bool_),
    )


def _is_one_of(raw_values: NDArray[Any], cuts: Sequence[int | float]) -> Rows:
    dtype = raw_values.dtype
    edges = [edge for cut in cuts if (edge := edge_at(cut, dtype)) is not None and edge.item() == cut]
    if not edges:
        return np.zeros(raw_values.shape, dtype=np.bool_)
    table = np.unique(np.array(edges, dtype=dtype))
    places = np.minimum(np.searchsorted(table, raw_values), table.size - 1)
    return np.asarray(table[places] == raw_values)


def _compare_with_moment(sign: str, moments: Moments, literal: str) -> Rows:
    raw_counts, size = counted(moments)
    before, rest = divmod(nanoseconds_of(literal), size)
    if not rest:
        return _compare_with_cut(sign, raw_counts, before)
    if sign in ("==", "!="):
        return np.full(raw_counts.shape, sign == "!=")
    return _compare_with_cut("<=" if sign in ("<", "<=") else ">", raw_counts, before)


def _compare_moments(sign: str, left: Moments, right: Moments) -> Rows:
    if unit_of(left) == unit_of(right):
        return np.asarray(_COMPARED[sign](left.raw_values.view(np.int64), right.raw_values.view(np.int64)))
    (left_days, left_rest), (right_days, right_rest) = split(left), split(right)
    same_day = left_days == right_days
    return _by_order(
        sign,
        lambda: np.asarray((left_days < right_days) | (same_day & (left_rest < right_rest))),
        lambda: np.asarray(same_day & (left_rest == right_rest)),
    )
