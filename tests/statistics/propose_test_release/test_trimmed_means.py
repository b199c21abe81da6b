"""The trimmed mean: which rows are kept, their exact mean, and who gets a reply how near."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask
from dpstats.foundations.units import float_of_whole
from dpstats.mechanisms.discrete_laplace import l1_units
from dpstats.mechanisms.grid import LARGEST, grid_for
from dpstats.statistics.propose_test_release import trimmed_means as trimmed
from dpstats.statistics.propose_test_release.log_grid import CELLS
from dpstats.statistics.propose_test_release.ranks import interquantile_ranks
from dpstats.statistics.propose_test_release.scales import RangeStatistic, printed_grid, scale_cascade
from dpstats.statistics.propose_test_release.setting import Setting
from dpstats.statistics.propose_test_release.trimmed_means import Kept, _distance, _widening, exact_row, fewest_rows
from dpstats.testing import seeded
from tests.laws.tested_statistics import noise_tail
from tests.statistics.tables import ugly_columns

TRIMS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 4), Fraction(3, 10), Fraction(49, 100)]
SEEDS = range(8)


def setting_of(data: object) -> Setting:
    return Setting(as_column(data), 3, Fraction(1), Fraction(1, 10), Neighbors.ADD_REMOVE, seeded(1))


def mean_by_hand(data: Any, kept: Kept) -> Fraction:
    """The kept rows added up one by one."""
    rows = sorted(exact_row(value) for value in data if value == value)
    first, last = kept.ranks(len(rows))
    chosen = rows[first - 1 : last]
    return sum(chosen, Fraction(0)) / len(chosen) if chosen else Fraction(0)


@pytest.mark.parametrize("inset", [0, 1])
@pytest.mark.parametrize("trim", TRIMS)
def test_one_row_more_moves_the_ends_together_or_the_last_one_alone(trim: Fraction, inset: int) -> None:
    kept = Kept(trim, inset)
    ends = [kept.ranks(rows) for rows in range(300)]
    moves = {(more[0] - first, more[1] - last) for (first, last), more in itertools.pairwise(ends[1:])}
    assert moves <= {(0, 0), (0, 1), (1, 1)}
    for rows in range(300):
        assert abs(kept.rows(rows) - rows * (1 - 2 * trim)) <= 3


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("trim", TRIMS)
def test_the_mean_of_the_kept_rows_is_exact(name: str, trim: Fraction) -> None:
    data = ugly_columns()[name]
    setting = setting_of(data)
    for inset in (0, 1):
        kept = Kept(trim, inset)
        rows = setting.ranked((trim, 1 - trim), 9, exact_row)
        assert kept.raw_mean(setting, rows) == mean_by_hand(data, kept)


@given(st.lists(st.sampled_from([-math.inf, -2.0, 0.0, 0.1, 1.0, 1e300, math.inf]), max_size=14), st.sampled_from(TRIMS))
def test_the_mean_of_tied_and_infinite_rows_is_exact(data: list[float], trim: Fraction) -> None:
    array = np.array(data, dtype=float)
    setting, kept = setting_of(array), Kept(trim, 0)
    rows = setting.ranked((trim, 1 - trim), 4, exact_row)
    assert kept.raw_mean(setting, rows) == mean_by_hand(data, kept)


def test_rows_are_read_as_they_are_and_infinities_as_the_largest_float() -> None:
    assert exact_row(0.1) == Fraction(0.1)
    assert exact_row(5e-324) == Fraction(1, 2**1074)
    assert exact_row(-math.inf) == -LARGEST
    assert exact_row(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert exact_row(2**62 + 1) == Fraction(float_of_whole(2**62 + 1))


@pytest.mark.parametrize("relation", list(Neighbors))
def test_from_a_table_at_a_positive_distance_no_row_moves_the_mean_by_more_than_the_bound(relation: Neighbors) -> None:
    generator = np.random.default_rng(31)
    positive = 0
    for trim, bound in ((Fraction(1, 4), Fraction(2, 5)), (Fraction(1, 10), Fraction(3, 5))):
        kept = Kept(trim, 0)
        for _ in range(150):
            data = generator.integers(0, 4, generator.integers(4, 14)).astype(float)
            if distance_of(data, kept, bound) == 0:
                continue
            positive += 1
            mean = mean_by_hand(data, kept)
            for near in neighbours(data, relation):
                assert abs(mean_by_hand(near, kept) - mean) <= bound
    assert positive > 20


@pytest.mark.parametrize("relation", list(Neighbors))
def test_one_row_moves_the_distance_by_at_most_1(relation: Neighbors) -> None:
    generator = np.random.default_rng(32)
    for trim, bound in ((Fraction(1, 4), Fraction(2, 5)), (Fraction(3, 10), Fraction(1, 2))):
        kept = Kept(trim, 0)
        for _ in range(60):
            data = generator.integers(0, 4, generator.integers(0, 14)).astype(float)
            distance = distance_of(data, kept, bound)
            assert all(abs(distance_of(near, kept, bound) - distance) <= 1 for near in neighbours(data, relation))


@pytest.mark.parametrize("trim", [Fraction(1, 4), *(pytest.param(Fraction(part, 10), marks=pytest.mark.long) for part in (1, 3))])
def test_one_row_moves_the_mean_by_at_most_the_range_around_the_kept_rows_over_their_number(trim: Fraction) -> None:
    """The lemma of the printed route, on every small table: the range is that of either table, the number the smaller one."""
    kept, measured = Kept(trim, 1), RangeStatistic(trim, 1 - trim)
    tight = 0
    for size in range(2, 9):
        for table in itertools.combinations_with_replacement((0, 1, 5), size):
            for near in (*neighbours(table, Neighbors.CHANGE_ONE), *neighbours(table, Neighbors.ADD_REMOVE)):
                fewest = min(kept.rows(size), kept.rows(len(near)))
                if fewest == 0:
                    continue
                move = abs(mean_by_hand(table, kept) - mean_by_hand(near, kept))
                assert all(move * fewest <= range_by_hand(rows, measured) for rows in (table, near))
                tight += move * fewest == range_by_hand(table, measured) > 0
    assert tight > 0


def range_by_hand(rows: Sequence[float], measured: RangeStatistic) -> Fraction:
    low, high = interquantile_ranks(measured.lower, measured.upper, len(rows))
    ordered = sorted(rows)
    return exact_row(ordered[high - 1]) - exact_row(ordered[low - 1])


def distance_of(data: Any, kept: Kept, bound: Fraction) -> int:
    return _distance(kept, setting_of(np.asarray(data, dtype=float)).ranked((kept.trim, 1 - kept.trim), 30, exact_row), bound)


def neighbours(data: Any, relation: Neighbors) -> list[list[float]]:
    rows, values = list(data), (-1e9, 0.0, 1.0, 2.0, 3.0, 1e9)
    smaller = [rows[:place] + rows[place + 1 :] for place in range(len(rows))]
    if relation is Neighbors.ADD_REMOVE:
        return smaller + [[*rows, value] for value in values]
    return smaller + [[*rest, value] for rest in smaller for value in values]


def means(data: object, method: str, trim: object = 0.1, **options: Any) -> list[float | None]:
    settings = {"epsilon": 1, "delta": 1e-6, "method": method, **options}
    outcomes = [dp.trimmed_mean(data, trim, **settings, rng=seeded(seed)) for seed in SEEDS]
    return [outcome.value if isinstance(outcome, dp.Release) else None for outcome in outcomes]


@pytest.mark.parametrize("neighbors", [relation.value for relation in Neighbors])
@pytest.mark.parametrize(("method", "near"), [("ptr", 0.1), ("dwork-lei", 12)])
def test_ten_thousand_normal_rows_get_a_reply_near_the_mean(method: str, near: float, neighbors: str) -> None:
    data = np.random.default_rng(33).normal(10, 3, 10_000)
    truth = float(mean_by_hand(data, Kept(Fraction(1, 10), 0)))
    for value in means(data, method, neighbors=neighbors):
        assert value == pytest.approx(truth, abs=near)


def test_the_printed_route_does_not_reply_for_a_thousand_normal_rows_and_ptr_does() -> None:
    data = np.random.default_rng(34).normal(10, 3, 1000)
    assert means(data, "dwork-lei") == [None] * len(SEEDS)
    assert sum(value is not None for value in means(data, "ptr")) >= len(SEEDS) - 1


def test_outliers_that_are_trimmed_do_not_matter() -> None:
    data = np.random.default_rng(35).normal(10, 3, 10_000)
    spoilt = np.concatenate([data[:9500], np.full(500, 1e12)])
    for clean, dirty in zip(means(data, "ptr"), means(spoilt, "ptr"), strict=True):
        assert dirty == pytest.approx(clean, abs=0.5)


def test_a_wider_range_covers_the_true_one_except_with_the_stated_probability() -> None:
    """The release's noise falls below -t with probability delta at most, for the t that the widening allows for."""
    for rows, delta in ((100, Fraction(1, 1000)), (10_000, Fraction(1, 10**7))):
        grid = printed_grid(rows)
        allocation = scale_cascade(RangeStatistic(Fraction(1, 10), Fraction(9, 10)), grid).allocate(
            epsilon=Fraction(1, 2), delta=delta
        )
        epsilon = allocation.budget(next(allocation.pipeline.steps())).release_epsilon
        spacing = grid_for(CELLS / epsilon, None, False)
        widening = _widening(grid, allocation, delta)
        cells = math.log(widening) / math.log(grid.base) * CELLS - 1
        tail = noise_tail(math.floor(cells / spacing.spacing), l1_units(Fraction(CELLS), spacing, 1) / epsilon)
        assert delta / 2 < tail < delta * (1 + Fraction(1, 10**3))


@pytest.mark.parametrize("method", ["auto", "universal", "ptr", "dwork-lei"])
@pytest.mark.parametrize("trim", [0.5, -0.1, 1, "x", None, [0.1], True, float("nan")])
def test_a_trim_that_is_none_is_an_error_before_any_row_is_read(trim: object, method: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"^trim must"):
        ask("trimmed_mean", trim, epsilon=1, delta=0 if method == "universal" else 1e-6, method=method)


@pytest.mark.parametrize("method", ["ptr", "dwork-lei"])
@pytest.mark.parametrize("trim", [0, 0.0005])
def test_a_tested_method_refuses_a_trim_at_which_one_row_decides_whatever_the_rows_are(trim: float, method: str) -> None:
    for rows in (np.full(5000, 2.0), np.arange(40.0), np.array([])):
        outcome = dp.trimmed_mean(rows, trim, epsilon=1, delta=1e-6, method=method, rng=seeded(1))
        assert isinstance(outcome, dp.NoReply)
        assert outcome.cost == dp.PrivacyCost(1, 1e-6)


def test_the_smallest_and_the_largest_trim_are_questions() -> None:
    for trim in (0.001, "1/1000", 0.499, Fraction(1, 3)):
        assert ask("trimmed_mean", trim, epsilon=1, delta=1e-6).arguments["trim"] == Fraction(str(trim))


def test_the_trimmed_mean_is_pure_unless_a_tested_method_is_named_and_says_why() -> None:
    release = dp.trimmed_mean(np.full(5000, 2.0), epsilon=1, delta=1e-6, rng=seeded(1))
    assert (release.method, release.value, release.cost) == ("universal", 2.0, dp.PrivacyCost(1, 0))
    assert "needs no delta" in dict(release.notes)["chosen because"]


def test_a_tested_trimmed_mean_needs_delta() -> None:
    with pytest.raises(dp.MissingParameterError, match="trimmed_mean by method 'ptr' needs delta"):
        ask("trimmed_mean", epsilon=1, method="ptr")
    release = dp.trimmed_mean(np.full(5000, 2.0), epsilon=1, delta=1e-6, method="ptr", rng=seeded(1))
    assert (release.method, release.value, release.cost) == ("ptr", 2.0, dp.PrivacyCost(1, 1e-6))
    assert dict(release.notes)["proposed bound"] == "0"


def test_a_widening_that_floats_cannot_hold_is_refused_and_not_cut_off() -> None:
    """At such an epsilon the noise of the scale may be hundreds of nats, and a factor cut off at e**709 would not cover it."""
    rows = np.repeat([0.0, 1e6], 500_000)
    for seed in range(3):
        outcome = dp.trimmed_mean(
            rows, 0.1, epsilon=0.001, delta=1e-6, method="dwork-lei", neighbors="change_one", rng=seeded(seed)
        )
        assert isinstance(outcome, dp.NoReply)
        assert outcome.reason.startswith("The private test")


@pytest.mark.parametrize("bound", [Fraction(0), Fraction(1)])
def test_constant_tables_that_keep_few_rows_are_at_most_1_apart(bound: Fraction) -> None:
    """With a trim near 1/2 even long tables keep none, one or two rows, and one row decides how many."""
    kept = Kept(Fraction(499, 1000), 0)
    distances = [distance_of([7.0] * rows, kept, bound) for rows in range(480, 1100, 1)]
    assert max(abs(one - other) for one, other in itertools.pairwise(distances)) <= 1
    assert max(distances) > 0


def test_the_fewest_rows_are_fewer_than_any_neighbour_has_unless_the_noise_is_too_large() -> None:
    epsilon, delta, rows = Fraction(1, 4), Fraction(1, 1000), 500
    allowed = 1
    while noise_tail(allowed, 1 / epsilon) > delta:
        allowed += 1
    for noise in range(-60, allowed):  # all noises but those of probability at most delta
        assert fewest_rows(rows + noise, epsilon, delta) <= rows - 1
    assert fewest_rows(rows + allowed + 2, epsilon, delta) > rows - 1


@pytest.mark.parametrize("rows", range(5))
@pytest.mark.parametrize("noise", [-4, 0, 2])
def test_the_fewest_rows_come_from_the_noisy_count_itself_in_tables_of_hardly_a_row(
    rows: int, noise: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from one that is raised to the least that a grid can be made for: the proof bounds the count's own noise."""
    counts = []

    def watched(noisy_count: int, *others: Any) -> int:
        counts.append(noisy_count)
        return fewest_rows(noisy_count, *others)

    monkeypatch.setattr(trimmed, "fewest_rows", watched)
    monkeypatch.setattr(trimmed, "noisy_count", lambda raw_count, epsilon, rng: raw_count + noise)
    dp.trimmed_mean(np.arange(float(rows)), epsilon=500, delta=0.3, method="dwork-lei", rng=seeded(1))
    assert counts == [rows + noise]
