"""Contingency tables as they are asked for: functions, sessions, documents, containers and files."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.data import survey
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables
from dpstats.testing import seeded

REGIONS = ["Arnmouth", "Belhollow", "Corrigate", "Dunsholt", "Estrava", "Fennick"]
KNOWN = {"levels": {"region": REGIONS}, "bins": {"hours": [20, 35], "schooling": [10, 13]}}
COLUMNS = ["region", "schooling", "hours"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(survey())


def crosstab(table: pd.DataFrame, *names: str) -> np.ndarray:
    """Rows by columns as pandas counts them, with the codes of KNOWN."""
    coded = {
        "region": pd.Categorical(table["region"], REGIONS),
        "hours": pd.cut(table["hours"], [-np.inf, 20, 35, np.inf], right=False),
        "schooling": pd.cut(table["schooling"], [-np.inf, 10, 13, np.inf], right=False),
    }
    counted = pd.DataFrame(coded).groupby(list(names), observed=False).size()
    return counted.to_numpy().reshape([len(REGIONS) if name == "region" else 3 for name in names])


def ask(table: Any, **words: Any) -> ContingencyTables:
    release = dp.contingency_table(table, **{"columns": COLUMNS, "epsilon": 1, "rng": seeded(1), **KNOWN, **words})
    assert isinstance(release, dp.Release)
    return release.value


def test_with_much_epsilon_the_tables_are_those_of_pandas() -> None:
    tables = ask(frame(), epsilon=10_000, ways=3)
    for size in (1, 2, 3):
        for names in combinations(COLUMNS, size):
            assert tables[names].counts == pytest.approx(crosstab(frame(), *names), abs=1e-6)
    assert tables["hours", "region"].counts == pytest.approx(crosstab(frame(), "hours", "region"), abs=1e-6)
    assert tables.rows == pytest.approx(5000)


def test_intervals_hold_as_often_as_they_say() -> None:
    truth = crosstab(frame(), "region", "hours")
    held = []
    for seed in range(40):
        table = ask(frame(), rng=seeded(seed), interval=0.9)["region", "hours"]
        held.append((table.low <= truth) & (truth <= table.high))
    assert 0.86 <= np.mean(held) <= 0.95


@pytest.mark.parametrize(
    "of",
    [pl.DataFrame, lambda table: pl.from_pandas(table).to_arrow(), lambda table: {n: table[n].to_numpy() for n in table}],
    ids=["polars", "arrow", "dict"],
)
def test_every_container_gives_the_same_tables(of: Any) -> None:
    assert ask(of(frame())).to_dict() == ask(frame()).to_dict()


def test_a_file_and_a_frame_give_the_same_tables(tmp_path: Path) -> None:
    frame().to_parquet(tmp_path / "people.parquet")
    assert ask(str(tmp_path / "people.parquet")).to_dict() == ask(frame()).to_dict()


def test_bins_and_labels_are_found() -> None:
    tables = ask(frame(), columns=["region", "age"], levels=None, bins=4, delta=1e-6)
    assert tables["region"].columns[0].labels == tuple(sorted(REGIONS))
    by_age = tables["age"].counts
    assert 4 <= by_age.size <= 6
    assert by_age.max() < 2_000
    assert tables["region", "age"].counts.sum(axis=1) == pytest.approx(tables["region"].counts)


def test_a_value_that_most_rows_have_gets_a_bin_of_its_own() -> None:
    spent = np.concatenate([np.zeros(3_000), np.linspace(1, 1_000, 1_000)])
    edges = ask({"spent": spent}, columns=["spent"], levels=None, bins=8)["spent"].columns[0].edges
    assert edges[0] == 0.0
    assert edges[1] < 1e-300


def test_whole_tables_are_whole_not_negative_and_agree() -> None:
    tables = ask(frame().iloc[:300], whole=True)
    for table in tables:
        assert (table.counts == np.floor(table.counts)).all()
        assert table.counts.min() >= 0
        assert table.counts.sum() == tables.rows
    assert tables["region", "hours"].counts.sum(axis=1) == pytest.approx(tables["region"].counts)


def test_columns_of_true_and_false_have_their_levels() -> None:
    flags = pl.DataFrame({"one": [True, False, True] * 100, "two": [False] * 300})
    tables = ask(flags, columns=None, levels=None, bins=8, epsilon=10_000)
    assert tables["one", "two"].counts == pytest.approx(np.array([[100, 0], [200, 0]]))
    printed = ask(flags, columns=None, levels=None, bins=8, epsilon=10_000, method="fourier")
    assert printed["one", "two"].counts == pytest.approx(tables["one", "two"].counts)


def test_tables_come_back_from_their_plain_form() -> None:
    tables = ask(frame())
    again = ContingencyTables.from_dict(tables.to_dict())
    assert again.to_dict() == tables.to_dict()
    assert str(again["region", "hours"]) == str(tables["region", "hours"])


def test_a_session_debits_once_and_answers_again_from_the_archive(tmp_path: Path) -> None:
    session = dp.protect(
        frame(), unit="row", budget=dp.Budget(epsilon=2), ledger=tmp_path / "l.ledger", name="people", keys={"region": REGIONS}
    )
    asked = {"bins": {"hours": [20, 35]}, "epsilon": 1}
    first = session.contingency_table("region", "hours", **asked).value.to_dict()
    assert session.contingency_table(["region", "hours"], **asked).value.to_dict() == first
    assert session.ask(session.document("contingency_table", "region", "hours", **asked)).value.to_dict() == first
    assert session.remaining.epsilon == 1
    older = session.where("age > 40").contingency_table(epsilon="0.5", ways=1)
    assert len(older.value.columns) == len(session.columns)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"levels": None}, "needs delta"),
        ({"levels": {"region": "north"}}, "must be a list of labels"),
        ({"levels": {"region": ["north", "north"]}}, "each once"),
        ({"levels": {"land": ["north"]}}, "is not one of the columns"),
        ({"bins": {"hours": [35, 20]}}, "ascend"),
        ({"bins": 1}, "2 or more"),
        ({"ways": 9}, "from 1 to 4"),
        ({"ways": True}, "whole number"),
        ({"whole": 1}, "True or False"),
        ({"columns": ["region", "region"]}, "twice"),
        ({"columns": ["nowhere"]}, "no column"),
        ({"columns": []}, "names of columns"),
        ({"bins": {"region": [1, 2]}, "levels": None, "delta": 1e-6}, "which is of type text"),
        ({"bins": {"hours": [20]}, "levels": {"hours": [1, 2]}, "delta": 1e-6}, "both name"),
        ({"method": "fourier"}, "two listed levels"),
        ({"epsilon": None}, "needs epsilon"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(words: dict[str, Any], says: str) -> None:
    with pytest.raises(dp.DpstatsError, match=says):
        ask(frame(), **words)


def test_a_wrong_word_gets_a_hint_and_cuts_are_round_numbers() -> None:
    with pytest.raises(dp.UnknownNameError, match="levels"):
        dp.contingency_table(frame(), COLUMNS, level={}, epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="all else by name"):
        dp.contingency_table(frame(), COLUMNS, 2, epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="twice"):
        dp.contingency_table(frame(), COLUMNS, columns=COLUMNS, epsilon=1)  # type: ignore[misc]
    heights = np.random.default_rng(1).normal(170, 10, 4_000)
    edges = ask({"height": heights}, columns=["height"], levels=None, bins=4)["height"].columns[0].edges
    assert all(round(edge, 1) == edge for edge in edges)


def test_columns_without_a_type_must_be_declared() -> None:
    with pytest.raises(dp.DataTypeError, match="declares no type"):
        ask({"hours": [1, 2, 3], "word": ["a", "b", "c"]}, columns=None, levels=None, bins=8)


def test_rows_without_a_common_label_get_no_reply() -> None:
    reply = dp.contingency_table(pl.DataFrame({"id": [f"p{n}" for n in range(500)]}), epsilon=1, delta=1e-6)
    assert isinstance(reply, dp.NoReply)
    assert "label" in reply.reason


def test_groups_have_tables_of_their_own(tmp_path: Path) -> None:
    session = dp.protect(
        frame(), unit="row", budget=dp.Budget(epsilon=10_000), ledger=tmp_path / "l", name="people", keys={"region": REGIONS[:2]}
    )
    groups = session.group_by("region")
    found = groups.contingency_table("hours", "schooling", bins=KNOWN["bins"], epsilon=5_000)
    for region in REGIONS[:2]:
        rows = frame()[frame()["region"] == region]
        assert found[region].value["hours", "schooling"].counts == pytest.approx(crosstab(rows, "hours", "schooling"), abs=1e-6)
    with pytest.raises(dp.MissingParameterError, match="needs its columns"):
        groups.contingency_table(epsilon=1)


def test_bins_around_a_value_of_its_own_are_named_by_that_value() -> None:
    around = CodedColumn("x", edges=(0.0, 1e-307, 5.0, 5.00000000000001))
    assert around.names == ("below 0", "0", "above 0 to 5", "5", "above 5")
    assert CodedColumn("x", edges=(1e-307, 0.5)).names == ("up to 0", "above 0 to 0.5", "0.5 and more")


def test_columns_called_as_the_numbers_are_keep_their_names() -> None:
    table = {"count": ["a", "b"] * 50, "low": ["x"] * 100}
    release = dp.contingency_table(table, epsilon=1, levels={"count": ["a", "b"], "low": ["x"]}, rng=seeded(1))
    assert list(release.value["count", "low"].to_pandas().columns) == ["count", "low", "count_", "low_", "high"]


def test_labels_are_data_as_they_are_and_shown_on_one_line() -> None:
    release = dp.contingency_table({"x": ["a\nb", " "] * 90}, epsilon=9, levels={"x": ["a\nb", " "]}, ways=1, rng=seeded(1))
    assert list(release.value["x"].to_pandas()["x"]) == ["a\nb", " "]
    assert str(release.value["x"]).count("\n") == 1


def test_a_little_less_than_nothing_is_shown_as_nothing() -> None:
    column = CodedColumn("x", labels=("a", "b"))
    counts = np.array([-0.3, 1234.0])
    assert str(ContingencyTable((column,), counts, counts, None, 1.0)).splitlines()[1].split() == ["0", "1,234"]
