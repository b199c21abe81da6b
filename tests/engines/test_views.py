"""Views: rows that meet all conditions, columns of the table and derived ones, and nothing read that is not needed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Numbers, present_cells
from dpstats.engines.views import TableView
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from tests.engines.cell_stores import CellBatch, Computed, numbers, texts

NUMBER, TEXT = ColumnType.NUMBER, ColumnType.TEXT
SCHEMA = {"age": ColumnType.INTEGER, "income": NUMBER, "region": TEXT, "unused": NUMBER}


def doubled(cells: Numbers) -> Numbers:
    return Numbers(2 * cells.raw_values, cells.raw_present)


def total(one: Numbers, other: Numbers) -> Numbers:
    return Numbers(one.raw_values + other.raw_values, present_cells(one) & present_cells(other))


def from_thirty(cells: Numbers) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = present_cells(cells) & (cells.raw_values >= 30)
    return mask


def is_north(cells: Labels) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = np.array([label == "north" for label in [*cells.raw_labels, ""]])[cells.raw_codes]
    return mask


DOUBLE = Computed((("income", NUMBER),), doubled)
SUM = Computed((("double", NUMBER), ("age", NUMBER)), total)
OLD = Computed((("age", NUMBER),), from_thirty, ColumnType.BOOLEAN)
RICH = Computed((("sum", NUMBER),), from_thirty, ColumnType.BOOLEAN)
NORTH = Computed((("region", TEXT),), is_north, ColumnType.BOOLEAN)


def batch() -> CellBatch:
    cells: dict[str, Cells] = {
        "age": numbers([10, 30, None, 50, 40], "int64"),
        "income": numbers([1.0, 2.0, 3.0, None, 5.0]),
        "region": texts(["north", "south", "north", "north", None]),
    }
    return CellBatch(cells, 5)


def test_a_view_without_conditions_hands_out_the_very_cells_of_the_batch() -> None:
    rows = batch()
    view = TableView(SCHEMA)
    assert view.on(rows).raw_kept is None
    assert view.on(rows).cells("age", NUMBER) is rows.cells("age", NUMBER)
    assert view.on(rows).rows == 5


def test_rows_are_kept_where_all_conditions_are_true() -> None:
    view = TableView(SCHEMA, conditions=(OLD, NORTH))
    kept = view.on(batch()).raw_kept
    assert kept is not None
    assert kept.tolist() == [False, False, False, True, False]
    cells = view.on(batch()).cells("age", NUMBER)
    assert isinstance(cells, Numbers)
    assert cells.raw_values.tolist() == [50]
    assert view.on(batch()).rows == 1


def test_a_condition_that_all_rows_meet_copies_nothing() -> None:
    rows = CellBatch({"age": numbers([30, 31], "int64")}, 2)
    view = TableView(SCHEMA, conditions=(OLD,))
    assert view.on(rows).raw_kept is None
    assert view.on(rows).cells("age", NUMBER) is rows.cells("age", NUMBER)


def test_derived_columns_use_earlier_ones_and_conditions_use_them() -> None:
    view = TableView(SCHEMA, {"double": DOUBLE, "sum": SUM}, (RICH,))
    (cells,) = view.on(batch()).present("sum", NUMBER)
    assert isinstance(cells, Numbers)
    assert cells.raw_values.tolist() == [34.0, 50.0]
    assert view.columns == {**SCHEMA, "double": NUMBER, "sum": NUMBER}
    assert view.type_of("sum") is NUMBER


def test_a_derived_column_is_computed_once_for_a_batch() -> None:
    calls = []

    def noted(cells: Numbers) -> Numbers:
        calls.append(len(cells))
        return cells

    view = TableView(SCHEMA, {"double": Computed((("income", NUMBER),), noted), "sum": SUM}, (RICH,))
    viewed = view.on(batch())
    viewed.cells("double", NUMBER)
    viewed.parts("sum", NUMBER)
    assert calls == [5]


def test_present_cells_are_those_of_kept_rows_without_the_missing_ones() -> None:
    view = TableView(SCHEMA, conditions=(OLD,))
    viewed = view.on(batch())
    (cells,) = viewed.present("income", NUMBER)
    assert isinstance(cells, Numbers)
    assert (cells.raw_values.tolist(), cells.raw_present, viewed.rows) == ([2.0, 5.0], None, 3)


def test_undeclared_cells_are_numbers_where_they_are_numbers_and_texts_elsewhere() -> None:
    table = CellBatch({"code": numbers([7, None, None, 8])}, 4, {"code": texts(["7", "x", None, "8"])})
    found, rest = TableView({"code": ColumnType.UNDECLARED}).on(table).present("code", ColumnType.UNDECLARED)
    assert isinstance(found, Numbers)
    assert isinstance(rest, Labels)
    assert found.raw_values.tolist() == [7, 8]
    assert [rest.raw_labels[code] for code in rest.raw_codes] == ["x"]


def test_only_the_columns_behind_a_question_are_needed() -> None:
    view = TableView(SCHEMA, {"double": DOUBLE, "sum": SUM}, (NORTH,))
    assert view.needs(["sum"]) == ["age", "income", "region"]
    assert view.needs([]) == ["region"]
    assert TableView(SCHEMA).needs(["unused"]) == ["unused"]


def test_wrong_names_and_types_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="wage"):
        TableView(SCHEMA).needs(["wage"])
    with pytest.raises(InvalidParameterError, match="already"):
        TableView(SCHEMA, {"age": DOUBLE})
    with pytest.raises(InvalidParameterError, match="cannot be read as text"):
        TableView(SCHEMA, {"double": DOUBLE}).on(batch()).cells("double", TEXT)


def test_a_view_survives_pickling_and_its_makers_changes() -> None:
    schema = dict(SCHEMA)
    view = TableView(schema, {"double": DOUBLE, "sum": SUM}, (RICH, NORTH))
    schema.clear()
    again = pickle.loads(pickle.dumps(view))
    assert again == view
    assert again.needs(["sum"]) == ["age", "income", "region"]
    assert again.on(batch()).rows == view.on(batch()).rows == 0


def test_real_expressions_and_stores_fit_a_view() -> None:
    import polars as pl

    from dpstats.engines.expressions.expression import condition, parse_expression
    from dpstats.engines.groups.answers import GroupKeys, answer_groups, count_keys
    from dpstats.engines.passes.columns import open_column
    from dpstats.engines.stores.opening import open_store

    frame = pl.DataFrame({"age": [20, 30, None, 50], "income": [1.0, 2.0, 3.0, float("nan")], "region": ["n", "s", "n", None]})
    store, schema = open_store(frame, None)
    view = TableView(schema, {"double": parse_expression("2 * income", schema)})
    narrow = pickle.loads(pickle.dumps(TableView(schema, view.derived, (condition("age >= 25 or region == 'n'", schema),))))
    assert open_column(store, view, "double", True).counts_below([3, 5, 7]) == [1, 2, 3]
    assert open_column(store, narrow, "double", True).counts_below([3, 5, 7]) == [1, 2, 3]
    assert (open_column(store, narrow, "double", True).count(), open_column(store, narrow, "age", False).stored()) == (3, 4)
    assert count_keys(store, narrow, ("region",), (TEXT,)) == {("n",): 2, ("s",): 1}
    keys = GroupKeys(("region",), (TEXT,), (("s",), ("n",)))
    assert answer_groups(store, narrow, keys, "double", True, lambda key, column: column.count()) == {("s",): 1, ("n",): 2}
