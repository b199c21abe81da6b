"""Classes of nearest neighbours: predictions follow from the released boxes, and every way of asking gives the same ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.pictures.releases import plot_answers
from dpstats.statistics.box_tree.neighbors import NeighborClasses
from dpstats.testing import seeded

CLASSES = ["low", "middle", "high"]


def rows(count: int = 4_000) -> pd.DataFrame:
    chance = np.random.default_rng(3)
    x, z = chance.normal(size=count), chance.uniform(0, 10, count)
    kind = np.select([x + z / 5 < 0.5, x + z / 5 < 1.5], CLASSES[:2], CLASSES[2])
    kind[:50] = "unheard of"
    return pd.DataFrame({"x": x, "z": z, "kind": kind})


ROWS = rows()


def neighbors(table: Any = ROWS, **words: Any) -> NeighborClasses:
    settings = {"classes": CLASSES, "epsilon": 1, "rng": seeded(1), **words}
    release = dp.nearest_neighbors(table[["x", "z"]], table["kind"], **settings)
    assert isinstance(release, dp.Release)
    return release.value


FOUND = neighbors()


def test_predictions_are_right_for_most_rows() -> None:
    known = ROWS[50:]
    assert np.mean(FOUND.predict(known[["x", "z"]]) == known["kind"]) > 0.85
    shares = FOUND.predict_proba(known[["x", "z"]])
    assert shares.sum(axis=1) == pytest.approx(1)
    assert FOUND.predict([-2, 1]) == "low"
    assert FOUND.predict_proba([3.0, 9.0])[2] > 0.9


def test_with_much_epsilon_the_rows_around_a_point_are_counted() -> None:
    exact = neighbors(epsilon=10**6)
    assert exact.rows == 3_950
    around = exact.rows_around([0.0, 5.0], least=4_000)
    assert list(around.values()) == [int((ROWS["kind"] == name).sum()) for name in CLASSES]
    assert sum(exact.rows_around([0.0, 5.0], least=30).values()) >= 30


def test_more_neighbors_make_shares_more_alike() -> None:
    few, many = (FOUND.predict_proba([-2.0, 1.0], k) for k in (1, 10**6))
    assert few.max() > many.max()
    for k in (0, -1, np.inf, True, "x"):
        with pytest.raises(dp.InvalidParameterError, match="k must be a positive number"):
            FOUND.predict([0, 0], k)  # type: ignore[arg-type]


@pytest.mark.parametrize("of", [pl.from_pandas, lambda table: table], ids=["polars", "pandas"])
def test_containers_give_the_same_boxes(of: Any) -> None:
    assert neighbors(of(ROWS)).to_dict() == FOUND.to_dict()


def test_numbers_and_bools_are_classes_too() -> None:
    marks = (ROWS["x"] > 0).rename("mark")
    for outcome, classes in ((marks, [False, True]), (marks.astype(int), [0, 1]), (marks.astype(float), [0, 1])):
        found = dp.nearest_neighbors(ROWS[["x"]], outcome, classes, epsilon=1, rng=seeded(1)).value
        assert found.predict([[-1.0], [1.0]]).tolist() == classes


def test_rows_without_a_class_or_a_number_are_left_out() -> None:
    holes = ROWS.copy()
    holes.loc[100:199, "kind"] = None
    holes.loc[200:299, "x"] = np.nan
    assert neighbors(holes, epsilon=10**6).rows == 3_750


def test_it_comes_back_from_its_plain_form() -> None:
    again = NeighborClasses.from_dict(json.loads(json.dumps(FOUND.to_dict())))
    assert (again.predict_proba([[0, 1]]) == FOUND.predict_proba([[0, 1]])).all()
    assert str(again) == str(FOUND)
    assert "low, middle and high" in str(again)
    assert list(FOUND.to_pandas().columns) == ["x from", "x to", "z from", "z to", *CLASSES]


def test_a_session_a_document_and_the_command_line_ask_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ROWS.to_parquet(tmp_path / "rows.parquet")
    file = tmp_path / "rows.parquet"
    session = dp.protect(file, unit="row", budget=dp.Budget(epsilon=9), ledger=":memory:", allow_seeded=True)
    asked = session.nearest_neighbors(["x", "z"], "kind", CLASSES, epsilon=1, rng=seeded(1))
    assert asked.value.to_dict() == FOUND.to_dict()
    document = {
        "version": 1,
        "statistic": "nearest_neighbors",
        "features": ["x", "z"],
        "outcome": "kind",
        "parameters": {"classes": CLASSES},
        "epsilon": "1",
    }
    assert session.ask(document, rng=seeded(1)).value.to_dict() == FOUND.to_dict()
    question = "nearest_neighbors([x, z], kind, [low, middle, high])"
    assert main(["ask", str(file), question, "--epsilon", "1", "--seed", "1"]) == exits.ANSWERED
    assert "neighbours in" in capsys.readouterr().out


def test_too_many_features_are_refused() -> None:
    with pytest.raises(dp.InvalidParameterError, match="12"):
        dp.nearest_neighbors(np.zeros((50, 13)), np.zeros(50), [0, 1], epsilon=1)


def test_maps_and_shares_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for names, word in ((["x"], "part of the rows"), (["x", "z"], "around here")):
        plot_answers(tmp_path / "a.svg", [dp.nearest_neighbors(ROWS[names], ROWS["kind"], CLASSES, epsilon=1, rng=seeded(1))])
        assert word in (tmp_path / "a.svg").read_text(encoding="utf-8")
