"""Short-cut regressions: one row changes one block, one block one vote, and medians of votes are private for one vote."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Refusal, ask, find_statistic
from dpstats.foundations.summaries import Clip, WindowRequest
from dpstats.mechanisms.propose_test_release import REFUSED
from dpstats.statistics import short_cut_regression
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.propose_test_release.locations import QuantileStatistic, location_cascade, printed_width
from dpstats.statistics.propose_test_release.scales import RangeStatistic, printed_grid, printed_threshold, scale_cascade
from dpstats.statistics.propose_test_release.setting import Setting
from dpstats.statistics.regression import ballots, blocks
from dpstats.statistics.regression.ballots import raw_votes_of
from dpstats.statistics.regression.blocks import EMPTY, fill_blocks, fill_slots, random_order
from dpstats.statistics.regression.solves import LARGEST, solve_exactly, solve_quickly, solve_systems
from dpstats.statistics.universal.intervals import Bounded
from dpstats.statistics.universal.losses import NOISE, loss_of_one
from dpstats.testing import seeded
from tests.laws.ranks import cuts_of, rank_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.twins.blocks import blocks_by_position, blocks_with_leftover, permuted_blocks, votes_without_singular

Floats = NDArray[np.float64]
Row = tuple[float, ...]

NASTY = [0.0, -0.0, 1.0, 1.0, 2.0, -3.0, 0.1, 1 + 2**-52, 1e16, 1e-300, 5e-324, 1e300, -1e308, math.inf, -math.inf]
NUMBERS = st.sampled_from(NASTY) | st.floats(-10, 10)
METHODS = ("short_cut", "dwork-lei")


class Words:
    """A source whose 64-bit words are these, so that their order is a chosen permutation."""

    private = False

    def __init__(self, *words: Sequence[int]) -> None:
        self._words = iter(words)

    def octets(self, count: int) -> bytes:
        raw = np.array(next(self._words), dtype="<u8").tobytes()
        assert len(raw) == count
        return raw


class Rows:
    """A table of which only the matrix can be asked."""

    def __init__(self, raw_matrix: Any) -> None:
        self._raw_matrix = np.asarray(raw_matrix, dtype=np.float64)

    def matrix(self) -> Floats:
        return self._raw_matrix


def reply(raw_matrix: Any, method: str, *, seed: int = 1, **options: Any) -> Any:
    raw_matrix = np.asarray(raw_matrix, dtype=np.float64)
    given = {"delta": 1e-6} if method == "dwork-lei" else {}
    names = [f"x{place}" for place in range(1, raw_matrix.shape[1])] + ["y"]
    question = ask("linear_regression", method=method, column=names, **(given | options))
    table: Any = Rows(raw_matrix)
    return question.answer(table, seeded(seed))


# Blocks


def every_filling(raw_rows: int, slots: int) -> Iterator[tuple[int, ...]]:
    """What `fill_slots` makes of every permutation."""
    for words in itertools.permutations(range(max(raw_rows, slots))):
        yield tuple(fill_slots(raw_rows, slots, Words(words)).tolist())


@pytest.mark.parametrize(("raw_rows", "slots"), [(0, 2), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4), (5, 2), (3, 1)])
def test_fillings_of_a_table_and_of_one_row_more_can_be_drawn_together_to_differ_in_one_slot(raw_rows: int, slots: int) -> None:
    new, law = raw_rows, Counter[tuple[int, ...]]()
    for filling in every_filling(raw_rows, slots):
        open_slots = [slot for slot, row in enumerate(filling) if row == EMPTY]
        chosen = open_slots or list(range(slots))
        stays = Fraction(0 if open_slots else raw_rows + 1 - slots, raw_rows + 1)
        law[filling] += stays  # type: ignore[assignment]
        for slot in chosen:
            law[(*filling[:slot], new, *filling[slot + 1 :])] += (1 - stays) / len(chosen)  # type: ignore[assignment]
    total = math.factorial(max(raw_rows, slots))
    own = Counter(every_filling(raw_rows + 1, slots))
    more = math.factorial(max(raw_rows + 1, slots))
    assert {f: p / total for f, p in law.items() if p} == {f: Fraction(count, more) for f, count in own.items()}


def test_equal_words_are_drawn_again() -> None:
    assert random_order(3, Words([7, 5, 7], [9, 1, 4])).tolist() == [1, 2, 0]


def test_every_block_gets_its_own_rows() -> None:
    raw_matrix = np.arange(20.0).reshape(10, 2)
    filled = fill_blocks(raw_matrix, 4, 3, seeded(3))
    assert filled.shape == (4, 3, 2)
    present = filled.reshape(-1, 2)[~np.isnan(filled.reshape(-1, 2)).any(axis=1)]
    assert sorted(map(tuple, present.tolist())) == sorted(map(tuple, raw_matrix.tolist()))
    assert fill_blocks(raw_matrix, 0, 3, seeded(3)).shape == (0, 3, 2)
    assert np.isnan(fill_blocks(raw_matrix[:0], 2, 3, seeded(3))).all()


# Solutions


def is_singular(raw_matrix: Sequence[Sequence[float]]) -> bool:
    """Whether the determinant is 0, by expansion into all products."""
    size, total = len(raw_matrix), Fraction(0)
    for order in itertools.permutations(range(size)):
        sign = (-1) ** sum(order[i] > order[j] for i, j in itertools.combinations(range(size), 2))
        total += sign * math.prod(Fraction(raw_matrix[row][column]) for row, column in enumerate(order))
    return not total


def systems(most: int = 3) -> st.SearchStrategy[list[list[list[float]]]]:
    def of(size: int) -> st.SearchStrategy[list[list[list[float]]]]:
        row = st.lists(NUMBERS, min_size=size + 1, max_size=size + 1)
        return st.lists(st.lists(row, min_size=size, max_size=size), min_size=1, max_size=6)

    return st.integers(1, most).flatmap(of)


@given(systems())
@settings(max_examples=150)
def test_a_system_abstains_exactly_if_it_is_singular_and_is_solved_alike_alone_and_among_others(
    raw_systems: list[list[list[float]]],
) -> None:
    several = np.array(raw_systems)
    found = solve_systems(several)
    for place, system in enumerate(np.clip(several, -LARGEST, LARGEST).tolist()):
        assert found[place].tobytes() == solve_systems(several[place : place + 1])[0].tobytes()
        singular = is_singular([row[:-1] for row in system])
        assert np.isnan(found[place]).all() == singular
        assert np.isnan(found[place]).any() == singular
        assert singular == (solve_exactly(system) is None)


def test_certified_solutions_are_near_the_exact_ones() -> None:
    generator = np.random.default_rng(4)
    for size in (1, 2, 3, 6):
        several = generator.normal(size=(200, size, size + 1)) * 10.0 ** generator.integers(-80, 80, (200, size, 1))
        several[:, :, :-1] *= 10.0 ** generator.integers(-60, 60, (200, 1, size))
        found, certain = solve_quickly(several)
        assert certain.mean() > 0.95
        for system, solution in zip(several[certain].tolist(), found[certain], strict=True):
            exact = solve_exactly(system)
            assert exact is not None
            assert solution == pytest.approx([float(value) for value in exact], rel=1e-6)


def test_one_unit_in_the_last_place_tells_a_line_from_no_line() -> None:
    beside = 1 + 2**-52
    here, there = [[1.0, 1.0, 2.0], [1.0, 1.0, 3.0]], [[1.0, 1.0, 2.0], [1.0, beside, 3.0]]
    found = solve_systems(np.array([here, there, [[1.0, 1.0, 2.0], [1.0, np.nan, 3.0]]]))
    assert np.isnan(found[[0, 2]]).all()
    assert found[1].tolist() == [2.0 - 2.0**52, 2.0**52]


# The column of votes


@given(st.lists(NUMBERS | st.just(math.nan), max_size=30))
def test_votes_are_a_column_like_any_other(raw_numbers: list[float]) -> None:
    numbers = np.array(raw_numbers, dtype=np.float64)
    own, other = VotesColumn(numbers), as_column(numbers)
    requests = [WindowRequest(Fraction(quantile, 4), margin) for quantile in range(5) for margin in (1, 3, 40)]
    for window, wanted in zip(own.order_windows(requests), other.order_windows(requests), strict=True):
        assert (window.raw_rows, window.raw_below) == (wanted.raw_rows, wanted.raw_below)
        assert window.raw_values.tobytes() == wanted.raw_values.tobytes()
        assert window.raw_counts.tolist() == wanted.raw_counts.tolist()
    cuts = [-math.inf, -3.0, 0.0, 0.1, 1e300, math.inf]
    assert own.counts_below(cuts) == other.counts_below(cuts)
    assert (own.count(), own.stored()) == (other.count(), other.stored())
    assert own.sum_between(-5.0, 5.0, Fraction(1, 8)) == other.sum_between(-5.0, 5.0, Fraction(1, 8))
    clip = Clip(-16, 32, Fraction(1, 8))
    assert own.power_sums(clip, 2) == other.power_sums(clip, 2)
    assert own.most_common(3) == other.most_common(3)
    assert [part.tolist() for part in own.tally()] == [part.tolist() for part in other.tally()]


# One row, one vote


def votes_in(raw_matrix: Floats, raw_slots: Sequence[int], size: int, has_intercept: bool) -> Floats:
    with patch.object(blocks, "fill_slots", lambda *_: np.array(raw_slots, dtype=np.int64)):
        return raw_votes_of(fill_blocks(raw_matrix, len(raw_slots) // size, size, seeded(1)), has_intercept)


def places_that_differ(one: Floats, other: Floats) -> int:
    assert one.shape == other.shape
    return sum(first.tobytes() != second.tobytes() for first, second in zip(one, other, strict=True))


@given(st.data())
@settings(max_examples=150)
def test_one_row_changes_one_vote(data: st.DataObject) -> None:
    columns, has_intercept = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    size = columns - 1 + has_intercept
    row = st.tuples(*[NUMBERS] * columns)
    rows = data.draw(st.lists(row, min_size=1, max_size=12))
    slots = size * data.draw(st.integers(0, 4))
    raw_slots = fill_slots(len(rows), slots, seeded(data.draw(st.integers(0, 99)))).tolist()
    raw_matrix, new = np.array(rows), data.draw(row | st.sampled_from(rows))
    before = votes_in(raw_matrix, raw_slots, size, has_intercept)
    more = np.vstack([raw_matrix, new])
    for slot in range(slots):
        if EMPTY in raw_slots and raw_slots[slot] != EMPTY:
            continue
        taken = [*raw_slots[:slot], len(rows), *raw_slots[slot + 1 :]]
        assert places_that_differ(before, votes_in(more, taken, size, has_intercept)) <= 1
    changed = raw_matrix.copy()
    changed[data.draw(st.integers(0, len(rows) - 1))] = new
    assert places_that_differ(before, votes_in(changed, raw_slots, size, has_intercept)) <= 1


def test_twins_change_several_votes_or_their_number() -> None:
    steps = np.array([(place, 10 * (place // 2)) for place in range(9)], dtype=np.float64)
    one, other = (raw_votes_of(blocks_by_position(rows, 2), True) for rows in (steps[:8], steps[1:9]))
    assert places_that_differ(one, other) == 4
    words = (3, 0, 2, 1, 4)
    lengths = [len(permuted_blocks(steps[:count], 2, Words(range(count)))) for count in (7, 8)]
    assert lengths == [3, 4]
    moved = steps[:5].copy()
    moved[1] = (1, 99)  # the first of this permutation
    one, other = (raw_votes_of(blocks_with_leftover(rows, 2, Words(words)), True) for rows in (steps[:5], moved))
    assert places_that_differ(one, other) == 2
    alike = steps[:4].copy()
    alike[1] = alike[0]
    left = [votes_without_singular(raw_votes_of(rows.reshape(2, 2, 2), True)) for rows in (steps[:4], alike)]
    assert [len(votes) for votes in left] == [2, 1]
    assert printed_width(1.0, len(left[0])) != printed_width(1.0, len(left[1]))  # what Algorithm M takes for public


# Exact laws


def released_law(ballot: Iterable[Floats], cuts: Sequence[int], slope: Fraction) -> dict[int, Fraction]:
    """The law of a median of the last coefficient's votes, drawn over under and over the target with this slope."""
    law, known, fillings = Counter[int](), dict[tuple[float, ...], dict[int, Fraction]](), 0
    for votes in ballot:
        fillings += 1
        present = tuple(sorted(vote for vote in votes[:, -1].tolist() if not math.isnan(vote)))
        if present not in known:
            known[present] = rank_law(present, cuts, Fraction(len(present), 2), slope, slope)
        law.update(known[present])
    return {place: Fraction(mass) / fillings for place, mass in law.items()}


def every_ballot(rows: Sequence[Row], size: int, slots: int, has_intercept: bool) -> list[Floats]:
    raw_matrix = np.array(rows, dtype=np.float64)
    return [
        raw_votes_of(fill_blocks(raw_matrix, slots // size, size, Words(words)), has_intercept)
        for words in itertools.permutations(range(max(len(rows), slots)))
    ]


def cuts_for(*several: Iterable[Floats]) -> list[int]:
    return cuts_of(*([vote for vote in votes[:, -1].tolist() if not math.isnan(vote)] for each in several for votes in each))


HARD_ROWS: dict[str, tuple[list[Row], list[Row]]] = {
    "a steep row": ([(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (1, 0), (2, 0), (3, 1e9)]),
    "a row more": ([(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1e9)]),
    "an odd row": ([(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2), (2, -7)]),
    "a singular pair": ([(1, 5), (1, 5), (1, 5), (1, 5)], [(1, 5), (1, 5), (1, 5), (2, 9)]),
    "a repeated row": ([(0, 0), (1, 3), (1, 3), (1, 3)], [(0, 0), (1, 3), (1, 3), (1, 3), (1, 3)]),
    "a row goes missing": ([(0, 0), (1, 3), (2, 1), (4, 0)], [(0, 0), (1, 3), (2, 1)]),
    "an infinite row": ([(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1), (2, 2), (math.inf, 3)]),
    "nothing or one row": ([(1, 1), (0, 0)], [(1, 1)]),
}


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("pair", HARD_ROWS)
def test_the_exact_law_of_a_median_of_votes_keeps_epsilon(pair: str, has_intercept: bool) -> None:
    epsilon, size = Fraction(2), 1 + has_intercept
    tables = [every_ballot(rows, size, 4, has_intercept) for rows in HARD_ROWS[pair]]
    cuts = cuts_for(*tables)
    laws = [released_law(ballot, cuts, epsilon / 2) for ballot in tables]
    assert largest_log_ratio(*laws) <= float(epsilon) + 1e-12


def test_twins_lose_more_than_epsilon_by_the_exact_law() -> None:
    epsilon = Fraction(2)
    one, other = ([np.array([[vote] for vote in votes])] for votes in ([-1e300, 1e300], [-1e305, -1e300]))
    honest, as_added = (
        largest_log_ratio(*(released_law(ballot, cuts_for(one, other), slope) for ballot in (one, other)))
        for slope in (epsilon / 2, epsilon)
    )
    assert 0.95 * epsilon < honest <= epsilon
    assert as_added > 1.9 * epsilon  # mistake: a changed vote is priced as one more or less
    steps = np.array([(place, 10 * (place // 2)) for place in range(9)], dtype=np.float64)
    tables = [[raw_votes_of(blocks_by_position(rows, 2), True)] for rows in (steps[:9], steps[1:9])]
    shifted = [released_law(ballot, cuts_for(*tables), epsilon / 2) for ballot in tables]
    assert largest_log_ratio(*shifted) > float(epsilon)


# What is spent


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Fraction, Fraction]]:
    """The epsilon and delta of every step, in their order."""
    record: list[tuple[Fraction, Fraction]] = []

    def count(raw_count: int, epsilon: Fraction, rng: Any) -> int:
        record.append((epsilon, Fraction(0)))
        return raw_count

    def median(column: Any, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, *others: Any) -> int:
        record.append((epsilon, Fraction(0)))
        return 0

    def bounded(*given: Any) -> Bounded:
        return Bounded(float(median(*given)), -math.inf, math.inf)

    def locate(place: QuantileStatistic, setting: Setting) -> float:
        record.append((setting.epsilon, setting.delta))
        return 0.0

    monkeypatch.setattr(ballots, "noisy_count", count)
    monkeypatch.setattr(short_cut_regression, "draw_quantile", median)
    monkeypatch.setattr(short_cut_regression, "draw_bounded", bounded)
    monkeypatch.setattr(short_cut_regression, "locate_dwork_lei", locate)
    return record


@pytest.mark.parametrize("options", [{}, {"intercept": False}, {"interval": None}, {"neighbors": "change_one"}], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_the_parts_of_epsilon_and_delta_add_up(
    method: str, options: dict[str, Any], spent: list[tuple[Fraction, Fraction]]
) -> None:
    raw_matrix = np.random.default_rng(1).normal(size=(4000, 2))
    fit = reply(raw_matrix, method, epsilon=Fraction(7, 5), **options)
    assert fit.cost.epsilon == sum(epsilon for epsilon, _ in spent) == Fraction(7, 5)
    assert fit.cost.delta == sum(delta for _, delta in spent)
    assert len(spent) >= 2
    if method == "short_cut":
        counts, medians = spent[:2], spent[2:]
        rho = sum(epsilon**2 * NOISE for epsilon, _ in counts) + sum(epsilon**2 * loss_of_one() for epsilon, _ in medians)
        assert rho <= find_statistic("linear_regression").methods[method].loss * Fraction(7, 5) ** 2


def test_algorithm_m_costs_four_units_for_each_coefficient() -> None:
    quartiles = RangeStatistic(Fraction(1, 4), Fraction(3, 4))
    levels = dp.mechanisms.pipelines.together.Levels(
        scale_cascade(quartiles, printed_grid(5000), printed_threshold(5000)),
        location_cascade(QuantileStatistic(Fraction(1, 2)), lambda scale: printed_width(scale, 5000)),
    )
    allocation = levels.allocate(epsilon=Fraction(4), delta=Fraction(1, 1000))
    assert [allocation.budget(step).test_epsilon for step in levels.steps()] == [1, 1, 1, 1]


def test_slots_have_a_public_limit() -> None:
    with patch.object(ballots, "MOST_SLOTS", 10):
        ballot = ballots.hold_ballot(np.ones((100, 2)), True, Fraction(1), seeded(1))
    assert ballot.blocks == 5


# Answers


def straight(rows: int, features: int, seed: int = 7) -> Floats:
    """y = 3 + x1 + 2 x2 + ... + a normal error."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, features)) + 0.5
    return np.column_stack([x, 3 + x @ np.arange(1.0, features + 1) + generator.normal(size=rows)])


def test_coefficients_of_normal_rows_are_near() -> None:
    release = reply(straight(20_000, 2), "short_cut", epsilon=1)
    assert release.value.params == pytest.approx([3, 1, 2], abs=0.2)
    assert [interval.low <= truth <= interval.high for interval, truth in zip(release.intervals, (3, 1, 2), strict=True)] == [
        True
    ] * 3
    assert all(interval.high - interval.low < 0.4 for interval in release.intervals)
    assert release.value.features == ("x1", "x2")
    assert abs(release.value.rows - 20_000) < 500


def test_a_rare_group_does_not_pull_coefficients_to_zero() -> None:
    raw_matrix = straight(40_000, 2)
    raw_matrix[:, 1] = np.random.default_rng(2).random(40_000) < 0.08
    raw_matrix[:, 2] = 3 + raw_matrix[:, 0] + 2 * raw_matrix[:, 1] + np.random.default_rng(3).normal(size=40_000)
    release = reply(raw_matrix, "short_cut", epsilon=2, interval=None)
    assert release.value.params == pytest.approx([3, 1, 2], abs=0.5)


def test_without_an_intercept_none_is_fitted() -> None:
    raw_matrix = straight(20_000, 1)
    raw_matrix[:, 1] -= 3
    for method in METHODS:
        release = reply(raw_matrix, method, epsilon=10, intercept=False)
        assert release.value.intercept == 0
        assert release.value.coef == pytest.approx([1], abs=0.2)
        assert len(release.intervals) == (method != "dwork-lei")


def test_algorithm_m_replies_on_large_tables_and_refuses_on_small_ones() -> None:
    assert reply(straight(100_000, 1), "dwork-lei", epsilon=10).value.params == pytest.approx([3, 1], abs=0.5)
    assert isinstance(reply(straight(500, 1), "dwork-lei", epsilon=1), dp.NoReply)


GENERATOR = np.random.default_rng(6)
HARD_TABLES: dict[str, Floats] = {
    "no rows": np.empty((0, 2)),
    "one row": np.ones((1, 2)),
    "all rows equal": np.full((300, 2), 5.0),
    "a constant feature": np.column_stack([np.full(300, 7.0), GENERATOR.normal(size=300)]),
    "a feature of zeros": np.column_stack([np.zeros(300), GENERATOR.normal(size=300)]),
    "huge": GENERATOR.choice([1e308, -1e308, 1e300, 5e-324], size=(300, 2)),
    "infinite": GENERATOR.choice([math.inf, -math.inf, 0.0, 1.0], size=(300, 2)),
    "tiny": GENERATOR.normal(size=(300, 2)) * 1e-310,
    "close": 1e15 + np.arange(600.0).reshape(300, 2),
}


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", HARD_TABLES)
def test_hard_tables_get_a_finite_answer_or_none(table: str, method: str, neighbors: str) -> None:
    answer = reply(HARD_TABLES[table], method, epsilon=40, neighbors=neighbors)
    if isinstance(answer, dp.NoReply):
        assert answer.cost.epsilon == 40
    else:
        assert np.isfinite(answer.value.params).all()
        assert answer.to_json()


def test_features_that_follow_from_others_get_no_reply_and_not_zeros() -> None:
    raw_matrix = straight(5000, 2)
    raw_matrix[:, 1] = 2 * raw_matrix[:, 0]
    answer = reply(raw_matrix, "short_cut", epsilon=1)
    assert isinstance(answer, dp.NoReply)
    assert "follow from others" in answer.advice
    assert isinstance(reply(straight(30, 4), "short_cut", epsilon=0.1), dp.NoReply)


def test_a_refusal_is_the_same_whatever_the_rows() -> None:
    assert all(isinstance(each, Refusal) for each in (short_cut_regression.TOO_FEW, short_cut_regression.UNTESTED))
    with patch.object(short_cut_regression, "locate_dwork_lei", lambda *_: REFUSED):
        said = {str(reply(rows, "dwork-lei", epsilon=1)) for rows in (straight(100, 1), straight(5000, 1))}
    assert len(said) == 1


# Sampled


def slopes_of(raw_matrix: Floats, runs: int, seed: int) -> list[float]:
    """Released slopes, at epsilon 1, from one seeded stream; NaN for a refusal."""
    question = ask("linear_regression", method="short_cut", column=["", ""], epsilon=1, interval=None)
    source, rng = Rows(raw_matrix), seeded(seed)
    answers: list[Any] = [question.answer(source, rng) for _ in range(runs)]  # type: ignore[arg-type]
    return [float(answer.value.coef[0]) if answer else math.nan for answer in answers]


@pytest.mark.long
def test_samples_do_not_refute_random_blocks_and_refute_blocks_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_cut_regression, "LEAST_VOTES", -(10**6))  # small tables shall reply
    steps = np.array([(place, 10 * (place // 2)) for place in range(81)], dtype=np.float64)
    events: list[Callable[[float], bool]] = [
        math.isnan,
        lambda slope: slope == 0,
        lambda slope: slope == 10,
        lambda slope: slope > 1,
    ]

    def found() -> float:
        first, second = slopes_of(steps, 2500, 1), slopes_of(steps[1:], 2500, 2)
        return max(
            epsilon_lower_bound(one, other, event, confidence=1 - 1e-6).at_least
            for event in events
            for one, other in ((first, second), (second, first))
        )

    assert found() <= 1
    monkeypatch.setattr(ballots, "fill_blocks", lambda raw_matrix, blocks, size, rng: blocks_by_position(raw_matrix, size))
    assert found() > 1
