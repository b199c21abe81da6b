"""Maximum likelihood as it is asked for: methods, bounds, options, claims, sessions, groups, and what each must not do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.stats

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.curator.session import Session
from dpstats.foundations.registry import ask, find_statistic
from dpstats.statistics import maximum_likelihood
from dpstats.statistics.aggregation import bounded_means
from dpstats.statistics.aggregation.ranges import Range
from dpstats.statistics.aggregation.row_blocks import toss_blocks
from dpstats.statistics.likelihood.block_estimates import ROWS_SHARE
from dpstats.statistics.likelihood.gamma import Exponential
from dpstats.testing import seeded
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.statistics.likelihood.test_score_bits import bits
from tests.statistics.likelihood.test_score_steps import table_of
from tests.twins.aggregates import contiguous_blocks
from tests.twins.likelihood import unprojected_t_star

CHANCE = np.random.default_rng(4)
ROWS = 4000
WAIT = CHANCE.gamma(2.0, 3.0, ROWS)
AGE = CHANCE.normal(40, 5, ROWS)
WAGE = 10 + 2 * AGE + CHANCE.normal(0, 3, ROWS)
HEIGHT = 158 + 0.3 * AGE + CHANCE.normal(0, 8, ROWS)
BOUNDS = {"shape": (0.1, 10), "scale": (0.1, 10)}
WAYS: dict[str, dict[str, Any]] = {
    "scores": {},
    "gaussian_scores": {"delta": 1e-6},
    "bounded_scores": {},
    "gaussian_bounded_scores": {"delta": 1e-6},
    "blocks": {},
    "t_star": {"bounds": BOUNDS},
}


def fit(family: Any = "gamma", *columns: Any, **changes: Any) -> Any:
    settings: dict[str, Any] = {"epsilon": 4, "rng": seeded(1), **changes}
    return dp.mle(family, *(columns or (WAIT,)), **settings)


# Methods


@pytest.mark.parametrize("method", WAYS)
def test_every_method_fits_a_gamma_law(method: str) -> None:
    found = fit(method=method, **WAYS[method])
    assert found.value.shape == pytest.approx(2, rel=0.25)
    assert found.value.scale == pytest.approx(3, rel=0.25)
    assert [each.level for each in found.intervals] == [0.95, 0.95]
    assert all(each.low < value < each.high for each, value in zip(found.intervals, found.value, strict=True))
    assert found.method == method
    assert found.cost == dp.PrivacyCost(4, Fraction(1, 10**6) if "delta" in WAYS[method] else 0)
    assert ("delta" in found.claim) == ("delta" in WAYS[method]) or "no delta" in found.claim
    assert fit(method=method, interval=None, **WAYS[method]).intervals == ()


def test_which_method_is_taken_follows_from_the_question() -> None:
    assert set(find_statistic("mle").methods) == set(WAYS)
    assert ask("mle", "gamma", epsilon=1).method.name == "scores"
    assert ask("mle", "gamma", epsilon=1, delta=1e-6).method.name == "gaussian_scores"
    assert ask("mle", "gamma", epsilon=1, bounds=BOUNDS).method.name == "t_star"
    assert ask("mle", "pareto", epsilon=1).method.name == "blocks"
    assert [method.needs_delta for method in find_statistic("mle").methods.values()].count(True) == 2


def test_intervals_cover_the_truth() -> None:
    hits = 0
    for seed in range(15):
        rows = np.random.default_rng(seed).normal(5, 2, 3000)
        found = fit("normal", rows, rng=seeded(seed), bounds=[(0, 10), (0.1, 10)], blocks=60)
        hits += sum(each.low <= truth <= each.high for each, truth in zip(found.intervals, (5, 2), strict=True))
    assert hits / 30 > 0.88


@pytest.mark.parametrize(("method", "factor"), [("scores", 2), ("t_star", 1), ("blocks", 1)])
def test_a_changed_row_costs_twice_where_rows_are_summed_and_once_where_it_changes_a_vote(method: str, factor: int) -> None:
    one = fit(method=method, epsilon=4, **WAYS[method])
    two = fit(method=method, epsilon=4 * factor, neighbors="change_one", **WAYS[method])
    assert one.value.values == two.value.values


def test_few_rows_get_no_reply_that_costs_the_same() -> None:
    for method in ("scores", "gaussian_scores", "bounded_scores", "gaussian_bounded_scores"):
        found = fit("gamma", WAIT[:5], method=method, epsilon=1, **WAYS[method])
        assert isinstance(found, dp.NoReply)
        assert "too few" in found.reason
        assert found.cost.epsilon == 1
    assert isinstance(fit("gamma", WAIT[:5], method="blocks", blocks=50, epsilon=40), dp.NoReply)


# What is asked wrongly


@pytest.mark.parametrize(
    ("family", "settings", "error", "words"),
    [
        ("gama", {}, dp.UnknownNameError, "did you mean 'gamma'"),
        ("gaussian", {}, dp.UnknownNameError, "did you mean 'normal'"),
        ("nonsense_law", {}, dp.UnknownNameError, "there are normal, lognormal"),
        (3, {}, dp.InvalidParameterError, "by its name"),
        ("gamma", {"method": "t_star"}, dp.InvalidParameterError, "t_star needs bounds for shape, scale"),
        ("gamma", {"bounds": {"shape": (0.1, 10)}}, dp.InvalidParameterError, "a range for each of shape, scale"),
        ("gamma", {"bounds": {**BOUNDS, "rate": (1, 2)}}, dp.UnknownNameError, "no parameter 'rate'"),
        ("gamma", {"bounds": [(0.1, 10)] * 3}, dp.InvalidParameterError, "a range for each of shape, scale"),
        ("gamma", {"bounds": [(10, 0.1), (0.1, 10)]}, dp.InvalidParameterError, "the lower one first"),
        ("gamma", {"bounds": [(1, float("inf")), (0.1, 10)]}, dp.InvalidParameterError, "two finite numbers"),
        ("gamma", {"bounds": [(-1, 10), (0.1, 10)]}, dp.InvalidParameterError, "shape of gamma lies between 0 and inf"),
        ("gamma", {"bounds": "wide"}, dp.InvalidParameterError, "bounds must give a range for each parameter"),
        ("gamma", {"bounds": BOUNDS, "method": "scores"}, dp.InvalidParameterError, "'scores' needs none"),
        ("pareto", {"method": "scores"}, dp.InvalidParameterError, "pareto has no scores"),
        ("gamma", {"blocks": 50}, dp.InvalidParameterError, "blocks are for the methods"),
        ("gamma", {"blocks": 1, "method": "blocks"}, dp.InvalidParameterError, "blocks must be a whole number from 2"),
        ("gamma", {"trials": 3}, dp.InvalidParameterError, "gamma takes no trials"),
        ("gamma", {"fixed": {"floc": 0}}, dp.InvalidParameterError, "gamma takes no fixed"),
        ("gamma", {"fixed": 3}, dp.InvalidParameterError, "fixed must name parameters"),
        ("binomial", {}, dp.InvalidParameterError, "binomial needs trials"),
        ("binomial", {"trials": 0}, dp.InvalidParameterError, "trials must be a whole number from 1"),
        ("normal_mixture", {"components": 6}, dp.InvalidParameterError, "components must be a whole number from 2 to 5"),
        ("gamma", {"method": "gaussian_scores"}, dp.DpstatsError, "needs delta"),
        ("gamma", {"method": "blocks", "delta": 1e-6}, dp.DpstatsError, "delta"),
        ("linear", {}, dp.InvalidParameterError, "linear needs features and an outcome"),
    ],
)
def test_complaints_speak_of_the_question_and_come_before_rows_are_read(
    family: Any, settings: dict[str, Any], error: Any, words: str
) -> None:
    unread = patch.multiple(maximum_likelihood, votes_of=None, ScoreWalk=None)
    with unread, pytest.raises(error, match=words):
        fit(family, **settings)


def test_a_law_of_one_column_takes_one() -> None:
    with pytest.raises(dp.InvalidParameterError, match="gamma is a law of one column"):
        fit("gamma", np.column_stack([AGE, WAGE]))


# Options and columns


def test_options_reach_the_family() -> None:
    successes = CHANCE.binomial(12, 0.3, ROWS).astype(float)
    assert fit("binomial", successes, trials=12).value.p == pytest.approx(0.3, abs=0.02)
    single = fit("exponential", CHANCE.exponential(3, ROWS), bounds=(0, 10), blocks=50)
    assert float(single.value) == pytest.approx(3, abs=0.4)
    assert dict(single.notes)["blocks"].startswith("50")


def test_several_columns_are_fitted_together() -> None:
    together = fit("multivariate_normal", {"age": AGE, "height": HEIGHT}, epsilon=20).value
    assert together.mean == pytest.approx([40, 170], rel=0.02)
    assert together.cov == pytest.approx(np.cov(AGE, HEIGHT), abs=8)
    assert fit("linear", AGE[:, None], WAGE, epsilon=40).value.coef[0] == pytest.approx(2, abs=0.3)


# The price


@pytest.mark.parametrize("method", ["blocks", "t_star"])
def test_a_number_of_blocks_is_bought_only_where_it_is_left_to_us(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []

    def rows(raw_rows: int, epsilon: Fraction, rng: Any) -> int:
        spent.append(epsilon)
        return 4000

    def aggregate(raw_votes: Any, how: Any, *, epsilon: Fraction, **rest: Any) -> Any:
        spent.append(epsilon)
        assert rest["delta"] == 0
        return maximum_likelihood.FEW_ROWS

    monkeypatch.setattr(maximum_likelihood, "noisy_count", rows)
    monkeypatch.setattr(maximum_likelihood, "aggregate_numbers", aggregate)
    fit(method=method, **WAYS[method])
    assert spent == [4 * ROWS_SHARE, 4 * (1 - ROWS_SHARE)]
    spent.clear()
    fit(method=method, blocks=300, **WAYS[method])
    assert spent == [4]


# T* for the scale of an exponential law, Theta = [0, 10]; one block has an absurd mean

SCALES = np.full(60, 2.0)
ABSURD = np.array([*SCALES[:-1], 1e12])


def test_samples_refute_t_star_without_projection_and_not_t_star() -> None:
    runs, rng = 150, seeded(9)

    def printed(raw_rows: Any) -> list[float]:
        table = table_of(raw_rows[:, None])
        return [unprojected_t_star(Exponential(), table, Range(0.0, 10.0), 10, Fraction(1), rng) for _ in range(runs)]

    def ours(raw_rows: Any) -> list[float]:
        settings: dict[str, Any] = {"bounds": (0, 10), "blocks": 10, "epsilon": 1, "interval": None}
        answers = [fit("exponential", raw_rows, rng=rng, **settings) for _ in range(runs)]
        return [-1.0 if isinstance(each, dp.NoReply) else float(each.value) for each in answers]

    def is_large(value: float) -> bool:
        return value > 5

    assert epsilon_lower_bound(printed(ABSURD), printed(SCALES), is_large, confidence=1 - 1e-6).at_least > 1
    for here, there in ((ABSURD, SCALES), (SCALES, ABSURD)):
        assert epsilon_lower_bound(ours(here), ours(there), is_large, confidence=1 - 1e-6).at_least <= 1


def test_the_absurd_block_moves_the_sum_by_what_epsilon_pays_for() -> None:
    sums: list[Any] = []

    def watch(raw_numbers: Any, sensitivity: int, epsilon: Fraction, rng: Any) -> list[int]:
        sums.append((int(raw_numbers.sum()), sensitivity / epsilon))
        return [sums[-1][0]]

    with patch.object(bounded_means, "_noisy_sums", watch):
        for raw_rows in (SCALES, ABSURD):
            fit("exponential", raw_rows, bounds=(0, 10), blocks=10, epsilon=1, interval=None)
    (here, scale), (there, other_scale) = sums
    assert scale == other_scale
    assert 0 < abs(here - there) / scale <= 1


def test_blocks_by_position_change_many_votes_with_one_row_more() -> None:
    rows = WAIT[:95, None]
    more = np.vstack([[[500.0]], rows])
    family = Exponential()
    moved = [family.fit_blocks(contiguous_blocks(each, 10)) for each in (rows, more)]
    assert sum(bits(one) != bits(other) for one, other in zip(*moved, strict=True)) > 1
    tossed = [family.fit_blocks(toss_blocks(each, 10, seeded(3))) for each in (rows, np.vstack([rows, [[500.0]]]))]
    assert sum(bits(one) != bits(other) for one, other in zip(*tossed, strict=True)) == 1


# Sessions


def session() -> Session:
    region = np.array(["north", "south"])[np.arange(ROWS) % 2]
    columns = {"wait": WAIT, "age": AGE, "wage": WAGE, "region": region}
    return dp.protect(columns, unit="row", budget=dp.Budget(epsilon=100, delta=1e-3), ledger=":memory:")


def test_a_session_answers_by_name_keeps_count_and_gives_the_same_answer_again() -> None:
    survey = session()
    found = survey.mle("gamma", "wait", epsilon=4)
    assert found.question == "mle(gamma, wait)"
    assert found.value.shape == pytest.approx(2, rel=0.25)
    again = survey.mle("gamma", "wait", epsilon=4)
    assert again.value == found.value
    assert "archive" in dict(again.notes)
    assert survey.ledger.spent == dp.PrivacyCost(4)
    survey.mle("gamma", "wait", epsilon=1, delta=1e-6)
    assert survey.ledger.spent == dp.PrivacyCost(5, Fraction(1, 10**6))
    line = survey.mle("linear", ["age"], "wage", epsilon=20)
    assert line.value.coef[0] == pytest.approx(2, abs=0.3)


def test_a_session_answers_for_every_group() -> None:
    groups = session().group_by("region", keys=["north", "south"]).mle("gamma", "wait", epsilon=4)
    assert [groups[key].value.shape for key in ("north", "south")] == pytest.approx([2, 2], rel=0.3)


@pytest.mark.parametrize(
    ("question", "error", "words"),
    [
        (lambda table: table.mle(scipy.stats.gumbel_r, "wait", epsilon=1), dp.InvalidParameterError, "runs no code"),
        (lambda table: table.mle("gama", "wait", epsilon=1), dp.UnknownNameError, "did you mean 'gamma'"),
        (lambda table: table.mle("gamma", "region", epsilon=1), dp.DataTypeError, "needs numbers"),
        (lambda table: table.mle("gamma", ["age", "wage"], epsilon=1), dp.InvalidParameterError, "one column"),
        (lambda table: table.mle("gamma", "wait", bounds=[(1, 2)], epsilon=1), dp.InvalidParameterError, "a range for each"),
    ],
)
def test_errors_in_sessions_cost_nothing(question: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        question(survey)
    assert survey.ledger.spent.epsilon == 0


# What is shown


def test_the_archive_revives_the_fit() -> None:
    found = fit("multivariate_normal", {"age": AGE, "height": HEIGHT}, epsilon=20)
    revived: Any = result_of(document_of(found), find_statistic("mle"))
    assert revived.value == found.value
    assert revived.value.cov.tolist() == found.value.cov.tolist()


@pytest.mark.parametrize("method", WAYS)
def test_cards_and_summaries_say_what_was_done(method: str) -> None:
    found = fit(method=method, **WAYS[method])
    card, summary = str(found.card()), found.summary()
    assert "gamma" in card
    assert "rows that cannot come from the family count for nothing" in card
    assert ("bias correction" in card) == (method in ("blocks", "t_star"))
    assert all(word in summary for word in ("shape", "scale", "std. error", "rows: about"))
