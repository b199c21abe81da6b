"""Selections of features, models and laws: what they find, what a card says, and that one row changes one vote."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpstats as dp
from dpstats.foundations.errors import InvalidParameterError, MissingExtraError, UnknownNameError
from dpstats.foundations.registry import Refusal, ask, find_statistic
from dpstats.statistics import feature_selections, selections
from dpstats.statistics.aggregation.choices import stability_test, steps_of_lead
from dpstats.statistics.aggregation.row_blocks import RowBlocks
from dpstats.statistics.selection import models, votes
from dpstats.statistics.selection.block_counts import (
    blocks_for_bounded_sets,
    blocks_for_marks,
    blocks_for_options,
    blocks_for_stable,
)
from dpstats.statistics.selection.lasso_sets import EXTRA_OF_SETS, lasso_set
from dpstats.statistics.selection.laws import LAWS, best_law
from dpstats.statistics.selection.majorities import Majority, majority_by_counts, majority_by_sets, raw_marks_of
from dpstats.statistics.selection.models import MODELS, best_model, checked_estimators, estimators_of
from dpstats.statistics.selection.simulations import simulated_law
from dpstats.statistics.selection.values import PopularOption, SelectedFeatures
from dpstats.statistics.selection.votes import choices_of, votes_of
from dpstats.testing import seeded

Floats = NDArray[np.float64]
ONE = Fraction(1)
SETS = st.none() | st.sets(st.integers(0, 3)).map(lambda places: tuple(sorted(places)))


def sparse(rows: int, features: int, seed: int = 1, correlation: float = 0.0) -> tuple[Floats, Floats]:
    """Features of which the first three count."""
    chance = np.random.default_rng(seed)
    columns = np.sqrt(correlation) * chance.normal(size=(rows, 1)) + np.sqrt(1 - correlation) * chance.normal(
        size=(rows, features)
    )
    return columns, columns[:, :3] @ np.array([0.5, 0.75, 1.0]) + chance.normal(size=rows)


# Features


@pytest.mark.parametrize("options", [{"delta": 1e-6}, {}, {"at_most": 4}], ids=["stable", "each", "each of few"])
def test_the_features_that_count_are_selected(options: dict[str, Any]) -> None:
    columns, outcome = sparse(10_000, 20, correlation=0.5)
    method = "stable" if options.get("delta") else "each"
    released = dp.select_features(columns, outcome, epsilon=1, rng=seeded(1), method=method, **options)
    assert isinstance(released, dp.Release)
    assert released.value.indices == (0, 1, 2)
    assert list(released.value) == ["x1", "x2", "x3"]
    assert released.method == method
    assert (released.value.shares is not None) == (not options)


@pytest.mark.long
@pytest.mark.parametrize("options", [{"delta": 1e-6}, {"at_most": 5}], ids=["with delta", "at most five"])
@pytest.mark.parametrize(("features", "correlation"), [(20, 0.5), (50, 0.0), (50, 0.5)])
def test_the_right_set_is_found_in_nineteen_tables_of_twenty(features: int, correlation: float, options: dict[str, Any]) -> None:
    found = [
        dp.select_features(*sparse(10_000, features, seed, correlation), epsilon=1, rng=seeded(seed), **options)
        for seed in range(20)
    ]
    assert sum(isinstance(each, dp.Release) and each.value.indices == (0, 1, 2) for each in found) >= 19


def test_names_come_from_the_columns_and_a_release_can_be_archived() -> None:
    columns, outcome = sparse(4000, 3)
    named = dict(zip(("age", "height", "luck"), columns.T, strict=True))
    released = dp.select_features(named, outcome, epsilon=2, delta=1e-6, rng=seeded(1))
    assert isinstance(released, dp.Release)
    assert "age" in released.value
    assert str(released.value) == "age, height, luck of 3 features"
    plain = json.loads(released.to_json())["value"]
    tuples = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    assert find_statistic("select_features").revive(tuples) == released.value


def test_rows_in_which_nothing_counts_give_the_empty_set() -> None:
    columns, _ = sparse(10_000, 10)
    noise = np.random.default_rng(9).normal(size=10_000)
    released = dp.select_features(columns, noise, epsilon=1, delta=1e-6, rng=seeded(1))
    assert isinstance(released, dp.Release)
    assert (len(released.value), str(released.value)) == (0, "none of 10 features")


@pytest.mark.parametrize("options", [{"delta": 1e-6}, {}, {"at_most": 2}])
def test_too_few_rows_get_no_reply(options: dict[str, Any]) -> None:
    columns, outcome = sparse(40, 20)
    assert isinstance(dp.select_features(columns, outcome, epsilon=1, rng=seeded(1), **options), dp.NoReply)


def test_wrong_parameters_are_refused_before_anything_is_read() -> None:
    for wrong in ({"at_most": 0}, {"at_most": 2.0}, {"blocks": 3}, {"blocks": "many"}, {"blocks": True}):
        with pytest.raises(InvalidParameterError, match=r"at_most|blocks"):
            ask("select_features", epsilon=1, **wrong)


def test_a_machine_without_scikit_learn_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models.importlib.util, "find_spec", lambda name: None)
    for name in ("select_features", "select_model"):
        with pytest.raises(MissingExtraError, match=r"dpstats\[models\]"):
            ask(name, epsilon=1, column=["x", "y"])


def test_marks_keep_the_place_of_a_block_without_an_answer() -> None:
    marks = raw_marks_of([(0, 2), None, ()], 3)
    assert marks.tolist() == [[True, True, False, True], [False] * 4, [True, False, False, False]]


# One row, one vote


def pieces_with(row: Floats | None, rows: Floats, monkeypatch: pytest.MonkeyPatch, vote: Any) -> list[Any]:
    """Votes of blocks by fixed coins; the last row is another one, or is gone."""
    changed = rows[:-1] if row is None else np.vstack([rows[:-1], row])
    coins = np.random.default_rng(3).integers(0, 12, len(rows))
    monkeypatch.setattr(votes, "toss_blocks", lambda raw, blocks, rng: RowBlocks(raw, coins[: len(raw)], blocks))
    return votes_of(changed, 12, vote, "testing", seeded(1))


@pytest.mark.parametrize(
    ("kind", "row"),
    [*itertools.product(("features", "laws"), (None, 0.0, 1e6, math.inf, 1e300)), ("models", None), ("models", 1e6)],
)
def test_one_row_changes_the_vote_of_one_block_at_most(kind: str, row: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, outcome = sparse(600, 4)
    rows = np.abs(np.column_stack([columns, outcome])) if kind == "laws" else np.column_stack([columns, outcome])
    vote: Any = {
        "features": partial(lasso_set, at_most=None, extra=EXTRA_OF_SETS),
        "models": partial(best_model, estimators=estimators_of(("linear", "constant", "tree"))),
        "laws": lambda raw: best_law(raw[:, 0], ("gamma", "weibull", "normal")),
    }[kind]
    before = pieces_with(rows[-1], rows, monkeypatch, vote)
    after = pieces_with(None if row is None else np.full(5, row), rows, monkeypatch, vote)
    assert sum(here != there for here, there in zip(before, after, strict=True)) <= 1
    assert None not in before


def test_a_vote_that_fails_or_warns_costs_its_block_the_answer_and_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(raw_rows: Floats) -> int:
        if raw_rows.sum() > 3:
            raise RuntimeError(str(raw_rows))
        np.log(-raw_rows)
        return len(raw_rows)

    found = votes_of(np.arange(6.0)[:, None], 3, fail, "testing", seeded(1))
    assert None in found
    assert len(found) == 3
    assert capsys.readouterr() == ("", "")


# What is made of votes


@given(st.lists(SETS, min_size=1, max_size=8), SETS, st.integers(0, 7))
def test_one_changed_set_moves_every_count_by_at_most_one(
    raw_sets: list[tuple[int, ...] | None], other: tuple[int, ...] | None, place: int
) -> None:
    changed = [*raw_sets]
    changed[place % len(raw_sets)] = other
    moved = raw_marks_of(raw_sets, 4).sum(axis=0) - raw_marks_of(changed, 4).sum(axis=0)
    assert np.abs(moved).max() <= 1


def test_majorities_are_released_and_blocks_without_an_answer_count_as_none() -> None:
    raw_sets: list[tuple[int, ...] | None] = [(0, 3)] * 150 + [(1,)] * 30 + [None] * 20
    found = majority_by_counts(raw_sets, 5, ONE, seeded(1))
    assert isinstance(found, Majority)
    assert found.chosen == (0, 3)
    assert found.shares == pytest.approx((0.75, 0.15, 0.0, 0.75, 0.0), abs=0.1)
    assert majority_by_sets(raw_sets, 5, 2, ONE, seeded(1)) == Majority((0, 3))
    silent: list[tuple[int, ...] | None] = [(0,)] * 40 + [None] * 160
    assert isinstance(majority_by_counts(silent, 5, ONE, seeded(1)), Refusal)
    assert isinstance(majority_by_sets(silent, 5, 2, ONE, seeded(1)), Refusal)


# Blocks


def test_the_stable_number_of_blocks_comes_through_if_a_fifth_of_them_disagree() -> None:
    for epsilon, delta in ((ONE, Fraction(1, 10**6)), (Fraction(1, 4), Fraction(1, 10**9)), (Fraction(3), Fraction(1, 100))):
        blocks = blocks_for_stable(epsilon, delta)
        test = stability_test(epsilon, delta)
        assert test.pass_probability(steps_of_lead(math.ceil(0.6 * blocks), 1)) >= 0.95
        assert blocks == 10 or test.pass_probability(steps_of_lead(math.floor(0.6 * (blocks - 4)), 1)) < 0.95


def test_numbers_of_blocks_at_usual_parameters() -> None:
    assert 45 <= blocks_for_stable(ONE, Fraction(1, 10**6)) <= 60
    assert blocks_for_options(ONE, 3) < 20
    assert blocks_for_bounded_sets(ONE, 50, 5) < blocks_for_marks(ONE, 50)
    assert blocks_for_marks(ONE, 5) < blocks_for_bounded_sets(ONE, 5, 5)


# Models


def test_the_model_that_made_the_rows_is_selected() -> None:
    chance = np.random.default_rng(1)
    columns = chance.normal(size=(2000, 2))
    outcome = columns[:, 0] + columns[:, 1] ** 2 + 0.3 * chance.normal(size=2000)
    released = dp.select_model(columns, outcome, models=["linear", "quadratic", "ridge"], epsilon=1, rng=seeded(1))
    assert isinstance(released, dp.Release)
    assert released.value == "quadratic"
    assert released.method == "noisy_max"
    assert released.cost.delta == 0


def test_every_model_of_the_list_can_win_and_votes_alike_whenever_it_is_asked() -> None:
    chance = np.random.default_rng(2)
    columns = chance.normal(size=(60, 3))
    marks = (columns[:, 0] + chance.logistic(size=60) > 0).astype(np.float64)
    rows = np.column_stack([columns, marks])
    for name in MODELS:
        assert votes.vote_of(rows, partial(best_model, estimators=estimators_of((name,)))) == name
    several = partial(best_model, estimators=estimators_of(("tree", "forest", "logistic", "nearest")))
    np.random.seed(1)  # what others draw must not matter
    first = votes.vote_of(rows, several)
    np.random.seed(2)
    assert votes.vote_of(rows, several) == first


class Predictor:
    """Predicts a number that may depend on the fold, or fails on some fold; rows hold nothing but their fold."""

    def __init__(self, predictions: tuple[float | None, ...] = ()) -> None:
        self.predictions = predictions
        self.calls = 0

    def __sklearn_clone__(self) -> Predictor:
        return self

    def fit(self, features: Floats, outcome: Floats) -> None:
        self.calls += 1

    def predict(self, features: Floats) -> Floats:
        predicted = self.predictions[int(features[0, 0])]
        if predicted is None:
            raise ValueError
        return np.full(len(features), predicted)


@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.0, 0.1, -0.1, 0.3, 1.0, 2.0, 1e200, math.inf, math.nan, None])] * models.FOLDS), min_size=1
    )
)
def test_the_vote_is_for_the_least_mean_squared_error_over_all_folds(predictions: list[tuple[float | None, ...]]) -> None:
    folds = np.arange(3 * models.FOLDS + 2) % models.FOLDS
    rows = np.column_stack([folds, np.zeros(len(folds))])
    with np.errstate(all="ignore"):
        squares = [np.array([math.inf if p is None else p for p in each])[folds] ** 2 for each in predictions]
        errors = [float(np.concatenate([each[folds == fold] for fold in range(models.FOLDS)]).mean()) for each in squares]
    finite = [error if math.isfinite(error) else math.inf for error in errors]
    least = min(finite)
    estimators = {str(place): Predictor(each) for place, each in enumerate(predictions)}
    vote = votes.vote_of(rows, partial(best_model, estimators=estimators))
    assert vote == (str(finite.index(least)) if math.isfinite(least) else None)


def test_a_model_that_can_no_longer_win_is_fitted_no_more() -> None:
    folds = np.arange(50) % models.FOLDS
    good, bad = Predictor((0.1,) * models.FOLDS), Predictor((1.0,) * models.FOLDS)
    assert best_model(np.column_stack([folds, np.zeros(50)]), {"bad": bad, "good": good}) == "good"
    assert (good.calls, bad.calls) == (models.FOLDS, 1)


def test_a_model_that_cannot_be_fitted_does_not_win_its_block() -> None:
    rows = np.column_stack([np.arange(40.0), np.ones(40)])
    assert best_model(rows, estimators_of(("logistic", "linear"))) == "linear"
    assert best_model(rows, estimators_of(("logistic",))) is None
    assert best_model(rows[:5], estimators_of(("linear",))) is None


def test_models_of_an_analyst_are_seeded_and_asked_in_processes_of_their_own() -> None:
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeRegressor

    given = {"line": LinearRegression(), "tree": make_pipeline(DecisionTreeRegressor())}
    own = checked_estimators(given)
    assert own["tree"].get_params()["decisiontreeregressor__random_state"] == 0
    assert given["tree"].get_params()["decisiontreeregressor__random_state"] is None
    columns, outcome = sparse(120, 3)
    pieces = [(np.column_stack([columns[i::2], outcome[i::2]]),) for i in range(2)]
    raw = choices_of([partial(best_model, estimators=own)], pieces, workers=1)
    assert raw == [best_model(piece[0], own) for piece in pieces]
    for wrong in ({"line": LinearRegression()}, {"line": LinearRegression(), "none": 3}, ["linear"]):
        with pytest.raises(InvalidParameterError, match="estimator"):
            checked_estimators(wrong)


# Laws


@pytest.mark.parametrize("family", ["normal", "lognormal", "gamma"])
def test_the_law_that_made_the_rows_is_selected(family: str) -> None:
    chance = np.random.default_rng(4)
    rows = {"normal": chance.normal(5, 2, 3000), "lognormal": chance.lognormal(9, 0.8, 3000), "gamma": chance.gamma(2, 3, 3000)}
    released = dp.select_family(rows[family], epsilon=1, rng=seeded(1))
    assert isinstance(released, dp.Release)
    assert released.value == family


def test_popularity_is_bought_with_a_part_of_epsilon_and_has_an_interval() -> None:
    rows = np.random.default_rng(4).lognormal(9, 0.8, 5000)
    for options in ({}, {"method": "stable", "delta": 1e-6}):
        released = dp.select_family(rows, popularity=True, epsilon=1, rng=seeded(1), **options)
        assert isinstance(released, dp.Release)
        assert isinstance(released.value, PopularOption)
        assert released.value.name == "lognormal"
        assert released.interval is not None
        assert released.interval.low <= released.value.popularity <= released.interval.high
        assert released.interval.high - released.interval.low <= 0.4
        plain = json.loads(released.to_json())["value"]
        assert find_statistic("select_family").revive(plain) == released.value
    assert find_statistic("select_family").revive("gamma") == "gamma"


def test_every_law_of_the_list_knows_its_own_rows() -> None:
    from scipy import stats

    chance = np.random.default_rng(5)
    drawn = {
        "weibull": chance.weibull(1.5, 800),
        "exponential": chance.exponential(4, 800),
        "laplace": chance.laplace(3, 2, 800),
        "cauchy": chance.standard_cauchy(800),
        "student": chance.standard_t(4, 800),
        "uniform": chance.random(800),
        "gumbel": chance.gumbel(3, 2, 800),
        "pareto": 2 * (1 + chance.pareto(2, 800)),
        "beta": chance.beta(2, 5, 800),
        "inverse_gaussian": stats.invgauss.rvs(2.0, size=800, random_state=chance),
    }
    for name, rows in drawn.items():
        assert best_law(rows, (name, "normal")) == name
    counts = {"poisson": chance.poisson(4, 800), "geometric": chance.geometric(0.2, 800) - 1}
    counts["negative_binomial"] = chance.negative_binomial(3, 0.2, 800)
    for name, rows in counts.items():
        others = [each for each in counts if (name, each) != ("geometric", "negative_binomial")]  # of which it is a special case
        assert best_law(rows.astype(np.float64), others) == name
    assert set(LAWS) - {*drawn, *counts} == {"normal", "lognormal", "gamma", "logistic"}


def test_a_weibull_law_is_fitted_as_by_scipy() -> None:
    from scipy.stats import weibull_min

    chance = np.random.default_rng(7)
    for rows in (chance.weibull(2.5, 60), chance.normal(50, 10, 60), chance.lognormal(10, 0.7, 300), chance.gamma(0.3, 1, 20)):
        theirs = 4 - 2 * weibull_min.logpdf(rows, *weibull_min.fit(rows, floc=0)).sum()
        assert LAWS["weibull"].criterion(rows) == pytest.approx(theirs, abs=1e-5)
    assert LAWS["weibull"].criterion(np.full(20, 3.0)) == math.inf


def test_pareto_and_beta_laws_are_fitted_as_by_scipy() -> None:
    from scipy.stats import beta, pareto

    chance = np.random.default_rng(8)
    for rows in (chance.beta(0.7, 3, 60), chance.beta(20, 5, 30), chance.random(40)):
        theirs = 4 - 2 * beta.logpdf(rows, *beta.fit(rows, floc=0, fscale=1)).sum()
        assert LAWS["beta"].criterion(rows) == pytest.approx(theirs, abs=1e-4)
    for rows in (1 + chance.pareto(2, 60), 7 * (1 + chance.pareto(0.5, 30)), chance.gamma(2, 1, 40)):
        theirs = 4 - 2 * pareto.logpdf(rows, *pareto.fit(rows, floc=0)).sum()
        assert LAWS["pareto"].criterion(rows) == pytest.approx(theirs, abs=1e-4)
    for name in ("beta", "pareto"):
        assert LAWS[name].criterion(np.full(20, 0.5)) == math.inf
        assert LAWS[name].criterion(np.array([0.0, *chance.random(20)])) == math.inf
    assert LAWS["beta"].criterion(np.array([1.0, *chance.random(20)])) == math.inf


def test_every_law_can_be_planned_on_rows_of_its_own() -> None:
    for name, law in LAWS.items():
        other = next(each for each in LAWS if each != name and LAWS[each].discrete == law.discrete)
        question = ask("select_family", families=[name, other], epsilon=1)
        rows = simulated_law(question, 50, np.random.default_rng(1)).rows[:, 0]
        assert law.criterion(rows) < math.inf


def test_a_family_that_cannot_have_made_a_row_says_on_the_card_that_it_loses_the_block() -> None:
    rows = np.random.default_rng(4).lognormal(1, 0.5, 3000)
    with_zeros = np.where(np.arange(3000) % 10 == 0, 0.0, rows)
    families = ["normal", "lognormal"]
    released = dp.select_family(rows, families=families, epsilon=2, rng=seeded(1))
    assert released.value == "lognormal"
    assert dict(released.notes)["families"].startswith("one that cannot have made a number of a block loses the block")
    assert dp.select_family(with_zeros, families=families, epsilon=2, rng=seeded(1)).value == "normal"


def test_laws_that_could_not_have_made_a_row_are_out() -> None:
    rows = np.append(np.random.default_rng(6).gamma(2, 1, 100), -1.0)
    assert best_law(rows, ("gamma", "lognormal")) is None
    assert best_law(rows, ("gamma", "normal")) == "normal"
    assert best_law(rows + 0.5, ("poisson", "geometric")) is None
    assert best_law(np.append(rows, math.inf), ("gamma", "normal")) is None


def test_names_that_mean_the_same_law_elsewhere_are_understood() -> None:
    others = {"t": "student", "norm": "normal", "gaussian": "normal", "gumbel_r": "gumbel"}
    for name, ours in others.items():
        assert ask("select_family", families=[name, "gamma"], epsilon=1).arguments["families"] == (ours, "gamma")
    assert ask("select_family", families=["nbinom", "poisson"], epsilon=1).arguments["families"][0] == "negative_binomial"
    with pytest.raises(InvalidParameterError, match="twice"):
        ask("select_family", families=["t", "student"], epsilon=1)


@pytest.mark.parametrize(
    ("statistic", "word", "name", "meant"),
    [
        ("select_family", "families", "lognorm", "lognormal"),
        ("select_family", "families", "weibull_min", "weibull"),
        ("select_family", "families", "Gamma", "gamma"),
        ("select_model", "models", "liner", "linear"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest_one(statistic: str, word: str, name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{word} has no {name!r}; did you mean {meant!r}"):
        ask(statistic, epsilon=1, **{word: [name, meant]})  # type: ignore[arg-type]


def test_lists_of_names_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="zipf"):
        ask("select_family", families=["zipf", "normal"], epsilon=1)
    with pytest.raises(InvalidParameterError, match="compared"):
        ask("select_family", families=["poisson", "normal"], epsilon=1)
    for wrong in (["normal"], "normal", ["normal", "normal"]):
        with pytest.raises(InvalidParameterError, match="families"):
            ask("select_family", families=wrong, epsilon=1)
    with pytest.raises(InvalidParameterError, match="popularity"):
        ask("select_family", popularity=1, epsilon=1)


# Analysts


def test_each_analyst_sees_a_piece_of_their_own() -> None:
    functions = [lambda rows: ("even", len(rows)), lambda rows: ("odd", len(rows))]
    raw = choices_of(functions, [([1] * size,) for size in range(4)], workers=0)
    assert raw == [("even", 0), ("odd", 1), ("even", 2), ("odd", 3)]
    with pytest.raises(InvalidParameterError, match="function"):
        choices_of([], [])


# Cards


def test_cards_tell_of_blocks_and_hold_nothing_from_the_rows() -> None:
    for statistic in (feature_selections.SELECT_FEATURES, selections.SELECT_MODEL, selections.SELECT_FAMILY):
        assert statistic.simulate is not None
        question = ask(statistic.name, epsilon=1, column=["x1", "y"] if statistic.takes_features else "x")
        rows = statistic.simulate(question, 500, np.random.default_rng(1)).rows
        assert rows.shape == (500, len(question.columns))
    columns, outcome = sparse(4000, 4)
    released = dp.select_features(columns, outcome, epsilon=1, delta=1e-6, method="stable", rng=seeded(1))
    assert isinstance(released, dp.Release)
    notes = dict(released.notes)
    assert notes["blocks"].startswith(f"{blocks_for_stable(ONE, Fraction(1, 10**6))};")
    assert "not even how many" in notes["public"]
    assert isinstance(released.value, SelectedFeatures)
