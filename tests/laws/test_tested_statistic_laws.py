"""Exact laws of tested statistics: they are laws, and the statistics' own draws follow them."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.propose_test_release import Exact, Refused
from dpstats.statistics.propose_test_release import locations, scales
from dpstats.statistics.propose_test_release import trimmed_means as trimmed
from dpstats.statistics.propose_test_release.locations import QuantileStatistic
from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.scales import RangeStatistic
from dpstats.statistics.propose_test_release.setting import Setting
from dpstats.testing import seeded
from tests.laws.mechanisms import discrete_laplace_law
from tests.laws.propose_test_release import REFUSED
from tests.laws.tested_statistics import (
    Cuts,
    bound_law,
    cascade_of_steps_law,
    mode_law,
    noise_tail,
    noisy_law,
    range_jumps_law,
    rows_of_table,
    stable_law,
    trimmed_mean_law,
)
from tests.mechanisms.conftest import p_value

Law = dict[Hashable, float]
DRAWS = 600
EPSILON, DELTA = Fraction(3), Fraction(1, 10)
CAP = 60
QUARTILES = (Fraction(1, 4), Fraction(3, 4))
IQR, MEDIAN = RangeStatistic(*QUARTILES), QuantileStatistic(Fraction(1, 2))
CELL_CUTS = tuple(Fraction(place * CELLS, 2) for place in range(-3, 9))
NUMBER_CUTS = tuple(Fraction(place, 2) for place in range(-6, 20))
TABLES = {
    "spread": np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.0, 3.5, 4.0, 5.0, 6.0]),
    "ties": np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 8.0]),
    "nothing": np.array([]),
}


def test_the_noise_seen_through_cuts_is_the_noise_of_the_grid() -> None:
    scale = Fraction(7, 2)
    law = discrete_laplace_law(0, scale, -30, 30)
    for least in (-30, -5, 0, 1, 4, 30):
        at_least = 1 - sum(chance for place, chance in law.items() if isinstance(place, int) and place < least)
        below = law["below the window"]
        assert abs(noise_tail(least, scale) - (at_least - below)) < Fraction(1, 2**150)


def test_a_release_is_a_law_and_is_symmetric_about_its_value() -> None:
    law = noisy_law(3, Fraction(2), Fraction(1, 2), tuple(Fraction(place) for place in (-9, -1, 3, 7, 15)))
    assert sum(law.values()) == 1
    assert law[0] < law[1] < law[2]
    assert law[2] == pytest.approx(law[3], rel=1e-9)
    assert law[0] == pytest.approx(law[5], rel=1e-9)


def test_exact_values_and_bounds_of_0_have_no_noise() -> None:
    assert noisy_law(Exact("x"), Fraction(9), Fraction(1), ()) == {("exact", "x"): 1}
    assert noisy_law(Fraction(1, 3), Fraction(0), Fraction(1), (Fraction(0),)) == {("exact", Fraction(1, 3)): 1}


# Draws against laws. Releases are put where the law's cuts put them; exact values are compared as floats.


def seen(law: Mapping[Hashable, Fraction]) -> Law:
    """A law whose exact outcomes are floats."""
    return {
        ("exact", float(outcome[1])) if isinstance(outcome, tuple) and outcome[0] == "exact" else outcome: float(chance)
        for outcome, chance in law.items()
    }


def placed(value: object, exact: set[float], edges: list[float]) -> Hashable:
    """The outcome that a drawn value belongs to."""
    if isinstance(value, Refused):
        return REFUSED
    assert isinstance(value, (int, float))
    return ("exact", value) if value in exact or not edges else bisect_right(edges, value)


def fits(draw: Callable[[RandomSource], object], law: Mapping[Hashable, Fraction], edges: list[float]) -> bool:
    wanted = {outcome: chance for outcome, chance in seen(law).items() if chance > 0}
    exact = {outcome[1] for outcome in wanted if isinstance(outcome, tuple)}
    source = seeded(17)
    draws = [placed(draw(source), exact, edges) for _ in range(DRAWS)]
    assert set(draws) <= wanted.keys()
    return len(wanted) == 1 or p_value(draws, wanted) > 1e-3


def setting_of(table: np.ndarray, source: RandomSource) -> Setting:
    return Setting(as_column(table), max(3, len(table)), EPSILON, DELTA, Neighbors.CHANGE_ONE, source)


def numbers(cuts: Cuts, grid: LogGrid) -> list[float]:
    return [grid.number(float(cut)) for cut in cuts]


@pytest.mark.parametrize("table", ["ties", "nothing", pytest.param("spread", marks=pytest.mark.long)])
def test_ranges_are_drawn_from_their_laws(table: str) -> None:
    data, grid = TABLES[table], LogGrid(Fraction(2))
    rows, edges = rows_of_table(data, QUARTILES, CAP), numbers(CELL_CUTS, grid)
    scale, centre = scales.scale_cascade(IQR, grid), scales.centre_cascade(IQR, grid)
    allocated = [cascade.allocate(epsilon=EPSILON, delta=DELTA) for cascade in (scale, centre)]
    laws = [cascade_of_steps_law(allocation, rows, None, CELL_CUTS) for allocation in allocated]
    assert fits(lambda source: setting_of(data, source).run(scale, (IQR.lower, IQR.upper)), laws[0], edges)
    assert fits(lambda source: setting_of(data, source).run(centre, (IQR.lower, IQR.upper)), laws[1], [])
    jumps = range_jumps_law(IQR, grid, rows, EPSILON, DELTA, CELL_CUTS)
    assert fits(lambda source: scales.range_by_jumps(IQR, grid, setting_of(data, source)), jumps, edges)


@pytest.mark.parametrize("table", ["ties", "nothing", pytest.param("spread", marks=pytest.mark.long)])
def test_quantiles_are_drawn_from_their_laws(table: str) -> None:
    data, width, edges = TABLES[table], Fraction(3, 2), [float(cut) for cut in NUMBER_CUTS]
    rows = rows_of_table(data, (MEDIAN.quantile,), CAP)
    located = locations.location_cascade(MEDIAN, lambda _: width)
    law = cascade_of_steps_law(located.allocate(epsilon=EPSILON, delta=DELTA), rows, None, NUMBER_CUTS)
    assert fits(lambda source: setting_of(data, source).run(located, (MEDIAN.quantile,)), law, edges)
    by_bound = bound_law(MEDIAN, width, rows, EPSILON, DELTA, NUMBER_CUTS)
    assert fits(lambda source: locations.quantile_by_bound(MEDIAN, width, setting_of(data, source)), by_bound, edges)
    stable = stable_law(MEDIAN, rows, EPSILON, DELTA)
    assert fits(lambda source: locations.quantile_if_stable(MEDIAN, setting_of(data, source)), stable, [])


@pytest.mark.parametrize("table", ["spread", "ties"])
def test_trimmed_means_are_drawn_from_their_law(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fixed scale in place of a bought one, so that the whole of epsilon is left."""
    trim, scale, data = Fraction(1, 10), Fraction(9), TABLES[table]
    monkeypatch.setattr(trimmed, "buy_scale", lambda setting, _: (scale, setting))
    kept = trimmed.Kept(trim, 0)
    bound = trimmed._ROOM * scale / kept.rows(len(data))
    rows = rows_of_table(data, (trim, 1 - trim), CAP, trimmed.exact_row)
    law = trimmed_mean_law(kept, bound, rows, EPSILON, DELTA, NUMBER_CUTS)

    def draw(source: RandomSource) -> object:
        outcome = dp.trimmed_mean(data, 0.1, epsilon=EPSILON, delta=DELTA, method="ptr", neighbors="change_one", rng=source)
        return outcome.value if isinstance(outcome, dp.Release) else Refused()

    assert fits(draw, law, [float(cut) for cut in NUMBER_CUTS])


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_modes_are_drawn_from_their_law(neighbors: Neighbors) -> None:
    for data in (TABLES["ties"], np.repeat([3.0, 1.0, 2.0], [4, 4, 2]), np.repeat([1.0, 3.0, 2.0], [5, 4, 2])):
        law = mode_law(as_column(data, numeric=False).most_common(2), Fraction(1), DELTA, neighbors)

        def draw(source: RandomSource, data: np.ndarray = data) -> object:
            outcome = dp.mode(data, epsilon=1, delta=DELTA, neighbors=neighbors, rng=source)
            return outcome.value if isinstance(outcome, dp.Release) else Refused()

        assert fits(draw, law, [])


def test_a_wrong_law_does_not_fit() -> None:
    data = TABLES["ties"]
    rows = rows_of_table(data, (MEDIAN.quantile,), CAP)
    wrong = bound_law(MEDIAN, Fraction(3, 2), rows, EPSILON * Fraction(5, 4), DELTA, NUMBER_CUTS)
    draw = lambda source: locations.quantile_by_bound(MEDIAN, Fraction(3, 2), setting_of(data, source))  # noqa: E731
    assert not fits(draw, wrong, [float(cut) for cut in NUMBER_CUTS])


def test_every_law_adds_up_to_1() -> None:
    for data, (epsilon, delta) in itertools.product(TABLES.values(), [(Fraction(1, 2), Fraction(1, 1000)), (EPSILON, DELTA)]):
        rows = rows_of_table(data, (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), CAP)
        grid = LogGrid(Fraction(3, 2))
        laws = [
            range_jumps_law(IQR, grid, rows, epsilon, delta, CELL_CUTS),
            bound_law(MEDIAN, Fraction(1), rows, epsilon, delta, NUMBER_CUTS),
            stable_law(MEDIAN, rows, epsilon, delta),
        ]
        assert all(sum(law.values()) == 1 for law in laws)
