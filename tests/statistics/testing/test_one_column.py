"""The column of a test: no course of its steps tells a row by more than epsilon, and where it is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import Column
from dpstats.statistics import means
from dpstats.statistics.clipped import cells, shells
from dpstats.statistics.testing import group_cuts
from dpstats.statistics.testing.contrasts import mean_of
from dpstats.statistics.testing.cuts import FIRST_SCALES, GROUPS_SCALES, LONGER_SCALES, cut_at_scales, cut_of_groups, likely_lost
from dpstats.statistics.testing.group_cuts import draw_group_cut
from dpstats.statistics.testing.one_column import MOST_SHIFT, TEST_LOSS, contrast_of, read_for_test
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.limits import Limits, draw_limits
from dpstats.testing import seeded
from tests.replays.limits import privacy_loss
from tests.statistics.test_limits import PAIRS, PUSHES, SLACK, pushing
from tests.twins.one_column import cells_after_free_shells

EPSILON = Fraction(7, 10)


def of_a_test(epsilon: Fraction, seed: int) -> Callable[[Column], object]:
    return lambda column: read_for_test(column, epsilon, seeded(seed))


def grouped(epsilon: Fraction, seed: int) -> Callable[[Column], object]:
    """What one of the groups that a row may be in is made from: the cut of all rows, and cells."""

    def mechanism(column: Column) -> object:
        found = draw_group_cut(column, epsilon, seeded(seed))
        return found.cut.clip and cells.release_cells(column, found.cut.clip, 3, epsilon - found.spent, seeded(seed))

    return mechanism


@pytest.mark.parametrize("mechanism", [of_a_test, grouped])
@pytest.mark.parametrize("name", PAIRS)
def test_no_course_of_a_tests_column_tells_a_row_by_more_than_epsilon(name: str, mechanism: Any) -> None:
    table, neighbour = (as_column(data) for data in PAIRS[name])
    losses = [
        privacy_loss(mechanism(EPSILON, seed), *pair, pushing(push, seed))
        for seed, push in enumerate(PUSHES)
        for pair in ((table, neighbour), (neighbour, table))
    ]
    assert max(map(abs, losses)) <= EPSILON + SLACK
    assert max(map(abs, losses)) > EPSILON / 5


def test_cells_after_shells_that_seem_free_are_refuted() -> None:
    table, neighbour = (as_column(data) for data in PAIRS["an outlier"])

    def broken(seed: int) -> Callable[[Column], object]:
        return lambda column: cells_after_free_shells(column, Fraction(20), seeded(seed))

    losses = [privacy_loss(broken(seed), neighbour, table, pushing("up", seed)) for seed in range(4)]
    assert max(losses) > 20 + SLACK


@pytest.mark.parametrize("name", ["normal", "mostly zeros"])
def test_the_steps_of_a_tests_column_spend_the_whole_of_epsilon(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []
    real_limits, real_shells, real_cells = limits.limits_around, shells.widen_cut, cells.release_cells

    def watch_limits(*others: Any, **named: Any) -> Any:
        found = real_limits(*others, **named)
        spent.append(found.spent)
        return found

    def watch_shells(column: Any, cut: Any, epsilon: Fraction, *others: Any) -> Any:
        widened = real_shells(column, cut, epsilon, *others)
        spent.append(epsilon + widened.spent_again)
        return widened

    def watch_cells(column: Any, clip: Any, degree: int, epsilon: Fraction, *others: Any) -> Any:
        spent.append(epsilon)
        return real_cells(column, clip, degree, epsilon, *others)

    monkeypatch.setattr(means, "limits_around", watch_limits)
    monkeypatch.setattr(means, "widen_cut", watch_shells)
    monkeypatch.setattr(means, "release_cells", watch_cells)
    rows = np.random.default_rng(3).normal(size=2_000)
    read_for_test(as_column(rows if name == "normal" else np.where(rows > 0, rows, 0.0)), EPSILON, seeded(1))
    assert len(spent) == 3
    assert sum(spent) == EPSILON


def test_limits_without_reaches_spend_less_and_end_at_their_scales() -> None:
    column = as_column(np.random.default_rng(1).normal(size=4_000))
    with_reaches, without = (draw_limits(column, Fraction(1), seeded(2), reaches=reaches) for reaches in (True, False))
    assert without.spent < with_reaches.spent - Fraction(1, 10)
    for side in (without.below, without.above):
        assert side.reach == side.scale
        assert 2 * side.rows_beyond == side.noisy_rows


def test_the_loss_of_tests_is_no_more_than_that_of_pure_privacy() -> None:
    assert Fraction(1, 2) > TEST_LOSS
    assert limits.largest_loss(reaches=False) <= TEST_LOSS


def test_a_cut_lies_some_scales_from_the_middle_on_either_side() -> None:
    found = draw_limits(as_column(np.random.default_rng(1).exponential(size=4_000)), Fraction(1), seeded(2), reaches=False)
    few = Fraction(1000, found.noisy_rows)  # epsilon, for which no cut lies further out than usual
    for cut, scales, longer in (
        (cut_of_groups(found, few), GROUPS_SCALES, LONGER_SCALES),
        (cut_of_groups(found, 4 * few), 2 * GROUPS_SCALES, 2 * LONGER_SCALES),
        (cut_at_scales(found, (FIRST_SCALES, FIRST_SCALES)), FIRST_SCALES, FIRST_SCALES),
    ):
        assert cut.high - cut.middle == longer * found.above.scale
        assert cut.middle - cut.low == scales * found.below.scale
    losses = [sum(likely_lost(cut_at_scales(found, (Fraction(scales), Fraction(scales))))) for scales in (3, 4, 6)]
    assert losses == sorted(losses, reverse=True)


def test_the_mean_is_moved_towards_the_longer_tail_by_a_part_of_its_error_at_most() -> None:
    column = as_column(np.random.default_rng(1).lognormal(size=1_000))
    clipped = read_for_test(column, Fraction(1), seeded(2))
    plain, moved = mean_of(clipped, 1.0), contrast_of(clipped, 1.0)
    assert 0 < moved.value - plain.value <= MOST_SHIFT * plain.spread.variance**0.5 * (1 + 1e-9)
    assert moved.lost_above > moved.lost_below


def shrunk(found: Limits) -> Limits:
    """Limits whose scales were drawn far too small."""
    below, above = (replace(side, scale=side.scale / 10**90, reach=side.reach / 10**90) for side in (found.below, found.above))
    return replace(found, below=below, above=above)


MANY = np.round(np.random.default_rng(8).normal(size=300), 2)
LARGE = Fraction(20)


def losses_of_an_outlier() -> list[float]:
    """What the courses of a group's test tell of a row below all others, where sides are drawn and counted."""
    table, neighbour = as_column(MANY), as_column(np.array([-100.0, *MANY]))
    return [
        privacy_loss(grouped(LARGE, seed), *pair, pushing(push, seed))
        for seed, push in enumerate(PUSHES)
        for pair in ((table, neighbour), (neighbour, table))
    ]


def test_cuts_of_groups_come_close_to_their_epsilon() -> None:
    assert LARGE / 2 < max(map(abs, losses_of_an_outlier())) <= LARGE + SLACK


def test_counts_in_which_a_row_is_more_than_once_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = group_cuts.raw_counts_between
    monkeypatch.setattr(group_cuts, "COUNTS", Fraction(1, 3))
    monkeypatch.setattr(group_cuts, "raw_counts_between", lambda *asked: np.cumsum(real(*asked)).tolist())
    assert max(map(abs, losses_of_an_outlier())) > LARGE + SLACK


@pytest.mark.parametrize(("shape", "ends"), [("zeros and ones", 1.1), ("uniform", 8.1), ("normal", 8.1)])
def test_groups_are_cut_off_where_their_rows_end(shape: str, ends: float) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=4_000) if shape == "normal" else generator.random(4_000)
    found = draw_group_cut(as_column(np.round(rows - 0.2) if shape == "zeros and ones" else rows), Fraction(1), seeded(2))
    assert found.cut.high - found.cut.middle <= found.limits.above.scale * Fraction(ends)
    assert found.cut.high - found.cut.middle > found.limits.above.scale * Fraction(ends) / 2


@pytest.mark.floors
@pytest.mark.parametrize("name", ["t_test", "two_sample_t_test", "anova"])
def test_a_column_whose_limits_lie_far_from_its_rows_gets_no_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, limits_of in ((means, "limits_around"), (group_cuts, "draw_limits")):
        real = getattr(module, limits_of)
        monkeypatch.setattr(module, limits_of, lambda *others, real=real, **named: shrunk(real(*others, **named)))
    rows, by = np.random.default_rng(1).normal(size=2_000), np.where(np.arange(2_000) % 2, "a", "b")
    reply = getattr(dp, name)(rows, *(() if name == "t_test" else (by, ["a", "b"])), epsilon=1, rng=seeded(1))
    assert isinstance(reply, dp.NoReply)
    assert "far from the limits" in reply.reason


@pytest.mark.floors
@pytest.mark.parametrize("shape", ["normal", "exponential", "half zeros", "zeros and ones", "whole numbers"])
def test_groups_whose_limits_are_sound_do_not_seem_astray(shape: str) -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=1_000) if shape == "normal" else generator.exponential(size=1_000)
    rows = {
        "half zeros": np.where(generator.random(1_000) < 0.6, 0.0, rows),
        "zeros and ones": np.round(generator.random(1_000)),
    }.get(shape, rows)
    by = np.where(np.arange(1_000) % 2, "a", "b")
    rows = np.round(rows) if shape == "whole numbers" else rows
    replies = [dp.two_sample_t_test(rows, by, ["a", "b"], epsilon=1, rng=seeded(seed)) for seed in range(20)]
    assert all(isinstance(reply, dp.Release) for reply in replies)
