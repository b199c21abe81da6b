"""A session's units: no row speaks for another, no unit keeps more rows than it may, and no two share a bound."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.curator.session import Session

HUGE = 10_000  # an epsilon at which noise vanishes
BIG = 2**60
TRIES = 12  # of two units that share a bound, the one that goes is chosen anew with every session's key


def session(table: Any, **changes: Any) -> Session:
    settings: dict[str, Any] = {
        "unit": "id",
        "max_rows_per_unit": 1,
        "budget": dp.Budget(epsilon=10**9, delta=0.01),
        "ledger": ":memory:",
        "name": "visits",
        **changes,
    }
    return dp.protect(table, **settings)


def listed(ids: list[Any], values: list[Any]) -> dict[str, Any]:
    return {"id": ids, "v": values}


def count(table: Any, **changes: Any) -> Any:
    return session(table, **changes).count(epsilon=HUGE).value


@pytest.mark.parametrize("first", [BIG, np.int64(BIG)], ids=lambda first: type(first).__name__)
def test_one_row_does_not_rename_the_others(first: Any) -> None:
    others = [float(BIG)] * 200
    for codes in (others, [first, *others]):
        visits = session({"id": list(range(len(codes))), "code": codes})
        assert visits.where("code == '1.152921504606847e+18'").count(epsilon=HUGE).value == 200
        assert visits.group_by("code").count(epsilon=HUGE, delta=1e-6).values_by_key["1.152921504606847e+18"] == 200


def test_one_unit_does_not_change_which_rows_of_the_others_are_used() -> None:
    for start in range(1, 251, 50):
        others = [(unit, code, value) for unit in range(start, start + 50) for code, value in ((float(BIG), 1), (1.0, 0))]
        found = []
        for rows in (others, [(0, BIG, 0), *others]):
            ids, codes, values = zip(*rows, strict=True)
            visits = session({"id": list(ids), "code": list(codes), "v": list(values)}, allow_seeded=True)  # always one key
            found.append(visits.where("v == 1").count(epsilon=HUGE).value)
        assert 0 < found[0] == found[1] < 50


UNREADABLE: list[tuple[str, list[Any], Any, str | None]] = [
    ("tuples", [1, 2], ("ward", 9), None),
    ("complex numbers", [1, 2], 3 + 4j, None),
    ("sets", [1, 2], frozenset([1]), None),
    ("texts for wholes", ["1", "2"], "A12", "integer"),
    ("large wholes", ["1", "2"], str(2**64), "integer"),
    ("no dates", ["2024-01-01", "2024-01-02"], "2024-02-30", "date"),
    ("nan", ["1", "2"], "nan", "number"),
]


@pytest.mark.parametrize("policy", ["drop", "each", "together"])
@pytest.mark.parametrize(
    ("others", "person", "declared"), [case[1:] for case in UNREADABLE], ids=[case[0] for case in UNREADABLE]
)
def test_a_unit_whose_id_cannot_be_read_keeps_no_row(others: list[Any], person: Any, declared: str | None, policy: str) -> None:
    types = None if declared is None else {"id": declared}
    for ids in (others, others + [person] * 50):
        assert count({"id": ids}, types=types, missing_unit=policy) == 2
    without = {"drop": 2, "each": 5, "together": 3}[policy]
    assert count({"id": [*others, None, None, None, *[person] * 50]}, types=types, missing_unit=policy) == without


def stray(ids: list[bytes], values: list[str]) -> Any:
    octets = pa.array(ids, type=pa.binary())
    return pa.table({"id": pa.Array.from_buffers(pa.string(), len(octets), octets.buffers()), "v": values})


def dated(unit: str) -> Callable[[list[int], list[str]], Any]:
    return lambda ids, values: {"id": np.array(ids, dtype=np.int64).view(f"M8[{unit}]"), "v": values}


APART: list[tuple[str, Callable[..., Any], Any, Any, str | None]] = [
    ("bytes", listed, b"\xff", b"\xfe", None),
    ("surrogates", listed, "a\ud800", "a?", None),
    ("numpy's bytes", lambda ids, values: {"id": np.array(ids, dtype="S4"), "v": values}, b"\xff\x01", b"\xfe\x01", None),
    ("arrow's texts", stray, b"\xff", b"\xfe", None),
    ("polars' texts", lambda *given: pl.from_arrow(stray(*given)), b"\xff", b"\xfe", None),
    ("categories", lambda ids, values: pd.DataFrame({"id": pd.Categorical(ids), "v": values}), b"\xff", b"\xfe", None),
    ("days", dated("D"), 5, 5 + 2**57, None),
    ("hours", dated("h"), 5, 5 + 2**60, None),
    ("years", dated("Y"), 2**41, 2**42, None),
    ("fractions", listed, Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30), None),
    ("decimals", listed, Decimal(f"1.{'0' * 40}1"), Decimal(f"1.{'0' * 40}2"), None),
    ("wholes", listed, "1.00000000000000000001", "1", "integer"),
    ("long floats", listed, 1 + np.finfo(np.longdouble).eps, np.longdouble(1), None),
    ("finer dates", listed, "2024-01-01T00:00:00.0000001", "2024-01-01T00:00:00.0000002", "date"),
    ("large exponents", listed, "1e99999999999999999999", "2e99999999999999999999", "number"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "one", "other", "declared"), [case[1:] for case in APART], ids=[case[0] for case in APART])
def test_a_unit_more_takes_no_row_from_another(make: Callable[..., Any], one: Any, other: Any, declared: str | None) -> None:
    types = None if declared is None else {"id": declared}
    for _ in range(TRIES):
        alone, both = (
            session(table, types=types).group_by("v", keys=["x", "y"]).count(epsilon=HUGE).values_by_key["x"]
            for table in (make([one], ["x"]), make([one, other], ["x", "y"]))
        )
        assert alone == both


def test_names_of_which_a_file_lost_a_letter_share_no_bound(tmp_path: Path) -> None:
    counts = []
    for rows in ("M\xfcller,x\n", "M\xfcller,x\nM\xf6ller,y\n"):
        (tmp_path / "visits.csv").write_bytes(f"id,v\n{rows}Maier,x\n".encode("latin-1"))
        visits = session(tmp_path / "visits.csv")
        counts.append(visits.where("v == 'x'").count(epsilon=HUGE).value)
    assert counts == [1, 1]


def test_texts_that_are_no_utf8_are_answered_and_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = stray([b"a"] * 20 + [b"secret\xff"], ["x"] * 21)
    pq.write_table(rows, tmp_path / "visits.parquet")
    for table in (pl.from_arrow(rows), tmp_path / "visits.parquet"):
        assert session(table, unit="row").where("id == 'a'").count(epsilon=HUGE).value == 20
    assert capfd.readouterr() == ("", "")
