"""A pipeline's steps: what each gets of the total, what it releases, and that rows make no errors."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.mechanisms import Exact, Step, blocks, cascade, levels, parallel, partition, subsample, view
from dpstats.mechanisms.discrete_laplace import l1_units
from dpstats.mechanisms.grid import grid_for
from dpstats.mechanisms.pipelines.guards import ReleasedValueError
from dpstats.mechanisms.pipelines.pipeline import Pipeline
from tests.laws.mechanisms import exponential_of_minus
from tests.laws.propose_test_release import REFUSED, laplace_test_law

FAR = 10**6
TOTAL: Any = {"epsilon": 1, "delta": 1e-6}


def fixed(_proposal: object) -> int:
    return 1


def number(_rows: object, _bound: Fraction) -> int:
    return 5


def step(name: str = "step", distance: object = FAR, **more: Any) -> Step:
    """A step whose distance is given, whatever the rows."""
    return Step(**{"name": name, "value": number, "distance": lambda rows, bound: distance, "propose": fixed, **more})


weights = st.fractions(Fraction(1, 4), 4, max_denominator=4)
steps = st.builds(lambda test, release: step(test_weight=test, release_weight=release), weights, weights)
pipelines: st.SearchStrategy[Pipeline] = st.recursive(
    st.one_of(steps, st.lists(steps, min_size=1, max_size=3).map(lambda parts: cascade(*parts))),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: levels(*parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: parallel(*parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: partition(*parts)),
        inner.map(lambda part: blocks(3, len, part)),
        inner.map(lambda part: view(abs, part)),
    ),
    max_leaves=5,
)


@given(pipeline=pipelines, rule=st.sampled_from(["sharp", "printed"]))
@settings(max_examples=60)
def test_what_is_allocated_costs_exactly_epsilon_and_at_most_delta(pipeline: Any, rule: str) -> None:
    allocation = pipeline.allocate(epsilon=2, delta=1e-3, rule=rule)
    price = allocation.prices.by(rule)
    assert price.epsilon == 2
    assert Fraction(1, 2000) < price.delta <= Fraction(1, 1000)


@given(pipeline=pipelines, fraction=st.fractions(Fraction(1, 20), 1, max_denominator=20))
@settings(max_examples=25)
def test_a_sampled_pipeline_gets_nearly_all_and_never_more_than_the_total(pipeline: Any, fraction: Fraction) -> None:
    allocation = levels(step(), subsample(fraction, pipeline)).allocate(epsilon=2, delta=1e-3)
    price = allocation.prices.sharp
    assert 2 * (1 - Fraction(1, 2**40)) < price.epsilon <= 2
    assert price.delta <= Fraction(1, 1000)


@given(pipeline=pipelines)
@settings(max_examples=40)
def test_the_printed_rule_never_gives_a_step_more(pipeline: Any) -> None:
    sharp, printed = (pipeline.allocate(rule=rule, **TOTAL) for rule in ("sharp", "printed"))
    assert printed.unit_epsilon <= sharp.unit_epsilon
    assert printed.unit_delta <= sharp.unit_delta


def test_the_printed_rule_gives_two_steps_of_one_law_two_thirds_of_what_the_sharper_gives() -> None:
    pair = cascade(step("a"), step("b"))
    assert pair.allocate(**TOTAL).unit_epsilon == Fraction(1, 2)
    assert pair.allocate(rule="printed", **TOTAL).unit_epsilon == Fraction(1, 3)


def test_weights_share_epsilon_between_test_and_release() -> None:
    weighted = step(test_weight=Fraction(3), release_weight=Fraction(1))
    budget = weighted.allocate(epsilon=2, delta=1e-6).budget(weighted)
    assert (budget.test_epsilon, budget.release_epsilon, budget.delta) == (Fraction(3, 2), Fraction(1, 2), Fraction(1, 10**6))


def test_the_test_of_a_step_has_its_unstable_distance_and_its_least_threshold() -> None:
    plain, bins, high = step(), step(unstable_at=1), step(least_threshold=99)
    thresholds = [one.allocate(**TOTAL).test(one).threshold for one in (plain, bins, high)]
    assert thresholds[1:] == [thresholds[0] + 1, 99]


@pytest.mark.parametrize("distance", [0, 6, 30])
def test_replies_fit_the_exact_law_of_test_and_noise(distance: int) -> None:
    one, rng, draws = step(distance=distance), seeded(7), 1_000
    keywords: Any = {"epsilon": 2, "delta": 0.05, "rng": rng}
    outcomes = [one.run([], **keywords) for _ in range(draws)]
    chance = laplace_test_law(one.allocate(epsilon=2, delta=0.05).test(one), distance)
    grid = grid_for(Fraction(1), None, False)
    scale = l1_units(Fraction(1), grid, 1)  # release epsilon 1
    needed = math.floor(scale / 2) + 1  # how far beyond half a scale is
    tail = exponential_of_minus(needed / scale) / (1 + exponential_of_minus(1 / scale))
    expected = {REFUSED: 1 - chance, "low": chance * tail, "middle": chance * (1 - 2 * tail), "high": chance * tail}

    def cell(outcome: Any) -> str:
        if not isinstance(outcome, Release):
            return REFUSED
        return "low" if outcome.value < 4.5 else "high" if outcome.value > 5.5 else "middle"

    found = [cell(outcome) for outcome in outcomes]
    for name, probability in expected.items():
        error = math.sqrt(draws * float(probability * (1 - probability)))
        assert abs(found.count(name) - draws * float(probability)) <= 4.5 * error + 1e-6


def test_a_bound_of_0_releases_the_value_exactly() -> None:
    assert step(propose=lambda proposal: 0).run([], **TOTAL).value == 5
    assert step(propose=lambda proposal: 0, release_weight=Fraction(0)).run([], **TOTAL).value == 5


@pytest.mark.parametrize("value", ["blue", None, (1, 2), math.nan])
def test_an_exact_value_leaves_without_noise(value: Any) -> None:
    assert step(value=lambda rows, bound: Exact(value)).run([], **TOTAL).value is value


def test_finish_works_on_what_was_released() -> None:
    seen: list[float] = []

    def finish(noisy: float) -> str:
        seen.append(noisy)
        return "done"

    assert step(finish=finish).run([], **TOTAL).value == "done"
    assert seen != [5]


def test_propose_sees_the_proposal_and_never_the_rows() -> None:
    seen: list[object] = []

    def propose(proposal: object) -> int:
        seen.append(proposal)
        return 0

    rows = [1, 2, 3]
    first, second = step(propose=propose), step(propose=propose)
    levels(first, second).run(rows, proposal="public", **TOTAL)
    assert seen == ["public", 5]
    assert all(proposal is not rows for proposal in seen)


def test_value_and_distance_see_the_rows_and_the_bound() -> None:
    seen: list[object] = []

    def look(rows: object, bound: Fraction) -> int:
        seen.append((rows, bound))
        return FAR

    rows = [1, 2, 3]
    Step("look", look, look, lambda proposal: "0.25").run(rows, **TOTAL)
    assert seen == [(rows, Fraction(1, 4))] * 2


@pytest.mark.parametrize("raw", [math.nan, None, "far", [9], object(), -math.inf, -3])
def test_a_distance_that_is_no_number_is_a_refusal_but_for_delta(raw: Any) -> None:
    for _ in range(20):
        assert not step(distance=raw).run([], epsilon=1, delta=1e-12)


@pytest.mark.parametrize("raw", [math.nan, math.inf, None, "many", object(), [1], 1j, np.ma.masked, 10**400])
def test_a_value_that_is_no_number_is_released_as_some_number(raw: Any) -> None:
    outcome: Any = step(value=lambda rows, bound: raw).run([], **TOTAL)
    assert math.isfinite(outcome.value)


def test_a_value_or_distance_that_fails_on_the_rows_is_the_same_charged_refusal() -> None:
    def fail(rows: list[int], _bound: Fraction) -> int:
        return rows[0] // 0

    def complain(rows: list[int], _bound: Fraction) -> int:
        raise DataTypeError(f"row {rows[0]}")  # an error of ours, as a call inside a function of the rows may raise one

    class Stop(BaseException):
        pass

    def stop(_rows: list[int], _bound: Fraction) -> int:
        raise Stop

    honest = step(distance=0).run([812], **TOTAL)
    for broken in (Step("step", number, one, fixed) for one in (fail, complain, stop)):  # as if the distance were 0
        outcome = broken.run([812], **TOTAL)
        assert isinstance(outcome, NoReply)
        assert str(outcome) == str(honest)
        assert outcome.cost == honest.cost
    for broken in (Step("step", one, lambda rows, bound: FAR, fixed) for one in (fail, complain, stop)):  # the value counts as 0
        outcome = broken.run([812], **TOTAL)
        assert isinstance(outcome, Release)
        assert abs(outcome.value) < 100


def test_a_step_that_fails_does_not_silence_the_others() -> None:
    """One added row must not decide, through an error elsewhere, whether a stable part replies."""
    failing = Step("first row", number, lambda rows, bound: rows[0], fixed)
    for rows in ([], [1]):
        outcome = parallel(step(), failing).run(rows, **TOTAL)
        assert isinstance(outcome, Release)
        assert outcome.value[0] is not None


def test_a_seeded_run_shows_the_programmer_what_failed() -> None:
    with pytest.raises(ZeroDivisionError):
        step(value=lambda rows, bound: 1 // 0).run([], rng=seeded(7), **TOTAL)


def test_every_refusal_reads_and_costs_as_a_reply_costs() -> None:
    one = step(distance=0)
    refusals = [one.run(rows, neighbors="change_one", **TOTAL) for rows in ([], [1], list(range(1000)), np.arange(9.0))]
    assert {str(refusal) for refusal in refusals} == {str(refusals[0])}
    reply = step().run([], neighbors="change_one", **TOTAL)
    assert isinstance(reply, Release)
    assert reply.cost == refusals[0].cost
    assert reply.cost.neighbors is Neighbors.CHANGE_ONE
    assert reply.cost.epsilon == 1
    assert reply.cost.delta == Fraction(1, 10**6)


def test_a_card_names_the_steps_and_both_totals_and_a_seed() -> None:
    reply = cascade(step("wide"), step("narrow", unstable_at=1)).run([], rng=seeded(7), **TOTAL)
    card = dict(reply.card().lines)
    assert card["step 1"].startswith("wide: test epsilon 0.5, release epsilon 0.5, delta ")
    assert card["step 2"].startswith("narrow: ")
    assert card["by the printed theorem"].startswith("epsilon = 1.5, delta = ")
    assert card["by the sharper rule"].startswith("epsilon = 1, delta = ")
    assert NOT_PRIVATE in str(reply.card())
    assert NOT_PRIVATE in str(step(distance=0).run([], rng=seeded(7), **TOTAL).card())
    assert NOT_PRIVATE not in str(step().run([], **TOTAL).card())


def test_an_allocation_prints_its_steps_and_both_totals() -> None:
    pair = levels(step("scale"), step("centre"))
    lines = str(pair.allocate(**TOTAL)).splitlines()
    assert lines[0] == "levels(scale, centre) within epsilon = 1, delta = 0.000001, shared by the sharp rule"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "scale",
        "centre",
        "total by the printed theorem",
        "total by the sharper rule",
    ]


def test_seeded_runs_repeat_themselves() -> None:
    first, again = (cascade(step("a", 3), step("b")).run([], rng=seeded(7), **TOTAL) for _ in range(2))
    assert str(first) == str(again)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"epsilon": 0}, "epsilon must be a positive number such as"),
        ({"delta": 0.5}, r"delta must be at least 0 and below 0\.5"),
        ({"rule": "best"}, "rule must be 'sharp' or 'printed', got 'best'"),
        ({"neighbors": "all"}, "neighbors must be 'add_remove' or 'change_one'"),
        ({"rng": 7}, "rng must come from"),
    ],
)
def test_errors_of_a_run_say_what_a_parameter_must_be(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        step().run([], **{**TOTAL, **keywords})


def test_a_run_without_delta_is_refused_with_an_example() -> None:
    with pytest.raises(MissingParameterError, match="a private test needs a positive delta: for example delta=1e-6"):
        step().run([], epsilon=1, delta=0)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"test_weight": 0}, "step: test_weight must be positive"),
        ({"test_weight": -1}, "step: test_weight must be positive"),
        ({"release_weight": -1}, "release_weight 0 or positive"),
        ({"test_weight": "much"}, "test_weight must be a number"),
        ({"release_weight": math.nan}, "release_weight must be a finite number"),
        ({"unstable_at": -1}, "unstable_at must be 0 for a distance to instability, or 1 for"),
        ({"unstable_at": 1.5}, "unstable_at must be 0 for"),
        ({"least_threshold": "a"}, "step: least_threshold must be a whole number"),
        ({"least_threshold": -3}, "step: least_threshold must be a whole number"),
        ({"propose": 1}, "step: propose must be a function of one released value"),
        ({"finish": None}, "step: finish must be a function of one released value"),
        ({"propose": lambda: 1}, "step: propose must be a function of one released value"),
        ({"value": lambda rows: 1}, r"step: value must be a function of \(rows, bound\)"),
    ],
)
def test_a_step_says_what_its_parameters_must_be(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        step(**keywords)


def test_weights_may_be_written_as_people_write_numbers() -> None:
    weighted = step(test_weight=0.5, release_weight="1.5")
    budget = weighted.allocate(epsilon=2, delta=1e-6).budget(weighted)
    assert budget.test_epsilon == Fraction(1, 2)
    assert budget.release_epsilon == Fraction(3, 2)


@pytest.mark.parametrize(("bound", "weight"), [(-1, 1), (1, 0), (math.nan, 1), (None, 1), ("wide", 1)])
def test_a_bound_that_is_no_bound_is_a_charged_refusal_that_says_so(bound: Any, weight: int) -> None:
    """It may come from what an earlier level released, and then the cost is spent."""
    outcome = step("middle", propose=lambda proposal: bound, release_weight=Fraction(weight)).run([], **TOTAL)
    assert isinstance(outcome, NoReply)
    assert "propose of middle raised InvalidParameterError on a released value: the bound must be" in outcome.reason


def test_a_finish_that_fails_does_not_hide_what_was_spent() -> None:
    failing = step("middle", finish=lambda released: 1 // 0)
    outcome = failing.run([], **TOTAL)
    assert isinstance(outcome, NoReply)
    assert outcome.reason == "finish of middle raised ZeroDivisionError on a released value."
    with pytest.raises(ReleasedValueError):
        failing.run([], rng=seeded(7), **TOTAL)


@pytest.mark.filterwarnings("error")
def test_warnings_of_functions_of_rows_are_not_passed_on() -> None:
    def warns(rows: Any, *_bound: Fraction) -> int:
        warnings.warn(f"row {rows}", RuntimeWarning, stacklevel=1)
        return 10**6

    for pipeline in (step(value=warns), Step("step", number, warns, fixed), blocks(3, warns, step()), view(warns, step())):
        assert isinstance(pipeline.run([812], **TOTAL), Release)


@pytest.mark.parametrize("rows", [None, {"a": 1}, {1, 2}, "rows", iter([1])], ids=lambda rows: type(rows).__name__)
def test_what_holds_no_rows_is_an_error_by_its_type(rows: Any) -> None:
    with pytest.raises(DataTypeError, match="give the rows as a list or an array"):
        step().run(rows, **TOTAL)
