"""What docs/errata.md says instead of printed ways to sample and aggregate is what our code does; its entries are found."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpstats.statistics.aggregation.choices import stability_test, steps_of_lead
from dpstats.statistics.aggregation.plans import plan_for
from dpstats.statistics.aggregation.ranges import STEPS, Range
from dpstats.statistics.aggregation.row_blocks import RowBlocks
from tests.laws.aggregates import argmax_law
from tests.privacy_loss.exact import largest_log_ratio

ROOT = Path(__file__).parents[1]
ENTRIES = re.findall(r"^## ([a-z0-9-]+)$", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE)
SAYS = {
    path: re.findall(r"errata\.md#([a-z0-9-]+)", path.read_text(encoding="utf-8"))
    for folder, suffix in (("src", "py"), ("src", "md"), ("docs", "md"))
    for path in sorted((ROOT / folder).rglob(f"*.{suffix}"))
}
CITING = [path for path, slugs in SAYS.items() if slugs]


def numbers_of(slug: str) -> str:
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^## {slug}\n(?:(?!^## ).*\n)*?- \*Numbers\.\* (.*)$", page, re.MULTILINE)
    return str(line)


@pytest.mark.parametrize("path", CITING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_whoever_cites_an_entry_finds_it(path: Path) -> None:
    assert [slug for slug in SAYS[path] if slug not in ENTRIES] == []


def test_noise_for_two_moving_counts_keeps_epsilon_where_the_printed_one_does_not() -> None:
    assert "gap 10 against gap 12, epsilon = 1: Lap(1/epsilon) loses 1.846" in numbers_of("noisy-argmax")
    votes, neighbours = ["a"] * 20 + ["b"] * 10, ["a"] * 21 + ["b"] * 9
    ours = [argmax_law(each, ["a", "b"], Fraction(1)) for each in (votes, neighbours)]
    assert 0.5 < largest_log_ratio(*ours) <= 1 + 1e-12
    halved = [argmax_law(each, ["a", "b"], Fraction(1), moved=1) for each in (votes, neighbours)]
    assert largest_log_ratio(*halved) > 1.8


def test_some_fifty_blocks_do_what_millions_of_samples_do() -> None:
    assert "18001534 runs on 11.3 rows each; disjoint blocks pass with 95% from a gap of 33" in numbers_of("sample-runs")
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    assert stability_test(epsilon, delta).pass_probability(steps_of_lead(33, 1)) >= 0.95
    assert plan_for("stable", epsilon=epsilon, delta=delta, level=None).blocks < 60


def test_an_estimate_that_leaves_the_range_counts_as_its_end() -> None:
    assert "projected, 0.60 epsilon" in numbers_of("estimator-projection")
    before, after = Range(0.0, 10.0).places(np.array([4.0, 8.0e8])).tolist()
    assert (before, after) == (round(0.4 * STEPS), STEPS)
    assert abs(after - before) / STEPS == pytest.approx(0.6)


def test_blocks_by_coins_move_one_estimate_where_blocks_by_position_move_all() -> None:
    assert "16 rows, 8 blocks, the first row removed: the average moves by 4.00 times" in numbers_of("estimator-blocks")
    raw_rows = np.tile([1.0, 1.0, 0.0, 0.0], 4)

    def smallest(raw_table: np.ndarray, places: np.ndarray) -> list[float]:
        raw_pieces = RowBlocks(raw_table[:, None], places, 8).raw_pieces
        return [float(raw_table[raw_piece].min(initial=1.0)) for raw_piece in raw_pieces]

    def moved(places: np.ndarray, other_places: np.ndarray) -> float:
        return abs(sum(smallest(raw_rows, places)) - sum(smallest(raw_rows[1:], other_places)))

    position = np.arange(16) // 2
    assert moved(position, position[:15]) == 4
    for seed in range(50):
        coins = np.random.default_rng(seed).integers(0, 8, 16)
        assert moved(coins, coins[1:]) <= 1
