"""Comparisons of cells with each other and with literals, exact wherever both sides are whole numbers, texts or moments.

A literal is compared in the column's own number type (see `engines/exact/cuts.py`), so that no whole number is rounded on the
way. Among floats a whole literal is the float that it is in a column of floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
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
    raw_values, [cut] = _as_numbers(cells, [literal])
    edge = edge_at(cut, raw_values.dtype)
    if edge is not None and edge.item() == cut:
        return np.asarray(_COMPARED[sign](raw_values, edge))
    if edge is None or sign in ("==", "!="):  # all cells lie below the literal, or none is the same
        return np.full(raw_values.shape, sign in ("<", "<=", "!="))
    return np.asarray(raw_values < edge if sign in ("<", "<=") else raw_values >= edge)


def is_among(cells: Comparable, literals: Sequence[int | float | str]) -> Rows:
    """Whether a cell is one of some literals of the same family."""
    if isinstance(cells, Labels):
        return gathered(cells, set(literals).__contains__, False, np.bool_)
    raw_values, cuts = _as_numbers(cells, literals)
    edges = [edge for cut in cuts if (edge := edge_at(cut, raw_values.dtype)) is not None and edge.item() == cut]
    if not edges:
        return np.zeros(raw_values.shape, dtype=np.bool_)
    table = np.unique(np.array(edges, dtype=raw_values.dtype))
    places = np.minimum(np.searchsorted(table, raw_values), table.size - 1)
    return np.asarray(table[places] == raw_values)


def _as_numbers(cells: Numbers | Moments, literals: Sequence[int | float | str]) -> tuple[NDArray[Any], list[Any]]:
    """Cells as numbers of one type, and literals as exact numbers to compare them with, which need not be of that type."""
    if isinstance(cells, Moments):
        raw_counts, size = counted(settled(cells))
        return raw_counts, [Fraction(nanoseconds_of(str(literal)), size) for literal in literals]
    is_float = cells.raw_values.dtype.kind == "f"
    return cells.raw_values, [float_of_whole(each) if is_float and isinstance(each, int) else each for each in literals]


def _compare_moments(sign: str, left: Moments, right: Moments) -> Rows:
    if unit_of(left) == unit_of(right):
        return np.asarray(_COMPARED[sign](left.raw_values.view(np.int64), right.raw_values.view(np.int64)))
    (left_days, left_rest), (right_days, right_rest) = split(left), split(right)
    same_day = left_days == right_days
    return np.asarray(_COMPARED[sign](np.where(same_day, left_rest, left_days), np.where(same_day, right_rest, right_days)))
