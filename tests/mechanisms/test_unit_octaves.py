"""Rows per unit by octaves: the exact law on neighbours, the bound that follows, and the share of rows it keeps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.unit_octaves import UnitOctaves, noise_scale, noisy_octaves, octave_ends
from tests.laws.mechanisms import discrete_laplace_law
from tests.privacy_loss.exact import Law, largest_log_ratio
from tests.twins.octaves import rows_in_octaves, scale_of_one_count, units_of_at_least

ENDS = (1, 2, 4)
ADD_REMOVE, CHANGE_ONE = Neighbors
PAIRS = {
    ADD_REMOVE: [((3, 0, 2), (3, 0, 1)), ((0, 0, 0), (0, 1, 0))],
    CHANGE_ONE: [((3, 0, 2), (3, 1, 1)), ((1, 0, 0), (0, 0, 1))],
}
"""Hard neighbours: the numbers of units with 1 row, 2, and more."""


def law(raw_counts: Sequence[int], scale: Fraction) -> Law:
    """All noisy counts together, each inside a window that is the same for neighbours."""
    each = [discrete_laplace_law(count, scale, -1, 8) for count in raw_counts]
    found = {}
    for outcome in itertools.product(*each):
        chance = Fraction(1)
        for part, one in zip(outcome, each, strict=True):
            chance *= one[part]
        found[outcome] = chance
    return found


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1)])
def test_neighbours_are_epsilon_apart_and_no_less(neighbors: Neighbors, epsilon: Fraction) -> None:
    scale = noise_scale(epsilon, neighbors)
    losses = [largest_log_ratio(law(here, scale), law(there, scale)) for here, there in PAIRS[neighbors]]
    assert max(losses) == pytest.approx(float(epsilon), rel=1e-9)


def test_broken_twins_are_refuted() -> None:
    one = Fraction(1)
    here, there = PAIRS[CHANGE_ONE][1]
    half = scale_of_one_count(one, CHANGE_ONE)
    assert largest_log_ratio(law(here, half), law(there, half)) == pytest.approx(2)
    here, there = PAIRS[ADD_REMOVE][0]
    for broken in (units_of_at_least, lambda counts: rows_in_octaves(counts, (1, 2))):
        assert largest_log_ratio(law(broken(here), one), law(broken(there), one)) > 1.9


@pytest.mark.parametrize("neighbors", Neighbors)
def test_noise_has_the_stated_scale(neighbors: Neighbors) -> None:
    source, epsilon = seeded(3), Fraction(1, 2)
    drawn = np.array([noisy_octaves((100,) * 8, epsilon, neighbors, source) for _ in range(2000)]) - 100
    scale = float(noise_scale(epsilon, neighbors))
    assert scale == (2 if neighbors is ADD_REMOVE else 4)
    assert np.abs(drawn).mean() == pytest.approx(scale, rel=0.06)  # and at 0.9 or 1.1 times the scale it is not
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.08


@pytest.mark.parametrize(
    ("counts", "rows"),
    [
        ((900, 3, -9, 2), 1),
        ((900, 300, -9, 2), 2),
        ((900, 300, 51, 2), 4),
        ((900, 300, 50, 2), 2),  # 2.5 scales are not more than 2.5 scales
        ((900, 10, 800, 2), 1),  # a gap: what lies beyond it shows in the share
        ((10, 10, 800, 2), 4),
        ((10, 10, 800, 400), 4),  # beyond the public cap
        ((3, 10, 20, 400), 4),
        ((3, 10, 20, -40), 1),  # too few units to see any
    ],
)
def test_the_bound_is_the_end_of_the_last_octave_that_is_seen_from_the_fullest_one_on(counts: tuple[int, ...], rows: int) -> None:
    assert UnitOctaves(ENDS, counts, Fraction(20)).rows == rows


SHAPES: dict[str, Callable[[np.random.Generator], NDArray[np.int64]]] = {
    "one row each": lambda _: np.ones(3000, dtype=np.int64),
    "eight rows each": lambda _: np.full(3000, 8),
    "few to many": lambda rng: 1 + rng.geometric(0.25, 4000),
    "heavy": lambda rng: np.minimum(rng.zipf(1.8, 6000), 60),
}
"""Rows of each of some units."""


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_share_of_rows_lies_within_its_ends_in_95_of_100_cases(shape: str, neighbors: Neighbors) -> None:
    source, ends, epsilon = seeded(11), octave_ends(64), Fraction(1, 20)
    sizes = SHAPES[shape](np.random.default_rng(2))
    raw_counts = np.bincount(np.searchsorted(np.array(ends), sizes), minlength=len(ends) + 1).tolist()
    held, tried = 0, 400
    for _ in range(tried):
        octaves = UnitOctaves(ends, noisy_octaves(raw_counts, epsilon, neighbors, source), noise_scale(epsilon, neighbors))
        share = octaves.share()
        true = np.minimum(sizes, octaves.rows).sum() / sizes.sum()
        held += share is None or share[0] <= true <= share[1]
        tried -= share is None
    assert held >= 0.95 * 400


def test_units_beyond_the_cap_leave_the_share_open() -> None:
    octaves = UnitOctaves(ENDS, (900, 300, 300, 400), Fraction(20))
    assert octaves.share() is None
    assert octaves.share_words() == ""
    assert octaves.beyond


def test_noise_alone_sees_units_beyond_the_cap_in_fewer_than_1_of_1000_releases() -> None:
    for scale in (Fraction(1, 9), Fraction(1, 7), Fraction(2, 7), Fraction(1), Fraction(10), Fraction(20), Fraction(40)):
        q = math.exp(-1 / scale)
        least = next(count for count in itertools.count() if UnitOctaves(ENDS, (900, 0, 0, count), scale).beyond)
        assert q**least / (1 + q) < 1 / 1000  # that discrete Laplace noise of this scale is `least` or more
    source, ends = seeded(5), octave_ends(64)
    raw_counts = [900, *[0] * len(ends)]
    releases = [
        UnitOctaves(ends, noisy_octaves(raw_counts, Fraction(1, 20), ADD_REMOVE, source), Fraction(20)) for _ in range(3000)
    ]
    assert sum(octaves.beyond for octaves in releases) <= 8  # 1.4 are expected, and at 2.5 scales 120
    assert all(octaves.share_words() for octaves in releases if not octaves.beyond)


def test_a_count_beyond_the_cap_that_noise_explains_leaves_the_share() -> None:
    octaves = UnitOctaves(ENDS, (900, 300, 300, 140), Fraction(20))
    assert not octaves.beyond
    assert octaves.share_words()
    assert UnitOctaves(ENDS, (900, 300, 300, 141), Fraction(20)).beyond


def test_octaves_come_back_from_plain_values_and_print() -> None:
    octaves = UnitOctaves(octave_ends(4), (900, 300, -3, 0), Fraction(20))
    assert UnitOctaves.from_dict(octaves.to_dict()) == octaves
    assert str(octaves) == "at most 2 rows (about how many have how many rows: 1: 900, 2: 300, 3 to 4: -3, more than 4: 0)"
    assert UnitOctaves(ENDS, (2000, 0, 0, 0), Fraction(1)).share_words() == "about 99% to 100% of the table's rows"
