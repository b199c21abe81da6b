"""Plans of regressions: simulated features and outcomes, and what is measured of their coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.main import main
from dpstats.curator.planning.feature_tables import COUNT, coefficient_of, drawn_features
from dpstats.curator.planning.pairs import PairTable, drawn_places
from dpstats.curator.planning.shapes import SHAPES
from dpstats.foundations import registry
from dpstats.foundations.randomness import RandomSource, random_bits
from dpstats.foundations.registry import Answer, Outcomes, Question, Reads, Refusal, Statistic
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import Table
from tests.engines.stores.ugly import Products


@dataclass(frozen=True)
class Slopes:
    """A fit, as far as a plan looks at it."""

    coef: tuple[float, ...]


def slopes(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Least squares and noise of one over epsilon; not private. No reply where the features do not vary."""
    rows = table.matrix()
    design = np.column_stack([np.ones(len(rows)), rows[:, :-1]])
    fitted, _, rank, _ = np.linalg.lstsq(design, rows[:, -1])
    if rank < design.shape[1]:
        return Refusal("The test failed.", "Ask otherwise.")
    noise = np.random.default_rng(random_bits(rng, 64)).normal(0, 1 / float(question.epsilon), fitted.size)
    ends = [Interval(value - 3, value + 3, 0.9, "it") for value in (fitted + noise)[1:].tolist()]
    return Answer(Slopes(tuple((fitted + noise)[1:].tolist())), intervals=(Interval(-1e9, 1e9, 0.9, "all"), *ends))


@pytest.fixture(autouse=True)
def _slopes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    statistic = Statistic("slopes", "Only for tests.", reads=(Reads.FEATURES, Reads.NUMBERS))
    registry.method(statistic, "plain", claim="none")(slopes)
    monkeypatch.setitem(registry._STATISTICS, "slopes", statistic)
    yield
    vars(dp).pop("slopes", None)


def planned(*given: Any, **changes: Any) -> Any:
    settings: dict[str, Any] = {"epsilon": 1, "n": 500, "shape": "normal", "repeats": 20, "rng": dp.testing.seeded(1), **changes}
    return dp.plan(*given, **settings)


def test_features_have_the_shape_and_the_outcome_has_coefficients_of_one() -> None:
    rows = drawn_features(SHAPES["normal"], 3, 20_000, np.random.default_rng(2)).matrix()
    assert rows.shape == (20_000, 4)
    assert np.abs(rows[:, :3].mean(axis=0) - np.pi).max() < 0.05
    correlations = np.asarray(np.corrcoef(rows[:, :3].T))[np.triu_indices(3, 1)]
    assert np.abs(correlations - 0.5).max() < 0.03
    centred = rows - np.pi
    explained = centred[:, :3].sum(axis=1)
    assert abs((centred[:, 3] - explained).var() / explained.var() - 1) < 0.05
    assert abs(np.asarray(np.corrcoef(explained, centred[:, 3] - explained))[0, 1]) < 0.03


@pytest.mark.parametrize("outcomes", Outcomes)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_makes_a_table(shape: str, outcomes: Outcomes) -> None:
    rows = drawn_features(SHAPES[shape], 2, 300, np.random.default_rng(3), outcomes).matrix()
    assert rows.shape == (300, 3)
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("features", [1, 3])
def test_marks_and_counts_follow_the_stated_coefficients(features: int) -> None:
    chance, shape = np.random.default_rng(4), SHAPES["delays"]
    middle = float(shape.values_at(np.array([0.5]))[0])
    for outcomes, mean in ((Outcomes.MARKS, expit), (Outcomes.COUNTS, lambda predictor: COUNT * np.exp(predictor))):
        rows = drawn_features(shape, features, 40_000, chance, outcomes).matrix()
        predictors = coefficient_of(shape, features, outcomes) * (rows[:, :-1] - middle).sum(axis=1)
        for low, high in ((-9.0, -0.2), (-0.2, 0.4), (0.4, 9.0)):
            some = (low <= predictors) & (predictors < high)
            expected, outcome = mean(predictors[some]), rows[some, -1]
            assert some.sum() > 2_000
            assert abs(outcome.mean() - expected.mean()) < 4 * outcome.std() / np.sqrt(some.sum())
        assert set(np.unique(rows[:, -1])) == {0.0, 1.0} if outcomes is Outcomes.MARKS else (rows[:, -1] % 1 == 0).all()


@pytest.mark.parametrize(("kind", "coefficient"), [("logistic", 0.3963), ("poisson", 0.3963), ("linear", 1.0)])
def test_a_regression_is_planned_with_outcomes_that_it_takes(kind: str, coefficient: float) -> None:
    (row,) = planned(f"{kind}_regression", features=3, epsilon=2, n=3000, repeats=2).rows
    assert row.shape_value == pytest.approx((coefficient,) * 3, abs=1e-4)
    assert row.reply_probability == 1
    assert row.error_median is not None
    assert row.error_median < coefficient / 2


def test_a_plan_measures_coefficients_and_not_the_intercept() -> None:
    (row,) = planned("slopes", epsilon=2, features=3, repeats=60).rows
    assert row.shape_value == (1.0, 1.0, 1.0)
    assert row.half_width == pytest.approx(3)
    assert row.relative_half_width == pytest.approx(3)
    assert row.coverage == 1
    assert 0.3 < row.error_median < 0.9  # the largest of three normals of deviation 1/2 is about 0.63 off
    assert row.sampling_error_median < 0.2
    assert row.reply_probability == 1


def test_no_reply_is_counted() -> None:
    (row,) = planned("slopes", shape="constant").rows
    assert (row.reply_probability, row.half_width, row.error_median) == (0, None, None)


def test_a_question_says_how_many_features_it_has() -> None:
    assert planned("slopes", repeats=2).question == "slopes(x1, y)"
    assert planned("slopes", features=2, repeats=2).question == "slopes([x1, x2], y)"
    plans = planned(["slopes", ("slopes", {"features": 2}), "median"], features=3, repeats=2)
    assert [each.question for each in plans] == ["slopes([x1, x2, x3], y)", "slopes([x1, x2], y)", "median"]


def test_regressions_of_a_list_share_delta_where_there_is_some_and_do_without_where_not() -> None:
    asked, settings = ["linear_regression", "median"], {"n": 300, "repeats": 1}
    assert [each.rows[0].cost.delta for each in planned(asked, delta=1e-6, **settings)] == [Fraction(1, 10**6), 0]
    assert [each.rows[0].method for each in planned(asked, **settings)] == ["steps", "universal"]


def test_a_half_width_is_searched_for() -> None:
    assert planned("slopes", epsilon=None, half_width=3.5, repeats=10).rows[0].found.value != "as asked"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: planned("median", features=2), "median takes no features"),
        (lambda: planned(["median"], features=2), "none of these questions takes features"),
        (lambda: planned([("median", {"features": 2})]), "median takes no features"),
        (lambda: planned("slopes", features=0), "features must be a whole number from 1 to 40"),
        (lambda: planned("slopes", features=41), "from 1 to 40"),
        (lambda: planned("slopes", features=True), "from 1 to 40"),
        (lambda: planned("slopes", n=3_000_000), "2,000,000 rows"),
    ],
)
def test_what_cannot_be_planned_is_refused(call: Any, words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        call()


def test_a_session_plans_for_the_features_that_are_named() -> None:
    survey = dp.protect({name: [1.0, 2.0] for name in "abc"}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")
    plan = survey.plan("slopes", ["a", "b"], "c", epsilon=1, n=200, shape="normal", repeats=2)
    assert plan.question == "slopes([a, b], c)"
    assert plan.rows[0].shape_value == (1.0, 1.0)
    assert survey.ledger.spent.epsilon == 0


def test_the_command_line_plans_for_the_features_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(
        ["plan", "slopes([age, schooling], income)", "--epsilon", "1", "--n", "200", "--shape", "normal", "--repeats", "2"]
    )
    assert code == exits.ANSWERED
    assert capsys.readouterr().out.startswith("slopes([age, schooling], income) by plain, epsilon = 1")


def test_the_command_line_plans_for_a_number_of_features(capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--epsilon", "1", "--n", "200", "--shape", "normal", "--repeats", "2"]
    assert main(["plan", "slopes(X, y)", "slopes([a, b], c)", "median(y)", "--features", "3", *quick]) == exits.ANSWERED
    out = capsys.readouterr().out
    assert "slopes([x1, x2, x3], y) by plain" in out
    assert "slopes([a, b], c) by plain" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["median(y)", "--features", "3"], "names one feature: leave --features out"),
        (["slopes([a, b], y)", "--features", "3"], "names one feature: leave --features out"),
        (["slopes(X, y)", "--features", "0"], "from 1 to 40"),
        (["linear_regression(X, y, method=robust)", "--features", "3", "--delta", "1e-6"], "at most 3 coefficients"),
        (["regression('y ~ x')"], "a formula cannot be planned"),
    ],
)
def test_what_the_command_line_cannot_plan_is_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *arguments, "--epsilon", "1", "--n", "200"]) == exits.BAD_INPUT
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_pairs_have_rows_too() -> None:
    places = drawn_places(50, np.random.default_rng(4))
    table, sums = PairTable(SHAPES["uniform"], places, [Reads.NUMBERS] * 2, ()), Products(4, 100)
    assert table.matrix().tolist() == np.column_stack(table.pairs()).tolist()
    assert table.row_sums(sums) == sums.by_hand(table.matrix().tolist())
