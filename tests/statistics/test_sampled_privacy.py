"""Sampled attacks on whole statistics, through the public interface: `make long`.

The pair of tables and the event are chosen beforehand, by the exact law or on other samples; then the confidence bound on
epsilon may not exceed the claim, and must exceed it for a statistic that spends more than it says.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.universal.decimals import ordinal_of
from dpstats.statistics.universal.measure import WHOLE
from dpstats.testing import seeded
from tests.laws.ranks import cuts_of, rank_law
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.statistics.tables import neighbouring_tables

pytestmark = pytest.mark.long

RUNS = 20_000
TIGHT = 1 - 1e-4
GRID_RUNS, PILOTS = 1000, 200
"""Of each table, where many events are looked at. They refute a statistic by which an outlier is seen, and a count that spends 3
and claims 1; smaller breaches of quantiles are for exact laws (tests/laws/ranks.py)."""
CONFIDENCE = 1 - 1e-7
"""For each of at most 450 events that a test looks at: other seeds raise a false alarm in fewer than one of 20,000 tests."""
PAIRS: dict[str, tuple[list[float], list[float]]] = {
    "nothing or one row": ([], [1e9]),
    "a tie broken": ([0.0] * 12 + [1.0] * 12, [0.0] * 12 + [1.0] * 13),
    "an outlier": ([1.0, 2.0, 3.0, 4.0] * 6, [1.0, 2.0, 3.0, 4.0] * 6 + [1e6]),
    "all alike": ([12.99] * 9, [12.99] * 10),
}
STATISTICS: dict[str, Callable[..., Any]] = {
    "median": dp.median,
    "tail": lambda data, **options: dp.quantile(data, 0.99, **options),
    "low tail": lambda data, **options: dp.quantile(data, 0.02, **options),
    "quartiles": lambda data, **options: dp.quantile(data, [0.25, 0.75], **options),
    "iqr": dp.iqr,
    "cdf": lambda data, **options: dp.cdf(data, points=3, **options),
    "count": dp.count,
}


def numbers(release: Any) -> tuple[float, ...]:
    """A release as a tuple of numbers."""
    value = getattr(release.value, "values", release.value)
    return value if isinstance(value, tuple) else (float(value),)


def samples(ask: Callable[..., Any], data: object, epsilon: object, seed: int, runs: int) -> list[tuple[float, ...]]:
    """Releases from one seeded stream."""
    rng = seeded(seed)
    return [numbers(ask(data, epsilon=epsilon, rng=rng)) for _ in range(runs)]


def hardest_pair(epsilon: Fraction) -> tuple[list[int], list[int], float, float]:
    """Of many small pairs the one that the exact law of the median tells apart best, by which value, and how well.

    Of whole numbers, whose type alone decides the measure, so that the law is that of a single draw.
    """
    best: tuple[float, list[int], list[int], float] = (0.0, [], [], 0.0)
    for reals, more_reals in neighbouring_tables(seed=8, count=400, most_rows=14):
        if not all(abs(value) < 1e6 for value in more_reals):
            continue
        table, neighbour = [round(value) for value in reals], [round(value) for value in more_reals]
        cuts = cuts_of(neighbour, measure=WHOLE)
        targets = [Fraction(len(rows), 2) for rows in (table, neighbour)]
        laws = [
            rank_law(rows, cuts, target, epsilon, epsilon, measure=WHOLE)
            for rows, target in zip((table, neighbour), targets, strict=True)
        ]
        for value in set(table):
            p, q = (float(law[WHOLE.span(ordinal_of(value))[0]]) for law in laws)
            if min(p, q) > 0.03:
                best = max(best, (abs(float(np.log(p / q))), table, neighbour, float(value)), key=lambda found: found[0])
    return best[1], best[2], best[3], best[0]


def test_the_median_is_not_refuted_where_the_exact_law_is_tightest_and_its_twin_is() -> None:
    table, neighbour, value, exact = hardest_pair(Fraction(3))
    assert exact > 1.5
    first, second = (samples(dp.median, np.array(rows), 3, seed, RUNS) for rows, seed in ((table, 1), (neighbour, 2)))
    found = max(
        epsilon_lower_bound(one, other, lambda drawn: drawn[0] == value, confidence=TIGHT).at_least
        for one, other in ((first, second), (second, first))
    )
    assert found <= exact + 1e-9  # what it claims, 3, stands
    assert found > 1  # its twin that claims 1 and spends 3 is refuted by the same samples


def largest_epsilon(statistic: str, pair: tuple[list[float], list[float]], epsilon: int, runs: int) -> float:
    """The largest epsilon that an event shows, of those that pilots suggest."""
    ask, (table, neighbour) = STATISTICS[statistic], pair
    pilot = samples(ask, table, epsilon, 3, PILOTS) + samples(ask, neighbour, epsilon, 4, PILOTS)
    first, second = samples(ask, table, epsilon, 5, runs), samples(ask, neighbour, epsilon, 6, runs)
    found = []
    for place in range(len(pilot[0])):
        for cut in np.unique(np.quantile([drawn[place] for drawn in pilot], np.linspace(0.02, 0.98, 25))):
            events: list[Callable[[tuple[float, ...]], bool]] = [
                lambda drawn, place=place, cut=cut: drawn[place] <= cut,  # type: ignore[misc]
                lambda drawn, place=place, cut=cut: drawn[place] > cut,  # type: ignore[misc]
                lambda drawn, place=place, cut=cut: drawn[place] == cut,  # type: ignore[misc]
            ]
            for event in events:
                for one, other in ((first, second), (second, first)):
                    found.append(epsilon_lower_bound(one, other, event, confidence=CONFIDENCE).at_least)
    return max(found)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_no_statistic_is_refuted_on_any_event_of_a_hard_pair(statistic: str, pair: str) -> None:
    assert largest_epsilon(statistic, PAIRS[pair], 1, GRID_RUNS) <= 1


@pytest.mark.parametrize("statistic", STATISTICS)
def test_and_one_that_spends_a_hundred_and_claims_one_is(statistic: str) -> None:
    side = -1 if statistic == "low tail" else 1
    table, neighbour = ([side * value for value in rows] for rows in PAIRS["an outlier"])
    assert largest_epsilon(statistic, (table, neighbour), 100, GRID_RUNS // 4) > 1
