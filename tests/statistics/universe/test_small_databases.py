"""The small database mechanism: its law is the definition's, and private on every small pair; the twins' is not."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.exponential import WeightBounds
from dpstats.statistics.universe import small_databases
from dpstats.statistics.universe.loss_weights import loss_weights
from dpstats.statistics.universe.small_databases import (
    SmallDatabase,
    SmallDatabasePlan,
    draw_small_database,
    raw_scored_databases,
    size_for,
    small_database_plan,
)
from dpstats.statistics.universe.universe import Universe
from dpstats.testing import seeded
from tests.laws.universes import database_law, marginal_queries, miss
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.universes import one_sided_law, stated_rows_law

EPSILON = Fraction(3, 2)
SETTINGS = [((2,), 1, 2), ((2,), 1, 3), ((3,), 1, 2), ((3,), 1, 3), ((2, 2), 1, 2), ((2, 2), 2, 2), ((2, 2), 2, 3)]


def plan_of(sizes: tuple[int, ...], ways: int, size: int, epsilon: Fraction = EPSILON) -> SmallDatabasePlan:
    universe = Universe(tuple("abcde"[: len(sizes)]), tuple(tuple(range(levels)) for levels in sizes))
    return small_database_plan(universe, ways=ways, size=size, epsilon=epsilon)


def small_tables(cells: int, rows: int) -> Iterator[tuple[int, ...]]:
    """Every table of at most so many rows, as counts of cells."""
    yield from (counts for counts in itertools.product(range(rows + 1), repeat=cells) if sum(counts) <= rows)


def one_more(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for cell in range(len(counts)):
        yield (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])


def worst_loss(sizes: tuple[int, ...], ways: int, size: int, law: object = database_law, rows: int = 2) -> float:
    """The largest loss over all pairs of tables of at most so many rows, and one more."""
    queries = marginal_queries(sizes, ways)
    laws = {each: law(each, queries, size, EPSILON) for each in small_tables(math.prod(sizes), rows + 1)}
    pairs = ((here, there) for here in small_tables(math.prod(sizes), rows) for there in one_more(here))
    return max(largest_log_ratio(laws[here], laws[there]) for here, there in pairs)


@pytest.mark.parametrize(("sizes", "ways", "size"), SETTINGS)
def test_the_law_is_private_for_one_row_more_on_every_small_pair(sizes: tuple[int, ...], ways: int, size: int) -> None:
    assert 0.3 < worst_loss(sizes, ways, size) <= float(EPSILON) + 1e-12


@pytest.mark.parametrize(("sizes", "ways", "size"), [((3,), 1, 2), ((2, 2), 2, 2)])
def test_the_law_is_private_for_one_changed_row(sizes: tuple[int, ...], ways: int, size: int) -> None:
    queries = marginal_queries(sizes, ways)
    for counts in small_tables(math.prod(sizes), 2):
        laws = [database_law(each, queries, size, EPSILON) for each in one_more(counts)]
        assert max(largest_log_ratio(here, there) for here in laws for there in laws) <= float(EPSILON) + 1e-12


@pytest.mark.parametrize("size", [2, 3])
def test_two_cells_nearly_reach_the_claim_and_refute_the_twin_without_the_factor_two(size: int) -> None:
    reached = (1 - 1 / (2 * size)) * float(EPSILON)  # 30 rows in one cell and none in the other: rows gain a new kind
    assert reached * 0.97 < worst_loss((2,), 1, size, rows=30) <= float(EPSILON)
    assert worst_loss((2,), 1, size, one_sided_law, rows=30) > 1.4 * float(EPSILON)


def test_the_twin_that_believes_a_stated_number_of_rows_is_refuted() -> None:
    queries, here, there = marginal_queries((2,), 1), (2, 0), (2, 1)
    losses = {
        n: largest_log_ratio(*(stated_rows_law(each, queries, 3, EPSILON, n) for each in (here, there))) for n in (2, 3, 20)
    }
    assert losses[2] <= EPSILON
    assert losses[3] <= EPSILON
    assert losses[20] > 2 * EPSILON


@pytest.mark.parametrize(("sizes", "ways", "size"), [((2,), 1, 3), ((3, 2), 2, 2), ((2, 2), 2, 5)])
def test_shares_with_the_number_of_rows_itself_have_the_same_law(sizes: tuple[int, ...], ways: int, size: int) -> None:
    counts, queries = tuple(range(1, 1 + math.prod(sizes))), marginal_queries(sizes, ways)
    as_printed = stated_rows_law(counts, queries, size, EPSILON, sum(counts))
    assert largest_log_ratio(as_printed, database_law(counts, queries, size, EPSILON)) < 1e-12


@pytest.mark.parametrize(("sizes", "ways", "size"), [*SETTINGS, ((3, 2), 2, 4), ((2, 2, 2), 2, 3), ((1,), 1, 4), ((2,), 1, 300)])
def test_every_database_has_the_score_of_its_definition(sizes: tuple[int, ...], ways: int, size: int) -> None:
    plan, queries = plan_of(sizes, ways, size), marginal_queries(sizes, ways)
    for counts in ([0] * math.prod(sizes), list(range(3, 3 + math.prod(sizes))), [10**9 + 7] + [1] * (math.prod(sizes) - 1)):
        scores, places = raw_scored_databases(np.array(counts, dtype=np.int64), plan)
        defined = [size * miss(counts, queries, plan.databases.counts(number).tolist()) for number in range(len(places))]
        assert scores[places].tolist() == defined


@pytest.mark.parametrize(("sizes", "ways", "size"), SETTINGS)
def test_all_draws_together_have_the_law_of_the_definition(sizes: tuple[int, ...], ways: int, size: int) -> None:
    """Every way that the two draws can end, with its probability: the level's weight over all, and one in so many databases."""
    counts = tuple([4, 0, 2, 1][: math.prod(sizes)])
    plan, bits = plan_of(sizes, ways, size), 256
    law: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    levels: list[Fraction] = []
    for level, number in itertools.product(range(plan.databases.number), repeat=2):
        within: list[int] = []

        def chosen(weights: WeightBounds, rng: object, level: int = level) -> int:
            levels[:] = [Fraction(low) for low in weights(bits)[0]]
            return min(level, len(levels) - 1)

        def below(rng: object, limit: int, number: int = number, within: list[int] = within) -> int:
            within.append(limit)
            return min(number, limit - 1)

        with patch.object(small_databases, "choose", chosen), patch.object(small_databases, "random_below", below):
            database = draw_small_database(np.array(counts), plan, seeded(1))
        if level < len(levels) and number < within[0]:
            law[cells_of(database, sizes)] += levels[level] / sum(levels) / within[0]
    assert largest_log_ratio(law, database_law(counts, marginal_queries(sizes, ways), size, EPSILON)) < 1e-12


def cells_of(database: SmallDatabase, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """How often each cell is in a database."""
    cells = [int(np.ravel_multi_index(row, sizes)) for row in database.rows]
    return tuple(np.bincount(cells, database.counts, math.prod(sizes)).astype(int).tolist())


@pytest.mark.parametrize("sizes", [(3,), (2, 2)])
def test_databases_are_drawn_with_the_chances_of_their_law(sizes: tuple[int, ...]) -> None:
    counts, ways = [4, 0, 2, 1][: math.prod(sizes)], len(sizes)
    plan, rng, draws = plan_of(sizes, ways, 2), seeded(5), 2000
    drawn: Counter[Hashable] = Counter()
    for _ in range(draws):
        database = draw_small_database(np.array(counts, dtype=np.int64), plan, rng)
        drawn[cells_of(database, sizes)] += 1
    law = database_law(counts, marginal_queries(sizes, ways), 2, EPSILON)
    assert set(drawn) <= set(law)
    for other, rejected in ((1.0, False), (0.6, True), (1.6, True)):
        expected = database_law(counts, marginal_queries(sizes, ways), 2, EPSILON * Fraction(other))
        distance = math.fsum((drawn[each] - draws * float(p)) ** 2 / (draws * float(p)) for each, p in expected.items())
        assert (distance > len(law) + 4 * math.sqrt(2 * len(law))) == rejected


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 10**7), Fraction(10**6, 7)])
def test_float_brackets_enclose_the_weights_and_exact_ones_follow(rate: Fraction) -> None:
    losses = [0, 1, 2, 3, 17, 150, 299, 300, 301, 10**6, 2**53 + 1, 2**62]
    numbers = list(range(1, 1 + len(losses)))
    weights = loss_weights(losses, rate, numbers)
    lows, highs = weights(128)
    exact = [[number * bound for bound in exp_bounds(rate * loss, 512)] for loss, number in zip(losses, numbers, strict=True)]
    for low, high, (least, most) in zip(lows, highs, exact, strict=True):
        assert low << 384 <= least
        assert most <= high << 384
    assert weights(512) == ([least for least, _ in exact], [most for _, most in exact])


def test_the_worst_share_is_as_near_as_the_card_says() -> None:
    plan = plan_of((2, 2, 2), 2, 12, Fraction(1, 2))
    counts = np.random.default_rng(3).multinomial(4000, np.arange(1, 9) / 36).astype(np.int64)
    queries = marginal_queries((2, 2, 2), 2)
    within = [plan.alpha * 4000 + plan.excess() >= _miss(counts, queries, plan, seed) for seed in range(10)]
    assert all(within)
    assert "0.364 + 56 / n" in dict(plan.notes())["accuracy"]


def _miss(counts: np.ndarray, queries: list[tuple[int, ...]], plan: SmallDatabasePlan, seed: int) -> Fraction:
    database = draw_small_database(counts, plan, seeded(seed))
    return miss(counts.tolist(), queries, cells_of(database, (2, 2, 2)))


def test_the_size_is_what_sampling_needs() -> None:
    assert size_for(1, "0.3") == 4
    for queries, alpha in ((1, 0.3), (24, 0.2), (760, 0.1)):
        size = size_for(queries, alpha)
        assert 2 * queries * math.exp(-2 * size * alpha**2) < 1 <= 2 * queries * math.exp(-2 * (size - 1) * alpha**2)
    by_alpha = small_database_plan(Universe(("a",), ((0, 1),)), ways=1, alpha=0.25, epsilon=EPSILON)
    assert by_alpha.size == 12
    assert by_alpha.alpha <= 0.25


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"size": 10}, "databases of 10 rows over 64 possible rows .* fewer columns or levels, or a smaller size"),
        ({"alpha": 0.01}, "a larger alpha; or use contingency_table, mwem or synthesize"),
        ({}, "either its size or alpha"),
        ({"size": 2, "alpha": 0.3}, "either its size or alpha"),
        ({"size": 0}, "size must be"),
        ({"size": 2.0}, "size must be"),
        ({"alpha": 1}, "between 0 and 1"),
        ({"alpha": "a tenth"}, "alpha must be a number"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_read(words: dict[str, object], complaint: str) -> None:
    universe = Universe(tuple("abcdef"), ((0, 1),) * 6)
    with pytest.raises(InvalidParameterError, match=complaint):
        small_database_plan(universe, ways=2, epsilon=EPSILON, **words)


def test_a_small_database_answers_marginals_and_comes_back_from_json() -> None:
    universe = Universe(("town", "sick"), (("Ayr", "Bree"), (0, 1)))
    plan = small_database_plan(universe, ways=2, size=4, epsilon=Fraction(50))
    database = draw_small_database(np.array([200, 0, 100, 100]), plan, seeded(1))
    assert database == SmallDatabase(universe, (("Ayr", 0), ("Bree", 0), ("Bree", 1)), (2, 1, 1), 2, plan.alpha)
    assert database.marginal("town") == {("Ayr",): 0.5, ("Bree",): 0.5}
    assert database.marginal(("sick", "town")) == {(0, "Ayr"): 0.5, (0, "Bree"): 0.25, (1, "Ayr"): 0.0, (1, "Bree"): 0.25}
    assert str(database) == "4 rows of town, sick: 2 x (Ayr, 0); 1 x (Bree, 0); 1 x (Bree, 1)"
    assert SmallDatabase.from_dict(json.loads(json.dumps(database.to_dict()))) == database


def test_one_possible_row_makes_no_endless_table() -> None:
    universe = Universe(("a",), ((0,),))
    assert draw_small_database(np.array([5]), small_database_plan(universe, ways=1, size=9, epsilon=EPSILON), seeded(1)).size == 9
    with pytest.raises(InvalidParameterError, match="too many databases"):
        small_database_plan(universe, ways=1, size=10**12, epsilon=EPSILON)
