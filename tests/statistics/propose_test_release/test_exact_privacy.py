"""The exact laws of tested statistics on every small table keep to their claims, and broken twins do not."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest

from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.mechanisms.pipelines.pipeline import Allocation, Pipeline
from dpstats.statistics.propose_test_release import locations, scales, setting
from dpstats.statistics.propose_test_release.distances import steps_to_sensitive
from dpstats.statistics.propose_test_release.locations import QuantileStatistic
from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.ranks import RankedRows
from dpstats.statistics.propose_test_release.scales import HALVES, RangeStatistic
from dpstats.statistics.propose_test_release.trimmed_means import Kept, exact_row
from tests.laws.propose_test_release import cascade_law
from tests.laws.tested_statistics import (
    HALF,
    bound_law,
    cascade_of_steps_law,
    cell_or_zero,
    mean_of_ranks,
    mode_law,
    noisy_law,
    one_test_law,
    pass_chance,
    range_jumps_law,
    rows_of_table,
    stable_law,
    trimmed_mean_law,
)
from tests.privacy_loss.exact import hockey_stick
from tests.twins.propose_test_release import PrintedScaleTest, other_bin_best_test

Table = tuple[float, ...]
Family = tuple[Table, range]
"""The values that rows may have, and how many rows there may be."""
Law = dict[Hashable, float]
LawOf = Callable[[Table, Fraction, Fraction], Mapping[Hashable, Fraction]]
Rows = setting.TestedRows

INF = math.inf
CAP = 40
"""More steps than any distance on a small table takes, and than any of the tests below looks."""
ROUNDING = 1 + 1e-9
CLAIMS = [(Fraction(1, 2), Fraction(1, 20)), (Fraction(1), Fraction(1, 5)), (Fraction(2), Fraction(1, 50))]
FAMILIES = [((0.0, 1.0, 3.0), range(8)), ((-INF, 0.0, 1.0, 2.5, INF), range(5))]
LONG_FAMILIES = [((0.0, 1.0), range(15)), ((0.0, 1.0, 2.0, 5.0), range(9)), ((-INF, 0.0, 1.0, 1.5, 4.0, INF), range(6))]
QUARTILES, OUTER = (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 10), Fraction(9, 10))
ODD = (Fraction(2, 5), Fraction(2, 3))
"""A pair of quantiles whose low rank is not the ceiling of its own part of the rows."""
CELL_CUTS = tuple(Fraction(place * CELLS, 2) for place in range(-5, 10))
NUMBER_CUTS = tuple(Fraction(place, 2) for place in range(-5, 14))


@functools.cache
def edge(base: Fraction, cell: int) -> Fraction:
    return LogGrid(base).edge(cell)


class RememberedGrid(LogGrid):
    """A grid that computes no edge twice."""

    def edge(self, cell: int) -> Fraction:
        return edge(self.base, cell)


BASE_TWO, FINE = RememberedGrid(Fraction(2)), RememberedGrid(Fraction(5, 4))


# Tables and their neighbours.


def tables_of(values: Table, sizes: range) -> list[Table]:
    """Every table of these sizes, sorted."""
    return [table for size in sizes for table in itertools.combinations_with_replacement(values, size)]


@functools.cache
def pairs_of(values: Table, sizes: range, neighbors: Neighbors) -> set[tuple[Table, Table]]:
    """Every pair of tables that differ by a row added. Under CHANGE_ONE a row may change as well, or go missing."""
    pairs = set()
    for table in tables_of(values, sizes[:-1]):
        larger = [tuple(sorted((*table, value))) for value in values]
        pairs |= {(table, more) for more in larger}
        if neighbors is Neighbors.CHANGE_ONE:
            pairs |= set(itertools.combinations(larger, 2))
    return pairs


@functools.cache
def worst_delta(
    law_of: LawOf, family: Family, epsilon: Fraction, delta: Fraction, neighbors: Neighbors = Neighbors.CHANGE_ONE
) -> float:
    """The largest delta that a pair of neighbours needs at this epsilon."""
    laws: dict[Table, Law] = {
        table: {outcome: float(chance) for outcome, chance in law_of(table, epsilon, delta).items()}
        for table in tables_of(*family)
    }
    assert all(math.isclose(math.fsum(law.values()), 1, rel_tol=1e-9) for law in laws.values())
    return max(hockey_stick(laws[one], laws[other], epsilon) for one, other in pairs_of(*family, neighbors))


# The statistics, each as a function from a table and a claim to its law. No law but the mode's depends on the relation, so
# that the pairs of CHANGE_ONE, which include all pairs of ADD_REMOVE, test both.


@functools.cache
def ranked(table: Table, quantiles: tuple[Fraction, ...]) -> Rows:
    return rows_of_table(list(table), quantiles, CAP)


@functools.cache
def ranked_exactly(table: Table, trim: Fraction) -> Rows:
    return rows_of_table(list(table), (trim, 1 - trim), CAP, exact_row)


def by_steps(pipeline: Pipeline, quantiles: tuple[Fraction, ...], cuts: tuple[Fraction, ...], proposal: object = None) -> LawOf:
    @functools.cache
    def allocation(epsilon: Fraction, delta: Fraction) -> Allocation:
        return pipeline.allocate(epsilon=epsilon, delta=delta)

    def law(table: Table, epsilon: Fraction, delta: Fraction) -> Mapping[Hashable, Fraction]:
        return cascade_of_steps_law(allocation(epsilon, delta), ranked(table, quantiles), proposal, cuts)

    return law


def range_laws(measured: RangeStatistic, grid: LogGrid) -> dict[str, LawOf]:
    ends = (measured.lower, measured.upper)
    return {
        "scale cascade": by_steps(scales.scale_cascade(measured, grid), ends, CELL_CUTS),
        "centre cascade": by_steps(scales.centre_cascade(measured, grid), ends, ()),
        "jumps": lambda table, e, d: range_jumps_law(measured, grid, ranked(table, ends), e, d, CELL_CUTS),
    }


def place_laws(place: QuantileStatistic, width: Fraction) -> dict[str, LawOf]:
    at = (place.quantile,)
    return {
        "location cascade": by_steps(locations.location_cascade(place, lambda _: width), at, NUMBER_CUTS),
        "location points": by_steps(locations.location_cascade(place, lambda _: 0), at, NUMBER_CUTS),
        "bound": lambda table, e, d: bound_law(place, width, ranked(table, at), e, d, NUMBER_CUTS),
        "stable": lambda table, e, d: stable_law(place, ranked(table, at), e, d),
    }


def mean_law(trim: Fraction, bound: Fraction) -> LawOf:
    kept = Kept(trim, 0)
    return lambda table, e, d: trimmed_mean_law(kept, bound, ranked_exactly(table, trim), e, d, NUMBER_CUTS)


def mode_law_under(neighbors: Neighbors) -> LawOf:
    return lambda table, e, d: mode_law(as_column(list(table), numeric=False).most_common(2), e, d, neighbors)


CASES: dict[str, LawOf] = {
    **{f"quartiles by {name}": law for name, law in range_laws(RangeStatistic(*QUARTILES), BASE_TWO).items()},
    **{f"deciles by {name}": law for name, law in range_laws(RangeStatistic(*OUTER), FINE).items()},
    **{f"median by {name}": law for name, law in place_laws(QuantileStatistic(Fraction(1, 2)), Fraction(3, 2)).items()},
    **{f"upper decile by {name}": law for name, law in place_laws(QuantileStatistic(Fraction(9, 10)), Fraction(1)).items()},
    "quartiles by both ends": by_steps(locations.located_range(RangeStatistic(*QUARTILES), lambda _: 1), QUARTILES, NUMBER_CUTS),
    "deciles by both ends": by_steps(locations.located_range(RangeStatistic(*OUTER), lambda _: 1), OUTER, NUMBER_CUTS),
    "odd pair by both ends": by_steps(locations.located_range(RangeStatistic(*ODD), lambda _: 1), ODD, NUMBER_CUTS),
    "odd pair by jumps": range_laws(RangeStatistic(*ODD), BASE_TWO)["jumps"],
    "mean of the middle half": mean_law(Fraction(1, 4), Fraction(3, 4)),
    "mean of the middle eight tenths": mean_law(Fraction(1, 10), Fraction(1, 2)),
    "mode": mode_law_under(Neighbors.CHANGE_ONE),
}


@pytest.mark.parametrize("claim", [CLAIMS[1], *(pytest.param(claim, marks=pytest.mark.long) for claim in (CLAIMS[0], CLAIMS[2]))])
@pytest.mark.parametrize("name", CASES)
def test_no_pair_of_neighbours_needs_more_than_delta(name: str, claim: tuple[Fraction, Fraction]) -> None:
    epsilon, delta = claim
    for family in FAMILIES:
        assert worst_delta(CASES[name], family, epsilon, delta) <= delta * ROUNDING


@pytest.mark.parametrize("name", CASES)
def test_some_pair_of_neighbours_uses_a_good_part_of_delta(name: str) -> None:
    """Otherwise the tests never pass on tables so small, and the audit would see nothing."""
    epsilon, delta = CLAIMS[1]
    assert max(worst_delta(CASES[name], family, epsilon, delta) for family in FAMILIES) >= delta / 2


def test_the_mode_keeps_to_its_claim_where_rows_are_added_or_removed() -> None:
    law = mode_law_under(Neighbors.ADD_REMOVE)
    for family, (epsilon, delta) in itertools.product([*FAMILIES, ((0.0, 1.0), range(13))], CLAIMS):
        assert delta / 2 <= worst_delta(law, family, epsilon, delta, Neighbors.ADD_REMOVE) <= delta * ROUNDING


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_no_pair_of_neighbours_among_larger_tables_needs_more_than_delta(name: str) -> None:
    for family, (epsilon, delta) in itertools.product(LONG_FAMILIES, [*CLAIMS, (Fraction(1, 10), Fraction(1, 100))]):
        assert worst_delta(CASES[name], family, epsilon, delta) <= delta * ROUNDING


@pytest.mark.long
@pytest.mark.parametrize("pair", [(6, 10), (5, 15), (1, 19), (0, 20), (10, 14)])
def test_no_range_of_any_pair_of_quantiles_needs_more_than_delta(pair: tuple[int, int]) -> None:
    measured = RangeStatistic(Fraction(pair[0], 20), Fraction(pair[1], 20))
    laws = [law for grid in (BASE_TWO, FINE) for law in range_laws(measured, grid).values()]
    for law, family, (epsilon, delta) in itertools.product(
        laws, [((0.0, 1.0, 3.0, 4.5), range(8)), ((0.0, 2.0), range(13))], CLAIMS
    ):
        assert worst_delta(law, family, epsilon, delta) <= delta * ROUNDING


# Broken twins: each makes one mistake, and the same audit refutes it.


@dataclass(frozen=True)
class FloorRange(RangeStatistic):
    """Mistake: the ranks floor(n/4) and n - floor(n/4), of which a row added can move the low one alone."""

    def ranks(self, rows: RankedRows) -> tuple[int, int]:
        quarter = max(1, rows.raw_rows // 4) if rows.raw_rows else 0
        return quarter, max(quarter, rows.raw_rows - rows.raw_rows // 4)


def refuted(law_of: LawOf, family: Family, neighbors: Neighbors) -> bool:
    """Whether some claim is broken by more than rounding could explain."""
    return any(worst_delta(law_of, family, epsilon, delta, neighbors) > 1.2 * delta for epsilon, delta in CLAIMS)


def test_floors_as_ranks_are_refuted_where_rows_are_added() -> None:
    family = ((0.0, 1.0, 2.0, 3.0), range(11, 13))
    assert refuted(range_laws(FloorRange(*QUARTILES), BASE_TWO)["jumps"], family, Neighbors.ADD_REMOVE)
    assert not refuted(range_laws(RangeStatistic(*QUARTILES), BASE_TWO)["jumps"], family, Neighbors.ADD_REMOVE)


def test_a_distance_to_another_bin_under_the_chances_for_one_to_instability_is_refuted() -> None:
    measured = RangeStatistic(*QUARTILES)

    def law(table: Table, epsilon: Fraction, delta: Fraction) -> Mapping[Hashable, Fraction]:
        rows = ranked(table, QUARTILES)
        distance = max(measured.bin_distance(rows, BASE_TWO, shift) for shift in HALVES)
        test = other_bin_best_test(epsilon * HALF, delta)
        return one_test_law(test, distance, cell_or_zero(measured, BASE_TWO, rows), Fraction(CELLS), epsilon * HALF, CELL_CUTS)

    assert refuted(law, FAMILIES[0], Neighbors.ADD_REMOVE)
    assert refuted(law, FAMILIES[0], Neighbors.CHANGE_ONE)


def test_noise_for_half_the_bound_is_refuted() -> None:
    place, bound = QuantileStatistic(Fraction(1, 2)), Fraction(1)

    def law(table: Table, epsilon: Fraction, delta: Fraction) -> Mapping[Hashable, Fraction]:
        rows = ranked(table, (place.quantile,))
        test, distance = BestTest(epsilon * HALF, delta), place.distance_to_sensitive(rows, bound)
        return one_test_law(test, distance, place.raw_value(rows.raw), bound / 2, epsilon * HALF, NUMBER_CUTS)

    assert refuted(law, ((0.0, 1.0), range(9)), Neighbors.CHANGE_ONE)


def test_a_mean_tested_as_if_its_number_of_rows_could_not_move_is_refuted_where_rows_are_added() -> None:
    kept, bound = Kept(Fraction(1, 4), 0), Fraction(1, 5)

    def law(table: Table, epsilon: Fraction, delta: Fraction) -> Mapping[Hashable, Fraction]:
        rows = ranked_exactly(table, kept.trim)
        first, last = kept.ranks(rows.raw.raw_rows)
        width = math.floor((last - first + 1) * bound / rows.raw.unit)
        distance = steps_to_sensitive(rows.raw.at, first, last, width, rows.cap) if last >= first else 0
        test = BestTest(epsilon * HALF, delta)
        return one_test_law(test, distance, mean_of_ranks(rows, first, last), bound, epsilon * HALF, NUMBER_CUTS)

    family = ((0.0, 1.0), range(11))
    assert refuted(law, family, Neighbors.ADD_REMOVE)
    assert not refuted(mean_law(kept.trim, bound), family, Neighbors.ADD_REMOVE)


def test_a_mode_tested_by_its_whole_lead_is_refuted_where_rows_are_changed() -> None:
    assert refuted(mode_law_under(Neighbors.ADD_REMOVE), FAMILIES[0], Neighbors.CHANGE_ONE)


def test_the_printed_threshold_of_algorithm_12_is_refuted() -> None:
    """Dwork & Roth 2014: at epsilon = .1 the range 0 leaves with probability .23 from a table whose neighbour never says 0."""
    measured, step_epsilon, delta = RangeStatistic(*QUARTILES), Fraction(1, 10), Fraction(1, 10**6)
    laws = []
    for table in ((0.0,) * 6 + (1.0,) * 2, (0.0,) * 5 + (1.0,) * 3):
        rows = ranked(table, QUARTILES)
        assert measured.ranks(rows.raw) == (2, 6)
        assert measured.bin_distance(rows, BASE_TWO, 0) == 1
        test = PrintedScaleTest(step_epsilon, delta, 1)
        chances = [pass_chance(test, measured.bin_distance(rows, BASE_TWO, shift)) for shift in scales.HALVES]
        release = noisy_law(cell_or_zero(measured, BASE_TWO, rows), Fraction(CELLS), step_epsilon, CELL_CUTS)
        laws.append(cascade_law(chances, [release, release]))
    assert ("exact", 0.0) not in laws[1]
    assert hockey_stick(laws[0], laws[1], 4 * step_epsilon) >= float(laws[0]["exact", 0.0]) > 0.2


def test_the_corrected_threshold_of_algorithm_12_keeps_to_its_claim_there() -> None:
    epsilon, delta = Fraction(2, 10), Fraction(1, 10**6)
    law_of = CASES["quartiles by scale cascade"]
    laws = [law_of(table, epsilon, delta) for table in ((0.0,) * 6 + (1.0,) * 2, (0.0,) * 5 + (1.0,) * 3)]
    assert delta / 2 <= hockey_stick(laws[0], laws[1], epsilon) <= delta * ROUNDING
