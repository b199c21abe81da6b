"""Densities: they integrate to one at every bandwidth, come near kernel estimates, and are asked everywhere in the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.data import survey
from dpstats.pictures.releases import plot_answers
from dpstats.statistics.box_tree.density import Density
from dpstats.testing import seeded

PEOPLE = pd.DataFrame(survey())


def density_of(*names: str, seed: int = 1, **words: Any) -> Density:
    release = dp.density(PEOPLE[list(names)], **{"epsilon": 1, "rng": seeded(seed), **words})
    assert isinstance(release, dp.Release)
    return release.value


AGE, BOTH = density_of("age"), density_of("age", "hours")


@pytest.mark.parametrize("bandwidth", [None, 0, 1, 7])
def test_a_density_integrates_to_one(bandwidth: float | None) -> None:
    places = np.linspace(-250, 350, 12_000, endpoint=False)
    assert AGE(places, bandwidth).sum() / 20 == pytest.approx(1, abs=1e-3)
    sides = np.linspace(-150, 250, 100, endpoint=False)
    grid = np.stack(np.meshgrid(sides, sides, indexing="ij"), axis=-1).reshape(-1, 2)
    if bandwidth is None or bandwidth > 5:  # the others are finer than the grid
        assert BOTH(grid, bandwidth).sum() * 16 == pytest.approx(1, abs=2e-2)


def test_it_comes_near_the_kernel_estimate() -> None:
    stats = pytest.importorskip("scipy.stats")
    places = np.linspace(0, 120, 600)
    usual = stats.gaussian_kde(PEOPLE["age"])(places)
    assert np.abs(AGE(places) - usual).sum() * 0.2 < 0.06
    assert AGE.bandwidth[0] == pytest.approx(PEOPLE["age"].std() * 5000**-0.2, rel=0.1)


def test_intervals_hold_the_density_of_the_population() -> None:
    truth, held = density_of("age", epsilon=10**6), []
    places = np.quantile(PEOPLE["age"], [0.1, 0.3, 0.5, 0.7, 0.9])
    for seed in range(12):
        again = dp.density(PEOPLE["age"].sample(5000, replace=True, random_state=seed), epsilon=1, rng=seeded(seed)).value
        band = again.interval(places, bandwidth=4)
        held.append((band.low <= truth(places, 4)) & (truth(places, 4) <= band.high))
    assert np.mean(held) > 0.8


def test_errors_fall_with_epsilon_and_bandwidth() -> None:
    assert density_of("age", epsilon=0.2).error(40) > density_of("age", epsilon=50).error(40)
    assert AGE.error(40, 1) > AGE.error(40, 10)


def test_probabilities_are_those_of_the_rows() -> None:
    for low, high in ((20, 40), (60, 200), (-np.inf, np.inf)):
        assert AGE.probability(low, high) == pytest.approx(PEOPLE["age"].between(low, high).mean(), abs=0.03)
    inside = (PEOPLE["age"] < 50) & (PEOPLE["hours"] < 30)
    assert BOTH.probability([-np.inf, -np.inf], [50, 30]) == pytest.approx(inside.mean(), abs=0.03)


def test_one_point_gives_a_number_and_several_give_an_array() -> None:
    assert isinstance(AGE(40), float)
    assert AGE([40, 50]).shape == (2,)
    assert isinstance(BOTH([40, 30]), float)
    assert BOTH([[40, 30], [50, 20]]).shape == (2,)
    assert BOTH(pd.DataFrame({"hours": [30.0], "age": [40.0]})) == pytest.approx(BOTH([[40, 30]]))
    assert AGE([]).shape == (0,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BOTH(40), "2 numbers each, one for each of age, hours"),
        (lambda: AGE("x"), "points must be numbers"),
        (lambda: AGE(np.nan), "must not be missing"),
        (lambda: AGE(40, -1), "bandwidth must be a number that is 0 or more"),
        (lambda: AGE.interval(40, 2), "level must be from 0.5"),
        (lambda: density_of("age", "hours", "schooling", "income"), "density takes from 1 to 3 columns"),
    ],
)
def test_what_cannot_be_asked_is_refused(call: Any, words: str) -> None:
    with pytest.raises((dp.InvalidParameterError, dp.DataTypeError), match=words):
        call()


@pytest.mark.floors
def test_few_rows_get_no_reply_unless_a_rough_one_is_wanted() -> None:
    few = PEOPLE["age"][:300]
    assert isinstance(dp.density(few, epsilon=1, rng=seeded(1)), dp.NoReply)
    rough = dp.density(few, epsilon=1, rough=True, rng=seeded(1))
    assert isinstance(rough, dp.Release)
    assert rough.rough
    assert isinstance(dp.density(few[:20], epsilon=1, rough=True, rng=seeded(1)), dp.NoReply)


def test_columns_that_hardly_vary_have_a_density_too() -> None:
    for column in (np.zeros(5_000), np.full(5_000, 1e12), np.repeat([0.0, 1.0], 2_500)):
        found = dp.density(column, epsilon=1, rng=seeded(2)).value
        assert found.probability(-np.inf, np.inf) == pytest.approx(1)
        assert np.isfinite(found(np.quantile(column, 0.3)))


def test_it_comes_back_from_its_plain_form() -> None:
    again = Density.from_dict(json.loads(json.dumps(BOTH.to_dict())))
    assert (again([[40, 30]]) == BOTH([[40, 30]])).all()
    assert str(again) == str(BOTH)
    assert list(BOTH.to_pandas().columns) == ["age from", "age to", "hours from", "hours to", "rows"]


def test_the_distance_of_two_densities_is_that_of_their_probabilities() -> None:
    assert AGE.distance(AGE) == 0
    assert 0 < AGE.distance(density_of("age", seed=2)) < 0.05
    assert AGE.distance(dp.density(PEOPLE["age"] + 500, epsilon=1, rng=seeded(1)).value) == pytest.approx(1, abs=0.02)


def test_a_session_a_document_and_the_command_line_ask_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    survey_ = dp.protect(
        tmp_path / "people.parquet", unit="row", budget=dp.Budget(epsilon=9), ledger=":memory:", allow_seeded=True
    )
    direct = dp.density(PEOPLE[["age", "hours"]], epsilon=1, rng=seeded(5))
    asked = survey_.density("age", "hours", epsilon=1, rng=seeded(5))
    assert asked.value.to_dict() == direct.value.to_dict()
    document = {"version": 1, "statistic": "density", "columns": ["age", "hours"], "epsilon": "1"}
    assert survey_.ask(document, rng=seeded(5)).value.to_dict() == direct.value.to_dict()
    assert main(["ask", str(tmp_path / "people.parquet"), "density(age)", "--epsilon", "1", "--seed", "1"]) == exits.ANSWERED
    assert "a density in" in capsys.readouterr().out


def test_curves_and_maps_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for names, word in ((("age",), "noise and sampling"), (("age", "hours"), "hours"), (("age", "hours", "schooling"), "boxes")):
        release = dp.density(PEOPLE[list(names)], epsilon=1, rng=seeded(1))
        plot_answers(tmp_path / "a.svg", [release])
        assert word in (tmp_path / "a.svg").read_text(encoding="utf-8")
