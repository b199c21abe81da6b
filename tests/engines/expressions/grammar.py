"""Random expressions and random rows, the uglier the better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers
from tests.engines.expressions.reference import NANOSECONDS, Instant

SCHEMA = {
    **dict.fromkeys(("small", "whole", "natural"), ColumnType.INTEGER),
    **dict.fromkeys(("real", "other", "short"), ColumnType.NUMBER),
    **dict.fromkeys(("ok", "odd"), ColumnType.BOOLEAN),
    **dict.fromkeys(("name", "word"), ColumnType.TEXT),
    **dict.fromkeys(("date", "second", "time", "fine"), ColumnType.MOMENT),
}
DTYPES: dict[str, Any] = {
    "small": np.int8,
    "whole": np.int64,
    "natural": np.uint64,
    "real": np.float64,
    "other": np.float64,
    "short": np.float32,
}
UNITS = {"date": "D", "second": "s", "time": "us", "fine": "ns"}

_UGLY_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 30.0, 1e308, -1e308, 5e-324, 9007199254740993.0, float("inf"), -float("inf")]
_UGLY_WHOLES = [0, 1, -1, 2, 30, 127, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**63), 2**64 - 1, 12345678901234567890]
_UGLY_TEXTS = ["", " ", "a", "A", "ab", "ß", "İ", "North ", "north", "\x00", "\U0001f600", "30", "2024-01-31", "'\"\\"]
_UGLY_DATES = ["2024-02-29", "1970-01-01", "1969-12-31T23:59:59", "2024-02-29T12:30:00.000001", "0001-01-01", "9999-12-31"]


def _wholes(lowest: int, highest: int) -> st.SearchStrategy[int]:
    ugly = [number for number in _UGLY_WHOLES if lowest <= number <= highest]
    return st.sampled_from(ugly) | st.integers(lowest, highest)


def _column(name: str) -> st.SearchStrategy[Any]:
    kind = SCHEMA[name]
    if kind is ColumnType.INTEGER:
        limits = np.iinfo(DTYPES[name])
        return _wholes(int(limits.min), int(limits.max))
    if kind is ColumnType.NUMBER:
        if name != "short":
            return st.sampled_from(_UGLY_FLOATS) | st.floats(allow_nan=False)
        ugly = [float(np.float32(value)) for value in _UGLY_FLOATS if not 1e38 < abs(value) < math.inf]
        return st.sampled_from(ugly) | st.floats(width=32, allow_nan=False)
    if kind is ColumnType.BOOLEAN:
        return st.booleans()
    if kind is ColumnType.TEXT:
        return st.sampled_from(_UGLY_TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    size = NANOSECONDS[UNITS[name]]
    counts = st.sampled_from([0, -1, 2**63 - 1, -(2**63) + 1, 19782, -719162]) | st.integers(-(2**63) + 1, 2**63 - 1)
    near = st.integers(-4 * 10**18, 4 * 10**18).map(lambda count: count // size)
    return (near | counts).map(lambda count: Instant(count * size, UNITS[name]))


rows = st.fixed_dictionaries({name: st.none() | _column(name) for name in SCHEMA})
tables = st.lists(rows, max_size=7)


def cells_of_rows(table: Sequence[dict[str, Any]], name: str) -> Cells:
    """One column of a table as cells; what stands in missing cells is rubbish."""
    kind, values = SCHEMA[name], [row[name] for row in table]
    present = np.array([value is not None for value in values], dtype=np.bool_)
    if kind is ColumnType.TEXT:
        labels = sorted({value for value in values if value is not None}, reverse=True)
        return Labels(np.array([-1 if value is None else labels.index(value) for value in values], dtype=np.int64), labels)
    if kind is ColumnType.MOMENT:
        size = NANOSECONDS[UNITS[name]]
        counts = [-(2**63) if value is None else value.nanoseconds // size for value in values]
        return Moments(np.array(counts, dtype=np.int64).view(f"datetime64[{UNITS[name]}]"))
    dtype = np.dtype(DTYPES.get(name, np.uint8))
    rubbish = float("nan") if dtype.kind == "f" else 1
    array = np.array([rubbish if value is None else value for value in values], dtype=dtype)
    return Numbers(array, None if present.all() and len(table) % 2 else present)


def _named(kind: ColumnType) -> list[str]:
    return [name for name, own in SCHEMA.items() if own is kind or (kind is ColumnType.NUMBER and own.is_numeric)]


def _calls(names: Sequence[str], inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("{}({})".format, st.sampled_from(names), inner)


def _choices(inner: st.SearchStrategy[str], conditions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("({} if {} else {})".format, inner, conditions, inner) | st.builds("coalesce({}, {})".format, inner, inner)


_signs = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
_number_literals = st.sampled_from(_UGLY_WHOLES).map(str) | st.sampled_from(
    ["0.5", "2.5", "1e308", "5e-324", "0.1", "-0.0", "1e999", "9007199254740993.0", "30", "-3"]
)
_text_literals = st.sampled_from(_UGLY_TEXTS).map(repr)
_date_literals = st.sampled_from(_UGLY_DATES).map(repr)


def _levelled(make: Callable[[int], st.SearchStrategy[str]]) -> Callable[[int], st.SearchStrategy[str]]:
    """The strategies for every depth, each made once and with a short name of its own."""

    @st.composite
    def drawn(draw: st.DrawFn, depth: int) -> str:
        return draw(make(depth))

    make = cache(make)
    return cache(drawn)


@_levelled
def _numbers(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from(_named(ColumnType.NUMBER)) | _number_literals
    if not depth:
        return leaves
    inner = _numbers(depth - 1)
    return st.one_of(
        leaves,
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner),
        st.builds("({}) ** {}".format, inner, st.integers(0, 10)),
        st.builds("-({})".format, inner),
        _calls(["abs", "sqrt", "log", "log10", "log1p", "exp", "floor", "ceil", "round"], inner),
        st.builds("round({}, {})".format, inner, st.integers(-15, 15)),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        _calls(["length"], _texts(depth - 1)),
        _calls(["year", "month", "day", "weekday", "hour"], _moments(depth - 1)),
        _choices(inner, _conditions(depth - 1)),
    )


@_levelled
def _texts(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from(_named(ColumnType.TEXT)) | _text_literals
    if not depth:
        return leaves
    inner = _texts(depth - 1)
    return st.one_of(leaves, _calls(["lower", "upper", "strip"], inner), _choices(inner, _conditions(depth - 1)))


@_levelled
def _moments(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from(_named(ColumnType.MOMENT))
    if not depth:
        return leaves
    inner = _moments(depth - 1)
    with_literal = st.builds("coalesce({}, {})".format, inner, _date_literals)
    return st.one_of(leaves, with_literal, _choices(inner, _conditions(depth - 1)))


@_levelled
def _conditions(depth: int) -> st.SearchStrategy[str]:
    leaves = st.sampled_from(_named(ColumnType.BOOLEAN)) | st.sampled_from(["True", "False"])
    if not depth:
        return leaves
    inner, numbers, texts, moments = _conditions(depth - 1), _numbers(depth - 1), _texts(depth - 1), _moments(depth - 1)
    pieces = st.builds("{}({}, {})".format, st.sampled_from(["startswith", "endswith", "contains"]), texts, _text_literals)
    return st.one_of(
        leaves,
        st.builds("({} {} {})".format, numbers, _signs, numbers),
        st.builds("({} {} {})".format, st.sampled_from(_named(ColumnType.NUMBER)), _signs, _number_literals),
        st.builds("({} {} {} {} {})".format, _number_literals, _signs, numbers.filter(_is_no_chain), _signs, _number_literals),
        st.builds("({} {} {})".format, texts, _signs, texts),
        st.builds("({} {} {})".format, moments, _signs, moments | _date_literals),
        st.builds("({} {} {})".format, numbers, st.sampled_from(["in", "not in"]), _lists(_number_literals)),
        st.builds("({} {} {})".format, texts, st.sampled_from(["in", "not in"]), _lists(_text_literals)),
        st.builds("({} in {})".format, moments, _lists(_date_literals)),
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or", "==", "<"]), inner),
        st.builds("(not {})".format, inner),
        st.builds("missing({})".format, st.one_of(numbers, texts, moments, inner)),
        st.builds("({} is not None)".format, st.one_of(numbers, texts, moments)),
        pieces,
        _choices(inner, inner),
    )


def _is_no_chain(text: str) -> bool:
    return not any(sign in text for sign in "<>=")


def _lists(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items, min_size=1, max_size=4).map(lambda texts: f"[{', '.join(texts)}]")


def expressions(depth: int) -> st.SearchStrategy[str]:
    """Texts of expressions of every type that name a column."""
    every = st.one_of(_conditions(depth), _conditions(depth), _numbers(depth), _texts(depth), _moments(depth))
    return every.filter(lambda text: any(name in text for name in SCHEMA))
