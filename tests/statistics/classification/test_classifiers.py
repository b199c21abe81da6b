"""Classifiers: what they find, predict, keep and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.curator.publishing.value_tables import tables_of
from dpstats.foundations.registry import find_statistic
from dpstats.statistics.classification.features import CodedFeature
from dpstats.statistics.classification.smoothing import smoothed
from dpstats.testing import seeded

STATISTICS = ["additive_classifier", "naive_bayes", "decision_tree"]
METHODS = [(name, method) for name in STATISTICS for method in find_statistic(name).methods]
ROWS = 2_000
CHANCE = np.random.default_rng(2)
AGE = CHANCE.normal(45, 15, ROWS)
REGION = np.array(["north", "south", "west"])[CHANCE.integers(0, 3, ROWS)]
SCORE = (AGE - 45) / 8 + np.where(REGION == "north", 3.0, 0.0) - 1
BUYS = np.where(SCORE + CHANCE.logistic(size=ROWS) > 0, "yes", "no")
FRAME = pd.DataFrame({"age": AGE, "region": REGION, "noise": CHANCE.integers(0, 9, ROWS)})
REGIONS = {"region": ["north", "south", "west"]}


def asked(statistic: str = "additive_classifier", features: Any = FRAME, outcome: Any = BUYS, **words: Any) -> Any:
    common = {"classes": ["no", "yes"], "levels": REGIONS, "epsilon": 4, "rng": seeded(1)}
    return getattr(dp, statistic)(features, outcome, **{**common, **words})


@pytest.mark.parametrize(("statistic", "method"), METHODS)
def test_every_method_predicts_new_rows(statistic: str, method: str) -> None:
    needs_delta = find_statistic(statistic).methods[method].needs_delta
    release = asked(statistic, method=method, **({"delta": 1e-6} if needs_delta else {}))
    model = release.value
    best = ((SCORE > 0) == (BUYS == "yes")).mean()
    assert (model.predict(FRAME) == BUYS).mean() > best - 0.04
    assert abs(model.agreement.part - (model.predict(FRAME) == BUYS).mean()) < 5 * model.agreement.error + 1e-6
    probabilities = model.predict_proba(FRAME)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(np.array(["no", "yes"])[probabilities.argmax(axis=1)], model.predict(FRAME))
    again = find_statistic(statistic).revive(json.loads(json.dumps(model.to_dict())))
    assert np.array_equal(again.predict_proba(FRAME), probabilities)
    assert again.to_dict() == model.to_dict()
    assert str(model) in str(release)
    assert "region" in model.text()


@pytest.mark.parametrize("statistic", STATISTICS)
def test_three_classes_and_labels_that_nobody_listed(statistic: str) -> None:
    outcome = np.where(AGE < 35, "young", np.where(AGE < 55, "middle", "old"))
    release = asked(statistic, outcome=outcome, classes=None, levels=None, delta=1e-6)
    model = release.value
    assert model.classes == ("middle", "old", "young")
    assert (model.predict(FRAME) == outcome).mean() > 0.85
    assert model.predict_proba(FRAME).shape == (ROWS, 3)


def test_effects_are_those_of_a_logistic_model_where_there_is_no_noise() -> None:
    steps = np.floor(AGE / 10).clip(2, 7).astype(int)
    truth = 0.8 * (steps - 4) + np.where(REGION == "north", 2.0, 0.0) - 0.5
    marks = (truth + np.random.default_rng(3).logistic(size=ROWS) > 0).astype(int)
    model = asked(features={"step": steps, "region": REGION}, outcome=marks, classes=None, epsilon=1_000).value
    probabilities = model.predict_proba({"step": steps, "region": REGION})[:, 1]
    assert np.abs(probabilities - 1 / (1 + np.exp(-truth))).mean() < 0.06


def test_missing_cells_count_as_a_value() -> None:
    missing = np.where(BUYS == "yes", CHANCE.random(ROWS) < 0.7, CHANCE.random(ROWS) < 0.1)
    features = {"age": np.where(missing, np.nan, AGE)}
    model = asked(features=features, levels=None).value
    assert model.predict({"age": [np.nan, None]}).tolist() == ["yes", "yes"]
    assert "missing" in model.features[0].names


def test_rows_without_one_of_the_classes_are_left_out() -> None:
    outcome = BUYS.astype(object)
    outcome[::7] = None
    outcome[1::7] = "perhaps"
    assert set(asked(outcome=outcome).value.predict(FRAME)) == {"no", "yes"}


def test_arrays_have_columns_by_place() -> None:
    numbers = FRAME[["age", "noise"]].to_numpy()
    release = asked(features=numbers, outcome=(AGE > 45).astype(int), classes=None, levels=None)
    assert [feature.name for feature in release.value.features] == ["x1", "x2"]
    assert (release.value.predict(numbers) == (AGE > 45)).mean() > 0.95
    assert release.question.startswith("additive_classifier([x1, x2], y")


@pytest.mark.floors
@pytest.mark.parametrize("statistic", STATISTICS)
def test_few_rows_are_refused(statistic: str) -> None:
    few = FRAME.iloc[:20]
    assert isinstance(asked(statistic, few, BUYS[:20], epsilon=1), dp.NoReply)


def test_classes_that_few_rows_have_are_a_refusal() -> None:
    reply = asked(outcome=[f"name {place}" for place in range(ROWS)], classes=None, delta=1e-6)
    assert isinstance(reply, dp.NoReply)
    assert "two classes" in reply.reason


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"classes": ["yes"]}, dp.InvalidParameterError, "from 2 to 50"),
        ({"classes": ["yes", "yes"]}, dp.InvalidParameterError, "each once"),
        ({"classes": "yes"}, dp.InvalidParameterError, "list of labels"),
        ({"classes": None}, dp.MissingParameterError, "classes in 'y' are not known"),
        ({"levels": None}, dp.MissingParameterError, "labels of 'region' are not known"),
        ({"levels": {"colour": ["red"]}}, dp.InvalidParameterError, "colour"),
        ({"method": "id3"}, dp.UnknownNameError, "no method 'id3'"),
    ],
)
def test_complaints_are_about_public_things(words: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asked(**words)


def test_predictions_complain_about_columns_that_are_not_there() -> None:
    model = asked().value
    with pytest.raises(dp.UnknownNameError, match="needs a column 'noise'"):
        model.predict(FRAME[["age", "region"]])
    with pytest.raises(dp.DataTypeError, match="3 features"):
        model.predict([[1, 2]])


def test_a_session_asks_by_name_in_groups_and_for_units() -> None:
    table = FRAME.assign(buys=BUYS, person=np.arange(ROWS) // 2)
    words: dict[str, Any] = {"budget": dp.Budget(epsilon=100, delta=1e-3), "ledger": ":memory:", "allow_seeded": True}
    survey = dp.protect(table, unit="person", max_rows_per_unit=2, **words)
    release = survey.additive_classifier(
        ["age", "region"], "buys", classes=["no", "yes"], levels=REGIONS, epsilon=8, delta=1e-6, rng=seeded(2)
    )
    assert (release.value.predict(FRAME) == BUYS).mean() > 0.75
    by = dp.protect(table, unit="row", **words).group_by("region", keys=["north", "south"])
    grouped = by.decision_tree(["age"], "buys", classes=["no", "yes"], epsilon=4, rng=seeded(2))
    assert [type(reply.value).__name__ for reply in grouped.values()] == ["DecisionTreeModel"] * 2


def test_codes_of_new_cells_are_those_of_rows() -> None:
    numbers = CodedFeature("x", (0, 1, 2, 3), (0.3, 2.0))
    assert numbers.codes_of(np.array([0.1, 0.1 + 0.2, 2.0, np.nan, np.inf])).tolist() == [0, 1, 2, 3, 2]
    assert numbers.names == ("below 0.3", "0.3 to 2", "2 and more", "missing")
    labels = CodedFeature("k", (0, 1, 1, 2, 2), labels=("a", "b", 3), is_labels=True)
    assert labels.codes_of(["a", "b", 3, "z", None]).tolist() == [0, 1, 1, 2, 2]
    assert labels.names == ("a", "others", "others")
    for feature in (numbers, labels):
        assert CodedFeature.from_dict(json.loads(json.dumps(feature.to_dict()))) == feature


def test_smoothing_is_the_posterior_mean_of_an_autoregression() -> None:
    values, variances = np.array([1.0, 1.2, 0.9, 1.1, -2.0]), np.full(5, 0.01)
    found = smoothed(values, variances, 4)
    assert np.abs(found - values).max() < 0.1
    assert np.abs(smoothed(values, np.full(5, 1e6), 4)).max() < 1e-3
    likeness, spread = 0.85, 1.0
    places = np.arange(4)
    prior = spread**2 * likeness ** np.abs(places[:, None] - places)
    exact = prior @ np.linalg.solve(prior + np.diag(variances[:4]), values[:4])
    assert np.allclose(found[:4], exact, atol=0.05)


def test_text_of_a_tree_shows_its_splits() -> None:
    text = asked("decision_tree", epsilon=50).value.text()
    assert "age below" in text
    assert "region is" in text


@pytest.mark.parametrize("statistic", STATISTICS)
def test_releases_are_drawn_summed_up_and_published(statistic: str, tmp_path: Path) -> None:
    release = asked(statistic)
    for ending in ("svg", "png"):
        release.plot(tmp_path / f"drawn.{ending}")
    assert "region" in (tmp_path / "drawn.svg").read_text(encoding="utf-8")
    assert release.summary().splitlines()[0] == str(release.value)
    [(name, table)] = tables_of(release).items()
    assert name == ("leaves" if statistic == "decision_tree" else "effects")
    assert len(table.lines) == len(list(release.value.rows()))
    assert {len(line) for line in table.lines} == {len(table.heads)}
    assert "agreement" in str(release.card())


@pytest.mark.floors
@pytest.mark.parametrize("statistic", STATISTICS)
def test_plans_say_how_often_there_is_a_reply(statistic: str) -> None:
    few, many = (dp.plan(statistic, n=n, epsilon=1, features=2, shape="normal", repeats=3) for n in (20, 3_000))
    assert "no reply 100%" in str(few)
    assert "no reply 100%" not in str(many)
