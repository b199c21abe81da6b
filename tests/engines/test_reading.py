"""Cells: the same from every container, read row by row, whatever the rows hold."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque, present_cells
from dpstats.engines.reading import read_cells, read_identities, type_of
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.units import float_of_whole

NUMBER, INTEGER, BOOLEAN, TEXT = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.TEXT
MOMENT, UNDECLARED, OTHER = ColumnType.MOMENT, ColumnType.UNDECLARED, ColumnType.OTHER
INF, NAN, UTC = float("inf"), float("nan"), datetime.UTC


def plain(cells: Cells) -> list[Any]:
    """Cells as plain Python values, None where missing; numbers keep the look of their type, and -0.0 its sign."""
    present = present_cells(cells).tolist()
    if isinstance(cells, Labels):
        return [cells.raw_labels[code] if code >= 0 else None for code in cells.raw_codes.tolist()]
    if isinstance(cells, Opaque):
        return present
    values = cells.raw_values.tolist() if isinstance(cells, Numbers) else np.datetime_as_string(cells.raw_values).tolist()
    return [repr(value) if there else None for value, there in zip(values, present, strict=True)]


def check_form(cells: Cells) -> None:
    """What everything else relies on."""
    if isinstance(cells, Numbers):
        assert cells.raw_values.dtype in [
            np.dtype(f"{k}{b}") for k, b in [*((k, b) for k in "iu" for b in (1, 2, 4, 8)), ("f", 4), ("f", 8)]
        ]
        assert cells.raw_present is None or cells.raw_present.dtype == np.bool_
        if cells.raw_values.dtype.kind == "f":
            assert not np.isnan(cells.raw_values[present_cells(cells)]).any()
    if isinstance(cells, Labels):
        assert cells.raw_codes.dtype == np.int64
        assert len(set(cells.raw_labels)) == len(cells.raw_labels)
        assert cells.raw_codes.size == 0 or (cells.raw_codes.min() >= -1 and cells.raw_codes.max() < len(cells.raw_labels))
    if isinstance(cells, Moments):
        assert cells.raw_values.dtype.kind == "M"


@dataclass(frozen=True)
class Case:
    """Rows, the arrow type that holds them, and what they are: the declared type and their texts."""

    name: str
    rows: list[Any]
    arrow: Any
    type: ColumnType
    texts: list[str | None]
    numpy: str = ""
    """numpy's type, where it has one."""
    nullable: str = ""
    """The name of pandas' own type with missing rows, where it has one."""


BIG = [2**53 + 1, None, -(2**63), 2**63 - 1, 7]
TEXTS = ["b", None, "", "a", "ä", "b", "😀", " 7 ", "\x00x", "7"]
NUMBERS_IN_TEXT = [
    "1",
    None,
    " 1.5 ",
    "-0.0",
    "+.5",
    "5.",
    "1e3",
    "1E400",
    "-1e-400",
    "nan",
    "-INF",
    "Infinity",
    "",
    "abc",
    "1_0",
    "0x1",
]
NUMBERS_IN_TEXT += [
    "٣",
    "1,5",
    "1 2",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "27102.0",
    "9007199254740993.0",
]
NUMBERS_IN_TEXT += [
    "-9223372036854775808",
    "0" * 5000 + "7",
    "1" * 400,
    "1\n",
    "1\x00",
    "0.1",
    "123456789.123456789012345678901",
    "+7",
    "1e",
    ".",
]
NUMBERS_IN_TEXT += [
    "2.2250738585072011e-308",
    "1.7976931348623159e308",
    "00012",
    "1e5",
    "--1",
    "true",
    "FALSE",
    "0",
    " True",
    "yes",
]
DAYS = [datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2024, 2, 29)]
TIMES = [
    datetime.datetime(2024, 2, 29, 12, 30),
    None,
    datetime.datetime(1969, 12, 31, 23, 59, 59, 5),
    datetime.datetime(2024, 2, 29),
]
ZONED = [
    datetime.datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
    None,
    datetime.datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=UTC),
]

# fmt: off
CASES = [
    Case("floats", [1.5, None, -0.0, INF, -INF, 7.0, 0.1, 1e300, 5e-324], pa.float64(), NUMBER,
         ["1.5", None, "0", "inf", "-inf", "7", "0.1", "1e+300", "5e-324"], "f8", "Float64"),
    Case("nan", [NAN, 1.0, None], pa.float64(), NUMBER, [None, "1", None], "f8"),
    Case("float32", [12.989999771118164, None, 3.0], pa.float32(), NUMBER, ["12.99", None, "3"], "f4", "Float32"),
    Case("int64", BIG, pa.int64(), INTEGER,
         ["9007199254740990", None, "-9.22337203685478e+18", "9.22337203685478e+18", "7"], "i8", "Int64"),
    Case("uint64", [2**64 - 1, None, 2**63, 0], pa.uint64(), INTEGER,
         ["1.84467440737096e+19", None, "9.22337203685478e+18", "0"], "u8", "UInt64"),
    Case("int8", [-128, 127, None, 0, 0], pa.int8(), INTEGER, ["-128", "127", None, "0", "0"], "i1", "Int8"),
    Case("booleans", [True, None, False, True], pa.bool_(), BOOLEAN, ["1", None, "0", "1"], "?", "boolean"),
    Case("decimals", [Decimal("0.10"), None, Decimal("-12345678901234.50"), Decimal("7.00"), Decimal("99999999999999999999.99")],
         pa.decimal128(30, 2), NUMBER, ["0.1", None, "-12345678901234.5", "7", "1e+20"]),
    Case("texts", TEXTS, pa.string(), TEXT, [*TEXTS]),
    Case("numbers in text", NUMBERS_IN_TEXT, pa.string(), TEXT, [*NUMBERS_IN_TEXT]),
    Case("days", DAYS, pa.date32(), MOMENT, ["2024-02-29", None, "0001-01-01", "9999-12-31", "2024-02-29"], "M8[D]"),
    Case("times", TIMES, pa.timestamp("us"), MOMENT,
         ["2024-02-29T12:30:00", None, "1969-12-31T23:59:59.000005", "2024-02-29"], "M8[us]"),
    Case("times with a zone", ZONED, pa.timestamp("ms", "UTC"), MOMENT,
         ["2024-02-29T12:30:00+00:00", None, "1969-12-31T23:59:59.500000+00:00".replace("500000", "5")]),
    Case("clocks", [datetime.time(13, 5), None, datetime.time(0, 0, 0, 120)], pa.time64("us"), TEXT,
         ["13:05:00", None, "00:00:00.00012"]),
    Case("durations", [datetime.timedelta(days=1, seconds=7), None, datetime.timedelta(0)], pa.duration("us"), TEXT,
         ["P1DT7S", None, "PT0S"], "m8[us]"),
    Case("no rows", [], pa.float64(), NUMBER, [], "f8", "Float64"),
    Case("no rows of text", [], pa.string(), TEXT, []),
    Case("one row", [3], pa.int32(), INTEGER, ["3"], "i4", "Int32"),
    Case("all missing", [None, None], pa.string(), TEXT, [None, None]),
    Case("nothing", [None, None], pa.null(), NUMBER, [None, None]),
]
# fmt: on


def _numpy(case: Case) -> Any:
    """An array, masked where rows are missing; None where numpy has no such type."""
    if not case.numpy:
        return None
    if case.numpy[0] in "fmM":
        return np.array(case.rows, dtype=case.numpy)
    holes = [row is None for row in case.rows]
    array = np.array([0 if row is None else row for row in case.rows], dtype=case.numpy)
    return np.ma.array(array, mask=holes) if any(holes) else array


def _numpy_swapped(case: Case) -> Any:
    array = _numpy(case)
    return None if array is None or isinstance(array, np.ma.MaskedArray) else array.astype(array.dtype.newbyteorder(">"))


def _numpy_strided(case: Case) -> Any:
    array = _numpy(case)
    return None if array is None or isinstance(array, np.ma.MaskedArray) else np.repeat(array, 3)[::3]


def _pandas(case: Case) -> Any:
    array = None if case.numpy == "M8[D]" else _numpy(case)  # pandas has no days
    return None if array is None or isinstance(array, np.ma.MaskedArray) else pd.Series(array)


def _arrow(case: Case) -> Any:
    return pa.array(case.rows, type=case.arrow)


def _chunked(case: Case) -> Any:
    whole = _arrow(case)
    third = len(whole) // 3
    return pa.chunked_array([whole[:third], whole[third:third], whole[third:]], type=whole.type)


def _texts_as(declared: Any) -> Callable[[Case], Any]:
    return lambda case: pa.array(case.rows, type=declared) if case.arrow == pa.string() else None


def _run_ends(case: Case) -> Any:
    return pc.run_end_encode(_arrow(case)) if case.arrow in (pa.int64(), pa.float64(), pa.string(), pa.bool_()) else None


CONTAINERS: dict[str, Callable[[Case], Any]] = {
    "numpy": _numpy,
    "numpy, other byte order": _numpy_swapped,
    "numpy, strided": _numpy_strided,
    "pandas": _pandas,
    "pandas with an index": lambda case: (
        None if not case.nullable else pd.Series(case.rows, dtype=case.nullable, index=[9] * len(case.rows))
    ),
    "pandas str": lambda case: pd.Series(case.rows, dtype="str") if case.arrow == pa.string() else None,
    "pandas string of Python": lambda case: pd.Series(case.rows, dtype="string[python]") if case.arrow == pa.string() else None,
    "pandas nullable": lambda case: pd.Series(case.rows, dtype=case.nullable) if case.nullable else None,
    "pandas arrow": lambda case: pd.Series(_arrow(case), dtype=pd.ArrowDtype(case.arrow)),
    "polars": lambda case: pl.Series(pl.from_arrow(_arrow(case))),
    "polars slice": lambda case: pl.concat([pl.Series(pl.from_arrow(_arrow(case)))] * 2, rechunk=False)[len(case.rows) :],
    "pyarrow": _arrow,
    "pyarrow slice": lambda case: pa.concat_arrays([_arrow(case)] * 2)[len(case.rows) :],
    "pyarrow chunks": _chunked,
    "pyarrow no chunks": lambda case: None if case.rows else pa.chunked_array([], type=case.arrow),
    "pyarrow run ends": _run_ends,
    "large_string": _texts_as(pa.large_string()),
    "string_view": _texts_as(pa.string_view()),
}
CATEGORIES: dict[str, Callable[[Case], Any]] = {
    "pandas category": lambda case: pd.Series(case.rows, dtype="category"),
    "pandas category of arrow": lambda case: pd.Series(case.rows, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "polars Categorical": lambda case: pl.Series(case.rows, dtype=pl.Categorical),
    "polars Enum": lambda case: pl.Series(case.rows, dtype=pl.Enum(sorted({row for row in case.rows if row is not None}))),
    "dictionary": lambda case: pa.array(case.rows, type=pa.dictionary(pa.uint8(), pa.string())),
    "dictionary in chunks": lambda case: pa.chunked_array(
        [pa.array(part, type=pa.dictionary(pa.int32(), pa.string())) for part in (case.rows[::-1][:2], case.rows)]
    )[len(case.rows[:2]) :],
}


def held() -> list[Any]:
    """Every case in every container that can hold it."""
    return [
        pytest.param(case, made, id=f"{case.name} in {name}")
        for case in CASES
        for name, make in CONTAINERS.items()
        if (made := make(case)) is not None
    ]


@pytest.mark.parametrize(("case", "data"), held())
def test_every_container_declares_the_type_and_gives_the_texts(case: Case, data: Any) -> None:
    assert type_of(data) is case.type
    cells = read_cells(data, TEXT)
    check_form(cells)
    assert plain(cells) == case.texts
    assert plain(read_cells(data, UNDECLARED)) == case.texts
    assert plain(read_cells(data, OTHER)) == [text is not None for text in case.texts]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_list_declares_nothing_and_gives_the_texts_of_the_typed_column(case: Case) -> None:
    exact = (
        [float(str(np.float32(row))) if row is not None else None for row in case.rows] if case.name == "float32" else case.rows
    )
    for data in (
        exact,
        tuple(exact),
        np.array([*exact, None], dtype=object)[:-1],
        pd.Series(exact, dtype=object),
        pl.Series(exact, dtype=pl.Object),
    ):
        assert type_of(data) is UNDECLARED
        assert plain(read_cells(data, TEXT)) == case.texts
        assert plain(read_cells(data, OTHER)) == [text is not None for text in case.texts]


@pytest.mark.parametrize(("case", "data"), [param for param in held() if param.values[0].type.is_numeric])
@pytest.mark.parametrize("kind", [NUMBER, INTEGER, BOOLEAN])
def test_a_column_of_numbers_keeps_its_number_type_however_it_is_read(case: Case, data: Any, kind: ColumnType) -> None:
    cells = read_cells(data, kind)
    check_form(cells)
    wanted = {"?": "u1"}.get(case.numpy, case.numpy or "f8")
    assert isinstance(cells, Numbers)
    assert cells.raw_values.dtype == np.dtype(wanted)
    present = [
        None if row is None or row != row else np.dtype(wanted).type(float(row) if isinstance(row, Decimal) else row)
        for row in case.rows
    ]
    assert plain(cells) == [None if row is None else repr(row.item()) for row in present]


@pytest.mark.parametrize(("case", "data"), [param for param in held() if param.values[0].type is MOMENT])
def test_dates_are_numpys_with_zones_in_utc(case: Case, data: Any) -> None:
    cells = read_cells(data, MOMENT)
    check_form(cells)
    assert isinstance(cells, Moments)
    assert cells.zoned == (case.name == "times with a zone")
    naive = [None if row is None else np.datetime64(row.replace(tzinfo=None) if case.rows is ZONED else row) for row in case.rows]
    assert [None if np.isnat(value) else value for value in cells.raw_values] == naive
    for kind, dtype in ((NUMBER, np.float64), (INTEGER, np.int64), (BOOLEAN, np.uint8)):
        numbers = read_cells(data, kind)
        assert isinstance(numbers, Numbers)
        assert numbers.raw_values.dtype == dtype
        assert plain(numbers) == [None] * len(case.rows)


def number_in(text: str | None) -> float | None:
    """The reference: Python's own reading of what is written in plain ASCII."""
    bare = (text or "").strip(" \t\n\r\v\f")
    try:
        number = float(bare) if bare.isascii() and "_" not in bare else NAN
    except ValueError:
        return None
    return None if number != number else number


def whole_in(text: str | None) -> int | None:
    number = number_in(text)
    if text is None or number is None:
        return None
    bare = text.strip().lstrip("+")
    if bare.removeprefix("-").isdigit():
        whole = int(bare.lstrip("0") or "0")
        return whole if -(2**63) <= whole < 2**63 else None
    try:
        return int(number) if abs(number) < 2**53 and Decimal(bare) == int(number) else None
    except ArithmeticError:
        return None


def truth_in(text: str | None) -> int | None:
    told = {"true": 1, "false": 0}.get((text or "").strip().lower())
    whole = whole_in(text)
    return told if told is not None else whole if whole in (0, 1) else None


@pytest.mark.parametrize("case", [case for case in CASES if case.arrow == pa.string()], ids=lambda case: case.name)
@pytest.mark.parametrize("name", ["list", *CONTAINERS, *CATEGORIES])
def test_texts_are_read_as_numbers_one_by_one(case: Case, name: str) -> None:
    data = case.rows if name == "list" else {**CONTAINERS, **CATEGORIES}[name](case)
    if data is None:
        return
    readings: list[tuple[ColumnType, type[np.generic], Callable[[Any], Any]]] = [
        (NUMBER, np.float64, number_in), (INTEGER, np.int64, whole_in), (BOOLEAN, np.uint8, truth_in)
    ]  # fmt: skip
    for kind, dtype, reference in readings:
        cells = read_cells(data, kind)
        check_form(cells)
        assert isinstance(cells, Numbers)
        assert cells.raw_values.dtype == dtype
        assert plain(cells) == [None if (read := reference(row)) is None else repr(read) for row in case.rows]


@pytest.mark.parametrize("make", CATEGORIES.values(), ids=list(CATEGORIES))
def test_categories_are_texts(make: Callable[[Case], Any]) -> None:
    case = next(case for case in CASES if case.name == "texts")
    assert type_of(make(case)) is TEXT
    cells = read_cells(make(case), TEXT)
    check_form(cells)
    assert plain(cells) == case.texts
    assert plain(read_cells(make(case), OTHER)) == [text is not None for text in case.texts]


def test_categories_of_numbers_and_dates_are_known_by_their_text() -> None:
    assert plain(read_cells(pd.Series([7.0, None, 0.5, 7.0], dtype="category"), TEXT)) == ["7", None, "0.5", "7"]
    assert plain(read_cells(pd.Series(DAYS[:3], dtype="category"), TEXT)) == ["2024-02-29", None, "0001-01-01"]
    for values, texts in (([7, 8], ["8", None, "7"]), ([DAYS[0], None], [None, None, "2024-02-29"])):
        dictionary = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), pa.array(values))
        assert type_of(dictionary) is TEXT
        assert plain(read_cells(dictionary, TEXT)) == texts
        assert plain(read_cells(dictionary, OTHER)) == [text is not None for text in texts]


MOMENTS = {
    "2024-02-29": "2024-02-29T00:00:00.000000",
    " 2024-02-29T12:00:00 ": "2024-02-29T12:00:00.000000",
    "2024-02-29 12:00:00": "2024-02-29T12:00:00.000000",
    "2024-02-29T12:00:00.5": "2024-02-29T12:00:00.500000",
    "2024-02-29T12:00:00.123456789": "2024-02-29T12:00:00.123456",
    "2024-02-29T00:30:00+02:00": "2024-02-28T22:30:00.000000",
    "2024-02-29T23:30:00-02:00": "2024-03-01T01:30:00.000000",
    "2024-02-29T12:00:00Z": "2024-02-29T12:00:00.000000",
    "0001-01-01T00:00:00+23:59": "0000-12-31T00:01:00.000000",
    "1969-12-31T23:59:59.999999": "1969-12-31T23:59:59.999999",
    **dict.fromkeys(("2023-02-29", "2024-2-9", "29.2.2024", "0000-01-01", "2024-02-29T24:00:00", "2024-02-29T12:00", "12:00:00")),
    **dict.fromkeys(("2024-02-29T12:00:00+24:00", "2024-02-29T12:00:00+00:60", "20240229", "٢٠٢٤-02-29", "")),
    **dict.fromkeys(("P1D", "7", "2024-02-29\x00")),
}  # fmt: skip


@pytest.mark.parametrize(
    "make", [list, pl.Series, pa.array, pd.Series, np.array], ids=["list", "polars", "pyarrow", "pandas", "numpy"]
)
def test_texts_are_read_as_dates_one_by_one(make: Any) -> None:
    texts = [text for text in MOMENTS if make is not np.array or "\x00" not in text]
    cells = read_cells(make(texts), MOMENT)
    assert isinstance(cells, Moments)
    assert cells.raw_values.dtype == np.dtype("M8[us]")
    assert not cells.zoned
    assert [None if text == "NaT" else text for text in np.datetime_as_string(cells.raw_values)] == [
        MOMENTS[text] for text in texts
    ]


def test_dates_in_a_list_are_dates_and_other_elements_are_missing() -> None:
    berlin = datetime.timezone(datetime.timedelta(hours=1))
    rows = [
        DAYS[0],
        TIMES[0],
        datetime.datetime(2024, 1, 1, tzinfo=berlin),
        np.datetime64("2024-02-29T01:02:03.5"),
        pd.Timestamp("2024-01-02"),
    ]
    rows += ["2024-02-29", 7, None, pd.NaT, np.datetime64("NaT", "us"), datetime.time(1, 2), object()]
    cells = read_cells(rows, MOMENT)
    assert isinstance(cells, Moments)
    days = [
        "2024-02-29",
        "2024-02-29T12:30",
        "2023-12-31T23:00",
        "2024-02-29T01:02:03.5",
        "2024-01-02",
        "2024-02-29",
        *["NaT"] * 6,
    ]
    assert cells.raw_values.tolist() == np.array(days, dtype="M8[us]").tolist()


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("mine")

    def __hash__(self) -> int:
        raise RuntimeError("mine")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("mine")


class HostileText(str):
    def __str__(self) -> str:
        raise RuntimeError("mine")

    __hash__ = Hostile.__hash__
    __eq__ = Hostile.__eq__


class HostileFloat(float):
    def __float__(self) -> float:
        raise RuntimeError("mine")

    __hash__ = Hostile.__hash__
    __eq__ = Hostile.__eq__


ZOO = [
    1,
    2.5,
    True,
    "3",
    b"4",
    "x",
    b"\xff",
    None,
    NAN,
    INF,
    Decimal("0.5"),
    Decimal("sNaN"),
    Fraction(1, 4),
    10**400,
    -(10**5000),
]
ZOO += [np.float32(0.1), np.int8(5), np.uint64(2**64 - 1), np.bool_(True), np.float64("nan"), pd.NA, pd.NaT, 1j, [1], {"a": 1}]
ZOO += [
    object(),
    Hostile(),
    HostileText("7"),
    HostileFloat(0.25),
    DAYS[0],
    TIMES[0],
    datetime.timedelta(1),
    np.datetime64("NaT", "s"),
]
ZOO += [uuid.UUID(int=7), "\ud800", 2**53 + 1, float(2**60), -0.0, np.str_("9"), np.void(b"ab"), Fraction(10**400), "9" * 5000]
ZOO_TEXTS = ["1", "2.5", "1", "3", "4", "x", "\ufffd", None, None, "inf", "0.5", None, "0.25", "inf", "-inf",
             "0.1", "5", "1.84467440737096e+19", "1", None, None, None, None, None, None,
             None, None, "7", "0.25", "2024-02-29", "2024-02-29T12:30:00", "P1D", None,
             "00000000-0000-0000-0000-000000000007", "?", "9007199254740990", "1.152921504606847e+18", "0",
             "9", None, "inf", "9" * 5000]  # fmt: skip
ZOO_NUMBERS = [1.0, 2.5, 1.0, 3.0, 4.0, None, None, None, None, INF, 0.5, None, 0.25, INF, -INF,
               0.1, 5.0, 1.84467440737096e19, 1.0, None, None, None, None, None, None,
               None, None, 7.0, 0.25, None, None, None, None,
               None, None, float_of_whole(2**53 + 1), 2.0**60, -0.0, 9.0, None, INF, INF]  # fmt: skip
ZOO_WHOLES = [1, None, 1, 3, 4, *[None] * 11, 5, None, 1, *[None] * 8, 7, *[None] * 7, 2**53 + 1, None, 0, 9, None, None, None]


@pytest.mark.parametrize("wrap", [list, tuple, lambda rows: pd.Series(rows, dtype=object)], ids=["list", "tuple", "pandas"])
def test_elements_of_any_class_are_read_on_their_own_and_none_raises(wrap: Any) -> None:
    data = wrap(ZOO)
    assert plain(read_cells(data, TEXT)) == ZOO_TEXTS
    assert plain(read_cells(data, NUMBER)) == [None if number is None else repr(number) for number in ZOO_NUMBERS]
    assert plain(read_cells(data, INTEGER)) == [None if number is None else repr(number) for number in ZOO_WHOLES]
    for kind, dtype in ((NUMBER, np.float64), (INTEGER, np.int64), (BOOLEAN, np.uint8)):
        assert read_cells(data, kind).raw_values.dtype == dtype
    read_cells(data, MOMENT), read_cells(data, OTHER), read_identities(data, TEXT), read_identities(data, NUMBER)


@given(st.lists(st.sampled_from(range(len(ZOO))), max_size=12))
@settings(max_examples=150)
def test_an_element_is_read_the_same_in_any_company(places: list[int]) -> None:
    rows = [ZOO[place] for place in places]
    for kind in (TEXT, NUMBER, INTEGER, BOOLEAN, MOMENT, OTHER):
        assert plain(read_cells(rows, kind)) == [plain(read_cells([row], kind))[0] for row in rows]
        assert plain(read_identities(rows, kind)) == [plain(read_identities([row], kind))[0] for row in rows]


WRITTEN = st.one_of(
    st.sampled_from(NUMBERS_IN_TEXT[2:]),
    st.floats().map(repr),
    st.integers().map(str),
    st.decimals(allow_nan=False).map(str),
    st.from_regex(r"\A[ +-]?[0-9]{0,25}[.]?[0-9]{0,25}([eE][+-]?[0-9]{1,3})?\Z"),
    st.text(max_size=5),
)


@given(st.lists(st.none() | WRITTEN, max_size=8), st.data())
@settings(max_examples=200)
def test_a_text_is_read_the_same_in_any_company_and_by_every_library(rows: list[Any], data: st.DataObject) -> None:
    kept = [row for row in rows if data.draw(st.booleans())]
    for kind, reference in ((NUMBER, number_in), (INTEGER, whole_in), (BOOLEAN, truth_in)):
        for part in (rows, kept):
            truth = [None if (read := reference(row)) is None else repr(read) for row in part]
            for column in (
                part,
                pl.Series(part, dtype=pl.String),
                pa.array(part, type=pa.string()),
                pa.array(part, type=pa.string_view()),
            ):
                assert plain(read_cells(column, kind)) == truth


@given(st.lists(st.none() | st.floats(), max_size=8), st.data())
@settings(max_examples=100)
def test_a_number_is_read_the_same_in_any_company(rows: list[Any], data: st.DataObject) -> None:
    mask = np.array([data.draw(st.booleans()) for _ in rows], dtype=bool)
    for make in (lambda part: pl.Series(part, dtype=pl.Float64), lambda part: pa.array(part, type=pa.float64()), list):
        kept = [row for row, keep in zip(rows, mask, strict=True) if keep]
        for kind in (NUMBER, TEXT, OTHER):
            whole = plain(read_cells(make(rows), kind))
            assert plain(read_cells(make(kept), kind)) == [cell for cell, keep in zip(whole, mask, strict=True) if keep]


def test_whole_numbers_of_128_bits_are_the_nearest_floats() -> None:
    rows = [2**100, None, -5, 2**53 + 1, -(2**127), 2**63]
    series = pl.Series(rows, dtype=pl.Int128)
    assert type_of(series) is INTEGER
    expected = [None if row is None else float_of_whole(row) for row in rows]
    assert plain(read_cells(series, INTEGER)) == [None if row is None else repr(row) for row in expected]
    assert plain(read_identities(series, INTEGER)) == [None if row is None else str(row) for row in rows]


@pytest.mark.parametrize(
    "data",
    [
        pa.array([[1], None]), pa.array([{"a": 1}, None]), pl.Series([[1], None]), pl.Series([{"a": 1}, None]),
        np.array([1j, complex("nan")]), np.array([1j, NAN]), pd.Series(pd.period_range("2024", periods=2)).where([True, False]),
        pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), NAN])),
        pa.array([(1, 2, 3), None], type=pa.month_day_nano_interval()),
    ],
    ids=lambda data: str(getattr(data, "dtype", None) or data.type),
)  # fmt: skip
def test_types_without_values_only_say_which_rows_are_there(data: Any) -> None:
    assert type_of(data) is OTHER
    assert plain(read_cells(data, OTHER)) == [True, False]
    for kind in (NUMBER, INTEGER, BOOLEAN, TEXT, MOMENT):
        assert not present_cells(read_cells(data, kind)).any()


@pytest.mark.parametrize(
    "data",
    [pa.array([b"a", None, b"\xff"]), pa.array([b"a", None, b"\xff"], type=pa.binary_view()), pl.Series([b"a", None, b"\xff"])],
)
def test_bytes_are_of_another_type_and_have_a_text(data: Any) -> None:
    assert type_of(data) is OTHER
    assert plain(read_cells(data, TEXT)) == ["a", None, "\ufffd"]


def test_texts_that_are_not_utf8_are_mended() -> None:
    broken = pa.array([b"\xff", b"7", None]).view(pa.string())
    assert plain(read_cells(broken, TEXT)) == ["\ufffd", "7", None]
    assert plain(read_cells(broken, NUMBER)) == [None, "7.0", None]


def test_extension_types_are_read_by_what_they_mean() -> None:
    ids = pa.array([uuid.UUID(int=7).bytes, None], type=pa.binary(16)).cast(pa.uuid())
    assert (type_of(ids), plain(read_cells(ids, TEXT))) == (TEXT, ["00000000-0000-0000-0000-000000000007", None])
    truths = pa.array([2, None, 0], type=pa.int8()).cast(pa.bool8())
    assert (type_of(truths), plain(read_cells(truths, BOOLEAN))) == (BOOLEAN, ["1", None, "0"])


def test_odd_arrays_are_read_too() -> None:
    assert plain(read_cells(np.array(["a", "7"], dtype=np.dtypes.StringDType()), TEXT)) == ["a", "7"]
    assert plain(read_cells(np.array([b"a", b"7"]), NUMBER)) == [None, "7.0"]
    assert read_cells(np.array([1.5], dtype=np.float16), NUMBER).raw_values.dtype == np.float32
    assert read_cells(pa.array([np.float16(1.5), None], type=pa.float16()), NUMBER).raw_values.dtype == np.float32
    assert read_cells(np.array([1.5], dtype=np.longdouble), NUMBER).raw_values.dtype == np.float64
    assert plain(read_cells(np.array(["2024", "NaT"], dtype="M8[Y]"), TEXT)) == ["2024", None]
    assert plain(read_cells(np.array([1, 2]).view("M8[25s]"), TEXT)) == ["1970-01-01T00:00:25", "1970-01-01T00:00:50"]
    assert plain(read_cells(pa.array([0, None, 86_400_000]).cast(pa.date64()), TEXT)) == ["1970-01-01", None, "1970-01-02"]
    assert plain(read_cells(pd.Series(pd.arrays.SparseArray([0.0, NAN])), NUMBER)) == ["0.0", None]
    assert plain(read_cells(np.ma.array([1, 2], mask=[False, True]), TEXT)) == ["1", None]
    assert plain(read_cells(np.ma.array(["a", "b"], mask=[False, True]), TEXT)) == ["a", None]
    assert plain(read_cells(np.ma.array(DAYS[2:4], mask=[False, True], dtype="M8[D]"), TEXT)) == ["0001-01-01", None]
    assert plain(read_cells(pd.Index(["a", "b"]), TEXT)) == ["a", "b"]
    assert plain(read_cells(pd.array([1, None], dtype="Int64"), NUMBER)) == ["1", None]
    berlin = pd.Series(pd.to_datetime(["2024-07-01T00:00:00", None])).dt.tz_localize("Europe/Berlin")
    assert plain(read_cells(berlin, TEXT)) == ["2024-06-30T22:00:00+00:00", None]


def test_numbers_without_holes_are_not_copied() -> None:
    array = np.arange(5.0)
    for data in (array, pd.Series(array, copy=False), pl.Series(array), pa.array(array)):
        assert np.shares_memory(read_cells(data, NUMBER).raw_values, np.asarray(data))
        assert read_cells(data, NUMBER).raw_present is None


def test_ids_never_fall_together_where_cells_would() -> None:
    near = [2**53, 2**53 + 1, 2**60, 2**60 + 1]
    decimals = [Decimal(row) for row in near]
    columns: list[tuple[Any, list[ColumnType]]] = [
        (near, [NUMBER, INTEGER, TEXT, UNDECLARED]),
        (decimals, [NUMBER, TEXT, UNDECLARED]),
        ([str(row) for row in near], [NUMBER, INTEGER, TEXT]),
        (pl.Series([str(row) for row in near]), [NUMBER, INTEGER, TEXT]),
        (np.array(near), [NUMBER, INTEGER, TEXT]),
        (pa.array(near), [INTEGER, TEXT]),
        (pl.Series(near), [INTEGER, TEXT]),
        (pl.Series(near, dtype=pl.Int128), [INTEGER, NUMBER, TEXT]),
        (pl.Series(decimals, dtype=pl.Decimal(38, 2)), [NUMBER, TEXT]),
        (pa.array(decimals, type=pa.decimal128(38, 2)), [NUMBER, TEXT]),
        (pd.Series(near, dtype="category"), [TEXT]),
    ]
    for data, kinds in columns:
        for kind in kinds:
            assert len(set(plain(read_identities(data, kind)))) == len(near), (type(data), kind)


def test_ids_that_are_equal_stay_together() -> None:
    assert len(set(plain(read_identities([7, 7.0, "7", Decimal("7.00"), True + 6, np.int8(7), Fraction(7)], TEXT)))) == 1
    assert len(set(plain(read_identities([7, "7.0", " 7 ", "70e-1", "+7", Decimal("7.00")], NUMBER)))) == 1
    assert len(set(plain(read_identities([2**60, float(2**60), str(2**60), Decimal(2**60)], NUMBER)))) == 1
    assert len(set(plain(read_identities([0.1, "0.1", ".10", "1e-1"], NUMBER)))) == 1
    assert len(set(plain(read_identities([0, -0.0, "0", "-0", "0e9", False], NUMBER)))) == 1
    assert plain(read_identities(["1e9999999999999999999", "inf", "1e5001"], NUMBER)) == [None, "inf", "1E5001"]
    assert plain(read_identities([10**5000, 10**5000 + 1, None], TEXT))[0].startswith("1000")


def test_what_is_no_column_is_refused_by_its_class() -> None:
    for data in (7, "text", object(), {"a": 1}, pd.DataFrame({"x": [1]}), iter([1])):
        with pytest.raises(DataTypeError, match=rf"got (a |a single )?{type(data).__name__}: pass "):
            type_of(data)
    for array in (np.array(7), np.zeros((2, 2))):
        with pytest.raises(DataTypeError, match=r": pass (a list|one column)"):
            type_of(array)


def test_no_message_of_a_library_passes() -> None:
    class Broken(np.ndarray):
        def astype(self, *_: object, **__: object) -> Any:
            raise ValueError("secret 812")

    with pytest.raises(DataTypeError, match="could not be read as number") as caught:
        read_cells(np.array([1.0]).view(Broken), NUMBER)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
