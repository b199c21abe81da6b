"""Quantiles with intervals: the exact privacy loss of whole courses, what they spend, what comes out, and what is covered."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import PURE_LOSS, find_statistic
from dpstats.foundations.results import Release
from dpstats.foundations.summaries import Column
from dpstats.statistics.quantiles import QUANTILE_ERROR, QUANTILE_LOSS
from dpstats.statistics.scale import MEDIAN_SHARE, RANGE_LOSS
from dpstats.statistics.universal import bounded as bounded_module
from dpstats.statistics.universal import ends as ends_module
from dpstats.statistics.universal import intervals
from dpstats.statistics.universal.bounded import Bounded, common_decimals
from dpstats.statistics.universal.decimals import DIGITS, ordinal_of
from dpstats.statistics.universal.ends import draw_ends
from dpstats.statistics.universal.grain import GRAIN_SHARE
from dpstats.statistics.universal.intervals import ENDS, ROWS_SHARE, SCALE, draw_bounded, draw_several_bounded
from dpstats.statistics.universal.limits import Share
from dpstats.statistics.universal.losses import loss_of_one, loss_of_several
from dpstats.statistics.universal.many import Node
from dpstats.statistics.universal.measure import FINE, MIXED, WHOLE, Measure
from dpstats.statistics.universal.order import LINE, Part, Place
from dpstats.statistics.universal.outward import OutwardDraw
from dpstats.statistics.universal.single import Drawn
from dpstats.statistics.universal.tails import COUNT_SHARE, SCALE_SHARE, TAIL_SHARE
from dpstats.statistics.universal.tails import MEDIAN_SHARE as TAIL_MEDIAN_SHARE
from dpstats.testing import seeded
from tests.replays.places import place_loss
from tests.statistics.tables import ugly_columns
from tests.twins.ends import unshared_ends

SLACK = 1e-9
EPSILON = Fraction(2)
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
NINE = tuple(Fraction(index, 10) for index in range(1, 10))
WAVE = [float(value) for value in np.random.default_rng(3).normal(0, 10, 40).round(1)]
TIED = [0.0] * 15 + [1.0] * 12 + [7.5] * 9
PAIRS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "nothing or one row": (np.array([]), np.array([1e9])),
    "one row or two": (np.array([3.5]), np.array([3.5, -2.0])),
    "all alike": (np.full(30, 12.99), np.full(31, 12.99)),
    "ties": (np.array(TIED), np.array([*TIED, 1.0])),
    "an outlier": (np.array(WAVE), np.array([*WAVE, -1e300])),
    "infinite rows": (np.array([math.inf] * 9), np.array([math.inf] * 10)),
    "a row at the middle": (np.array(WAVE), np.array([*WAVE, float(np.median(WAVE))])),
    "32-bit floats": (np.array(WAVE, dtype=np.float32), np.array([*WAVE, 12.99], dtype=np.float32)),
    "large whole numbers": (np.arange(2**60, 2**60 + 40), np.arange(2**60, 2**60 + 41)),
}
CHANGED = [1e300, math.inf, 0.0, math.nan]
PUSHES: dict[str, tuple[float, ...]] = {"up": (4.0,), "down": (-3.0,), "mixed": (-4.0, -1.0, 1.0, 4.0, 12.0)}
"""Scales of noise on numbers of rows: upward, ends are drawn even where there are few."""

Mechanism = Callable[[Column], object]


def pushing(name: str, seed: int) -> Callable[[Fraction], int]:
    """Noise of so many scales, chosen from a list."""
    chooser = random.Random(seed)
    return lambda scale: round(chooser.choice(PUSHES[name]) * scale)


def one(quantile: Fraction, epsilon: Fraction, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Callable[[int], Mechanism]:
    """One quantile with its ends, by seed."""
    return lambda seed: lambda column: draw_bounded(column, quantile, epsilon, neighbors, 0.9, seeded(seed))


def several(
    quantiles: tuple[Fraction, ...], epsilon: Fraction, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> Callable[[int], Mechanism]:
    """Several quantiles with their ends, by seed."""
    return lambda seed: lambda column: draw_several_bounded(column, quantiles, epsilon, neighbors, 0.9, seeded(seed))


MECHANISMS: dict[str, Callable[..., Callable[[int], Mechanism]]] = {
    "the median": lambda *spending: one(HALF, *spending),
    "a tail": lambda *spending: one(Fraction(1, 50), *spending),
    "quartiles": lambda *spending: several((QUARTER, 3 * QUARTER), *spending),
    "nine": lambda *spending: several(NINE, *spending),
}


# Privacy


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("pair", PAIRS)
def test_no_course_tells_an_added_row_by_more_than_epsilon(mechanism: str, pair: str) -> None:
    table, neighbour = (as_column(data) for data in PAIRS[pair])
    course = MECHANISMS[mechanism](EPSILON)
    for seed, push in enumerate((*PUSHES, "up")):
        columns = (table, neighbour) if seed % 2 else (neighbour, table)
        assert abs(place_loss(course(seed), *columns, pushing(push, seed))) <= EPSILON + SLACK


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("value", CHANGED)
def test_no_course_tells_a_changed_row_by_more_than_epsilon(mechanism: str, value: float) -> None:
    table, changed = as_column(np.array(WAVE)), as_column(np.array([value, *WAVE[1:]]))
    course = MECHANISMS[mechanism](EPSILON, Neighbors.CHANGE_ONE)
    for seed, push in enumerate(PUSHES):
        assert abs(place_loss(course(seed), table, changed, pushing(push, seed))) <= EPSILON + SLACK


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_some_course_comes_close_to_epsilon(mechanism: str) -> None:
    course, losses = MECHANISMS[mechanism](Fraction(20)), []
    for pair, seed, push in itertools.product(("an outlier", "one row or two"), range(2), ("up", "down")):
        table, neighbour = (as_column(data) for data in PAIRS[pair])
        losses += [
            place_loss(course(seed), *columns, pushing(push, seed)) for columns in ((table, neighbour), (neighbour, table))
        ]
    assert 0.25 * 20 < max(map(abs, losses)) <= 20 + SLACK


def test_a_missing_row_makes_no_difference() -> None:
    table, neighbour = as_column(np.array(WAVE)), as_column(np.array([*WAVE, math.nan]))
    for mechanism in MECHANISMS.values():
        assert place_loss(mechanism(EPSILON)(1), table, neighbour, pushing("mixed", 1)) == 0


def test_ends_of_one_part_that_do_not_share_epsilon_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what they pay: draws of ends from the parts between quartiles, at what their slopes add up to."""
    table = as_column(np.random.default_rng(4).normal(0, 1, 4000))
    paid: list[Fraction] = []
    draw = ends_module.draw_outward

    def watched(order: Any, draws: Sequence[OutwardDraw]) -> list[int]:
        paid.extend(each.loss.slope_over + each.loss.slope_under for each in draws if each.part.low > 0 and each.part.high < LINE)
        return draw(order, draws)

    monkeypatch.setattr(ends_module, "draw_outward", watched)
    spent = []
    for ends_of_parts in (draw_ends, unshared_ends):
        monkeypatch.setattr(intervals, "draw_ends", ends_of_parts)
        draw_several_bounded(table, (QUARTER, HALF, 3 * QUARTER), EPSILON, Neighbors.ADD_REMOVE, 0.9, seeded(1))
        spent.append(sum(paid))
        paid.clear()
    assert 0 < 2 * spent[0] == spent[1]


# Spending


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> dict[str, Fraction]:
    """What each step is given, under the relation that it is given for; a step on one of two sides counts once."""
    given: dict[str, Fraction] = {}

    def watch(name: str, spent: Callable[..., Fraction]) -> None:
        real = getattr(intervals, name)

        def watched(*positional: Any, **named: Any) -> Any:
            given[name] = spent(*positional)
            return real(*positional, **named)

        monkeypatch.setattr(intervals, name, watched)

    watch("noisy_count", lambda raw_count, epsilon, rng: epsilon)
    watch("draw_with_measure", lambda column, quantile, epsilon, *others: epsilon)
    watch("draw_tail_with_measure", lambda column, quantile, epsilon, *others: epsilon)
    watch("draw_places", lambda order, quantiles, epsilon, *others: epsilon)
    watch("draw_ends", lambda order, places, wanted, epsilon: epsilon if wanted else Fraction(0))
    watch("draw_ends_beyond", lambda order, ordinal, parts, wanted, epsilon: epsilon)
    watch("draw_ends_by_rank", lambda column, quantile, drawn, wanted, epsilon, rng: epsilon)
    watch("typical_within", lambda order, ordinal, parts, epsilon: epsilon)
    watch("look_around", lambda order, homes, epsilon, *others: epsilon)
    return given


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("quantile", [HALF, Fraction(1, 5), Fraction(99, 100), Fraction(0)])
@pytest.mark.parametrize("rows", [0, 60, 4000])
def test_the_steps_of_one_quantile_pay_no_more_than_epsilon(
    paid: dict[str, Fraction], rows: int, quantile: Fraction, neighbors: Neighbors
) -> None:
    halves = 2 if neighbors is Neighbors.CHANGE_ONE else 1
    draw_bounded(as_column(np.arange(float(rows))), quantile, EPSILON, neighbors, 0.95, seeded(3))
    own_relation = {"draw_with_measure", "draw_tail_with_measure"}
    total = sum(epsilon * (1 if step in own_relation else halves) for step, epsilon in paid.items())
    ends_drawn = {"draw_ends_beyond", "draw_ends_by_rank"} & set(paid)
    assert total == EPSILON if ends_drawn or "typical_within" not in paid else total < EPSILON
    assert len(ends_drawn) <= ("typical_within" in paid) >= (rows == 4000)


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("rows", [0, 60, 4000])
def test_the_steps_of_several_quantiles_pay_no_more_than_epsilon(
    paid: dict[str, Fraction], rows: int, neighbors: Neighbors
) -> None:
    halves = 2 if neighbors is Neighbors.CHANGE_ONE else 1
    draw_several_bounded(as_column(np.arange(float(rows))), NINE, EPSILON, neighbors, 0.95, seeded(3))
    total = halves * sum(paid.values())
    assert total == EPSILON if paid["draw_ends"] else total < EPSILON


def within(share: Share) -> Iterator[Fraction]:
    """Shares over all of a range."""
    return (share.least + (share.most - share.least) * Fraction(step, 20) for step in range(21))


def squares_along_a_path(quantiles: tuple[Fraction, ...], root_share: Fraction | None = None) -> Fraction:
    """The largest sum of squared shares along a path of the recursion, from the tree itself."""

    def of(node: Node, share: Fraction | None) -> Fraction:
        spent = node.epsilon * (share or Fraction(1, node.levels))
        return spent**2 + max((of(child, None) for child in node.split(Place(0, 0, 0), spent)), default=Fraction(0))

    return of(Node(Part(0, LINE, 0, 0), quantiles, Fraction(0), Fraction(1), Fraction(1)), root_share)


def evenly(how_many: int) -> tuple[Fraction, ...]:
    """Quantiles with as many rows between any two."""
    return tuple(Fraction(index, how_many + 1) for index in range(1, how_many + 1))


FAR_OUT = [
    tuple(map(Fraction, quantiles)) for quantiles in (("0.25", "0.5", "0.999"), ("0.45", "0.98", "0.99"), ("0.01", "0.99"))
]


def test_the_loss_of_one_quantile_is_the_largest_over_all_shares() -> None:
    def noise(share: Fraction) -> Fraction:
        return share**2 / 2

    def drawn(*shares: Fraction) -> Fraction:
        return sum((share**2 for share in shares), Fraction(0)) / 8

    rest = 1 - COUNT_SHARE
    single = noise(GRAIN_SHARE) + drawn(1 - GRAIN_SHARE)
    points = [
        single,
        noise(COUNT_SHARE) + rest**2 * single,
        noise(COUNT_SHARE) + drawn(rest * TAIL_MEDIAN_SHARE, rest * SCALE_SHARE, rest * TAIL_SHARE),
    ]
    losses = [*points, *(noise(ROWS_SHARE) + (1 - ROWS_SHARE) ** 2 * point for point in points)]
    for scale, ends, point in itertools.product(within(SCALE), within(ENDS), points):
        left = 1 - ROWS_SHARE - scale - ends
        for each_end in ([ends], [ends / 2, ends / 2]):  # beyond the quantile, or by rank
            losses.append(noise(ROWS_SHARE) + drawn(scale, *each_end) + left**2 * point)
    assert max(losses) == loss_of_one() < Fraction(1, 8)
    for name in ("median", "quantile", "cdf"):
        assert find_statistic(name).methods["universal"].loss == QUANTILE_LOSS == loss_of_one() < PURE_LOSS


@pytest.mark.parametrize("root_share", [None, MEDIAN_SHARE])
def test_the_loss_of_several_quantiles_is_the_largest_over_all_shares(root_share: Fraction | None) -> None:
    lists = [evenly(2), *FAR_OUT] if root_share else [*map(evenly, [*range(2, 70), 127, 128, 998, 999]), *FAR_OUT]
    squares = max(squares_along_a_path(quantiles, root_share) for quantiles in lists)
    losses = [ROWS_SHARE**2 / 2 + (1 - ROWS_SHARE) ** 2 * squares / 8]
    for ends, beside in itertools.product(within(ENDS), (1, 2, 3)):
        paid_by_ends = beside * (ends / beside) ** 2 / 8
        losses.append(ROWS_SHARE**2 / 2 + paid_by_ends + (1 - ROWS_SHARE - ends) ** 2 * squares / 8)
    assert max(losses) <= loss_of_several(root_share)
    if root_share:
        assert max(losses) == loss_of_several(root_share)
        for name in ("iqr", "interquantile_range"):
            assert find_statistic(name).methods["universal"].loss == RANGE_LOSS == loss_of_several(root_share)


def test_the_shares_of_quantiles_far_out_are_uneven() -> None:
    assert [squares_along_a_path(quantiles) for quantiles in (evenly(3), *FAR_OUT[:2])] == [
        Fraction(1, 2),
        Fraction(5, 9),
        Fraction(5, 8),
    ]


def test_shares_leave_something_for_the_quantile() -> None:
    assert ROWS_SHARE + SCALE.most + ENDS.most < HALF + Fraction(1, 10)


# What comes out

ASKED: dict[str, Callable[..., Any]] = {
    "median": dp.median,
    "quantile": lambda data, **named: dp.quantile(data, 0.9, **named),
    "quantiles": lambda data, **named: dp.quantile(data, [0.75, 0.25, 0.25, 0.999], **named),
    "iqr": dp.iqr,
    "interquantile_range": lambda data, **named: dp.interquantile_range(data, [0.1, 0.8], **named),
    "cdf": lambda data, **named: dp.cdf(data, points=7, **named),
}


def values_and_intervals(release: Release) -> list[tuple[float, Any]]:
    """Every value of a release with its interval."""
    value: Any = release.value
    values = value if isinstance(value, tuple) else getattr(value, "values", (value,))
    return list(zip(values, release.intervals or (release.interval,) * len(values), strict=True))


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("epsilon", [0.05, 1e9])
def test_every_column_gets_finite_values_inside_their_intervals(name: str, epsilon: float) -> None:
    for neighbors, (statistic, asked) in zip(itertools.cycle(Neighbors), ASKED.items()):
        release = asked(ugly_columns()[name], epsilon=epsilon, neighbors=neighbors, rng=seeded(5))
        for value, interval in values_and_intervals(release):
            assert math.isfinite(value), statistic
            assert interval is None or interval.low <= value <= interval.high
            assert interval is None or interval.level == 0.95


EXTREME: dict[str, np.ndarray] = {
    "near the largest float": np.linspace(-1.0, 1.0, 301) * 1.7e308,
    "all infinite": np.repeat([-math.inf, math.inf], [40, 40]),
    "64-bit ends": np.array([2**63 - 1, -(2**63)] * 40),
    "unsigned ends": np.array([2**64 - 1, 0] * 40, dtype=np.uint64),
    "tiny": np.linspace(-1.0, 1.0, 301) * 1e-306,
    "all missing": np.full(9, math.nan),
}


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 1e9])
def test_nothing_overflows(name: str, epsilon: float) -> None:
    for seed, asked in enumerate(ASKED.values()):
        for value, interval in values_and_intervals(asked(EXTREME[name], epsilon=epsilon, rng=seeded(seed))):
            assert math.isfinite(value)
            assert interval is None or interval.low <= value <= interval.high


@pytest.mark.parametrize("quantiles", [[0, 1], [0.5] * 5, [0, 0, 1, 0.5], [0.5, 0.5 + 1e-12], [1e-300, 1]])
def test_any_list_of_quantiles_gets_an_interval_each(quantiles: list[float]) -> None:
    release = dp.quantile(np.arange(500.0), quantiles, epsilon=2, rng=seeded(2))
    assert len(release.value) == len(release.intervals) == len(quantiles)
    for first, second in itertools.combinations(range(len(quantiles)), 2):
        if quantiles[first] == quantiles[second]:
            assert release.intervals[first] == release.intervals[second]


@pytest.mark.parametrize("quantile", [0.5, 0.25, 0.9, 0.01])
def test_at_a_huge_epsilon_a_quantile_is_numpys(quantile: float) -> None:
    data = np.random.default_rng(6).normal(50, 15, 1001).round(6)
    expected = np.quantile(data, quantile, method="inverted_cdf")
    release = dp.quantile(data, quantile, epsilon=1e6, rng=seeded(7))
    assert release.value == expected
    assert release.interval is not None
    assert release.interval.low < expected < release.interval.high
    several_at_once = dp.quantile(data, [0.3, quantile, 0.7], epsilon=1e6, rng=seeded(8)).value
    assert several_at_once == pytest.approx(np.quantile(data, [0.3, quantile, 0.7], method="inverted_cdf"), abs=0.2)


def test_at_a_huge_epsilon_a_range_is_numpys() -> None:
    data = np.random.default_rng(6).normal(50, 15, 2001)
    expected = np.subtract(*np.quantile(data, [0.75, 0.25]))
    assert dp.iqr(data, epsilon=1e6, rng=seeded(7)).value == pytest.approx(expected, rel=0.01)


def median_length(asked: Callable[..., Any], data: np.ndarray, **named: Any) -> float:
    """The typical length of intervals."""
    lengths = []
    for seed in range(9):
        for _, interval in values_and_intervals(asked(data, rng=seeded(seed), **named)):
            lengths.append(interval.high - interval.low)
    return float(np.median(lengths))


@pytest.mark.parametrize("name", ["median", "quantile", "iqr", "cdf"])
def test_intervals_are_shorter_for_a_larger_epsilon_and_a_lower_level(name: str) -> None:
    data = np.random.default_rng(9).normal(50, 15, 1000)
    usual, sure, bold = (median_length(ASKED[name], data, epsilon=1, interval=level) for level in (0.95, 0.99, 0.5))
    assert bold < usual < sure
    assert median_length(ASKED[name], data, epsilon=20) < usual


@pytest.mark.parametrize("name", ASKED)
def test_no_interval_is_made_where_none_is_asked_for(name: str, paid: dict[str, Fraction]) -> None:
    release = ASKED[name](np.arange(2000.0), epsilon=1, interval=None, rng=seeded(1))
    assert release.interval is None
    assert release.intervals == ()
    assert paid == {"noisy_count": ROWS_SHARE}  # for the number of rows, which says whether there is an answer


@pytest.mark.parametrize("name", ASKED)
def test_an_archived_answer_keeps_its_intervals(name: str) -> None:
    release = ASKED[name](np.arange(2000.0), epsilon=1, rng=seeded(1))
    revived = result_of(document_of(release), find_statistic(release.question.partition("(")[0]))
    assert isinstance(revived, Release)
    assert (revived.value, revived.interval, revived.intervals) == (release.value, release.interval, release.intervals)


def test_a_card_says_what_an_interval_covers() -> None:
    one_only = dp.median(np.arange(2000.0), epsilon=1, rng=seeded(1)).card()
    many = dp.quantile(np.arange(2000.0), [0.25, 0.75], epsilon=1, rng=seeded(1)).card()
    for card in (one_only, many):
        assert QUANTILE_ERROR in str(card)
        assert "95%" in str(card)


@pytest.mark.long
def test_intervals_of_a_thousand_rows_hold_the_populations_median_often_enough() -> None:
    generator = np.random.default_rng(10)
    intervals_of_runs = [dp.median(generator.normal(0, 1, 1000), epsilon=1, rng=seeded(seed)).interval for seed in range(60)]
    assert sum(interval is not None and interval.low <= 0 <= interval.high for interval in intervals_of_runs) >= 52


@pytest.mark.long
@pytest.mark.parametrize("name", ["quantile", "quantiles", "iqr"])
def test_intervals_of_a_thousand_rows_hold_other_truths_often_enough(name: str) -> None:
    normal = NormalDist()
    truths = {
        "quantile": [normal.inv_cdf(0.9)],
        "quantiles": [normal.inv_cdf(0.75), normal.inv_cdf(0.25)],
        "iqr": [2 * normal.inv_cdf(0.75)],
    }[name]
    generator = np.random.default_rng(11)
    held = 0
    for seed in range(60):
        found = values_and_intervals(ASKED[name](generator.normal(0, 1, 1000), epsilon=1, rng=seeded(seed)))
        held += all(
            interval is None or interval.low <= truth <= interval.high
            for (_, interval), truth in zip(found, truths, strict=False)
        )
    assert held >= 50


# Ties

GOALS = (0.25, 0.32, 0.215, 0.105, 0.0567, 0.034, 0.012, 0.005, 0.0023)
"""Shares of 0, 1, 2, ...: 94.7% have at most 4, so that the quantile at 0.95 is 5, and often 4 in a sample."""


@pytest.mark.parametrize(
    ("shares", "quantile", "rows", "truth"),
    [(GOALS, 0.95, 3000, 5), ((0.48, 0.52), 0.5, 700, 1), ((0.26, 0.5, 0.24), 0.25, 700, 0)],
)
def test_intervals_hold_a_value_whose_neighbour_is_nearly_the_quantile(
    shares: tuple[float, ...], quantile: float, rows: int, truth: int
) -> None:
    chance = np.random.default_rng(1)
    held = 0
    for seed in range(40):
        data = chance.choice(np.arange(float(len(shares))), rows, p=shares)
        interval = dp.quantile(data, quantile, epsilon=1, rng=seeded(seed)).interval
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held >= 36


def test_the_range_of_three_values_holds_the_truth_where_both_quartiles_are_near_a_step() -> None:
    chance = np.random.default_rng(1)
    held = 0
    for seed in range(30):
        interval = dp.iqr(chance.choice([1.0, 2.0, 3.0], 700, p=(0.26, 0.5, 0.24)), epsilon=1, rng=seeded(seed)).interval
        assert interval is not None
        held += interval.low <= 1 <= interval.high
    assert held >= 27


def test_a_heavy_tie_in_which_the_quantile_lies_deep_is_its_own_interval() -> None:
    data = np.repeat([0.0, 1.0, 2.0], [1000, 4000, 1000])
    release = dp.median(data, epsilon=1, rng=seeded(3))
    assert release.interval is not None
    assert (release.interval.low, release.value, release.interval.high) == (1, 1, 1)


def test_rows_tied_are_estimated_from_the_last_digit_and_the_scale() -> None:
    beyond, scales = {False: 100.0, True: 100.0}, {False: Fraction(10), True: Fraction(5)}

    def tied(value: float, digits: int = DIGITS) -> float:
        return intervals.rows_tied(Drawn(ordinal_of(value), MIXED, digits), beyond, scales)

    assert [tied(3001.0), tied(30010.0)] == [10, 50]
    assert tied(30.14) == pytest.approx(0.1)
    assert [tied(0.0), tied(3.14), tied(-999.0), tied(30010.0, 5)] == [math.inf] * 4


def test_a_scale_is_not_much_smaller_than_that_of_the_other_side() -> None:
    scales = {False: Fraction(0), True: Fraction(8)}
    assert intervals._at_least(scales) == {False: Fraction(8, intervals.MOST_UNLIKE), True: Fraction(8)}


@pytest.mark.parametrize(
    ("measure", "value", "below", "above", "expected"),
    [
        (WHOLE, 0.5, 0.3, 0.4, True),
        (MIXED, 0.25, 0.25, 0.75, True),
        (MIXED, 0.25, 0.25, 0.5, False),
        (FINE, 2.0, 1.0, 1.0, False),
    ],
)
def test_rows_seem_whole_by_the_noisy_look_or_by_what_was_drawn(
    measure: Measure, value: float, below: float, above: float, expected: bool
) -> None:
    scales = {False: Fraction(below), True: Fraction(above)}
    assert intervals.seems_whole(Drawn(ordinal_of(value), measure), scales) is expected


def test_ends_between_whole_numbers_go_outward_where_rows_seem_whole() -> None:
    bounded = Bounded(0.24, 0.0, 0.27)
    assert replace(bounded, whole=True).on_grain() == replace(bounded, whole=True, high=1.0)
    assert bounded.on_grain(3) == bounded == bounded.on_grain()


def test_two_quantiles_have_the_decimals_that_half_of_their_numbers_have_or_both_ends_of_one() -> None:
    low, high = Bounded(4.87, 4.0, 5.0), Bounded(12.8815, 11.4, 14.0)
    assert common_decimals([low, high]) == 0
    assert common_decimals([replace(low, low=4.5), high]) == 1
    assert common_decimals([low, Bounded(12.8815, 11.4444, 13.8888)]) == 0
    assert common_decimals([Bounded(0.12345, 0.0, math.inf), Bounded(1.23456, 0.0, 2.0)]) is None


def test_ends_at_whole_numbers_far_apart_tell_ties() -> None:
    tied = Bounded(36.7, 35.99, 38.01), Bounded(44.2, 40.0, 45.01)
    assert bounded_module.seem_stepped(tied)
    assert not bounded_module.seem_stepped((Bounded(36.7, 35.93, 38.21), Bounded(44.2, 43.6, 45.3)))
    assert not bounded_module.seem_stepped((Bounded(430.0, 420.0, 440.0), Bounded(570.0, 560.0, 580.0)))
