"""Aggregators of numbers: what they make of votes, what they ask and spend, and how they are described."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Answer, Refusal, find_statistic
from dpstats.foundations.results import Interval
from dpstats.mechanisms.distance_tests import noise_quantile
from dpstats.statistics.aggregation import aggregators, centred_means, turnout
from dpstats.statistics.aggregation.aggregators import ASKED, UNTESTED, Aggregated, Aggregator, aggregate_numbers, aggregator_for
from dpstats.statistics.aggregation.bounded_means import MEAN_ERROR
from dpstats.statistics.aggregation.ranges import Range
from dpstats.statistics.aggregation.turnout import TOO_FEW_ANSWERS, Turnout, count_answers
from dpstats.testing import seeded
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.statistics.aggregation.vote_tables import (
    ASKING,
    BOUND_FREE,
    BOUNDED,
    EPSILON,
    HARD_VOTES,
    INF,
    NAN,
    TENTH,
    Floats,
    delta_of,
    normal_votes,
    reply,
    votes,
)

# Statistics of the votes


@pytest.mark.parametrize("how", BOUND_FREE, ids=lambda how: how.name)
def test_statistics_of_the_votes_are_near(how: Aggregator) -> None:
    found = reply(normal_votes(3000), how, epsilon=Fraction(6))
    assert isinstance(found, Aggregated)
    assert found.values == pytest.approx([3, 6], abs=0.3)
    assert len(found.intervals) == (0 if how.name == "median" else 2)
    assert all(interval.covers in (aggregators.VOTES_ERROR, MEAN_ERROR) for interval in found.intervals)


@pytest.mark.parametrize("how", [*BOUNDED, *BOUND_FREE], ids=lambda how: f"{how.name} {how.ranges and 'in a range'}")
@pytest.mark.parametrize("pair", HARD_VOTES)
def test_hard_votes_get_numbers_or_the_same_refusal(pair: str, how: Aggregator) -> None:
    for raw in HARD_VOTES[pair]:
        found = reply(votes(raw, raw), how, epsilon=Fraction(20))
        if isinstance(found, Refusal):
            assert found in (TOO_FEW_ANSWERS, UNTESTED)
        else:
            assert np.isfinite(found.values).all()


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(raw=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), new=st.tuples(numbers, numbers), data=st.data())
@settings(max_examples=60)
def test_one_changed_row_changes_one_place_of_each_column_and_no_number_of_votes(raw: Any, new: Any, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(raw) - 1))
    how = data.draw(st.sampled_from([aggregator_for("universal"), aggregator_for("universal", default=[1, 2])]))
    other = [*raw[:place], new, *raw[place + 1 :]]
    for first, second in zip(_columns(np.array(raw), how), _columns(np.array(other), how), strict=True):
        assert len(first) == len(second) == len(raw)
        assert not np.isnan(first).any()
        assert np.flatnonzero(first != second).tolist() in ([], [place])


def _columns(raw_votes: Floats, how: Aggregator) -> list[Floats]:
    """The columns that statistics are asked of."""
    seen: list[Floats] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(aggregators, "VotesColumn", lambda raw: seen.append(raw) or raw)  # type: ignore[func-returns-value]
        patched.setattr(aggregators, "count_answers", lambda raw, blocks, *_: Turnout(blocks, blocks, 0))
        patched.setattr(aggregators, "ask", lambda *_, **__: _AnyQuestion())
        reply(raw_votes, how)
    return seen


class _AnyQuestion:
    """A question whose every answer is 0."""

    interval = None

    @property
    def method(self) -> _AnyQuestion:
        return self

    def run(self, *_: object) -> Answer:
        return Answer(0.0)


def test_a_block_without_an_answer_votes_far_by_its_place_or_the_default() -> None:
    raw = votes([1, NAN, 3, 4], [1, 2, NAN, 4])
    far = _columns(raw, aggregator_for("clipped"))
    assert far[0].tolist() == [1, INF, -INF, 4]
    assert far[1].tolist() == [1, INF, -INF, 4]
    filled = _columns(raw, aggregator_for("clipped", default=[7, 8]))
    assert [column.tolist() for column in filled] == [[1, 7, 7, 4], [1, 8, 8, 4]]


@pytest.mark.parametrize("how", ASKING, ids=lambda how: how.name)
def test_what_is_asked_of_the_votes_adds_up_to_epsilon_and_delta(how: Aggregator, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[tuple[Fraction, Fraction]] = []

    def run(column: Any, question: Any, rng: Any) -> Answer:
        assert question.neighbors is Neighbors.CHANGE_ONE
        assert column.stored() == column.count() == 9
        spent.append((question.epsilon, question.delta))
        return Answer(0.0)

    def count(raw: int, blocks: int, epsilon: Fraction, rng: Any) -> Turnout:
        spent.append((epsilon, Fraction(0)))
        return Turnout(blocks, blocks, 0)

    statistic, method = ASKED[how.name]
    monkeypatch.setitem(find_statistic(statistic).methods, method, _replaced(statistic, method, run))
    monkeypatch.setattr(aggregators, "count_answers", count)
    reply(np.ones((9, 3)), how)
    assert len(spent) == 4
    assert tuple(sum(parts) for parts in zip(*spent, strict=True)) == (EPSILON, delta_of(how))


def _replaced(statistic: str, method: str, run: Any) -> Any:
    from dataclasses import replace

    return replace(find_statistic(statistic).methods[method], run=run)


@pytest.mark.parametrize("blocks", [5, 700, 10**6])
def test_centred_means_and_their_centres_add_up_to_epsilon(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []

    def middle(column: Any, share: Any, epsilon: Fraction, neighbors: Neighbors, rng: Any) -> int:
        assert neighbors is Neighbors.CHANGE_ONE
        spent.append(epsilon)
        return 0

    def spread(raw_counts: Any, epsilon: Fraction, rng: Any, *, likely: float) -> float:
        spent.append(2 * epsilon)  # a changed vote is one removed and one added
        return 1.0

    def means(raw_votes: Any, ranges: Any, cut: Any, defaults: Any, epsilon: Fraction, *_: Any) -> Any:
        spent.append(epsilon)
        return (0.0,), ()

    def count(raw: int, blocks: int, epsilon: Fraction, rng: Any) -> Turnout:
        spent.append(epsilon)
        return Turnout(blocks, blocks, 0)

    monkeypatch.setattr(centred_means, "draw_quantile", middle)
    monkeypatch.setattr(centred_means, "draw_magnitude", spread)
    monkeypatch.setattr(centred_means, "release_means", means)
    monkeypatch.setattr(aggregators, "count_answers", count)
    reply(np.ones((blocks, 3)), aggregator_for("centred"))
    assert len(spent) == 8
    assert sum(spent) == EPSILON
    assert min(spent) > 0


def test_a_refusal_of_one_coordinate_is_one_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([Answer(1.0), Refusal("of the method", "its advice")])
    monkeypatch.setitem(find_statistic("median").methods, "ptr", _replaced("median", "ptr", lambda *_: next(outcomes)))
    assert reply(normal_votes(50), aggregator_for("median"), epsilon=Fraction(40)) is UNTESTED


def test_an_interval_that_could_not_be_had_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([Answer(1.0), Answer(2.0, Interval(1.0, 3.0, 0.95, ""))])
    monkeypatch.setitem(
        find_statistic("median").methods, "universal", _replaced("median", "universal", lambda *_: next(outcomes))
    )
    found = reply(normal_votes(50), aggregator_for("universal"), epsilon=Fraction(40))
    assert [(interval.low, interval.high) for interval in found.intervals] == [(-INF, INF), (1, 3)]


# Turnout


@pytest.mark.parametrize("how", [*BOUNDED, *BOUND_FREE], ids=lambda how: f"{how.name} {how.ranges and 'in a range'}")
def test_where_most_blocks_have_no_answer_there_is_no_reply(how: Aggregator) -> None:
    raw = np.full((300, 2), NAN)
    raw[:60] = 5
    assert reply(raw, how) is TOO_FEW_ANSWERS
    raw[:, 0] = 5  # a row with one NaN is no answer
    assert reply(raw, how) is TOO_FEW_ANSWERS


def test_the_count_of_answers_has_noise_for_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[Fraction] = []

    def noise(scale: Fraction, size: int, rng: Any) -> list[int]:
        scales.append(scale)
        return [-1]

    monkeypatch.setattr(turnout, "sample_discrete_laplace", noise)
    surely = noise_quantile(Fraction(30), turnout.WRONGLY)
    assert not count_answers(501 - surely, 1000, TENTH, seeded(1), overlap=3).is_too_small
    assert count_answers(500 - surely, 1000, TENTH, seeded(1), overlap=3).is_too_small
    assert scales == [30, 30]


def test_a_good_turnout_is_found_too_small_with_the_stated_chance_at_most() -> None:
    rng = seeded(1)
    assert sum(count_answers(50, 100, TENTH, rng).is_too_small for _ in range(2000)) < 2000 * 0.03
    assert all(count_answers(0, 200, TENTH, rng).is_too_small for _ in range(50))


# Descriptions


@pytest.mark.parametrize(
    ("given_words", "error", "words"),
    [
        (("mean", {}), MissingParameterError, "'mean' needs range"),
        (("midrange", {}), UnknownNameError, "there is no aggregate 'midrange'"),
        ((7, {}), UnknownNameError, "there is no aggregate 7"),
        (("universal", {"range": (0, 1)}), InvalidParameterError, "takes no range"),
        (("mean", {"range": (0, 1), "trim": 0.1}), InvalidParameterError, "takes no trim"),
        (("mean", {"range": (1, 1)}), InvalidParameterError, "begin below its end"),
        (("mean", {"range": (0, 1, 2)}), InvalidParameterError, "two numbers"),
        (("mean", {"range": 5}), InvalidParameterError, "two numbers"),
        (("mean", {"range": (0, "inf")}), InvalidParameterError, "range must be a number"),
        (("mean", {"range": (0, 1e200)}), InvalidParameterError, "within 1e150"),
        (("mean", {"range": (1, 1 + 2**-52)}), InvalidParameterError, "wide enough"),
        (("trimmed", {"trim": 0.5}), InvalidParameterError, "below 0.5"),
        (("clipped", {"default": []}), InvalidParameterError, "default must be"),
        ((max, {"trim": 0.1}), InvalidParameterError, "knows its own"),
    ],
)
def test_errors_speak_of_parameters_only(given_words: Any, error: Any, words: str) -> None:
    name, options = given_words
    with pytest.raises(error, match=words):
        aggregator_for(name, **options)


def test_numbers_of_ranges_and_defaults_must_fit_the_answer() -> None:
    how = aggregator_for("mean", range=[(0, 1), (0, 2)])
    assert how.fitted(2).ranges == (Range(0.0, 1.0), Range(0.0, 2.0))
    with pytest.raises(InvalidParameterError, match="range is given for 2 numbers, but the answer has 3"):
        how.check(3, EPSILON, Fraction(0), None)
    with pytest.raises(InvalidParameterError, match="default is given for 2 numbers"):
        aggregator_for("universal", default=[0, 1]).check(3, EPSILON, Fraction(0), None)
    with pytest.raises(MissingParameterError, match="needs delta"):
        aggregator_for("median").check(1, EPSILON, Fraction(0), None)
    with pytest.raises(InvalidParameterError, match="at least one block"):
        reply(np.empty((0, 2)), how)


def test_descriptions_are_equal_where_they_say_the_same() -> None:
    assert aggregator_for("trimmed") == aggregator_for("trimmed", trim="1/10") != aggregator_for("trimmed", trim=0.2)
    assert hash(aggregator_for("mean", range=(0, 1))) == hash(aggregator_for("mean", range=[0, 1.0]))


# Sampled


@pytest.mark.long
@pytest.mark.parametrize("how", [*BOUNDED, *BOUND_FREE], ids=lambda how: f"{how.name} {how.ranges and 'in a range'}")
@pytest.mark.parametrize("pair", ["a far outlier", "end to end", "no answer"])
def test_samples_do_not_refute_the_claim(pair: str, how: Aggregator) -> None:
    runs, epsilon = 400, Fraction(1)
    samples = []
    for seed, raw in enumerate(HARD_VOTES[pair]):
        rng, delta = seeded(seed), delta_of(how)
        found = [aggregate_numbers(votes(raw), how, epsilon=epsilon, delta=delta, level=None, rng=rng) for _ in range(runs)]
        samples.append([NAN if isinstance(each, Refusal) else each.values[0] for each in found])
    for event in (math.isnan, lambda value: value > 1.5, lambda value: value > 3, lambda value: value < 0):
        for one, other in (samples, samples[::-1]):
            assert epsilon_lower_bound(one, other, event, confidence=1 - 1e-6).at_least <= 1
