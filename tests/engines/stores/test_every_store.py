"""Every store gives the same types and the same cells, row for row."""

from __future__ import annotations

from typing import Any

import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.store import LocalStore
from dpstats.engines.views import TableView
from tests.engines.stores.conftest import Shelf
from tests.engines.stores.makers import MAKERS
from tests.engines.stores.ugly import ROW, ROWS, UGLY, CountBatches, CountRows, Gather, expected_cells, plain_cells, ugly_frame

CELLS = [
    pytest.param(label, name, kind, id=f"{label}-{name} as {kind.value}")
    for label, maker in MAKERS.items()
    for name, ugly in UGLY.items()
    for kind in ugly.readings
    if name not in maker.lacks
]
TYPED = [
    pytest.param(label, name, id=f"{label}-{name}")
    for label, maker in MAKERS.items()
    for name in UGLY
    if name not in maker.lacks | maker.undeclared
]
LOCAL = [label for label, maker in MAKERS.items() if maker.is_local]


def test_the_types_are_the_declared_ones(shelf: Shelf) -> None:
    undeclared = shelf.maker.undeclared
    expected = {ROW: ColumnType.INTEGER} | {name: ugly.type for name, ugly in UGLY.items() if name not in shelf.maker.lacks}
    expected = {name: ColumnType.UNDECLARED if name in undeclared else kind for name, kind in expected.items()}
    for rows in (ROWS, 0):
        assert dict(shelf.store(rows).columns) == expected
        assert list(shelf.store(rows).columns) == list(expected)


@pytest.mark.parametrize(("shelf", "name", "kind"), CELLS, indirect=["shelf"], scope="session")
def test_every_cell_is_what_it_must_be(shelf: Shelf, name: str, kind: ColumnType) -> None:
    for rows in (ROWS, 1, 0):
        assert shelf.store(rows).run(Gather(name, kind), [ROW, name]) == expected_cells(name, kind, rows)


@pytest.mark.parametrize(("shelf", "name"), TYPED, indirect=["shelf"], scope="session")
def test_a_column_read_as_text_has_the_same_texts_wherever_it_lies(shelf: Shelf, name: str) -> None:
    job = Gather(name, ColumnType.TEXT)
    assert shelf.store(ROWS).run(job, [ROW, name]) == open_store(ugly_frame())[0].run(job, [ROW, name])


def test_the_number_type_of_a_column_does_not_depend_on_its_rows(shelf: Shelf) -> None:
    stores = [shelf.store(rows) for rows in (ROWS, 1, 0)]
    for name, kind in stores[0].columns.items():
        if kind.is_numeric or kind is ColumnType.UNDECLARED:
            assert len({open_column(store, TableView(store.columns), name, True).dtype for store in stores}) == 1, name


@pytest.mark.parametrize("rows", [ROWS, 1, 0])
def test_rows_are_counted_without_any_column(shelf: Shelf, rows: int) -> None:
    assert shelf.store(rows).run(CountRows(), [])[0] == rows


def test_the_rows_come_in_several_batches(shelf: Shelf) -> None:
    assert shelf.store(ROWS).run(CountBatches(), [ROW]) >= shelf.maker.batches


@pytest.mark.parametrize("shelf", LOCAL, indirect=True, scope="session")
def test_a_repeatable_table_has_one_order_whichever_columns_are_read(shelf: Shelf) -> None:
    store = shelf.store(ROWS)
    assert isinstance(store, LocalStore)
    table = store.repeatable()
    kinds = {name: next(iter(UGLY[name].readings)) for name in ("floats", "constant", "ties")}

    def rows_by(columns: list[str]) -> list[int]:
        return [row for batch in table.batches(columns) for row in plain_cells(batch.cells(ROW, ColumnType.INTEGER))]

    def cells(name: str) -> list[Any]:
        return [cell for batch in table.batches([name]) for cell in plain_cells(batch.cells(name, kinds[name]))]

    order = rows_by([ROW])
    assert sorted(order) == list(range(ROWS))
    assert rows_by([ROW, "floats"]) == rows_by(["ties", ROW]) == order
    for name, kind in kinds.items():
        expected = expected_cells(name, kind)
        assert cells(name) == [expected[row] for row in order]
