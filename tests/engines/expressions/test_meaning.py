"""What expressions mean, by example: missing values, numbers, texts, dates, and columns without a declared type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque
from dpstats.engines.expressions import condition, parse_expression

BIG = 2**53


def numbers(*values: float | None, dtype: Any = np.float64) -> Numbers:
    present = np.array([value is not None for value in values], dtype=np.bool_)
    return Numbers(np.array([0 if value is None else value for value in values], dtype=dtype), present)


def texts(*values: str | None) -> Labels:
    labels = sorted({value for value in values if value is not None})
    return Labels(np.array([-1 if value is None else labels.index(value) for value in values], dtype=np.int64), labels)


def moments(*values: str | None, unit: str = "us", zoned: bool = False) -> Moments:
    return Moments(np.array(["NaT" if value is None else value for value in values], dtype=f"datetime64[{unit}]"), zoned)


TYPES = {Numbers: ColumnType.NUMBER, Labels: ColumnType.TEXT, Moments: ColumnType.MOMENT, Opaque: ColumnType.OTHER}


def value(text: str, **columns: Cells) -> list[Any]:
    """The value of an expression for every row, None where missing."""
    cells = parse_expression(text, {name: TYPES[type(column)] for name, column in columns.items()}).cells(
        lambda name, _: columns[name]
    )
    if isinstance(cells, Labels):
        return [None if code < 0 else cells.raw_labels[code] for code in cells.raw_codes.tolist()]
    if isinstance(cells, Moments):
        return [None if np.isnat(moment) else str(moment) for moment in cells.raw_values]
    assert isinstance(cells, Numbers)
    present = np.ones(len(cells), dtype=np.bool_) if cells.raw_present is None else cells.raw_present
    return [own if there else None for own, there in zip(cells.raw_values.tolist(), present.tolist(), strict=True)]


def test_unknown_and_false_is_false_and_unknown_or_true_is_true() -> None:
    x, y = numbers(None, None, None, 1), numbers(0, 1, None, 1)
    assert value("x > 0 and y > 0", x=x, y=y) == [0, None, None, 1]
    assert value("x > 0 or y > 0", x=x, y=y) == [None, 1, None, 1]
    assert value("not x > 0", x=x) == [None, None, None, 0]


def test_where_keeps_the_rows_that_are_certainly_true() -> None:
    x = numbers(None, 1, 5)
    for text, kept in (("x > 3", [False, False, True]), ("not x > 3", [False, True, False]), ("x != 5", [False, True, False])):
        assert condition(text, {"x": ColumnType.NUMBER}).mask(lambda *_: x).tolist() == kept


def test_missing_is_always_known() -> None:
    assert value("missing(x)", x=numbers(None, 1)) == [1, 0]
    assert value("x is not None", x=texts(None, "")) == [0, 1]
    assert value("missing(x)", x=moments(None, "2024-01-31")) == [1, 0]
    assert value("missing(x)", x=Opaque(np.array([False, True]))) == [1, 0]
    assert value("missing(log(x))", x=numbers(-1, 1)) == [1, 0]
    assert value("missing(x) or missing(1)", x=Numbers(np.array([1.0]))) == [0]


def test_an_unknown_condition_chooses_neither_side() -> None:
    assert value("1 if x > 3 else 2", x=numbers(5, 1, None)) == [1, 2, None]
    assert value("x if x > 3 else None", x=numbers(5, 1, None)) == [5, None, None]
    assert value("'old' if x > 3 else 'young'", x=numbers(5, 1, None)) == ["old", "young", None]


def test_coalesce_takes_the_first_that_is_there() -> None:
    assert value("coalesce(x, y, 7)", x=numbers(1, None, None), y=numbers(None, 2, None)) == [1, 2, 7]
    assert value("coalesce(x, 'none')", x=texts("a", None)) == ["a", "none"]
    assert value("coalesce(x > 3, False)", x=numbers(5, None)) == [1, 0]


def test_division_by_zero_is_infinite_and_nothing_by_nothing_is_missing() -> None:
    x = numbers(1, -1, 0, -0.0, math.inf)
    assert value("x / 0", x=x) == [math.inf, -math.inf, None, None, math.inf]
    assert value("x / -0.0", x=x) == [math.inf, -math.inf, None, None, math.inf]
    assert value("1 / x", x=x) == [1, -1, math.inf, math.inf, 0]
    assert value("x % 0", x=x) == [None] * 5
    assert value("x // 0", x=x) == [math.inf, -math.inf, None, None, math.inf]


def test_what_is_no_number_is_missing() -> None:
    assert value("log(x)", x=numbers(-1, 0, 1)) == [None, -math.inf, 0]
    assert value("sqrt(x)", x=numbers(-1, 4, math.inf)) == [None, 2, math.inf]
    assert value("x * 0", x=numbers(math.inf, 1)) == [None, 0]
    assert value("x - x", x=numbers(math.inf, 1)) == [None, 0]
    assert value("exp(x) * 1e308 * 10", x=numbers(1000, -10000)) == [math.inf, 0]


def test_zero_has_no_sign() -> None:
    for text in ("x * -1", "-x", "x / -5", "round(x)", "ceil(x - 0.5)", "min(x, 0)", "coalesce(x, 1)"):
        assert math.copysign(1, value(text, x=numbers(-0.0))[0]) == 1, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-7 // x", -4.0),
        ("-7 % x", 1.0),
        ("7 // -x", -4.0),
        ("x ** 10", 1024.0),
        ("-x ** 2", -4.0),
        ("(-x) ** 3", -8.0),
        ("x ** 0", 1.0),
    ],
)
def test_arithmetic_is_that_of_python(text: str, expected: float) -> None:
    assert value(text, x=numbers(2)) == [expected]


def test_rounding_is_half_to_even_and_leaves_large_numbers_alone() -> None:
    assert value("round(x)", x=numbers(0.5, 1.5, 2.5, -0.5)) == [0, 2, 2, 0]
    assert value("round(x, 2)", x=numbers(1.234, 1e308, math.inf, 2.0**60)) == [1.23, 1e308, math.inf, 2.0**60]
    assert value("round(x, 3)", x=numbers(1485723588410885.2)) == [1485723588410885.2]
    assert value("round(x, -3)", x=numbers(1499, 2500, 1.7e308)) == [1000, 2000, 1.7e308]


@pytest.mark.parametrize("name", ["exp", "log", "log10", "log1p", "sqrt", "floor", "ceil"])
def test_functions_are_what_their_names_say(name: str) -> None:
    for x in (0.001, 0.5, 1.0, 2.75, 10.0, 300.0):
        assert value(f"{name}(x)", x=numbers(x)) == [pytest.approx(getattr(math, name)(x), rel=1e-14)]


def test_whole_numbers_are_compared_exactly() -> None:
    x = numbers(BIG, BIG + 1, BIG + 2, dtype=np.int64)
    assert value(f"x == {BIG + 1}", x=x) == [0, 1, 0]
    assert value(f"{BIG} < x <= {BIG + 1}", x=x) == [0, 1, 0]
    assert value(f"x in [{BIG + 2}, {BIG + 1}, 0.5, 1e300]", x=x) == [0, 1, 1]
    assert value("x > y", x=x, y=numbers(BIG + 1, BIG, BIG + 1, dtype=np.uint64)) == [0, 1, 1]
    assert value("x < 1e300 and x > -1e999", x=x) == [1, 1, 1]
    assert value("x < 300 and x > -1 and x != 256", x=numbers(0, 255, dtype=np.uint8)) == [1, 1]
    assert value("x == 18446744073709551615", x=numbers(2**64 - 1, dtype=np.uint64)) == [1]


def test_arithmetic_takes_whole_numbers_as_floats_of_15_digits() -> None:
    x = numbers(12345678901234567890, dtype=np.uint64)
    assert value("x + 0", x=x) == [12345678901234600000.0]
    assert value("x + 0 == 12345678901234567890", x=x) == [1]


def test_a_32_bit_number_is_the_number_that_it_is() -> None:
    x = numbers(12.99, 0.1, 0.5, dtype=np.float32)  # 12.99 becomes a little smaller, 0.1 a little larger
    assert value("x == 12.99 or x == 0.1", x=x) == [0, 0, 0]
    assert value("x < 12.99 and x > 0.1", x=x) == [1, 1, 1]
    assert value("x in [0.5, 0.1, 12.99]", x=x) == [0, 0, 1]
    assert value("abs(x - 12.99) < 0.001", x=x) == [1, 0, 0]


def test_booleans_are_numbers_and_conditions() -> None:
    schema = {"ok": ColumnType.BOOLEAN, "x": ColumnType.NUMBER}
    columns: dict[str, Cells] = {"ok": numbers(1, 0, None, dtype=np.uint8), "x": numbers(5, 5, 5)}
    for text, kept in (("ok", [1, 0, 0]), ("not ok", [0, 1, 0]), ("ok + ok == 2", [1, 0, 0]), ("ok == (x > 3)", [1, 0, 0])):
        assert condition(text, schema).mask(lambda name, _: columns[name]).tolist() == [bool(keep) for keep in kept], text


def test_texts_compare_by_code_points() -> None:
    x = texts("Zebra", "ant", "äpfel", None)
    assert value("x < 'a'", x=x) == [1, 0, 0, None]
    assert value("x >= y", x=x, y=texts("Zebra", "b", "z", "z")) == [1, 0, 1, None]
    assert value("x in ['ant', 'Ant']", x=x) == [0, 1, 0, None]


def test_texts_have_functions() -> None:
    x = texts(" Nord", "nord ", "a.b", None)
    assert value("lower(strip(x))", x=x) == ["nord", "nord", "a.b", None]
    assert value("lower(strip(x)) == 'nord'", x=x) == [1, 1, 0, None]
    assert value("contains(x, '.')", x=x) == [0, 0, 1, None]
    assert value("startswith(x, ' ') or endswith(x, 'b')", x=x) == [1, 0, 1, None]
    assert value("length(upper(x))", x=texts("ß", "", None)) == [2, 0, None]


def test_labels_stay_distinct() -> None:
    labels = texts("a", "A", "b")
    cells = parse_expression("upper(x)", {"x": ColumnType.TEXT}).cells(lambda *_: labels)
    assert isinstance(cells, Labels)
    assert cells.raw_labels == ["A", "B"]
    assert cells.raw_codes.tolist() == [0, 0, 1]


def test_a_date_is_its_first_instant_and_no_zone_is_utc() -> None:
    x = moments("2024-01-31T00:00:00", "2024-01-31T00:00:01", None)
    assert value("x == '2024-01-31'", x=x) == [1, 0, None]
    assert value("x <= '2024-01-31'", x=x) == [1, 0, None]
    assert value("x == '2024-01-31T01:00:01+01:00'", x=x) == [0, 1, None]
    day = moments("2024-01-31", "2024-02-01", unit="D")
    for sign, holds in (("<", [1, 0]), ("<=", [1, 0]), (">", [0, 1]), (">=", [0, 1]), ("==", [0, 0]), ("!=", [1, 1])):
        assert value(f"x {sign} '2024-01-31T12:00:00'", x=day) == holds
        assert value(f"x {sign} y", x=day, y=moments("2024-01-31T12:00:00", "2024-01-31T12:00:00")) == holds
    assert value("x in ['2024-01-31 00:00', '2024-01-31T00:00:02']", x=x) == [1, 0, None]


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_dates_compare_in_any_unit(unit: str) -> None:
    x = Moments(np.array([0], dtype=np.int64).view(f"datetime64[{unit}]"))
    start = "1970-01-01"
    assert value(f"x == '{start}'", x=x) == [1]
    assert value("x < '1970-02-01T12:00:00.5' and x > '0001-01-01'", x=x) == [1]
    assert value("x == y", x=x, y=moments(start, unit="D")) == [1]
    assert value("year(x) + month(x)", x=x) == [1971]


def test_far_dates_neither_overflow_nor_raise() -> None:
    counts = np.array([2**63 - 1, -(2**63) + 1, -(2**63)], dtype=np.int64)
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "10Y", "7D", "1000s"):
        x = Moments(counts.view(f"datetime64[{unit}]"))
        for text in ("x > '2024-01-31'", "x == y", "x < y", "year(x)", "hour(x)", "coalesce(x, y)", "missing(x)"):
            assert len(value(text, x=x, y=moments("2024-01-31", "2024-01-31", None, unit="D"))) == 3
    x = Moments(counts.view("datetime64[D]"))
    assert value("x > '2024-01-31'", x=x) == [1, 0, None]
    assert value("x > y", x=x, y=moments("2024-01-31", "2024-01-31", None, unit="ns")) == [1, 0, None]
    assert value("month(x)", x=Moments(np.array([5], dtype=np.int64).view("datetime64"))) == [None]


def test_dates_are_taken_apart() -> None:
    x = moments("2024-02-29T13:45:00", "1969-12-31T23:59:59.999999", "1900-03-01", None)
    assert value("year(x) * 10000 + month(x) * 100 + day(x)", x=x) == [20240229, 19691231, 19000301, None]
    assert value("weekday(x)", x=x) == [4, 3, 4, None]
    assert value("hour(x)", x=x) == [13, 23, 0, None]
    assert value("year(x)", x=moments("2024-02-29", unit="D")) == [2024]


def test_moments_of_several_units_meet_in_one() -> None:
    ended = moments("2024-01-31T12:00:00.123456789", None, unit="ns", zoned=True)
    assert value("coalesce(x, '9999-12-31')", x=ended) == ["2024-01-31T12:00:00.123456", "9999-12-31T00:00:00.000000"]
    assert value("coalesce(x, '9999-12-31')", x=moments("2024-01-31", None, unit="D")) == ["2024-01-31", "9999-12-31"]
    cells = parse_expression("coalesce(x, '2024-01-31')", {"x": ColumnType.MOMENT}).cells(lambda *_: ended)
    assert isinstance(cells, Moments)
    assert cells.zoned


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("x > 3", [("x", ColumnType.NUMBER)]),
        ("x == 'a'", [("x", ColumnType.TEXT)]),
        ("x in ['a', 'b']", [("x", ColumnType.TEXT)]),
        ("x + 1 == 2", [("x", ColumnType.NUMBER)]),
        ("x", [("x", ColumnType.BOOLEAN)]),
        ("not x", [("x", ColumnType.BOOLEAN)]),
        ("x == y", [("x", ColumnType.NUMBER), ("y", ColumnType.NUMBER)]),
        ("x == True", [("x", ColumnType.BOOLEAN)]),
        ("x >= born", [("x", ColumnType.MOMENT), ("born", ColumnType.MOMENT)]),
        ("year(x) == 2024", [("x", ColumnType.MOMENT)]),
        ("lower(x) == 'a' or x > 3", [("x", ColumnType.TEXT), ("x", ColumnType.NUMBER)]),
        ("missing(x)", [("x", ColumnType.TEXT)]),
        ("missing(x) or x < 0", [("x", ColumnType.NUMBER)]),
        ("missing(x) or x < 0 or x == 'a'", [("x", ColumnType.TEXT), ("x", ColumnType.NUMBER)]),
        ("coalesce(x, y) == 'a'", [("x", ColumnType.TEXT), ("y", ColumnType.TEXT)]),
        ("(x if y else None) > 3", [("y", ColumnType.BOOLEAN), ("x", ColumnType.NUMBER)]),
    ],
)
def test_an_undeclared_column_is_read_as_its_use_asks(text: str, columns: list[tuple[str, ColumnType]]) -> None:
    schema = {"x": ColumnType.UNDECLARED, "y": ColumnType.UNDECLARED, "born": ColumnType.MOMENT}
    assert condition(text, schema).columns == tuple(columns)


def test_empty_batches_have_empty_values() -> None:
    for text in ("x + 1", "x > 3", "x in [1]", "coalesce(x, 1)", "1 if x > 3 else 2", "True or missing(x)", "x"):
        assert value(text, x=numbers()) == []
    for text in ("lower(x)", "x == 'a'", "x < 'b'", "coalesce(x, 'a')", "length(x)"):
        assert value(text, x=texts()) == []
    for text in ("year(x)", "x == '2024-01-31'", "coalesce(x, '2024-01-31')"):
        assert value(text, x=moments()) == []


def test_a_column_by_itself_is_handed_on_as_it_is() -> None:
    cells = numbers(BIG + 1, dtype=np.int64)
    expression = parse_expression("x", {"x": ColumnType.INTEGER})
    assert expression.type is ColumnType.INTEGER
    assert expression.cells(lambda *_: cells) is cells
