"""The exponential mechanism: its exact law, its privacy, and that no score makes it fail."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.audit import proofs
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms import exponential
from dpstats.mechanisms.exponential import WeightBounds, choose, score_weights
from tests.laws.mechanisms import exponential_of_minus
from tests.names import shown
from tests.privacy_loss.exact import largest_log_ratio
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.twins.mechanisms import float_gaps, float_odds, forgotten_half_rate

module = importlib.import_module("dpstats.mechanisms.exponential")
Script = Callable[..., RandomSource]
ROUNDED = 1 + 1e-12  # for the final logarithms of exact laws
BITS = 1280  # enough to see weights 800 nats behind the best
ZEROS, ONES = bytes(16), b"\xff" * 16


def law_of_gaps(gaps: Sequence[Fraction], rate: Fraction) -> dict[object, Fraction]:
    """The textbook law: weights exp(-rate * gap), where a gap is how far a score lies below the best."""
    weights = [exponential_of_minus(rate * gap) for gap in gaps]
    return {index: weight / sum(weights) for index, weight in enumerate(weights)}


def law_of_scores(scores: Sequence[Any], rate: Fraction) -> dict[object, Fraction]:
    return law_of_gaps([max(scores) - Fraction(score) for score in scores], rate)


class CapturedError(Exception):
    """Thrown in place of a draw, with the weights that were about to be drawn from."""


@pytest.fixture
def law_of_call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[object, Fraction]]:
    """The law that a call of `exponential` would draw from, to hundreds of digits."""

    def capture(bounds: WeightBounds, rng: RandomSource) -> int:
        lows, highs = bounds(BITS)
        assert all(low <= high <= low + 2 for low, high in zip(lows, highs, strict=True))
        raise CapturedError(lows)

    def law(scores: Any, **keywords: Any) -> dict[object, Fraction]:
        monkeypatch.setattr(module, "choose", capture)
        with pytest.raises(CapturedError) as caught:
            exponential(range(len(scores)), scores, **{"sensitivity": 1, "epsilon": 1, **keywords})
        (lows,) = caught.value.args
        return {index: Fraction(low, sum(lows)) for index, low in enumerate(lows)}

    return law


def draws(bounds: WeightBounds, size: int) -> list[int]:
    rng, kept = seeded(7), functools.cache(bounds)
    return [choose(kept, rng) for _ in range(size)]


# The law


@pytest.mark.parametrize("scores", [[0, 1, 2, 3, 4, 5], [Fraction(9, 2), 0, Fraction(5, 2), 2], [-7, -5]])
def test_draws_fit_the_law_and_none_with_a_tenth_more_or_less_rate(scores: list[Any], fit: Callable[..., float]) -> None:
    rate = Fraction(1)
    drawn = draws(score_weights([Fraction(score) for score in scores], rate), 12_000)
    assert fit(drawn, law_of_scores(scores, rate)) > 1e-3
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(drawn, law_of_scores(scores, wrong * rate)) < 1e-4


@pytest.mark.parametrize(("monotonic", "rate"), [(False, Fraction(1, 2)), (True, Fraction(1))])
def test_releases_fit_half_the_rate_unless_scores_are_monotonic(
    monotonic: bool, rate: Fraction, fit: Callable[..., float]
) -> None:
    scores, rng = [0.0, 3.0, 6.0, 1.5], seeded(7)
    names = ["north", "east", "south", "west"]
    drawn = [
        names.index(exponential(names, scores, sensitivity=3, epsilon=3, monotonic=monotonic, rng=rng).value)
        for _ in range(2_000)
    ]
    assert fit(drawn, law_of_scores(scores, rate)) > 1e-3
    assert fit(drawn, law_of_scores(scores, Fraction(3, 2) - rate)) < 1e-9


def test_the_law_of_a_call_is_the_textbook_law(law_of_call: Callable[..., Any]) -> None:
    scores = [0.1, 7, Fraction(1, 3), -2.5, 7]
    for epsilon, sensitivity, monotonic in itertools.product(("0.1", "1", "5"), ("1", "2/7", "30"), (False, True)):
        rate = Fraction(epsilon) / Fraction(sensitivity) / (1 if monotonic else 2)
        law = law_of_call(scores, epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic)
        textbook = law_of_scores(scores, rate)
        assert all(abs(law[index] / textbook[index] - 1) < Fraction(1, 2**200) for index in textbook)


@given(
    scores=st.lists(st.fractions(-200, 200), min_size=1, max_size=6),
    rate=st.fractions(Fraction(1, 1000), 5),
    bits=st.sampled_from([128, 256, 512]),
)
@settings(max_examples=40)
def test_weights_lie_in_their_brackets_which_are_two_units_wide(scores: list[Fraction], rate: Fraction, bits: int) -> None:
    lows, highs = score_weights(scores, rate)(bits)
    for low, high, score in zip(lows, highs, scores, strict=True):
        weight = exponential_of_minus(rate * (max(scores) - score)) * 2**bits
        assert low <= weight * (1 + Fraction(1, 2**250))
        assert weight <= high
        assert high <= low + 2
    assert max(lows) == 1 << bits


# The draw, bit by bit


@given(
    weights=st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any),
    slack=st.sampled_from([0, 1, 3]),
    word=st.integers(0, 2**128 - 1),
)
@settings(max_examples=100)
def test_a_draw_is_the_candidate_under_the_uniform_number(weights: list[int], slack: int, word: int) -> None:
    def bounds(bits: int) -> tuple[list[int], list[int]]:
        return [max(0, (weight << bits) - slack) for weight in weights], [(weight << bits) + slack for weight in weights]

    class Words:
        private = False

        def __init__(self) -> None:
            self.first = True

        def octets(self, count: int) -> bytes:
            self.first, first = False, self.first
            return word.to_bytes(16, "big") if first else b"\x55" * count

    place = (word + Fraction(1, 3)) / 2**128 * sum(weights)  # 0x5555... is a third
    expected = next(index for index, end in enumerate(itertools.accumulate(weights)) if place < end)
    assert choose(bounds, Words()) == expected


@pytest.mark.parametrize(("then", "winner"), [(ZEROS, 0), (ONES, 1)])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_tie_with_a_boundary_is_settled_by_further_bits(rounds: int, then: bytes, winner: int, script: Script) -> None:
    ties = b"\x55" * 16 * (1, 2, 4, 8)[rounds]  # 1/3 = 0.010101... in binary: bits double with every round
    rng = script([], ties + then * 8)
    assert choose(score_weights([Fraction(0)] * 3, Fraction(1)), rng) == winner


@pytest.mark.parametrize("scores", [[1, 0], [0, 1, 0], [0, 3, 3, -2]])
def test_the_boundaries_lie_where_the_law_has_them_to_256_bits(scores: list[int], script: Script) -> None:
    law = law_of_scores(scores, Fraction(1))
    weights = score_weights([Fraction(score) for score in scores], Fraction(1))
    end = Fraction(0)
    for index in range(len(scores) - 1):
        end += law[index]
        cut = math.floor(end * 2**240) << 16
        for step, winner in ((-1, index), (1, index + 1)):
            word = (cut + (step << 20)).to_bytes(32, "big")
            assert word[:16] == cut.to_bytes(32, "big")[:16]  # so that 128 bits do not settle it
            assert choose(weights, script([], word)) == winner


def test_a_candidate_100_nats_behind_has_exactly_its_share_of_the_first_bits(script: Script) -> None:
    weights = score_weights([Fraction(-100), Fraction(0)], Fraction(1))
    assert exp_bounds(Fraction(100), 128) == (0, 1)  # invisible at first
    cut = math.floor(exponential_of_minus(Fraction(100)) * 2**256)
    assert cut.bit_length() == 112  # 100 nats are 144 bits
    for word, winner in ((0, 0), (cut - 2**20, 0), (cut + 2**20, 1), (2**128 - 1, 1)):
        assert choose(weights, script([], ZEROS + word.to_bytes(16, "big"))) == winner


def test_all_ones_take_the_last_candidate_and_all_zeros_the_first_that_has_weight(script: Script) -> None:
    weights = score_weights([Fraction(10), Fraction(0), Fraction(-(10**300))], Fraction(1))
    assert choose(weights, script([], ZEROS)) == 0
    assert choose(weights, script([], ONES)) == 1  # the last one's share begins beyond any bits that were drawn
    assert choose(lambda bits: ([0, 1 << bits], [0, 1 << bits]), script([], ZEROS)) == 1


# Scores that bite


@pytest.mark.parametrize("gap", [10**9, 1e300, Fraction(10) ** 400, 2.0**1023])
def test_a_huge_gap_leaves_no_doubt_and_makes_no_error(gap: Any) -> None:
    rng = seeded(7)
    for scores, winner in (([gap, 0], 0), ([0, gap], 1), ([0, -gap, 1 - gap], 0)):
        assert {exponential(range(len(scores)), scores, sensitivity=1, epsilon=1, rng=rng).value for _ in range(20)} == {winner}


def test_many_ties_are_drawn_evenly(fit: Callable[..., float]) -> None:
    drawn = draws(score_weights([Fraction(-(10**9))] * 40, Fraction(1)), 4_000)
    assert fit(drawn, dict.fromkeys(range(40), Fraction(1, 40))) > 1e-3


def test_ties_beside_a_hopeless_candidate_are_drawn_evenly(fit: Callable[..., float]) -> None:
    drawn = draws(score_weights([Fraction(0), Fraction(-(10**300)), Fraction(0)], Fraction(1)), 2_000)
    assert fit(drawn, {0: Fraction(1, 2), 1: Fraction(0), 2: Fraction(1, 2)}) > 1e-3


def test_a_single_candidate_is_certain_whatever_its_score() -> None:
    for score in (0, 1e300, -math.inf, math.nan, None):
        assert exponential(["only"], [score], sensitivity=1, epsilon="1e-9", rng=seeded(7)).value == "only"


LOWEST = [math.nan, -math.inf, None, "many", object(), 1j, [3], Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), -(10**400)]


@pytest.mark.parametrize("low", LOWEST, ids=shown)
def test_what_is_no_number_counts_as_the_lowest_score(low: Any, law_of_call: Callable[..., Any]) -> None:
    assert law_of_call([low, 0, 0]) == {0: 0, 1: Fraction(1, 2), 2: Fraction(1, 2)}
    assert law_of_call([low, low, low]) == dict.fromkeys(range(3), Fraction(1, 3))
    assert law_of_call([low, -math.inf]) == law_of_call([math.nan, low]) == dict.fromkeys(range(2), Fraction(1, 2))


@pytest.mark.parametrize("high", [math.inf, np.float32("inf"), Decimal("Infinity"), 10**400, Fraction(10**400)], ids=str)
def test_infinity_counts_as_the_highest_score(high: Any, law_of_call: Callable[..., Any]) -> None:
    assert law_of_call([high, 0, 1e300]) == {0: 1, 1: 0, 2: 0}
    assert law_of_call([high, math.inf, math.nan]) == {0: Fraction(1, 2), 1: Fraction(1, 2), 2: 0}


def test_bad_scores_are_drawn_without_an_error_or_a_bias(fit: Callable[..., float]) -> None:
    rng = seeded(7)
    drawn = [
        exponential([0, 1, 2, 3], [math.nan, 1, 0, -math.inf], sensitivity=1, epsilon=2, rng=rng).value for _ in range(2_000)
    ]
    assert set(drawn) == {1, 2}
    better = 1 / (1 + exponential_of_minus(Fraction(1)))
    assert fit(drawn, {1: better, 2: 1 - better}) > 1e-3


@pytest.mark.parametrize(
    "scores",
    [(1, 2, 4), (1.0, 2.0, 4.0), np.array([1, 2, 4]), np.array([1, 2, 4], dtype=np.float32), (Decimal(1), True + 1, Fraction(4))],
    ids=repr,
)
def test_every_kind_of_number_is_the_same_score(scores: Any, law_of_call: Callable[..., Any]) -> None:
    assert law_of_call(scores) == law_of_call([1, 2, 4])


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64, Decimal, Fraction, np.longdouble])
def test_scores_beyond_what_floats_hold_are_taken_exactly(kind: Callable[[int], Any], law_of_call: Callable[..., Any]) -> None:
    big = 2**53
    if kind is np.longdouble and np.finfo(np.longdouble).nmant < 60:
        pytest.skip("this machine has no longer float")
    assert law_of_call([kind(big + 3), kind(big + 1)]) == law_of_call([2, 0])


# Privacy


BASES: list[tuple[Any, ...]] = [(0, 0, 0), (0, 1, 2), (5, 0, 0), (0, 90, 90), (0.1, -0.1, 0.3), (1e16, 1e16, 0), (2**53 + 2,) * 3]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("base", BASES, ids=str)
def test_no_neighbour_changes_a_probability_by_more_than_epsilon(
    epsilon: str, base: tuple[Any, ...], law_of_call: Callable[..., Any]
) -> None:
    exact = [Fraction(score) for score in base]
    law = law_of_call(exact, epsilon=epsilon)
    for moves in itertools.product((-1, 0, 1), repeat=3):
        neighbour = [score + move for score, move in zip(exact, moves, strict=True)]
        assert largest_log_ratio(law, law_of_call(neighbour, epsilon=epsilon)) <= float(epsilon) * ROUNDED


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("base", BASES, ids=str)
def test_no_monotonic_neighbour_does_either_at_the_full_rate(
    epsilon: str, base: tuple[Any, ...], law_of_call: Callable[..., Any]
) -> None:
    exact = [Fraction(score) for score in base]
    law = law_of_call(exact, epsilon=epsilon, monotonic=True)
    steps = (Fraction(0), Fraction(1, 2), Fraction(1))
    for direction, moves in itertools.product((-1, 1), itertools.product(steps, repeat=3)):
        neighbour = [score + direction * move for score, move in zip(exact, moves, strict=True)]
        assert largest_log_ratio(law, law_of_call(neighbour, epsilon=epsilon, monotonic=True)) <= float(epsilon) * ROUNDED


@pytest.mark.parametrize("count", [2, 10, 1000])
def test_the_loss_approaches_epsilon_as_candidates_grow_and_never_passes_it(count: int, law_of_call: Callable[..., Any]) -> None:
    law, neighbour = law_of_call([0] * count), law_of_call([1] + [-1] * (count - 1))
    loss = largest_log_ratio(law, neighbour)
    assert loss <= ROUNDED
    assert loss > {2: 0.37, 10: 0.84, 1000: 0.99}[count]


@pytest.mark.parametrize("sensitivity", ["1/1000", "7", "1e6"])
def test_the_law_depends_on_scores_over_sensitivity_only(sensitivity: str, law_of_call: Callable[..., Any]) -> None:
    scaled = [Fraction(score) * Fraction(sensitivity) for score in (3, 1, 0)]
    assert law_of_call(scaled, sensitivity=sensitivity) == law_of_call([3, 1, 0])


@given(scores=st.lists(st.integers(-50, 50), min_size=2, max_size=5), shift=st.fractions(-(10**20), 10**20))
@settings(max_examples=30)
def test_only_differences_of_scores_count(scores: list[int], shift: Fraction) -> None:
    shifted = score_weights([score + shift for score in scores], Fraction(1, 3))
    assert shifted(256) == score_weights([Fraction(score) for score in scores], Fraction(1, 3))(256)


def test_the_better_candidate_gains_as_epsilon_grows(law_of_call: Callable[..., Any]) -> None:
    chances = [law_of_call([1, 0, 0], epsilon=epsilon)[0] for epsilon in ("1e-9", 0.1, 1, 10, 100)]
    assert chances == sorted(set(chances))
    assert abs(chances[0] - Fraction(1, 3)) < Fraction(1, 10**8)


# Broken twins


def test_the_twin_without_the_factor_two_is_refuted_and_harmless_for_monotonic_scores() -> None:
    epsilon = Fraction(1)
    rate = forgotten_half_rate(epsilon, Fraction(1))
    law = law_of_scores([0] * 10, rate)
    assert largest_log_ratio(law, law_of_scores([1] + [-1] * 9, rate)) > 1.5
    assert largest_log_ratio(law, law_of_scores([1] + [0] * 9, rate)) <= ROUNDED
    assert largest_log_ratio(law_of_scores([0] * 10, rate / 2), law_of_scores([1] + [-1] * 9, rate / 2)) <= ROUNDED


def test_samples_refute_the_twin_without_the_factor_two_and_not_the_mechanism() -> None:
    def at_least(rate: Fraction) -> float:
        tables = ([Fraction(1)] + [Fraction(-1)] * 9, [Fraction(0)] * 10)
        samples, neighbour_samples = (draws(score_weights(scores, rate), 4_000) for scores in tables)
        return epsilon_lower_bound(samples, neighbour_samples, lambda index: index == 0, confidence=0.999).at_least

    assert at_least(forgotten_half_rate(Fraction(1), Fraction(1))) > 1.2
    assert 0.5 < at_least(Fraction(1, 2)) < 1


def tied_table(zeros: int) -> tuple[list[float], list[float]]:
    """The stretches between the sorted rows [0] * zeros + [1] and their scores as medians; all but one have no length."""
    rows = zeros + 1
    return [float(place == zeros) for place in range(rows + 1)], [-abs(place - rows / 2) for place in range(rows + 1)]


def tied_weights(zeros: int) -> WeightBounds:
    """The same stretches, weighed exactly."""
    lengths, scores = tied_table(zeros)
    exponents = [Fraction(max(scores) - score) for score in scores]

    def bounds(bits: int) -> tuple[list[int], list[int]]:
        brackets = [exp_bounds(exponent, bits) if length else (0, 0) for length, exponent in zip(lengths, exponents, strict=True)]
        return [low for low, _ in brackets], [high for _, high in brackets]

    return bounds


def test_the_float_twin_crashes_on_one_of_two_neighbours_and_the_mechanism_on_none() -> None:
    assert sum(float_odds(*tied_table(1492), 1.0)) == 1
    with pytest.raises(ZeroDivisionError):
        float_odds(*tied_table(1493), 1.0)
    for zeros in (1492, 1493):
        assert choose(tied_weights(zeros), seeded(7)) == zeros


def test_the_float_twin_makes_a_candidate_impossible_on_one_side_and_the_mechanism_does_not(
    law_of_call: Callable[..., Any],
) -> None:
    neighbours = [(0, -745), (1, -746)]
    twins = [dict(enumerate(float_odds([1, 1], scores, 1.0))) for scores in neighbours]
    assert twins[0][1] > 0 == twins[1][1]
    assert largest_log_ratio(*twins) == math.inf
    laws = [law_of_call(scores, epsilon=2) for scores in neighbours]
    assert 1.99 < largest_log_ratio(*laws) <= 2 * ROUNDED


def test_the_twin_that_rounds_scores_to_floats_is_refuted_and_the_mechanism_is_not(law_of_call: Callable[..., Any]) -> None:
    big, count = 2**53, 10
    base, neighbour = [big + 2] * count, [big + 3] + [big + 1] * (count - 1)  # each score moves by 1
    assert [float_gaps(scores)[-1] for scores in (base, neighbour)] == [0, 4]
    twins = [law_of_gaps(float_gaps(scores), Fraction(1, 2)) for scores in (base, neighbour)]
    assert largest_log_ratio(*twins) > 1.3
    for kind in (int, np.int64):
        laws = [law_of_call([kind(score) for score in scores]) for scores in (base, neighbour)]
        assert largest_log_ratio(*laws) <= ROUNDED


# The call


def test_the_release_names_the_candidate_the_cost_and_the_policy() -> None:
    release = exponential(["red", "blue"], [0, 1000], sensitivity="1/3", epsilon=0.3, neighbors="change_one", rng=seeded(7))
    assert release.value == "blue"
    assert release.cost.epsilon == Fraction(3, 10)
    assert release.cost.delta == 0
    assert release.cost.neighbors is Neighbors.CHANGE_ONE
    assert release.method == "exponential"
    assert not release.private
    assert exponential(["red"], [0], sensitivity=1, epsilon=1).private


def test_the_same_seed_chooses_the_same_candidate() -> None:
    chosen = [exponential(range(100), [0] * 100, sensitivity=1, epsilon=1, rng=seeded(seed)).value for seed in (3, 3, 4, 5, 6)]
    assert chosen[0] == chosen[1]
    assert len(Counter(chosen)) > 1


class Secret:
    """A score that must not be looked at."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError("a score was read")


@pytest.mark.parametrize(
    ("candidates", "scores", "keywords", "words"),
    [
        ([], [], {}, "at least one candidate and exactly one score for each"),
        (["a"], [], {}, "exactly one score for each"),
        (["a", "b"], [Secret()], {}, "exactly one score for each"),
        (["a"], [Secret(), Secret()], {}, "exactly one score for each"),
        (["a"], [Secret()], {"sensitivity": 0}, "sensitivity must be positive, got 0"),
        (["a"], [Secret()], {"sensitivity": -1}, "sensitivity must be positive, got -1"),
        (["a"], [Secret()], {"sensitivity": math.inf}, "sensitivity must be a finite number"),
        (["a"], [Secret()], {"sensitivity": math.nan}, "sensitivity must be a finite number"),
        (["a"], [Secret()], {"epsilon": 0}, "epsilon must be a positive"),
        (["a"], [Secret()], {"epsilon": None}, "epsilon must be a number"),
        (["a"], [Secret()], {"neighbors": "friends"}, "neighbors must be"),
    ],
)
def test_errors_speak_of_parameters_and_come_before_any_score_is_read(
    candidates: Any, scores: Any, keywords: Any, words: str
) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        exponential(candidates, scores, **{"sensitivity": 1, "epsilon": 1, **keywords})


def test_the_proof_speaks_of_the_code_as_it_is() -> None:
    (proof,) = (path for path in proofs.proof_files() if path.name == "exponential.proof.md")
    pins = proofs.pins(proof)
    assert [pin.mismatch() for pin in pins if pin.mismatch()] == []
    assert {"choose", "score_weights", "exponential", "_exact_score", "exp_bounds", "integer_ratio"} <= {
        pin.name.rpartition(".")[2] for pin in pins
    }
