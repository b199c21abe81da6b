"""A view: which rows of a table a question is about, and which columns it may name.

A view adds derived columns and conditions to a table. Both are functions of one row: a table with one row more has the same view,
or one with this row more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque, both_present, present_cells, select_cells
from dpstats.engines.columns.texts import NEITHER
from dpstats.engines.stores.store import Batch
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from dpstats.engines.expressions import Expression

Mask = NDArray[np.bool_]

_CELLS_OF = {ColumnType.TEXT: Labels, ColumnType.MOMENT: Moments, ColumnType.OTHER: Opaque}


class CountedCells(NamedTuple):
    """Cells, and which of them count; None where all do."""

    cells: Cells
    raw_taken: Mask | None


@dataclass(frozen=True)
class TableView:
    """Columns of a table and derived ones, and the conditions that rows must meet."""

    schema: Mapping[str, ColumnType]
    """The columns of the table with their types, as declared or as re-declared by the owner."""
    derived: Mapping[str, Expression] = field(default_factory=dict)
    """Further columns, in order: each may use those before it."""
    conditions: tuple[Expression, ...] = ()
    """A row belongs to the view if all of them are true; they may use every column."""
    complete: tuple[tuple[str, ColumnType], ...] = ()
    """Columns, each with the type that it is read as: a row that is missing in one of them counts as missing in every column."""

    tells_truths: bool = False
    """Whether columns of numbers are read as a share reads them (`ColumnType.TRUTH`): a value that is neither true nor false then
    counts as such, where it otherwise would be missing."""

    def __post_init__(self) -> None:
        """Own copies, which no caller can change."""
        twice = [name for name in self.derived if name in self.schema]
        if twice:
            raise InvalidParameterError(f"there is a column {twice[0]!r} already: give the derived one another name.")
        object.__setattr__(self, "schema", dict(self.schema))
        object.__setattr__(self, "derived", dict(self.derived))
        object.__setattr__(self, "conditions", tuple(self.conditions))
        object.__setattr__(self, "complete", tuple(self.complete))

    @property
    def columns(self) -> dict[str, ColumnType]:
        """All columns with their types: those of the table, then the derived ones."""
        return {**self.schema, **{name: expression.type for name, expression in self.derived.items()}}

    def type_of(self, name: str) -> ColumnType:
        """The type of a column."""
        return self.derived[name].type if name in self.derived else self.schema[name]

    def needs(self, names: Iterable[str]) -> list[str]:
        """The columns of the table that must be read for some columns of the view, conditions included; in the table's order."""
        wanted = list(names)
        waiting = [*wanted, *(name for condition in self.conditions for name, _ in condition.columns)]
        waiting += [name for name, _ in self.complete] if wanted else []  # where no cell is read, only rows are counted
        needed: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                if name in self.derived:
                    waiting += [used for used, _ in self.derived[name].columns]
                elif name not in self.schema:
                    raise UnknownNameError(f"there is no column {name!r}; the columns are {', '.join(self.columns)}.")
        return [name for name in self.schema if name in needed]

    def on(self, batch: Batch) -> ViewedBatch:
        """The view of one batch, which computes what it is asked for once."""
        return ViewedBatch(self, batch)


class ViewedBatch:
    """A batch as a view shows it."""

    def __init__(self, view: TableView, batch: Batch) -> None:
        self._view = view
        self._batch = batch
        self._raw_derived: dict[str, Cells] = {}
        self.raw_kept: Mask | None = self._meets_all(view.conditions)
        """Which rows of the batch belong to the view; None where all do."""
        self.rows = batch.rows if self.raw_kept is None else int(np.count_nonzero(self.raw_kept))
        """Rows that belong to the view, missing ones included."""

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column of the rows that belong to the view, read as that type; derived ones have the type that they have."""
        raw_cells = self._read(name, kind)
        return raw_cells if self.raw_kept is None else select_cells(raw_cells, self.raw_kept)

    def parts(self, name: str, kind: ColumnType) -> list[CountedCells]:
        """The rows that belong to the view and are not missing in a column, each in one part; parts have the batch's rows.

        There is one part, but for UNDECLARED: then cells that are numbers are numbers, and the others texts.
        """
        if not self._view.complete:
            return self._parts(name, kind)
        return [CountedCells(cells, both_present(raw_taken, self._raw_complete)) for cells, raw_taken in self._parts(name, kind)]

    def complete_numbers(self) -> tuple[list[NDArray[Any]], Mask | None]:
        """The columns that must be complete, which are all of numbers, for all rows of the batch; and which of these rows belong
        to the view and are missing in none of them: None where all do."""
        raw_columns = []
        for name, kind in self._view.complete:
            raw_cells = self._read(name, kind)
            assert isinstance(raw_cells, Numbers)
            raw_columns.append(raw_cells.raw_values)
        raw_taken = self._raw_complete
        return raw_columns, None if raw_taken is None or raw_taken.all() else raw_taken

    @cached_property
    def _raw_complete(self) -> Mask | None:
        """Which rows of the batch are missing in none of the columns that must be complete; None where all are."""
        raw_complete: Mask | None = None
        for name, kind in self._view.complete:
            raw_complete = both_present(raw_complete, _either([raw_taken for _, raw_taken in self._parts(name, kind)]))
        return raw_complete

    def _parts(self, name: str, kind: ColumnType) -> list[CountedCells]:
        """The parts of one column, whatever is missing in others."""
        if kind is not ColumnType.UNDECLARED:
            raw_cells = self._read(name, kind)
            return [CountedCells(raw_cells, both_present(self.raw_kept, _present(raw_cells)))]
        raw_numbers, raw_texts = self._read(name, ColumnType.NUMBER), self._read(name, ColumnType.TEXT)
        raw_are_numbers = present_cells(raw_numbers)
        return [
            CountedCells(raw_numbers, both_present(self.raw_kept, raw_are_numbers)),
            CountedCells(raw_texts, both_present(self.raw_kept, present_cells(raw_texts) & ~raw_are_numbers)),
        ]

    def present(self, name: str, kind: ColumnType) -> list[Cells]:
        """As `parts`, only the cells that count."""
        return [_taken(part) for part in self.parts(name, kind)]

    def _read(self, name: str, kind: ColumnType) -> Cells:
        """One column of all rows of the batch, in the view or not."""
        if name not in self._view.derived:
            return self._batch.cells(name, kind)
        if name not in self._raw_derived:
            self._raw_derived[name] = self._view.derived[name].cells(self._read)
        raw_cells = self._raw_derived[name]
        if kind is ColumnType.TRUTH and isinstance(raw_cells, Numbers):
            return self._with_neither(name, raw_cells)
        if not isinstance(raw_cells, _CELLS_OF.get(kind, Numbers)):
            raise InvalidParameterError(f"column {name!r} is derived and cannot be read as {kind.value}.")
        return raw_cells

    def _with_neither(self, name: str, raw_cells: Numbers) -> Numbers:
        """A derived column, with `NEITHER` where it is missing in a row in which a column that it reads as true and false holds
        something else."""
        if raw_cells.raw_present is None:
            return raw_cells
        raw_neither = np.zeros(len(raw_cells), dtype=np.bool_)
        for used, read_as in self._view.derived[name].columns:
            if read_as is ColumnType.BOOLEAN:
                told = self._read(used, ColumnType.TRUTH)
                assert isinstance(told, Numbers)
                raw_neither |= present_cells(told) & (told.raw_values != 0) & (told.raw_values != 1)
        raw_neither &= ~raw_cells.raw_present
        raw_values = np.where(raw_neither, raw_cells.raw_values.dtype.type(NEITHER), raw_cells.raw_values)
        return Numbers(raw_values, raw_cells.raw_present | raw_neither)

    def _meets_all(self, conditions: Sequence[Expression]) -> Mask | None:
        raw_kept: Mask | None = None
        for condition in conditions:
            raw_kept = both_present(raw_kept, condition.mask(self._read))
        return None if raw_kept is None or raw_kept.all() else raw_kept


def _present(raw_cells: Cells) -> Mask | None:
    """Which cells are not missing; None where it costs nothing to say that none is."""
    return None if isinstance(raw_cells, Numbers) and raw_cells.raw_present is None else present_cells(raw_cells)


def _either(masks: Sequence[Mask | None]) -> Mask | None:
    taken = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(taken) if len(taken) == len(masks) else None


def _taken(part: CountedCells) -> Cells:
    raw_cells = part.cells if part.raw_taken is None or part.raw_taken.all() else select_cells(part.cells, part.raw_taken)
    return Numbers(raw_cells.raw_values) if isinstance(raw_cells, Numbers) else raw_cells
