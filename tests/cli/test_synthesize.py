"""`dpstats synthesize`: rows in a new file, a card, and complaints before anything is spent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.cli.synthesize import write_rows
from dpstats.data import survey
from dpstats.statistics.synthetic import data
from dpstats.testing import seeded


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.parquet"
    pd.DataFrame(survey()).drop(columns=["person", "rent", "commute"]).to_parquet(path)
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_are_written(people: str, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"rows.{kind}"
    asked = ["synthesize", people, "--epsilon", "1", "--delta", "1e-6", "--out", str(out), "--seed", "1", "--rows", "200"]
    assert main(asked) == exits.ANSWERED
    rows = pd.read_csv(out) if kind == "csv" else pd.read_parquet(out)
    assert list(rows.columns) == ["age", "region", "schooling", "hours", "income"]
    assert len(rows) == 200
    assert rows["age"].dtype == "int64"
    printed = capsys.readouterr()
    assert "200 rows were written" in printed.out
    assert "NOT PRIVATE" in printed.err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_many_rows_are_written_block_by_block(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "BLOCK_ROWS", 70)
    chance = np.random.default_rng(1)
    ages = pd.Series(np.where(chance.random(3000) < 0.05, None, chance.integers(20, 60, 3000)), dtype="Int64")
    table = {"age": ages, "grade": chance.integers(1, 4, 3000), "word": chance.choice(["a", "b,c", None], 3000)}
    made = dp.synthesize(pd.DataFrame(table), epsilon=5, delta=1e-6, levels={"grade": [1, 2]}, rng=seeded(2), rows=200).value
    out = tmp_path / f"rows.{kind}"
    write_rows(made, out)
    rows = pd.read_csv(out) if kind == "csv" else pd.read_parquet(out)
    frame = made.to_pandas()
    assert [len(block["age"]) for block in made.blocks()] == [70, 70, 60]
    assert rows["age"].isna().sum() == frame["age"].isna().sum() > 0
    assert set(rows["grade"]) == {"1", "2", "other"}
    assert all(
        rows[name].dropna().astype(str).tolist() == frame[name].dropna().astype(str).tolist() for name in ("grade", "word")
    )
    if kind == "parquet":
        assert pq.read_table(out).equals(made.to_arrow())
        assert pq.read_schema(out).field("age").type == pa.int64()


def test_labels_can_be_listed_and_columns_chosen(people: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    asked = ["synthesize", people, "--epsilon", "1", "--out", str(out), "--columns", "region", "hours", "--seed", "2"]
    assert main([*asked, "--levels", "region=Arnmouth,Fennick"]) == exits.ANSWERED
    assert set(pd.read_csv(out)["region"]) <= {"Arnmouth", "Fennick", "other"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--out", "rows.txt"], "must name a .csv"),
        (["--out", "nowhere/rows.csv"], "no folder"),
        (["--out", "rows.csv"], "needs delta"),
        (["--out", "rows.csv", "--levels", "region"], "--levels takes"),
        (["--out", "rows.csv", "--delta", "1e-6", "--columns", "wage"], "no column"),
        (["--out", "rows.csv", "--delta", "1e-6", "--focus", "wage"], "focus names"),
        (["--out", "rows.csv", "--delta", "1e-6", "--rows", "0"], "rows must be"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_spent(
    people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["synthesize", people, "--epsilon", "1", *more]) == exits.BAD_INPUT
    assert says in capsys.readouterr().err
    assert not (tmp_path / "rows.csv").exists()


def test_a_file_is_never_written_over(people: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synthesize", people, "--epsilon", "1", "--delta", "1e-6", "--out", people]) == exits.BAD_INPUT
    assert "already" in capsys.readouterr().err


@pytest.mark.floors
def test_too_few_rows_get_no_reply_and_no_file(tmp_path: Path) -> None:
    few, out = tmp_path / "few.parquet", tmp_path / "rows.csv"
    pd.DataFrame({"age": range(20)}).to_parquet(few)
    assert main(["synthesize", str(few), "--epsilon", "0.5", "--out", str(out), "--seed", "1"]) == exits.NO_REPLY
    assert not out.exists()


def test_what_is_missing_is_told_as_the_command_line_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n2\n", encoding="utf-8")
    assert (
        main(["synthesize", str(tmp_path / "people.csv"), "--epsilon", "1", "--out", str(tmp_path / "x.csv")]) == exits.BAD_INPUT
    )
    assert "--types COLUMN=TYPE" in capsys.readouterr().err


def test_ask_has_no_place_for_rows_and_says_so_before_anything_is_spent(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", people, "synthesize(age)", "--epsilon", "1"]) == exits.BAD_INPUT
    assert "dpstats synthesize FILE --out rows.csv" in capsys.readouterr().err


def test_ask_prints_weights(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "mwem(region, age, levels={region: [Arnmouth, Fennick]}, bins={age: [40]})"
    assert main(["ask", people, asked, "--epsilon", "1", "--seed", "1"]) == exits.ANSWERED
    assert capsys.readouterr().out.count("\n  Arnmouth ") == 2
