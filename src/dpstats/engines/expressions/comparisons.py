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
    found = settled_cut(sign, cut, raw_values.dtype)
    if isinstance(found, bool):
        return np.full(raw_values.shape, found)
    sign, edge = found
    return np.asarray(_COMPARED[sign](raw_values, edge))


def settled_cut(sign: str, literal: Any, dtype: np.dtype[Any]) -> tuple[str, Any] | bool:
    """The sign and the value of a number type that say of cells of this type what a sign and any number say; a truth where that
    is the same for all cells."""
    cut = _among(literal, dtype)
    edge = edge_at(cut, dtype)
    if edge is not None and edge.item() == cut:
        return sign, edge
    if edge is None or sign in ("==", "!="):  # all cells lie below the literal, or none is the same
        return sign in ("<", "<=", "!=")
    return ("<" if sign in ("<", "<=") else ">="), edge


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
    return cells.raw_values, [_among(each, cells.raw_values.dtype) for each in literals]


def _among(literal: Any, dtype: np.dtype[Any]) -> Any:
    """A literal as it is among numbers of a type: among floats a whole one is the float that it is there."""
    return float_of_whole(literal) if dtype.kind == "f" and isinstance(literal, int) else literal


def _compare_moments(sign: str, left: Moments, right: Moments) -> Rows:
    if unit_of(left) == unit_of(right):
        return np.asarray(_COMPARED[sign](left.raw_values.view(np.int64), right.raw_values.view(np.int64)))
    (left_days, left_rest), (right_days, right_rest) = split(left), split(right)
    same_day = left_days == right_days
    return np.asarray(_COMPARED[sign](np.where(same_day, left_rest, left_days), np.where(same_day, right_rest, right_days)))
