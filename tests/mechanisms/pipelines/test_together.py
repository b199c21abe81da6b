"""Cascades, levels and parallels: who replies, what a refusal ends, and that exact laws stay within the total."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NoReply, Release
from dpstats.mechanisms import Exact, Step, cascade, levels, parallel
from dpstats.mechanisms.pipelines.pipeline import Allocation
from tests.laws.mechanisms import discrete_laplace_law
from tests.laws.propose_test_release import cascade_law, laplace_test_law, levels_law, marked
from tests.privacy_loss.exact import hockey_stick

FAR = 10**6
TOTAL: Any = {"epsilon": 1, "delta": 1e-6}
Law = dict[Any, Fraction]


def free(_proposal: object) -> int:
    return 0


def wide(_proposal: object) -> int:
    return 1


def step(value: object, distance: object = FAR, name: str = "step", propose: Any = free) -> Step:
    return Step(name, lambda rows, bound: Exact(value), lambda rows, bound: distance, propose)


def shared(distance: object = FAR, name: str = "step") -> Step:
    """Steps that release one law."""
    return Step(name, _five, lambda rows, bound: distance, wide)


def _five(_rows: object, _bound: Fraction) -> int:
    return 5


def test_a_cascade_replies_with_its_first_step_that_passes() -> None:
    assert cascade(step("a"), step("b")).run([], **TOTAL).value == "a"
    assert cascade(step("a", 0), step("b"), step("c")).run([], **TOTAL).value == "b"
    assert not cascade(step("a", 0), step("b", 0)).run([], **TOTAL)


def test_a_cascade_stops_looking_after_its_first_reply() -> None:
    def never(_rows: object, _bound: Fraction) -> int:
        raise AssertionError

    assert cascade(step("a"), Step("late", never, never, free)).run([], rng=seeded(7), **TOTAL).value == "a"


def test_steps_that_share_value_proposal_and_finish_are_priced_as_one_release() -> None:
    same = cascade(shared(name="a"), shared(name="b"), shared(name="c"))
    other = cascade(shared(), step("b", propose=wide))
    half = Fraction(1, 2)
    assert same.prices(Fraction(1), half).sharp.epsilon == 3
    assert same.prices(Fraction(1), half).printed.epsilon == 4
    assert other.prices(Fraction(1), half).sharp.epsilon == 3
    assert cascade(shared(), shared()).prices(Fraction(1), half).sharp.epsilon == 2
    heavier = Step("heavy", _five, lambda rows, bound: FAR, wide, release_weight=Fraction(2))
    assert cascade(shared(), heavier).prices(Fraction(1), half).sharp.reply == 4


def test_levels_propose_from_the_reply_before_and_a_refusal_at_one_refuses_all() -> None:
    seen: list[object] = []

    def propose(proposal: object) -> int:
        seen.append(proposal)
        return 0

    last = Step("last", lambda rows, bound: Exact("end"), lambda rows, bound: FAR, propose)
    assert levels(step("scale"), step("middle"), last).run([], **TOTAL).value == "end"
    assert seen == ["middle"]
    seen.clear()
    assert isinstance(levels(step("scale"), step("middle", 0), last).run([], **TOTAL), NoReply)
    assert isinstance(levels(step("scale", 0), step("middle"), last).run([], **TOTAL), NoReply)
    assert seen == []


def test_a_parallel_replies_with_a_tuple_and_none_where_a_part_refused() -> None:
    assert parallel(step("a"), step("b", 0), step("c")).run([], **TOTAL).value == ("a", None, "c")
    assert isinstance(parallel(step("a", 0), step("b", 0)).run([], **TOTAL), NoReply)


def test_a_level_of_parallels_proposes_from_all_parts_or_refuses() -> None:
    seen: list[object] = []

    def propose(proposal: object) -> int:
        seen.append(proposal)
        return 0

    last = Step("last", lambda rows, bound: Exact("end"), lambda rows, bound: FAR, propose)
    assert levels(parallel(step("a"), step("b")), last).run([], **TOTAL).value == "end"
    assert seen == [("a", "b")]
    assert isinstance(levels(parallel(step("a"), step("b", 0)), last).run([], **TOTAL), NoReply)
    assert seen == [("a", "b")]


def test_a_refusal_anywhere_reads_and_costs_the_same() -> None:
    refusals = [levels(step("a", one), step("b", two)).run([1], **TOTAL) for one, two in ((0, 0), (0, FAR), (FAR, 0))]
    assert {str(refusal) for refusal in refusals} == {str(refusals[0])}
    reply: Any = levels(step("a"), step("b")).run([1], **TOTAL)
    assert reply.cost == refusals[0].cost
    assert reply.question == refusals[0].question == "levels(step, step)"


@pytest.mark.parametrize("put", [cascade, levels, parallel])
def test_nothing_and_what_is_no_pipeline_cannot_be_put_together(put: Any) -> None:
    for parts in ((), (3,), (step("a"), None), ([step("a")],)):
        with pytest.raises(InvalidParameterError, match="give one or more steps"):
            put(*parts)


def test_a_cascade_takes_steps_only() -> None:
    with pytest.raises(InvalidParameterError, match="give one or more steps"):
        cascade(cascade(step("a")))  # type: ignore[arg-type]


@pytest.mark.parametrize(("distances", "same"), [((3, 5), True), ((4, 4), False)])
def test_replies_and_refusals_are_as_frequent_as_the_law_says(distances: tuple[int, int], same: bool) -> None:
    pair = [shared(distances[0]), shared(distances[1])] if same else [step("a", distances[0]), step("b", distances[1])]
    pipeline, rng, draws = cascade(*pair), seeded(7), 1_000
    keywords: Any = {"epsilon": 2, "delta": 0.05}
    allocation = pipeline.allocate(**keywords)
    outcomes = [pipeline.run([], rng=rng, **keywords) for _ in range(draws)]
    chances = [laplace_test_law(allocation.test(one), distance) for one, distance in zip(pair, distances, strict=True)]
    names = ["any", "any"] if same else ["a", "b"]
    law = cascade_law(chances, [{name: Fraction(1)} for name in names])
    found = [("any" if same else outcome.value) if isinstance(outcome, Release) else "no reply" for outcome in outcomes]
    for name, probability in law.items():
        error = math.sqrt(draws * float(probability * (1 - probability)))
        assert abs(found.count(name) - draws * float(probability)) <= 4.5 * error


BOUND, LOW, HIGH = 3, -4, 7


@functools.cache
def release_of(value: int, scale: Fraction) -> Law:
    return discrete_laplace_law(value, scale, LOW, HIGH)


def laws_of(allocation: Allocation, steps: list[Step], here: Any, there: Any) -> tuple[Law, Law]:
    """The laws of a cascade of one release on two neighbours: the values are a bound apart where a distance ties them."""
    tests = [allocation.test(one) for one in steps]
    scale = BOUND / allocation.budget(steps[0]).release_epsilon
    torn = all(max(pair) <= one.unstable_at for one, pair in zip(steps, zip(here, there, strict=True), strict=True))
    releases = [release_of(0, scale), release_of(BOUND, scale)]
    if torn:
        releases[1] = {"elsewhere": Fraction(1)}
    chances = [[laplace_test_law(test, k) for test, k in zip(tests, side, strict=True)] for side in (here, there)]
    return cascade_law(chances[0], [releases[0]] * len(steps)), cascade_law(chances[1], [releases[1]] * len(steps))


def neighbours(corners: list[int], count: int) -> list[tuple[Any, Any]]:
    pairs = [(a, b) for a in corners for b in range(max(0, a - 1), a + 2)]
    return [tuple(zip(*chosen, strict=True)) for chosen in itertools.product(pairs, repeat=count)]  # type: ignore[misc]


@pytest.mark.parametrize("rule", ["sharp", "printed"])
@pytest.mark.parametrize("count", [1, 2])
def test_the_law_of_a_cascade_stays_within_the_total_that_was_allocated(rule: str, count: int) -> None:
    steps = [shared(name=str(place)) for place in range(count)]
    allocation = cascade(*steps).allocate(epsilon=2, delta=0.01, rule=rule)
    threshold = allocation.test(steps[0]).threshold
    corners = [0, 1, threshold, threshold + 30]
    worst = max(hockey_stick(*laws_of(allocation, steps, *pair), 2) for pair in neighbours(corners, count))
    assert worst <= 0.01 * (1 + 1e-9)
    assert worst > 0.002  # where both tables are torn


@pytest.mark.parametrize("rule", ["sharp", "printed"])
def test_the_law_of_two_levels_stays_within_the_total_that_was_allocated(rule: str) -> None:
    first, second = [shared(name="a"), shared(name="b")], [shared(name="c")]
    allocation = levels(cascade(*first), second[0]).allocate(epsilon=2, delta=0.02, rule=rule)
    threshold = allocation.test(first[0]).threshold
    corners = [0, threshold + 30]
    ends = [laws_of(allocation, second, *pair) for pair in neighbours(corners, 1)]
    worst = 0.0
    for pair in neighbours(corners, 2):
        starts = laws_of(allocation, first, *pair)
        for end in ends:
            laws = [levels_law(starts[side], lambda seen, law=end[side]: marked(law, seen)) for side in (0, 1)]  # type: ignore[misc]
            worst = max(worst, hockey_stick(laws[0], laws[1], 2))
    assert 0.005 < worst <= 0.02 * (1 + 1e-9)
