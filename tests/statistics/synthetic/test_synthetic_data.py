"""Synthetic rows as they are asked for: functions, sessions, containers, documents, and tables of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.data import survey
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.testing import seeded

REGIONS = ["Arnmouth", "Belhollow", "Corrigate", "Dunsholt", "Estrava", "Fennick"]
COLUMNS = ["region", "age", "income", "hours"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(survey())[COLUMNS]


def ask(table: Any = None, **words: Any) -> SyntheticData:
    asked = {"epsilon": 5, "delta": 1e-6, "levels": {"region": REGIONS}, "rng": seeded(1), **words}
    release = dp.synthesize(frame() if table is None else table, **asked)
    assert isinstance(release, dp.Release)
    return release.value


def distance(one: Any, other: Any) -> float:
    """The total variation of two columns, of numbers between deciles of the first."""
    if pd.api.types.is_numeric_dtype(one):
        edges = np.unique(np.nanquantile(one, np.linspace(0.1, 0.9, 9)))
        one, other = np.searchsorted(edges, one, "right"), np.searchsorted(edges, other, "right")
    shares = [pd.Series(each).value_counts(normalize=True) for each in (one, other)]
    return float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_rows_are_like_those_of_the_table(delta: float) -> None:
    table, synthetic = frame(), ask(delta=delta).to_pandas()
    assert list(synthetic) == COLUMNS
    assert len(synthetic) == pytest.approx(len(table), rel=0.02)
    for name in COLUMNS:
        assert distance(table[name], synthetic[name]) < 0.04
    numbers = ["age", "income", "hours"]
    assert np.abs(synthetic[numbers].corr("spearman") - table[numbers].corr("spearman")).to_numpy().max() < 0.1


def test_at_a_large_epsilon_columns_are_those_of_the_table() -> None:
    table, synthetic = frame(), ask(epsilon=100).to_pandas()
    assert max(distance(table[name], synthetic[name]) for name in COLUMNS) < 0.02


def test_a_release_is_made_again_from_plain_values() -> None:
    data = ask()
    again = SyntheticData.from_dict(json.loads(json.dumps(data.to_dict())))
    assert again.to_dict() == data.to_dict()
    pd.testing.assert_frame_equal(data.to_pandas(), again.to_pandas(), check_exact=True)


def test_frames_are_of_the_kind_that_was_given() -> None:
    table = frame()
    given = {
        pd.DataFrame: table,
        pl.DataFrame: pl.from_pandas(table),
        pa.Table: pa.Table.from_pandas(table),
        dict: {name: table[name].to_numpy() for name in COLUMNS[1:]},
    }
    for kind, each in given.items():
        made = ask(each, **({"levels": None} if kind is dict else {})).frame
        assert isinstance(made, kind)
        if kind is not dict:
            session = dp.protect(each, unit="row", budget=dp.Budget(9, "1e-5"), ledger=":memory:")
            sketches = [session.sketch(epsilon=1, delta=1e-6).value for _ in range(2)]  # computed, and from the archive
            assert all(isinstance(sketch.frame, kind) for sketch in sketches)
    assert ask().to_polars().columns == COLUMNS
    assert ask().to_arrow().column_names == COLUMNS


def test_types_suit_the_columns() -> None:
    rows = 3000
    generator = np.random.default_rng(2)
    table = {
        "yes": generator.random(rows) < 0.3,
        "count": generator.integers(0, 5, rows),
        "gap": np.where(generator.random(rows) < 0.3, np.nan, generator.normal(size=rows)),
        "price": np.round(generator.choice([1.25, 2.5, 9.99, 12.0], rows), 2),
    }
    gaps = pd.array(np.arange(rows) % 3, dtype="Int64")
    gaps[::4] = pd.NA
    data = ask(pd.DataFrame(table | {"parts": gaps}), levels=None)
    assert data.to_pandas()["parts"].dtype == "Int64"
    assert data.to_arrow().schema.field("parts").type == pa.int64()
    assert {type(line[4]) for line in data.lines()} == {int, type(None)}
    values = data.values
    assert values["yes"].dtype == np.bool_
    assert values["count"].dtype == np.int64
    assert np.isnan(values["gap"]).mean() == pytest.approx(0.3, abs=0.05)
    assert set(np.unique(values["price"])) == {1.25, 2.5, 9.99, 12.0}


def test_a_column_of_which_no_label_was_found_has_a_type() -> None:
    data = ask({"code": ["a", "b"] * 5}, levels=None, types={"code": "text"}, epsilon=0.2)
    assert set(data.values["code"].tolist()) == {"other"}
    assert set(data.to_arrow()["code"].to_pylist()) == {"other"}
    assert len(data.to_polars()) == len(data)


def test_single_values_are_found_without_delta() -> None:
    price = np.random.default_rng(2).choice([1.0, 2.5, 12.0], 5000)
    values, counts = np.unique(ask({"price": price}, levels=None, delta=0, epsilon=3).values["price"], return_counts=True)
    assert {1.0, 2.5, 12.0} <= set(values[counts > 1000])


def test_a_focus_is_measured_and_rows_are_as_many_as_asked_for() -> None:
    data = ask(focus="income", rows=100)
    pairs = {tuple(data.names[place] for place in pair.columns) for pair in data.pairs}
    assert {("region", "income"), ("age", "income"), ("income", "hours")} <= pairs
    assert len(data) == len(data.to_pandas()) == 100


def test_tables_of_the_model_add_up_to_the_rows() -> None:
    data = ask()
    assert data.table("region").counts.sum() == pytest.approx(data.total)
    both = data.table("region", "hours")
    assert both.counts.sum(axis=1) == pytest.approx(data.table("region").counts)
    assert both.counts.shape == tuple(len(column.names) for column in both.columns)
    assert data.table().counts == pytest.approx(data.total)


def test_intervals_hold_the_truth_of_the_table() -> None:
    generator = np.random.default_rng(5)
    atoms = generator.choice([17.5, 22.0, 27.0, 32.0], 3000, p=[0.03, 0.37, 0.4, 0.2])
    tail = np.where(generator.random(3000) < 0.5, 0.0, generator.lognormal(0, 1.2, 3000))
    for seed in range(2):
        data = ask({"atoms": atoms, "tail": tail}, levels=None, epsilon=1, rng=seeded(seed))
        for statistic, truth in (("mean(atoms)", atoms.mean()), ("mean(tail)", tail.mean())):
            interval = data.interval(statistic, redraws=4)
            assert interval.low <= truth <= interval.high
    assert data.interval(lambda values: values["atoms"].max(), redraws=2).covers.startswith("noise")


def test_means_that_hang_on_rows_far_out_have_no_interval() -> None:
    far = 1 / np.random.default_rng(1).random(2000) ** 1.5
    data = ask({"far": far}, levels=None, epsilon=2)
    for statistic in ("mean(far)", "std(far)"):
        with pytest.raises(dp.DpstatsError, match="hangs on rows far out"):
            data.interval(statistic)
    assert data.interval("median(far)", redraws=2).low < np.median(far)


@pytest.mark.parametrize("statistic", ["mean(region)", "mean(wage)", "sum(age)", 3])
def test_statistics_that_rows_do_not_have_are_told(statistic: Any) -> None:
    with pytest.raises(dp.DpstatsError, match=r"column|statistic"):
        ask().interval(statistic)


@pytest.mark.parametrize(
    "column",
    [
        np.full(400, 3.0),
        np.full(400, np.nan),
        np.full(400, 7),
        np.array([1.0, 2.0]),
        np.array([]),
        np.where(np.arange(400) % 3 == 0, np.inf, np.arange(400.0)),
        np.where(np.arange(400) % 2 == 0, -1e300, 1e300),
        2**61 + np.arange(400) * 2**53,
        np.arange(400, dtype=np.int8),
        1e9 + np.arange(400) / 100,
        np.arange(400) * 1e-200,
        np.arange(400) % 2 == 0,
        np.array([f"id{place}" for place in range(400)]),
    ],
)
@pytest.mark.parametrize("epsilon", [1e-4, 1, 100])
def test_no_column_is_too_odd(column: np.ndarray, epsilon: float) -> None:
    beside = np.arange(column.size, dtype=np.float64)
    data = ask({"odd": column, "beside": beside}, levels=None, epsilon=epsilon, rough=True, rows=50)
    values = data.values["odd"]
    assert len(values) == 50
    assert values.dtype.kind == {"i": "i", "b": "bO", "U": "O", "f": "f"}[column.dtype.kind] or values.dtype.kind in "bOfi"
    assert SyntheticData.from_dict(data.to_dict()).to_dict() == data.to_dict()


def test_one_column_and_many_columns() -> None:
    rows = np.random.default_rng(3).normal(size=(1000, 20))
    assert ask({"x": rows[:, 0]}, levels=None).pairs == ()
    many = ask({f"x{place}": rows[:, place] for place in range(20)}, levels=None, epsilon=20)
    assert len(many.pairs) > 5


def test_constant_columns_stay_constant() -> None:
    data = ask({"x": np.full(3000, 3.5), "y": np.full(3000, 7)}, levels=None)
    assert set(data.values["x"]) == {3.5}
    assert set(data.values["y"]) == {7}


@pytest.mark.floors
def test_few_rows_are_refused() -> None:
    release = dp.synthesize(frame().head(50), epsilon=0.1, levels={"region": REGIONS}, rng=seeded(1))
    assert isinstance(release, dp.NoReply)


@pytest.mark.floors
@pytest.mark.parametrize(("delta", "rows"), [(0, 300), (1e-6, 200)])
def test_rows_above_the_floor_are_no_absurd_numbers_and_a_hopeless_budget_has_no_rough_ones(delta: float, rows: int) -> None:
    generator = np.random.default_rng(1)
    table = {"pay": np.round(generator.normal(40, 10, rows), 2), "age": generator.integers(0, 90, rows)}
    few = {name: values[:50] for name, values in table.items()}
    answered = 0
    for seed in range(4):
        assert isinstance(dp.synthesize(few, epsilon=0.01, delta=delta, rough=True, rng=seeded(seed)), dp.NoReply)
        release = dp.synthesize(table, epsilon=1, delta=delta, rng=seeded(seed))
        if isinstance(release, dp.Release):
            answered += 1
            assert all(abs(np.nanmedian(release.value.values[name])) < 1000 for name in table)
    assert answered


def test_a_session_debits_once_and_answers_again_from_the_archive(tmp_path: Path) -> None:
    session = dp.protect(
        frame(), unit="row", budget=dp.Budget(epsilon=2), ledger=tmp_path / "l.ledger", name="people", keys={"region": REGIONS}
    )
    first = session.synthesize(epsilon=1).value.to_dict()
    assert session.synthesize(epsilon=1).value.to_dict() == first
    assert session.remaining.epsilon == 1
    sketch = session.sketch(epsilon="0.5")
    assert sketch.value.guide
    assert "not for conclusions" in str(sketch.value)
    assert float(session.remaining.epsilon) == 0.5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"focus": "nothing"}, "focus names"),
        ({"focus": 3}, "focus must list"),
        ({"rows": 0}, "rows must be"),
        ({"guide": 1}, "guide must be"),
        ({"levels": None, "delta": 0}, "delta"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(words: dict[str, Any], says: str) -> None:
    with pytest.raises(dp.DpstatsError, match=says):
        ask(**words)


def test_what_the_data_cannot_say_is_an_error() -> None:
    data = ask()
    with pytest.raises(dp.DpstatsError, match="no column"):
        data.table("nothing")
    with pytest.raises(dp.DpstatsError, match="no column"):
        data.interval("mean(nothing)")
    with pytest.raises(dp.DpstatsError, match="no statistic"):
        data.interval("mode of income")
    with pytest.raises(dp.DpstatsError, match="level must be"):
        data.interval("mean(income)", level=2)
