"""The row map: reading rows and one more gives what reading the rows gives, and what reading that one gives.

Every container is tried with every pair of odd elements that it can hold, in either order, alone and among plain rows.
"""

from __future__ import annotations

import datetime
import itertools
import math
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.cells import Cells, ColumnType, Labels, Numbers, present_cells
from dpstats.engines.reading import read_cells, read_identities
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.units import float_of_whole

Number = int | Fraction | float
Reading = list[Any]

# The adapter: all that this file knows of the reader


def read_numbers(container: Any) -> list[Number | None]:
    """The rows of a container as a statistic of numbers gets them, exactly; None where a row is missing."""
    return [number for cells in _cells(container, ColumnType.NUMBER) for number in _numbers_in(cells)]


def read_labels(container: Any) -> list[str | None]:
    """The rows of a container as a statistic of labels gets them; None where a row is missing."""
    return [label for cells in _cells(container, ColumnType.TEXT) for label in _labels_in(cells)]


def read_full_labels(container: Any) -> list[str | None]:
    """The rows of a container as labels that are compared in full; None where a row is missing."""
    return _labels_in(read_identities(container, ColumnType.TEXT))


def _cells(container: Any, kind: ColumnType) -> Iterator[Cells]:
    """The cells of a column, or of the column x of a CSV file."""
    if not isinstance(container, Path):
        yield read_cells(container, kind)
        return
    store: Any = open_store(container)[0]
    for batch in store.batches(["x"]):
        yield batch.cells("x", kind)


def _numbers_in(cells: Cells) -> list[Number | None]:
    if not isinstance(cells, Numbers):
        return [None] * len(cells)
    present = present_cells(cells).tolist()
    return [exact(value) if there else None for value, there in zip(cells.raw_values.tolist(), present, strict=True)]


def _labels_in(cells: Cells) -> list[str | None]:
    assert isinstance(cells, Labels)
    return [None if code < 0 else cells.raw_labels[code] for code in cells.raw_codes.tolist()]


def exact(value: int | float) -> Number:
    """A number whose equality is exact: a whole number, a ratio, or an infinity."""
    return value if isinstance(value, int) or not math.isfinite(value) else Fraction(value)


# Odd elements


class Hostile:
    """An object whose every method fails."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class HostileText(str):
    """A text that says something else each time."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class HostileWhole(int):
    """A whole number that equals everything and will not become a float."""

    def __float__(self) -> float:
        raise RuntimeError

    def __index__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 5


class HostileFloat(float):
    """A float that lies about its size."""

    def __float__(self) -> float:
        return 1e9

    def __lt__(self, other: object) -> bool:
        raise RuntimeError


class HostileDate(datetime.datetime):
    """A date without a text."""

    def isoformat(self, *_: Any, **__: Any) -> str:
        raise RuntimeError


class HostileKind(type):
    """A class of classes without equality."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


class OfHostileKind(metaclass=HostileKind):
    """An object of an unhashable class."""


NUMBERS: list[Any] = [
    *(0, 1, 5, -3, 2**53 + 1, -(2**53) - 1, 10**17 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**400, -(10**400)),
    *(0.0, -0.0, 0.5, 5.0, 2.0**60, 1e17, 1e300, 5e-324, math.nan, math.inf, -math.inf),
    *(Decimal("5"), Decimal("5.0"), Decimal("0.1"), Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN"), Decimal("1e9999")),
    *(Fraction(5), Fraction(1, 3), Fraction(10**400), True, False),
    *(np.int8(5), np.int64(2**62 + 1), np.uint64(2**64 - 1), np.float32(0.1), np.float64(0.1), np.float16(5), np.bool_(True)),
    *(np.float64("nan"), np.longdouble(5)),
]
TEXTS: list[Any] = ["5", "5.0", " 5 ", "05", "1e3", "inf", "nan", "", " ", "x", "ä", "true", "2024-01-01", "100000000000000001"]
MOMENTS: list[Any] = [
    *(datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 12, 30, 0, 250)),
    *(datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))),
    *(
        np.datetime64("2024-01-01"),
        np.datetime64("2024-01-01T00:00:00.000000001"),
        np.datetime64("NaT", "s"),
        np.timedelta64(5, "s"),
    ),
    *(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-01", tz="UTC"), datetime.time(12), datetime.timedelta(days=1)),
]
MISSING: list[Any] = [None, pd.NA, pd.NaT, np.ma.masked]
OTHERS: list[Any] = [
    *((1, 2), (), [1, 2], [[1], [2, 3]], {"a": 1}, {5}, b"5", b"\xff", 5j, complex("nan"), object, range(3)),
    *(uuid.UUID(int=5), np.array([1, 2]), np.array(5), np.array([(1, 2.0)], dtype="i4,f8")[0]),
    *(Hostile(), HostileText("5"), HostileWhole(5), HostileFloat(5.0), HostileDate(2024, 1, 1), OfHostileKind()),
]
EVERYTHING = [*NUMBERS, *TEXTS, *MOMENTS, *MISSING, *OTHERS]

# Containers


@dataclass(frozen=True)
class Container:
    """A kind of container: how it is made of rows, and which elements it holds without turning them into others."""

    make: Callable[[list[Any]], Any]
    elements: list[Any]


def of(*classes: type, among: Sequence[Any] = EVERYTHING, also: Sequence[Any] = (None,)) -> list[Any]:
    """The odd elements of these very classes, and those without a value that a container knows."""
    return [*(each for each in among if any(type(each) is cls for cls in classes)), *also]


def within(low: int, high: int) -> list[Any]:
    return [each for each in of(int, also=()) if low <= each <= high]


def object_array(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        array[place] = row
    return array


FLOATS = of(float, also=())
SMALL = [each for each in within(-(2**53), 2**53) if abs(each) < 100]
WHOLE = within(-(2**63), 2**63 - 1)
UNZONED = [each for each in of(datetime.datetime, also=()) if each.tzinfo is None]
UTC_TIMES = [each for each in of(datetime.datetime, also=()) if each.tzinfo is datetime.UTC]
BOOLS = of(bool, also=())
CONTAINERS: dict[str, Container] = {
    "list": Container(list, EVERYTHING),
    "tuple": Container(tuple, EVERYTHING),
    "object array": Container(object_array, EVERYTHING),
    "object Series": Container(lambda rows: pd.Series(object_array(rows), dtype=object), EVERYTHING),
    "object Index": Container(lambda rows: pd.Index(object_array(rows), dtype=object), EVERYTHING),
    "polars Object": Container(lambda rows: pl.Series(rows, dtype=pl.Object), of(int, float, str, Decimal, bool, tuple, bytes)),
    "numpy int64": Container(lambda rows: np.array(rows, dtype=np.int64), WHOLE),
    "numpy uint64": Container(lambda rows: np.array(rows, dtype=np.uint64), within(0, 2**64 - 1)),
    "numpy float64": Container(lambda rows: np.array(rows, dtype=np.float64), [*FLOATS, *SMALL]),
    "numpy float32": Container(lambda rows: np.array(rows, dtype=np.float32), [0.1, 0.5, math.nan, math.inf, 16777217.0]),
    "numpy longdouble": Container(lambda rows: np.array(rows, dtype=np.longdouble), [*FLOATS, np.longdouble(1) / 3]),
    "numpy bool": Container(lambda rows: np.array(rows, dtype=np.bool_), BOOLS),
    "numpy text": Container(lambda rows: np.array(rows, dtype="U40"), TEXTS),
    "numpy bytes": Container(lambda rows: np.array(rows, dtype="S40"), [b"5", b"\xff", b"x"]),
    "numpy complex": Container(lambda rows: np.array(rows, dtype=np.complex128), [5j, 5.0, complex("nan")]),
    "numpy datetime64": Container(lambda rows: np.array(rows, dtype="datetime64[us]"), [*UNZONED, np.datetime64("NaT", "s")]),
    "numpy masked": Container(
        lambda rows: np.ma.array([row or 0 for row in rows], mask=[row is None for row in rows]), [5, 7, None]
    ),
    "pandas Int64": Container(lambda rows: pd.Series(rows, dtype="Int64"), [*WHOLE, None, pd.NA]),
    "pandas Float64": Container(lambda rows: pd.Series(rows, dtype="Float64"), [*FLOATS, *SMALL, None, pd.NA]),
    "pandas boolean": Container(lambda rows: pd.Series(rows, dtype="boolean"), [*BOOLS, None, pd.NA]),
    "pandas string": Container(lambda rows: pd.Series(rows, dtype="string"), [*TEXTS, None, pd.NA]),
    "pandas datetime64": Container(lambda rows: pd.Series(rows, dtype="datetime64[us]"), [*UNZONED, pd.NaT, None]),
    "pandas zoned": Container(lambda rows: pd.Series(rows, dtype="datetime64[us, UTC]"), [*UTC_TIMES, pd.NaT]),
    "pandas category of texts": Container(lambda rows: pd.Series(rows, dtype="category"), [*TEXTS, None]),
    "pandas category of numbers": Container(
        lambda rows: pd.Series(rows, dtype="category"), [*SMALL, 0.5, 5.0, 2.5, math.inf, None]
    ),
    "pandas category of anything": Container(
        lambda rows: pd.Series(pd.Categorical(rows, categories=object_array(list(dict.fromkeys(rows))))),
        [*TEXTS, *SMALL, 0.5, 2.5, datetime.date(2024, 1, 1), (1, 2), b"5"],
    ),
    "pandas arrow": Container(lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.int64())), [*WHOLE, None, pd.NA]),
    "polars Int64": Container(lambda rows: pl.Series(rows, dtype=pl.Int64, strict=False), [*WHOLE, 0.5, None, *BOOLS]),
    "polars Float64": Container(lambda rows: pl.Series(rows, dtype=pl.Float64, strict=False), [*FLOATS, *SMALL, None]),
    "polars String": Container(lambda rows: pl.Series(rows, dtype=pl.String, strict=False), [*TEXTS, None]),
    "polars Categorical": Container(lambda rows: pl.Series(rows, dtype=pl.Categorical), [*TEXTS, None]),
    "polars Decimal": Container(lambda rows: pl.Series(rows, dtype=pl.Decimal(38, 4)), [Decimal("5"), Decimal("0.1"), None]),
    "polars Datetime": Container(lambda rows: pl.Series(rows, dtype=pl.Datetime("us")), [*UNZONED, None]),
    "polars List": Container(lambda rows: pl.Series(rows, dtype=pl.List(pl.Int64)), [[1, 2], [], None]),
    "arrow int64": Container(lambda rows: pa.array(rows, type=pa.int64()), [*WHOLE, None]),
    "arrow uint64": Container(lambda rows: pa.array(rows, type=pa.uint64()), [*within(0, 2**64 - 1), None]),
    "arrow float64": Container(lambda rows: pa.array(rows, type=pa.float64()), [*FLOATS, None]),
    "arrow bool": Container(lambda rows: pa.array(rows, type=pa.bool_()), [*BOOLS, None]),
    "arrow string": Container(lambda rows: pa.array(rows, type=pa.string()), [*TEXTS, None]),
    "arrow binary": Container(lambda rows: pa.array(rows, type=pa.binary()), [b"5", b"\xff", None]),
    "arrow decimal": Container(lambda rows: pa.array(rows, type=pa.decimal128(38, 4)), [Decimal("5"), Decimal("0.1"), None]),
    "arrow dictionary": Container(lambda rows: pa.array(rows, type=pa.string()).dictionary_encode(), [*TEXTS, None]),
    "arrow dictionary of numbers": Container(
        lambda rows: pa.array(rows, type=pa.float64()).dictionary_encode(), [0.5, 5.0, 1e17, math.nan, math.inf, None]
    ),
    "arrow chunks": Container(lambda rows: pa.chunked_array([[row] for row in rows], type=pa.int64()), [*WHOLE, None]),
    "arrow timestamp": Container(lambda rows: pa.array(rows, type=pa.timestamp("us")), [*UNZONED, None]),
    "arrow zoned": Container(lambda rows: pa.array(rows, type=pa.timestamp("us", tz="UTC")), [*UTC_TIMES, None]),
    "arrow null": Container(lambda rows: pa.nulls(len(rows)), [None]),
    "arrow list": Container(lambda rows: pa.array(rows, type=pa.list_(pa.int64())), [[1, 2], [], None]),
}
CSV_CELLS = [*TEXTS, "2,5", '"a', 'b"c', '"5"', "-0", "1e400", "0x10", "\ufeff5", "nul\x00l"]


# The property


@dataclass(frozen=True)
class Broken:
    """A pair that is read otherwise together than apart."""

    rows: list[Any]
    added: Any
    apart: Reading
    together: Reading

    def __str__(self) -> str:
        named = f"{list(map(type, self.rows))} + {type(self.added)}"
        return f"{named}: apart {self.apart}, together {self.together}"


def broken_pairs(
    read: Callable[[Any], Reading], make: Callable[[list[Any]], Any], elements: Sequence[Any], base: Sequence[Any] = ()
) -> list[Broken]:
    """All pairs of elements that break the property, the first of them after some rows of a base."""
    alone = [read(make([each])) for each in elements]
    before = [read(make([*base, each])) for each in elements]
    found = []
    for first, second in itertools.product(range(len(elements)), repeat=2):
        rows = [*base, elements[first]]
        together, apart = read(make([*rows, elements[second]])), before[first] + alone[second]
        if together != apart:
            found.append(Broken(rows, elements[second], apart, together))
    return found


READ_AS_LISTS = ("tuple", "object array", "object Series", "object Index")
"""Containers of anything, whose elements are read one by one as those of a list are."""
READERS: dict[str, Callable[[Any], Reading]] = {"numbers": read_numbers, "labels": read_labels}
ALL_READERS = {**READERS, "full labels": read_full_labels}


@pytest.mark.parametrize("kind", ALL_READERS)
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_row_more_changes_nothing_about_how_the_others_are_read(name: str, kind: str) -> None:
    container = CONTAINERS[name]
    assert container.elements
    bases = [container.elements[:2]] if name in READ_AS_LISTS else [[], container.elements[:2]]
    for base in bases:
        broken = broken_pairs(ALL_READERS[kind], container.make, container.elements, base)
        assert not broken, f"{len(broken)} pairs, such as {broken[0]}"


@pytest.mark.parametrize("kind", READERS)
def test_a_line_more_changes_nothing_about_how_the_others_of_a_csv_file_are_read(kind: str, tmp_path: Path) -> None:
    places = itertools.count()

    def make(cells: list[str]) -> Path:
        path = tmp_path / f"{next(places)}.csv"
        path.write_text("\n".join(["y,x", *(f"1,{cell}" for cell in cells)]) + "\n", encoding="utf-8")
        return path

    broken = broken_pairs(READERS[kind], make, CSV_CELLS)
    assert not broken, f"{len(broken)} pairs, such as {broken[0]}"


def test_elements_are_read_as_what_they_are() -> None:
    """So that no reader passes that finds everything missing, or all labels alike."""
    assert read_numbers([5, 5.0, Decimal("5"), Fraction(1, 2), True, -0.0, math.inf]) == [5, 5, 5, Fraction(1, 2), 1, 0, math.inf]
    assert read_numbers([None, math.nan, pd.NA, "x", (1, 2), 5j, Hostile()]) == [None] * 7
    assert read_labels([5, 5.0, Decimal("5"), np.int8(5), "x", 0.5, None]) == ["5", "5", "5", "5", "x", "0.5", None]


# The broken twin


def majority_kind(rows: Sequence[Any]) -> str:
    """Today's rule of the functions (engines/untyped.py): what more than half of the elements are."""
    kinds = Counter("missing" if row is None else "text" if isinstance(row, str) else "number" for row in rows)
    if not kinds["text"]:
        return "number"
    kind, count = kinds.most_common(1)[0]
    return kind if 2 * count > len(rows) else "other"


def majority_numbers(rows: Sequence[Any]) -> Reading:
    """Today's numbers: whole ones stay whole where all are, and all rows are refused where most are texts."""
    if majority_kind(rows) == "text":
        return ["refused"] * len(rows)
    numbers = [None if row is None or isinstance(row, str) or row != row else row for row in rows]
    if any(isinstance(number, float) for number in numbers):
        numbers = [
            None if number is None else float_of_whole(number) if isinstance(number, int) else number for number in numbers
        ]
    return [None if number is None else exact(number) for number in numbers]


def majority_labels(rows: Sequence[Any]) -> Reading:
    """Today's labels of a column of numbers and texts: a number is written as the type of all numbers has it."""
    numbers = [row for row in rows if not isinstance(row, str) and row is not None]
    write = float if any(isinstance(number, float) for number in numbers) else int
    return [row if row is None or isinstance(row, str) else str(write(row)) for row in rows]


def test_the_majority_rule_is_refuted_by_a_float_among_large_whole_numbers() -> None:
    broken = broken_pairs(majority_numbers, list, [10**17 + 1, 0.5, None, 5])
    assert ([10**17 + 1], 0.5) in [(each.rows, each.added) for each in broken]


def test_the_majority_rule_is_refuted_by_a_text_that_tips_it() -> None:
    broken = broken_pairs(majority_numbers, list, [5, "x"], base=[5, "x"])
    tipped = [each for each in broken if ("refused" in each.apart[: len(each.rows)]) != ("refused" in each.together)]
    assert ([5, "x", "x"], 5) in [(each.rows, each.added) for each in tipped]


def test_labels_by_the_type_of_all_numbers_are_refuted() -> None:
    broken = broken_pairs(majority_labels, list, [5, 2.5, "x"])
    assert ([5], 2.5) in [(each.rows, each.added) for each in broken]
