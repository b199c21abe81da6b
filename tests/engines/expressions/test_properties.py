"""Random expressions on random rows: nothing raises or warns, a row's value is its own, and a slow interpreter agrees."""

from __future__ import annotations

import ast
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, select_cells
from dpstats.engines.expressions import Expression, parse_expression
from dpstats.engines.expressions.language import ColumnReference
from dpstats.foundations.errors import DataTypeError, DpstatsError, InvalidParameterError, UnknownNameError
from tests.engines.expressions.grammar import SCHEMA, UNITS, cells_of_rows, expressions, tables
from tests.engines.expressions.reference import NANOSECONDS, Instant, Reference

HARD_TO_DRAW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
Table = list[dict[str, Any]]


def reader(table: Table) -> Any:
    return lambda name, kind: cells_of_rows(table, name)


def plain(cells: Cells) -> list[Any]:
    """Cells as plain Python values, None where missing."""
    if isinstance(cells, Labels):
        return [None if code < 0 else cells.raw_labels[code] for code in cells.raw_codes.tolist()]
    if isinstance(cells, Moments):
        unit = np.datetime_data(cells.raw_values.dtype)[0]
        counts = cells.raw_values.view(np.int64).tolist()
        return [None if count == -(2**63) else Instant(count * NANOSECONDS[unit], unit) for count in counts]
    assert isinstance(cells, Numbers)
    present = [True] * len(cells) if cells.raw_present is None else cells.raw_present.tolist()
    return [value if there else None for value, there in zip(cells.raw_values.tolist(), present, strict=True)]


def truly_equal(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Equality that tells 0.0 from -0.0."""
    return len(found) == len(expected) and all(
        one == other and not (isinstance(one, float) and one == 0 and math.copysign(1, one) < 0)
        for one, other in zip(found, expected, strict=True)
    )


def parsed(text: str) -> Expression | None:
    """The expression; None where the text names a column in a literal only."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} & SCHEMA.keys()
    return parse_expression(text, SCHEMA) if names else None


@settings(max_examples=400, suppress_health_check=HARD_TO_DRAW)
@given(text=expressions(2), table=tables)
def test_a_slow_interpreter_of_single_rows_agrees(text: str, table: Table) -> None:
    expression = parsed(text)
    if expression is None or isinstance(expression.node, ColumnReference):
        return
    tree = ast.parse(text, mode="eval").body
    expected = [Reference(row, UNITS).value(tree) for row in table]
    cells = expression.cells(reader(table))
    assert len(cells) == len(table)
    assert truly_equal(plain(cells), expected), str(expression)
    if expression.type is ColumnType.BOOLEAN:
        mask = expression.mask(reader(table))
        assert mask.dtype == np.bool_
        assert mask.tolist() == [value is True for value in expected]


@settings(max_examples=300, suppress_health_check=HARD_TO_DRAW)
@given(text=expressions(4), table=tables, chosen=st.lists(st.integers(0, 6), max_size=9))
def test_the_value_of_a_row_is_the_same_alone_and_among_others(text: str, table: Table, chosen: list[int]) -> None:
    expression = parsed(text)
    if expression is None:
        return
    places = np.array([place for place in chosen if place < len(table)], dtype=np.int64)
    whole = expression.cells(reader(table))
    part = expression.cells(reader([table[place] for place in places]))
    assert plain(select_cells(whole, places)) == plain(part)
    assert type(whole) is type(part)
    if isinstance(whole, Numbers) and isinstance(part, Numbers):
        assert whole.raw_values.dtype == part.raw_values.dtype
        assert not np.isnan(np.asarray(whole.raw_values, dtype=np.float64)[[value is not None for value in plain(whole)]]).any()


@settings(max_examples=300, suppress_health_check=HARD_TO_DRAW)
@given(text=expressions(3))
def test_the_canonical_text_reads_as_the_same_expression(text: str) -> None:
    expression = parsed(text)
    if expression is None:
        return
    again = parse_expression(str(expression), SCHEMA)
    assert again == expression
    assert hash(again) == hash(expression)
    assert str(again) == str(expression)
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert {type(kind) for _, kind in expression.columns} == {ColumnType}


@settings(max_examples=100)
@given(
    values=st.lists(st.floats(), min_size=1, max_size=40),
    name=st.sampled_from(["exp", "log", "log10", "log1p", "sqrt"]),
    stride=st.integers(1, 3),
)
def test_transcendental_functions_do_not_see_neighbours_or_strides(values: list[float], name: str, stride: int) -> None:
    def value(of: Sequence[float]) -> list[Any]:
        array = np.repeat(np.array(of, dtype=np.float64), stride)[::stride]
        return plain(parse_expression(f"{name}(x)", {"x": ColumnType.NUMBER}).cells(lambda *_: Numbers(array, ~np.isnan(array))))

    assert value(values) == [value([one])[0] for one in values]


@settings(max_examples=300)
@given(text=st.text(max_size=60) | st.text("agex0123 .()[]'\"=<>!&|~+-*/%,#\n\\andorisnotif", max_size=40))
def test_any_text_is_an_expression_or_one_of_our_complaints(text: str) -> None:
    schema = {"age": ColumnType.NUMBER, "x": ColumnType.UNDECLARED}
    complaint: DpstatsError | None = None
    try:
        assert parse_expression(text, schema).columns
    except (DataTypeError, InvalidParameterError, UnknownNameError) as raised:
        complaint = raised
    if complaint is not None:
        assert str(complaint).isprintable()
        assert complaint.__suppress_context__ or complaint.__context__ is None
