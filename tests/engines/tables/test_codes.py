"""Rows by codes: each row has the code that its own cell says, and counts are those of one row at a time."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from dpstats.engines.stores.opening import open_store
from dpstats.engines.tables.table import StoreCodes
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import Coding, CutCoding, LabelCoding

NUMBERS = pl.DataFrame(
    {
        "x": [1.0, 2.0, math.nan, None, math.inf, -math.inf, 2.5, 0.1 + 0.2],
        "k": [0, 1, 2, None, 2**62, -5, 1, 1],
        "word": ["a", "b", None, "c", "a", "", "b", "a"],
        "flag": [True, False, None, True, True, False, False, True],
    }
)


def counts(codings: dict[str, Coding], sets: list[tuple[int, ...]]) -> list[list[int]]:
    store, schema = open_store(NUMBERS)
    numeric = [isinstance(coding, CutCoding) for coding in codings.values()]
    table = StoreCodes(store, TableView(schema), list(codings), numeric)
    return [found.tolist() for found in table.code_counts(list(codings.values()), sets)]


def test_numbers_are_coded_by_the_cuts_at_or_below_them() -> None:
    assert counts({"x": CutCoding((0.3, 2.0, 2.5), missing=4)}, [(0,)]) == [[1, 2, 1, 2, 2]]
    assert counts({"x": CutCoding((0.3, 2.0, 2.5))}, [(0,), ()]) == [[1, 2, 1, 2], 6]


def test_whole_numbers_are_compared_as_they_are() -> None:
    assert counts({"k": CutCoding((0.5, 1, 1.5, 2**62))}, [(0,)]) == [[2, 0, 3, 1, 1]]
    assert counts({"k": CutCoding((1e300,))}, [(0,)]) == [[7, 0]]


def test_labels_are_coded_by_their_places() -> None:
    assert counts({"word": LabelCoding(("b", "a"))}, [(0,)]) == [[2, 3]]
    assert counts({"word": LabelCoding(("b", "a"), other=2, missing=3)}, [(0,)]) == [[2, 3, 2, 1]]
    assert counts({"flag": LabelCoding((False, True))}, [(0,)]) == [[3, 4]]


def test_columns_that_do_not_matter_are_not_read() -> None:
    store, schema = open_store(NUMBERS)
    read: list[list[str]] = []
    plain = store.run

    def noted(job: Any, columns: Any) -> Any:
        read.append(list(columns))
        return plain(job, columns)

    store.run = noted  # type: ignore[method-assign]
    table = StoreCodes(store, TableView(schema), ["x", "word", "flag"], [True, False, False])
    every, some = CutCoding((2.0,), missing=2), LabelCoding(("a",), other=1, missing=2)
    assert table.code_counts([every, some, LabelCoding((True,), other=1, missing=2)], [(1,)])[0].tolist() == [3, 4, 1]
    assert table.code_counts([every, some, LabelCoding((True,), missing=1)], [(1,)])[0].tolist() == [3, 1, 1]
    assert read == [["word"], ["word", "flag"]]


def test_a_row_that_one_coding_leaves_out_is_in_no_count() -> None:
    coded: dict[str, Coding] = {"x": CutCoding((2.0,)), "word": LabelCoding(("a", "b"))}
    assert counts(coded, [(0, 1), (1,), ()]) == [[[2, 0], [1, 2]], [3, 2], 5]
