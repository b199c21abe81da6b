"""The search for epsilon: what it finds reaches the half-width, and the candidate below does not."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.planning.plan_rows import Found
from dpstats.curator.planning.searches import CANDIDATES, judged
from dpstats.curator.planning.simulations import Trial
from dpstats.foundations import registry
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import Answer, Refusal, Statistic
from dpstats.foundations.results import Interval

Run = Callable[..., Answer | Refusal]


def searched(*arguments: Any, **keywords: Any) -> Any:
    return dp.plan(*arguments, **{"rng": dp.testing.seeded(7), "n": 1_000, "shape": "normal", "repeats": 40, **keywords})


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], None]:
    def add(run: Run) -> None:
        statistic = Statistic("toy", "Only for tests.")
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, "toy", statistic)

    return add


def with_width(width: Callable[[float], float]) -> Run:
    """A statistic whose interval is so wide at an epsilon."""

    def run(column: Any, question: Any, rng: Any) -> Answer:
        reach = width(float(question.epsilon))
        return Answer(3.0, Interval(3.0 - reach, 3.0 + reach, 0.95, "all"))

    return run


def test_candidates_are_all_numbers_of_two_digits_in_order() -> None:
    assert CANDIDATES[0] == Fraction(1, 10**6)
    assert CANDIDATES[-1] == 10
    assert all(low < high for low, high in pairwise(CANDIDATES))
    assert {float(candidate) for candidate in CANDIDATES} >= {0.01, 0.011, 0.099, 0.1, 0.35, 1, 1.1, 9.9}
    assert len(CANDIDATES) == 7 * 90 + 1


@pytest.mark.parametrize("exact", [0.0000123, 0.00101, 0.0349, 0.035, 0.35, 0.351, 1, 9.81, 10])
def test_the_smallest_epsilon_is_rounded_up_to_two_digits(toy: Callable[[Run], None], exact: float) -> None:
    toy(with_width(lambda epsilon: exact / epsilon))
    row = searched("toy", half_width=1).rows[0]
    assert row.found is Found.SMALLEST
    assert row.cost.epsilon == min(candidate for candidate in CANDIDATES if candidate >= Fraction(str(exact)))
    assert row.half_width <= 1


def test_what_no_epsilon_reaches_is_said_with_what_sampling_does(toy: Callable[[Run], None]) -> None:
    toy(with_width(lambda epsilon: 2 + 1 / epsilon))
    plan = searched("toy", half_width=1.5)
    assert plan.rows[0].found is Found.NONE
    sentence = "cannot be reached at any epsilon up to 10, where it is 2.1: sampling alone gives 2"
    assert f"normal, about 1,000 rows: {sentence}" in str(plan)
    assert "over 10" in str(plan)
    assert json.loads(json.dumps(plan.to_dict()))["rows"][0]["found"] == Found.NONE.value
    assert plan.epsilon is None


def test_what_the_smallest_candidate_reaches_may_take_less(toy: Callable[[Run], None]) -> None:
    toy(with_width(lambda epsilon: 0.5))
    row = searched("toy", half_width=1).rows[0]
    assert (row.found, row.cost.epsilon) == (Found.OR_LESS, CANDIDATES[0])
    assert "or less" in str(row)


def test_epsilons_that_cannot_be_simulated_end_the_search(toy: Callable[[Run], None]) -> None:
    def run(column: Any, question: Any, rng: Any) -> Answer:
        if question.epsilon < Fraction(2, 10):
            raise InvalidParameterError("reads too many rows")
        return Answer(3.0, Interval(2.5, 3.5, 0.95, "all"))

    toy(run)
    row = searched("toy", half_width=1).rows[0]
    assert (row.found, row.cost.epsilon) == (Found.OR_LESS, Fraction(2, 10))


def test_refusals_count_against_an_epsilon(toy: Callable[[Run], None]) -> None:
    narrow = with_width(lambda epsilon: 0.1)
    silent = Refusal("The test failed.", "Ask with more epsilon.")
    toy(lambda column, question, rng: narrow(column, question, rng) if question.epsilon >= Fraction(1, 2) else silent)
    assert searched("toy", half_width=1).rows[0].cost.epsilon == Fraction(1, 2)
    toy(lambda *_: silent)
    plan = searched("toy", half_width=1)
    assert "cannot be reached at any epsilon up to 10, where there is no reply on 100% of the tables" in str(plan)


def test_a_value_without_numbers_has_no_half_width(toy: Callable[[Run], None]) -> None:
    toy(lambda *_: Answer("green"))
    with pytest.raises(dp.InvalidParameterError, match="neither an interval nor numbers"):
        searched("toy", half_width=1)


def test_the_epsilon_of_a_count_is_that_of_its_interval() -> None:
    row = searched("count", half_width=20).rows[0]
    assert row.half_width <= 20
    assert 0.13 <= row.cost.epsilon <= 0.16  # ln(20) / 20
    less = searched("count", epsilon=float(row.cost.epsilon) - 0.02).rows[0]
    assert less.half_width > 20
    assert searched("count", half_width="2%").rows[0] == searched("count", half_width=20).rows[0] == row


@pytest.mark.long
def test_a_search_repeats_itself_and_its_line_is_that_of_the_plan_at_its_epsilon() -> None:
    first, again = (searched("median", half_width="20%", n=300, repeats=20) for _ in range(2))
    assert first == again
    (row,) = first.rows
    (plain,) = searched("median", epsilon=row.cost.epsilon, n=300, repeats=20).rows
    assert (row.half_width, row.reply_probability, row.error_95) == (plain.half_width, plain.reply_probability, plain.error_95)
    assert row.half_width <= 0.2 * 1.349


@pytest.mark.long
def test_more_rows_take_less_epsilon_and_wider_intervals_too() -> None:
    small, large = searched("median", half_width="20%", n=[200, 2_000], repeats=20).rows
    assert small.cost.epsilon > large.cost.epsilon
    assert searched("median", half_width="40%", n=200, repeats=20).rows[0].cost.epsilon < small.cost.epsilon


def test_a_search_shows_what_it_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("dpstats.foundations.progress.PATIENCE", -1.0)
    searched("count", half_width=20)
    assert "simulated tables (normal, 1,000 rows, trying epsilon 10)" in stream.getvalue()
    assert stream.getvalue().endswith("\r")


GOOD, WIDE, SILENT = Trial(True, 0.0, 1.0, 1.0), Trial(True, 0.0, 9.0, 1.0), Trial(False)
NEAR, FAR = Trial(True, 1.0), Trial(True, 9.0)


@pytest.mark.parametrize(
    ("trials", "sure", "verdict"),
    [
        ([GOOD] * 10, True, True),
        ([WIDE] * 10, True, False),
        ([SILENT] * 10, True, False),
        ([GOOD] * 5 + [WIDE] * 5, True, None),
        ([GOOD] * 5 + [SILENT] * 5, True, None),
        ([GOOD] * 5 + [WIDE] * 5, False, True),
        ([GOOD] * 4 + [WIDE] * 5, False, False),
        ([GOOD] * 5 + [SILENT] * 5, False, True),
        ([GOOD] * 5 + [SILENT] * 6, False, False),
        ([SILENT], False, False),
        ([NEAR] * 19 + [FAR], False, True),
        ([NEAR] * 18 + [FAR] * 2, False, False),
        ([NEAR] * 19 + [FAR], True, None),
        ([NEAR] * 10, True, None),
        ([NEAR] * 15 + [FAR] * 5, True, False),
    ],
)
def test_a_judgment_waits_until_it_is_sure_or_has_to_be_made(trials: list[Trial], sure: bool, verdict: bool | None) -> None:
    assert judged(trials, 1.0, sure=sure) is verdict


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({}, dp.MissingParameterError, "plan needs epsilon, .* or half_width"),
        ({"epsilon": 1, "half_width": 1}, dp.InvalidParameterError, "epsilon or half_width, not both"),
        ({"half_width": 0}, dp.InvalidParameterError, "half_width must be above 0"),
        ({"half_width": "-5%"}, dp.InvalidParameterError, "half_width must be above 0"),
        ({"half_width": "wide"}, dp.InvalidParameterError, "half_width must be a number"),
        ({"half_width": "5%", "shape": "constant"}, dp.InvalidParameterError, "the shape constant has no scale"),
        ({"half_width": 1, "shape": "norml"}, dp.UnknownNameError, "there is no shape 'norml'"),
        ({"half_width": 1, "shape": {0.5: 1}}, dp.InvalidParameterError, "two different ones"),
    ],
)
def test_bad_input_is_refused_in_words(keywords: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        dp.plan("median", **{"n": 100, "repeats": 2, **keywords})
