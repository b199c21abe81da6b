"""A table in memory is known by its content: unchanged rows are recalled, changed ones are another edition."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.curator.archive import is_from_archive
from dpstats.curator.ledger.entries import DEBIT, EDITION
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session
from dpstats.engines.stores.memory import MemoryStore, columns_in_memory
from dpstats.foundations.errors import LedgerError

ROWS = 60
COLUMNS: dict[str, Any] = {
    "price": np.array([float(number) for number in range(ROWS)]),
    "cut": ["fair", "ideal", None] * (ROWS // 3),
    "whole": np.arange(ROWS),
}


def protected(table: Any, ledger: Path, **words: Any) -> Session:
    return dp.protect(table, unit="row", budget=dp.Budget(9), ledger=ledger, **words)


def of_kind(session: Session, kind: str) -> int:
    return sum(entry.kind == kind for entry in session.ledger.entries())


MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "structured array": lambda columns: np.rec.fromarrays(  # type: ignore[call-overload]
        [columns["price"], np.array(columns["cut"], dtype=object), columns["whole"]], names=list(columns)
    ),
}


@pytest.mark.parametrize("name", ["diamonds", None])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_unchanged_table_is_recalled_and_a_changed_one_is_another_edition(
    make: Callable[[dict[str, Any]], Any], name: str | None, tmp_path: Path
) -> None:
    ledger = tmp_path / "a.ledger"
    words = {} if name is None else {"name": name}
    protected(make(COLUMNS), ledger, **words).count("price", epsilon=1)
    again = protected(make({key: values.copy() for key, values in COLUMNS.items()}), ledger, **words)
    assert is_from_archive(again.count("price", epsilon=1))
    assert (of_kind(again, DEBIT), of_kind(again, EDITION)) == (1, 1)
    changed = protected(make({**COLUMNS, "price": COLUMNS["price"] * 2}), ledger, **words)
    assert not is_from_archive(changed.count("price", epsilon=1))
    assert (of_kind(changed, DEBIT), of_kind(changed, EDITION)) == (2, 2)
    assert is_from_archive(protected(make(COLUMNS), ledger, **words).count("price", epsilon=1))  # the first edition again


def test_a_table_with_other_columns_is_another_edition(tmp_path: Path) -> None:
    protected(COLUMNS, tmp_path / "a.ledger", name="diamonds").count(epsilon=1)
    other = protected({"carat": COLUMNS["price"]}, tmp_path / "a.ledger", name="diamonds")
    assert not is_from_archive(other.count(epsilon=1))
    assert of_kind(other, EDITION) == 2


def test_a_known_table_in_memory_has_no_second_budget(tmp_path: Path) -> None:
    protected(COLUMNS, tmp_path / "a.ledger", name="diamonds")
    for words in ({"name": "gems"}, {}):
        with pytest.raises(LedgerError, match="knows these rows as 'diamonds'"):
            protected({"whole": COLUMNS["whole"], **COLUMNS}, tmp_path / "a.ledger", **words)
    protected({**COLUMNS, "whole": COLUMNS["whole"][::-1]}, tmp_path / "a.ledger", name="gems")


def test_the_ledger_holds_keyed_fingerprints_of_the_content(tmp_path: Path) -> None:
    contents = []
    for name in ("a.ledger", "b.ledger"):
        protected(COLUMNS, tmp_path / name)
        entries = open_ledger(tmp_path / name).entries()
        contents += [entry.content()["content"] for entry in entries if entry.kind == EDITION]
    assert len(set(contents)) == 2  # the secrets differ
    plain = content(COLUMNS)
    assert not any(plain[:32] in text or text.partition(":")[2] in plain for text in contents)


def content(table: Any) -> str:
    tell = MemoryStore(columns_in_memory(table) or {}).whereabouts().content
    assert tell is not None
    return tell()


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=number) for number in range(5)]
SAME: dict[str, list[Any]] = {
    "numbers": [
        pd.DataFrame({"x": [1.5, 2.5, np.nan]}),
        pl.DataFrame({"x": [1.5, 2.5, None]}),
        pa.table({"x": [1.5, 2.5, None]}),
        pd.DataFrame({"x": [1.5, 2.5, np.nan]}, index=[7, 8, 9]),
        pl.DataFrame({"x": [1.5, 2.5, None]}, schema={"x": pl.Float32}),
        pl.concat([pl.DataFrame({"x": [1.5]}), pl.DataFrame({"x": [2.5, None]})], rechunk=False),
    ],
    "whole numbers": [
        {"x": np.array([1, 2], dtype=np.int8)},
        pl.DataFrame({"x": [1, 2]}),
        pd.DataFrame({"x": [1, 2]}, dtype="Int64"),
    ],
    "texts": [
        pl.DataFrame({"x": ["b", "a", None, "b"]}),
        pl.DataFrame({"x": ["b", "a", None, "b"]}, schema={"x": pl.Categorical}),
        pa.table({"x": pa.array(["b", "a", None, "b"]).dictionary_encode()}),
        pd.DataFrame({"x": pd.Categorical(["b", "a", None, "b"], categories=["unused", "b", "a"])}),
    ],
    "order of columns": [{"x": np.arange(3), "y": np.ones(3)}, {"y": np.ones(3), "x": np.arange(3)}],
    "elements": [{"x": [1, "a", None, 2.5]}, {"x": (1, "a", None, 2.5)}, {"x": np.array([1, "a", None, 2.5], dtype=object)}],
    "dates as elements": [{"x": list(DAYS)}, {"x": list(DAYS)}],
    "decimals as elements": [{"x": [decimal.Decimal("1.5")] * 2}, {"x": [decimal.Decimal("1.5"), decimal.Decimal("1.5")]}],
    "equal texts": [{"x": ["".join(["n", "o"]), "no"]}, {"x": ["no", "".join(["n", "o"])]}],
}
DIFFERENT: list[Any] = [
    {"x": np.array([1, 2])},
    {"x": np.array([2, 1])},
    {"x": np.array([1.0, 2.0])},
    {"x": np.array([1, 2, 3])},
    {"y": np.array([1, 2])},
    {"x": np.array([1, 2]), "y": np.array([1, 2])},
    {"x": [1, 2]},
    {"x": ["1", "2"]},
    {"x": [1, None]},
    {"x": [DAYS[0], DAYS[1]]},
    {"x": [DAYS[1], DAYS[0]]},
    {"x": ["ab", "c"]},
    {"x": ["a", "bc"]},
    pl.DataFrame({"x": ["ab", "c"]}),
    pl.DataFrame({"x": ["a", "bc"]}),
    pl.DataFrame({"x": ["a", None]}),
    pl.DataFrame({"x": [True, False]}),
    pl.DataFrame({"x": DAYS[:2]}),
    pl.DataFrame({"x": [1, None]}),
    pl.DataFrame({"x": [0, None]}),
    pl.DataFrame({"x": [[1], [2]]}),
]


@pytest.mark.parametrize("tables", SAME.values(), ids=SAME)
def test_equal_rows_have_one_content(tables: list[Any]) -> None:
    assert len({content(table) for table in tables}) == 1


def test_other_rows_have_another_content() -> None:
    assert len({content(table) for table in DIFFERENT}) == len(DIFFERENT)


def test_a_column_that_cannot_be_digested_is_never_known_again() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError

        __float__ = __repr__ = __hash__ = __str__  # type: ignore[assignment]

    table = {"x": [Hostile(), 1.0]}
    assert len(content(table)) == 64


def test_a_ledger_in_memory_reads_no_row_for_a_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpstats.engines.stores.memory.content_of", lambda *_: 1 / 0)
    table = dp.protect(COLUMNS, unit="row", budget=dp.Budget(9), ledger=":memory:")
    assert isinstance(table.count(epsilon=1), dp.Release)
