"""Cells that keep their minimisers: steps by brute force, the paper's own distance, neighbours, and the search."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from dpstats.statistics.regression.cell_search import cells_around, find_stable, may_be_stable, shared_box
from dpstats.statistics.regression.cell_tests import PIECES, SIDE, raw_steps
from dpstats.statistics.regression.ratios import UNIT, Wholes
from dpstats.statistics.regression.solves import solve_exactly
from tests.statistics.regression.cell_distances import distance_by_lines, distance_by_ratios
from tests.statistics.regression.ratio_tables import Rows, added_rows, random_rows, ratios, total
from tests.twins.cell_tests import misprinted_threshold, outer_slope, single_row_test, steps_at_estimate

CORNERS = {
    size: [np.array(corner) for corner in itertools.product((-SIDE // 2, 0, SIDE // 4), repeat=size)] for size in (1, 2, 3)
}


def by_hand(rows: Rows, corner: Wholes) -> int:
    """The steps of a cell in fractions, piece by piece and row by row."""
    size, pieces = len(corner), PIECES[len(corner)]
    marks = [i * SIDE // pieces for i in range(pieces + 1)]
    found = []
    for axis, end in itertools.product(range(size), (0, SIDE)):
        along = [[(end, end)] if k == axis else list(itertools.pairwise(marks)) for k in range(size)]
        for piece in itertools.product(*along):
            corners = [tuple(int(c) + s for c, s in zip(corner, v, strict=True)) for v in set(itertools.product(*piece))]
            gaps = [[sum(w * p for w, p in zip(row, v, strict=False)) - row[-1] for v in corners] for row in rows]
            for v in corners:
                way = [p - int(c) - SIDE // 2 for p, c in zip(v, corner, strict=True)]
                slope = 0
                for row, gap in zip(rows, gaps, strict=True):
                    rise = sum(w * x for w, x in zip(row, way, strict=False))
                    slope += rise if min(gap) > 0 else -rise if max(gap) < 0 else -abs(rise)
                found.append(0 if slope <= 0 else math.isqrt(slope**2 // (UNIT**2 * sum(x * x for x in way))))
    return min(found)


@pytest.mark.parametrize(("size", "count"), [(1, 100), (2, 20), (3, 3)])
def test_steps_are_those_of_fractions_row_by_row(size: int, count: int) -> None:
    chooser, seen = random.Random(size), 0
    for _ in range(count):
        rows, corner = random_rows(chooser, size), chooser.choice(CORNERS[size])
        assert raw_steps(ratios(rows, size), corner) == by_hand(rows, corner)
        seen += bool(rows)
    assert seen


def test_one_coefficient_has_the_closed_form() -> None:
    chooser, positive = random.Random(8), 0
    for _ in range(200):
        places = [chooser.randint(-5, SIDE + 5) if chooser.random() < 0.2 else chooser.randint(0, SIDE) for _ in range(9)]
        rows: Rows = [(UNIT, UNIT * place) for place in places]
        low = sum(r > 0 for r in places) - sum(r <= 0 for r in places)
        high = sum(r < SIDE for r in places) - sum(r >= SIDE for r in places)
        steps = raw_steps(ratios(rows, 1), np.array([0]))
        assert steps == max(0, min(low, high))
        positive += steps > 0
    assert positive


def test_steps_are_at_most_the_papers_distance() -> None:
    chooser, positive = random.Random(3), 0
    for _ in range(300):
        rows, corner = random_rows(chooser, 1), chooser.choice(CORNERS[1])
        steps = raw_steps(ratios(rows, 1), corner)
        assert steps <= distance_by_ratios([(row[0], row[1]) for row in rows], int(corner[0]), int(corner[0]) + SIDE)
        positive += steps > 0
    for _ in range(30):
        rows, corner = random_rows(chooser, 2, 6), chooser.choice(CORNERS[2])
        steps = raw_steps(ratios(rows, 2), corner)
        low = int(corner[0]), int(corner[1])
        lines = [(row[0], row[1], row[2]) for row in rows]
        assert steps <= distance_by_lines(lines, low, (low[0] + SIDE, low[1] + SIDE))
        positive += steps > 0
    assert positive > 15


def test_a_well_placed_cell_has_nearly_the_papers_distance() -> None:
    generator = np.random.default_rng(1)
    angles = generator.uniform(0, np.pi, 40)
    rows = [
        (int(math.cos(a) * UNIT), int(math.sin(a) * UNIT), int(r * UNIT))
        for a, r in zip(angles, generator.normal(0, 5, 40), strict=True)
    ]
    distance = distance_by_lines(rows, (-SIDE // 2, -SIDE // 2), (SIDE // 2, SIDE // 2))
    assert 0.8 * distance <= raw_steps(ratios([*rows], 2), np.array([-SIDE // 2, -SIDE // 2])) <= distance


@pytest.mark.parametrize(("size", "count"), [(1, 300), (2, 100), (3, 60)])
def test_one_row_moves_the_steps_of_a_cell_by_at_most_one(size: int, count: int) -> None:
    moved = 0
    for fewer, more in added_rows(size, count, size):
        for corner in CORNERS[size][:5]:
            steps = [raw_steps(ratios(rows, size), corner) for rows in (fewer, more)]
            assert abs(steps[0] - steps[1]) <= 1
            moved += steps[0] != steps[1]
    assert moved


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_stable_cell_has_all_minimisers_inside(size: int) -> None:
    chooser, stable = random.Random(5), 0
    while stable < 8:
        rows, corner = random_rows(chooser, size, 6), chooser.choice(CORNERS[size])
        if raw_steps(ratios(rows, size), corner):
            stable += 1
            for place in minimising_vertices(rows, size):
                assert all(c < p < c + SIDE for p, c in zip(place, map(int, corner), strict=True))


def minimising_vertices(rows: Rows, size: int) -> list[tuple[Fraction, ...]]:
    """Where as many rows meet as there are coefficients and f is least: all minimisers lie between these, if there are any."""
    systems = itertools.combinations(sorted(set(rows)), size)
    vertices = {tuple(found) for system in systems if (found := solve_exactly([[float(each) for each in row] for row in system]))}
    totals = {vertex: total(rows, vertex) for vertex in vertices}
    return [vertex for vertex, each in totals.items() if each == min(totals.values())]


@pytest.mark.parametrize(("size", "reach"), [(1, 3), (2, 1)])
def test_the_search_finds_every_stable_cell(size: int, reach: int) -> None:
    chooser, found = random.Random(size), 0
    cells = cells_around(size, reach, [np.array(shift) for shift in itertools.product((0, SIDE // 2), repeat=size)])
    for _ in range(40):
        rows = ratios(random_rows(chooser, size), size)
        each = {tuple(corner): steps for corner in cells.corners if (steps := raw_steps(rows, corner))}
        stable = find_stable(rows, cells)
        assert {tuple(cell.corner): cell.raw_steps for cell in stable} == each
        found += len(stable) > 1
        if stable:
            low, high = shared_box(stable)
            assert (low < high).all()
    assert found


def test_a_gradient_inside_a_cell_does_not_strike_it_off() -> None:
    rows = ratios([(UNIT, UNIT * (SIDE - 4))] * 9, 1)  # to the right of both places
    assert raw_steps(rows, np.array([0])) == 9
    place, centre = np.array([SIDE * 3 // 4]), np.array([[SIDE // 2]])
    assert may_be_stable(rows, place, centre).all()
    assert not may_be_stable(rows, place, centre - SIDE).any()


def test_neighbours_share_a_cell_where_there_are_steps_enough() -> None:
    cells, shared = cells_around(2, 1, [np.array([0, 0]), np.array([SIDE // 2, 0]), np.array([0, SIDE // 2])]), 0
    for fewer, more in added_rows(11, 80, 2):
        tables = [find_stable(ratios(rows, 2), cells) for rows in (fewer, more)]
        most = [max((cell.raw_steps for cell in stable), default=0) for stable in tables]
        assert abs(most[0] - most[1]) <= 1
        if max(most) > 1:
            shared += 1
            assert set.intersection(*({tuple(cell.corner) for cell in stable} for stable in tables))
            boxes = [shared_box(stable) for stable in tables]
            assert (np.maximum(boxes[0][1], boxes[1][1]) - np.minimum(boxes[0][0], boxes[1][0]) <= SIDE).all()
    assert shared > 5


def test_empty_and_huge_tables_have_steps_without_complaint() -> None:
    for size in (1, 2, 3):
        assert raw_steps(ratios([], size), CORNERS[size][0]) == 0
        assert find_stable(ratios([(0,) * (size + 1)] * 5, size), cells_around(size, 2, [CORNERS[size][0]])) == []


# What is broken is refuted


def ratio_rows(*places: int) -> Rows:
    return [(UNIT, UNIT * place) for place in places]


def test_the_papers_distance_falls_by_two_where_one_row_changes() -> None:
    ten = distance_by_ratios([(1 * UNIT, SIDE // 2 * UNIT)] * 10, 0, SIDE)
    moved = distance_by_ratios([(1 * UNIT, SIDE // 2 * UNIT)] * 9 + [(UNIT, SIDE * 2 * UNIT)], 0, SIDE)
    assert (ten, moved) == (10, 8)
    assert raw_steps(ratios(ratio_rows(*[SIDE // 2] * 10), 1), np.array([0])) == 10
    assert raw_steps(ratios(ratio_rows(*[SIDE // 2] * 9, SIDE * 2), 1), np.array([0])) == 8
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**6)
    twin, test = single_row_test(epsilon, delta), LaplaceTest(epsilon, delta, unstable_at=2, sensitivity=2)
    ratio = {each: math.log(each.pass_probability(10) / each.pass_probability(8)) for each in (twin, test)}
    assert ratio[twin] == pytest.approx(2 * float(epsilon))
    assert ratio[test] <= float(epsilon) * (1 + 1e-9)


def test_slopes_outside_let_a_minimiser_lie_on_the_boundary() -> None:
    rows, cells = ratios(ratio_rows(*[SIDE] * 9), 1), [np.array([corner]) for corner in (0, SIDE)]
    assert [outer_slope(rows, corner) for corner in cells] == [9, 9]  # two cells of one grid, and f has one minimiser
    assert [raw_steps(rows, corner) for corner in cells] == [0, 0]


def test_an_estimate_that_is_off_lets_the_steps_jump() -> None:
    fewer = ratio_rows(*[SIDE // 2] * 40)
    more = [*fewer, (UNIT, UNIT * 100 * SIDE)]  # a mean for an estimate goes out of the cell
    estimates = [np.array([round(sum(row[1] for row in rows) / UNIT / len(rows))]) for rows in (fewer, more)]
    twins = [steps_at_estimate(ratios(rows, 1), estimate) for rows, estimate in zip((fewer, more), estimates, strict=True)]
    assert twins == [40, 0]
    cells = cells_around(1, 200, [np.array([SIDE // 2])])
    assert [find_stable(ratios(rows, 1), cells)[0].raw_steps for rows in (fewer, more)] == [40, 39]


def test_the_misprinted_threshold_lets_unstable_tables_pass() -> None:
    rows, epsilon = 10_000, 0.1
    passes = math.exp(-epsilon * (misprinted_threshold(rows) - 2)) / 2
    assert passes == pytest.approx(0.0792, abs=1e-4)
    meant = math.exp(-epsilon * math.log(rows) ** 2) / 2
    assert passes > 700 * meant


@pytest.mark.parametrize("moves", [1, 2])
def test_the_chances_of_a_reply_keep_epsilon_and_delta_on_neighbours(moves: int) -> None:
    epsilon, delta = Fraction(1, 4), Fraction(1, 10**6)
    test, factor = BestTest(epsilon, delta, unstable_at=moves, sensitivity=moves), math.exp(0.25)
    cells = cells_around(1, 3, [np.array([0]), np.array([SIDE // 2])])
    table = ratio_rows(*[SIDE // 4] * 70)
    largest = 0.0
    for _ in range(80):
        changed = [*table[1:], (UNIT, UNIT * 3 * SIDE)] if moves == 2 else [*table, (UNIT, UNIT * 3 * SIDE)]
        steps = [max((cell.raw_steps for cell in find_stable(ratios(rows, 1), cells)), default=0) for rows in (table, changed)]
        p, q = (test.pass_probability(each) for each in steps)
        for one, other in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
            assert one <= factor * other + float(delta) + 1e-12
        largest = max(largest, p / q if q else 0.0)
        table = changed
    assert largest > 1.2  # the pairs are hard


def test_a_cell_is_not_struck_off_because_there_are_many_rows() -> None:
    """The product of a far place and the pull of as many rows goes beyond 64 bits."""

    class ManyRows:
        dimensions = 1

        def distances(self, place: Wholes) -> np.ndarray[Any, Any]:
            return np.ones(1)

        def pull(self, signs: np.ndarray[Any, Any]) -> Wholes:
            return np.array([10**8 * UNIT])

    far = np.array([[-4000 * SIDE]])
    assert may_be_stable(ManyRows(), np.array([4000 * SIDE]), far).all()  # type: ignore[arg-type]
