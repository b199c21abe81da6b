"""What is neither true nor false is counted by a proportion at every door, and refused where it is much.

A share of codes such as 1 and 2, or yes and no, is 1 where the rows that it does not know count as missing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.desk import Desk
from dpstats.curator.open_columns import OpenColumns
from dpstats.curator.scope import Scope
from dpstats.engines.tables.given import GivenStore
from dpstats.engines.views import TableView
from dpstats.foundations.registry import find_statistic
from dpstats.testing import seeded

Rows = list[str]
CODES = {
    "1 and 2": ("1", "2"),
    "0 and 2": ("0", "2"),
    "yes and no": ("yes", "no"),
    "1 and no": ("1", "no"),
    "M and F": ("M", "F"),
    "1 and F": ("1", "F"),
    "true and unknown": ("true", "unknown"),
    "TRUE and 0.5": ("TRUE", "0.5"),
    "01 and 02": ("01", "02"),
    "1.0 and 2.0": ("1.0", "2.0"),
}
"""Two codes of which at most one is true or false."""
TRUTHS = [("1", "0"), ("TRUE", "FALSE"), ("true", "false"), ("1.0", "0.0"), ("01", "00"), (" True ", "0"), ("1e0", "-0")]
"""Two texts of which one says true and the other false."""
NOTHING = ["", "NA", "nan", "null", "N/A", "None", "."]
REFUSED = "values other than 0 and 1"


def rows_of(codes: tuple[str, str], nothing: int = 0) -> Rows:
    return [codes[0]] * 400 + [codes[1]] * 600 + list(itertools.islice(itertools.cycle(NOTHING), nothing))


def natural(row: str) -> Any:
    """A text as Python would have it: numbers as numbers, true and false as such."""
    try:
        return {"true": True, "false": False}[row.strip().lower()]
    except KeyError:
        return json.loads(row) if row.replace(".", "", 1).isdigit() and not row.startswith("0") else row


def csv_file(rows: Rows, folder: Path) -> Path:
    path = folder / "rows.csv"
    path.write_text("x,key\n" + "".join(f"{row},{'ab'[place % 2]}\n" for place, row in enumerate(rows)))
    return path


def session(table: Any, **words: Any) -> Any:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=500), "ledger": ":memory:", "allow_seeded": True}
    return dp.protect(table, **{**settings, **words})


def by_groups(table: Any) -> Any:
    asked = session(table, types={"x": "boolean"}).group_by("key", keys=["a", "b"])
    replies = asked.proportion("x", epsilon=8, rng=seeded(1))
    assert len({isinstance(reply, dp.NoReply) for reply in replies.values()}) == 1
    return replies["a"]


def by_document(table: Any) -> Any:
    asked = session(table, types={"x": "boolean"})
    return asked.ask(asked.document("proportion", "x", epsilon=8), rng=seeded(1))


ARRAYS: dict[str, Callable[[Rows], Any]] = {
    "a list of texts": list,
    "a list of values": lambda rows: [natural(row) for row in rows],
    "a tuple": lambda rows: tuple(natural(row) for row in rows),
    "an array of objects": lambda rows: np.array([natural(row) for row in rows], dtype=object),
    "a pandas Series of objects": lambda rows: pd.Series([natural(row) for row in rows], dtype=object),
    "a pandas Series of texts": lambda rows: pd.Series(rows, dtype=object),
    "a polars Series of objects": lambda rows: pl.Series([natural(row) for row in rows], dtype=pl.Object),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "proportion": lambda column: dp.proportion(column, epsilon=8, rng=seeded(1)),
    "mean by counts": lambda column: dp.mean(column, epsilon=8, method="counts", rng=seeded(1)),
    "a rough answer": lambda column: dp.proportion(column, epsilon=8, rough=True, rng=seeded(1)),
    "a changed row": lambda column: dp.proportion(column, epsilon=8, neighbors="change_one", rng=seeded(1)),
    "a session": lambda column: session({"x": column}).proportion("x", epsilon=8, rng=seeded(1)),
    "a condition": lambda column: session({"x": column}).proportion("x and x", epsilon=8, rng=seeded(1)),
    "a comparison": lambda column: session({"x": column}).proportion("x == True", epsilon=8, rng=seeded(1)),
}
SESSIONS: dict[str, Callable[[Path], Any]] = {
    "boolean": lambda path: session(path, types={"x": "boolean"}).proportion("x", epsilon=8, rng=seeded(1)),
    "mean of a boolean": lambda path: session(path, types={"x": "boolean"}).mean("x", epsilon=8, rng=seeded(1)),
    "number": lambda path: session(path, types={"x": "number"}).proportion("x", epsilon=8, rng=seeded(1)),
    "integer": lambda path: session(path, types={"x": "integer"}).proportion("x", epsilon=8, rng=seeded(1)),
    "mean by counts": lambda path: session(path, types={"x": "number"}).mean("x", epsilon=8, method="counts", rng=seeded(1)),
    "a document": by_document,
    "a filter": lambda path: session(path, types={"x": "boolean"}).where("key != 'c'").proportion("x", epsilon=8, rng=seeded(1)),
    "groups": by_groups,
    "a condition": lambda path: session(path, types={"x": "boolean"}).proportion("x and x", epsilon=8, rng=seeded(1)),
    "a derived column": lambda path: (
        session(path, types={"x": "boolean"}).with_columns(same="x and key != 'c'").mean("same", epsilon=8, rng=seeded(1))
    ),
    "one derived from another": lambda path: (
        session(path, types={"x": "boolean"})
        .with_columns(same="not x")
        .with_columns(again="not same")
        .proportion("again", epsilon=8, rng=seeded(1))
    ),
    "a changed row": lambda path: session(path, types={"x": "boolean"}, neighbors="change_one").proportion(
        "x", epsilon=8, rng=seeded(1)
    ),
}


def told(reply: Any, codes: str) -> None:
    """It is a refusal that says why and what to ask."""
    assert isinstance(reply, dp.NoReply), (codes, reply)
    assert REFUSED in reply.reason, reply.reason
    assert "x == 1" in reply.advice


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("door", FUNCTIONS)
@pytest.mark.parametrize("container", ARRAYS)
def test_functions_refuse_codes_that_are_not_true_and_false(container: str, door: str, codes: str) -> None:
    told(FUNCTIONS[door](ARRAYS[container](rows_of(CODES[codes], nothing=70))), codes)


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("door", SESSIONS)
def test_sessions_over_files_refuse_codes_that_are_not_true_and_false(door: str, codes: str, tmp_path: Path) -> None:
    told(SESSIONS[door](csv_file(rows_of(CODES[codes], nothing=70), tmp_path)), codes)


@pytest.mark.parametrize("truths", TRUTHS)
@pytest.mark.parametrize("door", SESSIONS)
def test_sessions_over_files_read_true_and_false_however_they_are_written(
    door: str, truths: tuple[str, str], tmp_path: Path
) -> None:
    reply = SESSIONS[door](csv_file(rows_of(truths, nothing=70), tmp_path))
    assert isinstance(reply, dp.Release), reply
    assert reply.value == pytest.approx(0.4, abs=0.02)
    assert "other values" not in dict(reply.notes)


@pytest.mark.parametrize("truths", TRUTHS)
@pytest.mark.parametrize("container", ARRAYS)
def test_functions_read_true_and_false_however_they_are_written(container: str, truths: tuple[str, str]) -> None:
    for door in FUNCTIONS.values():
        reply = door(ARRAYS[container](rows_of(truths, nothing=70)))
        assert isinstance(reply, dp.Release), reply
        assert reply.value == pytest.approx(0.4, abs=0.02)
        assert "other values" not in dict(reply.notes)


@pytest.mark.parametrize("door", SESSIONS)
def test_a_few_other_values_are_named_on_the_card(door: str, tmp_path: Path) -> None:
    reply = SESSIONS[door](csv_file([*rows_of(("1", "0")), *["9"] * 60, *["refused"] * 60], tmp_path))
    assert isinstance(reply, dp.Release), reply
    assert reply.value == pytest.approx(0.4, abs=0.02)
    others = int(dict(reply.notes)["other values"].split()[1])
    assert others == pytest.approx(60 if "groups" in door else 120, abs=8)


TYPED: dict[str, Callable[[Rows], Any]] = {
    "polars texts": pl.Series,
    "arrow texts": pa.array,
    "numpy texts": np.array,
    "categories": lambda rows: pd.Series(rows, dtype="category"),
    "pandas texts": lambda rows: pd.Series(rows, dtype="string"),
}


@pytest.mark.parametrize("container", TYPED)
def test_columns_that_declare_texts_are_an_error_that_says_what_to_ask(container: str) -> None:
    column = TYPED[container](rows_of(("1", "no")))
    with pytest.raises(dp.DataTypeError, match="pass a condition, such as x == 'yes'"):
        dp.proportion(column, epsilon=1)
    with pytest.raises(dp.DataTypeError):
        dp.mean(column, epsilon=1, method="counts")


def test_tables_that_declare_texts_are_an_error_that_says_what_to_ask() -> None:
    rows = rows_of(("1", "no"))
    for table in (pa.table({"x": rows}), pl.DataFrame({"x": rows}), pd.DataFrame({"x": rows}).astype("string")):
        asked = session(table)
        with pytest.raises(dp.DataTypeError, match="x == 'yes'"):
            asked.proportion("x", epsilon=1)
        assert asked.remaining.epsilon == 500


def test_the_command_line_refuses_codes_with_every_declaration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(csv_file(rows_of(("1", "2")), tmp_path))
    for types in ([], ["--types", "x=boolean"], ["--types", "x=number"], ["--types", "infer"]):
        main(["ask", path, "proportion(x)", "--epsilon", "1", "--seed", "1", *types])
        assert REFUSED in capsys.readouterr().out, types
    main(["ask", path, "proportion(x == 1)", "--epsilon", "1", "--seed", "1"])
    assert "proportion(x == 1) = 0.39" in capsys.readouterr().out


@pytest.mark.parametrize("codes", [*CODES.values(), *TRUTHS])
def test_a_session_over_a_file_without_types_says_what_to_declare_or_to_ask(codes: tuple[str, str], tmp_path: Path) -> None:
    asked = session(csv_file(rows_of(codes), tmp_path))
    for given in ("x", "x and key == 'a'", "not x"):
        with pytest.raises(dp.DataTypeError, match="x == 'yes'"):
            asked.proportion(given, epsilon=1)
    with pytest.raises(dp.DataTypeError, match="declare that"):
        asked.mean("x", epsilon=1, method="counts")
    assert asked.remaining.epsilon == 500


def test_the_mean_of_codes_is_their_mean() -> None:
    reply = dp.mean(rows_of(("1", "2")), epsilon=8, rng=seeded(1))
    assert reply.value == pytest.approx(1.6, abs=0.05)


def test_a_share_and_another_question_about_one_column_are_read_apart_where_columns_stay_open() -> None:
    """A table that keeps its columns open between questions must not hand the share the numbers of a mean."""
    store = GivenStore([["1"] * 400 + ["no"] * 600])
    desk = Desk(store, store.columns, open_columns=OpenColumns(store))
    scope = Scope(store.columns, TableView(store.columns))
    for statistic in ("mean", "proportion", "mean"):
        reply = desk.answer(desk.price(scope, desk.asked(scope, find_statistic(statistic), ["0"], [], {"epsilon": 8}), seeded(1)))
        assert isinstance(reply, dp.NoReply if statistic == "proportion" else dp.Release)
