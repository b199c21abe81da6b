"""The value of an expression for every row of a batch.

Claim      No cells can make it raise or warn, and what it gives for a row depends on that row alone.
Why        Every step works on each row by itself: numpy's functions of single elements, look-ups by the text of a cell,
           comparisons in 64 bits. Steps that IEEE 754 has no number for give NaN, which is missing, and none asks how many rows
           there are.
Numerics   Literals are arrays of no dimension, which numpy repeats for every row; an expression names a column, so that its
           value has one element for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque, both_present
from dpstats.engines.exact.wholes import floats_of_wholes
from dpstats.engines.expressions import comparisons, language, texts
from dpstats.engines.expressions.dates import NANOSECONDS, in_unit, moment_of, settled, unit_of
from dpstats.engines.expressions.functions import ARITHMETIC, FUNCTIONS
from dpstats.engines.expressions.numbers import floats
from dpstats.engines.expressions.truths import Rows, Truth, truth_where
from dpstats.foundations.units import float_of_whole

Read = Callable[[str, ColumnType], Cells]
_FINEST_MIXED = "us"
"""Moments of several units meet here at the finest, because nanoseconds reach from 1677 to 2262 only."""


def cells_of(node: language.Node, read: Read) -> Cells:
    """The value of a node of any type."""
    match node:
        case language.ColumnReference():
            return read(node.name, node.type)
        case language.Literal():
            return _literal(node)
        case language.Nothing():
            return _nothing(node.type)
        case language.Apply():
            return _apply(node, read)
        case language.Choice():
            condition = truth_of(node.condition, read)
            branches = [cells_of(node.then, read), cells_of(node.otherwise, read)]
            return _pick(node.type, [condition.raw_yes, condition.raw_no], branches)
        case language.Coalesce():
            parts = [cells_of(part, read) for part in node.parts]
            present = [_present(part) for part in parts]
            return _pick(node.type, [np.array(True) if there is None else there for there in present], parts)
        case _:
            return truth_of(node, read).cells()


def truth_of(node: language.Node, read: Read) -> Truth:
    """The value of a condition."""
    match node:
        case language.Compare():
            left = _comparable(node.left, read)
            if isinstance(node.right, language.Literal):
                return truth_where(comparisons.compare_with(node.sign, left, node.right.value), _present(left))
            right = _comparable(node.right, read)
            return truth_where(comparisons.compare(node.sign, left, right), both_present(_present(left), _present(right)))
        case language.Member():
            element = _comparable(node.element, read)
            return truth_where(comparisons.is_among(element, [item.value for item in node.items]), _present(element))
        case language.Logic():
            return reduce(and_ if node.word == "and" else or_, (truth_of(part, read) for part in node.parts))
        case language.Not():
            return ~truth_of(node.part, read)
        case language.Missing():
            cells = cells_of(node.part, read)
            raw_present = _present(cells)
            shape = cells.raw_values.shape if isinstance(cells, Numbers) else ()
            return truth_where(np.zeros(shape, dtype=np.bool_) if raw_present is None else ~raw_present, None)
        case _:
            truths = _numbers(node, read)
            return truth_where(truths.raw_values != 0, truths.raw_present)


def _literal(node: language.Literal) -> Cells:
    if node.type is ColumnType.TEXT:
        return Labels(np.array(0, dtype=np.int64), [str(node.value)])
    if node.type is ColumnType.MOMENT:
        return moment_of(str(node.value))
    if node.type is ColumnType.BOOLEAN:
        return Numbers(np.array(node.value, dtype=np.uint8))
    return Numbers(np.array(float_of_whole(node.value) if isinstance(node.value, int) else node.value, dtype=np.float64))


def _nothing(kind: ColumnType) -> Cells:
    if kind is ColumnType.TEXT:
        return Labels(np.array(-1, dtype=np.int64), [])
    if kind is ColumnType.MOMENT:
        return Moments(np.array("NaT", dtype="datetime64[D]"))
    return Numbers(np.array(0, dtype=np.uint8), np.array(False))


def _apply(node: language.Apply, read: Read) -> Cells:
    if node.name in ARITHMETIC:
        compute: Callable[..., Any] = np.negative if len(node.operands) == 1 and not node.constants else ARITHMETIC[node.name]
        return _of_numbers(compute, node, read)
    function = FUNCTIONS[node.name]
    if function.takes is ColumnType.NUMBER:
        return _of_numbers(function.compute, node, read)
    cells = cells_of(node.operands[0], read)
    if isinstance(cells, Moments):
        return Numbers(floats_of_wholes(np.asarray(function.compute(settled(cells)))), _present(cells))
    assert isinstance(cells, Labels)

    def of_label(label: str) -> Any:
        return function.compute(label, *node.constants)

    if function.gives is ColumnType.TEXT:
        return texts.mapped(cells, of_label)
    dtype = np.uint8 if function.gives is ColumnType.BOOLEAN else np.float64
    return Numbers(texts.gathered(cells, of_label, 0, dtype), _present(cells))


def _of_numbers(compute: Callable[..., Any], node: language.Apply, read: Read) -> Numbers:
    operands = [_numbers(operand, read) for operand in node.operands]
    raw_values = np.asarray(compute(*map(floats, operands), *node.constants) + 0.0)
    raw_present = reduce(both_present, [operand.raw_present for operand in operands])
    raw_nan = np.isnan(raw_values)
    return _shaped(raw_values, both_present(raw_present, np.asarray(~raw_nan)) if raw_nan.any() else raw_present)


def _pick(kind: ColumnType, chosen: Sequence[Rows], parts: Sequence[Cells]) -> Cells:
    """For each row the cell of the first part that is chosen there; missing where none is."""
    if kind is ColumnType.TEXT:
        labels = texts.united([part for part in parts if isinstance(part, Labels)])
        return Labels(np.asarray(np.select(chosen, [part.raw_codes for part in labels], -1)), labels[0].raw_labels)
    if kind is ColumnType.MOMENT:
        moments = _in_one_unit([settled(part) for part in parts if isinstance(part, Moments)])
        missing = np.array("NaT", dtype=moments[0].raw_values.dtype)
        raw_moments = np.select(chosen, [part.raw_values for part in moments], missing)
        return Moments(raw_moments, any(part.zoned for part in moments))
    numbers = [part for part in parts if isinstance(part, Numbers)]
    values = [part.raw_values != 0 if kind is ColumnType.BOOLEAN else floats(part) for part in numbers]
    raw_values = np.select(chosen, values, 0).astype(np.uint8 if kind is ColumnType.BOOLEAN else np.float64)
    present = [np.array(True) if part.raw_present is None else part.raw_present for part in numbers]
    return _shaped(raw_values, np.select(chosen, present, False))


def _shaped(raw_values: NDArray[Any], raw_present: Rows | None) -> Numbers:
    """Numbers, with what is said of all of them said of each."""
    if raw_present is None or raw_present.shape == raw_values.shape:
        return Numbers(raw_values, raw_present)
    return Numbers(raw_values, np.broadcast_to(raw_present, raw_values.shape).copy())


def _in_one_unit(parts: Sequence[Moments]) -> list[Moments]:
    units = {unit_of(part) for part in parts}
    if len(units) == 1:
        return list(parts)
    unit = min((units - {"ns"}) | ({_FINEST_MIXED} if "ns" in units else set()), key=NANOSECONDS.__getitem__)
    return [in_unit(part, unit) for part in parts]


def _comparable(node: language.Node, read: Read) -> Numbers | Labels | Moments:
    cells = cells_of(node, read)
    assert not isinstance(cells, Opaque)
    return cells


def _numbers(node: language.Node, read: Read) -> Numbers:
    cells = cells_of(node, read)
    assert isinstance(cells, Numbers)
    return cells


def _present(cells: Cells) -> Rows | None:
    """Which cells are not missing, in the shape of the cells; None where all are there."""
    if isinstance(cells, Labels):
        return np.asarray(cells.raw_codes >= 0)
    if isinstance(cells, Moments):
        return np.asarray(~np.isnat(settled(cells).raw_values))
    return cells.raw_present
