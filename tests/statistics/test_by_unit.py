"""Variances by unit: a unit moves all shares together by at most one, and intervals allow for rows that are alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.curator.protection import UNIT_SHARE, Protection
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Answer, Method, ask, find_statistic, statistic_names
from dpstats.foundations.results import INDEPENDENT, Interval
from dpstats.foundations.summaries import Clip, SquareOctaves
from dpstats.statistics import by_unit
from dpstats.statistics.by_unit import SEEN, coarse_clip, raw_shares_of, upper_total
from dpstats.statistics.clipped.cells import NoisyUnits
from tests.engines.units.test_sums import octaves_by_hand
from tests.laws.mechanisms import discrete_laplace_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.by_unit import scale_of_a_row, squares_of_rows, uncapped_shares

squares = st.lists(st.one_of(st.integers(0, 200), st.integers(0, 2**62)), max_size=8)
bounds = st.tuples(st.integers(0, 30), st.integers(0, 31)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))


def shares_by_hand(units: Sequence[int], low: int, high: int) -> list[int]:
    """From the definition, unit by unit, in units of 2**-high."""
    whole = [Fraction(0)] * (high - low + 1)
    for square in units:
        kept = min(square, 2**high)
        if kept < 2**low:
            whole[0] += Fraction(kept, 2**low)
            continue
        place = min(kept.bit_length() - 1, high - 1) if high > low else low
        if high > low:
            upper = Fraction(kept - 2**place, 2**place)
            whole[place + 1 - low] += upper
            whole[place - low] += 1 - upper
        else:
            whole[0] += 1
    return [int(each * 2**high) for each in whole]


@given(squares, bounds)
def test_shares_are_worth_the_squares_and_are_added_up_exactly(units: list[int], ends: tuple[int, int]) -> None:
    low, high = ends
    shares = raw_shares_of(octaves_by_hand(units), low, high)
    assert shares == shares_by_hand(units, low, high)
    assert sum(share << (low + place) for place, share in enumerate(shares)) == sum(min(each, 2**high) for each in units) << high


@given(squares, st.integers(0, 2**62), bounds)
def test_a_unit_moves_all_shares_together_by_at_most_one(units: list[int], added: int, ends: tuple[int, int]) -> None:
    before, after = (raw_shares_of(octaves_by_hand(each), *ends) for each in (units, [*units, added]))
    assert min(np.subtract(after, before, dtype=object)) >= 0
    assert sum(after) - sum(before) <= 2 ** ends[1]


# The law

LOW, HIGH, EPSILON, ROWS = 1, 3, Fraction(1), 4
SCALE = Fraction(1 << HIGH) / EPSILON
TABLES: list[tuple[tuple[int, ...], ...]] = [(), ((1, -1), (2,)), ((1, 1, 1, 1),)]
ADDED: list[tuple[int, ...]] = [(), (1,), (1, 1), (2, 2, 2, 2), (-1, 1, 1, 1), (9, 9, 9, 9)]
Shares = Callable[[SquareOctaves, int, int], list[int]]


def squares_of_units(units: Sequence[Sequence[int]]) -> list[int]:
    return [sum(scores) ** 2 for scores in units]


def worst_ratio(
    shares: Shares = raw_shares_of,
    scale: Fraction = SCALE,
    squared: Callable[[Sequence[Sequence[int]]], list[int]] = squares_of_units,
) -> float:
    """The largest loss over tables of units' scores, and units of up to ROWS rows that are added with all of their rows."""

    def laws(units: Sequence[Sequence[int]]) -> list[dict[Any, Fraction]]:
        raw_shares = shares(octaves_by_hand(squared(units)), LOW, HIGH)
        return [discrete_laplace_law(share, scale, -1, 12) for share in raw_shares]

    return max(
        sum(map(largest_log_ratio, laws(units), laws((*units, added))))  # noise is independent, so that losses add up
        for units in TABLES
        for added in ADDED
    )


def test_noisy_shares_lose_epsilon_for_a_unit_with_all_of_its_rows_and_no_more() -> None:
    assert 0.99 < worst_ratio() <= 1 + 1e-9


def test_shares_without_a_cap_are_refuted() -> None:
    assert worst_ratio(shares=uncapped_shares) > 2


def test_noise_at_the_price_of_a_row_is_refuted() -> None:
    assert worst_ratio(scale=scale_of_a_row(ROWS, HIGH, EPSILON)) > ROWS - 0.01


def test_units_taken_apart_into_rows_are_refuted() -> None:
    assert worst_ratio(squared=squares_of_rows) > ROWS - 0.01


def test_epsilon_reaches_the_noise_as_the_scale_of_whole_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[Fraction] = []

    def watched(scale: Fraction, size: int, rng: object) -> np.ndarray:
        scales.append(scale)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(by_unit, "sample_discrete_laplace", watched)
    by_unit.release_shares(octaves_by_hand([5]), 0, 4, Fraction(1, 7), dp.testing.seeded(1))
    assert scales == [Fraction(7 * 2**4)]


# The price

PANEL = Protection("person", 4)


@pytest.mark.parametrize(("neighbors", "steps"), [(Neighbors.ADD_REMOVE, 4), (Neighbors.CHANGE_ONE, 8)])
@pytest.mark.parametrize(("name", "given", "by_unit_steps"), [("mean", (), 1), ("quantile", ([0.1, 0.5, 0.9, 0.95],), 3)])
def test_steps_by_row_and_by_unit_add_up_to_epsilon(
    neighbors: Neighbors, steps: int, name: str, given: tuple[Any, ...], by_unit_steps: int
) -> None:
    protection = Protection("person", 4, neighbors=neighbors)
    question = ask(name, *given, epsilon="0.7", neighbors=neighbors, unit="person", column="x")
    by_row = protection.row_question(question, narrowed=False).epsilon * steps
    each = protection.step_epsilon(question)
    assert each is not None
    twice = 1 if neighbors is Neighbors.ADD_REMOVE else 2
    assert by_row + each * by_unit_steps * twice == question.epsilon
    assert protection.row_question(question, narrowed=True, grouped=True).epsilon * steps == question.epsilon


@pytest.mark.parametrize("words", [{"interval": None}, {"method": "ptr", "delta": 1e-6}])
def test_questions_without_steps_by_unit_spend_all_of_epsilon_on_rows(words: dict[str, Any]) -> None:
    question = ask("median", epsilon=1, unit="person", column="x", **words)
    assert PANEL.row_question(question, narrowed=False).epsilon == Fraction(1, 4)
    assert PANEL.step_epsilon(question) is None


def methods() -> list[tuple[str, Method]]:
    return [(name, each) for name in statistic_names() for each in find_statistic(name).methods.values()]


def test_losses_allow_for_steps_by_unit() -> None:
    share = UNIT_SHARE
    for name, each in methods():
        assert each.by_unit is None or each.loss * (1 - share) ** 2 + share**2 / 2 <= each.loss, name


def test_only_pure_methods_take_steps_by_unit() -> None:
    free = (by_unit.no_step, by_unit.as_alike)
    taken = {name for name, each in methods() if each.needs_delta and each.by_unit is not None and each.by_unit not in free}
    assert not taken


# What is told


def panel(people: int, rows: int, alike: float, seed: int = 1, unit: str = "person") -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    own = np.repeat(chance.normal(0, 1, people), rows)
    return {
        unit: np.repeat(np.arange(people), rows),
        "x": 10 + math.sqrt(alike) * own + math.sqrt(1 - alike) * chance.normal(0, 1, people * rows),
        "by": np.array(["a", "b"])[chance.integers(0, 2, people * rows)],
    }


def session(table: dict[str, Any], **changes: Any) -> Any:
    settings = {"unit": "person", "budget": dp.Budget(epsilon=10**9, delta=0.4), "ledger": ":memory:", "allow_seeded": True}
    return dp.protect(table, **{**settings, **changes})


ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda survey, rng: survey.mean("x", epsilon=50, rng=rng).interval,
    "median": lambda survey, rng: survey.median("x", epsilon=50, rng=rng).interval,
    "quantiles": lambda survey, rng: survey.quantile("x", [0.25, 0.5, 0.75], epsilon=50, rng=rng).intervals[1],
    "t test": lambda survey, rng: survey.t_test("x", 10, epsilon=50, rng=rng).interval,
    "groups": lambda survey, rng: survey.two_sample_t_test("x", "by", ["a", "b"], epsilon=50, rng=rng).interval,
    "winsorized": lambda survey, rng: survey.winsorized_mean("x", epsilon=50, rng=rng).interval,
    "std": lambda survey, rng: survey.std("x", epsilon=50, rng=rng).interval,
    "share": lambda survey, rng: survey.with_columns(high="x > 10.5").mean("high", epsilon=50, rng=rng).interval,
}


@pytest.mark.parametrize("name", ASKED)
def test_intervals_are_as_wide_as_those_of_units(name: str) -> None:
    def width(rows: int, alike: float) -> float:
        interval = ASKED[name](session(panel(1_000, rows, alike), max_rows_per_unit=rows), dp.testing.seeded(3))
        return float(interval.high - interval.low)

    single, copies, apart = width(1, 0.0), width(8, 1.0), width(8, 0.0)
    assert copies == pytest.approx(single, rel=0.35)
    assert apart < 0.6 * single


COUNTED: dict[str, Callable[[Any, Any], Any]] = {
    "chi-square": lambda survey, rng: survey.chi_square_test("by", "z", ["a", "b"], ["a", "b"], epsilon=200, rng=rng),
    "probabilities": lambda survey, rng: survey.goodness_of_fit_test("by", ["a", "b"], epsilon=200, rng=rng),
    "gap": lambda survey, rng: survey.two_sample_ks_test("x", "by", ["a", "b"], epsilon=200, rng=rng),
    "law": lambda survey, rng: survey.ks_test("x", "normal", 10, epsilon=200, rng=rng),
    "ranks": lambda survey, rng: survey.mann_whitney("x", "by", ["a", "b"], epsilon=200, rng=rng),
    "medians": lambda survey, rng: survey.median_test("x", "by", ["a", "b"], epsilon=200, rng=rng),
    "sign": lambda survey, rng: survey.sign_test("x", 10.1, epsilon=200, rng=rng),
}


@pytest.mark.parametrize("name", COUNTED)
def test_tests_on_counts_say_of_rows_that_are_all_alike_what_they_say_of_one_of_each(name: str) -> None:
    own = panel(1_000, 1, 1.0)
    own["z"] = np.where(np.random.default_rng(7).random(1_000) < 0.2, own["by"], own["by"][::-1])
    copies = {column: np.repeat(values, 6) for column, values in own.items()}
    single, several = (
        COUNTED[name](session(table, max_rows_per_unit=rows), dp.testing.seeded(9)) for table, rows in ((own, 1), (copies, 6))
    )
    assert several.value.p_value == pytest.approx(single.value.p_value, rel=0.3, abs=0.02)
    assert several.interval.low == pytest.approx(single.interval.low, abs=0.02)
    assert several.interval.high == pytest.approx(single.interval.high, abs=0.02)
    assert "the most" in dict(several.notes)["errors"]


@pytest.mark.parametrize("rows", [1, 5])
def test_counts_of_zeros_and_ones_have_the_variance_of_units(rows: int) -> None:
    own = np.repeat(np.random.default_rng(3).random(2_000) < 0.1, rows).astype(float)
    table = {"person": np.repeat(np.arange(2_000), rows), "x": own}
    survey = session(table, max_rows_per_unit=rows)
    stretched = []

    def keep(column: Any, question: Any, rng: Any) -> Any:
        stretched.append(by_unit.share_stretch(column, 0.1, 2_000 * rows, rng))
        return Answer(0.1)

    mean = find_statistic("mean")
    kept = dict(mean.methods)
    try:
        mean.methods["clipped"] = replace(kept["clipped"], run=keep)
        survey.mean("x", epsilon=20, rng=dp.testing.seeded(1))
    finally:
        mean.methods.update(kept)
    assert stretched[0] == pytest.approx(rows, rel=0.15)


def test_a_session_with_one_row_per_unit_answers_as_one_by_row() -> None:
    table = panel(600, 1, 0.5)
    for ask_it in (ASKED["mean"], ASKED["median"], ASKED["t test"]):
        by_person = ask_it(session(table, max_rows_per_unit=1), dp.testing.seeded(4))
        by_row = ask_it(session(table, unit="row"), dp.testing.seeded(4))
        assert (by_person.low, by_person.high) == (by_row.low, by_row.high)


def test_in_groups_errors_allow_for_the_most_that_there_can_be() -> None:
    survey = session(panel(2_000, 4, 0.0), max_rows_per_unit=4)
    whole = survey.where("by == 'a'").mean("x", epsilon=50, rng=dp.testing.seeded(5))
    group = survey.group_by("by", keys=["a", "b"]).mean("x", epsilon=50, rng=dp.testing.seeded(5))["a"]
    widths = [each.interval.high - each.interval.low for each in (group, whole)]
    assert 1.6 < widths[0] / widths[1] < 2.4
    assert "the most" in dict(group.notes)["errors"]


def test_every_method_that_tells_errors_is_by_unit_or_says_that_it_takes_rows_as_independent() -> None:
    told = Answer(1.0, Interval(0.0, 2.0, 0.95, "errors"))
    for name, each in methods():
        notes = PANEL.notes_on_errors(each, told, steps=1, grouped=False)
        assert (INDEPENDENT in dict(notes)) == (each.by_unit is None), name


WARNED: dict[str, Callable[[Any, Any], Any]] = {
    "correlation": lambda survey, rng: survey.correlation("x", "y", epsilon=20, rng=rng),
    "regression": lambda survey, rng: survey.regression("y ~ x", epsilon=20, rng=rng),
}


@pytest.mark.parametrize("name", WARNED)
def test_the_line_and_the_card_say_where_rows_are_taken_as_independent(name: str) -> None:
    table = panel(1_500, 2, 0.5)
    table = {**table, "y": table["x"] * 2 + np.random.default_rng(2).normal(0, 1, 3_000)}
    reply = WARNED[name](session(table, max_rows_per_unit=2), dp.testing.seeded(6))
    assert INDEPENDENT in str(reply)
    assert INDEPENDENT in str(reply.card())
    alone = WARNED[name](session(table, unit="row"), dp.testing.seeded(6))
    assert INDEPENDENT not in str(alone)
    grouped = session({**table, "g": table["person"] % 2}, max_rows_per_unit=2).group_by("g", keys=[0, 1])
    replies = WARNED[name](grouped, dp.testing.seeded(6))
    assert str(replies).count(INDEPENDENT) == 1
    assert str(replies.card()).count(INDEPENDENT) == 1


@pytest.mark.parametrize("name", ["mean", "variance", "winsorized_mean"])
def test_noise_that_drowns_a_table_leaves_scores_within_their_bounds(name: str) -> None:
    """A noisy deviation beyond the clip made the shares begin above their end, and the answer an error."""
    survey = session(panel(100, 4, 0.5), max_rows_per_unit=4)
    for seed in range(30):
        answer = getattr(survey, name)("x", epsilon=1e-6, rough=True, rng=dp.testing.seeded(seed))
        assert not isinstance(answer, dp.NoReply) or "could not be computed" not in answer.reason


@pytest.mark.parametrize(("units", "rows", "share", "epsilon"), [(1_000, 4, 0.01, 1), (3_000, 6, 0.01, 1), (200, 3, 0.3, 1)])
def test_shares_of_alike_rows_hold_where_few_units_have_the_property(units: int, rows: int, share: float, epsilon: float) -> None:
    """Noise hid the few units that have it, and with them most of the variance: these held in 73 to 86% of samples."""
    hits, repeats = 0, 60
    for seed in range(repeats):
        has_it = np.random.default_rng(seed).random(units) < share
        table = {"person": np.repeat(np.arange(units), rows), "x": np.repeat(has_it, rows)}
        survey = session(table, max_rows_per_unit=rows)
        answer = survey.proportion("x", epsilon=epsilon, rng=dp.testing.seeded(seed))
        hits += answer.interval.low <= share <= answer.interval.high
    assert hits >= 52  # 95 in 100 hold; that fewer than 52 of 60 do has a chance of 1 in 5,000


# Arithmetic


def test_nothing_seen_allows_for_the_most() -> None:
    assert upper_total([SEEN - 0.1, 1.0, -2.0], 3, 1.0) == math.inf
    assert NoisyUnits(math.inf, 5).stretch(10.0) == 5.0
    assert NoisyUnits(0.0, 5).stretch(10.0) == 1.0
    assert NoisyUnits(25.0, 5).stretch(10.0) == 2.5
    assert NoisyUnits(25.0, 5).stretch(0.0) == 5.0


@given(st.integers(-(2**52), 2**52), st.integers(1, 2**26), st.integers(4, 16), st.floats(-1e18, 1e18))
def test_a_coarse_clip_places_rows_where_the_clip_has_them(low: int, steps: int, bits: int, value: float) -> None:
    fine = Clip(low, steps, Fraction(1, 4))
    coarse, half = coarse_clip(fine, bits)
    factor = coarse.unit / fine.unit
    assert coarse.steps <= 2**bits + 1
    assert half == float(Fraction(steps, 2) / factor)
    near = Fraction(fine.place(value) + low) / factor - coarse.low
    assert abs(coarse.place(value) - near) <= 1.5
