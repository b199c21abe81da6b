"""Rows that are taken by number are those rows, in their own kind of container, and nothing of the other rows."""

from __future__ import annotations

import array
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from dpstats.engines.taking import rows_taker
from dpstats.foundations.errors import DataTypeError

NUMBERS = [5.0, 3.0, 8.0, 1.0]
TEXTS = ["e", "c", "h", "a"]
CHOSEN = np.array([1, 3])
NONE = np.zeros(0, dtype=np.int64)


def plain(data: Any) -> Any:
    """Whatever holds rows, as lists."""
    if isinstance(data, dict):
        return {name: plain(column) for name, column in data.items()}
    if isinstance(data, pd.DataFrame):
        return data.to_dict("list")
    if isinstance(data, pl.DataFrame):
        return data.to_dict(as_series=False)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return data.to_pydict()
    if scipy.sparse.issparse(data):
        return data.toarray().tolist()
    for name in ("to_pylist", "tolist", "to_list"):
        if hasattr(data, name):
            return getattr(data, name)()
    return data


CONTAINERS: dict[str, tuple[Any, Any, type]] = {
    "list": (NUMBERS, [3.0, 1.0], list),
    "range": (range(10, 14), [11, 13], list),
    "array": (np.array(NUMBERS), [3.0, 1.0], np.ndarray),
    "object array": (np.array(TEXTS, dtype=object), ["c", "a"], np.ndarray),
    "matrix": (np.arange(8).reshape(4, 2), [[2, 3], [6, 7]], np.ndarray),
    "column-major matrix": (np.asfortranarray(np.arange(8).reshape(4, 2)), [[2, 3], [6, 7]], np.ndarray),
    "standard array": (array.array("d", NUMBERS), [3.0, 1.0], np.ndarray),
    "pandas series": (pd.Series(NUMBERS), [3.0, 1.0], pd.Series),
    "pandas index": (pd.Index(TEXTS), ["c", "a"], pd.Series),
    "pandas frame": (pd.DataFrame({"x": NUMBERS, "y": TEXTS}), {"x": [3.0, 1.0], "y": ["c", "a"]}, pd.DataFrame),
    "polars series": (pl.Series(NUMBERS), [3.0, 1.0], pl.Series),
    "polars frame": (pl.DataFrame({"x": NUMBERS, "y": TEXTS}), {"x": [3.0, 1.0], "y": ["c", "a"]}, pl.DataFrame),
    "arrow array": (pa.array(TEXTS), ["c", "a"], pa.Array),
    "arrow chunks": (pa.chunked_array([NUMBERS[:2], NUMBERS[2:]]), [3.0, 1.0], pa.ChunkedArray),
    "arrow table": (pa.table({"x": NUMBERS, "y": TEXTS}), {"x": [3.0, 1.0], "y": ["c", "a"]}, pa.Table),
    "arrow batch": (pa.record_batch({"x": NUMBERS}), {"x": [3.0, 1.0]}, pa.RecordBatch),
    "sparse": (scipy.sparse.coo_matrix(np.diag(NUMBERS)), [[0, 3.0, 0, 0], [0, 0, 0, 1.0]], scipy.sparse.csr_matrix),
    "dict": ({"x": np.array(NUMBERS), "y": tuple(TEXTS)}, {"x": [3.0, 1.0], "y": ["c", "a"]}, dict),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_rows_come_in_their_own_kind_of_container(name: str) -> None:
    data, expected, kind = CONTAINERS[name]
    rows = rows_taker(data)
    (taken,) = rows.take(CHOSEN)
    assert rows.count == 4
    assert plain(taken) == expected
    assert isinstance(taken, kind)


@pytest.mark.parametrize("name", CONTAINERS)
def test_no_rows_can_be_taken(name: str) -> None:
    (taken,) = rows_taker(CONTAINERS[name][0]).take(NONE)
    assert isinstance(taken, CONTAINERS[name][2])


@pytest.mark.parametrize("name", CONTAINERS)
def test_what_is_taken_is_no_view_of_the_data(name: str) -> None:
    (taken,) = rows_taker(CONTAINERS[name][0]).take(CHOSEN)
    assert not isinstance(taken, np.ndarray) or taken.base is None or not np.shares_memory(taken, CONTAINERS[name][0])


def test_a_tuple_holds_containers_of_the_same_rows() -> None:
    features, outcome = rows_taker((np.arange(8).reshape(4, 2), pd.Series(TEXTS))).take(CHOSEN)
    assert features.tolist() == [[2, 3], [6, 7]]
    assert outcome.tolist() == ["c", "a"]


def test_containers_of_different_lengths_are_refused_without_their_lengths() -> None:
    for data in ((NUMBERS, TEXTS[:3]), {"x": NUMBERS, "y": TEXTS[:3]}):
        with pytest.raises(DataTypeError, match=r"differ in their number of rows") as refusal:
            rows_taker(data)
        assert not any(character.isdigit() for character in str(refusal.value))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("text", "str"),
        (b"bytes", "bytes"),
        ({1, 2}, "set"),
        (iter([1]), "list_iterator"),
        (7, "int"),
        (None, "NoneType"),
        (np.array(7), "ndarray"),
        ({}, "dict"),
        ((1.0, 2.0), "float"),
        (((1.0, 2.0), (3.0, 4.0)), "tuple"),
        (pl.LazyFrame({"x": [1]}), "LazyFrame"),
        (pa.array(TEXTS, pa.string_view()), "StringViewArray"),
        ({"x": 5}, "int"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_has_no_rows_is_refused_by_its_type(data: Any, name: str) -> None:
    with pytest.raises(DataTypeError, match=rf"got {name}: pass a list, ") as refusal:
        rows_taker(data)
    assert refusal.value.__cause__ is None


def test_an_empty_tuple_is_refused() -> None:
    with pytest.raises(DataTypeError, match="there is no data"):
        rows_taker(())


def as_frame(rows: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"x": rows})


def as_labelled_frame(rows: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"x": rows}, index=pd.MultiIndex.from_tuples([(row, str(row)) for row in rows]))


def as_arrow(rows: list[int]) -> pa.Table:
    return pa.concat_tables([pa.Table.from_pandas(as_frame(rows[:2])), pa.Table.from_pandas(as_frame(rows[2:]))])


def as_polars(rows: list[int]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame({"x": rows[:2]}), pl.DataFrame({"x": rows[2:]})], rechunk=False)


def as_chunks(rows: list[int]) -> pa.ChunkedArray:
    return pa.chunked_array([rows[:2], rows[2:]])


@pytest.mark.parametrize("made", [as_frame, as_labelled_frame, as_arrow, as_polars, as_chunks, list, np.array, pd.Series])
def test_one_row_more_changes_nothing_about_the_other_rows(made: Callable[[list[int]], Any]) -> None:
    kept = rows_taker(made([10, 20, 30, 40])).take(np.array([1, 2, 3]))
    with_one_more = rows_taker(made([50, 10, 20, 30, 40])).take(np.array([2, 3, 4]))
    assert pickle.dumps(kept) == pickle.dumps(with_one_more)


KEPT = ["b", "a", None, "b"]


def categories(rows: list[str | None]) -> pd.Series:
    return pd.Series(rows, dtype="category")


def ordered_categories(rows: list[str | None]) -> pd.Series:
    return categories(rows).cat.as_ordered()


def categories_as_they_came(rows: list[str | None]) -> pd.Series:
    return pd.Series(pd.Categorical(rows, list(dict.fromkeys(row for row in rows if row))))


def frame_of_categories(rows: list[str | None]) -> pd.DataFrame:
    frame = pd.concat([categories(rows), pd.Series(range(9)[-len(rows) :]), categories(rows)], axis=1)
    frame.columns = pd.Index(["x", "y", "x"])
    frame.attrs = {"rows": len(rows)}
    return frame


def labelled_by_categories(rows: list[str | None]) -> pd.Series:
    return pd.Series(1.0, index=pd.CategoricalIndex(rows, name="label"))


def labelled_by_categories_twice(rows: list[str | None]) -> pd.Series:
    return pd.Series(1.0, index=pd.MultiIndex.from_arrays([categories_as_they_came(rows), rows], names=["x", "y"]))


def dictionary(rows: list[str | None]) -> pa.Array:
    return pa.array(rows, pa.dictionary(pa.int8(), pa.large_string()))


def ordered_dictionary(rows: list[str | None]) -> pa.Array:
    return pa.array(pd.Categorical(rows, ordered=True))


def table_of_dictionaries(rows: list[str | None]) -> pa.Table:
    return pa.table({"x": pa.chunked_array([dictionary(rows[:2]), dictionary(rows[2:])]), "y": rows})


def batch_of_dictionaries(rows: list[str | None]) -> pa.RecordBatch:
    return pa.record_batch({"x": dictionary(rows), "y": rows})


def dictionary_in_pandas(rows: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([dictionary(rows)])))})


def texts_in_pandas(rows: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.concat([pd.Series(rows[:1]), pd.Series(rows[1:])], ignore_index=True)})


def polars_categories(rows: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series(rows, dtype=pl.Categorical)})


def polars_enum(rows: list[str | None]) -> pl.Series:
    return pl.Series(rows, dtype=pl.Enum(["a", "b", "secret"]))


MADE_OF_TEXTS = [
    categories,
    ordered_categories,
    categories_as_they_came,
    frame_of_categories,
    labelled_by_categories,
    labelled_by_categories_twice,
    dictionary,
    ordered_dictionary,
    table_of_dictionaries,
    batch_of_dictionaries,
    dictionary_in_pandas,
    texts_in_pandas,
    polars_categories,
    polars_enum,
]


@pytest.mark.parametrize("row", ["secret", "a"])
@pytest.mark.parametrize("made", MADE_OF_TEXTS)
def test_no_label_of_another_row_comes_along(made: Callable[[list[str | None]], Any], row: str) -> None:
    whole = made(KEPT)
    kept = rows_taker(whole).take(np.arange(4))
    with_one_more = rows_taker(made([row, *KEPT])).take(np.arange(1, 5))
    assert pickle.dumps(pickle.loads(pickle.dumps(kept))) == pickle.dumps(pickle.loads(pickle.dumps(with_one_more)))
    assert made is polars_enum or b"secret" not in pickle.dumps(with_one_more)
    assert type(kept[0]) is type(whole)
    assert str(np.asarray(kept[0]).tolist()) == str(np.asarray(whole).tolist())


@pytest.mark.parametrize("made", [pd.DatetimeIndex, pd.TimedeltaIndex])
def test_dates_do_not_tell_how_far_apart_their_rows_stood(made: Callable[..., Any]) -> None:
    index = made(np.arange(5) * 24 * 3600 * 10**9, freq="D")
    (taken,) = rows_taker(pd.Series(np.arange(5.0), index=index)).take(np.array([0, 2, 4]))
    assert taken.index.freq is None
    assert index.freq is not None
    assert taken.index.tolist() == index[::2].tolist()


def test_ordered_categories_keep_their_order() -> None:
    sizes = pd.Series(pd.Categorical(["large", "small", "huge"], ["small", "large", "huge"], ordered=True))
    (taken,) = rows_taker(sizes).take(np.array([0, 1]))
    assert taken.cat.ordered
    assert taken.cat.categories.tolist() == ["small", "large"]
    (encoded,) = rows_taker(pa.array(sizes)).take(np.array([0, 1]))
    assert encoded.type.ordered
    assert encoded.dictionary.to_pylist() == ["small", "large"]


def test_categories_that_cannot_be_sorted_come_as_their_rows_do() -> None:
    (taken,) = rows_taker(pd.Series(pd.Categorical(["a", 1, "z"], ["z", 1, "a"]))).take(np.array([0, 1]))
    assert taken.cat.categories.tolist() == ["a", 1]


def test_dictionaries_inside_nested_columns_are_refused() -> None:
    nested = pa.array([["a"], ["b"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    with pytest.raises(DataTypeError, match="inside a nested column"):
        rows_taker(nested)


def test_labels_stay_with_their_rows() -> None:
    (taken,) = rows_taker(pd.Series(NUMBERS, index=TEXTS)).take(CHOSEN)
    assert taken.to_dict() == {"c": 3.0, "a": 1.0}
