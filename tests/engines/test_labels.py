"""The most common labels and the number of stored rows: the same from every container, whatever else its rows hold."""

from __future__ import annotations

import datetime
import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import LabelCounts
from dpstats.foundations.units import float_of_whole

UTC = datetime.UTC
NAN = float("nan")


def ranked(labels: Iterable[Any], how_many: int = 10**9) -> LabelCounts:
    """Labels by count descending, then ascending."""
    return sorted(Counter(labels).items(), key=lambda pair: (-pair[1], pair[0]))[:how_many]


def number_label(row: Any, dtype: Any) -> float:
    """What a number is called: a 32-bit one by the decimal that it prints."""
    if dtype == np.float32:
        return float(str(np.float32(row)))
    return float_of_whole(row) if isinstance(row, int) else row


_of_ugly: dict[tuple[str, bool], LabelCounts] = {}


def expected(ugly: Any, dtype: Any) -> LabelCounts:
    """The seven most common labels of an ugly column, once for all containers of a type."""
    key = (ugly.name, dtype == np.float32)
    if key not in _of_ugly:
        counts: Counter[float] = Counter()
        for row, count in ugly.oracle.counts.items():
            counts[number_label(row, dtype)] += count
        _of_ugly[key] = list(heapq.nsmallest(7, counts.items(), key=lambda pair: (-pair[1], pair[0])))
    return _of_ugly[key]


def test_every_container_gives_the_labels_and_the_rows_of_the_list(ugly: Any, container: Callable[[Any], Any]) -> None:
    data = container(ugly)
    column, labels = as_column(data), as_column(data, numeric=False)
    assert column.stored() == labels.stored() == len(ugly.rows)
    truth = expected(ugly, column.dtype)
    for how_many in (1, 7):
        found = column.most_common(how_many)
        assert found == labels.most_common(how_many) == truth[:how_many]
        assert {type(label) for label, _ in found} <= {int, float}
        assert all(str(label) != "-0.0" for label, _ in found)


TEXTS = ["b", "a", None, "ä", "b", "Zoë", "", "a", "😀", "\uffff", None, "ä"]
DAYS = [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)]
TIMES = [datetime.datetime(2024, 2, 29, 13, 5), None, datetime.datetime(1969, 12, 31, 0, 0, 0, 500), datetime.datetime(1, 1, 1)]
ZONED = [datetime.datetime(2024, 2, 29, 13, 5, tzinfo=UTC), None, datetime.datetime(2024, 7, 1, 0, 0, 0, 120000, tzinfo=UTC)]
CLOCKS = [datetime.time(13, 5), None, datetime.time(0, 0, 0, 120), datetime.time(13, 5)]
SPANS = [datetime.timedelta(days=1, seconds=7), None, -datetime.timedelta(microseconds=1500), datetime.timedelta(0)]


def _in_berlin(rows: list[Any]) -> pd.Series:
    return pd.Series(pd.to_datetime(pd.Series(rows), utc=True)).dt.tz_convert("Europe/Berlin")


def _arrow(rows: list[Any], kind: Any) -> list[Any]:
    array = pa.array(rows, type=kind)
    return [array, pa.chunked_array([array[:1], array[1:]]), pd.Series(rows, dtype=pd.ArrowDtype(kind))]


def _dictionaries(rows: list[Any]) -> Any:
    """Two chunks with dictionaries of their own."""
    return pa.chunked_array([pa.array(rows[:5]).dictionary_encode(), pa.array(rows[5:]).dictionary_encode()])


CASES: dict[str, tuple[LabelCounts, list[Any]]] = {
    "text": (
        [("a", 2), ("b", 2), ("ä", 2), ("", 1), ("Zoë", 1), ("\uffff", 1), ("😀", 1)],
        [
            TEXTS,
            tuple(TEXTS),
            [None if row is None else row.encode() for row in TEXTS],
            [None if row is None else np.str_(row) for row in TEXTS],
            np.array(TEXTS, dtype=object),
            np.ma.array(["" if row is None else row for row in TEXTS], mask=[row is None for row in TEXTS]),
            np.array(TEXTS, dtype=np.dtypes.StringDType(na_object=None)),
            pd.Series(TEXTS),
            pd.Series(TEXTS, dtype=object),
            pd.Series(TEXTS, dtype="string"),
            pd.Series(TEXTS, dtype="category"),
            pd.Series(pd.Categorical(TEXTS, categories=["unused", *dict.fromkeys(row for row in TEXTS if row is not None)])),
            pd.Index(TEXTS),
            pl.Series(TEXTS),
            pl.Series(TEXTS, dtype=pl.Categorical),
            pl.Series(TEXTS, dtype=pl.Enum(["unused", "😀", "b", "a", "ä", "Zoë", "", "\uffff"])),
            _dictionaries(TEXTS),
            *_arrow(TEXTS, pa.string()),
            *_arrow(TEXTS, pa.large_string()),
            *_arrow(TEXTS, pa.string_view()),
            *_arrow(TEXTS, pa.dictionary(pa.int32(), pa.string())),
        ],
    ),
    "days": (
        [("2024-02-29", 2), ("1969-12-31", 1)],
        [
            DAYS,
            [np.datetime64("NaT", "D") if day is None else np.datetime64(day, "D") for day in DAYS],
            np.array(DAYS, dtype="M8[D]"),
            np.array(DAYS, dtype="M8[D]").astype(">M8[D]"),
            pd.Series(DAYS, dtype=object),
            pl.Series(DAYS),
            *_arrow(DAYS, pa.date32()),
        ],
    ),
    "times": (
        [("0001-01-01", 1), ("1969-12-31T00:00:00.0005", 1), ("2024-02-29T13:05:00", 1)],
        [
            TIMES,
            [pd.NaT if time is None else np.datetime64(time, "us") for time in TIMES],
            [None if time is None else pd.Timestamp(time) for time in TIMES],
            np.array(TIMES, dtype="M8[us]"),
            pd.Series(np.array(TIMES, dtype="M8[us]")),
            pl.Series(TIMES),
            pl.Series(TIMES, dtype=pl.Datetime("us")),
            *_arrow(TIMES, pa.timestamp("us")),
        ],
    ),
    "times with a zone": (
        [("2024-02-29T13:05:00+00:00", 1), ("2024-07-01T00:00:00.12+00:00", 1)],
        [
            ZONED,
            [time and time.astimezone(datetime.timezone(datetime.timedelta(hours=5))) for time in ZONED],
            list(_in_berlin(ZONED)),
            _in_berlin(ZONED),
            pl.Series(ZONED, dtype=pl.Datetime("ns", "Europe/Berlin")),
            *_arrow(ZONED, pa.timestamp("ms", "Europe/Berlin")),
        ],
    ),
    "times of day": (
        [("13:05:00", 2), ("00:00:00.00012", 1)],
        [CLOCKS, pl.Series(CLOCKS), *_arrow(CLOCKS, pa.time64("us")), *_arrow(CLOCKS, pa.time64("ns"))],
    ),
    "durations": (
        [("-PT0.0015S", 1), ("P1DT7S", 1), ("PT0S", 1)],
        [
            SPANS,
            [None if span is None else pd.Timedelta(span) for span in SPANS],
            [None if span is None else np.timedelta64(span, "us") for span in SPANS],
            np.array(SPANS, dtype="m8[us]"),
            pd.Series(SPANS, dtype="m8[ns]"),
            pl.Series(SPANS),
            *_arrow(SPANS, pa.duration("us")),
        ],
    ),
    "categories of numbers": (
        [("10", 2), ("2", 2), ("9", 1)],
        [
            pd.Series(pd.Categorical([10, None, 2, 10, 9, 2], categories=[2, 3, 9, 10])),
            pa.array([10, None, 2, 10, 9, 2]).dictionary_encode(),
        ],
    ),
    "nothing": (
        [],
        [
            [],
            [None, None],
            [None, NAN],
            pl.Series([None, None]),
            pa.nulls(3),
            pd.Series([], dtype="category"),
            np.array([], "U3"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("truth", "data"),
    [(truth, data) for truth, containers in CASES.values() for data in containers],
    ids=[f"{name}-{type(data).__name__}" for name, (_, containers) in CASES.items() for data in containers],
)
def test_every_container_gives_the_same_labels(truth: LabelCounts, data: Any) -> None:
    column = as_column(data, numeric=False)
    assert column.most_common(100) == truth
    assert column.most_common(1) == truth[:1]
    assert column.most_common(0) == []
    assert all(type(label) is str and type(count) is int for label, count in column.most_common(100))
    assert column.count() == sum(count for _, count in truth)
    assert column.stored() == len(data)


@pytest.mark.parametrize(
    ("moments", "texts"),
    [
        (np.array(["2024-02-29T13"], "M8[h]"), ["2024-02-29T13:00:00"]),
        (np.array(["2024-02-29T13:05"], "M8[m]"), ["2024-02-29T13:05:00"]),
        (np.array(["2024-02-29T13:05:00.000000001"], "M8[ns]"), ["2024-02-29T13:05:00.000000001"]),
        (np.array(["2024-02"], "M8[M]"), ["2024-02"]),
        (np.array(["2024"], "M8[Y]"), ["2024"]),
        (np.array([7], "m8[Y]"), ["P7Y"]),
        (np.array([-3], "m8[M]"), ["-P3M"]),
        (np.array([2], "m8[W]"), ["P14D"]),
        (np.array([90061], "m8[s]"), ["P1DT1H1M1S"]),
        (np.array([1], "m8[as]"), ["PT0.000000000000000001S"]),
        (np.array([2], "m8[25s]"), ["PT50S"]),
        (pl.Series([1], dtype=pl.Int64).cast(pl.Time), ["00:00:00.000000001"]),
        ([pd.Timestamp("2024-02-29T13:05:00.000000001")], ["2024-02-29T13:05:00.000000001"]),
        ([pd.Timedelta(1, "ns")], ["PT0.000000001S"]),
        (pa.array([3600], type=pa.time32("s")), ["01:00:00"]),
    ],
    ids=str,
)
def test_moments_are_written_in_iso_form(moments: Any, texts: list[str]) -> None:
    assert as_column(moments, numeric=False).most_common(2) == ranked(texts)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_no_moment_is_too_far_away_to_be_written(kind: str, unit: str) -> None:
    ends = np.array([2**63 - 1, -(2**63) + 1, -(2**63)]).view(f"{kind}[{unit}]")
    assert len(as_column(ends, numeric=False).most_common(5)) in (1, 2)
    assert as_column(list(ends), numeric=False).most_common(5) == as_column(ends, numeric=False).most_common(5)


class Loud:
    """An object that raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("secret")

    __hash__ = __eq__ = __str__ = __repr__ = lambda *_: 1 / 0  # type: ignore[assignment]


class LoudText(str):
    """A text that raises when it is compared, hashed or printed."""

    __slots__ = ()
    __hash__ = __eq__ = __lt__ = __str__ = __repr__ = __len__ = lambda *_: 1 / 0  # type: ignore[assignment]


class LoudBytes(bytes):
    """Bytes that raise when they are decoded."""

    def decode(self, *_: Any) -> str:
        raise RuntimeError("secret")


class LoudZone(datetime.tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, _: Any) -> Any:
        raise RuntimeError("secret")

    dst = tzname = utcoffset


class LoudDate(datetime.date):
    """A date that raises when it is printed or compared."""

    def isoformat(self) -> str:
        raise RuntimeError("secret")

    __hash__ = __eq__ = lambda *_: 1 / 0  # type: ignore[assignment]


class UnhashableType(type):
    """A metaclass whose classes cannot be put into a set."""

    __hash__ = lambda *_: 1 / 0  # type: ignore[assignment]  # noqa: E731


class OddInt(int, metaclass=UnhashableType):
    """A whole number of such a class."""


STRANGERS = [Loud(), OddInt(7), object(), 1j, [1], b"\xff", "\ud800", LoudText("x"), LoudBytes(b"x"), LoudDate(2024, 1, 1)]
STRANGERS += [
    datetime.datetime(2024, 1, 1, tzinfo=LoudZone()),
    datetime.datetime(1, 1, 1, tzinfo=UTC),
    np.datetime64("NaT", "D"),
    pd.NA,
]
STRANGERS += [10**400, Decimal("sNaN"), NAN, Fraction(10**400), None, np.ma.masked, 5.5, "x", datetime.time(3)]


@pytest.mark.parametrize("place", range(len(STRANGERS)))  # by place, for pytest itself would ask them
@pytest.mark.parametrize(
    "rows",
    [
        ["x", "y", "x"],
        [1, 2, 1],
        [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)],
        [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), datetime.datetime(2024, 1, 1)],
    ],
)
def test_one_more_element_adds_at_most_its_own_label(rows: list[Any], place: int) -> None:
    stranger = STRANGERS[place]
    before = dict(as_column(rows, numeric=False).most_common(9))
    column = as_column([*rows, stranger], numeric=False)
    after = dict(column.most_common(9))
    moved = [label for label in after if after[label] != before.get(label, 0)]
    assert before.keys() <= after.keys()
    assert len(moved) <= 1
    assert all(after[label] == before.get(label, 0) + 1 for label in moved)
    assert column.stored() == 4


def test_labels_that_no_text_can_hold_are_made_printable() -> None:
    column = as_column(["\ud800", "a", b"\xff\xfe", LoudText("a"), LoudBytes(b"a"), np.str_("a"), np.bytes_(b"b")], numeric=False)
    labels = column.most_common(9)
    assert labels == [("a", 4), ("?", 1), ("b", 1), ("\ufffd\ufffd", 1)]
    assert all(label.encode() for label, _ in labels)


def test_unused_and_hostile_categories_have_no_label() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("secret")

    data = pd.Series(pd.Categorical.from_codes([0, 0, -1, 2], categories=pd.Index(["a", "b", Mute()], dtype=object)))
    assert as_column(data, numeric=False).most_common(3) == [("a", 2)]


@pytest.mark.parametrize("added", [1.5, Decimal("2.5"), np.float32(0.1), 2**70, True, NAN])
@pytest.mark.parametrize("rows", [[2**53 + 1] * 3 + [2**53 + 2, 2**62], [1, 1, 2], [True, False], [0, -0.0, 0.0]])
def test_one_more_number_leaves_the_labels_of_the_others(rows: list[Any], added: Any) -> None:
    for numeric in (True, False):
        before = Counter(dict(as_column(rows, numeric=numeric).most_common(9)))
        after = Counter(dict(as_column([*rows, added], numeric=numeric).most_common(9)))
        assert (after - before).total() == (added == added)
        assert not before - after


@settings(max_examples=200)
@given(
    rows=st.lists(
        st.one_of(st.integers(-3, 3), st.integers(2**53 - 4, 2**53 + 30), st.integers(-(2**63), 2**63 - 1)), max_size=50
    ),
    how_many=st.integers(0, 12),
)
def test_whole_numbers_fall_together_only_as_their_floats_do(rows: list[int], how_many: int) -> None:
    truth = ranked(map(float_of_whole, rows), how_many)
    assert as_column(np.array(rows, dtype=np.int64)).most_common(how_many) == truth
    assert as_column([*rows, NAN, 0.5]).most_common(60) == ranked([*map(float_of_whole, rows), 0.5])


@settings(max_examples=200)
@given(rows=st.lists(st.one_of(st.none(), st.text(max_size=2)), max_size=30), how_many=st.integers(0, 5))
def test_texts_are_in_the_order_of_their_code_points(rows: list[str | None], how_many: int) -> None:
    truth = ranked([row for row in rows if row is not None], how_many)
    for data in (pl.Series(rows, dtype=pl.String), pd.Series(rows, dtype="string"), pa.array(rows, type=pa.string())):
        assert as_column(data, numeric=False).most_common(how_many) == truth
    letters = [None if row is None else f"x{row}" for row in rows]  # without a type, a text that is a number is that number
    for data in (letters, pd.Series(letters, dtype=object)):
        assert as_column(data, numeric=False).most_common(how_many) == ranked([row for row in letters if row], how_many)


def test_infinities_are_labels_and_nan_is_none() -> None:
    rows = [float("inf"), -float("inf"), NAN, float("inf"), NAN, NAN]
    assert as_column(rows).most_common(5) == [(float("inf"), 2), (-float("inf"), 1)]


def test_a_32_bit_number_is_called_by_the_decimal_that_it_prints() -> None:
    for data in (np.array([12.99, 12.99, 0.1], np.float32), [np.float32(12.99)] * 2 + [np.float32(0.1)]):
        assert as_column(data).most_common(2) == [(12.99, 2), (0.1, 1)]


def test_the_labels_of_a_list_are_of_all_kinds_together_numbers_first() -> None:
    assert as_column(["a", None, None, NAN, NAN, NAN], numeric=False).most_common(2) == [("a", 1)]
    assert as_column(["a", "b", 1, None], numeric=False).most_common(5) == [(1, 1), ("a", 1), ("b", 1)]
    assert as_column([1, 2, "b", "b", [7], object(), 1j], numeric=False).most_common(5) == [("b", 2), (1, 1), (2, 1)]
    assert as_column([datetime.date(2024, 1, 1), "2024-01-01"], numeric=False).most_common(2) == [("2024-01-01", 2)]


def test_no_element_of_a_list_decides_whether_there_are_labels() -> None:
    assert as_column([None] * 9, numeric=False).most_common(2) == []
    assert as_column([None] * 8 + [[1, 2]], numeric=False).most_common(2) == []


def test_masked_rows_are_stored_and_nothing_else() -> None:
    numbers = np.ma.array([1.0, 2.0, 2.0], mask=[True, False, False])
    objects = np.ma.array(np.array(["a", "b", 3], dtype=object), mask=[False, True, True])
    assert (as_column(numbers).stored(), as_column(numbers).count()) == (3, 2)
    assert as_column(objects, numeric=False).stored() == 3
    assert as_column(objects, numeric=False).most_common(3) == [("a", 1)]


def test_elements_that_are_no_numbers_are_stored() -> None:
    assert as_column([1, "x", None, NAN, 2, object(), 3.5, 4]).stored() == 8
    assert as_column(range(5)).stored() == 5
    assert as_column(range(2**70, 2**70 + 4)).stored() == 4
    assert as_column(pd.array([1, None, 3])).stored() == 3
