"""The design of a formula on new rows, to predict for: the same columns as in the fit, from whoever asks for predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Numbers
from dpstats.engines.complaints import check_column_name
from dpstats.engines.stores.memory import MemoryStore, columns_in_memory
from dpstats.engines.stores.store import Batch
from dpstats.engines.views import TableView, ViewedBatch
from dpstats.foundations.errors import DataTypeError


@dataclass(frozen=True)
class DesignRows:
    """Makes the features of a fit from new rows."""

    view: TableView
    """With the columns of the design, and without conditions: every row gets a prediction."""
    names: tuple[str, ...]

    def __call__(self, data: Any) -> NDArray[np.float64]:
        """An array of rows by features; NaN where a cell is missing, or a label is not on the list."""
        batches = _viewed(self.view, self.names, _by_name(data))
        return np.concatenate([self._rows(viewed) for viewed in batches])

    def _rows(self, viewed: ViewedBatch) -> NDArray[np.float64]:
        rows = np.full((viewed.rows, len(self.names)), np.nan)
        for place, name in enumerate(self.names):
            kind = self.view.type_of(name)
            cells = viewed.cells(name, ColumnType.NUMBER if kind is ColumnType.UNDECLARED else kind)
            rows[:, place] = _values(cells)
        return rows


@dataclass(frozen=True)
class DerivedRows:
    """Makes the columns that a model was fitted on from new rows."""

    view: TableView
    """With these columns, and without conditions."""
    names: tuple[str, ...]

    def __call__(self, data: Any) -> dict[str, Any]:
        """All columns by name; a derived one is computed unless it is there by its own name."""
        raw_columns = _by_name(data)
        wanted = [name for name in self.names if name in self.view.derived and name not in raw_columns]
        batches = list(_viewed(self.view, wanted, raw_columns)) if wanted else []
        made = {name: [_values(viewed.cells(name, self.view.type_of(name))) for viewed in batches] for name in wanted}
        return {**raw_columns, **{name: np.concatenate(parts) for name, parts in made.items()}}


class _WithFractions(Batch):
    """Rows that may have fractions where those of the fit had whole numbers."""

    def __init__(self, batch: Batch) -> None:
        super().__init__({}, batch.rows)
        self._batch = batch

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column, read as that type, or as any numbers."""
        return self._batch.cells(name, ColumnType.NUMBER if kind is ColumnType.INTEGER else kind)


def design_rows(view: TableView, names: Sequence[str]) -> DesignRows:
    """What makes features of new rows, for a design on a view of the old ones."""
    return DesignRows(replace(view, conditions=(), complete=()), tuple(names))


def derived_rows(view: TableView, names: Sequence[str]) -> DerivedRows:
    """What makes columns of new rows, for a view of the old ones."""
    return DerivedRows(replace(view, conditions=(), complete=()), tuple(names))


def _by_name(data: Any) -> dict[str, Any]:
    raw_columns = columns_in_memory(_as_columns(data))
    if raw_columns is None:
        raise DataTypeError("a fit of a formula predicts for a data frame, or a dict of columns by name.")
    return raw_columns


def _viewed(view: TableView, names: Sequence[str], raw_columns: Mapping[str, Any]) -> Iterator[ViewedBatch]:
    """Batches of new rows with what some columns need."""
    needed = view.needs(names)
    for name in needed:
        check_column_name(name, list(raw_columns))
    for batch in MemoryStore({name: raw_columns[name] for name in needed}).batches(needed):
        yield view.on(_WithFractions(batch))


def _values(cells: Cells) -> NDArray[Any]:
    """Numbers, NaN where a cell is missing; or texts, and None."""
    if isinstance(cells, Labels):
        return np.array([*cells.raw_labels, None], dtype=object)[cells.raw_codes]
    assert isinstance(cells, Numbers)
    return np.where(True if cells.raw_present is None else cells.raw_present, cells.raw_values, np.nan)


def _as_columns(data: Any) -> Any:
    """A dict of single cells is one row."""
    if not isinstance(data, Mapping):
        return data
    return {name: [cell] if isinstance(cell, str) or not hasattr(cell, "__len__") else cell for name, cell in data.items()}
