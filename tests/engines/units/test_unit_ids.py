"""Unit ids: a row's own affair, apart where they differ, and missing only where there is none."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.instants import have_seconds
from dpstats.engines.reading import read_cells, read_identities
from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.store import Batch
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.marks import mark_pairs
from tests.engines.stores.ugly import plain_cells

NUMBER, INTEGER, BOOLEAN, TEXT = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.TEXT
MOMENT, UNDECLARED, OTHER = ColumnType.MOMENT, ColumnType.UNDECLARED, ColumnType.OTHER
KINDS = (TEXT, NUMBER, INTEGER, BOOLEAN, MOMENT, OTHER)
KEY = bytes(range(32))
NAN = float("nan")
EPSILON = np.finfo(np.longdouble).eps

BIG = 2**60
EQUAL_IN_PYTHON: list[list[Any]] = [
    [BIG, float(BIG), Decimal(BIG), Fraction(BIG), np.int64(BIG), np.uint64(BIG), np.float64(BIG), np.float32(BIG)],
    [1, True, 1.0, Decimal("1.00"), Fraction(1), np.bool_(True), np.int8(1), np.float32(1)],
    [0, False, -0.0, 0.0, Decimal("-0")],
    [10**400, Decimal(10**400), Fraction(10**400)],
    [2**53 + 1, Decimal(2**53 + 1)],
    [0.1, Fraction(0.1), Decimal(1 / 10), np.float32(0.1), np.longdouble(0.1)],
    [datetime.datetime(2024, 2, 29), np.datetime64("2024-02-29"), pd.Timestamp("2024-02-29"), datetime.date(2024, 2, 29)],
    [datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC), pd.Timestamp("2024-02-29T01:00:00+01:00")],
    ["a", np.str_("a"), b"a"],
    [NAN, None, pd.NaT, Decimal("nan")],
]
ALIKE = st.sampled_from(EQUAL_IN_PYTHON).flatmap(lambda group: st.lists(st.sampled_from(group), max_size=5))
UNTYPED: list[Callable[[list[Any]], Any]] = [
    list, tuple, lambda rows: np.array([*rows, None], dtype=object)[:-1], lambda rows: pd.Series(rows, dtype=object),
    lambda rows: pl.Series(rows, dtype=pl.Object),
]  # fmt: skip


@given(st.lists(ALIKE, max_size=4), st.data())
@settings(max_examples=300)
def test_no_row_changes_the_cell_or_the_id_of_another_that_equals_it(groups: list[list[Any]], data: st.DataObject) -> None:
    rows = data.draw(st.permutations([row for group in groups for row in group]))
    stay = [data.draw(st.booleans()) for _ in rows]
    make = data.draw(st.sampled_from(UNTYPED))
    for read in (read_cells, read_identities):
        for kind in KINDS:
            whole = plain_cells(read(make(rows), kind))
            part = plain_cells(read(make([row for row, here in zip(rows, stay, strict=True) if here]), kind))
            assert part == [cell for cell, here in zip(whole, stay, strict=True) if here]


@pytest.mark.parametrize("first", [BIG, Decimal(BIG), Fraction(BIG), np.int64(BIG)], ids=lambda first: type(first).__name__)
def test_the_first_row_does_not_lend_its_text_to_the_others(first: Any) -> None:
    alone = plain_cells(read_cells([float(BIG)] * 3, TEXT))
    assert alone == ["1.152921504606847e+18"] * 3
    for make in UNTYPED:
        assert plain_cells(read_cells(make([first, *[float(BIG)] * 3]), TEXT))[1:] == alone


def test_a_category_has_its_text_whichever_rows_have_which() -> None:
    kinds = pd.CategoricalDtype([BIG, "a", 0.5, True, datetime.date(2024, 2, 29)])
    rows = [True, BIG, "a", 0.5, None, BIG]
    whole = plain_cells(read_cells(pd.Series(rows, dtype=kinds), TEXT))
    assert whole == ["1", "1.15292150460685e+18", "a", "0.5", None, "1.15292150460685e+18"]
    for place in range(len(rows)):
        rest = pd.Series(rows[:place] + rows[place + 1 :], dtype=kinds)
        assert plain_cells(read_cells(rest, TEXT)) == whole[:place] + whole[place + 1 :]


def invalid_texts(rows: list[bytes]) -> Any:
    """An arrow array of texts that are whatever these bytes are."""
    octets = pa.array(rows, type=pa.binary())
    return pa.Array.from_buffers(pa.string(), len(octets), octets.buffers())


def dated(unit: str) -> Callable[[list[int]], Any]:
    return lambda ticks: np.array(ticks, dtype=np.int64).view(f"M8[{unit}]")


STRAY = [b"\xff", b"\xfe", b"\xff\xff", b"a\xff", b"a"]
NEAR_ONE = Fraction(1, 10**30)
APART: list[tuple[str, Callable[[list[Any]], Any], ColumnType, list[Any]]] = [
    ("bytes", list, UNDECLARED, STRAY),
    ("numpy's bytes", lambda rows: np.array(rows, dtype="S4"), TEXT, STRAY),
    ("arrow's texts", invalid_texts, TEXT, STRAY),
    ("polars' texts", lambda rows: pl.Series(pl.from_arrow(invalid_texts(rows))), TEXT, STRAY),
    ("categories of bytes", lambda rows: pd.Series(pd.Categorical(rows)), TEXT, STRAY),
    ("dictionary of bytes", lambda rows: pa.array(rows, type=pa.binary()).dictionary_encode(), TEXT, STRAY),
    ("surrogates", list, UNDECLARED, ["a\ud800", "a\udfff", "a?", "a"]),
    ("numpy's surrogates", np.array, TEXT, ["a\ud800", "a\udfff", "a?", "a"]),
    ("days", dated("D"), MOMENT, [5, 5 + 2**57, 5 - 2**57, 2**63 - 1]),
    ("hours", dated("h"), MOMENT, [5, 5 + 2**60, 5 - 2**60]),
    ("weeks", dated("W"), MOMENT, [5, 5 + 2**57, 2**62, -(2**62)]),
    ("years", dated("Y"), MOMENT, [5, 2**38, 2**40, 2**41, 2**42, -(2**41), -(2**42)]),
    ("months", dated("M"), MOMENT, [5, 2**41, 2**42, 2**61, -(2**61)]),
    ("pairs of seconds", dated("2s"), MOMENT, [5, 5 + 2**61]),
    ("fractions", list, UNDECLARED, [Fraction(1, 3), Fraction(1, 3) + NEAR_ONE, 1 / 3, Fraction(1 / 3) + NEAR_ONE]),
    ("tenths", list, UNDECLARED, [Fraction(1, 10), Fraction(0.1)]),
    ("fractions and one", list, UNDECLARED, [1 + NEAR_ONE, 1, 1 - NEAR_ONE]),
    ("decimals", list, UNDECLARED, [Decimal(f"1.{'0' * 40}{digit}") for digit in range(4)]),
    ("decimals as numbers", list, NUMBER, [Decimal(f"1.{'0' * 40}{digit}") for digit in range(4)]),
    ("single and double", list, UNDECLARED, [np.float32(0.1), 0.1, np.float16(0.1)]),
    ("wholes of categories", lambda rows: pd.Series(rows, dtype="category"), INTEGER, [2**53 + 1, 2**53 + 2, BIG + 1, BIG]),
    ("wholes of a dictionary", lambda rows: pa.array(rows).dictionary_encode(), INTEGER, [2**53 + 1, 2**53 + 2, BIG + 1, BIG]),
    ("durations", list, UNDECLARED, [np.timedelta64(1, "ns"), np.timedelta64(2, "ns"), np.timedelta64(2**62, "W")]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "rows"), [case[1:] for case in APART], ids=[case[0] for case in APART])
def test_ids_that_differ_have_different_marks(make: Callable[[list[Any]], Any], kind: ColumnType, rows: list[Any]) -> None:
    ids = UnitIds.of(Batch({"id": make(rows)}, len(rows)), "id", kind)
    first, second = mark_pairs(ids.cells, KEY, 0)
    assert not ids.raw_without.any() | ids.raw_unreadable.any()
    assert len(set(first.tolist())) == len(set(second.tolist())) == len(rows)


EDGES = sorted({0, *(sign * (2**power + step) for power in range(63) for step in (-1, 0, 1) for sign in (1, -1))})
SECONDS = {"7D": 604_800, "W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "25s": 25, "s": 1, "Y": None, "M": None}


@pytest.mark.parametrize("unit", SECONDS)
def test_dates_within_the_seconds_of_64_bits_do_not_wrap(unit: str) -> None:
    ticks = dated(unit)(EDGES)
    near = have_seconds(ticks)
    found = ticks[near].astype("M8[s]").view(np.int64).tolist()
    assert len(set(found)) == len(found) > 100
    assert found == sorted(found)
    if SECONDS[unit] is not None:
        assert found == [tick * SECONDS[unit] for tick in EDGES if abs(tick) * SECONDS[unit] < 2**63]
    assert not have_seconds(np.array(["NaT"], dtype=f"M8[{unit}]"))[0]


@pytest.mark.parametrize("unit", ["ms", "us", "ns", "as"])
def test_finer_dates_always_have_their_seconds(unit: str) -> None:
    assert have_seconds(dated(unit)(EDGES)).all()


class Odd(Fraction):
    """A number that cannot be read."""

    def as_integer_ratio(self) -> Any:
        raise RuntimeError("mine")

    __float__ = as_integer_ratio

    @property
    def _numerator(self) -> Any:
        raise RuntimeError("mine")

    @_numerator.setter
    def _numerator(self, value: Any) -> None:
        pass


LATE = datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))  # it has no text in UTC
UNREADABLE: list[tuple[str, Callable[[list[Any]], Any], ColumnType, list[Any]]] = [
    ("nested", list, UNDECLARED, [("ward", 9), [1], {"a": 1}, frozenset([1]), {1}]),
    ("odd objects", list, UNDECLARED, [3 + 4j, object(), np.void(b"ab"), Odd(1, 3), LATE]),
    ("rounded", list, UNDECLARED, [1 + EPSILON]),
    ("rounded array", np.array, NUMBER, [1 + EPSILON]),
    ("rounded array as text", np.array, TEXT, [1 + EPSILON]),
    ("not whole", list, INTEGER, ["A12", str(2**64), 2**64, 2.5, "", "1.00000000000000000001", "9007199254740990.6", "1e-400"]),
    ("not quite whole", list, INTEGER, [Decimal("1.00000000000000000001"), 1 + NEAR_ONE, 1 + EPSILON]),
    ("not whole in polars", pl.Series, INTEGER, ["A12", str(2**64), "nan", "", "1.00000000000000000001"]),
    ("not whole in arrow", pa.array, INTEGER, ["A12", str(2**64), "nan", "", "1.00000000000000000001"]),
    ("no number", list, NUMBER, ["nan", "NaN", "x", "1e99999999999999999999", Fraction(1, 3), datetime.date(2024, 2, 29)]),
    ("no number in polars", pl.Series, NUMBER, ["nan", "x", "", "1e99999999999999999999", "-1e-99999999999999999999"]),
    ("no truth", list, BOOLEAN, ["yes", 2, Decimal("1.00000000000000000001")]),
    ("no date", list, MOMENT, ["2024-02-30", 7, "", "0000-01-01", datetime.time(1), object()]),
    ("finer dates", pl.Series, MOMENT, ["2024-01-01T00:00:00.0000001", "2024-01-01T00:00:00.123456789"]),
    ("finer moments", list, MOMENT, [np.datetime64("2024-01-01T00:00:00.000000001"), pd.Timestamp(1)]),
    ("mended texts", list, UNDECLARED, ["M\ufffdller", b"M\xef\xbf\xbdller"]),
    ("mended texts in polars", pl.Series, TEXT, ["M\ufffdller", "\ufffd"]),
    ("categories without text", lambda rows: pd.Series(pd.Categorical(rows)), TEXT, [("ward", 9), 1j]),
    ("brackets", lambda rows: pd.Series(pd.cut(rows, [0, 5, 9])), TEXT, [1, 7]),
    ("far dates in a list", list, UNDECLARED, [dated("W")([2**62])[0], dated("1024s")([2**62])[0]]),
    ("far dates as text", dated("D"), TEXT, [2**60, -(2**60)]),
    ("far steps", dated("1024s"), MOMENT, [2**60, -(2**60)]),
    ("no time of day", lambda rows: pa.array(rows).view(pa.time64("us")), TEXT, [90_000_000_000, -1]),
    ("intervals", lambda rows: pa.array(rows, type=pa.month_day_nano_interval()).dictionary_encode(), TEXT, [(1, 2, 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "rows"), [case[1:] for case in UNREADABLE], ids=[case[0] for case in UNREADABLE])
def test_ids_that_cannot_be_read_are_not_missing(make: Callable[[list[Any]], Any], kind: ColumnType, rows: list[Any]) -> None:
    ids = UnitIds.of(Batch({"id": make(rows)}, len(rows)), "id", kind)
    assert ids.raw_unreadable.all()
    assert not ids.raw_without.any()


NAT = np.datetime64("NaT", "us")
MISSING: list[tuple[str, Any, list[ColumnType]]] = [
    ("list", [None, NAN, pd.NA, pd.NaT, np.ma.masked, NAT, np.float32("nan"), Decimal("sNaN")], [*KINDS[:-1]]),
    ("floats", np.array([NAN, NAN]), [NUMBER, TEXT]),
    ("long floats", np.array([np.longdouble("nan")]), [NUMBER, TEXT]),
    ("masked", np.ma.array([1, 2], mask=[True, True]), [INTEGER, TEXT]),
    ("dates", np.array(["NaT"], dtype="M8[D]"), [MOMENT, TEXT]),
    ("polars' texts", pl.Series([None], dtype=pl.String), [TEXT, NUMBER, INTEGER, BOOLEAN, MOMENT]),
    ("polars' floats", pl.Series([None, NAN]), [NUMBER, TEXT]),
    ("arrow's texts", pa.array([None], type=pa.string()), [TEXT, NUMBER, INTEGER, BOOLEAN, MOMENT]),
    ("decimals", pa.array([None], type=pa.decimal128(5, 2)), [NUMBER, TEXT]),
    ("nullable", pd.Series([None], dtype="Int64"), [INTEGER, TEXT]),
    ("categories", pd.Series([None, NAN], dtype="category"), [TEXT, NUMBER]),
    ("dictionary", pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array([None, NAN])), [TEXT, NUMBER]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "kinds"), [case[1:] for case in MISSING], ids=[case[0] for case in MISSING])
def test_null_and_nan_are_no_ids(data: Any, kinds: list[ColumnType]) -> None:
    for kind in kinds:
        ids = UnitIds.of(Batch({"id": data}, len(data)), "id", kind)
        assert ids.raw_without.all(), kind
        assert not ids.raw_unreadable.any(), kind


def test_stray_bytes_of_a_file_make_no_id_and_empty_cells_are_none(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_bytes("id,v\nM\xfcller,1\nM\xf6ller,2\n,3\n  ,4\nMaier,5\n".encode("latin-1"))
    [batch] = CsvStore([file]).batches(["id"])
    ids = UnitIds.of(batch, "id", UNDECLARED)
    assert ids.raw_unreadable.tolist() == [True, True, False, False, False]
    assert ids.raw_without.tolist() == [False, False, True, True, False]
    assert plain_cells(batch.cells("id", TEXT)) == ["M\ufffdller", "M\ufffdller", None, None, "Maier"]


def test_polars_texts_that_are_no_utf8_are_mended_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    series = pl.Series(pl.from_arrow(invalid_texts([b"a", b"secret\xff", b"7"])))
    assert plain_cells(read_cells(series, TEXT)) == ["a", "secret\ufffd", "7"]
    assert plain_cells(read_cells(series, INTEGER)) == [None, None, 7]
    assert plain_cells(read_cells(series, NUMBER)) == [None, None, 7.0]
    assert capfd.readouterr() == ("", "")
